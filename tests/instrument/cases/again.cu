// SPDX-License-Identifier: MIT
// A file of kernels that is included several times, with other macros and in other namespaces.
namespace again {
namespace one {
#define AGAIN 1
#include "again.h"
} // namespace one
namespace two {
#define AGAIN 2
#include "again.h"
} // namespace two
__global__ void both(int *x, int n) {
  for (int i = 0; i < n; i++) x[threadIdx.x] += one::plain(i) + two::work2(i);
}
inline void run() {
  check<int>("again.one", [](int *x) { one::k1<<<1, 64>>>(x, 3); });
  check<int>("again.two", [](int *x) { two::k2<<<1, 64>>>(x, 4); });
  check<int>("again.both", [](int *x) { both<<<1, 64>>>(x, 5); });
}
} // namespace again
