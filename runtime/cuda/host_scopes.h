/* SPDX-License-Identifier: MIT */
/* Private: what the program says of itself while it is recorded: NVTX, ink_scope_begin, launches. Any thread calls these;
 * none waits for another. They do nothing before ink_i_host_on and after ink_i_host_off. */
#ifndef INK_CUDA_HOST_SCOPES_H
#define INK_CUDA_HOST_SCOPES_H

#include "inkmark/host_ranges.h"

#include <stdbool.h>
#include <wchar.h>

/* Texts are kept from here on, whether or not events are; false: no memory. */
INK_API bool ink_i_host_prepare(void);
/* A recording begins, or ends: what began before it has no end in it. */
bool ink_i_host_on(void);
void ink_i_host_off(void);
/* In a forked child: ranges that are open are the parent's. */
void ink_i_host_after_fork(void);

INK_API uint32_t ink_i_host_id(const char *text);
INK_API uint32_t ink_i_host_wide_id(const wchar_t *text);
INK_API const char *ink_i_host_text_of(uint32_t id);

/* Kind, name, domain, category, color and payload are the caller's, all else is filled in. The level in the domain. */
INK_API int ink_i_host_push(const ink_host_event *event);
INK_API int ink_i_host_pop(uint32_t domain);
/* An id of the process's, not 0. */
INK_API uint64_t ink_i_host_start(const ink_host_event *event);
INK_API void ink_i_host_end(uint64_t id);
/* Marks, names of categories and threads. */
INK_API void ink_i_host_say(const ink_host_event *event);
/* For inkmark/scope.h: NULL ends the innermost one. */
INK_API void ink_i_host_scope(const char *name);

/* Launches are told of too. Their begin and end are the caller's. */
INK_API bool ink_i_host_is_on(void);
void ink_i_host_launched(const ink_host_event *launch);

/* What waits is to be written; and is written. */
bool ink_i_host_waiting(void);
ink_status ink_i_host_drain(ink_writer *writer, ink_error *error);

#endif
