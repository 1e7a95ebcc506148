/* SPDX-License-Identifier: MIT */
/* Samples and code in captures: written and read again, summed, in many chunks, with parts lost; and hostile chunks. */
#include "check.h"
#include "craft.h"
#include "synth.h"

#include "inkmark/stalls.h"

enum { CODE_BYTES = 200000, MANY = 5000 };

/* ---- whole ---------------------------------------------------------------------------------- */

static unsigned char *make_code(void) {
  unsigned char *data = malloc(CODE_BYTES);
  for (size_t i = 0; data && i < CODE_BYTES; i++)
    data[i] = (unsigned char)(i * 7 + i / 256);
  return data;
}

static void round_trip(void) {
  ink_error error = {0};
  const char *path = synth_path("stalls");
  ink_writer *writer = synth_writer(path, 16, 8, false);
  unsigned char *data = make_code();
  const ink_code code = {.id = 77, .bytes = CODE_BYTES, .data = data};
  ink_stall *many = calloc(MANY, sizeof *many);
  char names[50][40];
  uint64_t all = 0;
  for (size_t i = 0; i < 50; i++)
    snprintf(names[i], sizeof names[i], "_Z8function%zu", i);
  for (size_t i = 0; i < MANY; i++) {
    many[i] = (ink_stall){.code = 77, .offset = i / 100 * 16, .samples = i + 1, .function = names[i % 50], .reason = i % 100 < 50 ? "wait" : "barrier"};
    all += i + 1;
  }
  const ink_stall_facts facts = {.samples = all + 9, .dropped = 2, .elsewhere = 7, .left_out = 1, .period_log2 = 12, .full = 1};
  NEED(ink_writer_code(writer, &code, &error), error);
  NEED(ink_writer_code(writer, &code, &error), error); /* a context has it too */
  NEED(ink_writer_stalls(writer, many, MANY, &facts, &error), error);
  NEED(ink_writer_stalls(writer, many, MANY, &facts, &error), error);
  NEED(ink_writer_stalls(writer, NULL, 0, &facts, &error), error);
  CHECK(ink_writer_code(writer, &(ink_code){.id = 1, .data = data}, &error) == INK_ERROR_ARGUMENT, "no code");
  CHECK(ink_writer_stalls(writer, NULL, 1, &facts, &error) == INK_ERROR_ARGUMENT, "no items");
  NEED(ink_writer_close(writer, &error), error);

  ink_capture *capture;
  const ink_stall *stalls;
  const ink_code *codes;
  ink_stall_facts read;
  NEED(ink_capture_open(path, &capture, &error), error);
  const size_t n = ink_capture_stalls(capture, &stalls, &read);
  CHECK(n == MANY, "%zu: each place and reason once", n);
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += stalls[i].samples;
  CHECK(sum == 2 * all, "%llu of %llu samples", (unsigned long long)sum, (unsigned long long)(2 * all));
  CHECK(read.samples == 3 * facts.samples && read.dropped == 6 && read.elsewhere == 21 && read.left_out == 3 && read.full == 3 &&
            read.period_log2 == 12, "the facts of three chunks");
  for (size_t i = 1; i < n; i++)
    CHECK(strcmp(stalls[i - 1].function, stalls[i].function) < 0 || stalls[i - 1].offset < stalls[i].offset ||
              strcmp(stalls[i - 1].reason, stalls[i].reason) < 0, "the order at %zu", i);
  CHECK(ink_capture_codes(capture, &codes) == 1 && codes[0].id == 77 && codes[0].bytes == CODE_BYTES &&
            !memcmp(codes[0].data, data, CODE_BYTES), "the code");
  ink_capture_free(capture);
  remove(path);
  free(many);
  free(data);
}

/* ---- hostile and lossy ---------------------------------------------------------------------- */

typedef struct code_chunk {
  ink_file_code head;
  unsigned char data[64];
} code_chunk;

typedef struct stall_chunk {
  ink_file_stalls head;
  ink_file_stall items[2];
  char texts[16];
} stall_chunk;

static ink_capture *open_chunks(const craft *c, size_t *damaged) {
  ink_capture *capture;
  ink_error error = {0};
  NEED(ink_capture_open_memory(c->bytes, c->size, &capture, &error), error);
  *damaged = (size_t)ink_capture_get_facts(capture)->damaged_chunks;
  return capture;
}

static void parts_of_code(void) {
  static craft c;
  const ink_code *codes;
  size_t damaged;
  const struct {
    uint64_t at[3];
    size_t whole;
  } orders[] = {{{0, 64, 128}, 1}, {{0, 0, 64}, 0}, {{0, 128, 64}, 0}, {{64, 0, 128}, 0}, {{64, 128, 128}, 0}};
  for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
    craft_start(&c, INK_FILE_MAJOR, INK_FILE_MINOR);
    for (int i = 0; i < 3; i++) {
      const code_chunk part = {.head = {.id = 5, .whole_bytes = 192, .at = orders[o].at[i], .bytes = 64}};
      craft_chunk(&c, INK_CHUNK_CODE, &part, sizeof part);
    }
    ink_capture *capture = open_chunks(&c, &damaged);
    CHECK(ink_capture_codes(capture, &codes) == orders[o].whole && !damaged, "order %zu", o);
    ink_capture_free(capture);
  }
  const ink_file_code wrong[] = {
      {.id = 5, .whole_bytes = UINT64_C(1) << 40, .bytes = 64}, {.id = 5, .whole_bytes = 64, .at = 1, .bytes = 64},
      {.id = 5, .whole_bytes = 64, .at = UINT64_MAX, .bytes = 64}, {.id = 5, .whole_bytes = 64, .bytes = 65},
      {.id = 5, .whole_bytes = 64, .bytes = 0}, {.id = 5, .whole_bytes = 1000, .bytes = UINT64_MAX}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const code_chunk part = {.head = wrong[i]};
    craft_start(&c, INK_FILE_MAJOR, INK_FILE_MINOR);
    craft_chunk(&c, INK_CHUNK_CODE, &part, sizeof part);
    ink_capture *capture = open_chunks(&c, &damaged);
    CHECK(damaged == 1 && !ink_capture_codes(capture, &codes), "wrong code %zu", i);
    ink_capture_free(capture);
  }
}

static size_t damaged_stalls(const stall_chunk *chunk, size_t bytes, size_t *items) {
  static craft c;
  const ink_stall *stalls;
  size_t damaged;
  craft_start(&c, INK_FILE_MAJOR, INK_FILE_MINOR);
  craft_chunk(&c, INK_CHUNK_STALLS, chunk, bytes);
  ink_capture *capture = open_chunks(&c, &damaged);
  *items = ink_capture_stalls(capture, &stalls, NULL);
  for (size_t i = 0; i < *items; i++)
    CHECK(strlen(stalls[i].function) + strlen(stalls[i].reason) < 16, "names");
  ink_capture_free(capture);
  return damaged;
}

static void hostile_stalls(void) {
  size_t items, bytes = sizeof(ink_file_stalls) + 2 * sizeof(ink_file_stall) + 8;
  const stall_chunk good = {.head = {.item_bytes = sizeof(ink_file_stall), .count = 2},
                            .items = {{.offset = 16, .samples = UINT64_MAX, .reason = 3}, {.offset = 16, .samples = 2, .reason = 3}},
                            .texts = "_Z\0wait"};
  CHECK(damaged_stalls(&good, bytes, &items) == 0 && items == 1, "%zu items", items);
  for (size_t n = 0; n < bytes; n++)
    CHECK(damaged_stalls(&good, n, &items) == 1, "%zu bytes of it", n);
  stall_chunk bad = good;
  bad.texts[7] = 'x';
  CHECK(damaged_stalls(&bad, bytes, &items) == 1 && !items, "a name without an end");
  for (int bit = 3; bit < 32; bit++) {
    bad = good;
    bad.items[1].function = 1u << bit;
    CHECK(damaged_stalls(&bad, bytes, &items) == 1 && items <= 1, "a name at %u", bad.items[1].function);
    bad.items[1].function = 0;
    bad.items[1].reason = 1u << bit;
    CHECK(damaged_stalls(&bad, bytes, &items) == 1 && items <= 1, "a reason at %u", bad.items[1].reason);
  }
  for (int bit = 0; bit < 64; bit++) {
    bad = good;
    bad.head.count = UINT64_C(1) << bit;
    CHECK(bit < 2 || (damaged_stalls(&bad, bytes, &items) == 1 && !items), "2^%d items", bit);
    bad = good;
    bad.head.item_bytes = bit < 32 ? 1u << bit : (uint32_t)bit;
    CHECK(bad.head.item_bytes == sizeof(ink_file_stall) || (damaged_stalls(&bad, bytes, &items) == 1 && !items), "items of %u bytes",
          bad.head.item_bytes);
  }
  bad = good; /* of a later version: an item has more than is known */
  bad.head.item_bytes = 2 * sizeof(ink_file_stall);
  bad.head.count = 1;
  CHECK(damaged_stalls(&bad, bytes, &items) == 0 && items == 1, "longer items");
}

int main(void) {
  round_trip();
  parts_of_code();
  hostile_stalls();
  return check_result("stalls");
}
