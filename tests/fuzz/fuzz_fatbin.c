/* SPDX-License-Identifier: MIT */
/* The fat binary reader on any bytes; what it finds is read to its end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  for (int capability = 75; capability <= 120; capability += 45) {
    char *text = NULL;
    int target = 0;
    if (fatbin_find_ptx(data, bytes, capability, &text, &target)) {
      if (text)
        abort();
    } else if (!text || strlen(text) > (1u << 30) || target < 0) {
      abort();
    }
    free(text);
  }
  return 0;
}
