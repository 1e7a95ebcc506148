/* SPDX-License-Identifier: MIT */
/* Fuzzes the readers of Perfetto traces and of XLA profiles, each with the same bytes. What they accept has kernels in their order, each with a name, a place and a
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

typedef ink_status reader(ink_foreign *foreign, const char *path, const foreign_reading *how, ink_error *error);

static ink_status read_once(reader *read, uint64_t *sum) {
  ink_foreign *foreign = calloc(1, sizeof *foreign);
  ink_error error = {0};
  FUZZ_CHECK(foreign);
  const ink_status status = read(foreign, input.path, NULL, &error);
  fuzz_failed(status, &error);
  *sum = status == INK_OK ? sum_of(foreign) : 0;
  ink_foreign_free(foreign);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  reader *const readers[] = {ink_perfetto_read, ink_xplane_read};
  fuzz_put(&input, data, size);
  for (int i = 0; i < 2; i++) {
    uint64_t first, second;
    const ink_status status = read_once(readers[i], &first);
    FUZZ_CHECK(read_once(readers[i], &second) == status && first == second);
  }
  return 0;
}
