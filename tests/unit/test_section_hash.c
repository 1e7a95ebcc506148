/* SPDX-License-Identifier: MIT */
/* hash48 against values that were computed apart from it (a few lines of Python with arbitrary
 * integers), so that the header's compile-time twin has fixed points to agree with. */
#include "check.h"
#include "section_hash.h"

#include <inttypes.h>

int main(void) {
  static const struct {
    const char *name, *sections;
    uint64_t hash48;
  } cases[] = {
      {"", "", UINT64_C(0xb74c860102ce)},
      {"Solver", "Step, LineSearch", UINT64_C(0x5064f3e90ed3)},
      {"Solver", "Step,LineSearch", UINT64_C(0x58d15e0bf4bb)},
      {"A", "B", UINT64_C(0xd119a0e74517)},
      {"Other", "Alpha, Beta", UINT64_C(0xee748f28668e)},
      {"\xc3\xa9", "x", UINT64_C(0x6fc6f221e296)},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t hash = ink_section_hash48(cases[i].name, cases[i].sections);
    CHECK(hash == cases[i].hash48, "%s:%s gave %012" PRIx64, cases[i].name, cases[i].sections, hash);
  }
  return check_result("section_hash");
}
