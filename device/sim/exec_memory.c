/* SPDX-License-Identifier: MIT */
/* Loads and stores: every address is checked before it is touched. */
#include "exec_lanes.h"

static uint8_t *reach_generic(sim_warp *warp, uint64_t address, size_t bytes) {
  uint8_t *at = (uint8_t *)(uintptr_t)address;
  const sim_block *block = warp->block;
  size_t local_bytes = warp->local_stride * SIM_LANES;
  if (sim_memory_find(&block->sm->device->memory, at, bytes)) {
    return at;
  }
  if (address - (uint64_t)(uintptr_t)block->shared < block->shared_bytes) {
    return bytes <= block->shared_bytes - (size_t)(at - block->shared) ? at : NULL;
  }
  if (block->cluster->count > 1) {
    const sim_block *other = sim_block_at(warp, at);
    if (other != NULL) {
      return bytes <= other->shared_bytes - (size_t)(at - other->shared) ? at : NULL;
    }
  }
  if (address - (uint64_t)(uintptr_t)warp->local < local_bytes) {
    return bytes <= local_bytes - (size_t)(at - warp->local) ? at : NULL;
  }
  if (address - (uint64_t)(uintptr_t)block->grid->arguments < block->grid->argument_bytes) {
    size_t left = block->grid->argument_bytes - (size_t)(at - block->grid->arguments);
    return bytes <= left ? at : NULL;
  }
  return NULL;
}

static uint8_t *reach_space(sim_warp *warp, uint32_t lane, unsigned space, uint64_t address,
                            size_t bytes) {
  const sim_block *block = warp->block;
  switch (space) {
    case SIM_SHARED:
      address = (uint32_t)address;
      return address <= block->shared_bytes && bytes <= block->shared_bytes - address
                 ? block->shared + address
                 : NULL;
    case SIM_CLUSTER: return sim_cluster_reach(warp, address, bytes);
    case SIM_PARAM:
      if (address >= SIM_ENTRY_PARAMETERS) {
        address -= SIM_ENTRY_PARAMETERS;
        return address <= block->grid->argument_bytes &&
                       bytes <= block->grid->argument_bytes - address
                   ? block->grid->arguments + address
                   : NULL;
      }
      /* fall through */
    case SIM_LOCAL:
      return address <= warp->local_stride && bytes <= warp->local_stride - address
                 ? warp->local + warp->local_stride * lane + address
                 : NULL;
    default: return reach_generic(warp, address, bytes);
  }
}

uint8_t *sim_reach(sim_warp *warp, const sim_insn *insn, uint32_t lane, unsigned space,
                   uint64_t address, size_t bytes) {
  if ((address & (bytes - 1)) != 0 && (bytes & (bytes - 1)) == 0) {
    sim_fault(warp, insn, lane, SIM_MISALIGNED, "misaligned %s address 0x%llx for %zu bytes",
              sim_space_name(space), (unsigned long long)address, bytes);
    return NULL;
  }
  return sim_reach_bytes(warp, insn, lane, space, address, bytes);
}

uint8_t *sim_reach_bytes(sim_warp *warp, const sim_insn *insn, uint32_t lane, unsigned space,
                         uint64_t address, size_t bytes) {
  uint8_t *at = reach_space(warp, lane, space, address, bytes);
  if (at != NULL) {
    return at;
  }
  if (space == SIM_SHARED) {
    sim_fault(warp, insn, lane, SIM_ILLEGAL_ADDRESS,
              "shared address 0x%llx, %zu bytes, is outside the block's %llu bytes",
              (unsigned long long)address, bytes,
              (unsigned long long)warp->block->shared_bytes);
  } else {
    sim_fault(warp, insn, lane, SIM_ILLEGAL_ADDRESS, "illegal %s address 0x%llx, %zu bytes",
              sim_space_name(space), (unsigned long long)address, bytes);
  }
  return NULL;
}

const char *sim_reach_string(sim_warp *warp, const sim_insn *insn, uint32_t lane,
                             uint64_t address) {
  for (uint64_t i = 0;; i++) {
    const uint8_t *at = sim_reach(warp, insn, lane, SIM_GENERIC, address + i, 1);
    if (at == NULL) {
      return NULL;
    }
    if (*at == '\0') {
      return (const char *)(uintptr_t)address;
    }
  }
}

static uint64_t lane_address(const sim_warp *warp, const sim_insn *insn, const uint64_t *base,
                             uint32_t lane) {
  uint64_t address = base[lane] + (uint64_t)insn->offset;
  return insn->flags & SIM_F_FRAME ? address + warp->local_base[lane] : address;
}

static uint64_t read_as(unsigned type, const uint8_t *at) {
  uint64_t value = 0;
  switch (sim_type_bytes(type)) {
    case 1: return type == SIM_S8 ? (uint64_t)(int64_t)(int8_t)*at : *at;
    case 2: {
      uint16_t half;
      memcpy(&half, at, 2);
      return type == SIM_S16 ? (uint64_t)(int64_t)(int16_t)half : half;
    }
    case 4: {
      uint32_t word;
      memcpy(&word, at, 4);
      return type == SIM_S32 ? (uint64_t)(int64_t)(int32_t)word : word;
    }
    default: memcpy(&value, at, 8); return value;
  }
}

static void load(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *base = sim_source(warp, insn, 0);
  uint64_t *d = sim_target(warp, insn), out[SIM_LANES];
  size_t bytes = sim_type_bytes(insn->type);
  SIM_EACH_LANE(l, lanes) {
    const uint8_t *at = sim_reach(warp, insn, l, insn->space, lane_address(warp, insn, base, l),
                                  bytes);
    if (at == NULL) {
      return;
    }
    out[l] = read_as(insn->type, at);
  }
  SIM_EACH_LANE(l, lanes) {
    d[l] = out[l];
  }
}

static void load_vector(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *base = sim_source(warp, insn, 0);
  const int32_t *rows = warp->block->grid->kernel->module->program->rows + insn->list;
  unsigned count = insn->type == SIM_B128 && insn->vector == 0 ? 1 : insn->vector;
  size_t item = sim_type_bytes(insn->type), bytes = item * count;
  const uint8_t *at[SIM_LANES];
  SIM_EACH_LANE(l, lanes) {
    at[l] = sim_reach(warp, insn, l, insn->space, lane_address(warp, insn, base, l), bytes);
    if (at[l] == NULL) {
      return;
    }
  }
  /* All addresses are taken before a register changes: one of them may be the base. */
  for (unsigned i = 0; i < count; i++) {
    int32_t row = insn->vector != 0 ? rows[i] : insn->dst;
    uint64_t *d = row >= 0 ? sim_row_out(warp, row) : warp->sink;
    SIM_EACH_LANE(l, lanes) {
      d[l] = read_as(insn->type, at[l] + i * item);
      if (item == 16 && row >= 0) {
        d[l + SIM_LANES] = read_as(SIM_B64, at[l] + i * item + 8);
      }
    }
  }
}

static void store(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *base = sim_source(warp, insn, 0), *a = sim_source(warp, insn, 1);
  size_t bytes = sim_type_bytes(insn->type);
  SIM_EACH_LANE(l, lanes) {
    uint8_t *at = sim_reach(warp, insn, l, insn->space, lane_address(warp, insn, base, l), bytes);
    if (at == NULL) {
      return;
    }
    switch (bytes) { /* little-endian, like the device */
      case 1: memcpy(at, &a[l], 1); break;
      case 2: memcpy(at, &a[l], 2); break;
      case 4: memcpy(at, &a[l], 4); break;
      default: memcpy(at, &a[l], 8); break;
    }
  }
}

static void store_vector(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *base = sim_source(warp, insn, 0);
  const int32_t *rows = warp->block->grid->kernel->module->program->rows + insn->list;
  unsigned count = insn->vector == 0 ? 1 : insn->vector;
  size_t item = sim_type_bytes(insn->type), bytes = item * count;
  SIM_EACH_LANE(l, lanes) {
    uint8_t *at = sim_reach(warp, insn, l, insn->space, lane_address(warp, insn, base, l), bytes);
    if (at == NULL) {
      return;
    }
    for (unsigned i = 0; i < count; i++) {
      int32_t row = insn->vector != 0 ? rows[i] : insn->src[1];
      const uint64_t *a = sim_row(warp, row);
      memcpy(at + i * item, &a[l], item < 8 ? item : 8);
      if (item == 16) {
        uint64_t high = row >= 0 ? a[l + SIM_LANES] : 0;
        memcpy(at + i * item + 8, &high, 8);
      }
    }
  }
}

sim_exec_fn *sim_select_memory(const sim_insn *insn) {
  unsigned bytes = sim_type_bytes(insn->type);
  bool vector = insn->vector != 0 || bytes == 16;
  if (insn->more & SIM_X_ASYNC) {
    return NULL;
  }
  switch (insn->op) {
    case SIM_OP_ld: case SIM_OP_ldu:
      return bytes == 0 || insn->type == SIM_PRED ? NULL : vector ? load_vector : load;
    case SIM_OP_st:
      return bytes == 0 || insn->type == SIM_PRED ? NULL : vector ? store_vector : store;
    default: return NULL;
  }
}
