/* SPDX-License-Identifier: MIT */
/* Tells an observer what is called and what is done. Without one, nothing is kept or counted but
 * the name of the call at hand. All but rt_call want the lock held. */
#include <sys/syscall.h>
#include <unistd.h>

#include "driver.h"
#include "observe.h"

static const sim_observer *observer;
static uint32_t last_correlation;

static uint64_t now_ns(const rt_gpu *gpu) {
  return rt.config.epoch_ns + (gpu->opened ? sim_device_time_ns(gpu->device) : 0);
}

RT_API void inkmark_sim_observe(const sim_observer *wanted) {
  rt_enter();
  observer = wanted;
  rt_leave(cudaSuccess);
}

RT_API uint64_t inkmark_sim_time_ns(void) {
  rt_enter();
  const uint64_t ns = now_ns(&rt.gpus[rt_self()->device]);
  rt_leave(cudaSuccess);
  return ns;
}

void rt_observe_open(int device) {
  if (observer)
    observer->device_opens(device);
}

/* ---- calls ---- */

static sim_driver_observer *_Atomic driver_observer;

RT_API void inkmark_sim_observe_driver(sim_driver_observer *wanted) { driver_observer = wanted; }

void drv_tell(const char *name, const void *const words[2], const CUresult *result) {
  sim_driver_observer *told = driver_observer;
  const int code = result ? (int)*result : 0;
  if (told)
    told(name, words, result ? &code : NULL);
}

void rt_call(const char *name) {
  rt_self()->call = name;
}

void rt_observe_enter(void) {
  rt_thread *self = rt_self();
  self->correlation = 0;
  if (!observer || !self->call)
    return;
  self->correlation = ++last_correlation;
  self->call_begin_ns = now_ns(&rt.gpus[self->device]);
  observer->call_begins(self->correlation);
}

void rt_observe_leave(cudaError_t result) {
  rt_thread *self = rt_self();
  if (observer && self->call && self->correlation) {
    const sim_observed_call call = {.name = self->call,
                                    .correlation = self->correlation,
                                    .thread = (uint32_t)syscall(SYS_gettid),
                                    .begin_ns = self->call_begin_ns,
                                    .end_ns = now_ns(&rt.gpus[self->device]),
                                    .result = (int)result};
    observer->call_ends(&call);
  }
  self->call = NULL;
  self->correlation = 0;
}

/* ---- work ---- */

static enum sim_memory_word memory_of(const void *pointer, int *device) {
  const rt_range *range = rt_range_of(pointer);
  *device = -1;
  for (int i = 0; i < rt.config.devices && *device < 0; i++)
    if (rt.gpus[i].opened && sim_memory_has(rt.gpus[i].device, pointer, 1))
      *device = i;
  if (!range)
    return *device < 0 ? SIM_PAGEABLE : SIM_VARIABLE;
  if (range->kind == RT_MEMORY_DEVICE || range->kind == RT_MEMORY_MANAGED)
    *device = range->device;
  else
    *device = -1;
  return range->kind == RT_MEMORY_DEVICE    ? SIM_DEVICE_MEMORY
         : range->kind == RT_MEMORY_MANAGED ? SIM_MANAGED
                                            : SIM_PINNED;
}

static void describe_kernel(const rt_op *op, sim_observed *seen) {
  const rt_launch *launch = &op->work.u.launch;
  const sim_kernel *kernel = rt_kernel_on(launch->kernel, op->gpu);
  size_t shared_bytes, local_bytes, parameter_bytes;
  uint32_t max_threads;
  int parameters;
  sim_kernel_limits(kernel, &shared_bytes, &local_bytes, &max_threads, &parameter_bytes,
                    &parameters);
  sim_grid_times(op->grid, &seen->begin_ns, &seen->end_ns);
  seen->begin_ns += rt.config.epoch_ns;
  seen->end_ns += rt.config.epoch_ns;
  seen->name = launch->kernel->name;
  seen->grid_id = sim_grid_id(op->grid);
  seen->static_shared_bytes = (uint32_t)shared_bytes;
  seen->dynamic_shared_bytes = (uint32_t)launch->shape.dynamic_shared_bytes;
  seen->local_bytes = (uint32_t)local_bytes;
  seen->cooperative = launch->shape.cooperative;
  const uint32_t grid[] = {launch->shape.grid.x, launch->shape.grid.y, launch->shape.grid.z};
  const uint32_t block[] = {launch->shape.block.x, launch->shape.block.y, launch->shape.block.z};
  for (int i = 0; i < 3; i++) {
    seen->grid[i] = grid[i];
    seen->block[i] = block[i];
  }
}

void rt_observe_done(const rt_op *op) {
  if (!observer || !op->correlation)
    return;
  sim_observed seen = {.device = op->gpu->index,
                       .stream = op->stream ? (uint32_t)op->stream->id : 0,
                       .correlation = op->correlation,
                       .begin_ns = now_ns(op->gpu),
                       .graph = op->graph,
                       .graph_node = op->graph_node};
  seen.end_ns = seen.begin_ns; /* copies and sets take no simulated time */
  if (op->work.kind == RT_KERNEL) {
    seen.kind = SIM_OBSERVED_KERNEL;
    describe_kernel(op, &seen);
  } else if (op->work.kind == RT_COPY) {
    const rt_copy *copy = &op->work.u.copy;
    seen.kind = SIM_OBSERVED_COPY;
    seen.bytes = (uint64_t)copy->width * copy->height * copy->depth;
    seen.to = memory_of(copy->to, &seen.to_device);
    seen.from = memory_of(copy->from, &seen.from_device);
  } else if (op->work.kind == RT_FILL) {
    const rt_fill *fill = &op->work.u.fill;
    seen.kind = SIM_OBSERVED_SET;
    seen.bytes = (uint64_t)fill->width * fill->height * fill->depth;
    seen.to = memory_of(fill->to, &seen.to_device);
    seen.value = fill->value;
  } else {
    return;
  }
  observer->work(&seen);
}
