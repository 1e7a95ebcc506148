/* SPDX-License-Identifier: MIT */
/* Writes an export as Nsight Systems does, with SQL alone: kernels, CUDA calls, NVTX ranges. */
#include "made_trace.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* %llu: the number of kernels. Numbers that look random are products modulo primes. */
static const char script[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'void step<float, 4>(float*, int)'),(2,'step'),"
    "(3,'_Z4stepIfLi4EEvPfi'),(4,'void gemm<128, 128>(params)'),(5,'gemm'),(6,'_Z4gemm6params'),"
    "(7,'cudaLaunchKernel_v7000'),(8,'forward'),(9,'backward');"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
    " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
    " demangledName INTEGER, shortName INTEGER, mangledName INTEGER, registersPerThread INTEGER,"
    " gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
    " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, gridId INTEGER, graphNodeId "
    "INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
    " globalTid INTEGER, textId INTEGER, domainId INTEGER);"
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %llu - 1)"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 20000 + 9000 + i * 7919 %% 3001,"
    " i * 20000 + 12100 + i * 7919 %% 3001 + i * 104729 %% 6007, 0, 1, 7 + i %% 8 / 7, i + 1,"
    " 72057594037927936 + (6583 << 24), 1 + i * 31 %% 11 %% 2 * 3, 2 + i * 31 %% 11 %% 2 * 3,"
    " 3 + i * 31 %% 11 %% 2 * 3, 40, 1 + i * 611953 %% 509, 1, 1, 128, 1, 1, 0, 4096, i + 1, NULL"
    " FROM n;"
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %llu - 1)"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i * 20000 + 4000, i * 20000 + 6200 + i * 13 %% "
    "900,"
    " 0, 72057594037927936 + (6583 << 24) + 6583, i + 1, 7, 0 FROM n;"
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %llu / 4)"
    "INSERT INTO NVTX_EVENTS SELECT i * 80000, i * 80000 + 78000, 59, NULL,"
    " 72057594037927936 + (6583 << 24) + 6583, 8 + i %% 2, 0 FROM n; COMMIT;";

static int put(const char *path, uint64_t kernels, made_trace *made) {
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  int (*open_v2)(const char *, void **, int, const char *);
  int (*exec)(void *, const char *, void *, void *, char **);
  int (*close_db)(void *);
  static char text[sizeof script + 64];
  struct stat st;
  void *db = NULL;
  if (!library)
    return 2;
  *(void **)&open_v2 = dlsym(library, "sqlite3_open_v2");
  *(void **)&exec = dlsym(library, "sqlite3_exec");
  *(void **)&close_db = dlsym(library, "sqlite3_close");
  unsigned long long n = kernels;
  snprintf(text, sizeof text, script, n, n, n);
  unlink(path);
  int failed = open_v2(path, &db, 2 | 4, NULL) || exec(db, text, NULL, NULL, NULL);
  failed |= close_db(db) || stat(path, &st);
  dlclose(library);
  if (failed)
    return 1;
  *made = (made_trace){(uint64_t)st.st_size, 2 * kernels + kernels / 4, kernels};
  return 0;
}

int made_nsight(const char *path, uint64_t bytes, made_trace *made) {
  const uint64_t some = 5000;
  int failed = put(path, some, made);
  if (failed)
    return failed;
  uint64_t n = bytes / (made->bytes / some);
  return put(path, n > some ? n : some, made);
}
