/* SPDX-License-Identifier: MIT */
/* Fuzzes what takes tracks out of memory that a killed program left (`record --flight`). The first byte says how: bit 0,
 * the rest is the whole area; else it is a sound one of 4 tracks and 2 kernels, whose tracks the next bytes describe, and
 * then come changes, three bytes each: where, and which bits. Bit 1: the kernels trapped; bit 2: the rings are shorter than
 * those of the device that was told of. Whatever is in it, the capture is one that can be read, with
 * as many tracks as were said to be written, and no byte beyond the area is looked at. */
#include "fuzz_input.h"
#include "shm/flight_area.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TRACKS = 4, RECORDS = 64, SHORT = 4, SLOTS = 2, STRIDE = 1280, SHORT_STRIDE = 256, BUFFER_AT = 0x1000, WORDS = 6 };

static const ink_device_info device = {.index = 0, .simulated = 1, .sm_count = 1, .capability = 75, .track_count = TRACKS,
                                       .records_per_track = RECORDS, .aux_records_per_track = RECORDS,
                                       .flags = INK_BUFFER_ON, .name = "fuzzed"};

/* How a track is, and a word for each of the bytes that follow. */
static void put_track(unsigned char *area, const ink_i_flight_head *head, uint32_t track, const uint8_t *from) {
  const size_t rings = (size_t)head->info.records_per_track * 16;
  unsigned char *ring = area + head->rings_at + track * head->stride;
  ink_device_track h;
  memset(ring - sizeof h, 0xff, sizeof h + rings);
  if (!(from[0] & 3))
    return;
  h = (ink_device_track){.state_at = 8, .slot = BUFFER_AT + (from[0] >> 2 & 1) * sizeof(ink_kernel_slot), .ticket = track,
                         .grid_id = 1, .grid_dim = {TRACKS, 1, 1}, .block_dim = {32, 1, 1}, .block_index = {track, 0, 0},
                         .open_clock0 = 1000, .open_clock1 = 1001, .open_global_ns = 5000, .closing = UINT32_MAX};
  uint64_t words = 0;
  for (; words < WORDS && from[1 + words]; words++)
    if (words < head->info.records_per_track)
      memcpy(ring + words * 8, &(uint64_t){(uint64_t)(from[1 + words] & 0xf0) << 44 ^ (2000 + from[1 + words])}, 8);
  if (from[0] & 2) {
    h.close_clock0 = 9000;
    h.close_global_ns = 9000;
    h.close_clock1 = 9001;
    h.bytes = words * 8 * (from[0] & 16 ? 100 : 1);
    h.extra = h.aux_bytes = h.aux_extra = 0;
    h.closing = 8;
  }
  memcpy(ring - sizeof h, &h, sizeof h);
}

/* The area, of exactly its size; what is left of the input are changes. */
static unsigned char *make_sound(bool is_short, const uint8_t **data, size_t *size, size_t *bytes) {
  ink_i_flight_head head = {.magic = INK_I_FLIGHT_MAGIC, .version = INK_I_FLIGHT_VERSION, .layout = INK_LAYOUT_VERSION,
                            .info = device, .buffer_at = BUFFER_AT, .claims = TRACKS, .slot_count = SLOTS};
  head.info.name = NULL;
  if (is_short)
    head.info.records_per_track = head.info.aux_records_per_track = SHORT;
  *bytes = (size_t)ink_i_flight_place(&head, 0, is_short ? SHORT_STRIDE : STRIDE);
  unsigned char *area = calloc(1, *bytes);
  FUZZ_CHECK(area);
  for (uint32_t i = 0; i < SLOTS; i++) {
    const ink_i_flight_kernel kernel = {.key = INK_KERNEL_KEY(77, i + 1)};
    memcpy(area + head.kernels_at + i * sizeof kernel, &kernel, sizeof kernel);
  }
  for (uint32_t i = 0; i < TRACKS; i++) {
    uint8_t from[1 + WORDS] = {0};
    const size_t n = *size < sizeof from ? *size : sizeof from;
    memcpy(from, *data, n);
    *data += n;
    *size -= n;
    put_track(area, &head, i, from);
  }
  memcpy(area, &head, sizeof head);
  return area;
}

/* A file with a name: what was deleted while it was written is told as lost. */
static char path[] = "/tmp/fuzz-flight-XXXXXX";
static void remove_file(void) { unlink(path); }
static void make_file(void) {
  static bool made;
  const int fd = made ? -1 : mkstemp(path);
  FUZZ_CHECK(made || fd >= 0);
  if (fd < 0)
    return;
  close(fd);
  made = true;
  atexit(remove_file);
}

static void check_capture(uint64_t tracks, ink_status status) {
  ink_capture *capture = NULL;
  ink_error error = {0};
  FUZZ_CHECK(ink_capture_open(path, &capture, &error) == INK_OK);
  FUZZ_CHECK(!ink_capture_get_facts(capture)->damaged_chunks);
  FUZZ_CHECK(status != INK_OK || ink_capture_track_count(capture) <= tracks); /* two may be the same one */
  FUZZ_CHECK(!tracks || status != INK_OK || ink_capture_track_count(capture));
  ink_capture_free(capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ink_writer *writer = NULL;
  ink_error error = {0};
  if (!size)
    return 0;
  const uint8_t how = *data;
  const bool raw = how & 1;
  data++;
  size--;
  size_t bytes = size;
  unsigned char *area = raw ? malloc(size + !size) : make_sound(how & 4, &data, &size, &bytes);
  FUZZ_CHECK(area);
  if (raw)
    memcpy(area, data, size);
  for (; !raw && size >= 3; data += 3, size -= 3)
    area[(data[0] | (size_t)data[1] << 8) % bytes] ^= data[2];
  make_file();
  FUZZ_CHECK(ink_writer_open(path, true, &writer, &error) == INK_OK);
  FUZZ_CHECK(ink_writer_table(writer, "Table", "First, Second, Third", "fuzzed.cu", 1, 77, &error) == INK_OK);
  FUZZ_CHECK(ink_writer_device(writer, &device, &error) == INK_OK);
  uint64_t tracks = 0;
  const ink_status status = ink_i_flight_write_rest(area, bytes, how & 2, writer, &tracks, &error);
  fuzz_failed(status, &error);
  FUZZ_CHECK(tracks <= bytes / sizeof(ink_device_track));
  FUZZ_CHECK(ink_writer_close(writer, &error) == INK_OK);
  check_capture(tracks, status);
  free(area);
  return 0;
}
