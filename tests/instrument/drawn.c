/* SPDX-License-Identifier: MIT */
/* drawn DEVICE [CUDA CACHE]: what the rewriter does to sources without the toolkit's headers, or with them, for check_drawn.py, which draws them. Standard
 * input has a line for each run: words of its own, in any order, and the source as the last one. Each is run for itself, and with
 * guard=KERNEL for each level that the guard of `inkmark nvcc` gives a kernel too, from one parse. All that a run gives is printed. */
#include "../unit/check.h"
#include "inkmark/instrument.h"

#include <stdlib.h>
#include <string.h>

static const char *device, *cuda, *cache;

static const char *value_of(const char *word, const char *name) {
  const size_t length = strlen(name);
  return !strncmp(word, name, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static char *read_text(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  char *text = file ? malloc(1 << 20) : NULL;
  *bytes = text ? fread(text, 1, 1 << 20, file) : 0;
  if (file)
    fclose(file);
  return text;
}

static void print_result(const ink_instrumented *result, const char *original, size_t original_bytes) {
  const ink_place *places;
  const ink_remark *remarks;
  const ink_marked_file *files;
  const char *why;
  size_t kept;
  for (size_t i = 0, n = ink_instrumented_places(result, &places); i < n; i++)
    printf("%u:%u %s %s '%s' in %s as '%s' holds '%s': %s\n", places[i].line, places[i].column, ink_place_kind_word(places[i].kind), ink_place_state_word(places[i].state),
           places[i].name, places[i].function, places[i].section, places[i].held, places[i].reason);
  for (size_t i = 0, n = ink_instrumented_remarks(result, &remarks); i < n; i++)
    printf("%u:%u remark: %s\n", remarks[i].line, remarks[i].column, remarks[i].text);
  printf("%s parse, %zu errors, %d %d\n", ink_instrumented_parse(result, &why), ink_instrumented_parse_errors(result, &remarks, &kept),
         ink_instrumented_was_marked(result), ink_instrumented_includes_marks(result));
  for (size_t i = 0; i < kept; i++)
    printf("%u:%u parse error: %s\n", remarks[i].line, remarks[i].column, remarks[i].text);
  for (size_t i = 0, n = ink_instrumented_files(result, &files); i < n; i++) {
    char *stripped = NULL, *read = NULL;
    size_t bytes = 0, read_bytes = original_bytes;
    const char *wanted = i ? read = read_text(files[i].path, &read_bytes) : original;
    printf("%s: %u marks\n%.*s\n", strrchr(files[i].path, '/') + 1, files[i].marks, (int)files[i].bytes, files[i].text);
    CHECK(wanted && !ink_instrument_strip(files[i].text, files[i].bytes, &stripped, &bytes, NULL) && bytes == read_bytes && !memcmp(stripped, wanted, bytes),
          "%s: without its marks it is another text", files[i].path);
    char *diff = NULL;
    CHECK(!ink_instrument_diff(files[i].text, files[i].bytes, "old", "new", &diff, NULL), "%s: no differences", files[i].path);
    printf("%s\n", diff ? diff : "");
    free(diff);
    free(stripped);
    free(read);
  }
}

static void run(char *line) {
  const char *flags[32] = {0}, *value, *guard = NULL, *source = NULL;
  size_t count = 0, bytes = 0;
  ink_instrument_options options = {.size = sizeof options, .device_include = device, .cuda = cuda, .cache = cache, .parse_seconds = getenv("INKMARK_FIRST_FAULT") ? 20 : 0};
  for (char *word = strtok(line, " \n"); word && count < 30; word = strtok(NULL, " \n")) {
    source = word;
    if ((value = value_of(word, "guard")))
      guard = value;
    else if ((value = value_of(word, "kernels")))
      options.kernels = value;
    else if ((value = value_of(word, "exclude")))
      options.exclude = value;
    else if ((value = value_of(word, "calls_like")))
      options.calls_like = value;
    else if ((value = value_of(word, "depth")))
      options.depth = (unsigned)atoi(value);
    else if ((value = value_of(word, "limit")))
      options.limit = (unsigned)atoi(value);
    else if ((value = value_of(word, "hold")))
      options.hold = (ink_hold)atoi(value);
    else if ((value = value_of(word, "root")))
      options.root = value;
    else if (*word == '-')
      flags[count++] = word;
    options.calls |= !strcmp(word, "calls");
    options.loops |= !strcmp(word, "loops");
    options.waits |= !strcmp(word, "waits");
    options.rows |= !strcmp(word, "rows");
    options.lines |= !strcmp(word, "lines");
    options.headers |= !strcmp(word, "headers");
    options.kernels_only |= !strcmp(word, "kernels_only");
  }
  options.source = source;
  options.flags = flags;
  options.flag_count = count;
  char *text = read_text(source, &bytes);
  CHECK(text, "%s cannot be read", source);
  ink_parse *parse = NULL;
  for (int level = INK_GUARD_ALL; text && level <= (guard ? INK_GUARD_NONE : INK_GUARD_ALL); level++) {
    const ink_guarded guarded = {guard, (ink_guard_level)level, level == INK_GUARD_OUTSIDE ? 40u : 0u, false};
    ink_instrumented *result = NULL;
    ink_error error = {0};
    options.parse = guard ? &parse : NULL;
    options.guarded = level ? &guarded : NULL;
    options.guarded_count = level ? 1 : 0;
    if (ink_instrument_run(&options, &result, &error))
      printf("no result: %s\n", error.message);
    else
      print_result(result, text, bytes);
    ink_instrumented_free(result);
  }
  ink_parse_end(parse);
  free(text);
}

int main(int argc, char **argv) {
  char line[4096];
  device = argc > 1 ? argv[1] : "";
  cuda = argc > 3 ? argv[2] : NULL;
  cache = argc > 3 ? argv[3] : NULL;
  while (fgets(line, sizeof line, stdin)) {
    run(line);
    printf("\n-- end of a run --\n");
    fflush(stdout);
  }
  return check_failures != 0;
}
