/* SPDX-License-Identifier: MIT */
/* Private: a session's options, checked and expanded. */
#ifndef INK_CUDA_OPTIONS_H
#define INK_CUDA_OPTIONS_H

#include "inkmark/session.h"

#include <regex.h>

#define INK_I_DEVICES_MAX 64

enum ink_i_devices {
  INK_I_DEVICES_LISTED, /* those of the mask, at the start */
  INK_I_DEVICES_MINE,   /* the one of this rank on its node, or the current one */
  INK_I_DEVICES_USED    /* each with its first launch, where that is seen */
};

typedef struct ink_i_options {
  char *output;          /* template */
  regex_t kernels;
  bool has_kernels;
  uint32_t *block_bits;  /* NULL: every block */
  uint32_t block_bit_count;
  char *blocks;          /* the list; NULL: every block */
  uint32_t warps;        /* bits */
  uint64_t devices;      /* bits; all ones: all */
  enum ink_i_devices choice;
  bool per_warp, keep_first, replace;
  bool flight, live, host_ranges;
  bool sample;           /* blocks "auto": block_sample.h */
  uint32_t hang_ms;      /* 0: not asked for */
  uint32_t records;      /* a power of two, 0: by the device's memory */
  uint32_t tracks;       /* a power of two, 0: by the device's memory */
  uint32_t drain_ms;
  int64_t began_ns;      /* CLOCK_REALTIME when `inkmark record` began, else 0: a file written since is of
                          * another process that it records, and is not written over */
} ink_i_options;

ink_status ink_i_options_parse(const ink_session_options *in, ink_i_options *out, ink_error *error);
void ink_i_options_free(ink_i_options *options);

/* The path with %p (pid), %h (host), %r (rank; "0" without a launcher) and %% filled in. */
char *ink_i_expand_path(const char *template_, ink_error *error);

/* The rank that a launcher gave this process, or NULL. */
const char *ink_i_rank(void);

#endif
