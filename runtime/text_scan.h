/* SPDX-License-Identifier: MIT */
/* One character of text that is supposed to be UTF-8, and whether it may be shown as it is. */
#ifndef INKMARK_TEXT_SCAN_H
#define INKMARK_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INK_I_NO_CHARACTER UINT32_MAX

/* The bytes of the character at `at`, `left` > 0 of which are there. *code is INK_I_NO_CHARACTER for
 * bytes that are no UTF-8: as many as one U+FFFD stands for (Unicode, "maximal subpart"). */
size_t ink_i_text_next(const char *at, size_t left, uint32_t *code);

/* Whether the bytes at the end are the beginning of a character that could go on: 0 to 3 bytes. */
size_t ink_i_text_open_end(const char *text, size_t bytes);

/* Control and invisible formatting characters. */
bool ink_i_text_hides(uint32_t code);

/* Copies text with U+FFFD for what is no UTF-8, as many whole characters as fit into `room`. Returns the
 * length; `to` NULL: nothing is copied. */
size_t ink_i_text_repair(char *to, size_t room, const char *text, size_t bytes);

/* How many bytes at the beginning are ASCII (0 to 0x7f). */
size_t ink_i_text_ascii(const char *text, size_t bytes);

#endif
