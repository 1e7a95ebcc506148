// SPDX-License-Identifier: MIT
// Calls through pointers and references to functions: tables, variables, parameters, arguments of templates.
namespace pointers {
__device__ int twice(int n) { for (int i = 0; i < n % 5; i++) n += i; return n * 2; }
__device__ int thrice(int n) { for (int i = 0; i < n % 3; i++) n += i; return n * 3; }
typedef int (*step)(int);
__device__ step table[2] = {twice, thrice};
struct holder { step at; };
__device__ int apply(int (&f)(int), int n) { for (int i = 0; i < 3; i++) n = f(n); return n; }
template <step F> __global__ void argument(int *x, int n) {
  for (int i = 0; i < n; i++) x[threadIdx.x] += F(i);
}
__global__ void variables(int *x, int n) {
  step chosen = n > 3 ? twice : &thrice;
  holder held = {chosen};
  x[threadIdx.x] = chosen(n);
  x[threadIdx.x] += (*chosen)(n + 1);
  for (int i = 0; i < n; i++) x[threadIdx.x] += table[i & 1](i);
  if (held.at(n) > 4 && chosen(2) != 0) x[threadIdx.x] += apply(twice, n);
}
inline void run() {
  check<int>("pointers.argument", [](int *x) { argument<twice><<<1, 64>>>(x, 3); });
  check<int>("pointers.variables", [](int *x) { variables<<<1, 64>>>(x, 5); });
}
} // namespace pointers
