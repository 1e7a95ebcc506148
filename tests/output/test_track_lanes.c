/* SPDX-License-Identifier: MIT */
/* The lanes of tracks against what they promise, over made-up and random blocks: no two tracks of a lane overlap, what
 * ends where the next begins is before it in the file, and there are no more lanes than blocks that run at once. */
#include "output/track_lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures;

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
      failures++;                                                                                                      \
    }                                                                                                                  \
  } while (0)

static uint64_t state = 88172645463325252u;

static uint32_t any(uint32_t below) { /* xorshift64 */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32) % below;
}

static void add(track_lanes *lanes, uint32_t launch, uint32_t sm, uint32_t block, const char *role, uint32_t warp,
                int64_t begin, int64_t end) {
  ink_stored_track track = {.launch = launch, .role_name = role, .role_shared = role != NULL};
  track.header.state = end == INT64_MAX ? INK_TRACK_OPEN : INK_TRACK_CLOSED;
  track.header.grid_dim[0] = track.header.grid_dim[1] = track.header.grid_dim[2] = 1;
  track.header.sm_open = sm;
  track.header.block_index[0] = block;
  track.header.thread = warp * 32;
  if (track_lanes_add(lanes, &track, lanes->count, 0, begin, end) != INK_OK)
    exit(1);
}

static void check_lanes(const track_lanes *lanes, int64_t apart) {
  for (size_t i = 0; i < lanes->count; i++)
    for (size_t k = i + 1; k < lanes->count; k++) {
      const lane_item *a = &lanes->items[i], *b = &lanes->items[k];
      EXPECT(a->index < b->index);
      if (a->lane != b->lane)
        continue;
      /* `a` is written first. */
      const bool in_order = a->end_ns <= b->begin_ns;
      const bool apart_enough = b->end_ns < a->begin_ns && a->begin_ns - b->end_ns > apart;
      EXPECT(in_order || apart_enough);
      EXPECT(lanes->lanes[a->lane].sm == a->sm && lanes->lanes[a->lane].slot == a->slot);
    }
}

static bool has_name(const track_lanes *lanes, const char *wanted) {
  char name[200];
  for (size_t i = 0; i < lanes->lane_count; i++) {
    track_lane_name(&lanes->lanes[i], name, sizeof name);
    if (!strcmp(name, wanted))
      return true;
  }
  return false;
}

/* Blocks of 60 launches, one after the other on each of 4 SMs: 4 lanes, however many launches there are. */
static void test_launches(void) {
  track_lanes lanes = {0};
  for (uint32_t launch = 0; launch < 60; launch++)
    for (uint32_t block = 0; block < 16; block++)
      add(&lanes, launch, block % 4, block, NULL, 0, launch * 1000 + block / 4 * 100, launch * 1000 + block / 4 * 100 + 100);
  EXPECT(track_lanes_arrange(&lanes, 0) == INK_OK && lanes.lane_count == 4);
  EXPECT(has_name(&lanes, "SM 0") && has_name(&lanes, "SM 3"));
  check_lanes(&lanes, 0);
  track_lanes_free(&lanes);
}

/* Two blocks at once, each with two roles, the second role on two warps. */
static void test_roles(void) {
  track_lanes lanes = {0};
  for (uint32_t block = 0; block < 10; block++) {
    const int64_t begin = block / 2 * 1000;
    add(&lanes, 0, 7, block, "Producer", 0, begin + 3, begin + 900);
    add(&lanes, 0, 7, block, "Consumer", 1, begin + 1, begin + 950);
    add(&lanes, 0, 7, block, "Consumer", 2, begin + 2, begin + 940);
  }
  EXPECT(track_lanes_arrange(&lanes, 0) == INK_OK && lanes.lane_count == 6);
  EXPECT(has_name(&lanes, "SM 7 Producer warp 0") && has_name(&lanes, "SM 7 slot 2 Consumer warp 2"));
  check_lanes(&lanes, 0);
  track_lanes_free(&lanes);
}

/* What never closed keeps its slot; two tracks of one warp at once are apart. */
static void test_open_and_doubled(void) {
  track_lanes lanes = {0};
  add(&lanes, 0, 0, 0, NULL, 0, 0, INT64_MAX);
  add(&lanes, 1, 0, 0, NULL, 0, 500, 600);
  add(&lanes, 1, 0, 0, NULL, 0, 550, 650);
  add(&lanes, 1, 0, 0, NULL, 0, 660, 670);
  EXPECT(track_lanes_arrange(&lanes, 0) == INK_OK && lanes.lane_count == 3);
  EXPECT(has_name(&lanes, "SM 0") && has_name(&lanes, "SM 0 slot 2") && has_name(&lanes, "SM 0 slot 2, 2"));
  check_lanes(&lanes, 0);
  track_lanes_free(&lanes);
}

/* A large grid, written in no order of time: as many lanes as blocks ran at once, which is counted here. */
static void test_random(unsigned seed) {
  enum { SMS = 3, RESIDENT = 5, BLOCKS = 900 };
  track_lanes lanes = {0};
  int64_t at[SMS][RESIDENT] = {{0}}, begins[BLOCKS], ends[BLOCKS];
  uint32_t sms[BLOCKS], order[BLOCKS];
  const int64_t apart = seed % 2 ? 1000 : 0;
  for (uint32_t i = 0; i < BLOCKS; i++) {
    const uint32_t sm = any(SMS), slot = any(RESIDENT);
    sms[i] = sm;
    begins[i] = at[sm][slot] + (any(3) ? 0 : any(50));
    ends[i] = at[sm][slot] = begins[i] + (any(10) ? any(100) : 0);
    order[i] = i;
  }
  for (uint32_t i = BLOCKS; seed % 3 && i > 1; i--) {
    const uint32_t k = any(i), moved = order[i - 1];
    order[i - 1] = order[k];
    order[k] = moved;
  }
  for (uint32_t i = 0; i < BLOCKS; i++)
    add(&lanes, 0, sms[order[i]], order[i], NULL, 0, begins[order[i]], ends[order[i]]);
  EXPECT(track_lanes_arrange(&lanes, apart) == INK_OK);
  check_lanes(&lanes, apart);
  /* With the file in the order of begins there is no reason for one more; without, those that touch need another. */
  size_t most = 0;
  for (uint32_t i = 0; i < BLOCKS; i++) {
    size_t now = 0;
    for (uint32_t k = 0; k < BLOCKS; k++)
      now += sms[k] == sms[i] && begins[k] <= begins[i] + apart && ends[k] >= begins[i] - apart;
    most = now > most ? now : most;
  }
  EXPECT(lanes.lane_count >= SMS && lanes.lane_count <= SMS * most);
  track_lanes_free(&lanes);
}

/* All at once, as damaged clocks may say: soon done. */
static void test_many_at_once(void) {
  track_lanes lanes = {0};
  for (uint32_t i = 0; i < 200000; i++)
    add(&lanes, 0, 0, i, NULL, 0, i, INT64_MAX - 1);
  EXPECT(track_lanes_arrange(&lanes, 0) == INK_OK && lanes.lane_count == 200000);
  track_lanes_free(&lanes);
}

int main(void) {
  test_launches();
  test_roles();
  test_open_and_doubled();
  for (unsigned seed = 0; seed < 12; seed++)
    test_random(seed);
  test_many_at_once();
  if (!failures)
    printf("ok\n");
  return failures != 0;
}
