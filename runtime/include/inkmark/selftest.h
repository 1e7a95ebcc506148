/* SPDX-License-Identifier: MIT */
/* Where `inkmark selftest` keeps what it found of a device, so that captures made on it can hold
 * it.
 *
 * Experimental: it may change with any version. */
#ifndef INKMARK_SELFTEST_H
#define INKMARK_SELFTEST_H

#include "inkmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INK_SELFTEST_BYTES_MAX = 16384 };

/* The file for this device under this driver on this host: $XDG_CACHE_HOME or ~/.cache, then
 * inkmark/selftest/HOST-DEVICE-SMS-DRIVER.txt. Needs the device's name, SM count and driver
 * version. INK_ERROR_NOT_FOUND: neither variable is set, or the path does not fit. */
INK_API ink_status ink_selftest_path(const ink_device_info *device, char *path, size_t path_bytes,
                                     ink_error *error);

/* What it says, with a zero byte; the fact "selftest.N" of captures of device N.
 * INK_ERROR_NOT_FOUND: no self-test was made there. */
INK_API ink_status ink_selftest_read(const ink_device_info *device, char *text, size_t text_bytes,
                                     ink_error *error);

#ifdef __cplusplus
}
#endif
#endif
