/* SPDX-License-Identifier: MIT */
/* A file `result-KEY` for each set of options: a head, the options, what the result depends on (dependencies.h), the result.
 * It is written under another name and renamed, so that others see the whole or nothing; one that is not whole is no file. */
#include "kept_result.h"

#include "cache_folder.h"
#include "dependencies.h"
#include "parse_result.h"
#include "shadows.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 4000 };
static const uint64_t most_bytes = (uint64_t)256 << 20;

typedef struct kept_head {
  char magic[16];
  uint64_t options, dependencies, block, hash; /* bytes, and the hash of all of them */
} kept_head;
static const char magic[16] = "inkmark result1";

/* ---- the options ---- */

static void put_text(ink_bytes *key, const char *text) {
  ink_bytes_format(key, "%zd:%s\n", text ? (ssize_t)strlen(text) : -1, text ? text : "");
}

/* Which file it is, as far as that can be told without reading it. */
static void put_program(ink_bytes *key, const char *path) {
  struct stat status;
  if (!stat(path, &status))
    ink_bytes_format(key, "%llu %lld %lld %ld\n", (unsigned long long)status.st_ino, (long long)status.st_size,
                     (long long)status.st_mtim.tv_sec, (long)status.st_mtim.tv_nsec);
  else
    put_text(key, NULL);
}

/* Words of nvcc's that say where the output goes and what it is called. */
static size_t words_of_output(const char *const *flags, size_t count, size_t at) {
  static const char *const alone[] = {"-c", "--compile", "-MD", "-MMD", "-MP", "-cubin", "--cubin", "-ptx", "--ptx", "-fatbin", "--fatbin",
                                      "-v", "--verbose", "--generate-dependencies-with-compile",
                                      "--generate-nonsystem-dependencies-with-compile"};
  static const char *const valued[] = {"-o", "--output-file", "-MF", "--dependency-output", "-MT", "--dependency-target-name",
                                       "-odir", "--output-directory", "-Xptxas", "--ptxas-options"};
  for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
    if (!strcmp(flags[at], alone[i]))
      return 1;
  for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
    const size_t length = strlen(valued[i]);
    if (!strncmp(flags[at], valued[i], length) && (flags[at][length] == '=' || !flags[at][length]))
      return flags[at][length] || at + 1 == count ? 1 : 2;
  }
  return 0;
}

static void put_programs(const ink_instrument_options *options, ink_bytes *key) {
  static const char *const compilers[] = {"bin/nvcc", "../../bin/nvcc"};
  char path[PATH_MAX];
  Dl_info info;
  put_program(key, "/proc/self/exe");
  if (dladdr((void *)(uintptr_t)clang_createIndex, &info) && info.dli_fname)
    put_program(key, info.dli_fname);
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
    if (snprintf(path, sizeof path, "%s/%s", options->cuda, compilers[i]) < (int)sizeof path)
      put_program(key, path); /* the macros of its version */
}

static void make_key(const ink_instrument_options *options, ink_bytes *key) {
  char path[PATH_MAX];
  put_programs(options, key);
  put_text(key, getcwd(path, sizeof path));
  put_text(key, options->source);
  put_text(key, realpath(options->source, path));
  put_text(key, options->root);
  put_text(key, options->root ? realpath(options->root, path) : NULL);
  put_text(key, options->device_include);
  put_text(key, options->cuda);
  put_text(key, options->kernels);
  put_text(key, options->exclude);
  put_text(key, options->calls_like);
  put_text(key, getenv("HOME"));
  for (size_t i = 0; shadows_variables[i]; i++)
    put_text(key, getenv(shadows_variables[i]));
  ink_bytes_format(key, "%d %d %d %d %d %d %d %u %u %d\n", options->calls, options->loops, options->waits, options->lines,
                   options->kernels_only, options->headers, options->rows, options->depth, options->limit, (int)options->hold);
  for (size_t i = 0; i < options->guarded_count; i++) {
    ink_bytes_format(key, "%d %u %d ", (int)options->guarded[i].level, options->guarded[i].registers, options->guarded[i].skipped);
    put_text(key, options->guarded[i].kernel);
  }
  for (size_t i = 0, n; i < options->flag_count; i += n ? n : 1) {
    n = words_of_output(options->flags, options->flag_count, i);
    if (!n)
      put_text(key, options->flags[i]);
  }
}

static bool path_of(const ink_instrument_options *options, const ink_bytes *key, char path[PATH_MAX]) {
  return snprintf(path, PATH_MAX, "%s/result-%016llx", options->cache, (unsigned long long)ink_text_hash(key->at, key->count)) < PATH_MAX;
}

/* ---- one of them ---- */

static bool is_whole(const ink_bytes *file, kept_head *head) {
  if (file->count < sizeof *head)
    return false;
  memcpy(head, file->at, sizeof *head);
  const uint64_t left = file->count - sizeof *head;
  return !memcmp(head->magic, magic, sizeof magic) && head->options <= left && head->dependencies <= left - head->options &&
         head->block == left - head->options - head->dependencies && head->block >= sizeof(ink_parsed_head) &&
         ink_text_hash(file->at + sizeof *head, (size_t)left) == head->hash;
}

bool ink_kept_result_read(const ink_instrument_options *options, ink_bytes *block) {
  ink_bytes key = {0}, file = {0};
  kept_head head;
  char path[PATH_MAX];
  make_key(options, &key);
  bool fine = !key.failed && path_of(options, &key, path) && ink_bytes_read(&file, path) && is_whole(&file, &head);
  char *at = fine ? file.at + sizeof head : NULL;
  fine = fine && head.options == key.count && !memcmp(at, key.at, key.count) &&
         ink_dependencies_hold(at + head.options, (size_t)head.dependencies);
  if (fine) {
    ink_bytes_add(block, at + head.options + head.dependencies, (size_t)head.block);
    fine = !block->failed;
    utimensat(AT_FDCWD, path, NULL, 0); /* what is used stays */
  }
  ink_bytes_free(&key);
  ink_bytes_free(&file);
  return fine;
}

/* ---- the folder ---- */

/* Where there are more than are kept, in number or in bytes, the half that was used last stays. */
static void bound(const char *folder) {
  ink_cache_files all = ink_cache_files_of(folder, "result-");
  uint64_t bytes = 0, kept = 0;
  size_t count = 0, seen = 0;
  for (size_t i = 0; i < all.count; i++) {
    const ink_cache_file *one = &all.items[i];
    if (strchr(one->name, '.')) { /* not whole yet, or left by a run that was ended */
      if (ink_cache_is_left(one))
        ink_cache_remove(&all, one->name);
    } else {
      count++;
      bytes += one->bytes;
    }
  }
  for (size_t i = 0; i < all.count && (count > MOST_FILES || bytes > most_bytes); i++) {
    if (strchr(all.items[i].name, '.'))
      continue;
    kept += all.items[i].bytes;
    if (seen++ >= MOST_FILES / 2 || kept > most_bytes / 2)
      ink_cache_remove(&all, all.items[i].name);
  }
  ink_cache_files_free(&all);
}

void ink_kept_result_write(ink_unit *unit, const ink_bytes *block, const struct timespec *begun) {
  ink_bytes key = {0}, file = {0};
  kept_head head = {0};
  char path[PATH_MAX], temporary[PATH_MAX + 32];
  make_key(unit->options, &key);
  memcpy(head.magic, magic, sizeof magic);
  head.options = key.count;
  ink_bytes_add(&file, &head, sizeof head);
  ink_bytes_add(&file, key.at, key.count);
  const bool known = ink_dependencies_write(unit, block, begun, &file);
  head.dependencies = file.count - sizeof head - head.options;
  head.block = block->count;
  ink_bytes_add(&file, block->at, block->count);
  if (known && !key.failed && !file.failed && path_of(unit->options, &key, path)) {
    head.hash = ink_text_hash(file.at + sizeof head, file.count - sizeof head);
    memcpy(file.at, &head, sizeof head);
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    const int to = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool written = to >= 0 && ink_write_all(to, file.at, file.count);
    if (to >= 0 && (close(to) || !written || rename(temporary, path)))
      unlink(temporary);
    bound(unit->options->cache);
  }
  ink_bytes_free(&key);
  ink_bytes_free(&file);
}
