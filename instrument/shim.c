/* SPDX-License-Identifier: MIT */
/* Headers of our own that the parse reads. They are handed to libclang from memory, below a folder that
 * does not exist: nothing is left behind by a parse that is ended, and none needs a place to write to. */
#include "shim.h"

#include <string.h>

/* What a kernel may name, for the parse without a toolkit. Missing names cost an error in the
 * parse, which goes on: they are not a condition for finding kernels. */
static const char shim_header[] =
    "#define __host__ __attribute__((host))\n#define __device__ __attribute__((device))\n"
    "#define __global__ __attribute__((global))\n#define __shared__ __attribute__((shared))\n"
    "#define __constant__ __attribute__((constant))\n#define __managed__ __attribute__((managed))\n"
    "#define __grid_constant__\n#define __cluster_dims__(...)\n#define __maxnreg__(...)\n"
    "#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))\n"
    "#define __forceinline__ __inline__ __attribute__((always_inline))\n"
    "#define __noinline__ __attribute__((noinline))\n#define __align__(n) "
    "__attribute__((aligned(n)))\n"
    "struct uint3 { unsigned x, y, z; };\n"
    "struct dim3 { unsigned x, y, z; __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b "
    "= 1, unsigned c = 1) : x(a), y(b), z(c) {} };\n"
    "extern const __device__ uint3 threadIdx, blockIdx;\nextern const __device__ dim3 blockDim, "
    "gridDim;\nextern const __device__ int warpSize;\n"
    "#define INK_V(b, t) struct b##1 { t x; }; struct b##2 { t x, y; }; struct b##3 { t x, y, z; "
    "}; struct b##4 { t x, y, z, w; };\n"
    "INK_V(char, signed char) INK_V(uchar, unsigned char) INK_V(short, short) INK_V(ushort, "
    "unsigned short) INK_V(int, int) struct uint1 { unsigned x; }; struct uint2 { unsigned x, y; "
    "}; struct uint4 { unsigned x, y, z, w; }; INK_V(long, long) INK_V(ulong, unsigned long) "
    "INK_V(longlong, long long) INK_V(ulonglong, unsigned long long) INK_V(float, float) "
    "INK_V(double, double)\n#undef INK_V\n"
    "typedef struct CUstream_st *cudaStream_t;\nenum cudaError_t { cudaSuccess };\n"
    "cudaError_t cudaConfigureCall(dim3, dim3, unsigned long = 0, cudaStream_t = 0);\n"
    "__device__ void __syncthreads(); __device__ void __syncwarp(unsigned = ~0u); __device__ void "
    "__threadfence(); __device__ void __threadfence_block(); __device__ void __nanosleep(unsigned);"
    "\n__device__ int __syncthreads_count(int); __device__ int __syncthreads_and(int); __device__ "
    "int __syncthreads_or(int);\n__device__ long long clock64(); __device__ int clock();\n"
    "template <class T, class U> __device__ T atomicAdd(T *, U); template <class T, class U> "
    "__device__ T atomicMax(T *, U); template <class T, class U> __device__ T atomicMin(T *, U); "
    "template <class T, class U> __device__ T atomicExch(T *, U); template <class T, class U, "
    "class "
    "V> __device__ T atomicCAS(T *, U, V);\n"
    "template <class T> __device__ T __ldg(const T *); template <class T> __device__ T "
    "__shfl_sync(unsigned, T, int, int = 32); template <class T> __device__ T "
    "__shfl_down_sync(unsigned, T, unsigned, int = 32); template <class T> __device__ T "
    "__shfl_up_sync(unsigned, T, unsigned, int = 32); template <class T> __device__ T "
    "__shfl_xor_sync(unsigned, T, int, int = 32);\n"
    "#define INK_M(f) __device__ float f(float);\n"
    "INK_M(sinf) INK_M(cosf) INK_M(expf) INK_M(logf) INK_M(sqrtf) INK_M(rsqrtf) INK_M(fabsf) "
    "INK_M(floorf) INK_M(__expf) INK_M(__logf) INK_M(__sinf) INK_M(__cosf)\n#undef INK_M\n"
    "__device__ float fmaf(float, float, float); __device__ float fmaxf(float, float); __device__ "
    "float fminf(float, float); __device__ float powf(float, float);\n";

/* Clang takes no constructor of a __shared__ variable, and then knows none of its members: the waits of a
 * cuda::barrier would be lost. */
static const char after_header[] =
    /* what nvcc's compiler knows by itself */
    "#define __NV_ATOMIC_RELAXED 0\n#define __NV_ATOMIC_CONSUME 1\n#define __NV_ATOMIC_ACQUIRE 2\n"
    "#define __NV_ATOMIC_RELEASE 3\n#define __NV_ATOMIC_ACQ_REL 4\n#define __NV_ATOMIC_SEQ_CST 5\n"
    "#define __NV_THREAD_SCOPE_THREAD 0\n#define __NV_THREAD_SCOPE_BLOCK 1\n"
    "#define __NV_THREAD_SCOPE_CLUSTER 2\n#define __NV_THREAD_SCOPE_DEVICE 3\n"
    "#define __NV_THREAD_SCOPE_SYSTEM 4\n"
    "#define INK_A(r, f) template <class T, class... A> __device__ r __nv_atomic_##f(T *, A...);\n"
    "INK_A(void, load) INK_A(T, load_n) INK_A(void, store) INK_A(void, store_n) INK_A(void, exchange)\n"
    "INK_A(T, exchange_n) INK_A(bool, compare_exchange) INK_A(bool, compare_exchange_n)\n"
    "INK_A(T, fetch_add) INK_A(T, fetch_sub) INK_A(T, fetch_or) INK_A(T, fetch_xor)\n"
    "INK_A(T, fetch_and) INK_A(T, fetch_max) INK_A(T, fetch_min) INK_A(void, add) INK_A(void, sub)\n"
    "INK_A(void, or) INK_A(void, xor) INK_A(void, and) INK_A(void, max) INK_A(void, min)\n#undef INK_A\n"
    "__device__ void __nv_atomic_thread_fence(int, int);\n"
    /* nvcc's are of the host too */
    "#define INK_H(r, a, b) __host__ r min(const a, const b); __host__ r max(const a, const b);\n"
    "INK_H(int, int, int) INK_H(float, float, float) INK_H(double, double, double) INK_H(double, float, double)\n"
    "INK_H(double, double, float)\n"
    "#define INK_U(t) INK_H(unsigned t, unsigned t, unsigned t) INK_H(unsigned t, t, unsigned t) INK_H(unsigned t, unsigned t, t)\n"
    "INK_U(int) INK_U(long) INK_U(long long) INK_H(long, long, long) INK_H(long long, long long, long long)\n"
    "#undef INK_U\n#undef INK_H\n"
    "#undef __CUDA__\n" /* clang's own, by which libraries tell it from nvcc */
    "#undef __shared__\n#define __shared__ __attribute__((annotate(\"ink_shared\")))\n"
    "#include <assert.h>\n#include <new>\n#include <time.h>\n"; /* as nvcc's own headers do */

size_t ink_shim_files(struct CXUnsavedFile files[INK_SHIM_FILES]) {
  static const struct {
    const char *name, *text;
  } all[INK_SHIM_FILES] = {{INK_SHIM "/shim.h", shim_header},
                           {INK_SHIM "/after.h", after_header},
                           /* what clang's CUDA wrapper includes and a toolkit may lack */
                           {INK_SHIM "/texture_fetch_functions.h", "\n"},
                           {INK_SHIM "/curand_mtgp32_kernel.h", "\n"}};
  for (size_t i = 0; i < INK_SHIM_FILES; i++)
    files[i] = (struct CXUnsavedFile){.Filename = all[i].name,
                                      .Contents = all[i].text,
                                      .Length = (unsigned long)strlen(all[i].text)};
  return INK_SHIM_FILES;
}
