/* SPDX-License-Identifier: MIT */
/* What the marks themselves cost, paid record by record while decode_levels.c walks a track: each
 * takes the track's time from its stamp on, up to what it costs. */
#include "decode_events.h"

enum { BODY, CALLED };

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The record before costs what it takes, but not more than the time until `now`. */
uint64_t ink_cost_pay(ink_decoder *decoder, uint64_t now, ink_cost next) {
  if (!decoder->costed)
    return 0;
  uint64_t passed = now > decoder->passed_at ? now - decoder->passed_at : 0;
  uint64_t paid = earlier(passed, decoder->passed.cycles);
  decoder->cost.cycles += paid;
  decoder->cost.bound_millicycles += decoder->passed.bound_millicycles;
  decoder->passed = next;
  decoder->passed_at += passed;
  if (!decoder->whole_began && now >= decoder->track.partial_before_cycles) {
    decoder->whole_began = true;
    decoder->whole_from = decoder->cost;
  }
  if (now <= decoder->track.partial_after_cycles)
    decoder->whole_to = decoder->cost;
  return paid;
}

ink_cost ink_cost_of_record(const ink_decoder *decoder, int called, const ink_record *record) {
  if (record->escape && record->kind != INK_KIND_ESCAPE) /* a range's number, a shared key: as long as a VALUE */
    return ink_cost_of(&decoder->costs, called, INK_KIND_ESCAPE, INK_ESCAPE_VALUE_U64);
  return ink_cost_of(&decoder->costs, called, record->kind, record->escape);
}

void ink_cost_pay_clocks(ink_decoder *decoder, const ink_record *record, uint64_t now) {
  const uint64_t before = record->payload[0];
  ink_cost cost = decoder->costs.clocks;
  if (!decoder->costed || !decoder->costs.clocks_known || before > now ||
      before < decoder->passed_at) {
    ink_cost_pay(decoder, now, (ink_cost){0, 0});
    return;
  }
  cost.cycles += now - before;
  ink_cost_pay(decoder, before, cost);
}

ink_cost ink_cost_pay_passes(ink_decoder *decoder, const ink_record *record, uint64_t now) {
  const ink_level *level = &decoder->levels[BODY].items[decoder->levels[BODY].count - 1];
  const ink_cost pair = decoder->costs.sum_pair;
  const uint64_t count = record->payload[0];
  if (!decoder->costed || !pair.cycles || !level->stamp_known || level->stamp != decoder->row_at ||
      now < level->stamp || count > UINT32_MAX)
    return (ink_cost){0, 0};
  const uint64_t gone = decoder->cost.cycles - level->stamp_cost.cycles;
  const uint64_t room = now - level->stamp - earlier(now - level->stamp, gone);
  const ink_cost paid = {earlier(count * pair.cycles, room), count * pair.bound_millicycles};
  decoder->cost.cycles += paid.cycles;
  decoder->cost.bound_millicycles += paid.bound_millicycles;
  if (now <= decoder->track.partial_after_cycles)
    decoder->whole_to = decoder->cost;
  return paid;
}

void ink_costs_open(ink_decoder *decoder) {
  const bool whole = decoder->track.partial_before_cycles == 0;
  decoder->costed = decoder->sink->want_costs;
  if (decoder->costed && decoder->costs_device != decoder->stored.device) {
    decoder->costs_device = decoder->stored.device;
    decoder->costs = ink_costs_of(decoder->capture, decoder->stored.device);
  }
  decoder->costed = decoder->costed && decoder->costs.known && !decoder->rows.rows; /* what a slot costs is not measured */
  decoder->cost = decoder->whole_from = decoder->whole_to = decoder->called_cost = (ink_cost){0, 0};
  decoder->whole_began = whole;
  decoder->passed_at = decoder->track.open_cycles;
  decoder->row_at = decoder->rings[BODY].lost_front ? UINT64_MAX : decoder->track.open_cycles;
  decoder->passed = (ink_cost){0, 0};
  /* Where the oldest records are gone, the one before the oldest that is left is not known. */
  if (!decoder->rings[BODY].lost_front && !decoder->rings[CALLED].lost_front)
    decoder->passed = decoder->costs.opening;
}

/* Of the whole part of the time from the base's stamp to `now`, without what called slices claim. */
ink_cost ink_cost_of_gap(const ink_decoder *decoder, const ink_level *base, uint64_t now,
                         ink_cost claimed) {
  const ink_cost *from = base->stamp < decoder->track.partial_before_cycles ? &decoder->whole_from
                                                                           : &base->stamp_cost;
  const ink_cost *to =
      now > decoder->track.partial_after_cycles ? &decoder->whole_to : &decoder->cost;
  const uint64_t cycles = to->cycles - from->cycles;
  const uint64_t bound = to->bound_millicycles - from->bound_millicycles;
  return (ink_cost){cycles - earlier(cycles, claimed.cycles),
                    bound - earlier(bound, claimed.bound_millicycles)};
}

static inline __attribute__((always_inline)) uint64_t pay_run(ink_decoder *decoder, const ink_event *run,
                                                              const uint8_t *payload) {
  ink_run_stamps at = ink_run_begin(run, payload, run->costs);
  uint64_t paid = 0, bound = 0, gaps = 0;
  ink_run_next(&at);
  for (uint64_t last = at.clock; ink_run_next(&at); last = at.clock) {
    const uint64_t cycles = earlier(at.clock - last, at.cost.cycles);
    paid += cycles;
    bound += at.cost.bound_millicycles;
    gaps += at.iter ? cycles : 0;
  }
  decoder->cost.cycles += paid;
  decoder->cost.bound_millicycles += bound;
  decoder->passed = at.following;
  decoder->passed_at = run->end;
  if (run->end <= decoder->track.partial_after_cycles)
    decoder->whole_to = decoder->cost;
  return gaps;
}

/* Pays for the records of a run from its second on, and gives what ITERs' gaps cost. */
uint64_t ink_cost_pay_run(ink_decoder *decoder, const ink_event *run) {
  return run->payload ? pay_run(decoder, run, run->payload) : pay_run(decoder, run, NULL);
}
