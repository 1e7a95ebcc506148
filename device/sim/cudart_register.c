/* SPDX-License-Identifier: MIT */
/* What nvcc's start-up code calls: fat binaries, kernels and variables are registered here, and
 * turned into programs and modules at their first use. With -rdc=true the registered fat binary
 * lists the containers of the linked objects; their relocatable PTX is linked by the machine. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

typedef struct variable {
  const void *host;
  char *name;
  rt_image *image;
  struct variable *next;
} variable;

/* Host code reads a managed variable through the pointer at `host`, which __cudaInitModule sets
 * before it does. */
typedef struct managed {
  void **host;
  rt_image *image;
  const char *name;
  struct managed *next;
} managed;
static struct {
  rt_image *images;
  rt_kernel *kernels;
  variable *variables;
  managed *managed;
} registered;

/* The device-side runtime that nvcc links into every -rdc=true program: only dynamic parallelism
 * calls it, and that is not simulated. */
#define DEVICE_RUNTIME_MARK "_cuda_device_runtime_cu_"

/* ---- images ---- */

static void add_text(rt_image *image, char *text) {
  char **grown = realloc(image->texts, (image->n_texts + 1) * sizeof *grown);
  if (!grown)
    rt_refuse("out of memory");
  image->texts = grown;
  image->texts[image->n_texts++] = text;
}

enum fatbin_status rt_container_ptx(const void *container, char **text) {
  return fatbin_find_ptx(container, SIZE_MAX, rt_capability(), text, NULL);
}

static void add_container(rt_image *image, const void *container) {
  char *text;
  const enum fatbin_status status = rt_container_ptx(container, &text);
  if (status == FATBIN_NO_PTX) {
    image->lacks_ptx = true;
    return;
  }
  if (status)
    rt_refuse("%s", fatbin_status_text(status));
  if (strstr(text, DEVICE_RUNTIME_MARK))
    free(text);
  else
    add_text(image, text);
}

static void parse(rt_image *image) {
  const fatbin_wrapper *wrapper = image->wrapper;
  if (wrapper->magic != FATBIN_WRAPPER_MAGIC)
    rt_refuse("%s", fatbin_status_text(FATBIN_BAD));
  if (wrapper->version == 2) {
    for (const void *const *at = wrapper->more; at && *at; at++)
      add_container(image, *at);
  } else if (wrapper->version == 1) {
    add_container(image, wrapper->data);
  } else {
    rt_refuse("a fat binary of version %u is not simulated", wrapper->version);
  }
  if (!image->n_texts)
    rt_refuse("%s", fatbin_status_text(FATBIN_NO_PTX));

  sim_error error = {0};
  image->program = sim_program_parse((const char *const *)image->texts, image->n_texts, &error);
  if (!image->program) {
    if (image->lacks_ptx)
      rt_refuse("%s (and %s)", error.text, fatbin_status_text(FATBIN_NO_PTX));
    rt_refuse("%s", error.text);
  }
}

sim_module *rt_image_load(rt_image *image, rt_gpu *gpu) {
  const int index = gpu->index;
  if (image->loaded[index].module && image->loaded[index].generation == gpu->generation)
    return image->loaded[index].module;
  if (!image->program)
    parse(image);
  if (image->has_managed)
    for (int i = 0; i < RT_MAX_DEVICES; i++)
      if (i != index && image->loaded[i].module)
        rt_refuse("__managed__ variables used on two devices are not simulated");
  sim_error error = {0};
  sim_module *module = sim_module_load(gpu->device, image->program, &error);
  if (!module)
    rt_refuse("%s", error.text);
  image->loaded[index].module = module;
  image->loaded[index].generation = gpu->generation;
  return module;
}

RT_API void **__cudaRegisterFatBinary(void *wrapper) {
  rt_image *image = calloc(1, sizeof *image);
  if (!image)
    rt_refuse("out of memory");
  image->wrapper = wrapper;
  rt_lock();
  image->next = registered.images;
  registered.images = image;
  rt_unlock();
  return (void **)image;
}

RT_API void __cudaRegisterFatBinaryEnd(void **handle) {
  (void)handle;
}

static void unload(rt_image *image) {
  for (int i = 0; i < RT_MAX_DEVICES; i++) {
    rt_gpu *gpu = &rt.gpus[i];
    if (image->loaded[i].module && image->loaded[i].generation == gpu->generation)
      sim_module_unload(image->loaded[i].module);
  }
  if (image->program)
    sim_program_free(image->program);
  for (size_t i = 0; i < image->n_texts; i++)
    free(image->texts[i]);
  free(image->texts);
  free(image);
}

/* Called from exit handlers and when a library is unloaded (dlclose). Work that was never waited
 * for is dropped where it is a launch from this image: its code is going away. */
RT_API void __cudaUnregisterFatBinary(void **handle) {
  rt_image *image = (rt_image *)handle;
  rt_lock();
  for (int i = 0; i < RT_MAX_DEVICES; i++)
    if (image->loaded[i].module)
      rt_cancel_gpu(&rt.gpus[i]);
  rt_image **link = &registered.images;
  while (*link && *link != image)
    link = &(*link)->next;
  if (*link)
    *link = image->next;
  for (rt_kernel **at = &registered.kernels; *at;) {
    rt_kernel *kernel = *at;
    if (kernel->image != image) {
      at = &kernel->next;
      continue;
    }
    *at = kernel->next;
    free(kernel->name);
    free(kernel);
  }
  for (variable **at = &registered.variables; *at;) {
    variable *var = *at;
    if (var->image != image) {
      at = &var->next;
      continue;
    }
    *at = var->next;
    free(var->name);
    free(var);
  }
  for (managed **at = &registered.managed; *at;) {
    managed *one = *at;
    if (one->image != image) {
      at = &one->next;
      continue;
    }
    *at = one->next;
    free(one);
  }
  unload(image);
  rt_unlock();
}

/* ---- kernels ---- */

RT_API void __cudaRegisterFunction(void **handle, const char *host, char *device_function,
                                   const char *name, int thread_limit, uint3 *thread, uint3 *block,
                                   dim3 *block_dim, dim3 *grid_dim, int *warp_size) {
  (void)device_function, (void)thread_limit, (void)thread, (void)block;
  (void)block_dim, (void)grid_dim, (void)warp_size;
  rt_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel || !(kernel->name = strdup(name)))
    rt_refuse("out of memory");
  kernel->host = host;
  kernel->image = (rt_image *)handle;
  kernel->max_dynamic_shared_bytes = -1;
  rt_lock();
  kernel->next = registered.kernels;
  registered.kernels = kernel;
  rt_unlock();
}

rt_kernel *rt_kernel_find(const void *host) {
  for (rt_kernel *kernel = registered.kernels; kernel; kernel = kernel->next)
    if (kernel->host == host || (const void *)kernel == host)
      return kernel;
  return drv_kernel_here(host);
}

sim_kernel *rt_kernel_on(rt_kernel *kernel, rt_gpu *gpu) {
  sim_kernel *found = sim_module_kernel(rt_image_load(kernel->image, gpu), kernel->name);
  if (!found && kernel->image->lacks_ptx)
    rt_refuse("%s", fatbin_status_text(FATBIN_NO_PTX));
  return found;
}

RT_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
  rt_lock();
  rt_kernel *found = rt_kernel_find(host);
  rt_unlock();
  if (!found)
    return cudaErrorInvalidDeviceFunction;
  *kernel = found;
  return cudaSuccess;
}

RT_API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host) {
  return __cudaGetKernel(kernel, host);
}

RT_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *host) {
  cudaKernel_t kernel;
  const cudaError_t error = __cudaGetKernel(&kernel, host);
  if (!error)
    *function = (cudaFunction_t)(void *)kernel;
  return error;
}

RT_API cudaError_t cudaFuncGetName(const char **name, const void *host) {
  rt_lock();
  const rt_kernel *kernel = rt_kernel_find(host);
  rt_unlock();
  if (!kernel)
    return cudaErrorInvalidDeviceFunction;
  *name = kernel->name;
  return cudaSuccess;
}

/* ---- variables ---- */

static void register_variable(void **handle, const void *host, const char *name) {
  variable *var = calloc(1, sizeof *var);
  if (!var || !(var->name = strdup(name)))
    rt_refuse("out of memory");
  var->host = host;
  var->image = (rt_image *)handle;
  rt_lock();
  var->next = registered.variables;
  registered.variables = var;
  rt_unlock();
}

RT_API void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name,
                              int is_extern, size_t bytes, int is_constant, int is_global) {
  (void)device_address, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
  register_variable(handle, host, name);
}

RT_API void __cudaRegisterManagedVar(void **handle, void **host, char *device_address,
                                     const char *name, int is_extern, size_t bytes, int is_constant,
                                     int is_global) {
  (void)device_address, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
  register_variable(handle, host, name);
  managed *one = calloc(1, sizeof *one);
  if (!one)
    rt_refuse("out of memory");
  one->host = host;
  one->image = (rt_image *)handle;
  one->name = registered.variables->name;
  rt_lock();
  one->image->has_managed = true;
  one->next = registered.managed;
  registered.managed = one;
  rt_unlock();
}

RT_API char __cudaInitModule(void **handle) {
  rt_image *image = (rt_image *)handle;
  if (!image->has_managed)
    return 0;
  const cudaError_t sticky = rt_enter();
  rt_gpu *gpu = rt_current();
  for (managed *one = registered.managed; one && !sticky; one = one->next) {
    if (one->image != image)
      continue;
    size_t bytes;
    *one->host = sim_module_symbol(rt_image_load(image, gpu), one->name, &bytes);
  }
  rt_leave(cudaSuccess);
  return 0;
}

void *rt_variable_on(const void *host, rt_gpu *gpu, size_t *bytes) {
  for (variable *var = registered.variables; var; var = var->next) {
    if (var->host != host)
      continue;
    void *address = sim_module_symbol(rt_image_load(var->image, gpu), var->name, bytes);
    if (!address && var->image->lacks_ptx)
      rt_refuse("%s", fatbin_status_text(FATBIN_NO_PTX));
    return address;
  }
  return NULL;
}
