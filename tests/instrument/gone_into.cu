// SPDX-License-Identifier: MIT
// Kernels whose loops wait in what they call, as those of template libraries do: a persistent one with roles, whose collective
// is called in the loop over tiles, and one that calls its loop once. Each prints what it computed.
#include <cassert>
#include <cstdint>
#include <cstdio>

constexpr int stages = 2, tiles = 3, steps = 5, width = 32;

__device__ uint32_t shared_address(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }

struct Barrier {
  uint64_t word;
  __device__ void init(int count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(shared_address(&word)), "r"(count) : "memory");
  }
  __device__ void arrive() {
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" : : "r"(shared_address(&word)) : "memory");
  }
  __device__ void wait(int phase) {
    uint32_t done = 0;
    while (!done)
      asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                   : "=r"(done)
                   : "r"(shared_address(&word)), "r"(phase)
                   : "memory");
  }
};

struct Storage {
  Barrier full[stages], empty[stages];
  float data[stages][width];
};

template <class Element> struct Collective {
  __device__ void load(Storage &s, const Element *from, int &pass) {
    for (int step = 0; step < steps; step++, pass++) {
      s.empty[pass % stages].wait((pass / stages & 1) ^ 1);
      s.data[pass % stages][threadIdx.x % width] = from[step * width + threadIdx.x % width];
      s.full[pass % stages].arrive();
    }
  }
  __device__ Element mma(Storage &s, int &pass) {
    Element sum = 0;
    assert(pass >= 0);
    for (int step = 0; step < steps; step++, pass++) {
      s.full[pass % stages].wait(pass / stages & 1);
      for (int i = 0; i < width; i++)
        sum += s.data[pass % stages][i] * (Element)(i + 1);
      s.empty[pass % stages].arrive();
    }
    return sum;
  }
};

template <class Main> struct Kernel {
  __device__ void operator()(Storage &s, const float *from, float *to) {
    Main main;
    int pass = 0;
    const int warp = threadIdx.x / 32;
    if (warp == 0) {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        main.load(s, from + tile * steps * width, pass);
    } else {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const float sum = main.mma(s, pass);
        to[tile * width + threadIdx.x % width] = sum;
      }
    }
  }
};

template <class K> __global__ void persistent(const float *from, float *to) {
  __shared__ Storage s;
  if (threadIdx.x < stages) {
    s.full[threadIdx.x].init(32);
    s.empty[threadIdx.x].init(32);
  }
  __syncthreads();
  K kernel;
  kernel(s, from, to);
}

// Called once: its loop is a range, as one in the kernel would be.
__device__ float scan(float *row, int n) {
  __shared__ float part[width];
  float sum = 0;
  for (int i = 0; i < n; i++) {
    part[threadIdx.x] = row[threadIdx.x] + sum;
    __syncthreads();
    sum = part[(threadIdx.x + i) % width];
    __syncthreads();
  }
  return sum;
}

__device__ float sweep(float *part, const float *row, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    part[threadIdx.x] = row[threadIdx.x] + sum;
    __syncthreads();
    sum = part[(threadIdx.x + i) % width];
    __syncthreads();
  }
  return sum;
}

__global__ void once(float *rows) {
  __shared__ float part[width];
  float *row = rows + blockIdx.x * width;
  const float first = sweep(part, row, 40);
  row[threadIdx.x] = first + scan(row, 3); // scan has a shared variable: no copy can be made of it
}

int main() {
  float *from, *to;
  cudaMallocManaged(&from, sizeof(float) * tiles * steps * width);
  cudaMallocManaged(&to, sizeof(float) * tiles * width);
  for (int i = 0; i < tiles * steps * width; i++)
    from[i] = (float)(i % 7);
  persistent<Kernel<Collective<float>>><<<1, 64>>>(from, to);
  cudaDeviceSynchronize();
  for (int tile = 0; tile < tiles; tile++)
    std::printf("%.0f\n", (double)to[tile * width]);
  once<<<2, width>>>(from);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf("%.0f\n", (double)from[width + 3]);
  return 0;
}
