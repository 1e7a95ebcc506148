/* SPDX-License-Identifier: MIT */
/* The entry points that programs built with --default-stream per-thread call: the same functions
 * with the calling thread's own stream for 0. (Those without a stream argument, cudaMemcpy_ptds and
 * its like, are in cudart_copy.c.) */
#include "cudart.h"

#define RT_ALIAS(name, parameters, ...)                                                            \
  RT_API cudaError_t name##_ptsz parameters;                                                       \
  RT_API cudaError_t name##_ptsz parameters {                                                      \
    return name(__VA_ARGS__);                                                                      \
  }

#define S RT_PER_THREAD(s)

/* nvcc's own, not in the headers that C sees */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared_bytes, cudaStream_t stream);

RT_ALIAS(cudaLaunchKernel,
         (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s), f,
         grid, block, args, shared, S)
RT_ALIAS(__cudaLaunchKernel,
         (cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s), f,
         grid, block, args, shared, S)
RT_ALIAS(cudaLaunchCooperativeKernel,
         (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s), f,
         grid, block, args, shared, S)
RT_ALIAS(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void *user), S, f, user)
RT_ALIAS(cudaMemcpyAsync,
         (void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t s), to, from,
         n, kind, S)
RT_ALIAS(cudaMemcpy2DAsync,
         (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
          size_t height, enum cudaMemcpyKind kind, cudaStream_t s),
         to, to_pitch, from, from_pitch, width, height, kind, S)
RT_ALIAS(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t s), p, S)
RT_ALIAS(cudaMemcpyToSymbolAsync,
         (const void *symbol, const void *from, size_t n, size_t offset, enum cudaMemcpyKind kind,
          cudaStream_t s),
         symbol, from, n, offset, kind, S)
RT_ALIAS(cudaMemcpyFromSymbolAsync,
         (void *to, const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind,
          cudaStream_t s),
         to, symbol, n, offset, kind, S)
RT_ALIAS(cudaMemsetAsync, (void *to, int value, size_t n, cudaStream_t s), to, value, n, S)
RT_ALIAS(cudaMemset2DAsync,
         (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t s), to,
         pitch, value, width, height, S)
RT_ALIAS(cudaMemset3DAsync,
         (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t s), to, value,
         extent, S)
RT_ALIAS(cudaMallocAsync, (void **pointer, size_t n, cudaStream_t s), pointer, n, S)
RT_ALIAS(cudaFreeAsync, (void *pointer, cudaStream_t s), pointer, S)
RT_ALIAS(cudaMemPrefetchAsync,
         (const void *pointer, size_t n, struct cudaMemLocation location, unsigned flags,
          cudaStream_t s),
         pointer, n, location, flags, S)
RT_ALIAS(cudaStreamSynchronize, (cudaStream_t s), S)
RT_ALIAS(cudaStreamQuery, (cudaStream_t s), S)
RT_ALIAS(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t event, unsigned flags), S, event, flags)
RT_ALIAS(cudaStreamAddCallback,
         (cudaStream_t s, cudaStreamCallback_t callback, void *user, unsigned flags), S, callback,
         user, flags)
RT_ALIAS(cudaStreamAttachMemAsync, (cudaStream_t s, void *pointer, size_t n, unsigned flags), S,
         pointer, n, flags)
RT_ALIAS(cudaStreamGetFlags, (cudaStream_t s, unsigned *flags), S, flags)
RT_ALIAS(cudaStreamGetPriority, (cudaStream_t s, int *priority), S, priority)
RT_ALIAS(cudaStreamGetId, (cudaStream_t s, unsigned long long *id), S, id)
RT_ALIAS(cudaStreamGetDevice, (cudaStream_t s, int *device), S, device)
RT_ALIAS(cudaStreamBeginCapture, (cudaStream_t s, enum cudaStreamCaptureMode mode), S, mode)
RT_ALIAS(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *graph), S, graph)
RT_ALIAS(cudaStreamIsCapturing, (cudaStream_t s, enum cudaStreamCaptureStatus *status), S, status)
RT_ALIAS(cudaStreamGetCaptureInfo,
         (cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id,
          cudaGraph_t *graph, const cudaGraphNode_t **deps, const cudaGraphEdgeData **edges,
          size_t *n_deps),
         S, status, id, graph, deps, edges, n_deps)
RT_ALIAS(cudaEventRecord, (cudaEvent_t event, cudaStream_t s), event, S)
RT_ALIAS(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t s, unsigned flags), event, S,
         flags)
RT_ALIAS(cudaGraphLaunch, (cudaGraphExec_t graph, cudaStream_t s), graph, S)
RT_ALIAS(cudaGraphUpload, (cudaGraphExec_t graph, cudaStream_t s), graph, S)
RT_ALIAS(cudaGraphInstantiateWithParams,
         (cudaGraphExec_t * made, cudaGraph_t graph, cudaGraphInstantiateParams *p), made, graph, p)

/* Its stream is in the configuration. */
RT_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                            void **args);
RT_API cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                            void **args) {
  cudaLaunchConfig_t mine = *config;
  mine.stream = RT_PER_THREAD(config->stream);
  return cudaLaunchKernelExC(&mine, function, args);
}
