/* SPDX-License-Identifier: MIT */
/* Reads the source text of marked files that `inkmark record` stored in the capture, and finds where each section is
 * marked.
 *
 * Experimental: it may change with any version.
 *
 * Threads: as in capture.h.
 * Lifetime: sources belong to the capture. The caller frees what ink_source_marks returns.
 *
 * @code{.c}
 * #include <inkmark/sources.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   const ink_source *sources;
 *   const size_t count = ink_capture_sources(capture, &sources);
 *   printf("%zu sources\n", count);
 *   for (size_t i = 0; i < count; i++)
 *     printf("%s: %llu bytes, %s\n", sources[i].file, (unsigned long long)sources[i].bytes, sources[i].sha256);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_SOURCES_H
#define INKMARK_SOURCES_H

#include "inkmark/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INK_SHA256_TEXT = 65 };

/* A file of those that section tables name. Its strings are the capture's. */
typedef struct ink_source {
  const char *file;   /* as ink_section_table.file has it */
  const char *text;   /* [bytes], then a 0; it holds no other 0, and need not be UTF-8 */
  uint64_t bytes;
  char sha256[INK_SHA256_TEXT]; /* of the text, in hexadecimal, as the writer of the capture had it */
} ink_source;

/* In the order of the file; each file once.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_sources(const ink_capture *capture, const ink_source **out);

/* A line on which a section is marked: by a macro of mark.cuh that names the section (PROF_MARK_ID: each of its table),
 * or, of a file that the rewriter marked, the line in the section's name. */
typedef struct ink_source_mark {
  uint32_t line;             /* from 1 */
  ink_section_index section; /* into ink_capture_sections */
  bool begins;               /* the section begins here (PROF_BEGIN, PROF_ASYNC_BEGIN...); else it ends, or is all here */
} ink_source_mark;

/* Where a source has marks, by line; the caller frees the array with free(). Comments and strings are passed over.
 * Macros of the program's own that hold marks are not looked into.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_MEMORY. */
INK_API ink_status ink_source_marks(const ink_capture *capture, const ink_source *source, ink_source_mark **out,
                                    size_t *count, ink_error *error);

/* The SHA-256 of some bytes, as 64 hexadecimal digits in lower case, and a 0. */
INK_API void ink_sha256(const void *bytes, size_t count, char text[INK_SHA256_TEXT]);

/* Stores a text of `bytes` bytes, without a 0, as that of a file.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT (there is a 0 in it, or it is longer than a source may be), INK_ERROR_MEMORY,
 * INK_ERROR_IO. */
INK_API ink_status ink_writer_source(ink_writer *writer, const char *file, const char *text, size_t bytes, ink_error *error);

/* How long a stored source may be; of one capture all together. */
enum { INK_SOURCE_BYTES_MAX = 1 << 20, INK_SOURCES_BYTES_MAX = 4 << 20 };

#ifdef __cplusplus
}
#endif
#endif
