// SPDX-License-Identifier: MIT
// host HOW: launches of 1, 2, 3, ... blocks in ranges of the host that HOW says: c, cpp, scopes, threads, hostile, fork,
// kill, hang, graph, flood.
#include <inkmark/mark.cuh>
#include <inkmark/scope.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

PROF_SECTIONS(Host, Kern, A)

__global__ void marked(float *d) {
  PROF_KERNEL(Kern);
  d[threadIdx.x] = threadIdx.x;
  PROF_MARK(A);
}

__global__ void unmarked(float *d) { d[threadIdx.x] = 1; }

static float *d;

static void launch(int blocks) { marked<<<blocks, 32>>>(d); }

static nvtxEventAttributes_t event(const char *name, uint32_t color, uint32_t category) {
  nvtxEventAttributes_t a = {};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.category = category;
  a.colorType = color ? NVTX_COLOR_ARGB : NVTX_COLOR_UNKNOWN;
  a.color = color;
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = name;
  return a;
}

static void by_c() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
  nvtxDomainNameCategoryA(domain, 7, "io");
  nvtxRangePushA("step");
  launch(1);
  nvtxEventAttributes_t a = event("solve", 0xff112233, 7);
  a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  memset(&a.payload, 0xff, sizeof a.payload); // as a program's stack may be
  a.payload.iValue = -5;
  nvtxDomainRangePushEx(domain, &a);
  launch(2);
  a.message.registered = nvtxDomainRegisterStringW(domain, L"gr\u00f6\u00dfer"); // not ASCII
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  a.payload.dValue = 0.5;
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(domain, &a);
  nvtxRangePop(); // of the other domain
  launch(3);
  nvtxDomainRangePop(domain);
  nvtxDomainRangeEnd(domain, id);
  a = event("checkpoint", 0, 0);
  a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  a.payload.ullValue = UINT64_MAX;
  nvtxMarkEx(&a);
  nvtxNameOsThreadA((uint32_t)getpid(), "main thread");
  launch(4);
}

struct solver_domain {
  static constexpr char const *name{"cpp solver"};
};
struct io_category {
  static constexpr char const *name{"cpp io"};
  static constexpr uint32_t id{13};
};

static void by_cpp() {
  nvtx3::scoped_range whole{"whole"};
  launch(1);
  {
    nvtx3::scoped_range_in<solver_domain> r{nvtx3::event_attributes{"inner", nvtx3::rgb{1, 2, 3}, nvtx3::payload{int64_t{-9}},
                                                                     nvtx3::named_category_in<solver_domain>::get<io_category>()}};
    launch(2);
  }
  nvtx3::mark_in<solver_domain>("done");
  launch(3);
}

static void by_scopes() {
  ink_scope_begin("outer");
  launch(1);
  ink_scope_begin("inner");
  launch(2);
  unmarked<<<3, 32>>>(d);
  ink_scope_end();
  ink_scope_end();
  ink_scope_end(); // one too many
  launch(3);
}

static nvtxRangeId_t handed;
static void *work(void *user) {
  const int blocks = *(int *)user;
  char name[32];
  snprintf(name, sizeof name, "worker %d", blocks);
  nvtxRangePushA(name);
  launch(blocks);
  if (blocks == 2)
    nvtxRangeEnd(handed);
  nvtxRangePop();
  return NULL;
}

static void by_threads() {
  pthread_t thread;
  nvtxRangePushA("main");
  handed = nvtxRangeStartA("handed over");
  for (int blocks = 1; blocks <= 3; blocks++) {
    pthread_create(&thread, NULL, work, &blocks);
    pthread_join(thread, NULL);
  }
  nvtxRangePop();
  launch(4);
}

static void hostile() {
  static char huge[100000];
  memset(huge, 'x', sizeof huge - 1);
  nvtxRangePop(); // of nothing
  nvtxRangeEnd(12345);
  nvtxRangePushA("\x1b[31m\"red\"\n<script>alert(1)</script>,\xff");
  nvtxRangePushA(huge);
  nvtxRangePushA(NULL);
  nvtxRangePushEx(NULL);
  nvtxRangePushA("");
  nvtxRangePushW(L"\x1f600");
  launch(1);
  nvtxRangePop();
  for (int i = 0; i < 5000; i++) // deeper than is kept
    nvtxRangePushA("deep");
  for (int i = 0; i < 5000; i++)
    nvtxRangePop();
  const nvtxRangeId_t id = nvtxRangeStartA("ended twice");
  nvtxRangeEnd(id);
  nvtxRangeEnd(id);
  nvtxMarkA(NULL);
  for (int i = 0; i < 70000; i++) { // more names than are kept
    char name[32];
    snprintf(name, sizeof name, "name %d", i);
    nvtxMarkA(name);
  }
  nvtxRangePushA("never popped");
  launch(2);
}

static void fork_in_range() {
  nvtxRangePushA("over the fork");
  launch(1);
  cudaDeviceSynchronize();
  const pid_t child = fork();
  if (!child) {
    nvtxRangePop(); // the parent's
    nvtxRangePushA("child");
    launch(2);
    nvtxRangePop();
    cudaDeviceSynchronize();
    exit(0);
  }
  waitpid(child, NULL, 0);
  launch(3);
  nvtxRangePop();
}

static void killed() {
  nvtxRangePushA("done before");
  launch(1);
  cudaDeviceSynchronize();
  nvtxRangePop();
  nvtxRangePushA("open at the kill");
  launch(2);
  cudaDeviceSynchronize();
  puts("ready");
  fflush(stdout);
  pause();
}

__global__ void spins(volatile float *d) {
  while (d[64] == 0)
    continue;
}

static void hang() { // leaves while a kernel hangs
  cudaMemset(d, 0, 4096);
  nvtxRangePushA("before it hangs");
  launch(1);
  cudaDeviceSynchronize();
  nvtxRangePop();
  spins<<<1, 1>>>(d);
  exit(3);
}

static void by_graph() {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  nvtxRangePushA("capture"); // launches nothing
  marked<<<10, 32, 0, stream>>>(d);
  marked<<<11, 32, 0, stream>>>(d);
  nvtxRangePop();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  launch(1);
  for (int i = 0; i < 2; i++) {
    nvtxRangePushA("replay");
    cudaGraphLaunch(exec, stream);
    nvtxRangePop();
  }
  cudaStreamSynchronize(stream);
  launch(2);
}

static void *flood_one(void *) {
  for (int i = 0; i < 30000; i++) {
    nvtxRangePushA("flood");
    nvtxRangePop();
  }
  return NULL;
}

static void flood() { // faster than anybody writes
  pthread_t threads[4];
  for (pthread_t &thread : threads)
    pthread_create(&thread, NULL, flood_one, NULL);
  for (pthread_t thread : threads)
    pthread_join(thread, NULL);
  launch(1);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)();
  } all[] = {{"c", by_c}, {"cpp", by_cpp}, {"scopes", by_scopes}, {"threads", by_threads}, {"hostile", hostile},
             {"fork", fork_in_range}, {"kill", killed}, {"hang", hang}, {"graph", by_graph}, {"flood", flood}};
  if (argc < 2 || cudaMalloc(&d, 4096))
    return 1;
  for (const auto &one : all)
    if (!strcmp(argv[1], one.name)) {
      one.run();
      return cudaDeviceSynchronize();
    }
  return 2;
}
