// SPDX-License-Identifier: MIT
// What is declared where calls are marked: nothing is held before it is in scope, nor another of its name.
namespace scope {
struct Iter {
  int at;
  __device__ int operator*() const { return at; }
  __device__ Iter &operator++() { at++; return *this; }
  __device__ bool operator!=(const Iter &other) const { return at != other.at; }
};
struct Range {
  int n;
  __device__ Iter begin() const { return {0}; }
  __device__ Iter end() const { return {n}; }
};
struct Two { int a, b; };
struct TwoIter {
  int at;
  __device__ Two operator*() const { return {at, at * 3}; }
  __device__ TwoIter &operator++() { at++; return *this; }
  __device__ bool operator!=(const TwoIter &other) const { return at != other.at; }
};
struct Twos {
  int n;
  __device__ TwoIter begin() const { return {0}; }
  __device__ TwoIter end() const { return {n}; }
};
__device__ __noinline__ int f(int x) { for (int i = 0; i < 3; i++) x = x * 5 + i; return x & 1023; }
__device__ __noinline__ Range range(int n) { for (int i = 0; i < 2; i++) n ^= i; return {n & 7}; }
__global__ void ranges(int *o) {
  int acc = threadIdx.x;
  for (int v : range(3)) acc += f(v);
  for (auto v : Range{f(0) % 4 + 1}) { acc ^= f(v); v += acc; acc += f(v); }
  for (int acc : range(acc + f(acc))) { acc += f(acc); o[threadIdx.x] += acc; }
  for (auto [a, b] : Twos{f(acc) % 3 + 2}) { a += f(b); acc += a + f(a); }
  o[threadIdx.x] += acc;
}
template <typename T> __global__ void ranges_of(T *o) {
  T acc = threadIdx.x;
  for (auto v : Range{f(acc) % 4 + 1}) { v += f(v); acc += v; }
  for (T v : range(f(acc))) acc += f(v);
  o[threadIdx.x] = acc;
}
__global__ void heads(int *o, int n) {
  int acc = threadIdx.x, x = f(acc);
  if (int x = f(acc) & 3) acc += f(x); else acc -= f(x + 1);
  if (int y = f(acc) + f(x); y > f(y) - 500) { acc += f(y); y += acc; acc ^= y; }
  switch (int z = f(acc) & 3; f(z) & 1) { case 0: acc += f(z); break; default: z += f(z); acc += z; }
  while (int w = f(acc) & 7) { w ^= f(w); acc += w; if (acc > 3000) break; }
  for (int i = f(acc) & 1, e = f(i) % 3; i < e + f(e) % 2; i++) acc += f(i);
  o[threadIdx.x] = acc + x + n;
}
__global__ void initialisers(int *o) {
  int acc = threadIdx.x, x = f(acc);
  x += f(x);
  { int x = f(acc) + f(2); x ^= f(x); acc += x; }
  int y = f(x), z = f(y) + f(x + 1);
  y += z;
  auto late = [w = f(acc) + f(y), acc]() mutable { acc += f(w); return acc + f(acc); };
  acc += late() + f(late());
  o[threadIdx.x] = acc + x + y + z;
}
inline void run() {
  check<int>("scope.ranges", [](int *o) { ranges<<<1, 64>>>(o); });
  check<int>("scope.ranges_of", [](int *o) { ranges_of<<<1, 64>>>(o); });
  check<int>("scope.heads", [](int *o) { heads<<<1, 64>>>(o, 4); });
  check<int>("scope.initialisers", [](int *o) { initialisers<<<1, 64>>>(o); });
}
} // namespace scope
