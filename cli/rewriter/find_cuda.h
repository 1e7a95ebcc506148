/* SPDX-License-Identifier: MIT */
/* Where the CUDA toolkit, nvcc and our own device headers are. */
#ifndef INKMARK_CLI_FIND_CUDA_H
#define INKMARK_CLI_FIND_CUDA_H

/* Each gives a malloc'ed absolute path, or NULL. `compiler` may be NULL. */
char *find_device_headers(void);
char *find_toolkit(const char *compiler);

#endif
