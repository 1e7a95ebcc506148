/* SPDX-License-Identifier: MIT */
/* Measures a source's kernels with and without marks, and keeps what was found in a cache. */
#include "nvcc_guard.h"

#include "hash.h"
#include "nvcc_overlay.h"
#include "nvcc_run.h"
#include "text_out.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a compile of the device code alone ---- */

/* What says which kind of output comes out, or makes others beside it. */
static const char *const dropped[] = {
    "-c", "--compile", "-dw", "--device-w", "-ptx", "--ptx", "-cubin", "--cubin", "-fatbin", "--fatbin", "-cuda",
    "--cuda", "-optix-ir", "--optix-ir", "-ltoir", "--ltoir", "-MD", "-MMD", "-MP", "-shared", "--shared",
    "--generate-dependencies-with-compile", "--generate-nonsystem-dependencies-with-compile", "-keep", "--keep",
    "-save-temps", "--save-temps", "-v", "--verbose", "-link", "--link"};
static const char *const dropped_with_value[] = {
    "-MF", "--dependency-output", "-MT", "--dependency-target-name", "-keep-dir", "--keep-dir", "-time", "--time",
    "-fdevice-time-trace", "--fdevice-time-trace", "-odir", "--output-directory", "-opt-info", "--opt-info"};

static const char *const cubins[] = {"-cubin", "--cubin"}, *const ptxes[] = {"-ptx", "--ptx"},
                         *const arches[] = {"-arch", "--gpu-architecture"};

/* nvcc takes -arch=sm_90a for a fatbin as compute_90 too, which the code may not compile for: not for a cubin and PTX. */
static const char *measured_as(const nvcc_args *args) {
  bool cubin = false, ptx = false, real = false;
  for (size_t i = 0; i < args->words.count; i++) {
    const char *word = args->words.items[i];
    cubin |= NVCC_IS_ONE_OF(word, cubins);
    ptx |= NVCC_IS_ONE_OF(word, ptxes);
    real |= !strncmp(word, "-arch=sm_", 9) || !strncmp(word, "--gpu-architecture=sm_", 22) ||
            (i && !strncmp(word, "sm_", 3) && NVCC_IS_ONE_OF(args->words.items[i - 1], arches));
  }
  return cubin || (ptx && real) ? "-cubin" : "-fatbin";
}

static bool device_words(const char *compiler, const word_list *words, const char *folder, word_list *out) {
  nvcc_args args;
  char *fatbin = NULL;
  if (!nvcc_args_read((int)words->count, words->items, &args))
    return false;
  bool fine = word_add(out, compiler) && asprintf(&fatbin, "%s/guard.fatbin", folder) >= 0;
  for (size_t i = 0; i < args.words.count && fine; i++) {
    const char *word = args.words.items[i];
    const size_t name = strcspn(word, "=");
    bool with_value = false;
    for (size_t k = 0; k < sizeof dropped_with_value / sizeof *dropped_with_value; k++)
      with_value |= strlen(dropped_with_value[k]) == name && !strncmp(word, dropped_with_value[k], name);
    if (with_value)
      i += !word[name];
    else if (!strcmp(word, "-dc") || !strcmp(word, "--device-c"))
      fine = word_add(out, "-rdc=true");
    else if (args.roles[i] != 'o' && args.roles[i] != 'f' && !NVCC_IS_ONE_OF(word, dropped)) {
      fine = word_add(out, word);
      if (nvcc_takes_value(word) && i + 1 < args.words.count)
        fine = fine && word_add(out, args.words.items[++i]);
    }
  }
  /* kernels of ours that the user's do not depend on have no body then */
  const char *const own[] = {"-DINKMARK_COUNTS_ALONE", "-Xptxas", "-v", measured_as(&args), "--keep", "--keep-dir", folder, "-o", fatbin};
  for (size_t i = 0; i < sizeof own / sizeof *own && fine; i++)
    fine = word_add(out, own[i]);
  free(fatbin);
  nvcc_args_free(&args);
  return fine;
}

int guard_measure(const char *compiler, const word_list *words, const char *folder, counts *out) {
  word_list call = {0};
  char *text = NULL;
  struct stat status;
  int code = -1;
  overlay_remove(folder);
  const int file = memfd_create("inkmark-guard", MFD_CLOEXEC);
  if (file >= 0 && !mkdir(folder, 0700) && device_words(compiler, words, folder, &call))
    code = nvcc_run(call.items[0], call.items, file, folder);
  if (code >= 0 && !fstat(file, &status) && (text = malloc((size_t)status.st_size + 1))) {
    const ssize_t n = pread(file, text, (size_t)status.st_size, 0);
    text[n > 0 ? n : 0] = 0;
    if (!counts_read_words(out, text) || (!code && !counts_read_ptx(out, folder)))
      code = -1;
  }
  overlay_remove(folder);
  if (file >= 0)
    close(file);
  free(text);
  word_free(&call);
  return code;
}

/* ---- the cache: a file for each hash, written whole and renamed ---- */

uint64_t guard_hash_text(uint64_t hash, const char *text) {
  return text ? hash_on(hash, text, strlen(text) + 1) : hash_on(hash, "", 1);
}

uint64_t guard_hash_call(uint64_t hash, const char *compiler, const word_list *words) {
  word_list call = {0};
  if (device_words(compiler, words, "", &call))
    for (size_t i = 0; i < call.count; i++)
      hash = guard_hash_text(hash, call.items[i]);
  word_free(&call);
  return hash;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

uint64_t guard_hash_headers(uint64_t hash, const char *folder) {
  char path[PATH_MAX], bytes[4096];
  struct dirent **list = NULL;
  snprintf(path, sizeof path, "%s/inkmark", folder);
  const int n = scandir(path, &list, NULL, by_name);
  for (int i = 0; i < n; i++) {
    size_t got;
    if (snprintf(path, sizeof path, "%s/inkmark/%s", folder, list[i]->d_name) < (int)sizeof path && list[i]->d_name[0] != '.') {
      FILE *from = fopen(path, "r");
      while (from && (got = fread(bytes, 1, sizeof bytes, from)) > 0)
        hash = hash_on(hash, bytes, got);
      if (from)
        fclose(from);
    }
    free(list[i]);
  }
  free(list);
  return hash;
}

/* The cache's folder; NULL: there is no home for it. malloc'ed. */
static char *cache_folder(void) {
  const char *own = getenv("INKMARK_CACHE"), *user = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char *path = NULL;
  if (own && *own)
    return strdup(own);
  if (user && *user == '/')
    return asprintf(&path, "%s/inkmark", user) < 0 ? NULL : path;
  return home && *home == '/' && asprintf(&path, "%s/.cache/inkmark", home) >= 0 ? path : NULL;
}

char *guard_cache(void) {
  char *folder = cache_folder();
  if (!folder)
    return NULL;
  for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(folder, 0777);
    *slash = '/';
  }
  mkdir(folder, 0777);
  return folder;
}

enum { MOST_KEPT = 10000 };

typedef struct kept_file {
  char name[32];
  struct timespec used;
} kept_file;

static int by_use(const void *left, const void *right) {
  const kept_file *a = left, *b = right;
  if (a->used.tv_sec != b->used.tv_sec)
    return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
  if (a->used.tv_nsec != b->used.tv_nsec)
    return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
  return strcmp(a->name, b->name);
}

/* Where there are more files than are kept, the half that was used last stays. Others may do the same at once. */
static void bound_cache(const char *folder) {
  DIR *dir = opendir(folder);
  kept_file *files = NULL;
  size_t count = 0, room = 0;
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    struct stat status;
    if (strncmp(entry->d_name, "guard-", 6) || strlen(entry->d_name) >= sizeof files->name ||
        fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
      continue;
    if (count == room) {
      kept_file *more = realloc(files, (2 * room + 1024) * sizeof *files);
      if (!more)
        break;
      files = more;
      room = 2 * room + 1024;
    }
    snprintf(files[count].name, sizeof files->name, "%s", entry->d_name);
    files[count++].used = status.st_mtim;
  }
  if (count > MOST_KEPT) {
    qsort(files, count, sizeof *files, by_use);
    for (size_t i = 0; i < count - MOST_KEPT / 2; i++)
      unlinkat(dirfd(dir), files[i].name, 0);
  }
  free(files);
  if (dir)
    closedir(dir);
}

bool guard_recall(uint64_t hash, guard_verdicts *verdicts) {
  char *folder = cache_folder(), *line = NULL, path[PATH_MAX];
  size_t room = 0;
  bool whole = false;
  FILE *from = NULL;
  if (folder && snprintf(path, sizeof path, "%s/guard-%016llx", folder, (unsigned long long)hash) < (int)sizeof path)
    from = fopen(path, "r");
  while (from && !whole && getline(&line, &room, from) > 0) {
    char *second, *name, *why;
    const long level = strtol(line, &second, 10);
    const unsigned long registers = strtoul(second, &name, 10);
    whole = !strcmp(line, "end\n");
    why = name > second && *name == ' ' ? strchr(name + 1, ' ') : NULL;
    if (whole || !why || level < INK_GUARD_ALL || level > INK_GUARD_NONE || registers > UINT_MAX || (level == INK_GUARD_ALL && !registers))
      break;
    *why++ = 0;
    why[strcspn(why, "\n")] = 0;
    if (!guard_raise_to(verdicts, name + 1, (ink_guard_level)level, (unsigned)registers, why))
      break;
  }
  if (!whole)
    guard_free(verdicts);
  else
    futimens(fileno(from), NULL); /* what is used stays */
  if (from)
    fclose(from);
  free(line);
  free(folder);
  return whole;
}

void guard_remember(uint64_t hash, const guard_verdicts *verdicts) {
  char *folder = guard_cache(), path[PATH_MAX], temporary[PATH_MAX + 32];
  if (!folder)
    return;
  if (snprintf(path, sizeof path, "%s/guard-%016llx", folder, (unsigned long long)hash) < (int)sizeof path) {
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *to = fopen(temporary, "wx");
    for (size_t i = 0; to && i < verdicts->count; i++)
      text_print(to, "%d %u %s %s\n", (int)verdicts->items[i].level, verdicts->items[i].registers, verdicts->items[i].kernel,
                 verdicts->reasons[i]);
    if (to) {
      fputs("end\n", to);
      if (ferror(to) | fclose(to) || rename(temporary, path)) /* what is not whole is not kept */
        unlink(temporary);
      bound_cache(folder);
    }
  }
  free(folder);
}
