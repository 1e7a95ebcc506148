/* SPDX-License-Identifier: MIT */
/* Where clang's own headers are (stddef.h, the wrapper of the CUDA headers). */
#ifndef INKMARK_RESOURCES_H
#define INKMARK_RESOURCES_H

/* clang's resource folder for a libclang: looked for from the library's path, and from where its links lead, then where
 * distributions have it. `version` is what clang_getClangVersion says. NULL: not found; the caller frees. */
char *ink_clang_resources(const char *library, const char *version);
/* The same for the libclang that was loaded. */
char *ink_clang_resources_loaded(void);

#endif
