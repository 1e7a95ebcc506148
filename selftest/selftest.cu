// SPDX-License-Identifier: MIT
// The program that `inkmark selftest` records: marked kernels on all SMs at once, in several streams and
// in a graph that is launched over and over, and kernels that look at what the design takes for
// granted. It prints what it saw, a word and numbers a line; the command judges.
//   selftest [DEVICE]
#include "inkmark/mark.cuh"

#include <cstdio>
#include <cstdlib>
#include <vector>

PROF_SECTIONS(Selftest, Everywhere, Replayed, First, Second, Third, Check)

constexpr int streams = 4, rounds = 6, replays = 16, nodes = 3, passes = 96, threads = 64;
constexpr int marks_a_track = passes * 5; // an ITER, three MARKs and a VALUE in each pass

static void must(cudaError_t error, const char *what) {
  if (error != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
  }
}

__device__ __forceinline__ unsigned work(unsigned x, int n) {
  for (int i = 0; i < n; i++)
    x = x * 1664525u + 1013904223u;
  return x;
}

// Three sections in turn; the value names the pass and the block, so that a record in a wrong place shows.
#define PASSES(x)                                                                                  \
  for (int i = 0; i < passes; i++) {                                                               \
    PROF_ITER(i);                                                                                  \
    x = work(x, 3);                                                                                \
    PROF_MARK(First, x);                                                                           \
    x = work(x, 5);                                                                                \
    PROF_MARK(Second, x);                                                                          \
    PROF_VALUE(Check, (unsigned long long)i << 32 | blockIdx.x);                                   \
    PROF_MARK(Third, x);                                                                           \
  }

__global__ void everywhere(unsigned *out) {
  PROF_KERNEL(Everywhere);
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  PASSES(x);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void replayed(unsigned *out) {
  PROF_KERNEL(Replayed);
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  PASSES(x);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void look(unsigned *sm_of_block, unsigned *sm_count, unsigned long long *grid_id) {
  unsigned sm, count;
  unsigned long long grid;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(count));
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
  if (threadIdx.x == 0) {
    sm_of_block[blockIdx.x] = sm;
    *sm_count = count;
    *grid_id = grid;
  }
}

// Readings of clock64 and globaltimer, right where globaltimer steps: rows of {cycles, ns}.
__global__ void edges(unsigned long long *out, int count, unsigned long long apart_ns) {
  unsigned long long last, now, next = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(last)::"memory");
  for (int i = 0; i < count;) {
    long long cycles;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    if (now != last && now >= next) {
      out[2 * i] = (unsigned long long)cycles;
      out[2 * i + 1] = now;
      next = now + apart_ns;
      i++;
    }
    last = now;
  }
}

static unsigned expected(unsigned thread) {
  unsigned x = thread;
  for (int i = 0; i < passes; i++)
    for (int k = 0; k < 8; k++)
      x = x * 1664525u + 1013904223u;
  return x;
}

static void print_step(bool simulated) {
  constexpr int count = 200;
  static unsigned long long seen[2 * count];
  unsigned long long *device;
  must(cudaMalloc(&device, sizeof seen), "cudaMalloc");
  edges<<<1, 1>>>(device, count, 0);
  must(cudaMemcpy(seen, device, sizeof seen, cudaMemcpyDeviceToHost), "reading globaltimer");
  unsigned long long step = 0, least = ~0ull, most = 0;
  for (int i = 1; i < count; i++) {
    unsigned long long a = seen[2 * i + 1] - seen[2 * i - 1], b = step;
    least = a < least ? a : least;
    most = a > most ? a : most;
    while (b) {
      const unsigned long long rest = a % b;
      a = b, b = rest;
    }
    step = a;
  }
  printf("timer_step_ns %llu least %llu most %llu\n", step, least, most);
  constexpr int stretches = 20; // of the rate
  edges<<<1, 1>>>(device, stretches + 1, simulated ? 50000 : 5000000);
  must(cudaMemcpy(seen, device, sizeof *seen * 2 * (stretches + 1), cudaMemcpyDeviceToHost), "the rate");
  for (int i = 1; i <= stretches; i++)
    printf("rate_hz %.0f\n", (double)(seen[2 * i] - seen[2 * i - 2]) * 1e9 /
                                 (double)(seen[2 * i + 1] - seen[2 * i - 1]));
  cudaFree(device);
}

static void print_sms_and_grids(int sms) {
  constexpr int launches = 32;
  const int blocks = sms * 8;
  unsigned *sm_of_block, *count;
  unsigned long long *grids;
  cudaStream_t stream[streams];
  must(cudaMallocManaged(&sm_of_block, sizeof(unsigned) * blocks), "cudaMallocManaged");
  must(cudaMallocManaged(&count, sizeof *count), "cudaMallocManaged");
  must(cudaMallocManaged(&grids, sizeof *grids * launches), "cudaMallocManaged");
  for (int s = 0; s < streams; s++)
    must(cudaStreamCreate(&stream[s]), "cudaStreamCreate");
  for (int i = 0; i < launches; i++)
    look<<<blocks, 32, 0, stream[i % streams]>>>(sm_of_block, count, grids + i);
  must(cudaDeviceSynchronize(), "looking at registers");
  std::vector<char> seen(65536);
  int distinct = 0, most = 0, repeats = 0;
  for (int b = 0; b < blocks; b++) {
    const unsigned sm = sm_of_block[b];
    most = (int)sm > most ? (int)sm : most;
    if (sm < seen.size() && !seen[sm]++)
      distinct++;
  }
  for (int i = 0; i < launches; i++)
    for (int k = 0; k < i; k++)
      repeats += grids[i] == grids[k];
  printf("sms %d seen %d largest %d nsmid %u\n", sms, distinct, most, *count);
  printf("grid_ids %d repeated %d\n", launches, repeats);
  for (int s = 0; s < streams; s++)
    cudaStreamDestroy(stream[s]);
}

static void load(int sms) {
  const int blocks = sms * 4;
  unsigned *out[streams + 1];
  cudaStream_t stream[streams], captured;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  const size_t bytes = sizeof(unsigned) * threads * blocks;
  for (int s = 0; s <= streams; s++)
    must(cudaMalloc(&out[s], bytes), "cudaMalloc");
  for (int s = 0; s < streams; s++)
    must(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking), "cudaStreamCreate");
  must(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking), "cudaStreamCreate");
  must(cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal), "capture");
  for (int n = 0; n < nodes; n++)
    replayed<<<blocks, threads, 0, captured>>>(out[streams]);
  must(cudaStreamEndCapture(captured, &graph), "capture");
  must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  for (int r = 0; r < replays; r++) { // interleaved with the streams: all of it may run at once
    must(cudaGraphLaunch(exec, captured), "cudaGraphLaunch");
    if (r < rounds)
      for (int s = 0; s < streams; s++)
        everywhere<<<blocks, threads, 0, stream[s]>>>(out[s]);
  }
  must(cudaDeviceSynchronize(), "the load");
  std::vector<unsigned> host(threads * blocks);
  long wrong = 0;
  for (int s = 0; s <= streams; s++) {
    must(cudaMemcpy(host.data(), out[s], bytes, cudaMemcpyDeviceToHost), "results");
    for (int i = 0; i < threads * blocks; i++)
      wrong += host[i] != expected((unsigned)i);
  }
  printf("results %d wrong %ld\n", threads * blocks * (streams + 1), wrong);
  printf("kernel Everywhere launches %d tracks %d marks %d\n", streams * rounds,
         streams * rounds * blocks, streams * rounds * blocks * marks_a_track);
  printf("kernel Replayed launches %d tracks %d marks %d\n", nodes * replays, nodes * replays * blocks,
         nodes * replays * blocks * marks_a_track);
}

int main(int argc, char **argv) {
  const int device = argc > 1 ? atoi(argv[1]) : 0;
  int devices = 0;
  cudaDeviceProp properties;
  must(cudaGetDeviceCount(&devices), "no device");
  must(cudaGetDeviceProperties(&properties, device), "no such device");
  must(cudaSetDevice(device), "no such device");
  printf("devices %d\n", devices);
  bool simulated = false;
  for (const char *at = properties.name; *at; at++)
    simulated = simulated || (at[0] == 's' && at[1] == 'i' && at[2] == 'm');
  print_step(simulated);
  print_sms_and_grids(properties.multiProcessorCount);
  load(properties.multiProcessorCount);
  printf("end\n");
  return 0;
}
