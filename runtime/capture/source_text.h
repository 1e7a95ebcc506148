/* SPDX-License-Identifier: MIT */
/* Private: what the writer process, which stores sources, and the reader, which finds marks in them, both need. */
#ifndef INK_SOURCE_TEXT_H
#define INK_SOURCE_TEXT_H

#include "capture/capture_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A character of a name in C++, of which bytes beyond ASCII may be a part. */
static inline bool ink_source_is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* 31 where `open` points at "(gemm.cu:31)" or "(gemm.cu:31, 2)" and the file's name without folders is that; 0: it has none. */
uint32_t ink_source_line_at(const char *open, const char *file);

/* A TABLE chunk's payload: its name, file and sections, which end with NUL inside of it. False: they do not. */
bool ink_table_texts(const void *payload, size_t bytes, ink_file_table *fixed, const char *texts[3]);

#endif
