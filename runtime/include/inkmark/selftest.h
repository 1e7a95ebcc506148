/* SPDX-License-Identifier: MIT */
/* Keeps the page that `inkmark selftest` wrote about a device, so that captures made on that device can hold the
 * page.
 *
 * Experimental: it may change with any version.
 *
 * Threads: any number of threads may call these functions at once.
 * Lifetime: nothing is allocated.
 *
 * @code{.c}
 * #include <inkmark/selftest.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error))
 *     return 1;
 *   const ink_device_info *devices; // they belong to the capture
 *   static char text[INK_SELFTEST_BYTES_MAX];
 *   const size_t count = ink_capture_devices(capture, &devices);
 *   for (size_t i = 0; i < count; i++)
 *     puts(ink_selftest_read(&devices[i], text, sizeof text, &error) ? error.message : text);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_SELFTEST_H
#define INKMARK_SELFTEST_H

#include "inkmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INK_SELFTEST_BYTES_MAX = 16384 };

/* The file for this device under this driver on this host: $XDG_CACHE_HOME or ~/.cache, then
 * inkmark/selftest/HOST-DEVICE-SMS-DRIVER.txt. Needs the device's name, SM count and driver version.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_NOT_FOUND (neither variable is set, or the path does not fit). */
INK_API ink_status ink_selftest_path(const ink_device_info *device, char *path, size_t path_bytes,
                                     ink_error *error);

/* What it says, with a zero byte; the fact "selftest.N" of captures of device N.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_NOT_FOUND (no self-test was made there), and those of ink_selftest_path. */
INK_API ink_status ink_selftest_read(const ink_device_info *device, char *text, size_t text_bytes,
                                     ink_error *error);

#ifdef __cplusplus
}
#endif
#endif
