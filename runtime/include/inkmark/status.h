/* SPDX-License-Identifier: MIT */
/* Status codes and the error that every fallible function can fill.
 *
 * Threads: any number of threads may call these functions at once. An ink_error belongs to one thread at a time.
 * Lifetime: nothing is allocated; texts are in static storage.
 *
 * @code{.c}
 * #include <inkmark/capture.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_error error = {0};
 *   const ink_status status = ink_capture_open(argc > 1 ? argv[1] : "none.ink", &capture, &error);
 *   if (status) {
 *     fprintf(stderr, "%s: %s\n", ink_status_words(status), error.message);
 *     return 1;
 *   }
 *   puts("it is a capture");
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_STATUS_H
#define INKMARK_STATUS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(INK_STATIC)
#define INK_API
#elif defined(__GNUC__)
#define INK_API __attribute__((visibility("default")))
#else
#define INK_API
#endif

/* Values are pinned: they are part of the ABI. */
#define INK_STATUS_LIST(X)                                                                         \
  X(INK_OK, 0, "success")                                                                          \
  X(INK_ERROR_ARGUMENT, 1, "invalid argument")                                                     \
  X(INK_ERROR_MEMORY, 2, "out of memory")                                                          \
  X(INK_ERROR_IO, 3, "input or output error")                                                      \
  X(INK_ERROR_FORMAT, 4, "not a file of the expected format")                                      \
  X(INK_ERROR_VERSION, 5, "made by a newer version")                                               \
  X(INK_ERROR_DAMAGED, 6, "damaged data")                                                          \
  X(INK_ERROR_EMPTY, 7, "nothing recorded")                                                        \
  X(INK_ERROR_CUDA, 8, "CUDA error")                                                               \
  X(INK_ERROR_UNSUPPORTED, 9, "not supported")                                                     \
  X(INK_ERROR_LIMIT, 10, "a limit was exceeded")                                                   \
  X(INK_ERROR_NOT_FOUND, 11, "not found")                                                          \
  X(INK_ERROR_STOPPED, 12, "stopped by the caller")

typedef enum ink_status {
#define INK_I_STATUS_ENUM(name, value, words) name = value,
  INK_STATUS_LIST(INK_I_STATUS_ENUM)
#undef INK_I_STATUS_ENUM
} ink_status;

/* Caller-owned; pass NULL when only the status matters. Left untouched on success. */
typedef struct ink_error {
  ink_status status;
  int code;          /* errno, or the CUDA error, or 0 */
  uint64_t offset;   /* byte offset in the input file, or UINT64_MAX */
  char message[512]; /* one line, lower case, no full stop, problem first, subject in quotes */
} ink_error;

/* The words for a status.
 * Returns: a text in static storage; never NULL. */
INK_API const char *ink_status_words(ink_status status);

#if defined(__GNUC__)
#define INK_I_LIKE_PRINTF __attribute__((format(printf, 3, 4)))
#else
#define INK_I_LIKE_PRINTF
#endif
/* Fills *error (if it is not NULL) printf-like; for all of inkmark's own code.
 * Returns: `status`, so that a caller can return what this returns.
 * Errors: none of its own. */
INK_API INK_I_LIKE_PRINTF ink_status ink_error_set(ink_error *error, ink_status status, const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif
