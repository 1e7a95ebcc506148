// SPDX-License-Identifier: MIT
// What a recorded program may do that the recording has to bear, or must not disturb: argv[1] says what.
// Each launch has 2 blocks, and each block passes 1 mark.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

PROF_SECTIONS(Guest, Kernel, Only)

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

static void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  _Exit(1);
}

static void launch() {
  int *out;
  check(cudaMalloc(&out, 32 * sizeof(int)), "cudaMalloc");
  kernel<<<2, 32>>>(out);
  check(cudaGetLastError(), "the launch");
}

// A signal that every thread of the program blocks, for one of them waits for it.
static int waits_for_signal() {
  sigset_t set;
  int got = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  kill(getpid(), SIGUSR1);
  usleep(100000); // whoever else could take it has had the time to
  return sigwait(&set, &got) || got != SIGUSR1;
}

// A handler that leaves at once, while the thread that it interrupts is in malloc as likely as not.
static int leaves_in_handler() {
  signal(SIGALRM, [](int) { _exit(5); });
  ualarm(20000, 0);
  static void *held[2000];
  for (size_t i = 0;; i = (i * 31 + 7) % 2000) {
    free(held[i]);
    held[i] = malloc(2000 + (size_t)rand() % 60000);
  }
}

// A library with marks is loaded, and so armed, while a stream is captured.
static int loads_while_capturing(const char *library) {
  cudaStream_t stream;
  cudaGraph_t graph;
  int *out;
  check(cudaMalloc(&out, 32 * sizeof(int)), "cudaMalloc");
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "the capture's begin");
  kernel<<<2, 32, 0, stream>>>(out);
  void *loaded = dlopen(library, RTLD_NOW);
  check(cudaStreamEndCapture(stream, &graph), "the capture's end");
  int (*run)() = loaded ? (int (*)())dlsym(loaded, "run_library") : nullptr;
  return run ? run() : 1;
}

// One of two devices is reset while the other one has work that nobody has waited for.
static int resets_one() {
  check(cudaSetDevice(1), "cudaSetDevice");
  for (int i = 0; i < 5; i++)
    launch();
  check(cudaSetDevice(0), "cudaSetDevice");
  launch();
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(cudaDeviceReset(), "cudaDeviceReset");
  launch();
  return cudaDeviceSynchronize();
}

// The driver as it may be: what its first call registers for the exit ends it, and nothing works behind it.
static bool driver_is_gone;
static void driver_goes() { driver_is_gone = true; }
extern "C" int first_call(int *) __asm__("cudaGetDeviceCount");
extern "C" int first_call(int *count) {
  static int registered = getenv("DRIVER_GOES") ? atexit(driver_goes) : 0;
  (void)registered;
  return ((int (*)(int *))dlsym(RTLD_NEXT, "cudaGetDeviceCount"))(count);
}
extern "C" int later_call() __asm__("cudaDeviceSynchronize");
extern "C" int later_call() {
  static int (*const real)() = (int (*)())dlsym(RTLD_NEXT, "cudaDeviceSynchronize");
  return driver_is_gone ? cudaErrorCudartUnloading : real();
}
extern "C" int copy_call(void *, const void *, size_t, int, void *) __asm__("cudaMemcpyAsync");
extern "C" int copy_call(void *to, const void *from, size_t bytes, int kind, void *stream) {
  typedef int copy(void *, const void *, size_t, int, void *);
  static copy *const real = (copy *)dlsym(RTLD_NEXT, "cudaMemcpyAsync"); // at arming: not while a library is loaded
  return driver_is_gone ? cudaErrorCudartUnloading : real(to, from, bytes, kind, stream);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "reset-one"))
    return resets_one();
  launch();
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  if (!strcmp(what, "sigwait"))
    return waits_for_signal();
  if (!strcmp(what, "assert"))
    assert(argc > 5);
  if (!strcmp(what, "quick-exit"))
    quick_exit(6);
  if (!strcmp(what, "handler"))
    return leaves_in_handler();
  if (!strcmp(what, "capturing"))
    return loads_while_capturing(argv[2]);
  if (!strcmp(what, "error")) // left for whom it may concern
    return cudaSetDevice(99) == cudaErrorInvalidDevice ? 0 : 1;
  return 0;
}
