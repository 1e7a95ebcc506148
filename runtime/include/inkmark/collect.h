/* SPDX-License-Identifier: MIT */
/* The writer process of `inkmark record`. It takes chunks that recorded processes put into shared memory, and writes
 * their captures, even if these processes are killed. This header is for launchers. If a program records itself, it
 * uses inkmark/session.h. docs/arming.md says how processes find the writer.
 *
 * Open a collector, fork, and run the collector in the child. The parent sets INKMARK_WRITER to the address, starts
 * the program, and frees the collector.
 *
 * Experimental: it may change with any version.
 *
 * Threads: one thread at a time for a collector, and for a control socket.
 * Lifetime: a collector lives until ink_collector_free. The lines that it passes to a callback are valid only during
 * the call.
 *
 * @code{.c}
 * #include <inkmark/collect.h>
 * #include <stdio.h>
 * #include <stdlib.h>
 * #include <sys/socket.h>
 * #include <sys/wait.h>
 * #include <unistd.h>
 *
 * int main(void) {
 *   int control[2];
 *   if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control))
 *     return 1;
 *   ink_collector *collector;
 *   ink_error error = {0};
 *   const ink_collector_options options = {.size = sizeof options, .output = "/tmp/run.%p.ink", .control = control[1]};
 *   if (ink_collector_open(&options, &collector, &error)) {
 *     fprintf(stderr, "%s\n", error.message);
 *     return 1;
 *   }
 *   const pid_t writer = fork();
 *   if (writer == 0) {
 *     close(control[0]);
 *     ink_collector_run(collector);
 *     _exit(0);
 *   }
 *   setenv("INKMARK_WRITER", ink_collector_address(collector), 1);
 *   ink_collector_free(collector);
 *   // Start the programs here: with INKMARK_RECORD=1, and libinkmark-preload.so in LD_PRELOAD.
 *   close(control[0]); // nothing more is asked: the writer ends with the last of them
 *   waitpid(writer, NULL, 0);
 *   puts("the writer has ended");
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_COLLECT_H
#define INKMARK_COLLECT_H

#include "inkmark/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ink_collector ink_collector;

/* Zero means the default, given in parentheses. */
typedef struct ink_collector_options {
  size_t size;            /* sizeof(ink_collector_options) */
  const char *output;     /* absolute template of the captures: %p pid, %h host, %r rank, %% */
  int64_t began_ns;       /* CLOCK_REALTIME: a newer file of that name is another process's (now) */
  int control;            /* a SOCK_SEQPACKET socket to the launcher, taken over; -1: none */
  uint64_t memory_bytes;  /* most shared memory at a time (a sixteenth of what there is, 64 MiB to 1 GiB) */
  bool says_at_once;      /* lines come without being asked for: ink_collector_listen */
  uint8_t reserved[7];         /* zero: what comes later lies where callers of today have no padding */
  const char *source_folder; /* absolute: the sources of marked files are stored, which tables name from here, or from the
                              * folder of the recorded program (none is stored) */
} ink_collector_options;

/* Listens.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_ARGUMENT (the options), INK_ERROR_IO (an output without %p, %h or %r cannot be written),
 * INK_ERROR_UNSUPPORTED (there is no socket to listen at), INK_ERROR_MEMORY. */
INK_API ink_status ink_collector_open(const ink_collector_options *options, ink_collector **out,
                                      ink_error *error);
/* For INKMARK_WRITER: whoever knows it can hand in a capture.
 * Returns: the address, which belongs to the collector. */
INK_API const char *ink_collector_address(const ink_collector *collector);
/* Works until the launcher has closed its end of the control socket and every process that recorded is gone. For a
 * process of its own: makes it a session leader in the folder /, puts /dev/null on its standard descriptors, closes
 * all others, ignores the signals that are sent in passing (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ). */
INK_API void ink_collector_run(ink_collector *collector);
/* Frees a collector. NULL is fine. */
INK_API void ink_collector_free(ink_collector *collector);

/* ---- the launcher's side of the control socket ---- */

/* Tells how a child of the launcher ended (its wait status), so that its capture can say so.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_STOPPED (the writer is gone). */
INK_API ink_status ink_collector_tell_end(int control, int64_t pid, int wait_status, ink_error *error);
/* Waits, `patience_ms` at most from one word to the next, until everything that processes left behind by now is
 * written, and hands over what is to be said, a line each: "PID wrote PATH" (whole, or as far as it got), "PID runs
 * PATH" (it goes on; PATH is empty if it has recorded nothing yet), "PID failed TEXT", "PID remark TEXT", "PID
 * activity TEXT", "PID sections TEXT", "PID cut TEXT" (it ended so, with nothing written).
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_STOPPED (the writer is gone), INK_ERROR_IO (it did not answer). */
INK_API ink_status ink_collector_ask(int control, uint32_t patience_ms,
                                     void (*line)(void *user, const char *text), void *user,
                                     ink_error *error);
/* Hands over the lines that have come unasked, with says_at_once; waits for nothing. */
INK_API void ink_collector_listen(int control, void (*line)(void *user, const char *text), void *user);

#ifdef __cplusplus
}
#endif
#endif
