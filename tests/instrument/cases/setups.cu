// SPDX-License-Identifier: MIT
// Statements that prepare a loop or a copy: calls that are constexpr or tiny, much text together, and outside of loops.
namespace setups {
struct view {
  float *at;
  int rows, columns;
};
__host__ __device__ constexpr int least(int a, int b) {
  int whole = a / b, rest = a % b;
  for (int i = 0; i < 4; i++)
    whole += (rest > i * b) ? 1 : 0;
  return rest ? whole + (whole * b < a ? 1 : 0) - (whole > 4 * a ? 1 : 0) : a / b + (a < 0 ? -1 : 0) * (b < 0 ? -1 : 1);
}
__host__ __device__ constexpr view make_view(float *at, int rows, int columns) { return {at, least(rows, 32), least(columns, 8)}; }
__host__ __device__ constexpr view part(view whole, int at) { return {whole.at + least(whole.rows, 4) * at, least(whole.rows, 2), 1}; }
__device__ int small(int x) { return x + 1; }
__device__ void copy(const view &from, const view &to) {
  for (int i = 0; i < from.rows; i++) to.at[i] = from.at[i];
}
// In front of the loop, in the block of a branch, and behind the loop.
__global__ void around(float *x, float *y, int n) {
  __shared__ float tile[256];
  view all = make_view(x, n, n);
  int unused = 0;
  view mine = part(all, threadIdx.x);
  copy(mine, mine);
  if (n > 4) {
    view left = part(all, 1);
    view right = part(left, 2);
    copy(left, right);
  }
  for (int i = 0; i < n; i++) {
    view inner = part(all, i); // in a loop: its passes have it
    view deeper = part(inner, i);
    tile[threadIdx.x] += deeper.at[i];
    __syncthreads();
  }
  view out = make_view(y, n, unused);
  view last = part(out, threadIdx.x);
  last.at[0] = tile[threadIdx.x];
}
// What leaves the function, a label, a preprocessor's branch and a macro part a range; one statement is none.
#define MAKE(name, from) view name = part(from, 1)
__global__ void parted(float *x, int n) {
  view a = make_view(x, n, n);
  if (n < 0) return;
  view b = part(a, 1);
#ifdef NEVER
  copy(a, b);
#endif
  view c = part(b, 1);
  view d = part(c, 2);
#if 1
  view e = part(d, 1);
  MAKE(f, e);
  view g = part(f, 1);
#endif
  __syncthreads();
  MAKE(h, g);
  MAKE(i, h);
  copy(h, i);
  switch (n) {
  case 1:
    a = part(a, 1);
    b = part(b, 1);
    break;
  }
  copy(a, b);
}
// No other mark: a range would be one around the kernel. Too little text. Only small calls.
__global__ void alone(float *x, int n) {
  view a = make_view(x, n, n);
  view b = part(a, 1);
  b.at[0] = 0;
}
__global__ void little(int *x) {
  int a = small(x[0]);
  int b = small(a);
  __syncthreads();
  x[0] = b;
}
// A branch whose calls are all of it, inside of the range of what is around it; lambdas are functions of their own.
__global__ void whole_branch(float *x, int n) {
  view a = make_view(x, n, n);
  if (n > 2) {
    a = part(a, 1);
    a = part(a, 2);
  }
  auto f = [&](int k) { view b = part(a, k); view c = part(b, k); return c.at[0]; };
  a = part(a, 3);
  __syncthreads();
  x[0] = f(1);
}
// By hand: the range is there already.
__global__ void by_hand(float *x, int n) {
  view a{}, b{};
  PROF_BEGIN(prepare);
  a = make_view(x, n, n);
  b = part(a, 1);
  PROF_END(prepare);
  copy(a, b);
}
} // namespace setups
