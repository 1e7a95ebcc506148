/* SPDX-License-Identifier: MIT */
/* Prints what the rewriter found: as text for people, as JSON for programs. */
#ifndef INKMARK_CLI_INSTRUMENT_LIST_H
#define INKMARK_CLI_INSTRUMENT_LIST_H

#include "inkmark/instrument.h"
#include "json.h"

void instrument_list_text(const ink_instrumented *result, const char *source, FILE *to);
/* "'a.cu': 2 kernels, 7 sections, 1 place left (--list)", without a line's end. */
void instrument_summary(const ink_instrumented *result, const char *source, FILE *to);
/* One object inside of an array that is open. */
void instrument_list_json(const ink_instrumented *result, const char *source, json_writer *json);
/* The first errors that the parse found in the source. They are warnings: clang refuses some of
 * what nvcc takes, and what is marked is as right as the source. False after another message: they
 * hide all kernels. */
bool instrument_say_parse_errors(const ink_instrumented *result, const char *source);
/* What a person should know although no list was asked for: errors in directives, remarks, a parse
 * that was not the full one. Returns the number of errors. */
unsigned instrument_say(const ink_instrumented *result, const char *source, bool remarks);

#endif
