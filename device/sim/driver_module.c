/* SPDX-License-Identifier: MIT */
/* Modules and libraries of the driver: PTX, fat binaries, and what a stand-in linker made of PTX. A
 * module is loaded in the current context at once. A library is loaded in each context when something
 * of it is first asked for there, as with the driver's lazy loading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "ptx_bundle.h"

#define FATBIN_CONTAINER_MAGIC 0xba55ed50u

struct CUmod_st {
  rt_image image;
  drv_context *context;
  drv_library *library; /* NULL: loaded by itself */
  drv_module *next;     /* of the context */
};

struct CUlib_st {
  char **texts;
  size_t n_texts;
  drv_library *next;
};

static drv_library *libraries;

/* Handles that are alive: CUfunction and CUkernel. A stub's address may be asked for too. */
static struct {
  rt_kernel **handles;
  size_t n, room;
} kernels;

/* ---- texts ---- */

typedef struct text_list {
  char **texts;
  size_t n;
} text_list;

static void free_texts(text_list *list) {
  for (size_t i = 0; i < list->n; i++)
    free(list->texts[i]);
  free(list->texts);
  *list = (text_list){0};
}

static bool add_text(text_list *list, char *text) {
  char **grown = text ? realloc(list->texts, (list->n + 1) * sizeof *grown) : NULL;
  if (!grown) {
    free(text);
    return false;
  }
  list->texts = grown;
  list->texts[list->n++] = text;
  return true;
}

static CUresult texts_of_container(const void *container, text_list *list) {
  char *text;
  const enum fatbin_status status = rt_container_ptx(container, &text);
  if (status == FATBIN_OK)
    return add_text(list, text) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  rt_say("a module: %s", fatbin_status_text(status));
  return status == FATBIN_NO_PTX ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult texts_of_bundle(const char *image, text_list *list) {
  const size_t line = strlen(PTX_BUNDLE_LINE);
  for (const char *at = image + line, *next; at; at = next ? next + line : NULL) {
    next = strstr(at, PTX_BUNDLE_LINE);
    if (!add_text(list, next ? strndup(at, (size_t)(next - at)) : strdup(at)))
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

/* What cuModuleLoadData is handed, by its first bytes. */
static CUresult texts_of(const void *image, text_list *list) {
  uint32_t magic;
  memcpy(&magic, image, sizeof magic);
  if (magic == FATBIN_WRAPPER_MAGIC)
    return texts_of_container(((const fatbin_wrapper *)image)->data, list);
  if (magic == FATBIN_CONTAINER_MAGIC)
    return texts_of_container(image, list);
  if (!strncmp(image, PTX_BUNDLE_LINE, strlen(PTX_BUNDLE_LINE)))
    return texts_of_bundle(image, list);
  if (!memcmp(image, "\177ELF", sizeof magic)) {
    rt_say("a module is machine code (a cubin), which cannot be simulated: compile it to PTX");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return add_text(list, strdup(image)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- loading ---- */

static CUresult error_of(const sim_error *error) {
  rt_say("a module: %s", error->text);
  return error->kind == SIM_NO_MEMORY ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_PTX;
}

/* Takes over the texts, also on failure. */
static CUresult load(drv_context *context, text_list *texts, drv_library *library, drv_module **out) {
  drv_module *made = calloc(1, sizeof *made);
  sim_error error = {0};
  if (!made) {
    free_texts(texts);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  rt_gpu_open(context->gpu);
  made->image.texts = texts->texts;
  made->image.n_texts = texts->n;
  made->image.program = sim_program_parse((const char *const *)texts->texts, texts->n, &error);
  sim_module *loaded =
      made->image.program ? sim_module_load(context->gpu->device, made->image.program, &error) : NULL;
  if (!loaded) {
    if (made->image.program)
      sim_program_free(made->image.program);
    free_texts(texts);
    free(made);
    return error_of(&error);
  }
  made->image.loaded[context->gpu->index].module = loaded;
  made->image.loaded[context->gpu->index].generation = context->gpu->generation;
  made->context = context;
  made->library = library;
  made->next = context->modules;
  context->modules = *out = made;
  return CUDA_SUCCESS;
}

static sim_module *loaded_of(const drv_module *module) {
  return module->image.loaded[module->context->gpu->index].module;
}

static void free_kernels(const drv_module *module, const drv_library *library) {
  for (size_t i = kernels.n; i--;) {
    rt_kernel *kernel = kernels.handles[i];
    if (!(module && kernel->module == module) && !(library && kernel->library == library))
      continue;
    kernels.handles[i] = kernels.handles[--kernels.n];
    free(kernel->name);
    free(kernel);
  }
}

/* Work of it that was never waited for has ended: its code goes away. */
static void unload(drv_module *module) {
  drv_module **link = &module->context->modules;
  while (*link && *link != module)
    link = &(*link)->next;
  if (*link)
    *link = module->next;
  free_kernels(module, NULL);
  rt_gpu *gpu = module->context->gpu;
  if (module->image.loaded[gpu->index].generation == gpu->generation)
    sim_module_unload(loaded_of(module));
  sim_program_free(module->image.program);
  free_texts(&(text_list){module->image.texts, module->image.n_texts});
  free(module);
}

/* What would be done with memory or code that is gone. */
static bool uses_module(const rt_work *work, const void *user) {
  const drv_module *module = user;
  const rt_gpu *gpu = module->context->gpu;
  const bool loaded = module->image.loaded[gpu->index].generation == gpu->generation;
  if (work->kind == RT_KERNEL) {
    const rt_kernel *kernel = work->u.launch.kernel;
    return kernel->module == module || (module->library && kernel->library == module->library);
  }
  if (work->kind == RT_COPY)
    return loaded && (sim_module_owns(loaded_of(module), work->u.copy.to) ||
                      sim_module_owns(loaded_of(module), work->u.copy.from));
  return work->kind == RT_FILL && loaded && sim_module_owns(loaded_of(module), work->u.fill.to);
}

void drv_modules_clear(drv_context *context) {
  while (context->modules)
    unload(context->modules);
}

static bool is_module(const drv_module *module) {
  for (drv_context *context = NULL; (context = drv_context_next(context));)
    for (const drv_module *at = context->modules; at; at = at->next)
      if (at == module)
        return true;
  return false;
}

static CUresult load_module(CUmodule *out, const void *image) {
  CUresult result = drv_ready_here();
  if (!result && (!out || !image))
    result = CUDA_ERROR_INVALID_VALUE;
  if (result)
    return result;
  text_list texts = {0};
  rt_lock();
  result = texts_of(image, &texts);
  if (result)
    free_texts(&texts);
  else
    result = load(drv_context_here(), &texts, NULL, out);
  rt_unlock();
  return result;
}

DRV_API cuModuleLoadData(CUmodule *module, const void *image) { DRV_TOLD(module, image, load_module(module, image)); }

DRV_API cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                           void **values) {
  (void)count, (void)options, (void)values;
  DRV_TOLD(module, image, load_module(module, image));
}

DRV_API cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  DRV_TOLD(module, image, load_module(module, image));
}

/* The file's bytes and a NUL; the caller frees them. */
static CUresult read_file(const char *path, char **bytes) {
  FILE *file = path ? fopen(path, "rb") : NULL;
  if (!file)
    return CUDA_ERROR_FILE_NOT_FOUND;
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  char *all = size < 0 ? NULL : malloc((size_t)size + 8);
  rewind(file);
  const bool whole = all && fread(all, 1, (size_t)size, file) == (size_t)size;
  fclose(file);
  if (!whole) {
    free(all);
    return CUDA_ERROR_FILE_NOT_FOUND;
  }
  memset(all + size, 0, 8);
  *bytes = all;
  return CUDA_SUCCESS;
}

static CUresult load_file(CUmodule *module, const char *path) {
  char *bytes;
  CUresult result = read_file(path, &bytes);
  if (result)
    return result;
  result = load_module(module, bytes);
  free(bytes);
  return result;
}

DRV_API cuModuleLoad(CUmodule *module, const char *path) { DRV_TOLD(module, path, load_file(module, path)); }

static CUresult unload_module(CUmodule module) {
  CUresult result = drv_ready_here();
  if (result)
    return result;
  rt_lock();
  if (!is_module(module) || module->library) {
    result = CUDA_ERROR_INVALID_HANDLE;
  } else {
    rt_wait_some(module->context->gpu, uses_module, module);
    unload(module);
  }
  rt_unlock();
  return result;
}

DRV_API cuModuleUnload(CUmodule module) { DRV_TOLD(module, NULL, unload_module(module)); }

DRV_API cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

/* ---- libraries ---- */

static bool is_library(const drv_library *library) {
  for (const drv_library *at = libraries; at; at = at->next)
    if (at == library)
      return true;
  return false;
}

static CUresult module_here(drv_library *library, drv_module **out) {
  drv_context *context = drv_context_here();
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  for (drv_module *at = context->modules; at; at = at->next)
    if (at->library == library) {
      *out = at;
      return CUDA_SUCCESS;
    }
  text_list copy = {0};
  for (size_t i = 0; i < library->n_texts; i++)
    if (!add_text(&copy, strdup(library->texts[i]))) {
      free_texts(&copy);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  return load(context, &copy, library, out);
}

static CUresult load_library(CUlibrary *out, const void *image) {
  CUresult result = drv_ready();
  if (!result && (!out || !image))
    result = CUDA_ERROR_INVALID_VALUE;
  if (result)
    return result;
  drv_library *made = calloc(1, sizeof *made);
  text_list texts = {0};
  rt_lock();
  result = made ? texts_of(image, &texts) : CUDA_ERROR_OUT_OF_MEMORY;
  if (result) {
    free_texts(&texts);
    free(made);
  } else {
    *made = (drv_library){texts.texts, texts.n, libraries};
    libraries = *out = made;
  }
  rt_unlock();
  return result;
}

DRV_API cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *jit_options, void **jit_values,
                          unsigned jit_count, CUlibraryOption *options, void **values, unsigned count) {
  (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
  DRV_TOLD(out, image, load_library(out, image));
}

static CUresult load_library_file(CUlibrary *library, const char *path) {
  char *bytes;
  CUresult result = read_file(path, &bytes);
  if (result)
    return result;
  result = load_library(library, bytes);
  free(bytes);
  return result;
}

DRV_API cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit_options,
                              void **jit_values, unsigned jit_count, CUlibraryOption *options,
                              void **values, unsigned count) {
  (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
  DRV_TOLD(library, path, load_library_file(library, path));
}

static void unload_from(drv_context *context, const drv_library *library) {
  for (drv_module *at = context->modules, *next; at; at = next) {
    next = at->next;
    if (at->library != library)
      continue;
    rt_wait_some(context->gpu, uses_module, at);
    unload(at);
  }
}

static CUresult unload_library(CUlibrary library) {
  CUresult result = drv_ready();
  if (result)
    return result;
  rt_lock();
  drv_library **link = &libraries;
  while (*link && *link != library)
    link = &(*link)->next;
  if (!*link) {
    result = CUDA_ERROR_INVALID_HANDLE;
  } else {
    for (drv_context *at = NULL; (at = drv_context_next(at));)
      unload_from(at, library);
    free_kernels(NULL, library);
    *link = library->next;
    free_texts(&(text_list){library->texts, library->n_texts});
    free(library);
  }
  rt_unlock();
  return result;
}

DRV_API cuLibraryUnload(CUlibrary library) { DRV_TOLD(library, NULL, unload_library(library)); }

DRV_API cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  CUresult result = drv_ready_here();
  if (result)
    return result;
  rt_lock();
  result = is_library(library) ? module_here(library, module) : CUDA_ERROR_INVALID_HANDLE;
  rt_unlock();
  return result;
}

/* ---- kernels ---- */

static rt_kernel *kernel_new(const char *name, rt_image *image, drv_module *module, drv_library *library) {
  for (size_t i = 0; i < kernels.n; i++) {
    rt_kernel *at = kernels.handles[i];
    if (at->module == module && at->library == library && !strcmp(at->name, name))
      return at;
  }
  if (kernels.n == kernels.room) {
    const size_t room = kernels.room ? kernels.room * 2 : 64;
    rt_kernel **grown = realloc(kernels.handles, room * sizeof *grown);
    if (!grown)
      return NULL;
    kernels.handles = grown;
    kernels.room = room;
  }
  rt_kernel *made = calloc(1, sizeof *made);
  if (!made || !(made->name = strdup(name))) {
    free(made);
    return NULL;
  }
  made->image = image;
  made->module = module;
  made->library = library;
  made->max_dynamic_shared_bytes = -1;
  return kernels.handles[kernels.n++] = made;
}

static rt_kernel *function_of(drv_module *module, const char *name) {
  return sim_module_kernel(loaded_of(module), name) ? kernel_new(name, &module->image, module, NULL) : NULL;
}

rt_kernel *drv_kernel_here(const void *handle) {
  rt_kernel *found = NULL;
  for (size_t i = 0; i < kernels.n && !found; i++)
    if (kernels.handles[i] == handle)
      found = kernels.handles[i];
  drv_module *module;
  if (!found || !found->library)
    return found;
  if (module_here(found->library, &module))
    return NULL;
  rt_kernel *here = function_of(module, found->name);
  if (here && here->max_dynamic_shared_bytes < 0)
    here->max_dynamic_shared_bytes = found->max_dynamic_shared_bytes;
  return here;
}

DRV_API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  CUresult result = drv_ready_here();
  if (!result && (!function || !name))
    result = CUDA_ERROR_INVALID_VALUE;
  if (result)
    return result;
  rt_lock();
  rt_kernel *found = is_module(module) ? function_of(module, name) : NULL;
  result = found ? CUDA_SUCCESS : is_module(module) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
  if (found)
    *function = (CUfunction)(void *)found;
  rt_unlock();
  return result;
}

DRV_API cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  CUresult result = drv_ready_here();
  if (!result && (!kernel || !name))
    result = CUDA_ERROR_INVALID_VALUE;
  if (result)
    return result;
  drv_module *module;
  rt_lock();
  result = is_library(library) ? module_here(library, &module) : CUDA_ERROR_INVALID_HANDLE;
  if (!result && !sim_module_kernel(loaded_of(module), name))
    result = CUDA_ERROR_NOT_FOUND;
  if (!result)
    *kernel = kernel_new(name, NULL, NULL, library);
  rt_unlock();
  return result;
}

DRV_API cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  CUresult result = drv_ready_here();
  if (result)
    return result;
  rt_lock();
  rt_kernel *found = drv_kernel_here(kernel);
  if (found)
    *function = (CUfunction)(void *)found;
  else
    result = CUDA_ERROR_INVALID_HANDLE;
  rt_unlock();
  return result;
}

static CUresult name_of(const char **name, const void *handle) {
  CUresult result = CUDA_ERROR_INVALID_HANDLE;
  rt_lock();
  for (size_t i = 0; i < kernels.n; i++)
    if (kernels.handles[i] == handle) {
      *name = kernels.handles[i]->name;
      result = CUDA_SUCCESS;
    }
  rt_unlock();
  return result;
}

DRV_API cuFuncGetName(const char **name, CUfunction function) { return name_of(name, function); }
DRV_API cuKernelGetName(const char **name, CUkernel kernel) { return name_of(name, kernel); }

DRV_API cuFuncGetModule(CUmodule *module, CUfunction function) {
  CUresult result = drv_ready_here();
  if (result)
    return result;
  rt_lock();
  const rt_kernel *found = drv_kernel_here(function);
  if (found)
    *module = found->module;
  else
    result = CUDA_ERROR_INVALID_HANDLE;
  rt_unlock();
  return result;
}

DRV_API cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
  CUresult result = CUDA_ERROR_INVALID_HANDLE;
  rt_lock();
  for (size_t i = 0; i < kernels.n; i++)
    if (kernels.handles[i] == kernel && kernel->library) {
      *library = kernel->library;
      result = CUDA_SUCCESS;
    }
  rt_unlock();
  return result;
}

/* ---- variables ---- */

static CUresult global_of(CUdeviceptr *address, size_t *bytes, const drv_module *module, const char *name) {
  size_t found_bytes;
  void *found = sim_module_symbol(loaded_of(module), name, &found_bytes);
  if (!found)
    return CUDA_ERROR_NOT_FOUND;
  if (address)
    *address = (CUdeviceptr)found;
  if (bytes)
    *bytes = found_bytes;
  return CUDA_SUCCESS;
}

DRV_API cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  CUresult result = drv_ready_here();
  if (!result && !name)
    result = CUDA_ERROR_INVALID_VALUE;
  if (result)
    return result;
  rt_lock();
  result = is_module(module) ? global_of(address, bytes, module, name) : CUDA_ERROR_INVALID_HANDLE;
  rt_unlock();
  return result;
}

DRV_API cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
  CUresult result = drv_ready_here();
  if (!result && !name)
    result = CUDA_ERROR_INVALID_VALUE;
  if (result)
    return result;
  drv_module *module;
  rt_lock();
  result = is_library(library) ? module_here(library, &module) : CUDA_ERROR_INVALID_HANDLE;
  if (!result)
    result = global_of(address, bytes, module, name);
  rt_unlock();
  return result;
}

DRV_API cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
  return cuLibraryGetGlobal(address, bytes, library, name);
}
