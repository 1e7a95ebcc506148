/* SPDX-License-Identifier: MIT */
/* The version of libinkmark: INKMARK_VERSION_NUMBER is that of this header, and ink_version() is that of the library
 * that a program runs with. The build reads the three numbers here.
 *
 * Threads: any thread may call it.
 * Lifetime: nothing is allocated.
 *
 * @code{.c}
 * #include <inkmark/version.h>
 * #include <stdio.h>
 * #if INKMARK_VERSION_NUMBER < INKMARK_VERSION_OF(0, 1, 0)
 * #error "this program needs inkmark 0.1.0"
 * #endif
 *
 * int main(void) {
 *   if (ink_version() < INKMARK_VERSION_NUMBER)
 *     puts("the library is older than the program");
 *   printf("libinkmark %u.%u.%u\n", ink_version() / 10000, ink_version() / 100 % 100, ink_version() % 100);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_VERSION_H
#define INKMARK_VERSION_H

#include "inkmark/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INKMARK_VERSION_MAJOR 0
#define INKMARK_VERSION_MINOR 1
#define INKMARK_VERSION_PATCH 0

/* One number that grows with the version; minor and patch are below 100. */
#define INKMARK_VERSION_OF(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))
#define INKMARK_VERSION_NUMBER \
  INKMARK_VERSION_OF(INKMARK_VERSION_MAJOR, INKMARK_VERSION_MINOR, INKMARK_VERSION_PATCH)

/* The version of the library that the program runs with.
 * Returns: INKMARK_VERSION_NUMBER of that library. */
INK_API unsigned ink_version(void);

#ifdef __cplusplus
}
#endif
#endif
