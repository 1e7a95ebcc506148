/* SPDX-License-Identifier: MIT */
/* A real CUPTI where the search finds one: it loads, is new enough, tells the time, and without a driver
 * refuses with a sentence. Where there is a GPU it must start. */
#include "check.h"

#include "cuda/activity.h"
#include "cuda/cupti_api.h"
#include "cuda/stall_samples.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  static ink_i_cupti cupti;
  char why[600];
  unsetenv("INKMARK_CUPTI");
  if (!ink_i_cupti_load(&cupti, 0, why, sizeof why)) {
    CHECK(strstr(why, "INKMARK_CUPTI") != NULL, "%s", why);
    printf("SKIPPED: %s\n", why);
    return check_failures ? 1 : 77;
  }
  printf("%s, API version %u\n", cupti.path, cupti.version);
  CHECK(!cupti.simulated && cupti.version >= CUPTI_VERSION_12_0 && cupti.path[0] == '/', "loaded");
  uint64_t ns = 0;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int told = cupti.timestamp(&ns);
  CHECK(told == CUPTI_OK || access("/dev/nvidiactl", F_OK), "no time: %d", told);
  if (told == CUPTI_OK)
    printf("CUPTI's time less CLOCK_REALTIME: %lld ns\n",
           (long long)ns - ((long long)now.tv_sec * 1000000000 + now.tv_nsec));

  /* Its sum of a module's code needs no driver. It looks at a few bytes: ours names the samples, where CUPTI takes it. */
  CHECK(ink_i_cupti_find_sampling(&cupti) && cupti.register_checksum, "no sampling");
  unsigned char code[4096] = "\x7f" "ELF";
  uint64_t sums[3] = {0};
  for (int i = 0; i < 3; i++) {
    ink_i_cupti_checksum sum = {.bytes = sizeof sum, .code_bytes = i < 2 ? sizeof code : 100, .code = code};
    const int result = cupti.checksum(&sum);
    CHECK(result == CUPTI_OK, "cuptiGetCubinCrc: %d", result);
    sums[i] = sum.checksum;
  }
  CHECK(sums[0] && sums[0] == sums[1] && sums[0] != sums[2], "sums %llx %llx %llx", (unsigned long long)sums[0],
        (unsigned long long)sums[1], (unsigned long long)sums[2]);
  ink_i_cupti_sampled enable = {.bytes = offsetof(ink_i_cupti_sampled, what)};
  CHECK(cupti.sampling_enable(&enable) != CUPTI_OK, "sampling without a context");
  static ink_i_stalls *stalls; /* stays, as its header says */
  stalls = ink_i_stalls_start(NULL);
  const char *why_not = ink_i_stalls_refusal(stalls);
  printf("%s\n", why_not ? why_not : "it samples");
  CHECK(stalls && (access("/dev/nvidiactl", F_OK) ? why_not != NULL && strstr(why_not, "there is no NVIDIA driver") : !why_not), "%s", why_not ? why_not : "");
  ink_i_stalls_stop(stalls);

  ink_i_activity *activity = ink_i_activity_start();
  CHECK(activity != NULL, "out of memory");
  const char *refusal = ink_i_activity_refusal(activity);
  printf("%s\n", refusal ? refusal : "it collects");
  if (access("/dev/nvidiactl", F_OK))
    CHECK(refusal && strstr(refusal, "CUPTI refuses (CUPTI_ERROR_") &&
              strstr(refusal, "there is no NVIDIA driver on this machine"), "%s", refusal);
  else
    CHECK(!refusal, "%s", refusal);
  bool wanted = true;
  ink_i_activity_own_begin();
  ink_i_activity_own_end();
  ink_i_activity_flush(activity, true, &wanted);
  CHECK(!wanted, "activity without any");
  ink_i_activity_free(activity);

  setenv("INKMARK_CUPTI", "/nowhere/libcupti.so", 1);
  CHECK(!ink_i_cupti_load(&cupti, 0, why, sizeof why) && strstr(why, "/nowhere/libcupti.so"), "%s",
        why);
  return check_result("cupti_real");
}
