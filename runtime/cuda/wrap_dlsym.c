/* SPDX-License-Identifier: MIT */
/* dlsym in the preloaded library. The real one looks at its return address, to know whose RTLD_NEXT and RTLD_DEFAULT
 * are meant: so ours leaves the stack as it was and jumps there. That takes a few instructions of each processor;
 * where they are not written programs that come to the driver by dlsym alone are not seen. */
#include "cuda/driver_wrap.h"
#include "inkmark/status.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

typedef void *dlsym_fn(void *, const char *);

void *ink_dlsym_real(void);

/* The C library's, which has it by the version of the day on which its processor came, and by newer ones. A sanitizer's
 * runtime comes by here before its shadow memory is there. */
__attribute__((no_sanitize("address", "undefined"))) void *ink_dlsym_real(void) {
  static void *_Atomic known;
  static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.34"};
  void *found = atomic_load(&known);
  for (size_t i = 0; i < sizeof versions / sizeof *versions && !found; i++)
    found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  atomic_store(&known, found);
  return found;
}

void *ink_real_dlsym(void *handle, const char *name) { return ((dlsym_fn *)ink_dlsym_real())(handle, name); }

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        ".cfi_startproc\n"
        "  endbr64\n"
        "  push %rdi\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  push %rsi\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  sub $8, %rsp\n" /* calls want 16 bytes */
        "  .cfi_adjust_cfa_offset 8\n"
        "  call ink_wrap_dlsym@PLT\n"
        "  test %rax, %rax\n"
        "  jne 1f\n"
        "  call ink_dlsym_real@PLT\n"
        "  add $8, %rsp\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  pop %rsi\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  pop %rdi\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  jmp *%rax\n"
        "1:\n"
        "  .cfi_adjust_cfa_offset 24\n"
        "  add $24, %rsp\n"
        "  .cfi_adjust_cfa_offset -24\n"
        "  ret\n"
        ".cfi_endproc\n"
        ".size dlsym, . - dlsym\n"
        ".section .note.GNU-stack,\"\",@progbits\n"
        ".text\n");
#endif
