/* SPDX-License-Identifier: MIT */
/* A library that says when it is loaded, for privilege.sh. */
#include <stdio.h>

__attribute__((constructor)) static void say(void) { puts("named library runs"); }
