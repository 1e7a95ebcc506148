/* SPDX-License-Identifier: MIT */
#include "dependencies.h"

#include "parse_result.h"
#include "shadows.h"
#include "shim.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TICK_NS = 20000000 }; /* a file system's clock may be so much behind */

typedef struct absence {
  char *folder; /* of `names` */
  ink_bytes names;
} absence;

typedef struct dependencies {
  ink_unit *unit;
  const struct timespec *begun;
  struct { /* open addressing: hashes of what was looked at, the lowest bit says that it is there */
    uint64_t *items;
    size_t count, room;
  } seen;
  struct {
    char **items;
    size_t count, room;
  } folders; /* in which headers are looked for */
  struct {
    absence *items;
    size_t count, room;
  } absent;
  ink_bytes files, present;
  bool failed;
} dependencies;

/* ---- what was looked at ---- */

static uint64_t hash_two(const char *one, size_t length, const char *two, size_t two_length) {
  return (ink_text_hash(one, length) * 31 + ink_text_hash(two, two_length)) << 1;
}

static bool grow_seen(dependencies *all) {
  const size_t room = all->seen.room ? 2 * all->seen.room : 4096;
  uint64_t *items = calloc(room, sizeof *items);
  if (!items)
    return false;
  for (size_t i = 0; i < all->seen.room; i++)
    if (all->seen.items[i]) {
      size_t at = (all->seen.items[i] >> 1) % room;
      while (items[at])
        at = (at + 1) % room;
      items[at] = all->seen.items[i];
    }
  free(all->seen.items);
  all->seen.items = items;
  all->seen.room = room;
  return true;
}

/* Where it is, or is to be put; NULL: out of memory. */
static uint64_t *seen_at(dependencies *all, uint64_t hash) {
  if (2 * all->seen.count >= all->seen.room && !grow_seen(all)) {
    all->failed = true;
    return NULL;
  }
  size_t at = (hash >> 1) % all->seen.room;
  while (all->seen.items[at] && (all->seen.items[at] | 1) != (hash | 1))
    at = (at + 1) % all->seen.room;
  return &all->seen.items[at];
}

/* The first time. */
static bool is_first(dependencies *all, const char *one, const char *two) {
  uint64_t *at = seen_at(all, hash_two(one, strlen(one), two, strlen(two)) ^ 0x5555555555555554u);
  if (!at || *at)
    return false;
  *at = (hash_two(one, strlen(one), two, strlen(two)) ^ 0x5555555555555554u) | 1;
  all->seen.count++;
  return true;
}

static bool is_before(const struct timespec *time, const struct timespec *begun) {
  const int64_t apart = (int64_t)(begun->tv_sec - time->tv_sec) * 1000000000 + (begun->tv_nsec - time->tv_nsec);
  return apart > TICK_NS;
}

static void put_absent(dependencies *all, const char *folder, const char *name, size_t length) {
  for (size_t i = all->absent.count; i-- > 0;) /* the last ones are asked for again */
    if (!strcmp(all->absent.items[i].folder, folder)) {
      ink_bytes_format(&all->absent.items[i].names, "-%.*s\n", (int)length, name);
      return;
    }
  if (!INK_I_GROW(all->absent)) {
    all->failed = true;
    return;
  }
  absence *one = &all->absent.items[all->absent.count++];
  *one = (absence){.folder = strdup(folder)};
  all->failed |= !one->folder || strchr(folder, '\n');
  ink_bytes_format(&one->names, "-%.*s\n", (int)length, name);
}

/* Looks for a file; if it is not there, the first part of its path that is not is noted. True: it is there. */
static bool look(dependencies *all, const char *folder, const char *name) {
  char path[PATH_MAX];
  int used = snprintf(path, sizeof path, "%s", *folder ? folder : ".");
  for (const char *at = name + strspn(name, "/"); *at; at += strspn(at, "/")) {
    const size_t length = strcspn(at, "/");
    const uint64_t hash = hash_two(path, (size_t)used, at, length);
    uint64_t *known = seen_at(all, hash);
    if (!known || (size_t)used + length + 2 > sizeof path || memchr(at, '\n', length)) {
      all->failed = true;
      return false;
    }
    if (*known == hash)
      return false;
    struct stat status;
    char parent[PATH_MAX];
    memcpy(parent, path, (size_t)used + 1);
    used += snprintf(path + used, sizeof path - (size_t)used, "/%.*s", (int)length, at);
    if (!*known) {
      const bool there = !stat(path, &status);
      *known = hash | there;
      all->seen.count++;
      if (!there) {
        put_absent(all, parent, at, length);
        return false;
      }
      all->failed |= S_ISREG(status.st_mode) && !is_before(&status.st_ctim, all->begun); /* was it there when the parse looked? */
    }
    at += length;
  }
  return true;
}

static void look_in_all(dependencies *all, const char *name) {
  for (size_t i = 0; i < all->folders.count; i++)
    look(all, all->folders.items[i], name);
}

/* ---- the names that a text asks for ---- */

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  return at;
}

/* `asked`: in __has_include, where it matters, too, that a file is there. */
static void take_name(dependencies *all, const char *at, const char *end, const char *folder, bool asked) {
  char name[PATH_MAX];
  at = skip_blanks(at, end);
  if (at >= end || (*at != '<' && *at != '"'))
    return;
  const char *close = memchr(at + 1, *at == '<' ? '>' : '"', (size_t)(end - at - 1));
  if (!close || close - at > (long)sizeof name - 2 || close == at + 1)
    return;
  snprintf(name, sizeof name, "%.*s", (int)(close - at - 1), at + 1);
  if (*name == '/') {
    if (!look(all, "", name + 1) && asked)
      all->failed = true; /* seen from no folder: not worth a way of its own */
    return;
  }
  bool there = *at == '"' && is_first(all, folder, name) && look(all, folder, name);
  if (there && asked)
    ink_bytes_format(&all->present, "+%s/%s\n", folder, name);
  if (!is_first(all, asked ? "?" : "", name))
    return;
  for (size_t i = 0; i < all->folders.count; i++)
    if (look(all, all->folders.items[i], name) && asked)
      ink_bytes_format(&all->present, "+%s/%s\n", all->folders.items[i], name);
}

static void take_names(dependencies *all, const char *path, const ink_bytes *text) {
  static const char include[] = "include", import[] = "import", asked[] = "__has_include";
  const char *end = text->at + text->count, *slash = strrchr(path, '/');
  char folder[PATH_MAX] = ".";
  if (slash)
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
  for (const char *at = text->at; at && at < end && (at = memchr(at, '#', (size_t)(end - at)));) {
    const char *word = skip_blanks(++at, end), *line = memchr(word, '\n', (size_t)(end - word));
    line = line ? line : end;
    if ((size_t)(line - word) > sizeof include && !memcmp(word, include, sizeof include - 1)) {
      word += sizeof include - 1;
      take_name(all, word + (line - word > 5 && !memcmp(word, "_next", 5) ? 5 : 0), line, folder, false);
    } else if ((size_t)(line - word) > sizeof import && !memcmp(word, import, sizeof import - 1)) {
      take_name(all, word + sizeof import - 1, line, folder, false);
    }
  }
  for (const char *at = text->at; at && at < end && (at = memmem(at, (size_t)(end - at), asked, sizeof asked - 1));) {
    at += sizeof asked - 1;
    const char *line = memchr(at, '\n', (size_t)(end - at));
    line = line ? line : end;
    const char *open = at;
    while (open < line && *open != '<' && *open != '"')
      open++;
    take_name(all, open, line, folder, true);
  }
}

/* ---- files ---- */

static void put_file(dependencies *all, const char *path) {
  struct stat status;
  ink_bytes text = {0};
  if (!is_first(all, "file", path))
    return;
  if (strchr(path, '\n') || stat(path, &status) || !S_ISREG(status.st_mode) || !ink_bytes_read(&text, path) ||
      text.count != (size_t)status.st_size || !is_before(&status.st_mtim, all->begun) || !is_before(&status.st_ctim, all->begun)) {
    all->failed = true;
  } else {
    ink_bytes_format(&all->files, "F %llx %zu %lld %ld %lld %ld %llu %s\n",
                     (unsigned long long)ink_text_hash(text.at ? text.at : "", text.count), text.count, (long long)status.st_mtim.tv_sec,
                     (long)status.st_mtim.tv_nsec, (long long)status.st_ctim.tv_sec, (long)status.st_ctim.tv_nsec,
                     (unsigned long long)status.st_ino, path);
    if (text.count)
      take_names(all, path, &text);
  }
  ink_bytes_free(&text);
  for (const char *at = path; *at; at += strcspn(at, "/")) { /* where a name comes from a macro, its end is in the path */
    at += strspn(at, "/");
    if (*at)
      look_in_all(all, at);
  }
}

static void put_included(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data) {
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name);
  (void)stack, (void)depth;
  if (path && strncmp(path, INK_SHIM "/", sizeof INK_SHIM))
    put_file(data, path);
  clang_disposeString(name);
}

static void put_files(dependencies *all, const ink_bytes *result) {
  ink_parsed_head head;
  memcpy(&head, result->at, sizeof head);
  const char *at = result->at + sizeof head;
  const char *pool = at + head.files * sizeof(ink_parsed_file) + head.places * sizeof(ink_parsed_place) +
                     (head.remarks + (size_t)head.complaints) * sizeof(ink_parsed_remark);
  for (uint32_t i = 0; i < head.files; i++, at += sizeof(ink_parsed_file)) {
    ink_parsed_file file;
    memcpy(&file, at, sizeof file);
    put_file(all, pool + file.path);
  }
  for (size_t i = 0; i < all->unit->kept_files.count; i++)
    put_file(all, all->unit->kept_files.items[i]);
  clang_getInclusions(all->unit->tu, put_included, all);
}

/* ---- folders ---- */

static void add_folder(dependencies *all, const char *folder) {
  if (!INK_I_GROW(all->folders)) {
    all->failed = true;
    return;
  }
  char *copy = strdup(*folder ? folder : ".");
  all->failed |= !copy;
  if (copy)
    all->folders.items[all->folders.count++] = copy;
}

static void add_folders(dependencies *all) {
  static const char *const own[] = {"--include-path", "--system-include", "-isystem", "-iquote", "-I"};
  const ink_instrument_options *options = all->unit->options;
  for (size_t i = 0; i < options->flag_count; i++)
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
      const size_t length = strlen(own[k]);
      const char *flag = options->flags[i];
      if (strncmp(flag, own[k], length))
        continue;
      if (flag[length])
        add_folder(all, flag + length + (flag[length] == '='));
      else if (i + 1 < options->flag_count)
        add_folder(all, options->flags[++i]);
      break;
    }
  for (size_t i = 0; shadows_variables[i]; i++) {
    const char *value = getenv(shadows_variables[i]);
    char *folders = value ? strdup(value) : NULL, *rest = folders;
    for (char *folder; rest && (folder = strsep(&rest, ":"));)
      add_folder(all, folder);
    free(folders);
  }
  add_folder(all, "/usr/local/include");
}

/* The project's root is guessed from these. */
static void look_for_root(dependencies *all) {
  static const char *const signs[] = {".git", ".hg", ".svn"};
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", all->unit->main_path);
  for (char *slash; !all->unit->options->root && (slash = strrchr(folder, '/')) && slash != folder;) {
    *slash = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
      if (look(all, folder, signs[i])) {
        ink_bytes_format(&all->present, "+%s/%s\n", folder, signs[i]);
        return;
      }
  }
}

/* What nvcc begins with, and the parse where a folder of the project has one: see parse.c. */
static void look_for_first(dependencies *all) {
  static const char *const names[] = {"math.h", "stdlib.h", "string.h", "time.h", "limits.h", "stdio.h", "assert.h", "ctype.h"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    look_in_all(all, names[i]);
}

static void put_absences(dependencies *all, ink_bytes *out) {
  for (size_t i = 0; i < all->absent.count; i++) {
    absence *one = &all->absent.items[i];
    struct stat status = {0};
    if (stat(one->folder, &status))
      all->failed = true;
    if (!is_before(&status.st_mtim, all->begun) || !is_before(&status.st_ctim, all->begun))
      status.st_ino = 0; /* always looked at */
    ink_bytes_format(out, "D %lld %ld %lld %ld %llu %s\n", (long long)status.st_mtim.tv_sec, (long)status.st_mtim.tv_nsec,
                     (long long)status.st_ctim.tv_sec, (long)status.st_ctim.tv_nsec, (unsigned long long)status.st_ino,
                     one->folder);
    ink_bytes_add(out, one->names.at, one->names.count);
    all->failed |= one->names.failed;
    ink_bytes_free(&one->names);
    free(one->folder);
  }
}

bool ink_dependencies_write(ink_unit *unit, const ink_bytes *result, const struct timespec *begun, ink_bytes *out) {
  dependencies all = {.unit = unit, .begun = begun};
  add_folders(&all);
  put_files(&all, result);
  look_for_root(&all);
  look_for_first(&all);
  ink_bytes_add(out, all.files.at, all.files.count);
  ink_bytes_add(out, all.present.at, all.present.count);
  put_absences(&all, out);
  const bool fine = !all.failed && !all.files.failed && !all.present.failed && !out->failed;
  for (size_t i = 0; i < all.folders.count; i++)
    free(all.folders.items[i]);
  free(all.folders.items);
  free(all.absent.items);
  free(all.seen.items);
  ink_bytes_free(&all.files);
  ink_bytes_free(&all.present);
  return fine;
}

/* ---- whether they hold ---- */

typedef struct times {
  long long modified, changed;
  long modified_ns, changed_ns;
  unsigned long long inode;
} times;

static bool are_of(const times *then, const struct stat *now) {
  return now->st_mtim.tv_sec == then->modified && now->st_mtim.tv_nsec == then->modified_ns && now->st_ctim.tv_sec == then->changed &&
         now->st_ctim.tv_nsec == then->changed_ns && now->st_ino == then->inode;
}

static bool file_holds(const char *line) {
  times then;
  unsigned long long hash, bytes;
  int at = 0;
  struct stat now;
  if (sscanf(line, "F %llx %llu %lld %ld %lld %ld %llu %n", &hash, &bytes, &then.modified, &then.modified_ns, &then.changed,
             &then.changed_ns, &then.inode, &at) < 7 ||
      !at || stat(line + at, &now) || (unsigned long long)now.st_size != bytes)
    return false;
  ink_bytes text = {0};
  const bool holds = are_of(&then, &now) || (ink_bytes_read(&text, line + at) && text.count == bytes &&
                                             ink_text_hash(text.at ? text.at : "", text.count) == hash);
  ink_bytes_free(&text);
  return holds;
}

/* *same: as it was, so nothing came into it. */
static bool read_folder(const char *line, const char **folder, bool *same) {
  times then;
  int at = 0;
  struct stat now;
  if (sscanf(line, "D %lld %ld %lld %ld %llu %n", &then.modified, &then.modified_ns, &then.changed, &then.changed_ns, &then.inode, &at) < 5 ||
      !at)
    return false;
  *folder = line + at;
  *same = !stat(*folder, &now) && are_of(&then, &now);
  return true;
}

bool ink_dependencies_hold(char *text, size_t bytes) {
  const char *folder = "";
  bool same = true, holds = bytes != 0;
  char path[PATH_MAX];
  for (char *line = text, *next; holds && line < text + bytes; line = next) {
    next = memchr(line, '\n', (size_t)(text + bytes - line));
    if (!next)
      return false;
    *next++ = 0;
    if (*line == 'F')
      holds = file_holds(line);
    else if (*line == 'D')
      holds = read_folder(line, &folder, &same);
    else if (*line == '-')
      holds = same || (snprintf(path, sizeof path, "%s/%s", folder, line + 1) < (int)sizeof path && access(path, F_OK));
    else
      holds = *line == '+' && !access(line + 1, F_OK);
  }
  return holds;
}
