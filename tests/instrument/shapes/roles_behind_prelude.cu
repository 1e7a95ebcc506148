// SPDX-License-Identifier: MIT
// One warp prefetches before the warps part: that is no role. The explicit instance, under a condition, leads to the kernel.
struct tensor_map {
  int words[8];
};
struct parameters {
  tensor_map a, b;
  float *out;
  int tiles;
};
__device__ void prefetch_descriptors(const parameters &p) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&p.a) : "memory");
  asm volatile("prefetch.tensormap [%0];" ::"l"(&p.b) : "memory");
  if (p.tiles > 1 && p.tiles * 3 + 4 < 1024 && (p.tiles & 1) == 0 && p.out[0] + p.out[1] * p.out[2] > p.out[3])
    asm volatile("prefetch.tensormap [%0];" ::"l"(&p.b.words[p.tiles * 2 + 1]) : "memory");
}
struct attention {
  __device__ void load(const parameters &p, int tile) {
    for (int i = threadIdx.x; i < 1024; i += 32)
      p.out[tile * 1024 + i] = 0;
  }
  __device__ void mma(const parameters &p, int tile) {
    for (int i = threadIdx.x; i < 1024; i += 96)
      p.out[tile * 1024 + i] += i * 0.5f;
  }
  __device__ void operator()(const parameters &p) {
    const int warp = threadIdx.x / 32;
    if (warp == 0)
      prefetch_descriptors(p);
    __syncthreads();
    if (warp == 0) {
      for (int tile = blockIdx.x; tile < p.tiles; tile += gridDim.x)
        load(p, tile);
    } else {
      for (int tile = blockIdx.x; tile < p.tiles; tile += gridDim.x)
        mma(p, tile);
    }
  }
};
template <class Op> __global__ void launched(parameters p) {
  Op op;
  op(p);
}
template <int Heads> void run(parameters &p) {
  [&] { launched<attention><<<Heads, 128>>>(p); }();
}
#ifndef ATTENTION_WITHOUT_64
template void run<64>(parameters &);
#endif
