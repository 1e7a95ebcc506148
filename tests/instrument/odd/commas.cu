// SPDX-License-Identifier: MIT
// flags: -std=c++17
// A comma operator that takes whatever there is: calls in the middle of expressions give what they gave, and no
// operator is called that was not.
#include "../check.cuh"

namespace sums {
struct value {
  int v;
  __device__ ~value() {}
};
// for any two types: found by argument-dependent lookup where the right operand is a value
template <class A, class B> __device__ B operator,(A &&, B &&b) { return B{b.v + 1000}; }
template <class T> __device__ value make(T x) { int s = int(x); for (int i = 0; i < 3; i++) s += i; return value{s}; }
template <class T> __device__ T &element(T *x, int n) { int k = 0; for (int i = 0; i < n; i++) k ^= i; return x[k & 7]; }
__device__ int plain(int x) { int s = x; for (int i = 0; i < 3; i++) s ^= i; return s; }
template <class T> __global__ void taken(T *x) {
  x[0] = make(x[1]).v + make(x[2]).v + plain(x[3]);
  element(x, 3) = element(x, 4) + plain(x[5]) + T(1);
  if (make(x[6]).v > 3 && plain(x[0]) < 100) x[7] = (make(x[1]), make(x[2])).v; // the user's own use of it
}
} // namespace sums

int main() {
  check<int>("commas", [](int *x) { sums::taken<<<1, 1>>>(x); });
}
