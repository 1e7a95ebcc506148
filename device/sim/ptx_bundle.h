/* SPDX-License-Identifier: MIT */
/* What stands for a cubin where several PTX texts were linked for the simulated device: the texts in one, each behind
 * this line, so that it reads as text. */
#ifndef INKMARK_SIM_PTX_BUNDLE_H
#define INKMARK_SIM_PTX_BUNDLE_H

#define PTX_BUNDLE_LINE "//SIM-PTX-PART\n"

#endif
