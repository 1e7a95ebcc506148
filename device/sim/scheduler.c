/* SPDX-License-Identifier: MIT */
/* Runs a device: the SM that is earliest in time issues one instruction of the warp that has been
 * ready longest. */
#include "scheduler.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool before(const sim_warp *a, const sim_warp *b) {
  return a->ready != b->ready ? a->ready < b->ready : a->order < b->order;
}

static void put(sim_sm *sm, size_t place, sim_warp *warp) {
  sm->heap[place] = warp;
  warp->heap_place = (int32_t)place;
}

static void sift_up(sim_sm *sm, size_t place) {
  sim_warp *warp = sm->heap[place];
  while (place != 0 && before(warp, sm->heap[(place - 1) / 2])) {
    put(sm, place, sm->heap[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put(sm, place, warp);
}

void sim_queue_sift(sim_sm *sm, size_t place) {
  sim_warp *warp = sm->heap[place];
  for (;;) {
    size_t child = 2 * place + 1;
    if (child + 1 < sm->heap_count && before(sm->heap[child + 1], sm->heap[child])) {
      child++;
    }
    if (child >= sm->heap_count || !before(sm->heap[child], warp)) {
      break;
    }
    put(sm, place, sm->heap[child]);
    place = child;
  }
  put(sm, place, warp);
}

void sim_warp_queue(sim_warp *warp) {
  sim_sm *sm = warp->block->sm;
  if (warp->heap_place >= 0) {
    return;
  }
  warp->order = sm->device->issue_order++;
  put(sm, sm->heap_count++, warp);
  sift_up(sm, sm->heap_count - 1);
}

void sim_queue_remove(sim_warp *warp) {
  sim_sm *sm = warp->block->sm;
  size_t place = (size_t)warp->heap_place;
  if (warp->heap_place < 0) {
    return;
  }
  warp->heap_place = -1;
  sm->heap_count--;
  if (place < sm->heap_count) {
    put(sm, place, sm->heap[sm->heap_count]);
    sift_up(sm, place);
    sim_queue_sift(sm, (size_t)sm->heap[place]->heap_place);
  }
}

static void fault_text(sim_warp *warp, const sim_insn *insn, uint32_t lane,
                       enum sim_error_kind kind, const char *what) {
  sim_device *device = warp->block->sm->device;
  const sim_block *block = warp->block;
  const sim_kernel *kernel = block->grid->kernel;
  const sim_program *program = kernel->module->program;
  char source[200] = "";
  if (insn->source_line != 0) {
    const char *file = insn->source_file != 0 ? program->files[insn->source_file - 1] : "line";
    size_t length = strlen(file);
    snprintf(source, sizeof source, ", %s:%u", length > 150 ? file + length - 150 : file,
             insn->source_line);
  }
  sim_error_set(device->error, kind,
                "kernel %.180s, block (%u,%u,%u), thread (%u,%u,%u), PTX line %u%s, %s: %s",
                kernel->function->name, block->x, block->y, block->z,
                (unsigned)warp->tid[0][lane], (unsigned)warp->tid[1][lane],
                (unsigned)warp->tid[2][lane], insn->line, source, program->words[insn->text],
                what);
  device->failed = true;
}

void sim_fault(sim_warp *warp, const sim_insn *insn, uint32_t lane, enum sim_error_kind kind,
               const char *format, ...) {
  char what[400];
  va_list arguments;
  if (warp->block->sm->device->failed) {
    return; /* the first one counts */
  }
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  fault_text(warp, insn, lane, kind, what);
}

/* Runs the picked lanes' instruction. */
static void execute(sim_warp *warp, uint32_t lanes) {
  sim_group *group = &warp->groups[warp->current];
  const sim_kernel *kernel = warp->block->grid->kernel;
  const sim_insn *insn = &kernel->module->program->code[group->pc];
  sim_device *device = warp->block->sm->device;
  uint32_t active = lanes;
  warp->pc = group->pc;
  warp->frame = warp->rows[group->base];
  if (insn->guard != SIM_NO_ROW) {
    uint32_t bits = (uint32_t)sim_row(warp, insn->guard)[0];
    active &= insn->guard_negated ? ~bits : bits;
  }
  device->stats.warp_instructions++;
  device->stats.thread_instructions += (unsigned)__builtin_popcount(active);
  warp->ready = warp->block->sm->clock.cycle + insn->latency;
  if (insn->kind == SIM_K_CONTROL) {
    if (active == 0) {
      group->pc++;
      return;
    }
    if (active != lanes) {
      sim_warp_move(warp, lanes & ~active, warp->pc + 1, group->base);
    }
    insn->run(warp, insn, active);
    return;
  }
  if (active != 0) {
    insn->run(warp, insn, active);
  }
  group = &warp->groups[warp->current];
  if (lanes == group->mask) {
    group->pc++;
  } else {
    sim_warp_move(warp, lanes, warp->pc + 1, group->base);
  }
}

static void finish_grid(sim_device *device, sim_grid *grid) {
  sim_grid **link;
  for (link = &device->grids; *link != grid; link = &(*link)->next) {
  }
  *link = grid->next;
  device->turn = device->turn == grid ? grid->next : device->turn;
  grid->next = NULL;
  grid->complete = true;
  device->front_fs = grid->end_fs > device->front_fs ? grid->end_fs : device->front_fs;
  sim_log_grid(grid);
}

/* True when a grid is done with this block. */
static bool finish_block(sim_block *block) {
  sim_sm *sm = block->sm;
  sim_grid *grid = block->grid;
  uint64_t time = sm->clock.time_fs;
  bool last = ++grid->done == grid->blocks;
  block->slot->busy = false;
  sm->busy--;
  grid->end_fs = time > grid->end_fs ? time : grid->end_fs;
  if (last) {
    finish_grid(sm->device, grid);
  }
  sm->device->front_fs = time > sm->device->front_fs && sm->busy == 0 ? time
                                                                     : sm->device->front_fs;
  sim_place_blocks(sm->device, time);
  return last;
}

/* Everything that is begun stands still: says what a thread of it waits for. */
static void deadlock(sim_device *device) {
  for (int i = 0; i < device->config.sms; i++) {
    for (int k = 0; k < device->config.blocks_per_sm; k++) {
      sim_slot *slot = &device->sms[i].slots[k];
      for (uint32_t w = 0; slot->busy && w < slot->block.warp_count; w++) {
        sim_warp *warp = &slot->warps[w];
        const sim_group *group = &warp->groups[0];
        const sim_insn *insn;
        if (warp->group_count == 0) {
          continue;
        }
        insn = &slot->block.grid->kernel->module->program->code[group->pc];
        sim_fault(warp, insn, (uint32_t)__builtin_ctz(group->mask), SIM_DEADLOCK,
                  "no thread can run: this one waits for threads that never come");
        return;
      }
    }
  }
}

static sim_sm *earliest(sim_device *device) {
  sim_sm *best = NULL;
  for (int i = 0; i < device->config.sms; i++) {
    sim_sm *sm = &device->sms[i];
    if (sm->heap_count != 0 && (best == NULL || sm->clock.time_fs < best->clock.time_fs)) {
      best = sm;
    }
  }
  return best;
}

/* Nothing of the warp can run now: it sleeps until the first of its sleepers wakes, or leaves the
 * queue until a barrier lets it go on. */
static void wait_or_leave(sim_warp *warp) {
  uint64_t wake = UINT64_MAX;
  for (unsigned i = 0; i < warp->group_count; i++) {
    if (warp->groups[i].state == SIM_G_ASLEEP && warp->groups[i].wake < wake) {
      wake = warp->groups[i].wake;
    }
  }
  if (wake == UINT64_MAX) {
    sim_queue_remove(warp);
    return;
  }
  warp->ready = wake;
  sim_queue_sift(warp->block->sm, (size_t)warp->heap_place);
}

/* One step of the device; *grid_done when one more grid is. */
static void step(sim_device *device, sim_sm *sm, bool *grid_done) {
  sim_warp *warp = sm->heap[0];
  uint32_t lanes;
  sim_block *block = warp->block;
  if (warp->ready > sm->clock.cycle) {
    sim_clock_to_cycle(&sm->clock, warp->ready);
    return; /* another SM may be earlier now */
  }
  if (!sim_warp_pick(warp, &lanes)) {
    wait_or_leave(warp);
    return;
  }
  if (++block->grid->steps > device->config.max_steps) {
    const sim_group *group = &warp->groups[warp->current];
    sim_fault(warp, &block->grid->kernel->module->program->code[group->pc],
              (uint32_t)__builtin_ctz(lanes), SIM_TIMEOUT,
              "still running after %llu warp instructions (INKMARK_SIM_MAX_STEPS)",
              (unsigned long long)device->config.max_steps);
    return;
  }
  execute(warp, lanes);
  if (warp->group_count > 1) {
    sim_warp_merge(warp);
  }
  sim_clock_tick(&sm->clock);
  if (warp->live == 0) {
    sim_queue_remove(warp);
    if (block->alive == 0) {
      *grid_done |= finish_block(block);
    }
    return;
  }
  warp->order = device->issue_order++;
  if (warp->heap_place >= 0) {
    sim_queue_sift(sm, (size_t)warp->heap_place);
  }
}

enum sim_error_kind sim_device_run(sim_device *device, uint64_t steps, sim_error *error) {
  sim_error local = {.kind = SIM_OK};
  uint64_t end = device->stats.warp_instructions + steps;
  bool grid_done = false;
  device->error = error != NULL ? error : &local;
  device->error->kind = SIM_OK;
  device->failed = false;
  if (device->grids != NULL) {
    sim_place_blocks(device, 0);
  }
  while (device->grids != NULL && !device->failed && !grid_done &&
         (steps == UINT64_MAX || device->stats.warp_instructions < end)) {
    sim_sm *sm = earliest(device);
    if (sm == NULL) {
      deadlock(device);
      if (!device->failed) {
        sim_error_set(device->error, SIM_DEADLOCK, "no thread can run");
        device->failed = true;
      }
      break;
    }
    step(device, sm, &grid_done);
  }
  local.kind = device->error->kind;
  device->error = NULL;
  if (device->failed) {
    sim_device_stop(device);
    return local.kind;
  }
  return SIM_OK;
}
