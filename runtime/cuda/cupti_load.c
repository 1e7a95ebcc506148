/* SPDX-License-Identifier: MIT */
/* Finds and loads CUPTI, and words what it refuses. */
#include "cuda/cupti_api.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct entry {
  const char *name;
  void *at;
} entry;

/* dlsym's object pointer becomes a function pointer, as POSIX says. */
static bool find_all(void *library, const entry *entries, size_t n) {
  for (size_t i = 0; i < n; i++) {
    void *symbol = dlsym(library, entries[i].name);
    if (!symbol)
      return false;
    memcpy(entries[i].at, &symbol, sizeof symbol);
  }
  return true;
}

static bool find_entries(ink_i_cupti *c) {
  const entry entries[] = {
      {"cuptiGetVersion", &c->get_version},
      {"cuptiGetResultString", &c->result_string},
      {"cuptiSubscribe", &c->subscribe},
      {"cuptiUnsubscribe", &c->unsubscribe},
      {"cuptiEnableCallback", &c->enable_callback},
      {"cuptiActivityEnable", &c->enable},
      {"cuptiActivityDisable", &c->disable},
      {"cuptiActivityRegisterCallbacks", &c->register_buffers},
      {"cuptiActivityGetNextRecord", &c->next_record},
      {"cuptiActivityGetNumDroppedRecords", &c->dropped_records},
      {"cuptiActivityFlushAll", &c->flush_all},
      {"cuptiGetTimestamp", &c->timestamp},
      {"cuptiSetThreadIdType", &c->set_thread_id_type},
      {"cuptiGetCallbackName", &c->callback_name},
      {"cuptiActivityPushExternalCorrelationId", &c->push_external},
      {"cuptiActivityPopExternalCorrelationId", &c->pop_external},
  };
  if (!find_all(c->library, entries, sizeof entries / sizeof *entries))
    return false;
  *(void **)&c->subscribe_v2 = dlsym(c->library, "cuptiSubscribe_v2");
  return true;
}

bool ink_i_cupti_find_sampling(ink_i_cupti *c) {
  const entry entries[] = {
      {"cuptiPCSamplingEnable", &c->sampling_enable},
      {"cuptiPCSamplingDisable", &c->sampling_disable},
      {"cuptiPCSamplingSetConfigurationAttribute", &c->sampling_configure},
      {"cuptiPCSamplingGetConfigurationAttribute", &c->sampling_configuration},
      {"cuptiPCSamplingGetData", &c->sampling_data},
      {"cuptiPCSamplingGetNumStallReasons", &c->reason_count},
      {"cuptiPCSamplingGetStallReasons", &c->reason_names},
      {"cuptiGetCubinCrc", &c->checksum},
  };
  *(void **)&c->register_checksum = dlsym(c->library, "cuptiRegisterComputeCrcCallback");
  return find_all(c->library, entries, sizeof entries / sizeof *entries);
}

static bool open_library(ink_i_cupti *c, const char *path, int flags) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
  if (!library)
    return false;
  c->library = library;
  if (find_entries(c))
    return true;
  c->library = NULL;
  dlclose(library);
  return false;
}

/* The newest of what the pattern finds. */
static bool open_pattern(ink_i_cupti *c, const char *pattern) {
  glob_t found = {0};
  bool fine = false;
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = found.gl_pathc; i-- > 0 && !fine;)
      fine = open_library(c, found.gl_pathv[i], 0);
  globfree(&found);
  return fine;
}

/* Where a toolkit at `root` has it. */
static bool open_in_toolkit(ink_i_cupti *c, const char *root, int major) {
  static const char *const folders[] = {"extras/CUPTI/lib64", "lib64", "lib",
                                        "targets/*-linux/lib"};
  char pattern[1024];
  for (size_t i = 0; root && *root && i < sizeof folders / sizeof *folders; i++) {
    snprintf(pattern, sizeof pattern, "%s/%s/libcupti.so.%d", root, folders[i], major);
    if (open_pattern(c, pattern))
      return true;
  }
  return false;
}

static bool open_major(ink_i_cupti *c, int major) {
  char name[64];
  snprintf(name, sizeof name, "libcupti.so.%d", major);
  if (open_library(c, name, 0))
    return true;
  char versioned[64];
  snprintf(versioned, sizeof versioned, "/usr/local/cuda-%d*", major);
  glob_t found = {0};
  bool fine = open_in_toolkit(c, secure_getenv("CUDA_HOME"), major) ||
              open_in_toolkit(c, secure_getenv("CUDA_PATH"), major) ||
              open_in_toolkit(c, "/usr/local/cuda", major);
  if (!fine && !glob(versioned, 0, NULL, &found))
    for (size_t i = found.gl_pathc; i-- > 0 && !fine;)
      fine = open_in_toolkit(c, found.gl_pathv[i], major);
  globfree(&found);
  return fine;
}

static bool open_any(ink_i_cupti *c, int major) {
  const char *chosen = secure_getenv("INKMARK_CUPTI");
  if (chosen && *chosen)
    return open_library(c, chosen, 0);
  const int order[] = {major == 12 ? 12 : 13, major == 12 ? 13 : 12};
  /* what the process has loaded, a Python package's for example, is what its own profiler would
   * use: two of them would not know of each other */
  if (open_library(c, "libcupti.so.13", RTLD_NOLOAD) ||
      open_library(c, "libcupti.so.12", RTLD_NOLOAD))
    return true;
  for (size_t i = 0; i < 2; i++)
    if (open_major(c, order[i]))
      return true;
  return false;
}

/* 13 for a driver of CUDA 13: a newer CUPTI than the driver's is refused. 0: not known. */
int ink_i_cupti_major(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  int (*get_version)(int *) = NULL, version = 0;
  if (driver)
    *(void **)&get_version = dlsym(driver, "cuDriverGetVersion");
  if (get_version && get_version(&version))
    version = 0;
  if (driver)
    dlclose(driver);
  return version / 1000;
}

bool ink_i_cupti_load(ink_i_cupti *c, int major, char *why, size_t why_bytes) {
  Dl_info info;
  *c = (ink_i_cupti){.library = NULL};
  if (!open_any(c, major)) {
    const char *chosen = secure_getenv("INKMARK_CUPTI");
    if (chosen && *chosen)
      snprintf(why, why_bytes, "CUPTI cannot be loaded from INKMARK_CUPTI='%.300s'%s", chosen,
               access(chosen, F_OK) ? ": no such file; the simulated device has one where CUPTI's "
                                      "headers were there to build with"
                                    : "");
    else
      snprintf(why, why_bytes,
               "no libcupti.so.13 or .12 is found (a CUDA toolkit has it in extras/CUPTI/lib64; "
               "INKMARK_CUPTI names one)");
    return false;
  }
  if (dladdr(*(void **)&c->get_version, &info) && info.dli_fname)
    snprintf(c->path, sizeof c->path, "%s", info.dli_fname);
  c->simulated = dlsym(c->library, "inkmark_sim_cupti") != NULL;
  const int result = c->get_version(&c->version);
  if (result != CUPTI_OK) { /* that of 13.4 without a driver */
    ink_i_cupti_explain(c, result, why, why_bytes);
    return false;
  }
  if (c->version < CUPTI_VERSION_12_0) {
    snprintf(why, why_bytes, "'%.300s' is older than CUDA 12 (CUPTI API version %u)", c->path,
             c->version);
    return false;
  }
  return true;
}

void ink_i_cupti_explain(const ink_i_cupti *c, int result, char *text, size_t bytes) {
  const char *name = NULL;
  if (c->result_string(result, &name) || !name)
    name = "an unknown error";
  const char *hint =
      result == CUPTI_MULTIPLE_SUBSCRIBERS
          ? ": another profiler is attached to this process (Nsight Systems, Nsight Compute, a "
            "PyTorch profiler)"
      : result == CUPTI_INSUFFICIENT_PRIVILEGES
          ? ": the driver lets only administrators profile (the module option "
            "NVreg_RestrictProfilingToAdminUsers=0 lifts that)"
      : !c->simulated && access("/dev/nvidiactl", F_OK) && access("/dev/dxg", F_OK)
          ? ": there is no NVIDIA driver on this machine"
          : "";
  snprintf(text, bytes, "CUPTI refuses (%s, %d)%s", name, result, hint);
}

/* ---- callbacks ---- */

static void (*_Atomic takers[CUPTI_DOMAIN_RESOURCE + 1])(uint32_t id, const void *data);

void ink_i_cupti_take(int domain, void (*taker)(uint32_t id, const void *data)) { takers[domain] = taker; }

void ink_i_cupti_called(void *user, int domain, uint32_t id, const void *data) {
  void (*taker)(uint32_t, const void *) = domain >= 0 && domain <= CUPTI_DOMAIN_RESOURCE ? takers[domain] : NULL;
  (void)user;
  if (taker)
    taker(id, data);
}
