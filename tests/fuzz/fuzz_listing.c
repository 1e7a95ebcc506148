/* SPDX-License-Identifier: MIT */
/* Fuzzes the reader of disassembler listings and the analysis behind it. */
#include "inkmark/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const ink_verify_options options = {.size = sizeof options, .bookkeeping = size & 1};
  ink_verify *verify = NULL;
  if (ink_verify_listing((const char *)data, size, &options, &verify, NULL) == INK_OK)
    ink_verify_free(verify);
  return 0;
}
