/* SPDX-License-Identifier: MIT */
/* Gives every file of the named folders to a fuzz target, and each also cut short in many places,
 * so that a corpus is a test without a fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static unsigned replayed;

/* In a block of exactly its size, so that a sanitizer sees reads behind it. */
static void replay(const uint8_t *data, size_t bytes) {
  uint8_t *exact = malloc(bytes ? bytes : 1);
  if (!exact)
    exit(1);
  memcpy(exact, data, bytes);
  LLVMFuzzerTestOneInput(exact, bytes);
  free(exact);
  replayed++;
}

static int replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 1;
  }
  static uint8_t data[1 << 22];
  const size_t n = fread(data, 1, sizeof data, file);
  fclose(file);
  replay(data, n);
  for (size_t cut = 1; cut <= 64; cut++)
    replay(data, n * (cut - 1) / 64);
  return 0;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    DIR *folder = opendir(argv[i]);
    if (!folder) {
      perror(argv[i]);
      return 1;
    }
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
      char path[4096];
      if (entry->d_name[0] == '.')
        continue;
      snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
      if (replay_file(path))
        return 1;
    }
    closedir(folder);
  }
  printf("%u inputs replayed\n", replayed);
  return replayed ? 0 : 1; /* an empty corpus tests nothing */
}
