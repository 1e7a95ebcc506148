/* SPDX-License-Identifier: MIT */
/* Included in front of every source of a coverage build: a process that leaves by _exit, as children do, writes its counts
 * before. gcc's own wrappers of fork and exec do the rest. No header is included: sources have names that those have too. */
#if !defined(INKMARK_COVERAGE_EXIT_H) && !defined(inkmark_preload_EXPORTS) /* that library has an _exit of its own */
#define INKMARK_COVERAGE_EXIT_H

void __gcov_dump(void);
void ink_coverage_real_exit(int code) __asm__("_exit") __attribute__((noreturn));
void ink_coverage_exit(int code) __attribute__((noreturn));

__attribute__((weak, visibility("hidden"))) void ink_coverage_exit(int code) {
  __gcov_dump();
  ink_coverage_real_exit(code);
}
#define _exit ink_coverage_exit
#define _Exit ink_coverage_exit

#endif
