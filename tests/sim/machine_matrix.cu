/* SPDX-License-Identifier: MIT */
/* Kernels of machine_matrix_test.c: D = A B + C by mma.sync in each shape, its fragments loaded element by element as
 * PTX's manual has them, by ldmatrix, and by wmma through CUDA's own header. Matrices are doubles, by rows. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

#include <type_traits>

#define KERNEL extern "C" __global__ void
#define LANE (threadIdx.x % 32)
#define GROUP (LANE / 4)
#define IN_GROUP (LANE % 4)

typedef const double *matrix;

__device__ uint32_t half_bits(double x) { return __half_as_ushort(__float2half((float)x)); }
__device__ uint32_t bfloat_bits(double x) { return __bfloat16_as_ushort(__float2bfloat16((float)x)); }
__device__ uint32_t byte_bits(double x) { return (uint32_t)(int)x & 0xff; }
__device__ uint32_t float_bits(double x) { return __float_as_uint((float)x); }
__device__ float half_value(uint32_t bits) { return __half2float(__ushort_as_half((unsigned short)bits)); }

typedef uint32_t bits_of(double);

/* A of 16 x K with two 16-bit elements a register: a0 and a1 ... a7 of the manual. */
template <bits_of bits> __device__ void a_of_16_bits(uint32_t *a, matrix m, int k)
{
  for (int i = 0; i < (k == 16 ? 8 : 4); i += 2) {
    const int row = i < 2 || (i >= 4 && i < 6) ? GROUP : GROUP + 8;
    const int column = IN_GROUP * 2 + (i >= 4 ? 8 : 0);
    a[i / 2] = bits(m[row * k + column]) | bits(m[row * k + column + 1]) << 16;
  }
}
template <bits_of bits> __device__ void b_of_16_bits(uint32_t *b, matrix m, int k)
{
  for (int i = 0; i < (k == 16 ? 4 : 2); i += 2) {
    const int row = IN_GROUP * 2 + (i >= 2 ? 8 : 0);
    b[i / 2] = bits(m[row * 8 + GROUP]) | bits(m[(row + 1) * 8 + GROUP]) << 16;
  }
}
/* A of 16 x K bytes. */
__device__ void a_of_bytes(uint32_t *a, matrix m, int k)
{
  for (int i = 0; i < (k == 32 ? 16 : 8); i++) {
    const int row = k == 32 ? (i < 4 || (i >= 8 && i < 12) ? GROUP : GROUP + 8) : i < 4 ? GROUP : GROUP + 8;
    const int column = IN_GROUP * 4 + (i & 3) + (i >= 8 ? 16 : 0);
    if (i % 4 == 0) a[i / 4] = 0;
    a[i / 4] |= byte_bits(m[row * k + column]) << (8 * (i % 4));
  }
}
__device__ void b_of_bytes(uint32_t *b, matrix m, int k)
{
  for (int i = 0; i < (k == 32 ? 8 : 4); i++) {
    const int row = IN_GROUP * 4 + (i & 3) + (i >= 4 ? 16 : 0);
    if (i % 4 == 0) b[i / 4] = 0;
    b[i / 4] |= byte_bits(m[row * 8 + GROUP]) << (8 * (i % 4));
  }
}
__device__ int c_row(int i) { return i < 2 ? GROUP : GROUP + 8; }
__device__ int c_at(int i) { return c_row(i) * 8 + IN_GROUP * 2 + (i & 1); }

#define F32_C(c) "f"((float)c[c_at(0)]), "f"((float)c[c_at(1)]), "f"((float)c[c_at(2)]), "f"((float)c[c_at(3)])
#define OUT(d, x) for (int i = 0; i < 4; i++) d[c_at(i)] = x[i]

#define MMA_16_BITS(name, bits, type) \
  KERNEL mma_##name##_k16(matrix ma, matrix mb, matrix mc, double *md) \
  { \
    uint32_t a[4], b[2]; \
    float d[4]; \
    a_of_16_bits<bits>(a, ma, 16), b_of_16_bits<bits>(b, mb, 16); \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};" \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), F32_C(mc)); \
    OUT(md, d); \
  } \
  KERNEL mma_##name##_k8(matrix ma, matrix mb, matrix mc, double *md) \
  { \
    uint32_t a[2], b[1]; \
    float d[4]; \
    a_of_16_bits<bits>(a, ma, 8), b_of_16_bits<bits>(b, mb, 8); \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), F32_C(mc)); \
    OUT(md, d); \
  }
MMA_16_BITS(f16, half_bits, "f16")
MMA_16_BITS(bf16, bfloat_bits, "bf16")

KERNEL mma_f16_k16_f16(matrix ma, matrix mb, matrix mc, double *md)
{
  uint32_t a[4], b[2], c[2], d[2];
  a_of_16_bits<half_bits>(a, ma, 16), b_of_16_bits<half_bits>(b, mb, 16);
  for (int i = 0; i < 2; i++) c[i] = half_bits(mc[c_at(2 * i)]) | half_bits(mc[c_at(2 * i + 1)]) << 16;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
  for (int i = 0; i < 4; i++) md[c_at(i)] = half_value(d[i / 2] >> (16 * (i % 2)));
}

KERNEL mma_tf32_k8(matrix ma, matrix mb, matrix mc, double *md)
{
  uint32_t a[4], b[2];
  float d[4];
  for (int i = 0; i < 4; i++) a[i] = float_bits(ma[(i == 0 || i == 2 ? GROUP : GROUP + 8) * 8 + (i < 2 ? IN_GROUP : IN_GROUP + 4)]);
  for (int i = 0; i < 2; i++) b[i] = float_bits(mb[(i == 0 ? IN_GROUP : IN_GROUP + 4) * 8 + GROUP]);
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), F32_C(mc));
  OUT(md, d);
}
KERNEL mma_tf32_k4(matrix ma, matrix mb, matrix mc, double *md)
{
  float d[4];
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
               : "r"(float_bits(ma[GROUP * 4 + IN_GROUP])), "r"(float_bits(ma[(GROUP + 8) * 4 + IN_GROUP])),
                 "r"(float_bits(mb[IN_GROUP * 8 + GROUP])), F32_C(mc));
  OUT(md, d);
}

#define S32_C(c) "r"((int)c[c_at(0)]), "r"((int)c[c_at(1)]), "r"((int)c[c_at(2)]), "r"((int)c[c_at(3)])
#define MMA_BYTES(name, types) \
  KERNEL mma_##name##_k32(matrix ma, matrix mb, matrix mc, double *md) \
  { \
    uint32_t a[4], b[2]; \
    int d[4]; \
    a_of_bytes(a, ma, 32), b_of_bytes(b, mb, 32); \
    asm volatile("mma.sync.aligned.m16n8k32.row.col" types " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};" \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), S32_C(mc)); \
    OUT(md, d); \
  } \
  KERNEL mma_##name##_k16(matrix ma, matrix mb, matrix mc, double *md) \
  { \
    uint32_t a[2], b[1]; \
    int d[4]; \
    a_of_bytes(a, ma, 16), b_of_bytes(b, mb, 16); \
    asm volatile("mma.sync.aligned.m16n8k16.row.col" types " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), S32_C(mc)); \
    OUT(md, d); \
  }
MMA_BYTES(s8, ".s32.s8.s8.s32")
MMA_BYTES(u8, ".s32.u8.s8.s32")
MMA_BYTES(saturated, ".satfinite.s32.s8.s8.s32")

KERNEL mma_s8_m8(matrix ma, matrix mb, matrix mc, double *md)
{
  uint32_t a = 0, b = 0;
  int d[2];
  for (int i = 0; i < 4; i++) {
    a |= byte_bits(ma[GROUP * 16 + IN_GROUP * 4 + i]) << (8 * i);
    b |= byte_bits(mb[(IN_GROUP * 4 + i) * 8 + GROUP]) << (8 * i);
  }
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%4,%5};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a), "r"(b), "r"((int)mc[c_at(0)]), "r"((int)mc[c_at(1)]));
  for (int i = 0; i < 2; i++) md[c_at(i)] = d[i];
}
KERNEL mma_f64_m8(matrix ma, matrix mb, matrix mc, double *md)
{
  double d[2];
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(ma[GROUP * 4 + IN_GROUP]), "d"(mb[IN_GROUP * 8 + GROUP]), "d"(mc[c_at(0)]), "d"(mc[c_at(1)]));
  for (int i = 0; i < 2; i++) md[c_at(i)] = d[i];
}

/* The way that kernels go: tiles in shared memory, ldmatrix, of B transposed, stmatrix of the result. */
KERNEL by_ldmatrix(matrix ma, matrix mb, matrix mc, double *md)
{
  __shared__ __align__(16) unsigned short sa[16][16], sb[16][8], sd[16][8];
  uint32_t a[4], b[2], c[2], d[2];
  for (int i = LANE; i < 256; i += 32) sa[i / 16][i % 16] = (unsigned short)half_bits(ma[i]);
  for (int i = LANE; i < 128; i += 32) sb[i / 8][i % 8] = (unsigned short)half_bits(mb[i]);
  for (int i = 0; i < 2; i++) c[i] = half_bits(mc[c_at(2 * i)]) | half_bits(mc[c_at(2 * i + 1)]) << 16;
  __syncwarp();
  const uint32_t from_a = (uint32_t)__cvta_generic_to_shared(&sa[LANE % 16][LANE / 16 * 8]);
  const uint32_t from_b = (uint32_t)__cvta_generic_to_shared(&sb[LANE % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(from_a) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(from_b) : "memory");
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"((uint32_t)__cvta_generic_to_shared(&sd[LANE % 16][0])), "r"(d[0]), "r"(d[1]) : "memory");
  __syncwarp();
  for (int i = LANE; i < 128; i += 32) md[i] = half_value(sd[i / 8][i % 8]);
}

/* What one tile is in registers, straight and transposed, from memory, in registers and to memory. */
KERNEL tile_ways(uint32_t *out)
{
  __shared__ __align__(16) unsigned short in[8][8], back[2][8][8];
  uint32_t straight, transposed, moved;
  for (int i = LANE; i < 64; i += 32) in[i / 8][i % 8] = (unsigned short)(100 + i);
  __syncwarp();
  const uint32_t from = (uint32_t)__cvta_generic_to_shared(&in[LANE % 8][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%0}, [%1];" : "=r"(straight) : "r"(from) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(transposed) : "r"(from) : "memory");
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(straight));
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"((uint32_t)__cvta_generic_to_shared(&back[0][LANE % 8][0])), "r"(straight) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"((uint32_t)__cvta_generic_to_shared(&back[1][LANE % 8][0])), "r"(straight) : "memory");
  __syncwarp();
  out[LANE] = straight;
  out[32 + LANE] = transposed;
  out[64 + LANE] = moved;
  for (int i = LANE; i < 128; i += 32) out[96 + i] = back[i / 64][i / 8 % 8][i % 8];
}

/* ---- wmma: whatever the fragments are, the product is this ---- */
template <class T> __device__ T from_double(double x) { return (T)x; }
template <> __device__ half from_double<half>(double x) { return __float2half((float)x); }
template <> __device__ __nv_bfloat16 from_double<__nv_bfloat16>(double x) { return __float2bfloat16((float)x); }
template <class T> __device__ double to_double(T x) { return (double)x; }
template <> __device__ double to_double<half>(half x) { return __half2float(x); }

template <class T, class F, class Acc, class LayoutA, class LayoutB, int m, int n, int k>
__device__ void wmma_product(matrix ma, matrix mb, matrix mc, double *md)
{
  using namespace nvcuda::wmma;
  constexpr bool a_rows = std::is_same<LayoutA, row_major>::value, b_rows = std::is_same<LayoutB, row_major>::value;
  __shared__ __align__(32) T a[m * (k + 8)], b[k * n];
  __shared__ __align__(32) Acc c[m * n];
  constexpr int lda = a_rows ? k + 8 : m; /* a stride that is not the width */
  for (int i = LANE; i < m * k; i += 32) a[a_rows ? i / k * lda + i % k : i % k * lda + i / k] = from_double<T>(ma[i]);
  for (int i = LANE; i < k * n; i += 32) b[b_rows ? i : i % n * k + i / n] = from_double<T>(mb[i]);
  for (int i = LANE; i < m * n; i += 32) c[i] = from_double<Acc>(mc[i]);
  __syncwarp();
  fragment<matrix_a, m, n, k, F, LayoutA> fa;
  fragment<matrix_b, m, n, k, F, LayoutB> fb;
  fragment<accumulator, m, n, k, Acc> fc, fd;
  load_matrix_sync(fa, a, lda);
  load_matrix_sync(fb, b, b_rows ? n : k);
  load_matrix_sync(fc, c, n, mem_row_major);
  fill_fragment(fd, from_double<Acc>(7));
  mma_sync(fd, fa, fb, fc); /* and C once more, element by element: C and D have one layout */
  for (int i = 0; i < fd.num_elements; i++) fd.x[i] = fd.x[i] + fc.x[i];
  store_matrix_sync(c, fd, m, mem_col_major);
  __syncwarp();
  for (int i = LANE; i < m * n; i += 32) md[i] = to_double<Acc>(c[i % n * m + i / n]);
}
using nvcuda::wmma::row_major;
using nvcuda::wmma::col_major;
#define WMMA(name, ...) \
  KERNEL wmma_##name(matrix a, matrix b, matrix c, double *d) { wmma_product<__VA_ARGS__>(a, b, c, d); }
WMMA(f16, half, half, float, row_major, col_major, 16, 16, 16)
WMMA(f16_tall, half, half, half, col_major, row_major, 32, 8, 16)
WMMA(f16_wide, half, half, float, row_major, row_major, 8, 32, 16)
WMMA(bf16, __nv_bfloat16, __nv_bfloat16, float, col_major, col_major, 16, 16, 16)
WMMA(tf32, float, nvcuda::wmma::precision::tf32, float, row_major, col_major, 16, 16, 8)
WMMA(s8, signed char, signed char, int, row_major, col_major, 16, 16, 16)
WMMA(u8_tall, unsigned char, unsigned char, int, row_major, row_major, 32, 8, 16)
WMMA(f64, double, double, double, row_major, col_major, 8, 8, 4)

KERNEL not_there(double *d)
{
  uint32_t x = 0;
  asm volatile("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%0,%0,%0,%0}, {%0,%0,%0,%0}, {%0,%0}, {%0,%0,%0,%0};" : "+r"(x));
  *d = x;
}
