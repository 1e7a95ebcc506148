/* SPDX-License-Identifier: MIT */
/* A marked file hands this to libinkmark at start-up: the setter of its buffer symbol, its section tables, and the
 * entry points of the CUDA runtime that the program is linked with. So libinkmark links no CUDA runtime. C11 and C++. */
#ifndef INKMARK_MODULE_H
#define INKMARK_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INK_MODULE_ABI 6u /* with INK_LAYOUT_VERSION: a file records to a buffer of its own layout only */

/* The program's own CUDA runtime; every function returns a cudaError_t as int (0: success).
 * A stream is passed as void *. Entry points are added at the end; `bytes` says how many are there. */
typedef struct ink_cuda_api {
  size_t bytes;
  int (*get_device_count)(int *count);
  int (*get_device)(int *device);
  int (*set_device)(int device);
  int (*device_synchronize)(void);
  int (*get_attribute)(int *value, int cuda_device_attr, int device);
  int (*device_name)(char *name, size_t name_bytes, int device); /* wraps cudaGetDeviceProperties */
  int (*malloc_device)(void **pointer, size_t bytes);
  int (*free_device)(void *pointer);
  int (*malloc_host)(void **pointer, size_t bytes);
  int (*free_host)(void *pointer);
  int (*copy_async)(void *to, const void *from, size_t bytes, int kind, void *stream);
  int (*set_async)(void *to, int byte, size_t bytes, void *stream);
  int (*stream_create)(void **stream); /* non-blocking */
  int (*stream_destroy)(void *stream);
  int (*stream_synchronize)(void *stream);
  int (*runtime_version)(int *version);
  int (*driver_version)(int *version);
  int (*peek_last_error)(void);
  int (*get_last_error)(void);
  const char *(*error_string)(int code);
  /* cudaThreadExchangeStreamCaptureMode: so that our calls are legal while a thread captures */
  int (*exchange_capture_mode)(int *mode);
  int (*copy_2d_async)(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, int kind, void *stream);
  int (*memory)(size_t *free_bytes, size_t *total_bytes); /* cudaMemGetInfo; files of older headers lack it */
  int (*set_2d_async)(void *to, size_t pitch, int byte, size_t width, size_t height, void *stream);
  /* Memory of the host that every device reads and writes in place; where a device finds it. */
  int (*host_register)(void *at, size_t bytes);
  int (*host_unregister)(void *at);
  int (*host_device_pointer)(void **device, void *at);
} ink_cuda_api;

#define INK_CUDA_HAS(api, member)                                                                  \
  ((api)->bytes >= offsetof(ink_cuda_api, member) + sizeof((api)->member) && (api)->member)

/* What measure_cost measures. A row of its samples is one of these, INK_COST_CALLED more for marks in
 * called functions: cycles of INK_COST_MARKS marks in a row with two clock reads around them, or, of
 * INK_COST_SUM, of as many pairs of PROF_SUM_BEGIN and PROF_SUM_END; of INK_COST_SUM_LOOP, of a loop of
 * as many turns with a pair in each, less those of the same loop without it. INK_COST_WHOLE's row has
 * two samples, clock64 before the track is opened and after it is closed; two more are of no meaning. A
 * recording run also leaves the marks themselves in the rings: one MARK, then the body's rows in their
 * order, round by round, then the sums; and those of called functions. */
enum ink_cost_row {
  INK_COST_NOTHING = 0,
  INK_COST_MARK = 1,
  INK_COST_RANGE = 2, /* BEGIN and END in turn */
  INK_COST_INSTANT = 3,
  INK_COST_ITER = 4,
  INK_COST_VALUE = 5,
  INK_COST_ASYNC = 6, /* begin and end in turn */
  INK_COST_SUM = 7,
  INK_COST_CALLED = 8,
  INK_COST_SUM_LOOP = 8, /* of called functions there are no clock reads with nothing between */
  INK_COST_WHOLE = 15,
  INK_COST_ROWS = 16
};
#define INK_COST_ROUNDS 9u /* samples of a row */
#define INK_COST_MARKS 4u  /* even */
#define INK_COST_MARKS_CALLED 2u /* in called functions: they are long, and code has its price too */
#define INK_COST_TABLE 0x6b6e69630001ull /* the hash of its section table, which has one section */
#define INK_COST_THREADS 32u

/* What catch_edges fills for one SM, in device memory that was all zero. Between cycles0 and cycles1
 * globaltimer left before_ns and reached global_ns, which is one step or more above it. */
#define INK_EDGES_MAX 32u
#define INK_EDGE_POLLS_MAX 400000u
typedef struct ink_edge_words {
  uint64_t cycles0, cycles1, before_ns, global_ns;
} ink_edge_words;
typedef struct ink_edge_slot {
  uint32_t taken; /* blocks that came to this SM; the first one caught the edges */
  uint32_t count;
  ink_edge_words edges[INK_EDGES_MAX];
} ink_edge_slot;

/* One buffer symbol: of a file that nvcc compiled, or of a module that the program loaded itself. Callbacks are
 * handed `self`, and act on the current device: for a module of the driver's API, in its context. */
typedef struct ink_module_desc {
  uint32_t abi; /* INK_MODULE_ABI */
  uint32_t bytes;
  const char *file;
  /* Copies the pointer into the symbol. */
  int (*set_buffer)(void *self, void *device_buffer);
  /* Launches one thread on `stream` that stores globaltimer in *device_ns. */
  int (*read_globaltimer)(void *self, uint64_t *device_ns, void *stream);
  const ink_cuda_api *cuda;
  /* Launches one warp on `stream` that measures what this file's marks cost, once with a buffer that has a
   * track and a slot for INK_COST_TABLE's section 1, once with NULL. */
  int (*measure_cost)(void *self, void *device_buffer, uint64_t *device_samples, void *stream);
  /* Launches `blocks` blocks on `stream`; slots[%smid] is filled on each SM that one of them comes to, until
   * INK_EDGES_MAX edges are caught, or two and few_cycles have passed, or most_cycles have. */
  int (*catch_edges)(void *self, ink_edge_slot *device_slots, uint32_t slot_count, uint32_t blocks,
                     uint64_t few_cycles, uint64_t most_cycles, void *stream);
  /* set_buffer in the order of `stream`, without a word to the legacy stream: that would wait for the
   * program's kernels, and break a capture that goes on in a stream of its own. */
  int (*set_buffer_in)(void *self, void *device_buffer, void *stream);
  void *self;
  /* 0: the symbol is on every device, as a CUDA runtime has it. Else the one device of `cuda` that it is on,
   * plus 1. */
  uint32_t only_device;
} ink_module_desc;

/* Descriptors grow at their end: what a file was compiled with may be shorter than this header's. */
#define INK_MODULE_BYTES_MIN offsetof(ink_module_desc, measure_cost)
#define INK_MODULE_HAS(desc, member)                                                               \
  ((desc)->bytes >= offsetof(ink_module_desc, member) + sizeof((desc)->member) && (desc)->member)

/* One PROF_SECTIONS table. `sections` is the text that hash48 is made of: "Step, LineSearch". */
typedef struct ink_table_desc {
  uint32_t abi;
  uint32_t bytes;
  const char *name;
  const char *sections;
  const char *file;
  uint32_t line;
  uint32_t reserved;
  uint64_t hash48;
} ink_table_desc;

/* Exported by libinkmark; the descriptors live as long as the object that holds them. */
typedef void ink_register_module_fn(const ink_module_desc *module);
typedef void ink_unregister_module_fn(const ink_module_desc *module);
typedef void ink_register_table_fn(const ink_table_desc *table);

#ifdef __cplusplus
}
#endif
#endif
