/* SPDX-License-Identifier: MIT */
/* Fuzzes what a conversion does with times: five bytes are an event on one of four threads, at one
 * of 64 moments, in any order. The packets that come out are read back as a trace processor reads
 * them: every slice must be there, and every end must end the slice that it belongs to. */
#include "fuzz_input.h"

#include "pb_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVENTS_MAX = 400, TRACKS_MAX = 4096, DEPTH_MAX = EVENTS_MAX };

typedef struct packet {
  uint64_t ns, track, type, end_ns;
  size_t order;
  bool starts, ends; /* an arrow */
} packet;

static fuzz_file input, output;
static packet packets[8 * EVENTS_MAX];
static size_t packet_count;

static ink_status second_pass(convert *c, void *user) {
  const convert_progress progress = {0};
  return convert_json(c, input.path, &progress, user, NULL);
}

/* "end" is the one argument of every slice. */
static uint64_t read_argument(const uint8_t *p, const uint8_t *end) {
  pb_field f;
  uint64_t value = 0;
  while (pb_next(&p, end, &f))
    if (f.number == ARG_INT)
      value = f.value;
  return value * 1000;
}

static void read_event(const uint8_t *p, const uint8_t *end, packet *out) {
  pb_field f;
  while (pb_next(&p, end, &f)) {
    if (f.number == EVENT_TYPE)
      out->type = f.value;
    else if (f.number == EVENT_TRACK)
      out->track = f.value;
    else if (f.number == EVENT_ARG)
      out->end_ns = read_argument(f.bytes, f.bytes + f.size);
    else if (f.number == EVENT_FLOWS || f.number == EVENT_FLOW_ENDS)
      *(f.number == EVENT_FLOWS ? &out->starts : &out->ends) = true;
  }
  FUZZ_CHECK(p == end);
}

static void read_packets(const uint8_t *p, const uint8_t *end) {
  pb_field f;
  packet_count = 0;
  while (pb_next(&p, end, &f)) {
    FUZZ_CHECK(f.number == PACKET && f.bytes);
    const uint8_t *q = f.bytes, *q_end = f.bytes + f.size;
    packet out = {.order = packet_count};
    while (pb_next(&q, q_end, &f)) {
      if (f.number == PACKET_TIMESTAMP)
        out.ns = f.value;
      else if (f.number == PACKET_TRACK_EVENT)
        read_event(f.bytes, f.bytes + f.size, &out);
    }
    FUZZ_CHECK(q == q_end);
    if (out.type) {
      FUZZ_CHECK(packet_count < sizeof packets / sizeof *packets);
      packets[packet_count++] = out;
    }
  }
  FUZZ_CHECK(p == end);
}

static int by_track(const void *left, const void *right) {
  const packet *a = left, *b = right;
  if (a->track != b->track)
    return a->track < b->track ? -1 : 1;
  if (a->ns != b->ns)
    return a->ns < b->ns ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

static size_t check_nesting(void) {
  uint64_t stack[DEPTH_MAX];
  size_t depth = 0, begun = 0;
  qsort(packets, packet_count, sizeof *packets, by_track);
  for (size_t i = 0; i < packet_count; i++) {
    const packet *p = &packets[i];
    if (i && p->track != packets[i - 1].track)
      FUZZ_CHECK(!depth);
    if (p->type == TYPE_BEGIN) {
      FUZZ_CHECK(depth < DEPTH_MAX);
      stack[depth++] = p->end_ns;
      begun++;
    } else if (p->type == TYPE_END) {
      FUZZ_CHECK(depth && stack[depth - 1] == p->ns);
      depth--;
    }
  }
  FUZZ_CHECK(!depth);
  return begun;
}

static size_t put_events(char *text, size_t room, const uint8_t *data, size_t size) {
  size_t slices = 0, used = (size_t)snprintf(text, room, "[");
  for (size_t i = 0; i + 5 <= size && i / 5 < EVENTS_MAX; i += 5) {
    unsigned ts = data[i + 1] % 64, length = data[i + 2] % 32, tid = data[i + 3] % 4;
    char phase = "XXXXXXsfti"[data[i] % 10];
    slices += phase == 'X';
    used += (size_t)snprintf(text + used, room - used,
                             "%s{\"ph\":\"%c\",\"name\":\"n\",\"pid\":1,\"tid\":%u,\"id\":%u,"
                             "\"ts\":%u,\"dur\":%u,\"args\":{\"end\":%u}}",
                             i ? "," : "", phase, tid, data[i + 4] % 8, ts, length, ts + length);
  }
  snprintf(text + used, room - used, "]");
  return slices;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char text[EVENTS_MAX * 128];
  static uint8_t made[1 << 20];
  size_t slices = put_events(text, sizeof text, data, size);
  ink_foreign *foreign = calloc(1, sizeof *foreign);
  convert_notes *notes = convert_notes_new();
  FUZZ_CHECK(foreign && notes);
  const foreign_listener listener = convert_notes_listener(notes);
  const foreign_reading how = {.listener = &listener};
  notes->base_known = true;
  fuzz_put(&input, text, strlen(text));
  fuzz_put(&output, "", 0);
  FUZZ_CHECK(ink_kineto_read(foreign, input.path, &how, NULL) == INK_OK);
  FUZZ_CHECK(notes->c.slice_count == slices);
  /* the copy of a descriptor is written in place, as a device is */
  int saved = dup(STDOUT_FILENO);
  FUZZ_CHECK(saved >= 0 && dup2(output.fd, STDOUT_FILENO) >= 0 && !lseek(output.fd, 0, SEEK_SET));
  ink_status status = fuzz_convert(&notes->c, "-", second_pass, &notes->report);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  FUZZ_CHECK(status == INK_OK);
  ssize_t n = pread(output.fd, made, sizeof made, 0);
  FUZZ_CHECK(n > 0 && n < (ssize_t)sizeof made);
  read_packets(made, made + n);
  FUZZ_CHECK(check_nesting() == slices);
  convert_notes_free(notes);
  ink_foreign_free(foreign);
  return 0;
}
