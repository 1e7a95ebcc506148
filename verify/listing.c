/* SPDX-License-Identifier: MIT */
/* Reads what `nvdisasm -gi -c` prints: functions, labels, instructions, and the source place of each. */
#include "verify_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ink_v_room(void **array, size_t count, size_t *room, size_t element_bytes) {
  if (count < *room)
    return true;
  const size_t wanted = *room ? *room * 2 : 64;
  void *grown = realloc(*array, wanted * element_bytes);
  if (!grown)
    return false;
  *array = grown;
  *room = wanted;
  return true;
}

char *ink_v_keep(ink_verify *v, char *string) {
  if (string && ink_v_room((void **)&v->strings, v->string_count, &v->string_room, sizeof(char *))) {
    v->strings[v->string_count++] = string;
    return string;
  }
  free(string);
  return NULL;
}

typedef struct reader {
  ink_verify *v;
  v_function *function; /* being read, or NULL */
  char target[32];
  v_frame chain[INK_V_FRAMES_MAX]; /* innermost first */
  uint32_t chain_count;
  bool chain_open; /* the line before was a location too: it goes on */
  v_place place;
  bool ours;
  uint32_t own_line;
  bool memory_short;
  uint32_t cubin, targets; /* the one being read; `.target` begins each */
} reader;

/* nvdisasm writes a name's bytes beyond ASCII as \303, a backslash or a quote behind a backslash. */
static size_t unescape(const char *name, size_t bytes, char *to) {
  size_t n = 0;
  for (size_t i = 0; i < bytes; i++) {
    const bool octal = name[i] == '\\' && i + 3 < bytes && strspn(name + i + 1, "01234567") >= 3;
    if (octal) {
      to[n++] = (char)((name[i + 1] - '0') << 6 | (name[i + 2] - '0') << 3 | (name[i + 3] - '0'));
      i += 3;
    } else {
      i += name[i] == '\\' && i + 1 < bytes;
      to[n++] = name[i];
    }
  }
  return n;
}

static uint32_t find_file(reader *r, const char *escaped, size_t bytes) {
  ink_verify *v = r->v;
  char plain[4096];
  const char *name = escaped;
  if (bytes < sizeof plain && memchr(escaped, '\\', bytes)) {
    bytes = unescape(escaped, bytes, plain);
    name = plain;
  }
  for (size_t i = v->file_count; i-- > 0;)
    if (strlen(v->files[i]) == bytes && memcmp(v->files[i], name, bytes) == 0)
      return (uint32_t)i;
  char *copy = strndup(name, bytes);
  if (!copy || !ink_v_room((void **)&v->files, v->file_count, &v->file_room, sizeof(char *))) {
    free(copy);
    r->memory_short = true;
    return 0;
  }
  v->files[v->file_count] = copy;
  return (uint32_t)v->file_count++;
}

static bool is_inkmark_header(const char *file) {
  const char *name = strstr(file, "/inkmark/mark");
  if (strstr(file, "/inkmark/rewritten.cuh"))
    return true;
  return name && !strchr(name + 9, '/');
}

/* //## File "X", line N [inlined at "Y", line M] */
static void read_location(reader *r, const char *at, const char *end) {
  const char *open = memchr(at, '"', (size_t)(end - at));
  const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
  if (!r->chain_open)
    r->chain_count = 0;
  r->chain_open = true;
  if (!close || close + 7 >= end || r->chain_count == INK_V_FRAMES_MAX)
    return;
  r->chain[r->chain_count++] = (v_frame){find_file(r, open + 1, (size_t)(close - open - 1)),
                                         (uint32_t)strtoul(close + 7, NULL, 10)};
}

/* Stores the chain outermost first, without inkmark's own frames. */
static void close_location(reader *r) {
  ink_verify *v = r->v;
  r->chain_open = false;
  r->ours = r->chain_count && is_inkmark_header(v->files[r->chain[0].file]);
  r->own_line = r->ours ? r->chain[0].line : 0;
  r->place = (v_place){(uint32_t)v->frame_count, 0};
  for (uint32_t i = r->chain_count; i-- > 0;) {
    if (is_inkmark_header(v->files[r->chain[i].file]))
      continue;
    if (!ink_v_room((void **)&v->frames, v->frame_count, &v->frame_room, sizeof *v->frames)) {
      r->memory_short = true;
      return;
    }
    v->frames[v->frame_count++] = r->chain[i];
    r->place.count++;
  }
}

static void begin_function(reader *r, const char *name, size_t bytes, bool called) {
  ink_verify *v = r->v;
  if (!ink_v_room((void **)&v->functions, v->function_count, &v->function_room,
                  sizeof *v->functions)) {
    r->memory_short = true;
    return;
  }
  v_function f = {.name = strndup(name, bytes), .target = strdup(r->target),
                  .first = (uint32_t)v->instruction_count, .first_label = (uint32_t)v->label_count,
                  .called = called, .cubin = r->cubin};
  r->memory_short = r->memory_short || !f.name || !f.target;
  v->functions[v->function_count] = f;
  r->function = &v->functions[v->function_count++];
}

/* .text.NAME: begins a function; another section ends it. */
static void read_section(reader *r, const char *at, const char *end) {
  static const char text[] = ".text.";
  r->function = NULL;
  r->chain_count = 0;
  r->place = (v_place){0, 0};
  if ((size_t)(end - at) < sizeof text || memcmp(at, text, sizeof text - 1) != 0)
    return;
  at += sizeof text - 1;
  const char *stop = at;
  while (stop < end && *stop != ',' && *stop != ' ' && *stop != '\t')
    stop++;
  begin_function(r, at, (size_t)(stop - at), false);
}

static void read_label(reader *r, const char *at, const char *end) {
  ink_verify *v = r->v;
  if (!ink_v_room((void **)&v->labels, v->label_count, &v->label_room, sizeof *v->labels)) {
    r->memory_short = true;
    return;
  }
  v->labels[v->label_count++] =
      (v_label){at, (uint32_t)(end - at), (uint32_t)v->instruction_count};
  r->function->label_count++;
}

static void read_instruction(reader *r, const char *line, const char *at, const char *end) {
  ink_verify *v = r->v;
  char *stop;
  const unsigned long address = strtoul(at + 2, &stop, 16);
  if (stop + 2 > end || stop[0] != '*' || stop[1] != '/')
    return;
  for (at = stop + 2; at < end && (*at == ' ' || *at == '\t'); at++)
    ;
  const char *semicolon = memchr(at, ';', (size_t)(end - at));
  if (!semicolon) /* an encoding line of -hex, or a cut listing */
    return;
  if (!ink_v_room((void **)&v->instructions, v->instruction_count, &v->instruction_room,
                  sizeof *v->instructions)) {
    r->memory_short = true;
    return;
  }
  v->instructions[v->instruction_count++] =
      (v_instruction){.address = (uint32_t)address, .text = at,
                      .text_bytes = (uint32_t)(semicolon - at),
                      .listing_at = (uint32_t)(line - v->text), .place = r->place,
                      .ours = r->ours, .own_line = r->own_line, .stamp = INK_V_NONE};
  r->function->count++;
  r->function->has_lines = r->function->has_lines || r->place.count > 0;
}

static void begin_cubin(reader *r, const char *target, size_t bytes) {
  snprintf(r->target, sizeof r->target, "%.*s", (int)bytes, target);
  r->cubin = r->targets++;
}

static void read_line(reader *r, const char *line, const char *end) {
  const char *at = line;
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  const size_t bytes = (size_t)(end - at);
  if (bytes > 9 && memcmp(at, "//## File", 9) == 0) {
    read_location(r, at, end);
    return;
  }
  if (r->chain_open)
    close_location(r);
  if (bytes > 9 && memcmp(at, ".section", 8) == 0 && (at[8] == '\t' || at[8] == ' '))
    read_section(r, at + 9, end);
  else if (bytes > 8 && memcmp(at, ".target", 7) == 0)
    begin_cubin(r, at + 8, bytes - 8);
  else if (!r->function)
    return;
  else if (bytes > 2 && at[0] == '$' && end[-1] == ':') /* a function that this kernel calls */
    begin_function(r, at, bytes - 1, true);
  else if (bytes > 2 && at[0] == '.' && at[1] == 'L' && end[-1] == ':')
    read_label(r, at, end - 1);
  else if (bytes > 4 && at[0] == '/' && at[1] == '*')
    read_instruction(r, line, at, end);
}

ink_status ink_v_parse(ink_verify *v, ink_error *error) {
  reader r = {.v = v};
  if (v->text_bytes > UINT32_MAX)
    return ink_error_set(error, INK_ERROR_LIMIT, "the listing is larger than 4 GiB");
  for (const char *at = v->text, *end = v->text + v->text_bytes; at < end;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *stop = newline ? newline : end;
    read_line(&r, at, stop > at && stop[-1] == '\r' ? stop - 1 : stop);
    if (r.memory_short)
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the listing");
    at = stop + 1;
  }
  if (v->function_count == 0)
    return ink_error_set(error, INK_ERROR_FORMAT, "no machine code in the listing: expected what "
                                                  "'nvdisasm -gi -c' prints");
  return INK_OK;
}

const char *ink_v_opcode(const v_instruction *i, size_t *bytes) {
  const char *at = i->text, *end = at + i->text_bytes;
  if (at < end && *at == '@') {
    while (at < end && *at != ' ')
      at++;
    while (at < end && *at == ' ')
      at++;
  }
  const char *stop = at;
  while (stop < end && *stop != ' ' && *stop != ';')
    stop++;
  *bytes = (size_t)(stop - at);
  return at;
}
