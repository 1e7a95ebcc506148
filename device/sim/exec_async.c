/* SPDX-License-Identifier: MIT */
/* cp.async as a copy that is done at once (commit and wait then have nothing to wait for), and
 * mbarrier objects in shared memory.
 *
 * An mbarrier is 64 bits here: phase parity in bit 63, threads expected in bits 40 to 59, threads
 * still to come in bits 20 to 39, bytes still to come in bits 0 to 19 plus sign. */
#include "exec_lanes.h"

static void copy(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *to = sim_source(warp, insn, 0), *from = sim_source(warp, insn, 1);
  const uint64_t *size = sim_source(warp, insn, 2);
  size_t bytes = insn->window;
  SIM_EACH_LANE(l, lanes) {
    size_t wanted = insn->operands == 4 ? (uint32_t)size[l] : bytes;
    uint8_t *target = sim_reach(warp, insn, l, SIM_SHARED, to[l] + (uint64_t)insn->offset, bytes);
    const uint8_t *source;
    if (target == NULL) {
      return;
    }
    wanted = wanted < bytes ? wanted : bytes;
    memset(target, 0, bytes);
    if (wanted == 0) {
      continue;
    }
    source = sim_reach(warp, insn, l, SIM_GLOBAL, from[l] + (uint64_t)(int64_t)insn->list,
                       wanted == bytes ? bytes : 1);
    if (source == NULL ||
        (wanted != bytes && sim_reach(warp, insn, l, SIM_GLOBAL,
                                      from[l] + (uint64_t)(int64_t)insn->list + wanted - 1, 1) ==
                                NULL)) {
      return;
    }
    memcpy(target, source, wanted);
  }
}

#define FIELD UINT64_C(0xfffff)

typedef struct phase_barrier {
  uint64_t parity, expected, missing, bytes;
} phase_barrier;

static phase_barrier unpack(uint64_t word) {
  return (phase_barrier){.parity = word >> 63, .expected = word >> 40 & FIELD,
                         .missing = word >> 20 & FIELD, .bytes = word & FIELD};
}

static uint64_t pack(phase_barrier b) {
  return b.parity << 63 | (b.expected & FIELD) << 40 | (b.missing & FIELD) << 20 |
         (b.bytes & FIELD);
}

static void arrive(sim_warp *warp, const sim_insn *insn, uint32_t lane, phase_barrier *b,
                   uint64_t count) {
  if (count > b->missing) {
    sim_fault(warp, insn, lane, SIM_TRAP,
              "%llu arrivals at an mbarrier that waits for %llu more threads",
              (unsigned long long)count, (unsigned long long)b->missing);
    return;
  }
  b->missing -= count;
  if (b->missing == 0 && b->bytes == 0) {
    b->parity ^= 1;
    b->missing = b->expected;
  }
}

static void mbarrier(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *base = sim_source(warp, insn, 0), *x = sim_source(warp, insn, 1);
  uint64_t *d = sim_target(warp, insn);
  uint32_t bits = 0;
  unsigned space = insn->space == SIM_GENERIC ? SIM_GENERIC : insn->space;
  bool wait = insn->flags & (SIM_F_TEST_WAIT | SIM_F_TRY_WAIT);
  bool by_parity = insn->flags & SIM_F_PARITY;
  SIM_EACH_LANE(l, lanes) {
    uint8_t *at = sim_reach(warp, insn, l, space, base[l] + (uint64_t)insn->offset, 8);
    uint64_t word;
    phase_barrier b;
    if (at == NULL) {
      return;
    }
    memcpy(&word, at, 8);
    b = unpack(word);
    if (wait) {
      uint64_t asked = by_parity ? x[l] & 1 : x[l] >> 63;
      bits |= (uint32_t)(b.parity != asked) << l;
      continue;
    }
    if (insn->flags & SIM_F_INIT) {
      b = (phase_barrier){.expected = x[l] & FIELD, .missing = x[l] & FIELD};
    } else if (insn->flags & SIM_F_EXPECT_TX) {
      sim_fault(warp, insn, l, SIM_UNSUPPORTED,
                "transactions of an mbarrier are not simulated (there are no bulk copies)");
      return;
    } else if (insn->flags & SIM_F_ARRIVE) {
      arrive(warp, insn, l, &b, insn->operands != 0 ? x[l] & FIELD : 1);
      d[l] = word;
    }
    word = pack(b);
    memcpy(at, &word, 8);
  }
  if (wait) {
    sim_predicate_set(warp, insn->dst, bits, lanes);
  }
}

sim_exec_fn *sim_select_async(const sim_insn *insn) {
  if (insn->op == SIM_OP_cp) {
    if (insn->flags & (SIM_F_COMMIT | SIM_F_WAIT)) {
      return sim_exec_nothing;
    }
    return insn->space == SIM_SHARED && !(insn->flags & SIM_F_ARRIVE) &&
                   (insn->window == 4 || insn->window == 8 || insn->window == 16)
               ? copy
               : NULL;
  }
  if (insn->op == SIM_OP_mbarrier) {
    bool known = insn->flags & (SIM_F_INIT | SIM_F_INVAL | SIM_F_ARRIVE | SIM_F_TEST_WAIT |
                                SIM_F_TRY_WAIT);
    return known ? mbarrier : NULL;
  }
  return NULL;
}
