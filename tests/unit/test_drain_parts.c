/* SPDX-License-Identifier: MIT */
/* What a drain works out without a device: how large a buffer is, which slots one copy takes, when to look
 * again, which names are told where a filter leaves all out. */
#include "check.h"
#include "cuda/buffer_size.h"
#include "cuda/drain_parts.h"
#include "cuda/drain_runs.h"
#include "cuda/passed_kernels.h"
#include "id_map.h"

#include <inttypes.h>
#include <string.h>

#define GIB ((size_t)1 << 30)

static void size(uint32_t records, uint32_t tracks, size_t free_bytes, bool simulated, uint32_t records_got,
                 uint32_t tracks_got, uint32_t wanted) {
  const ink_i_buffer_size s = ink_i_size_buffer(records, tracks, free_bytes, simulated);
  CHECK(s.records == records_got && s.tracks == tracks_got && s.tracks_wanted == wanted,
        "-r %u -t %u with %zu MiB: %u records, %u tracks, %u wanted", records, tracks, free_bytes >> 20,
        s.records, s.tracks, s.tracks_wanted);
}

static void sizes(void) {
  size(0, 0, 0, false, 1024, 16384, 16384); /* the free memory is not known */
  size(0, 0, 0, true, 1024, 2048, 2048);
  size(0, 0, 4 * GIB, true, 1024, 2048, 2048);
  size(0, 0, 24 * GIB, false, 1024, 16384, 16384);
  size(0, 0, 139 * GIB, false, 1024, 65536, 65536);
  size(0, 0, 1000 * GIB, false, 1024, 65536, 65536);
  size(0, 0, 7 * GIB, false, 1024, 4096, 4096);
  size(0, 0, GIB / 2, false, 512, 1024, 1024);
  size(4, 0, 4 * GIB, false, 4, 2048, 2048); /* short rings leave memory */
  size(8192, 0, 4 * GIB, false, 8192, 256, 2048);
  size(1048576, 0, 4 * GIB, false, 1048576, 32, 2048);
  size(1u << 24, 0, 4 * GIB, false, 1u << 24, 2, 2048);
  size(1048576, 64, 4 * GIB, false, 1048576, 64, 64); /* as asked */
  size(0, 4096, GIB / 4, false, 1024, 4096, 4096);
  for (size_t free_bytes = GIB / 16; free_bytes < 300 * GIB; free_bytes += free_bytes / 7) {
    const ink_i_buffer_size s = ink_i_size_buffer(0, 0, free_bytes, false);
    const size_t bytes = s.tracks * ink_i_track_bytes(s.records);
    CHECK(bytes <= free_bytes / 64 || bytes <= (size_t)16 << 20, "%zu of %zu bytes", bytes, free_bytes);
    CHECK(bytes <= 2 * GIB && s.tracks >= 512, "%zu bytes, %u tracks", bytes, s.tracks);
  }
}

/* By the model, counted anew: what the copies of a run cost. */
static uint64_t price(const ink_i_run *run, size_t ring_bytes, size_t header_bytes) {
  const uint64_t widths[] = {ink_i_run_pitch(run, ring_bytes), run->joint ? 0 : run->aux_width, header_bytes};
  uint64_t sum = 0;
  for (int i = 0; i < 3; i++)
    sum += widths[i] ? INK_I_CALL_BYTES + run->rows * (widths[i] + INK_I_ROW_BYTES) : 0;
  return sum;
}

static void choose(const ink_i_wanted *wanted, uint32_t n, size_t ring_bytes, size_t most, uint32_t *runs) {
  const size_t header = 160;
  uint64_t all = 0, apart = 0;
  *runs = 0;
  for (uint32_t i = 0; i < n;) {
    const ink_i_run run = ink_i_run_choose(&wanted[i], n - i, ring_bytes, header, most);
    CHECK(run.wanted >= 1 && run.wanted <= n - i && run.first == wanted[i].slot, "run %u", *runs);
    CHECK(run.rows == wanted[i + run.wanted - 1].slot - run.first + 1, "%u rows", run.rows);
    CHECK(ink_i_run_bytes(&run, ring_bytes, header) <= most || run.wanted == 1, "too long");
    for (uint32_t k = i; k < i + run.wanted; k++) {
      const ink_i_run one = ink_i_run_choose(&wanted[k], 1, ring_bytes, header, most);
      CHECK(run.joint || (wanted[k].ring_bytes <= run.ring_width && wanted[k].aux_bytes <= run.aux_width),
            "slot %u is cut off", wanted[k].slot);
      CHECK(!run.joint || wanted[k].aux_bytes <= run.aux_width, "slot %u is cut off", wanted[k].slot);
      apart += price(&one, ring_bytes, header);
    }
    all += price(&run, ring_bytes, header);
    i += run.wanted;
    ++*runs;
  }
  CHECK(all <= apart, "%" PRIu64 " together, %" PRIu64 " one by one", all, apart);
}

static void runs(void) {
  static ink_i_wanted wanted[4000];
  const size_t ring = 8192, most = 8 << 20;
  uint32_t n;
  for (uint32_t i = 0; i < 4000; i++)
    wanted[i] = (ink_i_wanted){i + 3, 8, 0};
  choose(wanted, 4000, ring, most, &n);
  CHECK(n == 1, "%u runs of equal ones", n);
  for (uint32_t i = 0; i < 4000; i++)
    wanted[i] = (ink_i_wanted){i * 2, 8, 0};
  choose(wanted, 4000, ring, most, &n);
  CHECK(n == 1, "%u runs with gaps of one", n);
  for (uint32_t i = 0; i < 40; i++)
    wanted[i] = (ink_i_wanted){i * 5000, 8, 0};
  choose(wanted, 40, ring, most, &n);
  CHECK(n == 40, "%u runs of what is far apart", n);
  for (uint32_t i = 0; i < 4000; i++)
    wanted[i] = (ink_i_wanted){i, i == 2000 ? (uint32_t)ring : 8, 0};
  choose(wanted, 4000, ring, most, &n);
  CHECK(n >= 2 && n <= 3, "%u runs around a long one", n);
  for (uint32_t i = 0; i < 4000; i++)
    wanted[i] = (ink_i_wanted){i, (uint32_t)ring, 800};
  choose(wanted, 4000, ring, most, &n);
  CHECK(n == (4000 * (ring + 960) + most - 1) / most, "%u runs that fill the staging", n);
  for (uint64_t seed = 0; seed < 200; seed++) {
    uint32_t slot = 0;
    for (uint32_t i = 0; i < 500; i++) {
      const uint64_t r = ink_mix64(seed << 20 | i);
      slot += 1 + (r % 11 ? 0 : (uint32_t)(r >> 8) % 300);
      wanted[i] = (ink_i_wanted){slot, (uint32_t)(r >> 20) % (seed % 3 ? 1025 : 20) * 8,
                                 (r >> 40) % 3 ? 0 : (uint32_t)(r >> 42) % 1025 * 8};
    }
    choose(wanted, 500, ring, seed % 2 ? most : 40000, &n);
  }
}

static void looks(void) {
  const int64_t most = 20000;
  int64_t us = 1000;
  for (int i = 0; i < 10; i++)
    us = ink_i_look_again_us(us, 0, 2048, most);
  CHECK(us == most, "idle: every %" PRId64 " us", us);
  for (uint64_t per_ms = 1; per_ms < 1000000; per_ms *= 3) {
    us = most;
    for (int i = 0; i < 5; i++) {
      us = ink_i_look_again_us(us, per_ms * (uint64_t)us / 1000, 16384, most);
      CHECK(us >= 1000 && us <= most, "%" PRId64 " us", us);
    }
    CHECK(us == 1000 || per_ms * (uint64_t)us / 1000 <= 16384 / 8, "%" PRIu64 " a ms: every %" PRId64 " us", per_ms, us);
  }
}

/* Of two devices: each name once, also where it is the end of another's. */
static void passed_names(void) {
  ink_kernel_slot slots[2][4] = {0};
  char text[100] = "";
  for (int i = 0; i < 2; i++) {
    ink_i_device d = {.slots = slots[i], .slot_count = 4};
    ink_i_passed_enter(&d, 1, "SubCore", "Step", 4);
    ink_i_passed_enter(&d, 1, "Core", "Step", 4);
    ink_i_passed_enter(&d, 1, "Core", "StepTwo", 7);
    for (int slot = 0; slot < 4; slot++)
      slots[i][slot].missed++;
    ink_i_passed_note(&d);
    ink_i_passed_list(&d, text, sizeof text);
    ink_i_passed_free(&d);
    CHECK(!strcmp(text, "SubCore::Step, Core::Step, Core::StepTwo"), "%s", text);
  }
}

int main(void) {
  passed_names();
  sizes();
  runs();
  looks();
  return check_result("drain_parts");
}
