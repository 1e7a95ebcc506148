/* SPDX-License-Identifier: MIT */
/* SQLite, loaded when a database is opened, not linked: libinkmark is also what recorded programs
 * load. The few entry points that are used, as https://www.sqlite.org/c3ref documents them. */
#ifndef INK_SQLITE_LOAD_H
#define INK_SQLITE_LOAD_H

#include "inkmark/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct sqlite {
  void *library;
  int (*open_v2)(const char *, void **, int, const char *);
  int (*db_config)(void *, int, ...);
  int (*close)(void *);
  int (*prepare_v2)(void *, const char *, int, void **, const char **);
  int (*step)(void *);
  int (*finalize)(void *);
  int (*reset)(void *);
  int (*bind_int64)(void *, int, long long);
  int (*column_count)(void *);
  const char *(*column_name)(void *, int);
  long long (*column_int64)(void *, int);
  double (*column_double)(void *, int);
  int (*column_type)(void *, int);
  const unsigned char *(*column_text)(void *, int);
  int (*column_bytes)(void *, int);
  const char *(*errmsg)(void *);
  void (*progress_handler)(void *, int, int (*)(void *), void *);
  void *db;
  bool alone; /* no log stands beside the file */
  uint64_t *turns_left; /* until what is read must be more than the file can hold */
} sqlite;

enum { SQL_ROW = 100, SQL_DONE = 101 };
enum { SQL_INTEGER = 1, SQL_FLOAT = 2, SQL_TEXT = 3, SQL_BLOB = 4, SQL_NULL = 5 };

/* Opens for reading, as it is; nothing beside the file is made or changed. A statement that takes more steps than
 * the file's size explains ends, for in a damaged file pages may be reached again and again. Close also after a
 * failure. */
ink_status sqlite_open(sqlite *s, const char *path, ink_error *error);
void sqlite_close(sqlite *s);
/* INK_ERROR_DAMAGED with SQLite's own words. */
ink_status sqlite_bad(const sqlite *s, const char *path, ink_error *error);

#endif
