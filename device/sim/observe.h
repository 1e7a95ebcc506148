/* SPDX-License-Identifier: MIT */
/* What the simulated runtime tells a profiler: the stand-in libcupti.so.13 (sim_cupti.c) takes it
 * from libcudart.so.13 by the one function below. Times are globaltimer's ns, unrounded. */
#ifndef INKMARK_SIM_OBSERVE_H
#define INKMARK_SIM_OBSERVE_H

#include <stdint.h>

enum sim_observed_kind { SIM_OBSERVED_KERNEL, SIM_OBSERVED_COPY, SIM_OBSERVED_SET };

/* CUPTI's numbers. */
enum sim_memory_word {
  SIM_PAGEABLE = 1,
  SIM_PINNED = 2,
  SIM_DEVICE_MEMORY = 3,
  SIM_MANAGED = 5,
  SIM_VARIABLE = 6
};

/* Work that is done. */
typedef struct sim_observed {
  enum sim_observed_kind kind;
  int device;
  uint32_t stream, correlation;
  uint64_t begin_ns, end_ns;
  uint32_t graph; /* the executable graph; 0: none */
  uint64_t graph_node;
  const char *name; /* kernels: mangled */
  uint64_t grid_id;
  uint32_t grid[3], block[3];
  uint32_t static_shared_bytes, dynamic_shared_bytes, local_bytes;
  int cooperative;
  uint64_t bytes; /* copies and sets */
  enum sim_memory_word from, to;
  int from_device, to_device; /* -1: the host's */
  uint32_t value;
} sim_observed;

/* A call that returns. */
typedef struct sim_observed_call {
  const char *name; /* "cudaLaunchKernel" */
  uint32_t correlation, thread;
  uint64_t begin_ns, end_ns;
  int result;
} sim_observed_call;

/* The functions run while the runtime is locked: they must not call it. */
typedef struct sim_observer {
  void (*work)(const sim_observed *work);
  void (*call_begins)(uint32_t correlation); /* on the calling thread */
  void (*call_ends)(const sim_observed_call *call);
  void (*device_opens)(int device); /* its primary context, so to say, is made */
} sim_observer;

/* A call of the driver's API that loads, unloads, launches, or makes or ends a context: `words` are its first two parameters,
 * `result` NULL before it and what it gives after it. The function runs without any lock, and may call the driver, of which
 * it is told again. */
typedef void sim_driver_observer(const char *name, const void *const words[2], const int *result);
void inkmark_sim_observe_driver(sim_driver_observer *observer); /* NULL ends it */

/* NULL ends it. Exported by the simulated libcudart.so.13. */
void inkmark_sim_observe(const sim_observer *observer);
/* globaltimer of the calling thread's device, unrounded. */
uint64_t inkmark_sim_time_ns(void);

#endif
