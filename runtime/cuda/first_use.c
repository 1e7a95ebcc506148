/* SPDX-License-Identifier: MIT */
/* The launches of a shared CUDA runtime, in the preloaded library: a device is armed in front of the
 * first one that it gets. So a process has contexts on the devices that it uses, and on no other. */
#include "cuda/behind.h"
#include "cuda/record_mode.h"

#include <stddef.h>

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

#define LAUNCH(name, parameters, arguments)                                                        \
  INK_API int name parameters;                                                                     \
  int name parameters {                                                                            \
    typedef int launch_fn parameters;                                                              \
    static ink_behind known;                                                                       \
    void *caller = __builtin_return_address(0);                                                    \
    launch_fn *real = (launch_fn *)ink_behind_find(&known, #name, caller);                         \
    if (!real)                                                                                     \
      return UNKNOWN_ERROR;                                                                        \
    before(caller);                                                                                \
    return real arguments;                                                                         \
  }

#define KERNEL_PARAMETERS                                                                          \
  (const void *kernel, extent grid, extent block, void **values, size_t shared_bytes, void *stream)
#define KERNEL_ARGUMENTS (kernel, grid, block, values, shared_bytes, stream)
LAUNCH(cudaLaunchKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
LAUNCH(cudaLaunchKernel_ptsz, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
LAUNCH(__cudaLaunchKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
LAUNCH(__cudaLaunchKernel_ptsz, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
LAUNCH(cudaLaunchCooperativeKernel, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, KERNEL_PARAMETERS, KERNEL_ARGUMENTS)
LAUNCH(cudaLaunchKernelExC, (const void *config, const void *kernel, void **values), (config, kernel, values))
LAUNCH(cudaLaunchKernelExC_ptsz, (const void *config, const void *kernel, void **values), (config, kernel, values))
LAUNCH(cudaGraphLaunch, (void *graph, void *stream), (graph, stream))
LAUNCH(cudaGraphLaunch_ptsz, (void *graph, void *stream), (graph, stream))
