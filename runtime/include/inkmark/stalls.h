/* SPDX-License-Identifier: MIT */
/* Reads the samples that CUPTI took while `inkmark record --stalls` ran: for each instruction, the reasons why warps
 * waited. It also gives the machine code of the sampled modules.
 *
 * Experimental: it may change with any version.
 *
 * Threads: as in capture.h.
 * Lifetime: returned arrays and texts belong to the capture and are valid until ink_capture_free.
 *
 * @code{.c}
 * #include <inkmark/stalls.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   const ink_stall *stalls;
 *   const size_t count = ink_capture_stalls(capture, &stalls, NULL);
 *   printf("%zu instructions and reasons\n", count);
 *   for (size_t i = 0; i < count; i++)
 *     printf("%s+0x%llx %s: %llu\n", stalls[i].function, (unsigned long long)stalls[i].offset, stalls[i].reason,
 *            (unsigned long long)stalls[i].samples);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_STALLS_H
#define INKMARK_STALLS_H

#include "inkmark/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Samples of one instruction with one reason, over all warps and launches. The strings are the capture's. */
typedef struct ink_stall {
  uint64_t code;        /* id of an ink_code, which the capture need not have */
  uint64_t offset;      /* bytes from the start of the function */
  uint64_t samples;
  const char *function; /* mangled */
  const char *reason;   /* as CUPTI names it: "smsp__pcsamp_warps_issue_stalled_long_scoreboard" */
} ink_stall;

/* Of all samples, also of those that no ink_stall has. */
typedef struct ink_stall_facts {
  uint64_t samples;
  uint64_t dropped;     /* by the device, for want of room in its buffer */
  uint64_t elsewhere;   /* in modules without marks, and in the driver's own kernels */
  uint64_t left_out;    /* of marked modules, for want of memory */
  uint32_t period_log2; /* an SM is sampled every 2^period_log2 cycles; 0: not known */
  uint32_t full;        /* how often the device's buffer was full */
} ink_stall_facts;

/* The samples by code, function, offset and reason, each once. `facts` may be NULL.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_stalls(const ink_capture *capture, const ink_stall **out, ink_stall_facts *facts);

/* The machine code of a module with marks: a cubin, as the driver loaded it. */
typedef struct ink_code {
  uint64_t id;          /* a sum of it, by which stalls name it */
  uint64_t bytes;
  const void *data;
} ink_code;

/* The machine code that is stored whole, in the order of the file.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_codes(const ink_capture *capture, const ink_code **out);

/* Stores machine code, in as many chunks as it takes.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT (code that is empty or longer than code may be), INK_ERROR_MEMORY, INK_ERROR_IO. */
INK_API ink_status ink_writer_code(ink_writer *writer, const ink_code *code, ink_error *error);
/* Stores samples, in as many chunks as it takes. `facts` are those since the last call.
 * Returns: INK_OK, or an error.
 * Errors: INK_ERROR_ARGUMENT, INK_ERROR_MEMORY, INK_ERROR_IO. */
INK_API ink_status ink_writer_stalls(ink_writer *writer, const ink_stall *items, size_t n, const ink_stall_facts *facts,
                                     ink_error *error);

/* How long the code of one module may be; of one capture all together. */
enum { INK_CODE_BYTES_MAX = 64 << 20, INK_CODES_BYTES_MAX = 256 << 20 };

#ifdef __cplusplus
}
#endif
#endif
