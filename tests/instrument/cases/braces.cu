// SPDX-License-Identifier: MIT
// Kernels that macros open and close, other spellings of braces, and text that looks like our own.
namespace braces {
#define KERNEL(name, ...) __global__ void name(__VA_ARGS__)
#define GLOBAL_BEGIN(name) __global__ void name(int *x, int n) { const int t = threadIdx.x;
#define GLOBAL_END }
#define DEVICE_BEGIN(name) __device__ int name(int v, int n) {
#define GIVE(v) return v; }
#define OPENS_A_LOOP(name) __global__ void name(int *x, int n) { for (int i = 0; i < n; i++) {
#define CLOSES_A_LOOP } }
#define OPENS_AN_IF(name) __global__ void name(int *x, int n) { if (n > 2)
#define LAST_PART(v) else v = 3; }
#define LAUNCHED(name, f) __global__ void name(int *x, int n) { f<3>(x, n); }
#define LAUNCHED_TOO(name) __global__ void name(int *x, int n) { for (int i = 0; i < n; i++) x[i] += n; }
DEVICE_BEGIN(step)
  for (int i = 0; i < n; i++)
    v = v * 3 + (v >> 2) - (i ^ v) + (v % 7) * (v & 31);
GIVE(v)
KERNEL(headed, int *x, int n) {
  for (int i = 0; i < n; i++)
    x[threadIdx.x] = step(x[threadIdx.x], i);
}
GLOBAL_BEGIN(begun)
  x[t] = step(x[t], n);
  for (int i = 0; i < n; i++)
    x[t] += step(i, n);
GLOBAL_END
template <int N> GLOBAL_BEGIN(instantiated)
  x[t] = step(x[t], N);
}
KERNEL(ended, int *x, int n) {
  x[threadIdx.x] = step(x[threadIdx.x], n);
GLOBAL_END
OPENS_A_LOOP(in_a_loop)
  x[threadIdx.x] += step(i, n);
CLOSES_A_LOOP
OPENS_AN_IF(in_an_if)
  x[threadIdx.x] += step(3, n);
}
KERNEL(last_part, int *x, int n) {
  if (n > 2)
    x[threadIdx.x] = step(2, n);
LAST_PART(x[threadIdx.x])
__device__ int spelled(int v, int n) <%
  for (int i = 0; i < n; i++) <% v = step(v, i); %>
  if (v & 1) <% v = step(v, n); %>
  return v;
%>
__global__ void digraphs(int *x, int n) <% x[threadIdx.x] = spelled(x<:threadIdx.x:>, n); %>
__device__ bool is_begin(const char *s) { return s[0] == '/' && s[1] == '*'; }
__global__ void literals(int *x, int n) { // see "/*ink[*/" and ' /*ink]*/
  const char *marker = "/*ink[*/", *other = R"x(// inkmark rewriter: begin (inkmark instrument --strip removes it)
")x";
  x[threadIdx.x] = step(x[threadIdx.x], n) + is_begin(marker) + is_begin(other) + 1'000 + '\'' + '"';
  x[threadIdx.x] += step(x[threadIdx.x], n); /* INK_UNTIL(x) "*/
}
template <int N> __device__ void work(int *x, int n) { // the track of the macro's kernels is opened here
  for (int i = 0; i < n; i++)
    x[threadIdx.x] = step(x[threadIdx.x], i + N);
  x[threadIdx.x] += step(n, N);
}
LAUNCHED(launched, work)
LAUNCHED_TOO(launched_too)
inline void run() {
  check<int>("braces.launched", [](int *x) { launched<<<1, 64>>>(x, 5); });
  check<int>("braces.headed", [](int *x) { headed<<<1, 64>>>(x, 5); });
  check<int>("braces.begun", [](int *x) { begun<<<1, 64>>>(x, 5); });
  check<int>("braces.instantiated", [](int *x) { instantiated<4><<<1, 64>>>(x, 5); });
  check<int>("braces.ended", [](int *x) { ended<<<1, 64>>>(x, 5); });
  check<int>("braces.in_a_loop", [](int *x) { in_a_loop<<<1, 64>>>(x, 5); });
  check<int>("braces.in_an_if", [](int *x) { in_an_if<<<1, 64>>>(x, 5); });
  check<int>("braces.last_part", [](int *x) { last_part<<<1, 64>>>(x, 5); });
  check<int>("braces.digraphs", [](int *x) { digraphs<<<1, 64>>>(x, 5); });
  check<int>("braces.literals", [](int *x) { literals<<<1, 64>>>(x, 5); });
}
} // namespace braces
