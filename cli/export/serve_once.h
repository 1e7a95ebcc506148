/* SPDX-License-Identifier: MIT */
/* A web server for one file and one load: on loopback, under a name that cannot be guessed, for
 * pages of one origin. */
#ifndef INKMARK_CLI_SERVE_ONCE_H
#define INKMARK_CLI_SERVE_ONCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct serve_once serve_once;

typedef struct serve_options {
  int file;           /* an open regular file; stays the caller's */
  const char *name;   /* the last part of the URL; characters that a URL would quote become '_' */
  const char *origin; /* whose pages may read it: "https://ui.perfetto.dev" */
  uint16_t port;      /* 0: any free one */
} serve_options;

/* Listens on 127.0.0.1. False after a message. */
bool serve_open(const serve_options *options, serve_once **out);
/* "http://127.0.0.1:PORT/TOKEN/NAME", valid until serve_close. */
const char *serve_url(const serve_once *server);
/* Answers until the file was loaded once, whole. False after a message: nobody came within
 * `wait_seconds` (0: no limit), a load stood still for a minute, the file could not be read. */
bool serve_run(serve_once *server, unsigned wait_seconds);
void serve_close(serve_once *server); /* NULL is fine */

#endif
