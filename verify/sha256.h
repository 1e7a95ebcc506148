/* SPDX-License-Identifier: MIT */
/* Private: SHA-256 of FIPS 180-4. */
#ifndef INK_VERIFY_SHA256_H
#define INK_VERIFY_SHA256_H

#include <stddef.h>

enum { INK_V_SHA256_TEXT = 65 };

/* As 64 hexadecimal digits in lower case, and a 0. */
void ink_v_sha256(const void *bytes, size_t count, char text[INK_V_SHA256_TEXT]);

#endif
