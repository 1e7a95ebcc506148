// SPDX-License-Identifier: MIT
// One thread that feeds a pipeline by TMA, whose loop lives in uniform registers: plain (FORM 0), opened at the top
// and closed at the end of its code (1), closed by its scope (2).
#include <cstdint>

#include <cuda.h>

#include "inkmark/mark.cuh"

PROF_SECTIONS(Producer, Body, Wait, Issue)

extern "C" __global__ void __launch_bounds__(256) feed(const __grid_constant__ CUtensorMap map, int n) {
#if FORM == 1
  PROF_OPEN(Body);
#elif FORM == 2
  PROF_KERNEL(Body);
#endif
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(memory);
  if (threadIdx.x == 0) {
    uint32_t stage = 0, phase = 0;
    for (int i = 0; i < n; i++, stage++) {
      if (stage == 3) {
        stage = 0;
        phase ^= 1;
      }
      const uint32_t full = base + 8 * stage, empty = full + 32;
      asm volatile("{\n\t.reg .pred there;\n\t"
                   "again: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n\t"
                   "@there bra.uni done;\n\tbra.uni again;\n\tdone:\n\t}"
                   :
                   : "r"(empty), "r"(phase)
                   : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16384;" : : "r"(full) : "memory");
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                   " [%0], [%1, {%2, %3}], [%4];"
                   :
                   : "r"(base + 1024 + 16384 * stage), "l"(&map), "r"(64 * i), "r"(0), "r"(full)
                   : "memory");
    }
#if FORM == 1
    PROF_CLOSE();
#endif
  }
}
