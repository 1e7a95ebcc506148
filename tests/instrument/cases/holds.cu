// SPDX-License-Identifier: MIT
// What marks hold: chains of arithmetic, accumulators, vectors, arrays; never pointers or memory.
namespace holds {
__device__ __noinline__ float pure(float x, int n) { for (int i = 0; i < n; i++) x = x * 0.75f + 1.f; return x; }
__global__ void chains(float *p) {
  float a = p[threadIdx.x], b = a * 2, unset;
  float3 v = make_float3(a, b, a);
  float acc[4] = {a, b, a, b};
  float *q = p + threadIdx.x;
  const float c = a + b;
  float &r = a;
  int count = 0, n = 3;
  for (int i = 0; i < n; i++) {
    a = pure(a, 5);
    b = pure(b, 3);
    v.x += pure(v.y, 2);
    for (int k = 0; k < 4; k++) { acc[k] += b; count++; }
    unset = pure(c, 2);
    *q = unset;
  }
  r += v.x + acc[1];
  *q = a + b + c + v.x + v.y + acc[0] + acc[3] + count;
}
__global__ void taken(float *p) {
  float a = p[threadIdx.x], out = 0;
  float *at = &a;
  auto add = [&] { out += *at; };
  for (int i = 0; i < 3; i++) { a = pure(a, 2); add(); }
  p[threadIdx.x] = out;
}
inline void run() {
  check<float>("holds.chains", [](float *p) { chains<<<1, 64>>>(p); });
  check<float>("holds.taken", [](float *p) { taken<<<1, 64>>>(p); });
}
} // namespace holds
