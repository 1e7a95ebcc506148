// SPDX-License-Identifier: MIT
// One program, many lives: argv[1] says how it launches its kernel and how it ends. Each launch has 4
// blocks of 32 threads, and each block passes 3 marks.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

PROF_SECTIONS(Arming, Kernel, First, Second, Third)

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  int x = out[threadIdx.x];
  PROF_MARK(First, x);
  x = x * 3 + 1;
  PROF_MARK(Second, x);
  out[threadIdx.x] = x;
  PROF_MARK(Third);
}

// Names the section that another kernel names: the two are one in the tables.
__global__ void twin(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = 1;
  PROF_MARK(Third);
}

// Until somebody writes to *stop, which nobody does.
__global__ void hangs(volatile int *stop) {
  PROF_KERNEL(Third);
  while (!*stop)
    PROF_MARK(First);
}

// More than the writer's ring holds, with 512 records a track.
__global__ void fills(int *out) {
  PROF_KERNEL(Second);
  for (int i = 0; i < 500; i++) {
    out[threadIdx.x] += i;
    PROF_MARK(First);
  }
}

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t error_ = (call);                                                             \
    if (error_) {                                                                                  \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static void launch(cudaStream_t stream = nullptr) {
  int *out;
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  CHECK(cudaMemset(out, 0, 32 * sizeof(int)));
  kernel<<<4, 32, 0, stream>>>(out);
  CHECK(cudaGetLastError());
}

static cudaGraphExec_t record_graph() {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  int *out;
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  kernel<<<4, 32, 0, stream>>>(out);
  if (getenv("SLOW_CAPTURE"))
    usleep(700000); // the drain thread comes by while this thread captures
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  return executable;
}

static cudaGraphExec_t early_graph;
struct early {
  early() {
    if (getenv("EARLY_GRAPH"))
      early_graph = record_graph();
  }
} before_main;

static void *thread_body(void *) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < 5; i++)
    launch(stream);
  CHECK(cudaStreamSynchronize(stream));
  return nullptr;
}

static int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int forks(bool child_launches) {
  launch();
  CHECK(cudaDeviceSynchronize());
  const pid_t child = fork();
  if (child == 0) {
    if (child_launches) {
      launch();
      launch();
      CHECK(cudaDeviceSynchronize());
    }
    exit(0);
  }
  const int code = wait_for(child);
  launch();
  CHECK(cudaDeviceSynchronize());
  return code;
}

static int vforks() {
  launch();
  const pid_t child = vfork();
  if (child == 0)
    _exit(7);
  const int code = wait_for(child);
  launch();
  CHECK(cudaDeviceSynchronize());
  return code == 7 ? 0 : 1;
}

static void second_device() {
  launch();
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaSetDevice(1));
  launch();
  launch();
  CHECK(cudaDeviceSynchronize());
  int device = -1;
  CHECK(cudaGetDevice(&device));
  if (device != 1)
    exit(1);
}

static void threads() {
  pthread_t ids[4];
  for (pthread_t &id : ids)
    pthread_create(&id, nullptr, thread_body, nullptr);
  for (pthread_t id : ids)
    pthread_join(id, nullptr);
}

static void resets() {
  launch();
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceReset());
  launch();
  launch();
  CHECK(cudaDeviceSynchronize());
}

// The buffer's tracks have not been drained when the device is reset.
static void resets_full() {
  int *out;
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  CHECK(cudaMemset(out, 0, 32 * sizeof(int)));
  fills<<<1500, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceReset());
}

static void replays(cudaGraphExec_t graph) {
  for (int i = 0; i < 3; i++)
    CHECK(cudaGraphLaunch(graph, nullptr));
  CHECK(cudaDeviceSynchronize());
}

// By the test once what ran is drained, or (on a GPU, where time is short) after so many seconds.
static void expect_sigkill() {
  const char *seconds = getenv("KILLED_AFTER_S");
  signal(SIGALRM, [](int) { kill(getpid(), SIGKILL); });
  alarm(seconds ? (unsigned)atoi(seconds) : 0);
}

static void end_by(const char *how) {
  launch();
  CHECK(cudaDeviceSynchronize());
  if (!strcmp(how, "twins")) {
    int *out;
    CHECK(cudaMalloc(&out, 64 * sizeof(int)));
    twin<<<2, 64>>>(out);
    twin<<<2, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
  }
  if (!strcmp(how, "hang")) {
    int *stop;
    CHECK(cudaMalloc(&stop, sizeof(int)));
    CHECK(cudaMemset(stop, 0, sizeof(int)));
    hangs<<<3, 32>>>(stop);
    expect_sigkill();
    CHECK(cudaDeviceSynchronize());
  }
  if (!strcmp(how, "_exit"))
    _exit(3);
  if (!strcmp(how, "exception"))
    throw std::runtime_error("on purpose");
  if (!strcmp(how, "sigkill")) {
    expect_sigkill();
    for (;;)
      pause();
  }
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "plain";
  if (!strcmp(how, "nosync")) {
    launch();
    launch();
    return 0;
  }
  if (!strcmp(how, "fork-idle"))
    return forks(false);
  if (!strcmp(how, "fork-cuda"))
    return forks(true);
  if (!strcmp(how, "vfork"))
    return vforks();
  if (!strcmp(how, "second-device"))
    second_device();
  else if (!strcmp(how, "threads"))
    threads();
  else if (!strcmp(how, "reset"))
    resets();
  else if (!strcmp(how, "reset-full"))
    resets_full();
  else if (!strcmp(how, "graph"))
    replays(record_graph());
  else if (!strcmp(how, "early-graph"))
    replays(early_graph);
  else
    end_by(how);
  return 0;
}
