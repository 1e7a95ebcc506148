/* SPDX-License-Identifier: MIT */
/* Reads the kernels that another profiler recorded (Kineto, XLA, Nsight Systems), and joins them with the launches of a
 * capture. docs/merging.md says what is read.
 *
 * Experimental: it may change with any version.
 *
 * Threads: an opened trace and a made join do not change: any number of threads may read them.
 * Lifetime: returned arrays and texts belong to the trace or the join, and are valid until it is freed.
 *
 * @code{.c}
 * #include <inkmark/merge.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_foreign *trace;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_foreign_open(argv[1], &trace, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which trace?" : error.message);
 *     return 1;
 *   }
 *   const ink_foreign_kernel *kernels; // they belong to the trace
 *   const size_t count = ink_foreign_kernels(trace, &kernels);
 *   for (size_t i = 0; i < count; i++)
 *     printf("%s: %.0f ns\n", ink_foreign_name(trace, kernels[i].type->name), (double)(kernels[i].end_ns - kernels[i].begin_ns));
 *   ink_foreign_free(trace);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_MERGE_H
#define INKMARK_MERGE_H

#include "inkmark/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ink_foreign_kind { INK_FOREIGN_KINETO, INK_FOREIGN_NSIGHT, INK_FOREIGN_XLA, INK_FOREIGN_PERFETTO, INK_FOREIGN_XPLANE };

typedef struct ink_foreign_type { /* what many kernels have in common */
  int64_t stream;
  int64_t process; /* the pid; 0: the file does not tell */
  int32_t device;
  uint32_t name;                /* index for ink_foreign_name: demangled, or as the file has it */
  uint32_t short_name, mangled; /* the same; UINT32_MAX: the file has none */
  uint32_t grid_dim[3], block_dim[3]; /* all 0: unknown */
} ink_foreign_type;

typedef struct ink_foreign_kernel {
  const ink_foreign_type *type;
  int64_t begin_ns, end_ns; /* Unix ns where the base is known, else the file's own */
  uint64_t grid_id;         /* 0: the file has none */
  int64_t correlation;      /* -1: none */
} ink_foreign_kernel;

typedef struct ink_foreign_facts {
  enum ink_foreign_kind kind;
  bool base_known;           /* times are Unix ns by the file's own word */
  int64_t base_ns;           /* Unix ns of the file's 0; 0 where unknown */
  uint64_t events;           /* of the file, of every sort */
  uint64_t kernels_left_out; /* their times are no numbers, or absurd */
  uint64_t bytes;            /* read, unpacked */
} ink_foreign_facts;

typedef struct ink_foreign ink_foreign;

/* Reads the kernels of a PyTorch (Kineto) or XLA trace, JSON, of an XLA profile (.xplane.pb) or of a Perfetto trace,
 * also in gzip, zstd or a zip that holds nothing else, or of an Nsight Systems SQLite export; what it is shows by
 * its first bytes. Memory: 40 to 80 bytes a kernel, 100 for each type, and its names.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_IO, INK_ERROR_FORMAT (none of these), INK_ERROR_DAMAGED (broken or cut off), INK_ERROR_EMPTY (no
 * kernels), INK_ERROR_UNSUPPORTED (an SQLite or zstd file, and this machine has no libsqlite3.so.0 or libzstd.so.1;
 * a zip of several files), INK_ERROR_MEMORY. */
INK_API ink_status ink_foreign_open(const char *path, ink_foreign **out, ink_error *error);
/* Frees a trace, and all that it handed out. NULL is fine. */
INK_API void ink_foreign_free(ink_foreign *foreign);
/* What is known of the file as a whole.
 * Returns: the trace's own facts; never NULL. */
INK_API const ink_foreign_facts *ink_foreign_get_facts(const ink_foreign *foreign);
/* The kernels, by device, then begin.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_foreign_kernels(const ink_foreign *foreign, const ink_foreign_kernel **out);
/* A name by its number.
 * Returns: the name; NULL: there is none of that number. */
INK_API const char *ink_foreign_name(const ink_foreign *foreign, uint32_t name);

/* ---- the join ------------------------------------------------------------------------------ */

/* A launch of ours as the join sees it. */
typedef struct ink_join_launch {
  int32_t device;
  uint32_t kernel;             /* launches with the same number are of one kernel */
  const char *name;            /* of that kernel */
  uint64_t grid_id;
  int64_t correlation;         /* 0: not known */
  uint32_t grid_dim[3], block_dim[3];
  int64_t begin_ns, end_ns;    /* first open, last close */
} ink_join_launch;

enum ink_join_method {
  INK_JOIN_NONE,
  INK_JOIN_GRID_ID,            /* the same grid id, and dimensions and times that agree */
  INK_JOIN_CORRELATION,        /* the same for CUPTI's correlation id of the call that launched it */
  INK_JOIN_NAME,               /* name, dimensions, order and time */
  INK_JOIN_DIMENSIONS          /* no kernel of that name: dimensions, order and time */
};

typedef struct ink_joined {
  size_t kernel;               /* index into ink_foreign_kernels; SIZE_MAX: none */
  enum ink_join_method method;
  /* 0 to 1: how much nearer in time the chosen kernel is than the next one it could have been. */
  double confidence;
  int64_t residual_ns;         /* middle of theirs - middle of ours, after the fitted offset */
  /* Another kernel would do for this launch, or another launch for this kernel, as well as nearly
   * all pairs do: it may be one of those instead. */
  bool uncertain;
} ink_joined;

/* theirs = ours + offset_ns + drift * (ours - at_ns). */
typedef struct ink_join_clock {
  int32_t device, their_device; /* ours, and the one of theirs that was found to be it */
  uint64_t launches, joined, inside; /* inside: within their kernel once the offset is taken out */
  int64_t offset_ns, bound_ns; /* the true offset at at_ns lies within the bound of it */
  int64_t at_ns;
  double drift_ppm;
  bool grid_ids_trusted, correlations_trusted;
  char note[160];              /* why nothing was joined, or what to doubt; "" for nothing */
} ink_join_clock;

typedef struct ink_join ink_join;

/* Joins n launches with the kernels of the other file. Launches without a partner are no error.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_MEMORY. */
INK_API ink_status ink_join_make(const ink_join_launch *launches, size_t n,
                                 const ink_foreign *foreign, ink_join **out, ink_error *error);
/* The same with the kernels of one of the other file's processes, which has that pid; 0: of all.
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_MEMORY. */
INK_API ink_status ink_join_make_with(const ink_join_launch *launches, size_t n,
                                      const ink_foreign *foreign, int64_t process, ink_join **out,
                                      ink_error *error);
/* Frees a join. NULL is fine. */
INK_API void ink_join_free(ink_join *join);
/* What became of each launch, in the order in which they were given.
 * Returns: n; *out is [n], the join's. */
INK_API size_t ink_join_launches(const ink_join *join, const ink_joined **out);
/* The clock of each device against theirs.
 * Returns: how many there are; *out is their array, the join's. */
INK_API size_t ink_join_clocks(const ink_join *join, const ink_join_clock **out);
/* Kernels of the other file that carry the name of a kernel of ours and have no launch of ours.
 * Returns: how many there are; *out is an array of indices into ink_foreign_kernels, the join's. */
INK_API size_t ink_join_unmatched(const ink_join *join, const size_t **out);
/* A moment of ours in their time.
 * Returns: ns of their time. */
INK_API int64_t ink_join_clock_theirs(const ink_join_clock *clock, int64_t ours_ns);

#ifdef __cplusplus
}
#endif
#endif
