// SPDX-License-Identifier: MIT
// Branches by warp that hold the work of a kernel, and such as do not; kernels that are one call of what has the work.
namespace roles {
enum class role { load, compute, store, none };
__device__ void produce(int *x, int n) { for (int i = 0; i < n; i++) x[threadIdx.x] += i; }
__device__ void consume(int *x, int n) { for (int i = 0; i < n; i++) x[threadIdx.x] ^= i * 3; }
__device__ int warp_of() { return __shfl_sync(~0u, threadIdx.x / 32, 0); }
__device__ role role_of(int warp_idx) { return warp_idx == 0 ? role::load : role::compute; }
__device__ bool elect_one() {
#if __CUDA_ARCH__ >= 900
  unsigned elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
  return elected;
#else
  return threadIdx.x % 32 == 0;
#endif
}
__global__ void chain(int *x, int n) {
  const int warp = threadIdx.x / 32;
  x[threadIdx.x] += 1;
  __syncthreads();
  if (warp == 0) produce(x, n);
  else if (warp == 1) { consume(x, n); for (int i = 0; i < n; i++) x[threadIdx.x] += i; }
  else
    for (int i = 0; i < n; i++) x[threadIdx.x] -= i;
}
template <int Math> __global__ void groups(int *x, int n) { // the rest behind a return is one too
  if (threadIdx.x >= Math) {
    produce(x, n);
    return;
  }
  for (int tile = 0; tile < n; tile++) consume(x, tile);
}
__global__ void switched(int *x, int n) {
  switch (role_of(warp_of())) {
  case role::load:
    produce(x, n);
    break;
  case role::compute:
  case role::store: {
    consume(x, n);
    x[threadIdx.x]++;
    break;
  }
  default:
    break;
  }
}
__global__ void setup(int *x, int n) { // one warp sets up, all work: no roles
  if (warp_of() == 0 && elect_one()) { for (int i = 0; i < 4; i++) x[i] += i; }
  __syncthreads();
  if (x[threadIdx.x] > n) produce(x, n);
  else consume(x, n);
}
template <class Tile> struct gemm {
  __device__ void operator()(int *x, int n) {
    const int warp_idx = warp_of();
    if (warp_idx == 0) {
      if (elect_one()) { for (int i = 0; i < n; i++) x[i] += i; }
    } else {
      for (int i = 0; i < n; i++) { consume(x, n); __syncwarp(); }
    }
  }
};
template <class Op> __global__ void device_kernel(int *x, int n) { Op op; op(x, n); }
__device__ void inner(int *x, int n) { for (int i = 0; i < n; i++) { produce(x, i); consume(x, i); } }
__device__ void middle(int *x, int n) { inner(x, n + 1); }
__global__ void through(int *x, int n) { middle(x, n); }
__device__ void common(int *x, int n) { for (int i = 0; i < n; i++) { consume(x, i); produce(x, i); } }
__global__ void one(int *x, int n) { common(x, n); } // two kernels, one function
__global__ void other(int *x, int n) { common(x, n + 2); }
__device__ void also(int *x, int n) { for (int i = 0; i < n; i++) { consume(x, i); produce(x, i); } }
__global__ void alone(int *x, int n) { also(x, n); }
__global__ void more(int *x, int n) { also(x, n); produce(x, n); } // so `alone` opens its own track
__device__ void fetch(int *to, const int *from, int at, int n) { // no loop, but more than a tiny helper
  const int a = at * 3 % n, b = at * 5 % n, c = at * 7 % n, d = at * 11 % n, e = at * 13 % n, f = at * 17 % n;
  if (at < n) to[at] = from[a] + from[b] * 2 + from[c] * 3 + from[d] * 4 + from[e] * 5 + from[f] * 6;
}
__global__ void prepared(int *x, int n) { // each warp fetches a part, then all work together: no roles
  __shared__ int part[64];
  switch (threadIdx.x / 32) {
  case 0:
    fetch(part, x, threadIdx.x, 32);
    break;
  default:
    fetch(part + 32, x + 32, threadIdx.x - 32, 32);
    break;
  }
  __syncthreads();
  for (int i = 0; i < n; i++) {
    consume(x, part[i]);
    produce(x, part[i + 32]);
  }
}
inline void run() {
  check<int>("roles.chain", [](int *x) { chain<<<1, 64>>>(x, 5); });
  check<int>("roles.groups", [](int *x) { groups<32><<<1, 64>>>(x, 5); });
  check<int>("roles.switched", [](int *x) { switched<<<1, 64>>>(x, 5); });
  check<int>("roles.setup", [](int *x) { setup<<<1, 64>>>(x, 5); });
  check<int>("roles.device_kernel", [](int *x) { device_kernel<gemm<int>><<<1, 64>>>(x, 5); });
  check<int>("roles.through", [](int *x) { through<<<1, 64>>>(x, 5); one<<<1, 64>>>(x, 5); other<<<1, 64>>>(x, 5); });
  check<int>("roles.prepared", [](int *x) { prepared<<<1, 64>>>(x, 5); });
  check<int>("roles.more", [](int *x) { alone<<<1, 64>>>(x, 5); more<<<1, 64>>>(x, 5); });
}
} // namespace roles
