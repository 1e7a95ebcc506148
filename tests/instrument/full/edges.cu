// SPDX-License-Identifier: MIT
// Forms at the edge of what the rewriter decides: heads of loops, words of pragmas, types of what is held, roles, comments and names as
// long as there is room. exact.txt has what becomes of them; the file need not compile.
#include "inkmark/mark.cuh"
#define UNROLL_BY(n) _Pragma("unroll n")
#define FULL_UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("nounroll")
#define nounrolling
#define unroll_it(x) _Pragma("unroll 4")
#define AS_PRAGMA(x) _Pragma(#x)
#define LOOP_OF(i, n) for (int i = 0; i < n; i++)
#define DONE while (0)
__device__ float heavy(float x, int n) { for (int i = 0; i < n; i++) x = x * 3 + i; return x; }
__device__ float other(float x, int n) { for (int i = 0; i < n; i++) x = x * 5 - i; return x; }
__device__ void nothing(float x) { for (int i = 0; i < 99; i++) x += i; }
__device__ float &place(float *p, int n) { for (int i = 0; i < n; i++) p[i] += i; return p[n]; }
__device__ float &&moved(float *p, int n) { for (int i = 0; i < n; i++) p[i] += i; return (float &&)p[n]; }
template <class T> __device__ decltype(T() + 1) typed(T t, int n) { for (int i = 0; i < n; i++) t += i; return t; }
template <class T> struct has { typedef T type; };
template <class T> __device__ typename has<T>::type named(T t, int n) { for (int i = 0; i < n; i++) t += i; return t; }

// heads of loops
__global__ void heads(float *p, int n) {
  float x = p[0];
  int k, m;
  for (k = 0; k < 64; k++) x = heavy(x, n);
  for (; n < 64; n++) x = heavy(x, n);
  for (int i = 0, j = 3; i < 64; i++) x = heavy(x, j);
  for (int i = 0; i < 64;) { x = heavy(x, n); i++; }
  for (int i = 0;; i++) { x = heavy(x, n); if (i > 63) break; }
  for (int i; i < 64; i++) x = heavy(x, n);
  for (int i = 0; 64 > i; i++) x = heavy(x, n);
  for (int i = 0; i < 64; k++, i++) x = heavy(x, n);
  for (int i = 0; i + 1 < 64; i++) x = heavy(x, n);
  for (int i = 0; !(i == 64); i++) x = heavy(x, n);
  for (int i = 0; i; i++) x = heavy(x, n);
  for (int i = 64; i; i--) x = heavy(x, n);
  for (int i = 0; k < 64; i++, k++) x = heavy(x, n);
  for (int i = 0; i < 64; k++) { x = heavy(x, n); i++; }
  for (int i = 0; i < i + 64; i++) x = heavy(x, n);
  for (int i = 0; i < 64; i = i + 1) x = heavy(x, n);
  for (int i = 0; i < 64; i = 1 + i) x = heavy(x, n);
  for (int i = 0; i < 64; i |= 1) x = heavy(x, n);
  for (int i = 0; i < 64; i %= 7) x = heavy(x, n);
  for (int i = 0; i < 64; -i) x = heavy(x, n);
  for (int i = 0; i < 64; ~i) x = heavy(x, n);
  for (auto q = p; q < p + 64; q++) x = heavy(x, n);
  for (float f = 0; f < 64; f++) x = heavy(x, n);
  for (float f = 0; f < 64; f += 0.5f) x = heavy(x, n);
  for (long long i = 0; i < 1LL << 41; i += 1 << 20) x = heavy(x, n);
  for (long long i = 1LL << 41; i > 0; i--) x = heavy(x, n);
  for (long long i = -(1LL << 41); i < 0; i++) x = heavy(x, n);
  for (long long i = 0; i > -(1LL << 41); i--) x = heavy(x, n);
  for (long long i = 0; i < 1LL << 40; i += 1LL << 34) x = heavy(x, n);
  for (long long i = 1LL << 40; i > 0; i -= 1000000) x = heavy(x, n);
  for (long long i = -(1LL << 40); i < 0; i += 1000000) x = heavy(x, n);
  for (int i = 0; i < 64000000; i += 1000000) x = heavy(x, n);
  for (int i = 0; i < 64000000; i += 1000001) x = heavy(x, n);
  for (int i = 64000000; i > 0; i += -1000000) x = heavy(x, n);
  for (int i = 64000000; i > 0; i += -1000001) x = heavy(x, n);
  for (int i = 0; i != 64; i += 3) x = heavy(x, n);
  for (int i = 0; i != 60; i += 3) x = heavy(x, n);
  for (int i = 0; i != -5; i++) x = heavy(x, n);
  for (int i = 0; i >= 0; i++) x = heavy(x, n);
  for (int i = 5; i >= 5; i--) x = heavy(x, n);
  for (int i = 5; i <= 5; i++) x = heavy(x, n);
  for (int i = 5; i == 5; i++) x = heavy(x, n);
  for (int i = 1; i < 64; i *= 0) x = heavy(x, n);
  for (int i = 1; i < 64; i *= 1) x = heavy(x, n);
  for (int i = 1; i < 64; i *= -2) x = heavy(x, n);
  for (int i = 64; i > 0; i /= 0) x = heavy(x, n);
  for (int i = 64; i > 0; i /= 1) x = heavy(x, n);
  for (long long i = 1LL << 39; i > 0; i /= 2) x = heavy(x, n);
  for (long long i = 1LL << 40; i > 0; i >>= 1) x = heavy(x, n);
  for (long long i = 1LL << 40; i > 0; i >>= 62) x = heavy(x, n);
  for (long long i = 1LL << 40; i > 0; i >>= 63) x = heavy(x, n);
  for (int i = 1024; i > 0; i >>= -1) x = heavy(x, n);
  for (int i = 1024; i > 0; i >>= 0) x = heavy(x, n);
  for (int i = 1; i < 1 << 30; i <<= 1) x = heavy(x, n);
  for (int i = 1; i < 1 << 30; i <<= 19) x = heavy(x, n);
  for (int i = 1; i < 1 << 30; i <<= 20) x = heavy(x, n);
  for (int i = 1; i < 1 << 30; i <<= -1) x = heavy(x, n);
  for (int i = 1; i < 1 << 30; i <<= 0) x = heavy(x, n);
  for (int i = 0; i < (int)sizeof(x) * 16; ++i) x = heavy(x, n);
  while (k++ < 64) x = heavy(x, n);
  while (x > 1) x = heavy(x, n);
  do x = heavy(x, n); while (k-- > 0);
  do { x = heavy(x, n); } DONE;
  do { x = heavy(x, n); } while (0);
  LOOP_OF(i, 64) x = heavy(x, n);
  LOOP_OF(i, 31) { x = heavy(x, n); }
  float a[40], b[2][40];
  for (int i = 0; i < 40; i++) a[i] = heavy(x, i);
  for (int i = 0; i < 40; i++) a[39 - i] += p[i];
  for (int i = 0; i < 40; i++) b[1][i] += p[i];
  for (int i = 0; i < 40; i++) i[a] = x;
  for (int i = 0; i < n; i++) a[i & 3] += x;
  for (float f : a) x = heavy(x + f, n);
  for (const float &f : a) x += f;
  p[0] = x + a[k] + b[m & 1][3];
}

// the same with bodies that are short
__global__ void heads_short(float *p, int n) {
  float x = p[0];
  int k, m;
  for (k = 0; k < 64; k++) x = x * p[n];
  for (; n < 64; n++) x = x * p[n];
  for (int i = 0, j = 3; i < 64; i++) x = x * p[j];
  for (int i = 0; i < 64;) { x = x * p[n]; i++; }
  for (int i = 0;; i++) { x = x * p[n]; if (i > 63) break; }
  for (int i; i < 64; i++) x = x * p[n];
  for (int i = 0; 64 > i; i++) x = x * p[n];
  for (int i = 0; i < 64; k++, i++) x = x * p[n];
  for (int i = 0; i + 1 < 64; i++) x = x * p[n];
  for (int i = 0; !(i == 64); i++) x = x * p[n];
  for (int i = 0; i; i++) x = x * p[n];
  for (int i = 64; i; i--) x = x * p[n];
  for (int i = 0; k < 64; i++, k++) x = x * p[n];
  for (int i = 0; i < 64; k++) { x = x * p[n]; i++; }
  for (int i = 0; i < i + 64; i++) x = x * p[n];
  for (int i = 0; i < 64; i = i + 1) x = x * p[n];
  for (int i = 0; i < 64; i = 1 + i) x = x * p[n];
  for (int i = 0; i < 64; i |= 1) x = x * p[n];
  for (int i = 0; i < 64; i %= 7) x = x * p[n];
  for (int i = 0; i < 64; -i) x = x * p[n];
  for (int i = 0; i < 64; ~i) x = x * p[n];
  for (auto q = p; q < p + 64; q++) x = x * p[n];
  for (float f = 0; f < 64; f++) x = x * p[n];
  for (float f = 0; f < 64; f += 0.5f) x = x * p[n];
  for (long long i = 0; i < 1LL << 41; i += 1 << 20) x = x * p[n];
  for (long long i = 1LL << 41; i > 0; i--) x = x * p[n];
  for (long long i = -(1LL << 41); i < 0; i++) x = x * p[n];
  for (long long i = 0; i > -(1LL << 41); i--) x = x * p[n];
  for (long long i = 0; i < 1LL << 40; i += 1LL << 34) x = x * p[n];
  for (long long i = 1LL << 40; i > 0; i -= 1000000) x = x * p[n];
  for (long long i = -(1LL << 40); i < 0; i += 1000000) x = x * p[n];
  for (int i = 0; i < 64000000; i += 1000000) x = x * p[n];
  for (int i = 0; i < 64000000; i += 1000001) x = x * p[n];
  for (int i = 64000000; i > 0; i += -1000000) x = x * p[n];
  for (int i = 64000000; i > 0; i += -1000001) x = x * p[n];
  for (int i = 0; i != 64; i += 3) x = x * p[n];
  for (int i = 0; i != 60; i += 3) x = x * p[n];
  for (int i = 0; i != -5; i++) x = x * p[n];
  for (int i = 0; i >= 0; i++) x = x * p[n];
  for (int i = 5; i >= 5; i--) x = x * p[n];
  for (int i = 5; i <= 5; i++) x = x * p[n];
  for (int i = 5; i == 5; i++) x = x * p[n];
  for (int i = 1; i < 64; i *= 0) x = x * p[n];
  for (int i = 1; i < 64; i *= 1) x = x * p[n];
  for (int i = 1; i < 64; i *= -2) x = x * p[n];
  for (int i = 64; i > 0; i /= 0) x = x * p[n];
  for (int i = 64; i > 0; i /= 1) x = x * p[n];
  for (long long i = 1LL << 39; i > 0; i /= 2) x = x * p[n];
  for (long long i = 1LL << 40; i > 0; i >>= 1) x = x * p[n];
  for (long long i = 1LL << 40; i > 0; i >>= 62) x = x * p[n];
  for (long long i = 1LL << 40; i > 0; i >>= 63) x = x * p[n];
  for (int i = 1024; i > 0; i >>= -1) x = x * p[n];
  for (int i = 1024; i > 0; i >>= 0) x = x * p[n];
  for (int i = 1; i < 1 << 30; i <<= 1) x = x * p[n];
  for (int i = 1; i < 1 << 30; i <<= 19) x = x * p[n];
  for (int i = 1; i < 1 << 30; i <<= 20) x = x * p[n];
  for (int i = 1; i < 1 << 30; i <<= -1) x = x * p[n];
  for (int i = 1; i < 1 << 30; i <<= 0) x = x * p[n];
  for (int i = 0; i < (int)sizeof(x) * 16; ++i) x = x * p[n];
  while (k++ < 64) x = x * p[n];
  while (x > 1) x = x * p[n];
  do x = x * p[n]; while (k-- > 0);
  do { x = x * p[n]; } DONE;
  do { x = x * p[n]; } while (0);
  LOOP_OF(i, 64) x = x * p[n];
  LOOP_OF(i, 31) { x = x * p[n]; }
  float a[40], b[2][40];
  for (int i = 0; i < 40; i++) a[i] = x * p[i];
  for (int i = 0; i < 40; i++) a[39 - i] += p[i];
  for (int i = 0; i < 40; i++) b[1][i] += p[i];
  for (int i = 0; i < 40; i++) i[a] = x;
  for (int i = 0; i < n; i++) a[i & 3] += x;
  for (float f : a) x = x * f;
  for (const float &f : a) x += f;
  p[0] = x + a[k] + b[m & 1][3];
}

// what stands before a loop
__global__ void pragmas(float *p, int n) {
  float x = p[0];
#pragma unroll 0
  for (int i = 0; i < n; i++) x *= p[i];
#pragma unroll 1
  for (int i = 0; i < n; i++) x *= p[i];
#pragma unroll 10
  for (int i = 0; i < n; i++) x *= p[i];
#pragma unroll 01
  for (int i = 0; i < n; i++) x *= p[i];
#pragma unroll (  8)
  for (int i = 0; i < n; i++) x *= p[i];
#pragma unroll
  /* a comment */
  // and another
  for (int i = 0; i < n; i++) x *= p[i];
#pragma GCC unroll 4
  for (int i = 0; i < n; i++) x *= p[i];
#pragma clang loop unroll(full)
  for (int i = 0; i < n; i++) x *= p[i];
#pragma clang loop unroll(disable)
  for (int i = 0; i < n; i++) x *= p[i];
#pragma no_unroll
  for (int i = 0; i < n; i++) x *= p[i];
#pragma UNROLL
  for (int i = 0; i < n; i++) x *= p[i];
#pragma nv_diag_suppress 177
  for (int i = 0; i < n; i++) x *= p[i];
  AS_PRAGMA(unroll) for (int i = 0; i < n; i++) x *= p[i];
  AS_PRAGMA(unroll 1) for (int i = 0; i < n; i++) x *= p[i];
  UNROLL_BY(8) for (int i = 0; i < n; i++) x *= p[i];
  UNROLL_BY(1) for (int i = 0; i < n; i++) x *= p[i];
  unroll_it(1) for (int i = 0; i < n; i++) x *= p[i];
  unroll_it((1)) for (int i = 0; i < n; i++) x *= p[i];
  FULL_UNROLL for (int i = 0; i < n; i++) x *= p[i];
  FULL_UNROLL /* why */ for (int i = 0; i < n; i++) x *= p[i];
  NO_UNROLL for (int i = 0; i < n; i++) x *= p[i];
  nounrolling for (int i = 0; i < n; i++) x *= p[i];
  _Pragma("unroll") for (int i = 0; i < n; i++) x *= p[i];
  _Pragma("unroll 1") while (x > n) x *= p[n];
  FULL_UNROLL while (x > n) x *= p[n];
  FULL_UNROLL do x *= p[n]; while (x > n);
  { FULL_UNROLL for (int i = 0; i < n; i++) x = heavy(x, n); }
  if (n) FULL_UNROLL for (int i = 0; i < n; i++) x = heavy(x, n);
  p[0] = x;
}

// what a name stands for, when calls are measured: what is held, and what cannot be
struct float2_like { float x, y; };
struct bits { int a : 3; int b; };
struct based : float2_like { float z; };
union either { float f; int i; };
class hidden { int a; public: int b; };
struct with_const { const int a; int b; };
struct with_volatile { volatile int a; int b; };
struct with_array { int a[3]; int b; };
struct with_pointer { int *a; int b; };
struct nested { float2_like a, b; struct { int c; } d; };
struct anonymous { struct { int a; }; int b; };
struct empty {};
struct sixteen { int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p; };
struct seventeen { int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q; };
struct float5 { float x; };
struct float0 { float x; };
struct floats4 { float x; };
struct float44 { float x; };
struct uchar3 { unsigned char x, y, z; };
struct half_like { short x; };
struct __half { unsigned short x; };
struct __half2 { __half x, y; };
struct __half_raw { unsigned short x; };
struct __nv_bfloat16 { unsigned short x; };
struct __nv_bfloat162 { __nv_bfloat16 x, y; };
struct char1_t { char x; };
struct a_field_with_a_long_name { struct { struct { struct { int the_last_of_them_has_a_name_that_is_long_too; } the_third_of_the_fields_is_named_so_that_it_needs_room; } the_second_of_the_fields_has_a_name_of_some_length; } the_first_of_the_fields_has_such_a_name; };
template <class T> __global__ void held(float *p, int n, T t) {
  float x = p[0];
  float2_like a = {x, x}; bits b = {1, 2}; based c; either d; hidden e; with_const f = {1, 2}; with_volatile g; with_array h; with_pointer i; nested j; anonymous k; empty l;
  sixteen m; seventeen o; float5 q; float0 r; floats4 s; float44 u; uchar3 v; half_like w; __half y; __half2 z; __nv_bfloat16 aa; __nv_bfloat162 ab; char1_t ac;
  a_field_with_a_long_name ad; __int128 ae = 1; unsigned __int128 af = 2; bool ag = true; char ah = 'a'; wchar_t ai = 1; char16_t aj = 2; long long ak = 3; double al = 4; long double am = 5;
  const int an = n; volatile int ao = n; static int ap; int &aq = n; int *ar = &n; T as = t; auto at = t; auto au = x; int av[3]; __half_raw aw; float2_like *ax = &a; enum { AY = 3 } ay = AY; signed char az = 1;
  a.x += x; b.b += n; c.x = x; d.f = x; e.b = n; g.b = n; h.b = n; i.b = n; j.a.x = x; k.b = n; m.a = n; o.a = n; q.x = x; r.x = x; s.x = x; u.x = x; v.x = 1; w.x = 1; y.x = 1; z.x = y; aa.x = 1; ab.x = aa; ac.x = 1;
  ad.the_first_of_the_fields_has_such_a_name.the_second_of_the_fields_has_a_name_of_some_length.the_third_of_the_fields_is_named_so_that_it_needs_room.the_last_of_them_has_a_name_that_is_long_too = n;
  ae += n; af += n; ag = n; ah = n; ai = n; aj = n; ak = n; al = x; am = x; ao = n; ap = n; aq = n; ar[0] = n; as = t; at = t; au = x; av[1] = n; aw.x = 1; ax->x = x; ay = AY; az = 2;
  x = heavy(x, n);
  for (int ba = 0; ba < n; ba++) { x = other(x, ba); nothing(x); place(p, n) = x; x += moved(p, n); x += typed(x, n); x += named(x, n); x += typed(t, n); x += named(t, n); }
  x = heavy(x, n), nothing(x), x = other(x, n);
  x = n ? heavy(x, n) : other(x, n);
  x = (n && heavy(x, n) > 2) || other(x, n) > 3;
  p[0] = x + a.x + b.b + c.x + d.f + e.b + f.b + g.b + h.b + i.b + j.a.x + k.b + m.a + o.a + q.x + r.x + s.x + u.x + v.x + w.x + y.x + z.x.x + aa.x + ab.x.x + ac.x + (int)ae + (int)af + ag + ah + ai + aj + ak + al + am;
  p[1] = an + ao + ap + aq + ar[0] + as + at + au + av[1] + aw.x + ax->x + ay + az;
}

// roles of warps
template <int Threads> __global__ void roles(float *p, int n) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, half = threadIdx.x / 16, odd = threadIdx.x / 48, third = threadIdx.x >> 4, fifth = threadIdx.x >> 5, sixth = threadIdx.x >> 6, role_id = lane * 2, threads_all = 64;
  constexpr int math_threads = 64;
  float x = p[0];
  if (warp == 0) { x = heavy(x, n); } else { x = other(x, n); }
  if (half == 0) { x = heavy(x, n); } else { x = other(x, n); }
  if (odd == 0) { x = heavy(x, n); } else { x = other(x, n); }
  if (third == 0) { x = heavy(x, n); } else { x = other(x, n); }
  if (fifth == 0) { x = heavy(x, n); } else { x = other(x, n); }
  if (sixth == 0) { x = heavy(x, n); } else { x = other(x, n); }
  if (role_id == 0) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < 32) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < 31) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < 0) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x <= 64) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x >= 48) { x = heavy(x, n); } else { x = other(x, n); }
  if (96 > threadIdx.x) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x == 64) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < Threads) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < math_threads) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < threads_all) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < n) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < blockDim.x - 32) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x < lane) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.y == 1) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.z == 1) { x = heavy(x, n); } else { x = other(x, n); }
  if (blockIdx.y == 1) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x / n == 1) { x = heavy(x, n); } else { x = other(x, n); }
  if (threadIdx.x / 32 / 2 == 1) { x = heavy(x, n); } else { x = other(x, n); }
  if (n / 32 == 1) { x = heavy(x, n); } else { x = other(x, n); }
  if (__shfl_sync(~0u, threadIdx.x, 0) == 1) { x = heavy(x, n); } else { x = other(x, n); }
  if (int w = threadIdx.x / 32; w == 1) { x = heavy(x, n); } else if (w == 2) { x = other(x, n); } else if (w > 2) { nothing(x); }
  if (warp == 1) { if (lane == 0) x = heavy(x, n); } else if (warp == 2) { __syncwarp(); x += 1; } else { }
  if (n) { if (warp == 1) x = heavy(x, n); else x = other(x, n); } else { if (warp == 2) { x = heavy(x, n); } else { x = other(x, n); } }
  switch (warp) {
  case 0: case 1: x = heavy(x, n); break;
  case 2: { x = other(x, n); break; }
  case 3: { x = heavy(x, n); } break;
  case 4: case 5: default: x = other(x, n); nothing(x);
  }
  switch (threadIdx.x >> 5) case 0: x = heavy(x, n);
  switch (warp) { x += 1; case 7: ; case 8: return; default: { for (int i = 0; i < n; i++) x = heavy(x, i); } }
  switch (int w = threadIdx.x / 64) { case 0: x = heavy(x, n); break; default: x = other(x, n); }
  switch (n) { case 0: x = heavy(x, n); break; default: x = other(x, n); }
  if (warp == 3) { x = heavy(x, n); return; }
  x = other(x, n);
  p[threadIdx.x] = x;
}
__global__ void producer_first(float *p, int n) {
  const int role = threadIdx.x / 32;
  if (role == 0) {
    for (int i = 0; i < n; i++) { asm volatile("cp.async.wait_all;"); p[i] = i; }
    return;
  }
  for (int i = 0; i < n; i++) { __syncwarp(); p[i] += 1; }
  if (role == 1) return;
  p[0] = heavy(p[1], n);
}
__global__ void two_arms(float *p, int n) {
  if (threadIdx.x < 128) for (int i = 0; i < n; i++) p[i] = heavy(p[i], i);
  else for (int i = 0; i < n; i++) p[i] = other(p[i], i);
}

// comments
__global__ void comments(float *p, int n) { // prof:loop before
  float x = p[0];
  for (int i = 0; i < n; i++) { /*prof:loop A*/ x = heavy(x, n); }
  for (int i = 0; i < n; i++) { //prof: loop B   
    x = heavy(x, n); }
  for (int i = 0; i < n; i++) { /* prof:  iteration  i */ x = heavy(x, n); }
  for (int i = 0; i < n; i++) /* prof: loop C */ { x = heavy(x, n); }
  /* prof: mark a1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456 */
  /* prof: mark b12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345 */
  /**/
  // prof
  /* profile: mark D */
  /* prof: mark	E	 */
  x += 1; /* prof: mark F */ x += 2;
  // prof: begin H
  x = heavy(x, n);
  x += 1; // prof: end H
  // prof: begin H
  x = heavy(x, n);
  // prof: end H
  p[0] = x;
}
// prof: off
__global__ void off_before(float *p, int n) { for (int i = 0; i < n; i++) p[i] = heavy(p[i], i); }
__global__ void off_inside(float *p, int n) { // prof: off
  for (int i = 0; i < n; i++) p[i] = heavy(p[i], i); }
__global__ void off_later(float *p, int n) { for (int i = 0; i < n; i++) p[i] = heavy(p[i], i); /* prof: off */ p[0] += 1; }

// by hand
__global__ void by_hand(float *p, int n) {
  PROF_KERNEL_IF(n > 2, ByHand);
  float x = p[0];
  PROF_BEGIN(A); x = heavy(x, n); PROF_END(A);
  PROF_BEGIN(B); x = heavy(x, n); x = other(x, n); PROF_END(B);
  { PROF_SCOPE(C); x = heavy(x, n); }
  { PROF_SCOPE(C); return; }
  for (int i = 0; i < n; i++) { PROF_ITER(i); x = heavy(x, n); }
  for (int i = 0; i < n; i++) { PROF_BEGIN(D); x = heavy(x, i); PROF_END(D); }
  for (int i = 0; i < n; i++) { PROF_SUM_BEGIN(E); x = heavy(x, i); PROF_SUM_END(E); }
  for (int i = 0; i < n; i++) { auto f = [&](float y) { PROF_LAMBDA(); PROF_BEGIN(F); y = heavy(y, n); PROF_END(F); return y; }; x = f(x); }
  PROF_VALUE(G, (n + 1) * (2 + (int)x)); PROF_MARK(H); PROF_EVENT(I); PROF_CLOCKS();
  p[0] = x;
}
__global__ void with_rows(float *p, int n) { PROF_KERNEL_ROWS(WithRows, 100); for (int i = 0; i < n; i++) { PROF_ITER(i); p[i] = heavy(p[i], n); } }
__global__ void with_both(float *p, int n) { PROF_KERNEL_ROWS_IF(n, WithBoth, 100); for (int i = 0; i < n; i++) { PROF_ITER(i); p[i] = heavy(p[i], n); } }

// digraphs, attributes, names beside macros
#define HEAD(name) __global__ void name
#define K(name, ...) __global__ void name(float *p, int n) { __VA_ARGS__ }
#define BODY { for (int i = 0; i < n; i++) p[i] = heavy(p[i], i); }
__global__ void digraphs(float *p, int n) <% for (int i = 0; i < n; i++) <% p<:i:> = heavy(p<:i:>, i); %> %>
HEAD(by_macro)(float *p, int n) { for (int i = 0; i < n; i++) { p[i] = heavy(p[i], i); } }
K(whole_macro, for (int i = 0; i < n; i++) { p[i] = heavy(p[i], i); })
__global__ void body_macro(float *p, int n) BODY
extern "C" __global__ void c_linkage(float *p, int n) { p[0] = heavy(p[0], n); }
extern "C" { __global__ __launch_bounds__(128, 2) void c_block(float *p, int n) { p[0] = heavy(p[0], n); } }
extern "C++" __global__ void cpp_linkage(float *p, int n) { p[0] = heavy(p[0], n); }
[[maybe_unused]] static __global__ void attributed(float *p, int n) try { p[0] = heavy(p[0], n); } catch (...) { }
__global__ void empty_body(float *p, int n) {}
__global__ void only_comment(float *p, int n) { /* nothing */ }
__global__ void declared_only(float *p, int n);
__global__ void one_line(float *p,int n){p[0]=heavy(p[0],n);}
__global__ void waits_in(float *p, int n) {
  __syncthreads(); __syncwarp(); for (int i = 0; i < n; i++) { __syncthreads(); p[i] += 1; __syncwarp(); }
  if (n) __syncthreads(); else __syncwarp();
  asm volatile("bar.sync 0;"); asm("bar.warp.sync 0xffffffff;"); asm volatile("cp.async.wait_group %0;" :: "n"(2)); asm volatile("mbarrier.try_wait.parity.shared.b64 p, [%0], %1;" :: "r"(1), "r"(2));
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); asm volatile("barrier.cluster.wait;"); asm volatile("nanosleep.u32 20;"); asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); asm volatile("// bar.sync 1;");
  while (p[0] < 1) { } while (atomicAdd(p, 0) < 1) ; do { __nanosleep(1); } while (p[1] < 2);
  if (threadIdx.x == 0) __syncthreads(); if (threadIdx.x > n) { while (p[2] > 0) __syncwarp(); }
  unsigned lane; asm("mov.u32 %0, %laneid;" : "=r"(lane)); if (lane == 0) __syncwarp(); unsigned tid; asm("mov.u32 %0, %tid.x;" : "=r"(tid)); if (tid == 0) p[0] = heavy(p[0], n);
}
void host(float *p) { heads<<<1, 32>>>(p, 3); heads_short<<<1, 32>>>(p, 3); held<float><<<1, 32>>>(p, 3, 1.0f); roles<64><<<1, 128>>>(p, 3); auto f = [=] __device__(int i) { p[i] = heavy(p[i], i); }; (void)f; }
