/* SPDX-License-Identifier: MIT */
/* Runs compilers for `inkmark nvcc`, so that a signal ends them and leaves nothing behind. */
#ifndef INKMARK_CLI_NVCC_RUN_H
#define INKMARK_CLI_NVCC_RUN_H

/* From here on SIGINT, SIGTERM and SIGHUP, unless they were ignored, end what runs and not this
 * process. */
void nvcc_catch_signals(void);
/* The signal that came, 0: none. It stays at one place. */
const volatile int *nvcc_caught(void);
/* Ends this process by the signal that came, if one did: the last thing to do. */
void nvcc_die_if_caught(void);

/* Runs `program` with the arguments `words`, words[0] among them; the exit code, 128 + the signal
 * where one ended it. capture >= 0: output and messages go there. temporary: its TMPDIR, NULL:
 * ours. When a signal came, everything that it started has ended, too. */
int nvcc_run(const char *program, char **words, int capture, const char *temporary);

#endif
