/* SPDX-License-Identifier: MIT */
/* Where count.cu's counts begin: the first passes 2^32 in the middle of the loop, the other is far
 * beyond it already. */
#ifndef INKMARK_TRUTH_COUNT_H
#define INKMARK_TRUTH_COUNT_H

#define COUNT_ROUNDS 40
#define COUNT_START 4294967246ull           /* 2^32 - 50 */
#define COUNT_START_CALLED 1099511627775ull /* 2^40 - 1 */

#endif
