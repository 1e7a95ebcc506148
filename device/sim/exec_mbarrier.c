/* SPDX-License-Identifier: MIT */
/* mbarrier objects in shared memory: arrivals and bytes that end a phase, and the waits for it.
 *
 * An mbarrier is 64 bits, as in PTX; what they hold is this simulator's own: the phase's parity in bit 63, a sign
 * that it was initialised in bit 62, arrivals expected in bits 41 to 60, arrivals still to come in bits 21 to 40,
 * bytes still to come in bits 0 to 20, which may be negative while a copy lands before it is expected. The state
 * that an arrival gives is the word before it.
 *
 * try_wait stops its threads until the phase ends: nobody spins, and where all threads of the device have stopped
 * there is nobody left to end it, which the scheduler finds out (scheduler.c). test_wait answers at once. */
#include "exec_lanes.h"

#define COUNT_BITS 20
#define COUNT_MOST ((UINT64_C(1) << COUNT_BITS) - 1)
#define BYTES_BITS 21
#define KNOWN (UINT64_C(1) << 62)

typedef struct mbarrier {
  uint64_t parity, expected, missing;
  int64_t bytes;
  bool known;
} mbarrier;

static mbarrier unpack(uint64_t word) {
  uint64_t bytes = word & ((UINT64_C(1) << BYTES_BITS) - 1);
  return (mbarrier){.parity = word >> 63,
                    .known = (word & KNOWN) != 0,
                    .expected = word >> (BYTES_BITS + COUNT_BITS) & COUNT_MOST,
                    .missing = word >> BYTES_BITS & COUNT_MOST,
                    .bytes = (int64_t)(bytes << 43) >> 43};
}

static uint64_t pack(mbarrier b) {
  return b.parity << 63 | (b.known ? KNOWN : 0) | (b.expected & COUNT_MOST) << (BYTES_BITS + COUNT_BITS) |
         (b.missing & COUNT_MOST) << BYTES_BITS | ((uint64_t)b.bytes & ((UINT64_C(1) << BYTES_BITS) - 1));
}

static mbarrier read_at(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return unpack(word);
}

void sim_mbarrier_say(const uint8_t *at, char *text, size_t bytes) {
  mbarrier b = read_at(at);
  snprintf(text, bytes, "%llu of %llu arrivals and %lld bytes are still to come", (unsigned long long)b.missing,
           (unsigned long long)b.expected, (long long)b.bytes);
}

bool sim_mbarrier_known(sim_warp *warp, const sim_insn *insn, uint32_t lane, const uint8_t *at) {
  if (!read_at(at).known) {
    sim_fault(warp, insn, lane, SIM_TRAP,
              "there is no mbarrier: none was initialised here, or something was stored over it");
    return false;
  }
  return true;
}

/* Where a lane's mbarrier lies, and in which block; NULL after a fault. */
static uint8_t *find(sim_warp *warp, const sim_insn *insn, uint32_t lane, sim_block **block) {
  uint64_t address = sim_source(warp, insn, 0)[lane] + (uint64_t)insn->offset;
  uint8_t *at = sim_reach(warp, insn, lane, insn->space, address, 8);
  *block = at != NULL ? sim_block_at(warp, at) : NULL;
  if (at != NULL && *block == NULL) {
    sim_fault(warp, insn, lane, SIM_ILLEGAL_ADDRESS, "an mbarrier that is not in shared memory");
  }
  return *block != NULL ? at : NULL;
}

/* Threads of the block that wait for the mbarrier go on. */
static void release(sim_block *block, const uint8_t *at, uint64_t time_fs) {
  for (uint32_t i = 0; i < block->warp_count; i++) {
    sim_warp *warp = &block->slot->warps[i];
    bool freed = false;
    for (unsigned k = 0; k < warp->group_count; k++) {
      sim_group *group = &warp->groups[k];
      if (group->state == SIM_G_PHASE && group->awaited == at) {
        group->state = SIM_G_READY;
        freed = true;
      }
    }
    if (freed) {
      sim_warp_wake(warp, time_fs);
    }
  }
}

/* Stores it, as the next phase where this one is complete. */
static void write_back(sim_block *block, uint8_t *at, mbarrier b, uint64_t time_fs) {
  bool complete = b.known && b.missing == 0 && b.bytes == 0;
  uint64_t word;
  if (complete) {
    b.parity ^= 1;
    b.missing = b.expected;
  }
  word = pack(b);
  memcpy(at, &word, sizeof word);
  if (complete) {
    block->sm->device->idle_rounds = 0;
    release(block, at, time_fs);
  }
}

void sim_mbarrier_bytes(sim_block *block, uint8_t *at, uint64_t bytes, uint64_t time_fs) {
  mbarrier b = read_at(at);
  b.bytes -= (int64_t)bytes;
  write_back(block, at, b, time_fs);
}

static bool in_range(sim_warp *warp, const sim_insn *insn, uint32_t lane, int64_t bytes) {
  if (bytes > (int64_t)COUNT_MOST || bytes < -(int64_t)COUNT_MOST) {
    sim_fault(warp, insn, lane, SIM_TRAP, "an mbarrier waits for %lld bytes; it counts %llu at most", (long long)bytes,
              (unsigned long long)COUNT_MOST);
    return false;
  }
  return true;
}

static bool count_arrivals(sim_warp *warp, const sim_insn *insn, uint32_t lane, mbarrier *b, uint64_t count) {
  if (count > b->missing) {
    sim_fault(warp, insn, lane, SIM_TRAP, "%llu arrivals at an mbarrier that waits for %llu more",
              (unsigned long long)count, (unsigned long long)b->missing);
    return false;
  }
  b->missing -= count;
  if (insn->more & SIM_X_DROP) {
    b->expected -= count < b->expected ? count : b->expected;
  }
  return true;
}

/* One lane's init, inval, expect_tx, complete_tx or arrival. */
static bool change(sim_warp *warp, const sim_insn *insn, uint32_t lane, mbarrier *b, uint64_t x) {
  bool arrives = insn->flags & SIM_F_ARRIVE || insn->more & SIM_X_DROP;
  uint64_t count = insn->operands != 0 && !(insn->flags & SIM_F_EXPECT_TX) ? (uint32_t)x : 1;
  if (insn->flags & SIM_F_INIT) {
    if ((uint32_t)x == 0 || (uint32_t)x > COUNT_MOST) {
      sim_fault(warp, insn, lane, SIM_TRAP, "an mbarrier for %u arrivals: 1 to %llu are possible", (uint32_t)x,
                (unsigned long long)COUNT_MOST);
      return false;
    }
    *b = (mbarrier){.known = true, .expected = (uint32_t)x, .missing = (uint32_t)x};
    return true;
  }
  if (insn->flags & SIM_F_INVAL) {
    *b = (mbarrier){0};
    return true;
  }
  if (insn->flags & SIM_F_EXPECT_TX) {
    b->bytes += (uint32_t)x;
  } else if (insn->more & SIM_X_COMPLETE_TX) {
    b->bytes -= (uint32_t)x;
  }
  return in_range(warp, insn, lane, b->bytes) && (!arrives || count_arrivals(warp, insn, lane, b, count));
}

static void update(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *x = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn), out[SIM_LANES] = {0};
  bool fresh = insn->flags & SIM_F_INIT;
  SIM_EACH_LANE(l, lanes) {
    sim_block *block;
    uint8_t *at = find(warp, insn, l, &block);
    mbarrier b;
    if (at == NULL || (!fresh && !sim_mbarrier_known(warp, insn, l, at))) {
      return;
    }
    memcpy(&out[l], at, sizeof out[l]);
    b = unpack(out[l]);
    if (!change(warp, insn, l, &b, x[l])) {
      return;
    }
    write_back(block, at, b, warp->block->sm->clock.time_fs);
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = out[l];
  }
}

/* Copies are done at once here: what is left of cp.async.mbarrier.arrive is the arrival, where it counts. */
static void copies_arrive(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  SIM_EACH_LANE(l, lanes) {
    sim_block *block;
    uint8_t *at = find(warp, insn, l, &block);
    mbarrier b;
    if (at == NULL || !sim_mbarrier_known(warp, insn, l, at)) {
      return;
    }
    b = read_at(at);
    if (insn->more & SIM_X_NOINC) {
      if (!count_arrivals(warp, insn, l, &b, 1)) {
        return;
      }
      write_back(block, at, b, warp->block->sm->clock.time_fs);
    }
  }
}

/* Lanes whose phase is complete; at[l] is the mbarrier of each other lane. False after a fault. */
static bool ask(sim_warp *warp, const sim_insn *insn, uint32_t lanes, uint32_t *complete,
                const uint8_t *at[SIM_LANES]) {
  const uint64_t *x = sim_source(warp, insn, 1);
  *complete = 0;
  SIM_EACH_LANE(l, lanes) {
    uint64_t asked = insn->flags & SIM_F_PARITY ? x[l] & 1 : x[l] >> 63;
    sim_block *block;
    at[l] = find(warp, insn, l, &block);
    if (at[l] == NULL || !sim_mbarrier_known(warp, insn, l, at[l])) {
      return false;
    }
    if (block != warp->block) {
      sim_fault(warp, insn, l, SIM_ILLEGAL_ADDRESS, "a wait for an mbarrier of another block");
      return false;
    }
    *complete |= (uint32_t)(read_at(at[l]).parity != asked) << l;
  }
  return true;
}

static void answer(sim_warp *warp, const sim_insn *insn, uint32_t lanes, uint32_t complete,
                   const uint8_t *const at[SIM_LANES]) {
  uint32_t left = lanes & ~complete;
  warp->polled = left != 0 ? at[__builtin_ctz(left)] : NULL;
  sim_predicate_set(warp, insn->dst, complete, lanes);
}

static void test_wait(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  uint32_t complete;
  const uint8_t *at[SIM_LANES];
  if (ask(warp, insn, lanes, &complete, at)) {
    answer(warp, insn, lanes, complete, at);
  }
}

/* Lanes whose phase is complete go on, the others stop, those of each mbarrier together; all go on where their time
 * is over. */
static void try_wait(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  sim_group *group = &warp->groups[warp->current];
  const uint64_t *ns = sim_source(warp, insn, 2);
  const uint8_t *at[SIM_LANES];
  uint32_t complete, base = group->base, go;
  if (!ask(warp, insn, lanes, &complete, at)) {
    return;
  }
  go = group->expired ? lanes : complete;
  group->expired = false;
  if (go != 0) {
    answer(warp, insn, go, complete, at);
  }
  for (uint32_t left = lanes & ~go; left != 0;) {
    uint32_t first = (uint32_t)__builtin_ctz(left), same = 0;
    SIM_EACH_LANE(l, left) {
      same |= (uint32_t)(at[l] == at[first]) << l;
    }
    group = sim_warp_stop(warp, same, SIM_G_PHASE);
    group->awaited = at[first];
    group->wake = insn->operands > 1 ? (uint32_t)ns[first] : 0;
    left &= ~same;
  }
  if (go != 0) {
    sim_warp_move(warp, go, warp->pc + 1, base);
  }
}

/* Arrivals that were still to come when an arrival gave its state. */
static void pending_count(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *state = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn);
  SIM_EACH_LANE(l, lanes) {
    d[l] = unpack(state[l]).missing;
  }
}

sim_exec_fn *sim_select_mbarrier(const sim_insn *insn) {
  if (insn->op == SIM_OP_cp) {
    return insn->more & SIM_X_MBARRIER && insn->flags & SIM_F_ARRIVE ? copies_arrive : NULL;
  }
  if (insn->op != SIM_OP_mbarrier) {
    return NULL;
  }
  if (insn->more & SIM_X_PENDING) {
    return pending_count;
  }
  if (insn->flags & (SIM_F_TEST_WAIT | SIM_F_TRY_WAIT)) {
    return insn->flags & SIM_F_TRY_WAIT ? try_wait : test_wait;
  }
  return insn->flags & (SIM_F_INIT | SIM_F_INVAL | SIM_F_ARRIVE | SIM_F_EXPECT_TX) ||
                 insn->more & (SIM_X_DROP | SIM_X_COMPLETE_TX)
             ? update
             : NULL;
}
