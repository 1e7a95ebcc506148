/* SPDX-License-Identifier: MIT */
/* The launches of a shared CUDA runtime, in the preloaded library: a device is armed in front of the
 * first one that it gets. So a process has contexts on the devices that it uses, and on no other. */
#include "cuda/behind.h"
#include "cuda/record_mode.h"
#include "cuda/record_window.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { UNKNOWN_ERROR = 999 /* cudaErrorUnknown */ };

typedef struct extent { /* dim3 */
  unsigned x, y, z;
} extent;

typedef int get_device_fn(int *device);

static void before(void *caller) {
  static ink_behind known;
  int device;
  if (!ink_record_watches_use())
    return;
  get_device_fn *get_device = (get_device_fn *)ink_behind_find(&known, "cudaGetDevice", caller);
  if (get_device && get_device(&device) == 0)
    ink_record_before_launch(device);
}

/* What a stream that is captured gets is launched with its graph, if ever. */
typedef int capturing_fn(void *stream, int *status);

static bool is_captured(void *stream, void *caller) {
  static ink_behind known;
  int status = 0;
  capturing_fn *ask = (capturing_fn *)ink_behind_find(&known, "cudaStreamIsCapturing", caller);
  return ask && ask(stream, &status) == 0 && status == 1 /* active */;
}

typedef struct configuration { /* the beginning of cudaLaunchConfig_t */
  extent grid, block;
  size_t shared_bytes;
  void *stream;
} configuration;

typedef struct launched { /* kernel NULL: a graph */
  const void *kernel;
  extent grid, block;
} launched;

static bool count(const launched *l, ink_record_launch *noted, void *stream, void *caller) {
  return ink_record_counts_launches() && (!l->kernel || !is_captured(stream, caller)) && ink_record_launch_begin(noted);
}

typedef int name_fn(const char **name, const void *kernel);

/* An error of its own is not left to the program; where one of the program's stands already, it stays. */
static int name_of(name_fn *ask, const void *kernel, const char **name, void *caller) {
  static ink_behind known_peek, known_last;
  typedef int error_fn(void);
  error_fn *peek = (error_fn *)ink_behind_find(&known_peek, "cudaPeekAtLastError", caller);
  error_fn *last = (error_fn *)ink_behind_find(&known_last, "cudaGetLastError", caller);
  const bool clean = peek && peek() == 0;
  const int code = ask(name, kernel);
  if (code && clean && last)
    last();
  return code;
}

static void end(const launched *l, ink_record_launch *noted, bool worked, void *caller) {
  static ink_behind known_name, known_device;
  const char *name = NULL;
  int device;
  bool wants;
  ink_record_launch_end(worked, &wants);
  if (!wants)
    return;
  name_fn *ask = l->kernel ? (name_fn *)ink_behind_find(&known_name, "cudaFuncGetName", caller) : NULL;
  get_device_fn *get_device = (get_device_fn *)ink_behind_find(&known_device, "cudaGetDevice", caller);
  if (!ask || name_of(ask, l->kernel, &name, caller) != 0)
    name = NULL;
  if (!get_device || get_device(&device) != 0)
    return;
  const unsigned grid[] = {l->grid.x, l->grid.y, l->grid.z}, block[] = {l->block.x, l->block.y, l->block.z};
  noted->is_graph = !l->kernel;
  memcpy(noted->grid_dim, grid, sizeof grid);
  memcpy(noted->block_dim, block, sizeof block);
  ink_record_launched(noted, name, device);
}

#define LAUNCH(name, parameters, arguments, stream, ...)                                      \
  INK_API int name parameters;                                                                     \
  int name parameters {                                                                            \
    typedef int launch_fn parameters;                                                              \
    static ink_behind known;                                                                       \
    void *caller = __builtin_return_address(0);                                                    \
    launch_fn *real = (launch_fn *)ink_behind_find(&known, #name, caller);                         \
    if (!real)                                                                                     \
      return UNKNOWN_ERROR;                                                                        \
    before(caller);                                                                                \
    const launched l = {__VA_ARGS__};                                                              \
    ink_record_launch noted = {0};                                                                 \
    const bool counted = count(&l, &noted, stream, caller);                                        \
    const int code = real arguments;                                                               \
    if (counted)                                                                                   \
      end(&l, &noted, code == 0, caller);                                                          \
    return code;                                                                                   \
  }

static const extent none;

#define KERNEL_PARAMETERS                                                                          \
  (const void *kernel, extent grid, extent block, void **values, size_t shared_bytes, void *stream)
#define KERNEL_ARGUMENTS (kernel, grid, block, values, shared_bytes, stream)
LAUNCH(cudaLaunchKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS, stream, kernel, grid, block)
LAUNCH(cudaLaunchKernel_ptsz, KERNEL_PARAMETERS, KERNEL_ARGUMENTS, INK_I_PER_THREAD(stream), kernel, grid, block)
LAUNCH(__cudaLaunchKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS, stream, kernel, grid, block)
LAUNCH(__cudaLaunchKernel_ptsz, KERNEL_PARAMETERS, KERNEL_ARGUMENTS, INK_I_PER_THREAD(stream), kernel, grid, block)
LAUNCH(cudaLaunchCooperativeKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS, stream, kernel, grid, block)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, KERNEL_PARAMETERS, KERNEL_ARGUMENTS, INK_I_PER_THREAD(stream), kernel, grid, block)
LAUNCH(cudaLaunchKernelExC, (const configuration *config, const void *kernel, void **values), (config, kernel, values),
       config ? config->stream : NULL, kernel, config ? config->grid : none, config ? config->block : none)
LAUNCH(cudaLaunchKernelExC_ptsz, (const configuration *config, const void *kernel, void **values),
       (config, kernel, values), INK_I_PER_THREAD(config ? config->stream : NULL), kernel, config ? config->grid : none,
       config ? config->block : none)
LAUNCH(cudaGraphLaunch, (void *graph, void *stream), (graph, stream), stream, NULL, none, none)
LAUNCH(cudaGraphLaunch_ptsz, (void *graph, void *stream), (graph, stream), INK_I_PER_THREAD(stream), NULL, none, none)

/* ---- what a program says of when it is to be recorded ---- */

#define PROFILER(name, starts)                                                                     \
  INK_API int name(void);                                                                          \
  int name(void) {                                                                                 \
    typedef int profiler_fn(void);                                                                 \
    static ink_behind known;                                                                       \
    profiler_fn *real = (profiler_fn *)ink_behind_find(&known, #name, __builtin_return_address(0)); \
    ink_record_profiler(starts);                                                                   \
    return real ? real() : UNKNOWN_ERROR;                                                          \
  }
PROFILER(cudaProfilerStart, true)
PROFILER(cudaProfilerStop, false)
