/* SPDX-License-Identifier: MIT */
/* What the files of the simulated CUDA runtime share. Every rt_ function wants the runtime's lock
 * held (rt_enter takes it), except where it says otherwise.
 *
 * Work is a graph: every copy, launch, event record, ... is one rt_op that waits for the ops before
 * it in its stream and for what events add to that. Nothing is executed when it is submitted; ops
 * run when somebody waits for one (cudart_engine.c), so that the order in which kernels run is a
 * function of the program alone. */
#ifndef INKMARK_SIM_CUDART_H
#define INKMARK_SIM_CUDART_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fatbin.h"
#include "machine.h"

/* Marks an entry point of the CUDA runtime; everything else is hidden. */
#define RT_API __attribute__((visibility("default")))
/* The same entry point for programs built with --default-stream per-thread. */
#define RT_PER_THREAD(stream) ((stream) ? (stream) : cudaStreamPerThread)

enum {
  RT_EXIT_UNSUPPORTED = 86, /* the program asked for something that is not simulated */
  RT_MAX_DEVICES = SIM_DEVICES_MAX,
};

typedef struct rt_gpu rt_gpu;
typedef struct rt_op rt_op;
typedef struct rt_image rt_image;
typedef struct rt_capture rt_capture;
typedef struct CUstream_st rt_stream;
typedef struct CUevent_st rt_event;
typedef struct CUkern_st rt_kernel;
typedef struct CUgraph_st rt_graph;
typedef struct CUgraphNode_st rt_node;

/* ---- work ---- */

enum rt_work_kind {
  RT_JOIN, /* does nothing: waits for others */
  RT_KERNEL,
  RT_COPY,
  RT_FILL,
  RT_HOST,
  RT_EVENT, /* takes the time */
  RT_FREE,
};

typedef struct rt_shape {
  dim3 grid, block, cluster; /* cluster.x 0: as the kernel says */
  size_t dynamic_shared_bytes;
  bool cooperative;
  bool programmatic; /* may begin when the kernel in front of it in its stream lets it */
} rt_shape;

typedef struct rt_launch {
  rt_kernel *kernel;
  rt_shape shape;
  unsigned char *args; /* owned: the parameters one behind the other, each at a multiple of 16 */
  size_t args_bytes;
} rt_launch;

/* A box of bytes: `depth` slices of `height` rows of `width` bytes. */
typedef struct rt_copy {
  unsigned char *to;
  const unsigned char *from;
  size_t width, height, depth;
  size_t to_pitch, to_slice, from_pitch, from_slice;
  unsigned char *staged; /* owned: the source as it was when the copy was submitted; or NULL */
} rt_copy;

typedef struct rt_fill {
  unsigned char *to;
  size_t width, height, depth, pitch, slice; /* width in bytes, a multiple of element_bytes */
  uint32_t value;
  unsigned element_bytes; /* 1, 2 or 4 */
} rt_fill;

typedef struct rt_host_call {
  cudaHostFn_t function;
  cudaStreamCallback_t callback; /* instead of function */
  cudaStream_t stream;
  void *user;
} rt_host_call;

typedef struct rt_work {
  enum rt_work_kind kind;
  union {
    rt_launch launch;
    rt_copy copy;
    rt_fill fill;
    rt_host_call host;
    void *free_pointer;
  } u;
} rt_work;

/* A copy that owns its own arguments and staged bytes. False when out of memory. */
bool rt_work_clone(rt_work *to, const rt_work *from);
void rt_work_clear(rt_work *work);

enum rt_op_state { RT_OP_WAITING, RT_OP_READY, RT_OP_RUNNING, RT_OP_DONE };

struct rt_op {
  int references;
  enum rt_op_state state;
  rt_work work;
  rt_gpu *gpu;
  rt_stream *stream; /* whose pending count it is in; NULL for none */
  uint64_t sequence; /* rises with submission; ready ops start in this order */
  rt_op **deps;      /* not done yet when it was submitted; referenced, dropped when it is done */
  size_t n_deps, unmet;
  rt_op **dependants; /* not referenced: each of them holds a reference to us */
  size_t n_dependants;
  rt_op *previous, *next; /* list of all ops that are not done, by sequence */
  uint64_t visited;       /* mark of the last walk over ancestors */
  uint64_t done_ns;       /* device time when it was done */
  uint32_t correlation, graph; /* for an observer (cudart_observe.c): the call, the graph */
  uint64_t graph_node;
  sim_grid *grid;
  rt_op *ahead; /* a kernel that began before this one did ends before it; NULL: none */
};

/* A new op with one reference (the caller's), not yet submitted. Takes over what `work` owns. */
rt_op *rt_op_new(rt_gpu *gpu, rt_work work);
void rt_op_after(rt_op *op, rt_op *dependency); /* NULL and done ones are fine */
void rt_op_submit(rt_op *op);                   /* the engine keeps a reference until it is done */
rt_op *rt_op_hold(rt_op *op);
void rt_op_release(rt_op *op);
static inline bool rt_op_done(const rt_op *op) {
  return !op || op->state == RT_OP_DONE;
}

/* Runs work until `goal` is done; may let go of the lock in between. Kernels step only if the goal
 * depends on one. The result is the device's sticky error. */
cudaError_t rt_wait(rt_gpu *gpu, rt_op *goal);
/* One turn of everything that can run; false when nothing could. */
bool rt_turn(void);
/* A bounded step towards `goal`, for queries. */
void rt_poke(rt_op *goal);
/* Waits for everything that has been submitted to the device. */
cudaError_t rt_wait_gpu(rt_gpu *gpu);
/* The same for what is wanted of it, and what that waits for. */
cudaError_t rt_wait_some(rt_gpu *gpu, bool (*wanted)(const rt_work *, const void *), const void *user);
/* Drops all work of the device: its ops count as done, no kernel runs on. */
void rt_cancel_gpu(rt_gpu *gpu);
void rt_engine_after_fork(void);
rt_op *rt_first_op(void);        /* not referenced; NULL: nothing is queued */
rt_op *rt_first_host_call(void); /* the same of host functions */
/* Has a thread run host functions that nobody waits for; or, with rt.async, everything. */
void rt_watch_host_calls(void);
void rt_work_on(void);
void rt_watch_after_fork(void);

/* ---- devices ---- */

struct rt_gpu {
  int index;
  bool opened, peer[RT_MAX_DEVICES]; /* peer[i]: kernels of this device may reach memory of i */
  sim_device *device;
  cudaError_t sticky;
  rt_stream *legacy;
  rt_stream *streams; /* all but the legacy one */
  size_t used_bytes;
  unsigned generation; /* counts cudaDeviceReset */
  rt_op **running;     /* kernels that have begun */
  size_t n_running, running_capacity;
  unsigned flags;
  size_t limits[16];
};

typedef struct rt_state {
  sim_config config;
  int capability; /* 75 for 7.5 */
  size_t memory_bytes;
  bool stats;
  bool async; /* a thread of the simulator runs what is queued, whether or not somebody waits */
  rt_gpu gpus[RT_MAX_DEVICES];
} rt_state;
extern rt_state rt;

/* The calling thread's. */
typedef struct rt_thread {
  int device;
  cudaError_t last;
  enum cudaStreamCaptureMode capture_mode;
  bool uses_runtime; /* so it has the primary context of its device, where no other was set */
  bool has_launched; /* a kernel or a host function; a thread that only copies is none that waits for one */
  bool in_host_call; /* runs a host function of a stream: no CUDA calls are allowed */
  const char *call;  /* of the call at hand, where an observer may want it */
  uint32_t correlation;
  uint64_t call_begin_ns;
  sigset_t signals; /* its mask while it does not hold the lock */
} rt_thread;
rt_thread *rt_self(void);

/* Initialises (configuration, injection library) and takes the lock. The result is the current
 * device's sticky error. rt_leave gives the lock back, remembers an error as the thread's last one
 * and passes it through. */
cudaError_t rt_enter(void);
cudaError_t rt_leave(cudaError_t error);
/* Names the call that the next rt_enter begins, for an observer: those that launch, copy or wait. */
void rt_call(const char *name);
void rt_observe_open(int device);
void rt_observe_enter(void);
void rt_observe_leave(cudaError_t result);
void rt_observe_done(const rt_op *op); /* the op's work is still there */
/* The same without initialising and without the sticky error. */
uint64_t rt_calls(void); /* how often rt_enter was called */
void rt_lock(void);
void rt_unlock(void);
/* Lets other threads in; milliseconds since the lock was taken decide. */
void rt_yield(void);
void rt_give_way(void);        /* lets in whoever waits, at once */
void rt_wait_for_others(void); /* sleeps until another thread gives the lock back */

/* cudaDeviceReset, for the driver too. */
void rt_device_reset(rt_gpu *gpu);
/* Numbers of the device; false where nothing is known of the attribute. */
bool rt_attribute_of(enum cudaDeviceAttr attribute, int device, int *value);

rt_gpu *rt_current(void);     /* opened */
rt_gpu *rt_gpu_at(int index); /* opened; NULL for no such device */
void rt_gpu_open(rt_gpu *gpu);
int rt_capability(void);

/* One line on stderr, `inkmark-sim: ...`. */
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same and the end of the program, exit code RT_EXIT_UNSUPPORTED. */
_Noreturn void rt_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The CUDA error for a failed kernel; ends the program where nothing would be honest. */
cudaError_t rt_error_of(const sim_error *error);
void rt_flush_print(void);

void rt_inject(void); /* without the lock */

/* ---- modules ---- */

struct rt_image { /* one registered fat binary */
  const fatbin_wrapper *wrapper;
  sim_program *program; /* NULL until first used */
  char **texts;
  size_t n_texts;
  struct {
    sim_module *module;
    unsigned generation;
  } loaded[RT_MAX_DEVICES];
  bool has_managed;
  bool lacks_ptx; /* some linked object had none */
  rt_image *next;
};

struct CUkern_st { /* a __global__ function that is registered, or of a module; what cudaKernel_t points at */
  const void *host;
  char *name;
  rt_image *image;
  struct CUmod_st *module;  /* driver.h: of this module, or */
  struct CUlib_st *library; /* of this library, in whichever context is current; both NULL: registered */
  int max_dynamic_shared_bytes; /* cudaFuncAttributeMaxDynamicSharedMemorySize, -1: not set */
  bool cluster_must_be_set, cluster_not_portable; /* attributes of its clusters */
  rt_kernel *next;
};

sim_module *rt_image_load(rt_image *image, rt_gpu *gpu);
rt_kernel *rt_kernel_find(const void *host); /* also takes a cudaKernel_t; NULL: not registered */
sim_kernel *rt_kernel_on(rt_kernel *kernel, rt_gpu *gpu); /* NULL: the PTX has no such entry */
/* Takes PTX out of a fat binary's container. */
enum fatbin_status rt_container_ptx(const void *container, char **text);
/* The address of a registered variable on the device; NULL: not registered. */
void *rt_variable_on(const void *host, rt_gpu *gpu, size_t *bytes);

/* ---- streams, events, capture ---- */

struct CUstream_st {
  rt_gpu *gpu;
  unsigned flags;
  int priority;
  unsigned long long id;
  bool legacy, destroyed;
  size_t pending;
  rt_op *last; /* referenced */
  rt_capture *capture;
  rt_node **tails; /* capturing: what the next node depends on */
  size_t n_tails;
  pthread_t owner; /* of a per-thread default stream */
  bool per_thread;
  rt_stream *next;
};

struct CUevent_st {
  unsigned flags;
  rt_gpu *gpu;
  rt_op *op;           /* the last record, referenced; NULL: never recorded */
  rt_capture *capture; /* the last record was captured */
  rt_node **nodes;
  size_t n_nodes;
  rt_event *next;
};

/* Resolves a handle, also the default ones; cudaErrorInvalidResourceHandle for anything else. */
cudaError_t rt_stream_of(cudaStream_t handle, rt_stream **stream);
/* Submits work to a stream in its order, or captures it. *op (NULL: not wanted) gets a reference;
 * it is NULL where the work was captured. Takes over what `work` owns, also on failure. */
cudaError_t rt_stream_submit(rt_stream *stream, rt_work work, rt_op **op);
/* For ops that are made elsewhere: orders one behind the stream's work, makes one what the stream's
 * next op waits for, and runs the stream when too much has been queued. */
void rt_stream_order(rt_stream *stream, rt_op *op);
void rt_stream_set_last(rt_stream *stream, rt_op *op);
cudaError_t rt_stream_bound(rt_stream *stream);
void rt_stream_op_done(rt_stream *stream);
rt_stream *rt_stream_new(rt_gpu *gpu, unsigned flags, int priority);
void rt_streams_reset(rt_gpu *gpu);
/* Fail, and spoil the captures in progress, where the real runtime would: what every call that
 * allocates or waits asks first; the same for a wait for a stream; and whether the legacy stream
 * may be used. */
cudaError_t rt_capture_forbids(void);
cudaError_t rt_capture_forbids_stream(rt_stream *stream);
cudaError_t rt_capture_forbids_legacy(rt_stream *stream);
cudaError_t rt_capture_add(rt_stream *stream, rt_work work);
cudaError_t rt_capture_record(rt_stream *stream, rt_event *event);
cudaError_t rt_capture_wait(rt_stream *stream, rt_event *event);
void rt_capture_forget_stream(rt_stream *stream);
void rt_event_forget_nodes(rt_event *event);
void rt_events_drop(rt_capture *capture);

/* ---- graphs ---- */

struct CUgraphNode_st {
  rt_graph *graph;
  rt_work work;
  rt_event *event; /* event record and wait nodes: the event */
  bool event_wait;
  rt_graph *child; /* child graph nodes: owned */
  enum cudaGraphNodeType type;
  rt_node **deps;
  size_t n_deps;
  rt_gpu *gpu;
  size_t index; /* in graph->nodes */
  bool disabled;
};

struct CUgraph_st {
  rt_node **nodes; /* in order of creation, which is a topological order unless dependencies were
                      added later */
  size_t n_nodes;
};

/* cudaGraphLaunch, for the driver: a profiler may stand in front of the runtime's name. */
cudaError_t rt_graph_launch(cudaGraphExec_t graph, cudaStream_t stream);
rt_node *rt_graph_add(rt_graph *graph, enum cudaGraphNodeType type, rt_work work,
                      rt_node *const *deps, size_t n_deps);
rt_graph *rt_graph_new(void);
rt_graph *rt_graph_clone(const rt_graph *graph);
void rt_graph_free(rt_graph *graph);
void rt_node_depend(rt_node *node, rt_node *dependency);
/* What a node made by hand does; *work owns its arguments. */
cudaError_t rt_node_kernel_work(const struct cudaKernelNodeParams *p, rt_work *work);
cudaError_t rt_node_copy_work(rt_copy copy, enum cudaMemcpyKind kind, rt_work *work);
cudaError_t rt_node_copy_3d_work(const struct cudaMemcpy3DParms *p, rt_work *work);
cudaError_t rt_node_fill_work(const struct cudaMemsetParams *p, rt_work *work);

/* ---- memory ---- */

enum rt_memory_kind { RT_MEMORY_DEVICE, RT_MEMORY_PINNED, RT_MEMORY_MANAGED, RT_MEMORY_REGISTERED };

typedef struct rt_range {
  uintptr_t start;
  size_t bytes;
  enum rt_memory_kind kind;
  int device;
  unsigned flags;
} rt_range;

/* The range that holds the address, or NULL. Module variables are not in the table. */
const rt_range *rt_range_of(const void *pointer);
void rt_memory_opened(rt_gpu *gpu); /* maps what the host has shared before the device was opened */
void rt_memory_reset(rt_gpu *gpu);
void rt_memory_free_now(void *pointer);
/* Checks both sides of a copy and stages pageable host memory. *synchronous: the runtime's rules
 * want the caller to wait for the copy. */
cudaError_t rt_copy_prepare(rt_copy *copy, enum cudaMemcpyKind kind, bool *synchronous);
cudaError_t rt_fill_check(const rt_fill *fill);
/* cudaMemset2DAsync with elements of 1, 2 or 4 bytes; `width` in bytes. Takes the lock itself. */
cudaError_t rt_fill_elements(void *to, size_t width, size_t height, size_t pitch, uint32_t value,
                             unsigned element_bytes, cudaStream_t stream);
void rt_copy_run(const rt_copy *copy);
void rt_fill_run(const rt_fill *fill);
cudaError_t rt_copy_from_3d(const struct cudaMemcpy3DParms *p, rt_copy *copy);

/* ---- launches ---- */

/* Checks a launch and copies its arguments. */
cudaError_t rt_launch_prepare(rt_gpu *gpu, rt_kernel *kernel, const rt_shape *shape, void **args, rt_work *work);
/* Checks a launch in a stream, and submits it. `launch` of the runtime and of the driver. */
cudaError_t rt_launch_submit(cudaStream_t stream, rt_kernel *kernel, const rt_shape *shape, void **args);
/* Begins the grid, behind or beside a prerequisite that has not ended, or NULL. */
sim_grid *rt_launch_begin(rt_gpu *gpu, const rt_launch *launch, sim_grid *prerequisite, sim_error *error);

#endif
