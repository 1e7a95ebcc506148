/* SPDX-License-Identifier: MIT */
/* Finds SQLite on this machine and opens a database with it. */
#include "sqlite_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SQL_READONLY = 1, SQL_URI = 0x40, SQL_NOMUTEX = 0x8000 }; /* one thread uses it */
enum { SQL_NO_CHECKPOINT_ON_CLOSE = 1006 };

static bool load(sqlite *s) {
  s->library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!s->library)
    return false;
  const struct {
    const char *name;
    void *at;
  } entries[] = {{"sqlite3_open_v2", &s->open_v2},
                 {"sqlite3_db_config", &s->db_config},
                 {"sqlite3_close", &s->close},
                 {"sqlite3_prepare_v2", &s->prepare_v2},
                 {"sqlite3_step", &s->step},
                 {"sqlite3_finalize", &s->finalize},
                 {"sqlite3_reset", &s->reset},
                 {"sqlite3_bind_int64", &s->bind_int64},
                 {"sqlite3_column_count", &s->column_count},
                 {"sqlite3_column_name", &s->column_name},
                 {"sqlite3_column_int64", &s->column_int64},
                 {"sqlite3_column_double", &s->column_double},
                 {"sqlite3_column_type", &s->column_type},
                 {"sqlite3_column_text", &s->column_text},
                 {"sqlite3_column_bytes", &s->column_bytes},
                 {"sqlite3_errmsg", &s->errmsg},
                 {"sqlite3_progress_handler", &s->progress_handler}};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *symbol = dlsym(s->library, entries[i].name);
    if (!symbol)
      return false;
    memcpy(entries[i].at, &symbol, sizeof symbol);
  }
  return true;
}

/* SQLite calls it every STEPS_A_TURN steps of its machine. */
enum { STEPS_A_TURN = 10000, STEPS_A_BYTE = 1000, STEPS_OF_ANY = 20000000 };

static int one_turn(void *turns_left) {
  uint64_t *left = turns_left;
  if (*left != UINT64_MAX)
    --*left;
  return *left == UINT64_MAX; /* and then every statement ends */
}

static bool limit_steps(sqlite *s, const char *path) {
  struct stat file = {0}, log = {0};
  char name[PATH_MAX];
  s->turns_left = malloc(sizeof *s->turns_left);
  if (!s->turns_left)
    return false;
  if (snprintf(name, sizeof name, "%s-wal", path) >= PATH_MAX || stat(name, &log))
    log.st_size = 0;
  if (stat(path, &file))
    file.st_size = 0;
  *s->turns_left = STEPS_OF_ANY / STEPS_A_TURN + ((uint64_t)file.st_size + (uint64_t)log.st_size) * STEPS_A_BYTE / STEPS_A_TURN;
  s->progress_handler(s->db, STEPS_A_TURN, one_turn, s->turns_left);
  return true;
}

static bool has_beside(const char *path, const char *ending) {
  char name[PATH_MAX];
  struct stat file;
  return snprintf(name, sizeof name, "%s%s", path, ending) < PATH_MAX && !stat(name, &file) &&
         file.st_size > 0;
}

/* Reads the log that the writer left beside the file; without `shared` with the log's index in
 * memory. */
static bool open_log(const sqlite *s, bool shared) {
  static const char *const steps[] = {"PRAGMA locking_mode = EXCLUSIVE",
                                      "SELECT 1 FROM sqlite_master"};
  bool done = !s->db_config(s->db, SQL_NO_CHECKPOINT_ON_CLOSE, 1, NULL);
  for (size_t i = shared; done && i < sizeof steps / sizeof *steps; i++) {
    void *statement = NULL;
    done = !s->prepare_v2(s->db, steps[i], -1, &statement, NULL) && s->step(statement) == SQL_ROW;
    s->finalize(statement);
  }
  return done;
}

ink_status sqlite_open(sqlite *s, const char *path, ink_error *error) {
  *s = (sqlite){0};
  if (!load(s))
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "cannot read '%s': libsqlite3.so.0 is not on this machine "
                         "(Debian: libsqlite3-0)",
                         path);
  size_t size = strlen(path) * 3 + 40;
  char *uri = malloc(size), *p = uri;
  if (!uri)
    return INK_ERROR_MEMORY;
  p += snprintf(p, size, *path == '/' ? "file://" : "file:"); /* "//x" is no host */
  for (const char *c = path; *c; c++)
    p += strchr("?#%", *c) ? sprintf(p, "%%%02x", (unsigned char)*c) : sprintf(p, "%c", *c);
  /* As it is: a report in a folder that cannot be written is read as well. What the writer left in
   * a log beside the file is part of it. Where another program has both open, a shared index of the
   * log is there too, and is used; where none is, SQLite would leave one, but for a file that it
   * need not lock. */
  bool log = has_beside(path, "-wal"), shared = log && has_beside(path, "-shm");
  if (!shared)
    strcpy(p, log ? "?vfs=unix-none" : "?immutable=1");
  s->alone = !log;
  int rc = s->open_v2(uri, &s->db, SQL_READONLY | SQL_URI | SQL_NOMUTEX, NULL);
  free(uri);
  if (rc)
    return ink_error_set(error, INK_ERROR_IO, "cannot open '%s': %.200s", path,
                         s->db ? s->errmsg(s->db) : "out of memory");
  if (log && !open_log(s, shared))
    return ink_error_set(error, INK_ERROR_IO,
                         "cannot open '%s' with the log '-wal' beside it: %.200s", path,
                         s->errmsg(s->db));
  return limit_steps(s, path) ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

void sqlite_close(sqlite *s) {
  if (s->db)
    s->close(s->db);
  if (s->library)
    dlclose(s->library);
  free(s->turns_left);
  *s = (sqlite){0};
}

ink_status sqlite_bad(const sqlite *s, const char *path, ink_error *error) {
  if (s->turns_left && *s->turns_left == UINT64_MAX)
    return ink_error_set(error, INK_ERROR_DAMAGED, "cannot read '%s': it leads to more rows than it can hold", path);
  return ink_error_set(error, INK_ERROR_DAMAGED, "cannot read '%s': %.300s", path,
                       s->errmsg(s->db));
}
