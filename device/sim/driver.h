/* SPDX-License-Identifier: MIT */
/* What the files of the simulated CUDA driver share. The driver lies in one library with the runtime
 * (libcuda.so.1 and libcudart.so.13 are one file), on the same engine: a program may mix both APIs on
 * one memory. A context belongs to one device and holds modules; memory, streams and events are the
 * device's. What is below a call of the driver is mostly the runtime's function of the same meaning. */
#ifndef INKMARK_SIM_DRIVER_H
#define INKMARK_SIM_DRIVER_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL 1 /* so that cuda.h does not rename cuMemAlloc to cuMemAlloc_v2 */
#endif
#include <cuda.h>

#include "cudart.h"

/* Marks an entry point of the driver. */
#define DRV_API RT_API CUresult

typedef struct CUctx_st drv_context;
typedef struct CUmod_st drv_module;
typedef struct CUlib_st drv_library;

struct CUctx_st {
  rt_gpu *gpu;
  bool primary;
  unsigned flags, references; /* references: of a primary context */
  unsigned long long id;
  drv_module *modules;
  drv_context *next;
};

/* ---- calls: every entry point opens with one of these ---- */

/* The driver is initialised; CUDA_ERROR_NOT_INITIALIZED before cuInit, unless the runtime was used. */
CUresult drv_ready(void);
/* The same, and the calling thread has a context; its device is the runtime's current one. */
CUresult drv_ready_here(void);
/* A runtime's error as the driver's. */
CUresult drv_result(cudaError_t error);

/* Returns what a function of the runtime returns, which leaves the runtime's last error as it was. */
#define DRV_FORWARD(call)                                                                          \
  do {                                                                                             \
    const CUresult ready = drv_ready_here();                                                       \
    if (ready)                                                                                     \
      return ready;                                                                                \
    const cudaError_t last = rt_self()->last;                                                      \
    const CUresult result = drv_result(call);                                                      \
    rt_self()->last = last;                                                                        \
    return result;                                                                                 \
  } while (0)

/* ---- contexts: with the lock held, except drv_context_set ---- */

drv_context *drv_context_here(void); /* of the calling thread, or NULL */
drv_context *drv_primary(int device);
bool drv_context_is(const drv_context *context); /* a live one */
drv_context *drv_context_next(const drv_context *context); /* all of them; NULL: the first */
/* What cudaSetDevice does to the calling thread's context. */
void drv_context_set(int device);
/* All modules of a device's contexts are gone: it was reset. */
void drv_device_reset(rt_gpu *gpu);

/* The body of an entry point of which a profiler is told: its first two parameters, and what it does. */
void drv_tell(const char *name, const void *const words[2], const CUresult *result);
#define DRV_TOLD(first, second, call)                                                              \
  do {                                                                                             \
    const void *const words_[2] = {first, second};                                                 \
    drv_tell(__func__, words_, NULL);                                                              \
    const CUresult result_ = call;                                                                 \
    drv_tell(__func__, words_, &result_);                                                          \
    return result_;                                                                                \
  } while (0)

/* ---- modules: with the lock held ---- */

void drv_modules_clear(drv_context *context);
/* What a CUfunction or a CUkernel is on the current context; NULL: neither. */
rt_kernel *drv_kernel_here(const void *handle);

/* The entry point that cuGetProcAddress gives; *known: there is one of another version. */
void *drv_entry_point(const char *name, int version, bool per_thread, bool *known);

#endif
