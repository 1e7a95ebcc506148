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
__device__ __noinline__ void shift(uchar3 &of, int by) {
  for (int i = 0; i < by; i++)
    of.x += of.y, of.z ^= of.x;
}
__global__ void odd_sizes(int *p) { // 3, 6 and 2 bytes: the numbers of the first two are held
  uchar3 pixel = make_uchar3(threadIdx.x & 255, 7, 9), last[2] = {pixel, pixel};
  short3 sums = make_short3(1, 2, 3);
  char2 pair = make_char2(4, 5);
  for (int i = 0; i < 5; i++) {
    shift(pixel, i);
    sums.y += pixel.z;
    pair.x += pixel.x;
    last[i & 1] = pixel;
  }
  p[threadIdx.x] = pixel.x + 256 * pixel.z + sums.y + pair.x + last[0].y;
}
inline void run() {
  check<float>("holds.chains", [](float *p) { chains<<<1, 64>>>(p); });
  check<float>("holds.taken", [](float *p) { taken<<<1, 64>>>(p); });
  check<int>("holds.odd_sizes", [](int *p) { odd_sizes<<<1, 64>>>(p); });
}
} // namespace holds
