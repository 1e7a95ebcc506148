// SPDX-License-Identifier: MIT
// What the headers of device layout 4 made of the pointer to the buffer, in files for -rdc=true.
inline __device__ void *ink_current;

__global__ void older(unsigned long long *buffer) { *buffer = (unsigned long long)ink_current; }
