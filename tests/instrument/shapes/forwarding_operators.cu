// SPDX-License-Identifier: MIT
// The same places in the template kernel as in the one that is not a template.
struct params { float *p; int n; };
struct collective { __device__ void load(params const &q) { for (int i = 0; i < q.n; i++) q.p[i] += 1; } __device__ void mma(params const &q) { for (int i = 0; i < q.n; i++) q.p[i] *= 2; } };
struct fixed { __device__ void operator()(params const &q, char *) { collective c; c.load(q); __syncthreads(); c.mma(q); } };
__global__ void not_a_template(params q) { extern __shared__ char s[]; fixed op; op(q, s); }
template <class Op> __global__ void a_template(params q) { extern __shared__ char s[]; Op op; op(q, s); }
template __global__ void a_template<fixed>(params);
