/* SPDX-License-Identifier: MIT */
/* memory_test FOLDER DEVICE: allocations of the rewriter fail, one in each run: early ones one by one, then ever fewer of them. Each
 * run ends with the text that a run without fails gives, or with an error and no result. The linker sends the library's allocations through here, in the process that parses too; libclang's are its own. */
#include "../unit/check.h"
#include "../unit/failing_allocations.h"
#include "inkmark/instrument.h"

#include <string.h>
#include <sys/mman.h>

static uint64_t add(uint64_t hash, const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash;
}

/* Of all that a result says. */
static uint64_t hash_of(const ink_instrumented *result) {
  const ink_place *places;
  const ink_remark *remarks;
  const ink_marked_file *files;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0, n = ink_instrumented_places(result, &places); i < n; i++) {
    const char *texts[] = {places[i].name, places[i].section, places[i].held, places[i].reason};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
      hash = add(hash, texts[k], strlen(texts[k]));
  }
  for (size_t i = 0, n = ink_instrumented_remarks(result, &remarks); i < n; i++)
    hash = add(hash, remarks[i].text, strlen(remarks[i].text));
  for (size_t i = 0, n = ink_instrumented_files(result, &files); i < n; i++)
    hash = add(hash, files[i].text, files[i].bytes);
  return hash;
}

static void try_all(const char *folder, const char *device, const char *name, ink_instrument_options options) {
  char path[4096], with[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  snprintf(with, sizeof with, "-I%s", folder);
  const char *flags[] = {"-arch=sm_90a", "-std=c++17", with};
  options.size = sizeof options;
  options.source = path;
  options.flags = flags;
  options.flag_count = 3;
  options.root = folder;
  options.device_include = device;
  options.parse_seconds = 20;
  uint64_t wanted = 0;
  long fine = 0, refused = 0;
  for (long at = 0, missed = 0; missed < 3; at += 1 + at / 40) {
    ink_instrumented *result = NULL;
    ink_error error = {0};
    counting = at != 0;
    countdown = at;
    *made = 0;
    const ink_status status = ink_instrument_run(&options, &result, &error);
    counting = false;
    if (!at)
      NEED(status, error);
    CHECK((status == INK_OK) == (result != NULL), "%s, allocation %ld: a result beside %d", name, at, (int)status);
    CHECK(status == INK_OK || (*error.message && !strstr(error.message, "signal")), "%s, allocation %ld: '%s' is said", name, at, error.message);
    const uint64_t found = result ? hash_of(result) : 0;
    if (!at)
      wanted = found;
    if (status == INK_OK)
      CHECK(found == wanted, "%s, allocation %ld: another result", name, at);
    fine += status == INK_OK;
    refused += status != INK_OK;
    missed += at && status == INK_OK && *made < at;
    ink_instrumented_free(result);
  }
  printf("%s: %ld times the same result, %ld times none\n", name, fine, refused);
  CHECK(refused > 20, "%s: allocations fail", name);
}

int main(int argc, char **argv) {
  made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (argc != 3 || made == MAP_FAILED)
    return 2;
  try_all(argv[1], argv[2], "cases/roles.cu", (ink_instrument_options){.hold = INK_HOLD_AUTO});
  try_all(argv[1], argv[2], "cases/contexts.cu", (ink_instrument_options){.calls = true, .loops = true, .waits = true, .rows = true, .depth = 8});
  try_all(argv[1], argv[2], "cases/by_hand.cu", (ink_instrument_options){.hold = INK_HOLD_STRICT, .depth = 3});
  try_all(argv[1], argv[2], "full/with_headers.cu", (ink_instrument_options){.calls = true, .headers = true, .depth = 2});
  return check_result("memory");
}
