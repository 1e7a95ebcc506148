/* SPDX-License-Identifier: MIT */
/* marked EXPECTED FOLDER CUDA DEVICE: what the rewriter does to sources that it reads with the toolkit's headers, and with each
 * of the levels that the guard of `inkmark nvcc` gives a kernel: every place, every remark, and the lines that are marked, against a text that is kept.
 * Without the marks each is the source again. */
#include "../unit/expected.h"
#include "inkmark/instrument.h"

#include <stdlib.h>
#include <unistd.h>

#define PRINT(...) fprintf(expected_out, __VA_ARGS__)

static const char *cuda, *device, *folder, *cache;

typedef struct way {
  const char *source, *what;
  ink_instrument_options options;
  const char *guarded; /* the kernel that gets each of the levels; NULL: none */
  bool forced;         /* full/forced.cuh is brought in by -include */
} way;

static const way ways[] = {
    {"gone_into.cu", "usual", {.limit = 0}, "persistent", false},
    {"gone_into.cu", "usual, another kernel", {.limit = 0}, "once", false},
    {"guarded_rows.cu", "usual", {.hold = INK_HOLD_AUTO}, "product", false},
    {"guarded_apart.cu", "usual", {.hold = INK_HOLD_STRICT}, "products", false},
    {"guarded_registers.cu", "usual", {.hold = INK_HOLD_AUTO}, "convolve", false},
    {"full/levels.cu", "usual", {.hold = INK_HOLD_AUTO}, "levels", false},
    {"full/levels.cu", "usual, another kernel", {.hold = INK_HOLD_AUTO}, "calls", false},
    {"full/levels.cu", "rows", {.calls = true, .loops = true, .waits = true, .rows = true, .depth = 8, .hold = INK_HOLD_STRICT}, "levels", false},
    {"full/levels.cu", "waits", {.waits = true, .depth = 3}, "levels", false},
    {"full/levels.cu", "kernels alone", {.kernels_only = true}, NULL, false},
    {"full/levels.cu", "few", {.limit = 3, .loops = true, .calls_like = "in$|step", .exclude = "calls"}, NULL, false},
    {"full/forms.cu", "usual", {.hold = INK_HOLD_AUTO}, NULL, false},
    {"full/forms.cu", "everything", {.calls = true, .loops = true, .waits = true, .depth = 8, .hold = INK_HOLD_AUTO}, NULL, false},
    {"full/with_headers.cu", "usual, headers", {.headers = true}, "with_headers", false},
    {"full/with_headers.cu", "everything, headers", {.calls = true, .loops = true, .waits = true, .rows = true, .depth = 4, .headers = true}, NULL, false},
    {"full/with_headers.cu", "everything, no headers", {.calls = true, .loops = true, .waits = true, .depth = 4}, NULL, false},
    {"full/with_headers.cu", "everything, headers, one is forced", {.calls = true, .loops = true, .waits = true, .depth = 4, .headers = true}, NULL, true},
    {"cases/contexts.cu", "usual", {.hold = INK_HOLD_AUTO}, NULL, false},
    {"cases/contexts.cu", "rows", {.calls = true, .loops = true, .waits = true, .rows = true, .depth = 8, .hold = INK_HOLD_NONE}, NULL, false},
    {"cases/roles.cu", "usual", {.hold = INK_HOLD_AUTO}, NULL, false},
    {"cases/instances.cu", "everything", {.calls = true, .loops = true, .waits = true, .depth = 8}, NULL, false},
};

static char *read_text(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = malloc(1 << 20);
  *bytes = text ? fread(text, 1, 1 << 20, file) : 0;
  fclose(file);
  return text;
}

/* Of the text without the lines of its table's name, which has a hash of its path, and those that name files. */
static uint64_t digest(const char *text, size_t bytes) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char *at = text, *end = at + bytes, *next; at < end; at = next) {
    next = memchr(at, '\n', (size_t)(end - at));
    next = next ? next + 1 : end;
    if (memmem(at, (size_t)(next - at), "INK_TABLE", 9) || memmem(at, (size_t)(next - at), "#line", 5))
      continue;
    for (const char *c = at; c < next; c++)
      hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* Without its marks a file is the one that is on the disk. */
static void strips(const ink_marked_file *file, const char *original, size_t original_bytes) {
  char *stripped = NULL, *read = original ? NULL : read_text(file->path, &original_bytes);
  size_t bytes = 0;
  const char *wanted = original ? original : read;
  CHECK(wanted && !ink_instrument_strip(file->text, file->bytes, &stripped, &bytes, NULL) && bytes == original_bytes && !memcmp(stripped, wanted, bytes),
        "%s: without its marks it is another text", file->path);
  free(stripped);
  free(read);
}

static void print_result(const ink_instrumented *result, const char *original, size_t original_bytes) {
  const ink_place *places;
  const ink_remark *remarks;
  const ink_marked_file *files;
  const char *why;
  for (size_t i = 0, n = ink_instrumented_places(result, &places); i < n; i++)
    PRINT(" %u:%u %s %s %s in %s%s%s%s%s%s%s\n", places[i].line, places[i].column, ink_place_kind_word(places[i].kind), ink_place_state_word(places[i].state),
          places[i].name, places[i].function, *places[i].section ? " as " : "", places[i].section, *places[i].held ? " holds " : "", places[i].held,
          *places[i].reason ? ": " : "", places[i].reason);
  for (size_t i = 0, n = ink_instrumented_remarks(result, &remarks); i < n; i++)
    PRINT(" %u:%u remark: %s\n", remarks[i].line, remarks[i].column, remarks[i].text);
  size_t kept;
  PRINT(" %s parse, %zu errors, %d %d\n", ink_instrumented_parse(result, &why), ink_instrumented_parse_errors(result, &remarks, &kept),
        ink_instrumented_was_marked(result), ink_instrumented_includes_marks(result));
  const size_t n = ink_instrumented_files(result, &files);
  CHECK(n >= 1, "a file");
  for (size_t i = 0; i < n; i++) {
    const char *shown = strrchr(files[i].shown, '/');
    PRINT(" %s: %u marks, text %016llx\n", shown ? shown + 1 : files[i].shown, files[i].marks, (unsigned long long)digest(files[i].text, files[i].bytes));
    strips(&files[i], i ? NULL : original, original_bytes);
  }
}

static void one(const way *w) {
  static const char *const flags[] = {"-arch=sm_90a", "-std=c++17", "-include", "check.cuh"};
  const char *all[8] = {flags[0], flags[1], flags[2], flags[3]};
  char path[4096], include[4096], with[4096];
  size_t bytes = 0;
  snprintf(path, sizeof path, "%s/%s", folder, w->source);
  snprintf(include, sizeof include, "-I%s", folder);
  snprintf(with, sizeof with, "-I%s", device);
  all[4] = include;
  all[5] = with;
  all[6] = "-include";
  all[7] = "full/forced.cuh";
  char *text = read_text(path, &bytes);
  CHECK(text, "%s cannot be read", path);
  ink_parse *parse = NULL;
  for (int level = INK_GUARD_ALL; text && level <= (w->guarded ? INK_GUARD_NONE : INK_GUARD_ALL); level++) {
    const ink_guarded guarded = {w->guarded, (ink_guard_level)level, level == INK_GUARD_OUTSIDE ? 40u : 0u, false};
    ink_instrument_options options = w->options;
    ink_instrumented *result = NULL;
    ink_error error = {0};
    options.size = sizeof options;
    options.source = path;
    options.flags = all;
    options.flag_count = w->forced ? 8 : 6;
    options.root = folder;
    options.device_include = device;
    options.cuda = cuda;
    options.parse = w->guarded ? &parse : NULL; /* it is parsed once for all levels */
    options.cache = cache;
    options.parse_seconds = getenv("INKMARK_FIRST_FAULT") ? 20 : 0; /* for mutants that never end */
    options.guarded = level ? &guarded : NULL;
    options.guarded_count = level ? 1 : 0;
    PRINT("== %s, %s%s", w->source, w->what, level ? ", " : "\n");
    if (level)
      PRINT("%s at level %d\n", w->guarded, level);
    NEED(ink_instrument_run(&options, &result, &error), error);
    print_result(result, text, bytes);
    ink_instrumented_free(result);
    CHECK(!level || parse, "%s: the parse is not kept", path);
  }
  ink_parse_end(parse);
  free(text);
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  folder = argv[2];
  cuda = argv[3];
  device = argv[4];
  char runtime[4096];
  snprintf(runtime, sizeof runtime, "%s/include/cuda_runtime.h", cuda);
  if (access(runtime, R_OK)) {
    printf("SKIPPED: there is no %s\n", runtime);
    return 77;
  }
  char own[] = "/tmp/ink-marked-XXXXXX", command[64];
  cache = getenv("INKMARK_CACHE"); /* the parse of the toolkit's headers, for all of them */
  const bool made = !cache && mkdtemp(own);
  cache = made ? own : cache;
  expected_begin();
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    one(&ways[i]);
  expected_end(argv[1]);
  if (made && snprintf(command, sizeof command, "rm -rf %s", own) > 0 && system(command))
    return 1;
  return check_result("marked");
}
