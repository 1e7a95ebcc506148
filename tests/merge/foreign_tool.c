/* SPDX-License-Identifier: MIT */
/* Prints the kernels of another profiler's trace as JSON, or, with --damage, opens thousands of
 * damaged copies of it. */
#include "inkmark/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_text(const char *key, const char *text) {
  printf(",\"%s\":%s", key, text ? "\"" : "null");
  for (const char *c = text ? text : ""; *c; c++)
    printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  if (text)
    putchar('"');
}

/* Of this program alone: getrusage would count what its parent had before exec. */
static long peak_kb(void) {
  char line[256];
  long kb = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %ld", &kb) == 1)
      break;
  if (file)
    fclose(file);
  return kb;
}

static int print(const char *path) {
  ink_foreign *f = NULL;
  ink_error error = {0};
  ink_status status = ink_foreign_open(path, &f, &error);
  if (status != INK_OK) {
    printf("{\"status\":%d", (int)status);
    print_text("message", error.message);
    printf("}\n");
    return strchr(error.message, '\n') != NULL || !error.message[0] || f;
  }
  const ink_foreign_kernel *k;
  const ink_foreign_facts *facts = ink_foreign_get_facts(f);
  size_t n = ink_foreign_kernels(f, &k);
  printf("{\"status\":0,\"kind\":%d,\"base_known\":%s,\"base_ns\":%" PRId64 ",\"events\":%" PRIu64
         ",\"left_out\":%" PRIu64 ",\"kernels\":[",
         (int)facts->kind, facts->base_known ? "true" : "false", facts->base_ns, facts->events,
         facts->kernels_left_out);
  for (size_t i = 0; i < n; i++, k++) {
    printf("%s{\"device\":%d,\"stream\":%" PRId64 ",\"begin\":%" PRId64 ",\"end\":%" PRId64
           ",\"grid_id\":%" PRIu64 ",\"correlation\":%" PRId64
           ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]",
           i ? ",\n" : "", k->type->device, k->type->stream, k->begin_ns, k->end_ns, k->grid_id,
           k->correlation, k->type->grid_dim[0], k->type->grid_dim[1], k->type->grid_dim[2],
           k->type->block_dim[0], k->type->block_dim[1], k->type->block_dim[2]);
    print_text("name", ink_foreign_name(f, k->type->name));
    print_text("short", ink_foreign_name(f, k->type->short_name));
    print_text("mangled", ink_foreign_name(f, k->type->mangled));
    putchar('}');
  }
  printf("],\"peak_kb\":%ld}\n", peak_kb());
  ink_foreign_free(f);
  return 0;
}

/* Bytes changed, cut or doubled: an error with a line, or success; a crash is what fails. */
static int damage(const char *path, const char *scratch, unsigned rounds) {
  static unsigned char whole[1 << 20], bytes[1 << 20];
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(whole, 1, sizeof whole, file) : 0;
  uint64_t seed = 88172645463325252u;
  unsigned refused = 0;
  if (!file || !size)
    return 1;
  fclose(file);
  for (unsigned i = 0; i < rounds; i++) {
    memcpy(bytes, whole, size);
    size_t length = size;
    for (unsigned n = i % 8; n; n--) {
      seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
      bytes[seed % size] = (unsigned char)"{}[]\",:\\u0e9-NaN\0\xff"[seed >> 40 & 15];
    }
    if (i % 3 == 0)
      length = (size_t)(seed >> 20) % size;
    file = fopen(scratch, "wb");
    if (!file || fwrite(bytes, 1, length, file) != length || fclose(file))
      return 1;
    ink_foreign *f = NULL;
    ink_error error = {0};
    ink_status status = ink_foreign_open(scratch, &f, &error);
    if (status != INK_OK && (f || !error.message[0] || status != error.status)) {
      fprintf(stderr, "round %u: status %d, '%s'\n", i, (int)status, error.message);
      return 1;
    }
    refused += status != INK_OK;
    ink_foreign_free(f);
  }
  unlink(scratch);
  printf("%u of %u damaged copies refused\n", refused, rounds);
  return refused == 0;
}

int main(int argc, char **argv) {
  if (argc == 5 && !strcmp(argv[1], "--damage"))
    return damage(argv[2], argv[3], (unsigned)atoi(argv[4]));
  return argc == 2 ? print(argv[1]) : 2;
}
