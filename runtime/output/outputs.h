/* SPDX-License-Identifier: MIT */
/* The writers behind the list of outputs; each is one file, and none knows another. */
#ifndef INK_OUTPUTS_H
#define INK_OUTPUTS_H

#include "inkmark/output.h"

ink_output_fn ink_write_perfetto, ink_write_chrome, ink_write_csv, ink_write_npy, ink_write_json,
    ink_write_html;

#endif
