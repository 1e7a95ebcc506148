// SPDX-License-Identifier: MIT
// A loop of warpgroup matrix instructions, three a group, one group in flight. FORM: 1 a plain mark while it is, 2 one that
// names the accumulators, 3 strict ones within a group, 4 a loaded one that names another value, 5 a loaded one, 6 a strict one.
#include <cstdint>
#include <inkmark/mark.cuh>
PROF_SECTIONS(Groups, Body, Issue, Wait)

__device__ __forceinline__ void multiply(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(128) groups(float *out, uint64_t a, uint64_t b, int n) {
  PROF_KERNEL(Body);
  float d[32] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int i = 0; i < n; i++) {
    multiply(d, a, b);
#if FORM == 3
    PROF_MARK_STRICT(Issue, d);
#endif
    multiply(d, a + 2, b + 2);
#if FORM == 3
    PROF_MARK_STRICT(Issue, d);
#endif
    multiply(d, a + 4, b + 4);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#if FORM == 1
    PROF_MARK(Issue);
#elif FORM == 2
    PROF_MARK(Issue, d);
#elif FORM == 6
    PROF_MARK_STRICT(Issue, d);
#elif FORM == 5
    PROF_MARK_LOADED(Issue, d);
#endif
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    a += 8;
    b += 8;
#if FORM == 4
    PROF_MARK_LOADED(Wait, i);
#endif
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  PROF_MARK(Wait, d);
  for (int i = 0; i < 32; i++)
    out[threadIdx.x + i * 128] = d[i];
}
