// SPDX-License-Identifier: MIT
// Launch i of 13 has i + 1 blocks. ranges HOW: the NVTX range "here" around launches 5 to 7, in each way in which NVTX has
// ranges, and others of other names around it; "steps": one around each launch.
#include <inkmark/mark.cuh>
#include <nvtx3/nvToolsExt.h>
#include <string.h>

PROF_SECTIONS(Ranges, Kern, A)

__global__ void k(float *d, int n) {
  PROF_KERNEL(Kern);
  float x = threadIdx.x;
  for (int i = 0; i < n; i++)
    x = x * 0.5f + 1;
  PROF_MARK(A, x);
  d[threadIdx.x] = x;
}

static nvtxDomainHandle_t domain;
static nvtxRangeId_t id;

static nvtxEventAttributes_t named(const char *name, bool registered) {
  nvtxEventAttributes_t a = {};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = registered ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
  if (registered)
    a.message.registered = nvtxDomainRegisterStringA(domain, name);
  else
    a.message.ascii = name;
  return a;
}

static void begin(const char *how) {
  if (!strcmp(how, "push"))
    nvtxRangePushA("here");
  else if (!strcmp(how, "wide"))
    nvtxRangePushW(L"here");
  else if (!strcmp(how, "start"))
    id = nvtxRangeStartA("here");
  else if (!strcmp(how, "nested"))
    nvtxRangePushA("here"), nvtxRangePushA("there"), nvtxRangePushA("here"), nvtxRangePop();
  else {
    nvtxEventAttributes_t a = named("here", !strcmp(how, "registered"));
    if (!strcmp(how, "domain-start"))
      id = nvtxDomainRangeStartEx(domain, &a);
    else
      nvtxDomainRangePushEx(domain, &a), nvtxRangePushA("other"), nvtxRangePop();
  }
}

static void end(const char *how) {
  if (!strcmp(how, "start"))
    nvtxRangeEnd(id);
  else if (!strcmp(how, "domain-start"))
    nvtxDomainRangeEnd(domain, id);
  else if (!strcmp(how, "nested"))
    nvtxRangePop(), nvtxRangePop();
  else if (!strcmp(how, "push") || !strcmp(how, "wide"))
    nvtxRangePop();
  else
    nvtxDomainRangePop(domain);
}

int main(int argc, char **argv) {
  const char *how = argv[1];
  float *d;
  if (argc < 2 || cudaMalloc(&d, 4096))
    return 1;
  domain = nvtxDomainCreateA("solver");
  nvtxRangePushA("whole");
  for (int i = 0; i < 13; i++) {
    if (!strcmp(how, "steps"))
      nvtxRangePushA("here");
    else if (i == 5)
      begin(how);
    k<<<i + 1, 32>>>(d, 2000);
    if (!strcmp(how, "steps"))
      nvtxRangePop();
    else if (i == 7)
      end(how);
  }
  if (nvtxRangePushA("last") != 1 || nvtxRangePop() != 1 || nvtxRangePop() != 0) // levels, as with any tool
    return 3;
  return cudaDeviceSynchronize();
}
