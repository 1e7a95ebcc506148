/* SPDX-License-Identifier: MIT */
/* Copies and fills: 1D, 2D, 3D, between devices, to and from symbols. Every copy becomes one box of
 * rows; both its ends are checked when it is called. */
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

/* ---- the box ---- */

/* Bytes from the first to the last one touched; false where that overflows. */
static bool span_of(size_t width, size_t height, size_t depth, size_t pitch, size_t slice,
                    size_t *span) {
  size_t rows, slices;
  if (!width || !height || !depth) {
    *span = 0;
    return true;
  }
  return !__builtin_mul_overflow(height - 1, pitch, &rows) &&
         !__builtin_mul_overflow(depth - 1, slice, &slices) &&
         !__builtin_add_overflow(rows, slices, &rows) && !__builtin_add_overflow(rows, width, span);
}

/* True when a device or memory shared with it holds all of it. */
static bool device_holds(const void *pointer, size_t bytes) {
  const rt_range *range = rt_range_of(pointer);
  if (range)
    return bytes <= range->bytes - ((uintptr_t)pointer - range->start);
  for (int i = 0; i < rt.config.devices; i++)
    if (rt.gpus[i].opened && sim_memory_has(rt.gpus[i].device, pointer, bytes))
      return true;
  return false;
}

static bool is_pageable(const void *pointer) {
  return !rt_range_of(pointer) && !device_holds(pointer, 1);
}

/* A host pointer may lie anywhere, but where it starts in a known range it must end in it. */
static bool end_is_good(const void *pointer, size_t span, bool device) {
  return device || !is_pageable(pointer) ? device_holds(pointer, span) : pointer != NULL;
}

static bool stage(rt_copy *copy) {
  unsigned char *staged = malloc(copy->width * copy->height * copy->depth);
  if (!staged)
    return false;
  unsigned char *at = staged;
  for (size_t z = 0; z < copy->depth; z++)
    for (size_t y = 0; y < copy->height; y++, at += copy->width)
      memcpy(at, copy->from + z * copy->from_slice + y * copy->from_pitch, copy->width);
  copy->staged = staged;
  copy->from = staged;
  copy->from_pitch = copy->width;
  copy->from_slice = copy->width * copy->height;
  return true;
}

cudaError_t rt_copy_prepare(rt_copy *copy, enum cudaMemcpyKind kind, bool *synchronous) {
  if (kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (!copy->width || !copy->height || !copy->depth) {
    copy->width = copy->height = copy->depth = 0;
    return cudaSuccess;
  }
  const bool many_rows = copy->height > 1 || copy->depth > 1;
  if (many_rows && (copy->to_pitch < copy->width || copy->from_pitch < copy->width))
    return cudaErrorInvalidPitchValue;
  size_t to_span, from_span;
  if (!span_of(copy->width, copy->height, copy->depth, copy->to_pitch, copy->to_slice, &to_span) ||
      !span_of(copy->width, copy->height, copy->depth, copy->from_pitch, copy->from_slice,
               &from_span))
    return cudaErrorInvalidValue;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (!end_is_good(copy->to, to_span, to_device))
    return cudaErrorInvalidValue;
  if (!end_is_good(copy->from, from_span, from_device))
    return cudaErrorInvalidValue;

  /* The source is read before the call returns where the host may change it right after, and a
   * copy into pageable memory is finished when the call returns: so does the real runtime. */
  if (is_pageable(copy->to))
    *synchronous = true;
  else if (!*synchronous && is_pageable(copy->from) && !stage(copy))
    return cudaErrorMemoryAllocation;
  return cudaSuccess;
}

void rt_copy_run(const rt_copy *copy) {
  for (size_t z = 0; z < copy->depth; z++)
    for (size_t y = 0; y < copy->height; y++)
      memmove(copy->to + z * copy->to_slice + y * copy->to_pitch,
              copy->from + z * copy->from_slice + y * copy->from_pitch, copy->width);
}

cudaError_t rt_fill_check(const rt_fill *fill) {
  size_t span;
  if (!fill->width || !fill->height || !fill->depth)
    return cudaSuccess;
  if ((fill->height > 1 || fill->depth > 1) && fill->pitch < fill->width)
    return cudaErrorInvalidPitchValue;
  if (!span_of(fill->width, fill->height, fill->depth, fill->pitch, fill->slice, &span))
    return cudaErrorInvalidValue;
  return device_holds(fill->to, span) ? cudaSuccess : cudaErrorInvalidValue;
}

void rt_fill_run(const rt_fill *fill) {
  for (size_t z = 0; z < fill->depth; z++)
    for (size_t y = 0; y < fill->height; y++) {
      unsigned char *row = fill->to + z * fill->slice + y * fill->pitch;
      if (fill->element_bytes == 1) {
        memset(row, (int)(fill->value & 0xff), fill->width);
        continue;
      }
      for (size_t x = 0; x + fill->element_bytes <= fill->width; x += fill->element_bytes)
        memcpy(row + x, &fill->value,
               fill->element_bytes); /* the value's low bytes: little endian */
    }
}

/* ---- submitting ---- */

static cudaError_t submit_copy(rt_copy copy, enum cudaMemcpyKind kind, cudaStream_t handle,
                               bool synchronous) {
  rt_stream *stream;
  cudaError_t error = rt_stream_of(handle, &stream);
  if (error)
    return error;
  if (synchronous && (error = rt_capture_forbids_stream(stream)))
    return error;
  bool wait = synchronous;
  if (stream->capture)
    wait = true; /* the replay reads the source: nothing is staged */
  error = rt_copy_prepare(&copy, kind, &wait);
  if (error)
    return error;
  rt_op *op;
  error = rt_stream_submit(stream, (rt_work){.kind = RT_COPY, .u.copy = copy}, &op);
  if (!error && wait)
    error = rt_wait(stream->gpu, op);
  rt_op_release(op);
  return error;
}

static cudaError_t copy(const char *call, rt_copy box, enum cudaMemcpyKind kind,
                        cudaStream_t stream, bool synchronous) {
  rt_call(call);
  cudaError_t error = rt_enter();
  if (!error)
    rt_current();
  if (!error)
    error = submit_copy(box, kind, stream, synchronous);
  return rt_leave(error);
}

static cudaError_t fill(const char *call, rt_fill box, cudaStream_t handle) {
  rt_call(call);
  cudaError_t error = rt_enter();
  rt_stream *stream;
  if (!error)
    error = rt_stream_of(handle, &stream);
  if (!error)
    error = rt_fill_check(&box);
  if (!error)
    error = rt_stream_submit(stream, (rt_work){.kind = RT_FILL, .u.fill = box}, NULL);
  return rt_leave(error);
}

static rt_copy line(void *to, const void *from, size_t bytes) {
  return (rt_copy){to, from, bytes, 1, 1, bytes, bytes, bytes, bytes, NULL};
}

static rt_copy rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height) {
  return (rt_copy){to, from, width, height, 1, to_pitch, 0, from_pitch, 0, NULL};
}

/* ---- copies ---- */

RT_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  return copy(__func__, line(to, from, bytes), kind, NULL, true);
}

RT_API cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind) {
  return copy(__func__, line(to, from, bytes), kind, cudaStreamPerThread, true);
}

RT_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
  return copy(__func__, line(to, from, bytes), kind, stream, false);
}

RT_API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                                  size_t bytes) {
  (void)to_device, (void)from_device;
  return copy(__func__, line(to, from, bytes), cudaMemcpyDeviceToDevice, NULL, true);
}

RT_API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                       size_t bytes, cudaStream_t stream) {
  (void)to_device, (void)from_device;
  return copy(__func__, line(to, from, bytes), cudaMemcpyDeviceToDevice, stream, false);
}

RT_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind) {
  return copy(__func__, rows(to, to_pitch, from, from_pitch, width, height), kind, NULL, true);
}

RT_API cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind) {
  return copy(__func__, rows(to, to_pitch, from, from_pitch, width, height), kind,
              cudaStreamPerThread, true);
}

RT_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return copy(__func__, rows(to, to_pitch, from, from_pitch, width, height), kind, stream, false);
}

cudaError_t rt_copy_from_3d(const struct cudaMemcpy3DParms *p, rt_copy *box) {
  if (!p)
    return cudaErrorInvalidValue;
  if (p->srcArray || p->dstArray)
    rt_refuse("CUDA arrays are not simulated");
  const size_t to_slice = p->dstPtr.pitch * p->dstPtr.ysize;
  const size_t from_slice = p->srcPtr.pitch * p->srcPtr.ysize;
  *box = (rt_copy){
      .to = (unsigned char *)p->dstPtr.ptr + p->dstPos.x + p->dstPos.y * p->dstPtr.pitch +
            p->dstPos.z * to_slice,
      .from = (const unsigned char *)p->srcPtr.ptr + p->srcPos.x + p->srcPos.y * p->srcPtr.pitch +
              p->srcPos.z * from_slice,
      .width = p->extent.width,
      .height = p->extent.height,
      .depth = p->extent.depth,
      .to_pitch = p->dstPtr.pitch,
      .to_slice = to_slice,
      .from_pitch = p->srcPtr.pitch,
      .from_slice = from_slice,
  };
  return cudaSuccess;
}

static cudaError_t copy_3d(const char *call, const struct cudaMemcpy3DParms *p, cudaStream_t stream,
                           bool synchronous) {
  rt_copy box;
  const cudaError_t error = rt_copy_from_3d(p, &box);
  return error ? error : copy(call, box, p->kind, stream, synchronous);
}

RT_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
  return copy_3d(__func__, p, NULL, true);
}

RT_API cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *p) {
  return copy_3d(__func__, p, cudaStreamPerThread, true);
}

RT_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
  return copy_3d(__func__, p, stream, false);
}

/* ---- fills: asynchronous to the host like the real ones on device memory ---- */

static rt_fill fill_rows(void *to, size_t pitch, int value, size_t width, size_t height) {
  return (rt_fill){to, width, height, 1, pitch, 0, (uint32_t)value & 0xff, 1};
}

static rt_fill fill_box(struct cudaPitchedPtr to, int value, struct cudaExtent extent) {
  return (rt_fill){to.ptr,   extent.width,        extent.height,          extent.depth,
                   to.pitch, to.pitch * to.ysize, (uint32_t)value & 0xff, 1};
}

cudaError_t rt_fill_elements(void *to, size_t width, size_t height, size_t pitch, uint32_t value,
                             unsigned element_bytes, cudaStream_t stream) {
  return fill("cudaMemset2DAsync", (rt_fill){to, width, height, 1, pitch, 0, value, element_bytes}, stream);
}

RT_API cudaError_t cudaMemset(void *to, int value, size_t bytes) {
  return fill(__func__, fill_rows(to, bytes, value, bytes, 1), NULL);
}

RT_API cudaError_t cudaMemset_ptds(void *to, int value, size_t bytes) {
  return fill(__func__, fill_rows(to, bytes, value, bytes, 1), cudaStreamPerThread);
}

RT_API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
  return fill(__func__, fill_rows(to, bytes, value, bytes, 1), stream);
}

RT_API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
  return fill(__func__, fill_rows(to, pitch, value, width, height), NULL);
}

RT_API cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream) {
  return fill(__func__, fill_rows(to, pitch, value, width, height), stream);
}

RT_API cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent) {
  return fill(__func__, fill_box(to, value, extent), NULL);
}

RT_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                                     cudaStream_t stream) {
  return fill(__func__, fill_box(to, value, extent), stream);
}

/* ---- symbols ---- */

RT_API cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
  cudaError_t error = rt_enter();
  size_t bytes;
  void *found = error ? NULL : rt_variable_on(symbol, rt_current(), &bytes);
  if (!error && !found)
    error = cudaErrorInvalidSymbol;
  if (!error)
    *address = found;
  return rt_leave(error);
}

RT_API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  cudaError_t error = rt_enter();
  size_t found_bytes;
  if (!error && !rt_variable_on(symbol, rt_current(), &found_bytes))
    error = cudaErrorInvalidSymbol;
  if (!error)
    *bytes = found_bytes;
  return rt_leave(error);
}

/* The address `offset` into a symbol, of which `bytes` bytes will be touched. */
static cudaError_t inside_symbol(const void *symbol, size_t offset, size_t bytes, void **address) {
  size_t size;
  unsigned char *start = rt_variable_on(symbol, rt_current(), &size);
  if (!start)
    return cudaErrorInvalidSymbol;
  if (offset > size || bytes > size - offset)
    return cudaErrorInvalidValue;
  *address = start + offset;
  return cudaSuccess;
}

static cudaError_t to_symbol(const char *call, const void *symbol, const void *from, size_t bytes,
                             size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                             bool synchronous) {
  rt_call(call);
  cudaError_t error = rt_enter();
  void *to;
  if (!error)
    error = inside_symbol(symbol, offset, bytes, &to);
  if (!error)
    error = submit_copy(line(to, from, bytes), kind, stream, synchronous);
  return rt_leave(error);
}

static cudaError_t from_symbol(const char *call, void *to, const void *symbol, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                               bool synchronous) {
  rt_call(call);
  cudaError_t error = rt_enter();
  void *from;
  if (!error)
    error = inside_symbol(symbol, offset, bytes, &from);
  if (!error)
    error = submit_copy(line(to, from, bytes), kind, stream, synchronous);
  return rt_leave(error);
}

RT_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind) {
  return to_symbol(__func__, symbol, from, bytes, offset, kind, NULL, true);
}

RT_API cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind) {
  return to_symbol(__func__, symbol, from, bytes, offset, kind, cudaStreamPerThread, true);
}

RT_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return to_symbol(__func__, symbol, from, bytes, offset, kind, stream, false);
}

RT_API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                        enum cudaMemcpyKind kind) {
  return from_symbol(__func__, to, symbol, bytes, offset, kind, NULL, true);
}

RT_API cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t bytes,
                                             size_t offset, enum cudaMemcpyKind kind) {
  return from_symbol(__func__, to, symbol, bytes, offset, kind, cudaStreamPerThread, true);
}

RT_API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                             size_t offset, enum cudaMemcpyKind kind,
                                             cudaStream_t stream) {
  return from_symbol(__func__, to, symbol, bytes, offset, kind, stream, false);
}
