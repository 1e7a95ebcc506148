// SPDX-License-Identifier: MIT
// Every call marked
#define NS lib
#define DEV __device__ __forceinline__
#define BOUNDS(n) __launch_bounds__(n)
#define EXPORT extern "C"
namespace NS { DEV float f(float x) { for (int i=0;i<8;i++) x = x*0.5f+1; return x; }
  template <bool B = true> DEV void g(float &x) { for (int i=0;i<8;i++) x = x*0.5f+1; } }
#define SCALE 2.0f
#define INF (1.0f/0.0f)
__global__ void BOUNDS(64) k(float *p) { float x = p[threadIdx.x];
  x = NS::f(x);
  NS::g(x);
  NS::template g<false>(x);
  x = lib::f(SCALE);
  x += lib::f(x) * SCALE;
  lib::g<true>(x);
  p[threadIdx.x] = x; }
EXPORT __global__ void ke(float *p) { float x = p[0]; lib::g(x); p[0] = x; }
void go(float*a){ k<<<1,32>>>(a); }
