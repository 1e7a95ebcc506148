/* SPDX-License-Identifier: MIT */
/* The CODE and STALLS chunks: machine code of modules and the samples of its instructions, written and read. */
#include "capture_private.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_A_CHUNK = 48 << 10, CODES_MAX = 1024 }; /* that the smallest ring takes a chunk; that are read */

/* ---- writing ---- */

ink_status ink_writer_code(ink_writer *writer, const ink_code *code, ink_error *error) {
  if (!writer || !code || !code->data || !code->bytes || code->bytes > INK_CODE_BYTES_MAX)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no code, or more than %d bytes of it", INK_CODE_BYTES_MAX);
  ink_status status = INK_OK;
  for (uint64_t at = 0; at < code->bytes && !status; at += BYTES_A_CHUNK) {
    const uint64_t left = code->bytes - at;
    const ink_file_code head = {.id = code->id, .whole_bytes = code->bytes, .at = at,
                                .bytes = left < BYTES_A_CHUNK ? left : BYTES_A_CHUNK};
    status = ink_i_writer_chunk(writer, INK_CHUNK_CODE, &head, sizeof head, (const char *)code->data + at,
                                (size_t)head.bytes, error);
  }
  return status;
}

/* The items of one chunk and, behind them, their texts, each once. */
typedef struct stall_chunk {
  ink_file_stalls head;
  size_t text_bytes;
  unsigned char *items, *texts; /* BYTES_A_CHUNK each; both are written when they come to that */
} stall_chunk;

/* Where the text stands among the texts; false: there is no room for it any more. */
static bool place_text(stall_chunk *c, const char *text, uint32_t *at) {
  const size_t bytes = strlen(text) + 1;
  size_t seen = 0;
  while (seen < c->text_bytes && strcmp((const char *)c->texts + seen, text))
    seen += strlen((const char *)c->texts + seen) + 1;
  *at = (uint32_t)seen;
  if (seen < c->text_bytes)
    return true;
  if (bytes > BYTES_A_CHUNK - c->text_bytes)
    return false;
  memcpy(c->texts + c->text_bytes, text, bytes);
  c->text_bytes += bytes;
  return true;
}

static bool place_item(stall_chunk *c, const ink_stall *item) {
  ink_file_stall fixed = {.code = item->code, .offset = item->offset, .samples = item->samples};
  if (!place_text(c, item->function, &fixed.function) || !place_text(c, item->reason, &fixed.reason) ||
      (c->head.count + 1) * sizeof fixed + c->text_bytes > BYTES_A_CHUNK)
    return false;
  memcpy(c->items + c->head.count++ * sizeof fixed, &fixed, sizeof fixed);
  return true;
}

static ink_status put_chunk(ink_writer *writer, stall_chunk *c, ink_error *error) {
  const size_t bytes = c->head.count * sizeof(ink_file_stall);
  memcpy(c->items + bytes, c->texts, c->text_bytes);
  const ink_status status =
      ink_i_writer_chunk(writer, INK_CHUNK_STALLS, &c->head, sizeof c->head, c->items, bytes + c->text_bytes, error);
  c->head = (ink_file_stalls){.item_bytes = sizeof(ink_file_stall), .period_log2 = c->head.period_log2};
  c->text_bytes = 0;
  return status;
}

ink_status ink_writer_stalls(ink_writer *writer, const ink_stall *items, size_t n, const ink_stall_facts *facts,
                             ink_error *error) {
  if (!writer || !facts || (n && !items))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no samples to write");
  stall_chunk c = {.head = {.item_bytes = sizeof(ink_file_stall), .period_log2 = facts->period_log2, .samples = facts->samples,
                            .dropped = facts->dropped, .elsewhere = facts->elsewhere, .left_out = facts->left_out,
                            .full = facts->full},
                   .items = malloc(3 * BYTES_A_CHUNK)};
  if (!c.items)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the samples");
  c.texts = c.items + 2 * BYTES_A_CHUNK;
  ink_status status = INK_OK;
  for (size_t i = 0; i < n && !status; i++)
    if (!place_item(&c, &items[i])) {
      status = put_chunk(writer, &c, error);
      if (!status && !place_item(&c, &items[i])) /* names of a length that none has */
        c.head.left_out += items[i].samples;
    }
  status = status ? status : put_chunk(writer, &c, error);
  free(c.items);
  return status;
}

/* ---- reading ---- */

/* What is in the file has been written: a part makes room for itself, whatever it says of the whole. */
static bool append(code_parts *p, const unsigned char *data, uint64_t bytes) {
  if (p->room - p->have < bytes) {
    uint64_t room = p->room * 2 > p->have + bytes ? p->room * 2 : p->have + bytes;
    room = room < p->bytes ? room : p->bytes;
    unsigned char *grown = realloc(p->data, (size_t)room);
    if (!grown)
      return false;
    p->data = grown;
    p->room = room;
  }
  memcpy(p->data + p->have, data, (size_t)bytes);
  p->have += bytes;
  return true;
}

ink_status ink_read_code(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error) {
  ink_file_code fixed;
  capture_stalls *s = &capture->stalls;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds code without a head");
  memcpy(&fixed, payload, sizeof fixed);
  if (!fixed.bytes || fixed.bytes > bytes - sizeof fixed || fixed.whole_bytes > INK_CODE_BYTES_MAX ||
      fixed.at > fixed.whole_bytes || fixed.bytes > fixed.whole_bytes - fixed.at)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds code that is none");
  size_t i = 0;
  while (i < s->parts.count && s->parts.items[i].id != fixed.id)
    i++;
  if (i == s->parts.count) {
    if (fixed.at || i == CODES_MAX) /* the first part was lost: the code will not be whole */
      return INK_OK;
    if (!INK_I_ROOM(s->parts))
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture");
    s->parts.items[s->parts.count++] = (code_parts){.id = fixed.id, .bytes = fixed.whole_bytes};
  }
  code_parts *p = &s->parts.items[i];
  if (p->bytes != fixed.whole_bytes)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds code of two lengths");
  if (fixed.at != p->have) /* again, or a part was lost */
    return INK_OK;
  return append(p, payload + sizeof fixed, fixed.bytes) ? INK_OK
                                                        : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture");
}

static void add_up(uint64_t *to, uint64_t more) { *to = *to + more < more ? UINT64_MAX : *to + more; }

ink_status ink_read_stalls(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error) {
  ink_file_stalls head;
  capture_stalls *s = &capture->stalls;
  if (bytes < sizeof head)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds samples without a head");
  memcpy(&head, payload, sizeof head);
  const uint64_t left = bytes - sizeof head;
  if (head.item_bytes < sizeof(ink_file_stall) || head.item_bytes % 8 || head.count > left / head.item_bytes)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds samples of an odd size");
  const unsigned char *items = payload + sizeof head;
  const char *texts = (const char *)items + head.count * head.item_bytes;
  const uint64_t text_bytes = left - head.count * head.item_bytes;
  if (head.count && (!text_bytes || texts[text_bytes - 1]))
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds samples whose names have no end");
  for (uint64_t i = 0; i < head.count; i++) {
    ink_file_stall fixed;
    memcpy(&fixed, items + i * head.item_bytes, sizeof fixed);
    if (fixed.function >= text_bytes || fixed.reason >= text_bytes || strlen(texts + fixed.function) > INK_NAME_BYTES_MAX ||
        strlen(texts + fixed.reason) > INK_NAME_BYTES_MAX)
      return ink_error_set(error, INK_ERROR_DAMAGED, "holds samples without names");
    if (!INK_I_ROOM(s->items))
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture");
    s->items.items[s->items.count++] = (ink_stall){.code = fixed.code, .offset = fixed.offset, .samples = fixed.samples,
                                                   .function = texts + fixed.function, .reason = texts + fixed.reason};
  }
  add_up(&s->facts.samples, head.samples);
  add_up(&s->facts.dropped, head.dropped);
  add_up(&s->facts.elsewhere, head.elsewhere);
  add_up(&s->facts.left_out, head.left_out);
  s->facts.full = s->facts.full + head.full < head.full ? UINT32_MAX : s->facts.full + head.full;
  s->facts.period_log2 = head.period_log2 < 64 ? head.period_log2 : 0;
  return INK_OK;
}

/* ---- once all are there ---- */

static int by_place(const void *left, const void *right) {
  const ink_stall *a = left, *b = right;
  if (a->code != b->code)
    return a->code < b->code ? -1 : 1;
  const int function = a->function == b->function ? 0 : strcmp(a->function, b->function);
  if (function)
    return function;
  if (a->offset != b->offset)
    return a->offset < b->offset ? -1 : 1;
  return strcmp(a->reason, b->reason);
}

ink_status ink_index_stalls(ink_capture *capture, ink_error *error) {
  capture_stalls *s = &capture->stalls;
  size_t kept = 0;
  if (s->items.count)
    qsort(s->items.items, s->items.count, sizeof *s->items.items, by_place);
  for (size_t i = 0; i < s->items.count; i++) {
    if (kept && by_place(&s->items.items[kept - 1], &s->items.items[i]) == 0)
      add_up(&s->items.items[kept - 1].samples, s->items.items[i].samples);
    else
      s->items.items[kept++] = s->items.items[i];
  }
  s->items.count = kept;
  for (size_t i = 0; i < s->parts.count; i++) {
    const code_parts *p = &s->parts.items[i];
    if (p->have < p->bytes)
      continue;
    if (!INK_I_ROOM(s->codes))
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture");
    s->codes.items[s->codes.count++] = (ink_code){.id = p->id, .bytes = p->bytes, .data = p->data};
  }
  return INK_OK;
}

void ink_stalls_free(ink_capture *capture) {
  for (size_t i = 0; i < capture->stalls.parts.count; i++)
    free(capture->stalls.parts.items[i].data);
  free(capture->stalls.parts.items);
  free(capture->stalls.codes.items);
  free(capture->stalls.items.items);
}

size_t ink_capture_stalls(const ink_capture *capture, const ink_stall **out, ink_stall_facts *facts) {
  *out = capture->stalls.items.items;
  if (facts)
    *facts = capture->stalls.facts;
  return capture->stalls.items.count;
}

size_t ink_capture_codes(const ink_capture *capture, const ink_code **out) {
  *out = capture->stalls.codes.items;
  return capture->stalls.codes.count;
}
