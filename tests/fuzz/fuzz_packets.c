/* SPDX-License-Identifier: MIT */
/* Fuzzes the reader of Perfetto traces. What it accepts has kernels in their order, each with a name, a place and a
 * length, and is read the same way twice. */
#include "fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_file input;

static uint64_t sum_of(const ink_foreign *f) {
  const ink_foreign_kernel *k;
  const size_t n = ink_foreign_kernels(f, &k);
  uint64_t sum = n;
  for (size_t i = 0; i < n; i++) {
    FUZZ_CHECK(k[i].begin_ns <= k[i].end_ns && ink_foreign_name(f, k[i].type->name) && ink_foreign_find_place(f, &k[i]));
    FUZZ_CHECK(!k[i].type->grid_dim[0] == !k[i].type->block_dim[2]);
    sum = (sum ^ (uint64_t)k[i].begin_ns) * 0x100000001b3ull ^ (uint64_t)k[i].end_ns;
    sum = sum * 0x100000001b3ull ^ (uint64_t)k[i].type->stream ^ (uint64_t)k[i].type->device << 32;
  }
  return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ink_status status[2];
  uint64_t sums[2] = {0};
  fuzz_put(&input, data, size);
  for (int i = 0; i < 2; i++) {
    ink_foreign *foreign = calloc(1, sizeof *foreign);
    ink_error error = {0};
    FUZZ_CHECK(foreign);
    status[i] = ink_perfetto_read(foreign, input.path, NULL, &error);
    fuzz_failed(status[i], &error);
    if (status[i] == INK_OK)
      sums[i] = sum_of(foreign);
    ink_foreign_free(foreign);
  }
  FUZZ_CHECK(status[0] == status[1] && sums[0] == sums[1]);
  return 0;
}
