/* SPDX-License-Identifier: MIT */
/* The memory of the simulated device lies above 4 GiB, as that of a GPU does, also where the program's heap lies below:
 * this one is linked to be at its own addresses. Marks take an address whose upper half is 0 for none. */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 200 };

int main(void) {
  static void *memory[COUNT];
  static char back[70000];
  void *heap = malloc(64);
  int bad = 0, low = (uintptr_t)heap >> 32 == 0;
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < COUNT; i++) {
      const size_t bytes = 1 + i * 347;
      if (cudaMalloc(&memory[i], bytes) || cudaMemset(memory[i], (int)i, bytes) ||
          cudaMemcpy(back, memory[i], bytes, cudaMemcpyDeviceToHost) || back[0] != (char)i || back[bytes - 1] != (char)i)
        bad++;
      bad += (uintptr_t)memory[i] >> 32 == 0 || (uintptr_t)memory[i] % 256 != 0;
    }
    for (size_t i = 0; i < COUNT; i++)
      bad += cudaFree(memory[i]) != cudaSuccess;
  }
  bad += cudaDeviceReset() != cudaSuccess;
  free(heap);
  printf("%d wrong, the heap lies %s\n", bad, low ? "below 4 GiB" : "above 4 GiB, so that nothing was shown");
  return bad ? 1 : low ? 0 : 77;
}
