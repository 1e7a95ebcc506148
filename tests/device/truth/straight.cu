// SPDX-License-Identifier: MIT
// No loop, no branch: marks with values of every kind held in place. Two of its spans are counted
// by hand, in straight.c.
#include "truth.cuh"

#include <cuda_fp16.h>

PROF_SECTIONS(Straight, Kernel, Counted, Looped, First, Second, Third, Fourth)

constexpr int blocks = 4, threads = 32;

// Three spans that differ in the text of one asm statement alone, so that what the text costs can
// be counted by hand, whatever the mark itself costs.
#define SPAN(text) asm volatile(text : "+r"(x) : "r"(at) : "memory")

__global__ void counted_kernel(unsigned *out) {
  PROF_KERNEL(Counted);
  __shared__ unsigned cell;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&cell);
  unsigned x = threadIdx.x;
  PROF_MARK(First); // whether the ring is full is folded into one test for the first two marks
  PROF_MARK(First);
  SPAN("");
  PROF_MARK(First);
  SPAN("");
  PROF_MARK(Second);
  SPAN("add.u32 %0, %0, 1;\n\t"
       "mul.lo.u32 %0, %0, 3;\n\t"
       "bar.warp.sync -1;\n\t"
       "div.u32 %0, %0, 2;");
  PROF_MARK(Third);
  SPAN("st.shared.u32 [%1], %0;\n\t"
       "ld.shared.u32 %0, [%1];\n\t"
       "bar.sync 0;");
  PROF_MARK(Fourth);
  out[threadIdx.x] = x;
}

// The same in a loop, with a loop inside the text: its rounds are `at`.
__global__ void looped_kernel(unsigned *out) {
  PROF_KERNEL(Looped);
  unsigned x = threadIdx.x;
#pragma unroll 1
  for (unsigned at = 1; at <= 4; at++) {
    PROF_MARK(First);
    SPAN("");
    PROF_MARK(Second);
    SPAN("{\n\t"
         ".reg .pred again; .reg .u32 left;\n\t"
         "mov.u32 left, %1;\n"
         "LOOPED_%=:\n\t"
         "add.u32 %0, %0, 7;\n\t"
         "sub.u32 left, left, 1;\n\t"
         "setp.ne.u32 again, left, 0;\n\t"
         "@again bra LOOPED_%=;\n\t"
         "}");
    PROF_MARK(Third);
  }
  out[threadIdx.x] = x;
}

__global__ void straight_kernel(const float *in, float *out, int4 *vectors) {
  PROF_KERNEL(Kernel);
  const int at = blockIdx.x * threads + threadIdx.x;
  float x = in[at];
  double wide = x;
  PROF_MARK(First, x, wide);
  float parts[3] = {x + 1, x * 2, x - 3};
  wide = wide * 1.5 + 2;
  PROF_MARK(Second, parts, parts[0], wide);
  int4 vector = make_int4((int)parts[0], (int)parts[1], (int)parts[2], at);
  half narrow = __float2half(parts[1]);
  short tiny = (short)(at * 3);
  unsigned char byte = (unsigned char)(at * 7);
  PROF_MARK(Third, vector, narrow, tiny, byte);
  unsigned long long big = (unsigned long long)vector.w << 33;
  long signed_big = -(long)vector.x;
  const float fixed = __half2float(narrow) + tiny + byte;
  PROF_MARK(Fourth, big, signed_big, fixed);
  vector.z += (int)(big >> 30) + (int)signed_big;
  out[at] = (float)wide + fixed + parts[2];
  vectors[at] = vector;
}

int main() {
  std::vector<float> in, expected;
  std::vector<int4> expected_vectors;
  for (int at = 0; at < blocks * threads; at++) {
    const float x = (float)at * 0.5f;
    in.push_back(x);
    expected.push_back((float)(x * 1.5 + 2) + x * 2 + (short)(at * 3) +
                       (unsigned char)(at * 7) + x - 3);
    const int first = (int)(x + 1);
    expected_vectors.push_back(
        make_int4(first, (int)(x * 2), (int)(x - 3) + at * 8 - first, at));
  }
  float *device_in = device_zeros<float>(in.size()), *out = device_zeros<float>(in.size());
  int4 *vectors = device_zeros<int4>(in.size());
  unsigned *counted = device_zeros<unsigned>(threads),
           *looped = device_zeros<unsigned>(threads);
  CUDA(cudaMemcpy(device_in, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
  counted_kernel<<<1, threads>>>(counted);
  looped_kernel<<<1, threads>>>(looped);
  straight_kernel<<<blocks, threads>>>(device_in, out, vectors);
  CUDA(cudaGetLastError());
  std::vector<float> values = from_device(out, in.size());
  std::vector<int4> got = from_device(vectors, in.size());
  std::vector<unsigned> counts = from_device(counted, threads);
  print_bits("straight", values);
  std::vector<unsigned> loops = from_device(looped, threads);
  print_bits("vectors", got);
  print_bits("looped", loops);
  bool good = near("straight", values, expected);
  for (size_t i = 0; i < got.size(); i++)
    good &= memcmp(&got[i], &expected_vectors[i], sizeof(int4)) == 0;
  for (int i = 0; i < threads; i++) // the last lane's store to shared memory wins
    good &= counts[i] == (31 + 1) * 3 / 2 && loops[i] == i + 7u * (1 + 2 + 3 + 4);
  return good ? 0 : 1;
}
