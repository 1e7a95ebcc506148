/* SPDX-License-Identifier: MIT */
/* Private to the preloaded library: its dlsym. */
#ifndef INK_CUDA_DRIVER_WRAP_H
#define INK_CUDA_DRIVER_WRAP_H

/* The C library's. */
void *ink_real_dlsym(void *handle, const char *name);
/* What a program's dlsym is to give instead of the real one's answer, or NULL. */
void *ink_wrap_dlsym(void *handle, const char *name);

#endif
