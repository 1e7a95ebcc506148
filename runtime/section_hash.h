/* SPDX-License-Identifier: MIT */
/* The identity of a section table, as record.h defines it; mark.cuh computes the same at compile
 * time. */
#ifndef INKMARK_SECTION_HASH_H
#define INKMARK_SECTION_HASH_H

#include <stdint.h>

/* hash48 of PROF_SECTIONS(name, sections...): `sections` is the text that the preprocessor made of
 * the names, "Step, LineSearch". Never NULL. */
uint64_t ink_section_hash48(const char *name, const char *sections);

#endif
