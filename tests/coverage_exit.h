/* SPDX-License-Identifier: MIT */
/* Included in front of every source of a coverage build: a process that leaves by _exit, as children do, writes its counts
 * before. gcc's own wrappers of fork and exec do the rest. */
#ifndef INKMARK_COVERAGE_EXIT_H
#define INKMARK_COVERAGE_EXIT_H

#include <stdlib.h>
#include <unistd.h>

void __gcov_dump(void);

__attribute__((noreturn)) static inline void ink_coverage_exit(int code) {
  __gcov_dump();
  (_exit)(code);
}
#define _exit(code) ink_coverage_exit(code)
#define _Exit(code) ink_coverage_exit(code)

#endif
