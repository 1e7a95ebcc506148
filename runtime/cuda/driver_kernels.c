/* SPDX-License-Identifier: MIT */
/* Loads and launches the kernels of driver_kernels.cu, and without them one in a few lines of PTX that reads
 * globaltimer, which is the least that a recording needs. */
#include "cuda/driver_kernels.h"

#include "cuda/driver_api.h"
#include "cuda/options.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

extern const unsigned char ink_i_driver_ptx[]; /* made by the build; empty where it has no nvcc */

static const char least_ptx[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                                ".visible .entry clock_kernel(.param .u64 at) {\n"
                                ".reg .b64 %to, %ns;\n"
                                "ld.param.u64 %to, [at];\n"
                                "cvta.to.global.u64 %to, %to;\n"
                                "mov.u64 %ns, %globaltimer;\n"
                                "st.global.u64 [%to], %ns;\n"
                                "ret;\n}\n";

enum { NOT_FOUND = 500, NAME_MAX_BYTES = 512 };

typedef struct kernels {
  void *module, *clock, *cost;
  bool whole;
} kernels;

static kernels known[INK_I_DEVICES_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool ink_i_kernels_are_all(void) { return ink_i_driver_ptx[0] != 0; }

void ink_i_kernels_forget(int slot) {
  pthread_mutex_lock(&lock);
  known[slot] = (kernels){0};
  pthread_mutex_unlock(&lock);
}

/* Kernels of an anonymous namespace: the mangled name that has this in it. */
static bool entry_name(const char *ptx, const char *part, char *name) {
  for (const char *at = ptx; (at = strstr(at, ".entry ")); at++) {
    const size_t length = strcspn(at + 7, "( \n");
    snprintf(name, NAME_MAX_BYTES, "%.*s", (int)length, at + 7);
    if (strstr(name, part))
      return true;
  }
  return false;
}

static int function(kernels *of, const char *ptx, const char *part, void **out) {
  char name[NAME_MAX_BYTES];
  return entry_name(ptx, part, name) ? ink_i_driver_function(out, of->module, name) : NOT_FOUND;
}

static int load(kernels *made) {
  const char *whole = (const char *)ink_i_driver_ptx;
  if (*whole && ink_i_driver_load(&made->module, whole) == 0 && function(made, whole, "clock_kernel", &made->clock) == 0 &&
      function(made, whole, "mark_cost_kernel", &made->cost) == 0) {
    made->whole = true;
    return 0;
  }
  *made = (kernels){0}; /* no nvcc at build time, or a driver that is older than its PTX */
  const int code = ink_i_driver_load(&made->module, least_ptx);
  return code ? code : function(made, least_ptx, "clock_kernel", &made->clock);
}

static int here(kernels *out) {
  const int slot = ink_i_driver_slot_here();
  int code = 0;
  if (slot < 0)
    return NOT_FOUND;
  pthread_mutex_lock(&lock);
  if (!known[slot].clock)
    code = load(&known[slot]);
  *out = known[slot];
  pthread_mutex_unlock(&lock);
  return code;
}

static int launch_clock(uint64_t *ns, ink_edge_slot *slots, uint32_t slot_count, uint32_t blocks,
                        uint64_t few_cycles, uint64_t most_cycles, void *stream) {
  kernels mine;
  void *arguments[] = {&ns, &slots, &slot_count, &few_cycles, &most_cycles};
  const int code = here(&mine);
  if (code)
    return code;
  return slots && !mine.whole ? NOT_FOUND : ink_i_driver_launch(mine.clock, blocks, 1, arguments, stream);
}

int ink_i_kernel_globaltimer(void *self, uint64_t *device_ns, void *stream) {
  (void)self;
  return launch_clock(device_ns, NULL, 0, 1, 0, 0, stream);
}

int ink_i_kernel_edges(void *self, ink_edge_slot *slots, uint32_t slot_count, uint32_t blocks,
                       uint64_t few_cycles, uint64_t most_cycles, void *stream) {
  (void)self;
  return launch_clock(NULL, slots, slot_count, blocks, few_cycles, most_cycles, stream);
}

int ink_i_kernel_cost(void *self, void *buffer, uint64_t *samples, void *stream) {
  (void)self;
  kernels mine;
  void *arguments[] = {&buffer, &samples};
  const int code = here(&mine);
  return code ? code : !mine.cost ? NOT_FOUND
                     : ink_i_driver_launch(mine.cost, 1, INK_COST_THREADS, arguments, stream);
}
