// SPDX-License-Identifier: MIT
// CRLF, tabs, UTF-8 (größe), a byte order mark, no newline at the end.
namespace text {
__device__ int grow(int n) {
	for (int i = 0; i < 3; i++)
		n += i; // …
	return n;
}
__global__ void k(int *x)	{
#pragma unroll
	for (int i = 0; i < 3; i++)	{ x[threadIdx.x] += grow(i);	}
}
inline void run() { check<int>("text.k", [](int *x) { k<<<1, 64>>>(x); }); }
} // namespace text