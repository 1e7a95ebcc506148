/* SPDX-License-Identifier: MIT */
/* What a marked file hands to libinkmark at start-up: its buffer symbol's setter, its section
 * tables, and the entry points of the CUDA runtime that the program itself is linked with, so that
 * libinkmark links none. C11 and C++. */
#ifndef INKMARK_MODULE_H
#define INKMARK_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INK_MODULE_ABI 1u

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
} ink_cuda_api;

/* One file's buffer symbol. set_buffer copies the pointer into the symbol on the current device. */
typedef struct ink_module_desc {
  uint32_t abi; /* INK_MODULE_ABI */
  uint32_t bytes;
  const char *file;
  int (*set_buffer)(void *device_buffer);
  /* Launches one thread on `stream` of the current device that stores globaltimer in *device_ns. */
  int (*read_globaltimer)(uint64_t *device_ns, void *stream);
  const ink_cuda_api *cuda;
} ink_module_desc;

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
