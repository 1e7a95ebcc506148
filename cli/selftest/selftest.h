/* SPDX-License-Identifier: MIT */
/* What the parts of `inkmark selftest` share: what its program printed, and what is made of it. */
#ifndef INKMARK_CLI_SELFTEST_H
#define INKMARK_CLI_SELFTEST_H

#include "load.h"

enum {
  SELFTEST_RATES_MAX = 64,
  SELFTEST_KERNELS = 2,
  SELFTEST_CHECKS_MAX = 16,
  SELFTEST_DEVICES_MAX = 64
};

enum selftest_verdict { SELFTEST_FINE, SELFTEST_UNKNOWN, SELFTEST_UNUSUAL, SELFTEST_WRONG };

typedef struct selftest_check {
  const char *name;
  enum selftest_verdict verdict;
  char text[320];
} selftest_check;

typedef struct selftest_kernel {
  char name[64];
  uint64_t launches, tracks, marks;
} selftest_kernel;

/* As the program printed it. */
typedef struct selftest_seen {
  uint64_t devices; /* how many the program was shown */
  uint64_t step_ns, least_ns, most_ns;
  double rates_hz[SELFTEST_RATES_MAX];
  size_t rates;
  uint64_t sms, sms_seen, sm_largest, nsmid;
  uint64_t grids, grids_repeated;
  uint64_t results, results_wrong;
  selftest_kernel kernels[SELFTEST_KERNELS];
  size_t kernel_count;
  bool ended;
} selftest_seen;

typedef struct selftest_page {
  selftest_check checks[SELFTEST_CHECKS_MAX];
  size_t count;
} selftest_page;

/* False after a message. */
bool selftest_read(const char *path, selftest_seen *out);
void selftest_judge(const selftest_seen *seen, const loaded_capture *loaded, selftest_page *page);
enum selftest_verdict selftest_worst(const selftest_page *page);
const char *selftest_word(enum selftest_verdict verdict);

#endif
