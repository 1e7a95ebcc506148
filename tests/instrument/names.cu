// SPDX-License-Identifier: MIT
// Statements whose text holds what formats escape: shown as they are in every output (names.sh).
#include "check.cuh"
__device__ int pick(const char *text, int at, int n) { return at < n ? text[at] : 0; }
__global__ void names(int *x) {
  x[0] = max(x[1], min(x[2], 7));
  x[1] = pick("q\"u,o", 1, 5);
  x[2] = pick("back\\slash, </script>", 4, 9);
  x[3] = x[4] < x[5] && x[6] > 1 ? 1 : 2;
  x[4] = pick("Größe, <é>", 2, 9);
  x[5] = pick("1234567890123456789012é", 2, 9);
  x[6] = pick("what??!", 4, 9) + '\'';
  x[7] = pick("tab	and 0\x41 end, ", 3, 9);
}
int main() {
  check<int>("names", [](int *x) { names<<<1, 1>>>(x); });
}
