/* SPDX-License-Identifier: MIT */
/* Executes submitted work. Ops form a graph through their dependencies; rt_wait runs what its goal
 * needs: only the copies, fills and events among its ancestors where no kernel is among them, else
 * every op that is ready, on all devices, with the kernels' blocks interleaved by the machine. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

/* Warp instructions between two looks at the clock; a fixed number, so that what runs between the
 * devices' turns does not depend on the host's speed. */
#define CHUNK_STEPS 50000

static struct {
  rt_op *first, *last; /* not done, by sequence */
  uint64_t sequence, visit;
} engine;

/* ---- ops ---- */

bool rt_work_clone(rt_work *to, const rt_work *from) {
  *to = *from;
  if (from->kind == RT_KERNEL && from->u.launch.args) {
    const rt_launch *launch = &from->u.launch;
    to->u.launch.args = malloc(launch->args_bytes ? launch->args_bytes : 1);
    if (!to->u.launch.args)
      return false;
    memcpy(to->u.launch.args, launch->args, launch->args_bytes);
  } else if (from->kind == RT_COPY && from->u.copy.staged) {
    const rt_copy *copy = &from->u.copy;
    const size_t bytes = copy->width * copy->height * copy->depth;
    to->u.copy.staged = malloc(bytes ? bytes : 1);
    if (!to->u.copy.staged)
      return false;
    memcpy(to->u.copy.staged, copy->staged, bytes);
    to->u.copy.from = to->u.copy.staged;
  }
  return true;
}

void rt_work_clear(rt_work *work) {
  if (work->kind == RT_KERNEL)
    free(work->u.launch.args);
  if (work->kind == RT_COPY)
    free(work->u.copy.staged);
  *work = (rt_work){.kind = RT_JOIN};
}

rt_op *rt_op_new(rt_gpu *gpu, rt_work work) {
  rt_op *op = calloc(1, sizeof *op);
  if (!op)
    rt_refuse("out of memory");
  op->references = 1;
  op->gpu = gpu;
  op->work = work;
  return op;
}

rt_op *rt_op_hold(rt_op *op) {
  if (op)
    op->references++;
  return op;
}

void rt_op_release(rt_op *op) {
  if (!op || --op->references)
    return;
  for (size_t i = 0; i < op->n_deps; i++)
    rt_op_release(op->deps[i]);
  free(op->deps);
  free(op->dependants);
  rt_work_clear(&op->work);
  free(op);
}

static void push(rt_op ***list, size_t *n, rt_op *op) {
  /* grows at powers of two */
  if (!(*n & (*n - 1)) || !*n) {
    rt_op **grown = realloc(*list, (*n ? *n * 2 : 1) * sizeof **list);
    if (!grown)
      rt_refuse("out of memory");
    *list = grown;
  }
  (*list)[(*n)++] = op;
}

void rt_op_after(rt_op *op, rt_op *dependency) {
  if (rt_op_done(dependency))
    return;
  push(&op->deps, &op->n_deps, rt_op_hold(dependency));
  push(&dependency->dependants, &dependency->n_dependants, op);
  op->unmet++;
}

void rt_op_submit(rt_op *op) {
  rt_op_hold(op);
  op->sequence = ++engine.sequence;
  op->correlation = rt_self()->correlation;
  rt_self()->has_launched |= op->work.kind == RT_KERNEL || op->work.kind == RT_HOST;
  op->state = op->unmet ? RT_OP_WAITING : RT_OP_READY;
  op->previous = engine.last;
  if (engine.last)
    engine.last->next = op;
  else
    engine.first = op;
  engine.last = op;
  if (op->stream)
    op->stream->pending++;
  if (rt.async)
    rt_work_on();
  else if (op->work.kind == RT_HOST)
    rt_watch_host_calls();
}

rt_op *rt_first_op(void) {
  return engine.first;
}

rt_op *rt_first_host_call(void) {
  rt_op *op = engine.first;
  while (op && op->work.kind != RT_HOST)
    op = op->next;
  return op;
}

static void finish(rt_op *op) {
  if (op->state == RT_OP_DONE)
    return;
  op->state = RT_OP_DONE;
  op->done_ns = sim_device_time_ns(op->gpu->device);
  if (op->previous)
    op->previous->next = op->next;
  else
    engine.first = op->next;
  if (op->next)
    op->next->previous = op->previous;
  else
    engine.last = op->previous;
  op->previous = op->next = NULL;
  if (op->grid)
    sim_grid_free(op->grid);
  op->grid = NULL;
  rt_op_release(op->ahead);
  op->ahead = NULL;

  for (size_t i = 0; i < op->n_dependants; i++) {
    rt_op *dependant = op->dependants[i];
    if (!--dependant->unmet && dependant->state == RT_OP_WAITING)
      dependant->state = RT_OP_READY;
  }
  op->n_dependants = 0;
  for (size_t i = 0; i < op->n_deps; i++)
    rt_op_release(op->deps[i]);
  op->n_deps = 0;
  rt_work_clear(&op->work);
  if (op->stream)
    rt_stream_op_done(op->stream);
  op->stream = NULL;
  rt_op_release(op);
}

/* ---- running one op ---- */

static void report_launch(const rt_op *op) {
  const rt_launch *launch = &op->work.u.launch;
  sim_stats stats;
  sim_device_stats(op->gpu->device, &stats);
  rt_say("device %d grid %llu %s <<<(%u,%u,%u),(%u,%u,%u),%zu>>> done at %llu ns; so far %llu warp "
         "instructions, %llu thread instructions",
         op->gpu->index, (unsigned long long)sim_grid_id(op->grid), launch->kernel->name,
         launch->shape.grid.x, launch->shape.grid.y, launch->shape.grid.z, launch->shape.block.x, launch->shape.block.y,
         launch->shape.block.z, launch->shape.dynamic_shared_bytes,
         (unsigned long long)sim_device_time_ns(op->gpu->device),
         (unsigned long long)stats.warp_instructions,
         (unsigned long long)stats.thread_instructions);
}

static void fail(rt_gpu *gpu, const sim_error *error) {
  const cudaError_t code = rt_error_of(error);
  rt_say("%s", error->text);
  rt_cancel_gpu(gpu);
  gpu->sticky = code;
}

static void start_kernel(rt_op *op, rt_op *ahead) {
  rt_gpu *gpu = op->gpu;
  sim_error error = {0};
  op->grid = rt_launch_begin(gpu, &op->work.u.launch, ahead ? ahead->grid : NULL, &error);
  if (!op->grid) {
    fail(gpu, &error);
    return;
  }
  if (gpu->n_running == gpu->running_capacity) {
    const size_t capacity = gpu->running_capacity ? gpu->running_capacity * 2 : 16;
    rt_op **grown = realloc(gpu->running, capacity * sizeof *grown);
    if (!grown)
      rt_refuse("out of memory");
    gpu->running = grown;
    gpu->running_capacity = capacity;
  }
  gpu->running[gpu->n_running++] = op;
  op->state = RT_OP_RUNNING;
  op->ahead = rt_op_hold(ahead);
}

/* Programmatic dependent launch: kernels that wait for nothing but a running one begin when all of its blocks let
 * them. */
static void start_dependents(rt_gpu *gpu) {
  for (size_t i = 0; i < gpu->n_running; i++) {
    rt_op *op = gpu->running[i];
    for (size_t k = 0; k < op->n_dependants; k++) {
      rt_op *next = op->dependants[k];
      const bool waits = next->state == RT_OP_WAITING && next->unmet == 1 && next->gpu == gpu &&
                         next->work.kind == RT_KERNEL && next->work.u.launch.shape.programmatic;
      if (waits && sim_grid_released(op->grid)) {
        start_kernel(next, op);
        break; /* a failure ends all */
      }
    }
  }
}

/* The function runs without the lock; the op is RUNNING meanwhile, others wait for it. */
static void run_host_call(rt_op *op) {
  const rt_host_call call = op->work.u.host;
  const cudaError_t status = op->gpu->sticky;
  op->state = RT_OP_RUNNING;
  rt_op_hold(op);
  rt_flush_print();
  rt_unlock();
  /* a real driver has a thread of its own for these: the caller's last error is not theirs */
  const cudaError_t last = rt_self()->last;
  rt_self()->in_host_call = true;
  if (call.callback)
    call.callback(call.stream, status, call.user);
  else
    call.function(call.user);
  rt_self()->in_host_call = false;
  rt_self()->last = last;
  rt_lock();
  finish(op);
  rt_op_release(op);
}

static void run_ready(rt_op *op) {
  switch (op->work.kind) {
  case RT_KERNEL:
    start_kernel(op, NULL);
    return;
  case RT_HOST:
    run_host_call(op);
    return;
  case RT_COPY:
    rt_copy_run(&op->work.u.copy);
    rt_observe_done(op);
    break;
  case RT_FILL:
    rt_fill_run(&op->work.u.fill);
    rt_observe_done(op);
    break;
  case RT_FREE:
    rt_memory_free_now(op->work.u.free_pointer);
    break;
  case RT_JOIN:
  case RT_EVENT:
    break;
  }
  finish(op);
}

void rt_cancel_gpu(rt_gpu *gpu) {
  gpu->n_running = 0;
  for (rt_op *op = engine.first; op;) {
    rt_op *next = op->next;
    const bool in_host_call = op->work.kind == RT_HOST && op->state == RT_OP_RUNNING;
    if (op->gpu == gpu && !in_host_call) {
      if (op->work.kind == RT_FREE)
        rt_memory_free_now(op->work.u.free_pointer);
      finish(op);
    }
    op = next;
  }
}

/* ---- waiting ---- */

/* True when `op` or something it waits for is a kernel. */
static bool needs_kernel(rt_op *op) {
  if (op->state == RT_OP_DONE || op->visited == engine.visit)
    return false;
  op->visited = engine.visit;
  if (op->work.kind == RT_KERNEL)
    return true;
  for (size_t i = 0; i < op->n_deps; i++)
    if (needs_kernel(op->deps[i]))
      return true;
  return false;
}

/* Starts every ready op, in the order of submission, also those that become ready by that. With
 * `marked_only` just those that the last walk over ancestors has seen. True when any was started.
 */
static bool start_ready(bool marked_only) {
  const uint64_t visit = engine.visit;
  bool any = false;
  for (;;) {
    rt_op *op = engine.first;
    while (op && (op->state != RT_OP_READY || (marked_only && op->visited != visit)))
      op = op->next;
    if (!op)
      return any;
    any = true;
    run_ready(op);
    if (engine.visit != visit)
      return true; /* another thread walked while a host call ran */
  }
}

static bool collect_done(rt_gpu *gpu) {
  bool any = false;
  for (size_t i = 0; i < gpu->n_running;) {
    rt_op *op = gpu->running[i];
    if (!sim_grid_done(op->grid) || (op->ahead && !rt_op_done(op->ahead))) {
      i++;
      continue;
    }
    memmove(&gpu->running[i], &gpu->running[i + 1],
            (gpu->n_running - i - 1) * sizeof *gpu->running);
    gpu->n_running--;
    if (rt.stats)
      report_launch(op);
    rt_observe_done(op);
    finish(op);
    any = true;
  }
  return any;
}

/* Ready ops start, each device runs a chunk. */
bool rt_turn(void) {
  bool moved = start_ready(false);
  for (int i = 0; i < rt.config.devices; i++) {
    rt_gpu *gpu = &rt.gpus[i];
    if (!gpu->opened || !gpu->n_running)
      continue;
    moved = true;
    start_dependents(gpu);
    if (!gpu->n_running)
      continue;
    sim_error error = {0};
    if (sim_device_run(gpu->device, CHUNK_STEPS, &error))
      fail(gpu, &error);
    else
      collect_done(gpu);
  }
  return moved;
}

static void step_towards(rt_op *goal) {
  engine.visit++;
  if (needs_kernel(goal)) {
    if (!rt_turn())
      rt_wait_for_others();
    rt_yield();
  } else if (!start_ready(true) && !rt_op_done(goal)) {
    rt_wait_for_others(); /* a host function of another thread is what is missing */
  }
}

cudaError_t rt_wait(rt_gpu *gpu, rt_op *goal) {
  rt_op_hold(goal);
  while (!rt_op_done(goal))
    step_towards(goal);
  rt_op_release(goal);
  rt_flush_print();
  return gpu->sticky;
}

void rt_poke(rt_op *goal) {
  if (rt_op_done(goal))
    return;
  rt_op_hold(goal);
  step_towards(goal);
  rt_op_release(goal);
  rt_flush_print();
}

cudaError_t rt_wait_gpu(rt_gpu *gpu) { return rt_wait_some(gpu, NULL, NULL); }

cudaError_t rt_wait_some(rt_gpu *gpu, bool (*wanted)(const rt_work *, const void *), const void *user) {
  rt_op *all = rt_op_new(gpu, (rt_work){.kind = RT_JOIN});
  for (rt_op *op = engine.first; op; op = op->next)
    if (op->gpu == gpu && (!wanted || wanted(&op->work, user)))
      rt_op_after(all, op);
  rt_op_submit(all);
  const cudaError_t error = rt_wait(gpu, all);
  rt_op_release(all);
  return error;
}

/* A host function that another thread was running is not running in the child. */
void rt_engine_after_fork(void) {
  for (rt_op *op = engine.first; op;) {
    rt_op *next = op->next;
    if (op->work.kind == RT_HOST && op->state == RT_OP_RUNNING)
      finish(op);
    op = next;
  }
}
