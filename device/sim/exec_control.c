/* SPDX-License-Identifier: MIT */
/* Branches, calls and returns with their frames, exit, trap and what does nothing here. */
#include <stdlib.h>

#include "exec_lanes.h"

void sim_exec_nothing(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  (void)warp;
  (void)insn;
  (void)lanes;
}

void sim_exec_unsupported(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const sim_program *program = warp->block->grid->kernel->module->program;
  sim_fault(warp, insn, (uint32_t)__builtin_ctz(lanes), SIM_UNSUPPORTED,
            "the simulated device has no '%s' of this form", program->words[insn->text]);
}

static uint32_t base_of(const sim_warp *warp) { return warp->groups[warp->current].base; }

static void branch(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  sim_group *group = &warp->groups[warp->current];
  sim_warp_move(warp, lanes, insn->target, group->base);
}

static void branch_indexed(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  const int32_t *table = warp->block->grid->kernel->module->program->rows + insn->target;
  uint32_t left = lanes;
  while (left != 0) {
    uint32_t lane = (uint32_t)__builtin_ctz(left), index = (uint32_t)a[lane], same = 0;
    if (index >= insn->window) {
      sim_fault(warp, insn, lane, SIM_TRAP, "branch %u of a table of %u", index, insn->window);
      return;
    }
    SIM_EACH_LANE(l, left) {
      same |= (uint32_t)a[l] == index ? UINT32_C(1) << l : 0;
    }
    sim_warp_move(warp, same, table[index], base_of(warp));
    left &= ~same;
  }
}

static bool deeper(sim_warp *warp, const sim_insn *insn, uint32_t lane) {
  if (warp->depth[lane] >= SIM_MAX_DEPTH ||
      !SIM_GROW(warp->returns, warp->return_capacity, warp->depth[lane])) {
    sim_fault(warp, insn, lane, SIM_ILLEGAL_ADDRESS, "calls nest deeper than %d", SIM_MAX_DEPTH);
    return false;
  }
  return true;
}

/* Makes the lane's new frame: arguments copied to where the callee's parameters lie. */
static bool enter(sim_warp *warp, const sim_insn *insn, uint32_t lane,
                  const sim_function *function) {
  const int32_t *list = warp->block->grid->kernel->module->program->rows + insn->list;
  uint8_t *stack = warp->local + warp->local_stride * lane;
  uint64_t local = warp->local_base[lane] + (uint64_t)insn->frame;
  if (local + function->frame_bytes > warp->local_stride) {
    sim_fault(warp, insn, lane, SIM_ILLEGAL_ADDRESS, "stack overflow: %zu bytes a thread",
              warp->local_stride);
    return false;
  }
  for (unsigned i = 0; i < insn->list_count && i < function->parameter_count; i++) {
    const sim_parameter *parameter = &function->parameters[i];
    uint64_t bytes = parameter->bytes < (uint64_t)list[2 * i + 1] ? parameter->bytes
                                                                  : (uint64_t)list[2 * i + 1];
    memmove(stack + local + parameter->offset,
            stack + warp->local_base[lane] + (uint64_t)list[2 * i], bytes);
  }
  if (!deeper(warp, insn, lane)) {
    return false;
  }
  warp->returns[warp->depth[lane]][lane] =
      (sim_return){.pc = warp->pc + 1, .base = base_of(warp), .local = warp->local_base[lane]};
  warp->depth[lane]++;
  warp->local_base[lane] = (uint32_t)local;
  return true;
}

static const sim_function *function_around(const sim_program *program, int32_t pc) {
  const sim_function *found = NULL;
  for (size_t i = 0; i < program->function_count; i++) {
    const sim_function *function = &program->functions[i];
    if (function->body && function->start <= pc && pc < function->end) {
      found = function;
    }
  }
  return found;
}

/* Where the callee's window begins. A predicate is one word for all lanes, in the column of lane 0: where other lanes of the
 * warp are in windows of other functions, the two must not share rows. */
static uint32_t window_at(const sim_warp *warp, const sim_function *function, uint32_t base) {
  const sim_program *program = warp->block->grid->kernel->module->program;
  uint32_t highest = base;
  bool shared = false;
  for (unsigned i = 0; i < warp->group_count; i++) {
    const sim_group *group = &warp->groups[i];
    uint32_t others = i == warp->current ? 0 : group->mask;
    SIM_EACH_LANE(l, others) {
      for (size_t d = 0; d <= warp->depth[l]; d++) {
        bool last = d == warp->depth[l];
        uint32_t begin = last ? group->base : warp->returns[d][l].base;
        const sim_function *holds = function_around(program, last ? group->pc : warp->returns[d][l].pc - 1);
        uint32_t end = begin + (holds ? (uint32_t)holds->registers : 0);
        shared |= end > base && begin < base + function->registers && !(begin == base && holds == function);
        highest = end > highest ? end : highest;
      }
    }
  }
  return shared ? highest : base;
}

static void call_function(sim_warp *warp, const sim_insn *insn, uint32_t lanes,
                          const sim_function *function) {
  uint32_t base = base_of(warp) + insn->window;
  if (!function->body) {
    sim_call_builtin(warp, insn, lanes, function);
    sim_warp_move(warp, lanes, warp->pc + 1, base_of(warp));
    return;
  }
  if (function->entry) {
    sim_fault(warp, insn, (uint32_t)__builtin_ctz(lanes), SIM_UNSUPPORTED,
              "a call of the kernel '%.100s'", function->name);
    return;
  }
  if (warp->group_count > 1) {
    base = window_at(warp, function, base);
  }
  if (base > SIM_MAX_ROWS || !sim_warp_reserve(warp, base + function->registers + 2)) {
    sim_fault(warp, insn, (uint32_t)__builtin_ctz(lanes), SIM_ILLEGAL_ADDRESS,
              "calls nest too deep: their registers do not fit");
    return;
  }
  SIM_EACH_LANE(l, lanes) {
    if (!enter(warp, insn, l, function)) {
      return;
    }
  }
  sim_warp_move(warp, lanes, function->start, base);
}

static const sim_function *function_at(const sim_warp *warp, uint64_t address) {
  const sim_program *program = warp->block->grid->kernel->module->program;
  uint64_t index = (address - SIM_FUNCTION_BASE) / SIM_FUNCTION_STEP;
  bool good = address >= SIM_FUNCTION_BASE && address % SIM_FUNCTION_STEP == 0 &&
              index < program->function_count;
  return good ? &program->functions[index] : NULL;
}

static void call(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const sim_program *program = warp->block->grid->kernel->module->program;
  uint64_t targets[SIM_LANES];
  uint32_t left = lanes;
  if (insn->target >= 0) {
    call_function(warp, insn, lanes, &program->functions[insn->target]);
    return;
  }
  memcpy(targets, sim_source(warp, insn, 0), sizeof targets);
  while (left != 0 && !warp->block->sm->device->failed) {
    uint32_t lane = (uint32_t)__builtin_ctz(left), same = 0;
    const sim_function *function = function_at(warp, targets[lane]);
    if (function == NULL) {
      sim_fault(warp, insn, lane, SIM_ILLEGAL_ADDRESS, "call through a bad function pointer 0x%llx",
                (unsigned long long)targets[lane]);
      return;
    }
    SIM_EACH_LANE(l, left) {
      same |= targets[l] == targets[lane] ? UINT32_C(1) << l : 0;
    }
    /* Rows may move when a callee needs more; nothing of the frame is held across the call. */
    call_function(warp, insn, same, function);
    left &= ~same;
  }
}

/* Copies the callee's result to the variable that the call instruction names. */
static void give_result(sim_warp *warp, uint32_t lane, const sim_function *callee,
                        const sim_return *back) {
  const sim_program *program = warp->block->grid->kernel->module->program;
  const sim_insn *call_insn = &program->code[back->pc - 1];
  const int32_t *list = program->rows + call_insn->list2;
  uint8_t *stack = warp->local + warp->local_stride * lane;
  uint64_t bytes;
  if (call_insn->list2_count == 0 || callee->result.bytes == 0) {
    return;
  }
  bytes = callee->result.bytes < (uint64_t)list[1] ? callee->result.bytes : (uint64_t)list[1];
  memmove(stack + back->local + (uint64_t)list[0],
          stack + warp->local_base[lane] + callee->result.offset, bytes);
}

static void finish(sim_warp *warp, uint32_t lanes) { sim_warp_end(warp, lanes); }

static void ret(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const sim_function *callee =
      &warp->block->grid->kernel->module->program->functions[insn->target];
  uint32_t left = lanes, ended = 0;
  SIM_EACH_LANE(l, lanes) {
    ended |= warp->depth[l] == 0 ? UINT32_C(1) << l : 0;
  }
  for (left &= ~ended; left != 0;) {
    uint32_t first = (uint32_t)__builtin_ctz(left), same = 0;
    sim_return to = warp->returns[warp->depth[first] - 1][first];
    SIM_EACH_LANE(l, left) {
      const sim_return *back = &warp->returns[warp->depth[l] - 1][l];
      if (back->pc == to.pc && back->base == to.base) {
        same |= UINT32_C(1) << l;
        give_result(warp, l, callee, back);
        warp->local_base[l] = back->local;
        warp->depth[l]--;
      }
    }
    sim_warp_move(warp, same, to.pc, to.base);
    left &= ~same;
  }
  if (ended != 0) {
    finish(warp, ended);
  }
}

static void leave(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  (void)insn;
  finish(warp, lanes);
}

static void trap(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  sim_fault(warp, insn, (uint32_t)__builtin_ctz(lanes), SIM_TRAP, "trap");
}

/* The whole group sleeps as long as its longest sleeper asks for, a millisecond at most. */
static void sleep_ns(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  const uint64_t *a = sim_source(warp, insn, 0);
  const sim_clock *clock = &warp->block->sm->clock;
  uint64_t ns = 0;
  SIM_EACH_LANE(l, lanes) {
    ns = (uint32_t)a[l] > ns ? (uint32_t)a[l] : ns;
  }
  ns = ns < 1000000 ? ns : 1000000;
  warp->groups[warp->current].state = SIM_G_ASLEEP;
  warp->groups[warp->current].wake =
      clock->cycle + insn->latency +
      (uint64_t)((unsigned __int128)ns * clock->rate_hz / UINT64_C(1000000000));
}

static void launch_dependents(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  (void)insn;
  (void)lanes;
  sim_block_release(warp->block);
}

/* The grid in front of this one is done, or its end wakes them. */
static void wait_for_grid(sim_warp *warp, const sim_insn *insn, uint32_t lanes) {
  (void)insn;
  if (warp->block->grid->prerequisite == NULL) {
    sim_warp_move(warp, lanes, warp->pc + 1, base_of(warp));
  } else {
    sim_warp_stop(warp, lanes, SIM_G_GRID);
  }
}

sim_exec_fn *sim_select_control(const sim_insn *insn) {
  switch (insn->op) {
    case SIM_OP_bra: return branch;
    case SIM_OP_brx: return branch_indexed;
    case SIM_OP_call: return call;
    case SIM_OP_ret: return ret;
    case SIM_OP_exit: return leave;
    case SIM_OP_trap: return trap;
    case SIM_OP_nanosleep: return sleep_ns;
    case SIM_OP_pmevent: case SIM_OP_membar: case SIM_OP_fence:
    case SIM_OP_prefetch: case SIM_OP_prefetchu: case SIM_OP_discard: case SIM_OP_applypriority:
    case SIM_OP_setmaxnreg: return sim_exec_nothing;
    case SIM_OP_griddepcontrol: return insn->flags & SIM_F_WAIT ? wait_for_grid : launch_dependents;
    default: return NULL;
  }
}
