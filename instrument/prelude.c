/* SPDX-License-Identifier: MIT */
/* Keeps the parse of what every source of a build begins with, as libclang writes it, in the folder of options->cache: a file
 * `prelude-KEY.pch`, and `prelude-KEY.list` with the files that it was made of, by which it is known to be as new as they
 * are. The first parse with new arguments leaves an empty list alone, so that a call that is made once costs nothing. A list
 * that says `crashes` is of one that libclang crashed over (clang 19 does, for ThunderKittens in C++20). */
#include "prelude.h"

#include "cache_folder.h"
#include "shadows.h"
#include "shim.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_KEPT = 8, MOST_SEEN = 256 };
#define CRASHES "crashes\n"
#define SOURCE INK_SHIM "/prelude.cu"

uint64_t ink_text_hash(const char *text, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) /* FNV-1a */
    hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return hash;
}

static int by_value(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

uint64_t ink_unit_text_hash(ink_unit *unit) {
  uint64_t hash = 0, *all = unit->hashes.items;
  if (unit->hashes.count)
    qsort(all, unit->hashes.count, sizeof *all, by_value);
  for (size_t i = 0; i < unit->hashes.count; i++)
    if (!i || all[i] != all[i - 1])
      hash = hash * 0x100000001b3u + all[i];
  return hash;
}

void ink_prelude_forget(ink_unit *unit) {
  unit->hashes.count = 0;
  for (size_t i = 0; i < unit->kept_files.count; i++)
    free(unit->kept_files.items[i]);
  unit->kept_files.count = 0;
}

static uint64_t key_of(const char *const *arguments, size_t count, const struct CXUnsavedFile *files, size_t file_count) {
  CXString version = clang_getClangVersion();
  uint64_t key = ink_text_hash(clang_getCString(version), strlen(clang_getCString(version)));
  clang_disposeString(version);
  for (size_t i = 0; i < count; i++)
    key = key * 31 + ink_text_hash(arguments[i], strlen(arguments[i]));
  for (size_t i = 0; i < file_count; i++)
    key = key * 31 + ink_text_hash(files[i].Contents, files[i].Length);
  for (size_t i = 0; shadows_variables[i]; i++) {
    const char *folders = getenv(shadows_variables[i]);
    key = key * 31 + (folders ? ink_text_hash(folders, strlen(folders)) : 0);
  }
  return key;
}

/* ---- the list: a line `HASH BYTES SECONDS NANOSECONDS PATH` for each file, `? NAME` for what one asks for in
 * __has_include ---- */

static bool is_as_kept(const char *line, uint64_t *hash, const char **path, struct stat *now) {
  unsigned long long text, bytes;
  long long seconds;
  long nanoseconds;
  int at = 0;
  if (sscanf(line, "%llx %llu %lld %ld %n", &text, &bytes, &seconds, &nanoseconds, &at) < 4 || !at)
    return false;
  *hash = text;
  *path = line + at;
  return !stat(*path, now) && (unsigned long long)now->st_size == bytes && now->st_mtim.tv_sec == seconds &&
         now->st_mtim.tv_nsec == nanoseconds;
}

/* False: a file is another now, or the list is damaged. */
static bool read_list(ink_unit *unit, FILE *from, shadow_list *shadows) {
  char *line = NULL;
  size_t room = 0;
  bool fine = true, whole = false;
  while (fine && !whole && getline(&line, &room, from) > 0) {
    uint64_t hash;
    const char *path;
    struct stat now;
    line[strcspn(line, "\n")] = 0;
    if ((whole = !strcmp(line, "end")))
      break;
    if (!strncmp(line, "? ", 2)) {
      fine = shadows_name(shadows, line + 2, NULL);
      continue;
    }
    fine = is_as_kept(line, &hash, &path, &now) && INK_I_GROW(unit->hashes) && shadows_name(shadows, path, &now);
    fine = fine && INK_I_GROW(unit->kept_files);
    if (fine) {
      unit->hashes.items[unit->hashes.count++] = hash;
      char *copy = strdup(path);
      fine = copy != NULL;
      if (copy)
        unit->kept_files.items[unit->kept_files.count++] = copy;
    }
  }
  free(line);
  return fine && whole;
}

typedef struct list_writing {
  CXTranslationUnit tu;
  FILE *to;
  bool failed;
} list_writing;

/* What the text asks for in __has_include: a header of the project may be the answer. */
static void write_asked(FILE *to, const char *text, size_t bytes) {
  static const char word[] = "__has_include";
  const char *end = text + bytes, *at = text;
  while ((at = memmem(at, (size_t)(end - at), word, sizeof word - 1))) {
    at += sizeof word - 1;
    const char *line = memchr(at, '\n', (size_t)(end - at));
    const char *open = at, *stop = line ? line : end;
    while (open < stop && *open != '<' && *open != '"')
      open++;
    const char *close = open < stop ? memchr(open + 1, *open == '<' ? '>' : '"', (size_t)(stop - open - 1)) : NULL;
    if (close)
      fprintf(to, "? %.*s\n", (int)(close - open - 1), open + 1);
  }
}

static void write_file(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data) {
  list_writing *list = data;
  size_t bytes = 0;
  struct stat now;
  const char *text = clang_getFileContents(list->tu, file, &bytes);
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name);
  (void)stack, (void)depth;
  if (path && strncmp(path, INK_SHIM "/", sizeof INK_SHIM)) {
    if (!text || stat(path, &now) || (size_t)now.st_size != bytes || strchr(path, '\n') || path[0] != '/')
      list->failed = true;
    else
      fprintf(list->to, "%llx %zu %lld %ld %s\n", (unsigned long long)ink_text_hash(text, bytes), bytes,
              (long long)now.st_mtim.tv_sec, (long)now.st_mtim.tv_nsec, path);
    if (text)
      write_asked(list->to, text, bytes);
  }
  clang_disposeString(name);
}

/* ---- the folder ---- */

/* The most recently used stay; what a parse that was ended left goes. */
static void bound(const char *folder) {
  ink_cache_files all = ink_cache_files_of(folder, "prelude-");
  for (size_t i = 0, lists = 0, parses = 0; i < all.count; i++) {
    const ink_cache_file *one = &all.items[i];
    const size_t length = strlen(one->name);
    if (length == 29 && !strcmp(one->name + 24, ".list")) {
      const bool has_parse = one->bytes > strlen(CRASHES);
      parses += has_parse;
      if (lists++ < MOST_SEEN && !(has_parse && parses > MOST_KEPT))
        continue;
      char name[64];
      ink_cache_remove(&all, one->name);
      snprintf(name, sizeof name, "%.24s.pch", one->name);
      ink_cache_remove(&all, name);
    } else if (!(length == 28 && !strcmp(one->name + 24, ".pch")) && ink_cache_is_left(one)) {
      ink_cache_remove(&all, one->name);
    }
  }
  ink_cache_files_free(&all);
}

/* Parses, and writes both files; the list, which makes the other valid, as the last. */
static bool make(ink_unit *unit, const char *const *arguments, size_t count, struct CXUnsavedFile *files, size_t file_count,
                 const char *parse, const char *list) {
  char new_parse[PATH_MAX], new_list[PATH_MAX];
  list_writing writing = {0};
  bool fine = snprintf(new_parse, sizeof new_parse, "%s.%ld", parse, (long)getpid()) < (int)sizeof new_parse &&
              snprintf(new_list, sizeof new_list, "%s.%ld", list, (long)getpid()) < (int)sizeof new_list;
  fine = fine && !clang_parseTranslationUnit2(unit->index, SOURCE, arguments, (int)count, files, (unsigned)file_count,
                                              CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing |
                                                  CXTranslationUnit_ForSerialization,
                                              &writing.tu);
  writing.to = fine ? fopen(new_list, "we") : NULL;
  if (writing.to) {
    clang_getInclusions(writing.tu, write_file, &writing);
    fputs("end\n", writing.to);
    const bool broken = ferror(writing.to) != 0;
    fine = !fclose(writing.to) && !broken && !writing.failed &&
           !clang_saveTranslationUnit(writing.tu, new_parse, CXSaveTranslationUnit_None) && !rename(new_parse, parse) &&
           !rename(new_list, list);
    unlink(new_parse);
    unlink(new_list);
  }
  fine = fine && writing.to;
  if (writing.tu)
    clang_disposeTranslationUnit(writing.tu);
  return fine;
}

/* False: it is to be made; *seen: it was asked for before. */
static bool read_kept(ink_unit *unit, const char *list, const char *parse, bool *seen, shadow_list *shadows) {
  int file = open(list, O_RDWR | O_CLOEXEC);
  struct stat status;
  *seen = file >= 0;
  if (file < 0)
    file = open(list, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  FILE *from = file >= 0 && !fstat(file, &status) ? fdopen(file, "r+") : NULL;
  ink_prelude_forget(unit);
  const bool ready = from && status.st_size && !access(parse, R_OK) && read_list(unit, from, shadows);
  if (from) {
    futimens(file, NULL); /* what is used stays */
    fclose(from);
  } else if (file >= 0) {
    close(file);
  }
  return ready;
}

/* It was used once, and libclang crashed: it is neither made nor used again. */
static bool crashes_parses(const char *list) {
  char line[16] = "";
  FILE *from = fopen(list, "re");
  const bool crashes = from && fgets(line, sizeof line, from) && !strcmp(line, CRASHES);
  if (from)
    fclose(from);
  return crashes;
}

char *ink_prelude_take(ink_unit *unit, const char *const *arguments, size_t count, struct CXUnsavedFile *files,
                       size_t *file_count) {
  const char *folder = unit->options->cache;
  char *parse = NULL, list[PATH_MAX];
  if (!folder)
    return NULL;
  files[(*file_count)++] = (struct CXUnsavedFile){.Filename = SOURCE, .Contents = "\n", .Length = 1};
  const unsigned long long key = key_of(arguments, count, files, *file_count);
  if (snprintf(list, sizeof list, "%s/prelude-%016llx.list", folder, key) >= (int)sizeof list ||
      asprintf(&parse, "%s/prelude-%016llx.pch", folder, key) < 0)
    return NULL;
  shadow_list shadows = {0};
  bool seen, ready = read_kept(unit, list, parse, &seen, &shadows);
  if (!ready && seen && !crashes_parses(list) && make(unit, arguments, count, files, *file_count, parse, list)) {
    bound(folder);
    shadows_free(&shadows);
    ready = read_kept(unit, list, parse, &seen, &shadows);
  }
  ready = ready && !shadows_any(&shadows, unit->options->flags, unit->options->flag_count);
  shadows_free(&shadows);
  if (ready)
    return parse;
  ink_prelude_forget(unit);
  free(parse);
  return NULL;
}

void ink_prelude_drop(const char *path, bool crashed) {
  char list[PATH_MAX];
  const size_t stem = strlen(path) - strlen(".pch");
  unlink(path);
  FILE *to = crashed && snprintf(list, sizeof list, "%.*s.list", (int)stem, path) < (int)sizeof list ? fopen(list, "we") : NULL;
  if (to) {
    fputs(CRASHES, to);
    fclose(to);
  }
}
