// SPDX-License-Identifier: MIT
// Kernels, copies, sets, a graph and two devices, and the truth of them on stdout: a line for each
// kernel with its own %gridid, and one for each copy and set.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <sys/wait.h>

#ifndef UNMARKED
#include <inkmark/mark.cuh>
PROF_SECTIONS(Busy, Marked, Work, Rest)
#endif

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t e_ = (call);                                                                       \
    if (e_ != cudaSuccess) {                                                                       \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                                  \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

__device__ unsigned long long grid_id() {
  unsigned long long id;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(id));
  return id;
}

namespace shapes {
template <typename T> __global__ void marked(T *out, unsigned long long *ids, int at) {
  __shared__ T cell[32];
#ifndef UNMARKED
  PROF_KERNEL(Marked);
#endif
  if (threadIdx.x == 0 && blockIdx.x == 0)
    ids[at] = grid_id();
  cell[threadIdx.x % 32] = (T)threadIdx.x;
  for (int i = 0; i < 20; i++)
    cell[threadIdx.x % 32] = cell[threadIdx.x % 32] * 3 + 1;
#ifndef UNMARKED
  PROF_MARK(Work);
#endif
  out[blockIdx.x * blockDim.x + threadIdx.x] = cell[threadIdx.x % 32];
#ifndef UNMARKED
  PROF_MARK(Rest);
#endif
}
} // namespace shapes

__global__ void plain(int *out, unsigned long long *ids, int at) {
  extern __shared__ int dynamic[];
  if (threadIdx.x == 0 && blockIdx.x == 0)
    ids[at] = grid_id();
  dynamic[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = dynamic[threadIdx.x] + 1;
}

struct truth {
  unsigned long long *ids; // of this device, mapped
  int used = 0;
  struct row { int device, at, grid, block, shared, graph; const char *name; } rows[64];
};

static void tell(truth &t) {
  for (int i = 0; i < t.used; i++)
    printf("kernel %d %llu %d %d %d %d %s\n", t.rows[i].device, t.ids[t.rows[i].at], t.rows[i].grid,
           t.rows[i].block, t.rows[i].shared, t.rows[i].graph, t.rows[i].name);
}

// While one thread captures, the other may neither use the legacy stream nor wait for the device.
static std::mutex capturing;

static void wait_for_device() {
  std::lock_guard<std::mutex> lock(capturing);
  CHECK(cudaDeviceSynchronize());
}

static void run_device(int device, bool tells) {
  CHECK(cudaSetDevice(device));
  float *floats;
  int *ints;
  truth t;
  CHECK(cudaMallocManaged(&t.ids, 64 * sizeof *t.ids));
  memset(t.ids, 0, 64 * sizeof *t.ids);
  CHECK(cudaMalloc(&floats, 4096 * sizeof *floats));
  CHECK(cudaMalloc(&ints, 1024 * sizeof *ints));
  cudaStream_t streams[2];
  for (auto &s : streams)
    CHECK(cudaStreamCreate(&s));
  int host[1024] = {0};
  capturing.lock();
  CHECK(cudaMemcpy(ints, host, sizeof host, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(floats, 7, 4096 * sizeof *floats));
  capturing.unlock();
  for (int i = 0; i < 3; i++) {
    shapes::marked<float><<<4 + i, 64, 0, streams[i % 2]>>>(floats, t.ids, t.used);
    t.rows[t.used] = {device, t.used, 4 + i, 64, 128, 0, "shapes::marked<float>"};
    t.used++;
  }
  plain<<<2, 96, 96 * sizeof(int), streams[1]>>>(ints, t.ids, t.used);
  t.rows[t.used] = {device, t.used, 2, 96, 96 * 4, 0, "plain"};
  t.used++;
  wait_for_device();
  CHECK(cudaMemcpyAsync(host, ints, 256 * sizeof(int), cudaMemcpyDeviceToHost, streams[0]));
  CHECK(cudaStreamSynchronize(streams[0]));

  // A graph of two kernels, launched twice: the second launch's ids overwrite the first's.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  capturing.lock();
  CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
  shapes::marked<float><<<3, 32, 0, streams[0]>>>(floats, t.ids, t.used);
  plain<<<1, 32, 128, streams[0]>>>(ints, t.ids, t.used + 1);
  CHECK(cudaStreamEndCapture(streams[0], &graph));
  capturing.unlock();
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int replay = 0; replay < 2; replay++) {
    CHECK(cudaGraphLaunch(exec, streams[0]));
    CHECK(cudaStreamSynchronize(streams[0]));
    if (tells) {
      printf("kernel %d %llu 3 32 128 1 shapes::marked<float>\n", device, t.ids[t.used]);
      printf("kernel %d %llu 1 32 128 1 plain\n", device, t.ids[t.used + 1]);
    }
  }
  if (tells) {
    tell(t);
    printf("copy %d 1 4096\ncopy %d 2 1024\nset %d 16384\n", device, device, device);
  }
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "once";
  int devices = 1;
  if (!strcmp(mode, "none")) {
    puts("done");
    return 0;
  }
  if (!strcmp(mode, "devices"))
    CHECK(cudaGetDeviceCount(&devices));
  for (int device = 0; device < devices; device++)
    run_device(device, true);
  if (devices > 1) { // between devices
    char *a, *b;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&b, 512));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&a, 512));
    CHECK(cudaMemset(a, 0, 512));
    CHECK(cudaMemcpyPeer(b, 1, a, 0, 512));
    printf("set 0 512\ncopy 0 10 512\n");
  }
  if (!strcmp(mode, "threads")) {
    std::thread other([] { run_device(0, false); });
    run_device(0, false);
    other.join();
  }
  if (!strcmp(mode, "fork")) {
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
      run_device(0, false);
      exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("child %d\n", status);
  }
  puts("done");
  fflush(stdout);
  if (!strcmp(mode, "wait")) // for the SIGKILL of the test
    for (;;)
      pause();
  return !strcmp(mode, "seven") ? 7 : 0;
}
