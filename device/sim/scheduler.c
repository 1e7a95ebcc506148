/* SPDX-License-Identifier: MIT */
/* Runs a device: the SM that is earliest in time issues one instruction of the warp that has been
 * ready longest. */
#include "scheduler.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TRY_WAIT_NS 1000000 /* that a try_wait without a time of its own waits where nothing else goes on */
#define IDLE_ROUNDS 10000u

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

void sim_warp_wake(sim_warp *warp, uint64_t time_fs) {
  const sim_clock *clock = &warp->block->sm->clock;
  uint64_t cycle = sim_clock_cycle_at(clock, time_fs);
  cycle = cycle > clock->cycle ? cycle : clock->cycle + 1;
  if (warp->heap_place >= 0) {
    if (!warp->asleep || warp->ready <= cycle) {
      return; /* it is issued when its last instruction lets it */
    }
    sim_queue_remove(warp);
    warp->ready = cycle;
  }
  warp->asleep = false;
  warp->ready = warp->ready > cycle ? warp->ready : cycle;
  sim_warp_queue(warp);
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

/* Threads of a grid that wait for the one in front of it go on. */
static void release_dependents(sim_device *device, const sim_grid *grid) {
  for (int i = 0; i < device->config.sms * device->config.blocks_per_sm; i++) {
    sim_slot *slot = &device->sms[i / device->config.blocks_per_sm].slots[i % device->config.blocks_per_sm];
    for (uint32_t w = 0; slot->busy && slot->block.grid == grid && w < slot->block.warp_count; w++) {
      sim_warp *warp = &slot->warps[w];
      bool freed = false;
      for (unsigned k = 0; k < warp->group_count; k++) {
        if (warp->groups[k].state == SIM_G_GRID) {
          warp->groups[k].state = SIM_G_READY;
          freed = true;
        }
      }
      if (freed) {
        sim_warp_wake(warp, grid->prerequisite->end_fs);
      }
    }
  }
}

static void finish_grid(sim_device *device, sim_grid *grid) {
  sim_grid **link;
  for (sim_grid *other = device->grids; other != NULL; other = other->next) {
    if (other->prerequisite == grid) {
      release_dependents(device, other);
      other->prerequisite = NULL;
    }
  }
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
  sim_landing_flush(sm->device, block);
  sim_block_release(block);
  sm->device->idle_rounds = 0;
  sim_block_leave(block);
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

/* What a thread that stands still waits for. */
static void say_wait(const sim_warp *warp, const sim_group *group, char *text, size_t bytes) {
  char rest[120];
  switch (group->state) {
    case SIM_G_PHASE:
      sim_mbarrier_say(group->awaited, rest, sizeof rest);
      snprintf(text, bytes, "this one waits at the mbarrier at shared address 0x%llx: %s",
               (unsigned long long)(group->awaited - warp->block->shared), rest);
      return;
    case SIM_G_CLUSTER:
      snprintf(text, bytes, "this one waits at the cluster's barrier, where %u of %u threads have come",
               warp->block->cluster->arrived, warp->block->cluster->alive);
      return;
    case SIM_G_GRID: snprintf(text, bytes, "this one waits for the grid in front of its own"); return;
    default: snprintf(text, bytes, "this one waits for threads that never come"); return;
  }
}

/* Everything that is begun stands still: says what a thread of it waits for. */
static void deadlock(sim_device *device) {
  char what[300];
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
        say_wait(warp, group, what, sizeof what);
        sim_fault(warp, insn, (uint32_t)__builtin_ctz(group->mask), SIM_DEADLOCK, "no thread can run: %s", what);
        return;
      }
    }
  }
}

/* Nothing on the device goes on by itself, but threads wait at mbarriers, and a try_wait ends after a while whatever
 * the phase: theirs end, once the shortest of those times has passed, and their programs see what they do. Most ask
 * again; after IDLE_ROUNDS it is taken that nobody will come. False: none waits so, or that. */
static bool end_waits(sim_device *device) {
  uint64_t shortest_ns = TRY_WAIT_NS, time_fs = sim_device_now_fs(device);
  bool any = false;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < device->config.sms * device->config.blocks_per_sm; i++) {
      sim_slot *slot = &device->sms[i / device->config.blocks_per_sm].slots[i % device->config.blocks_per_sm];
      for (uint32_t k = 0; slot->busy && k < slot->block.warp_count * SIM_LANES; k++) {
        sim_warp *warp = &slot->warps[k / SIM_LANES];
        sim_group *group = &warp->groups[k % SIM_LANES];
        if (k % SIM_LANES >= warp->group_count || group->state != SIM_G_PHASE) {
          continue;
        }
        any = true;
        if (pass == 0) {
          shortest_ns = group->wake != 0 && group->wake < shortest_ns ? group->wake : shortest_ns;
        } else {
          group->state = SIM_G_READY;
          group->expired = true;
          sim_warp_wake(warp, time_fs);
        }
      }
    }
    if (!any || (pass == 0 && ++device->idle_rounds > IDLE_ROUNDS)) {
      return false;
    }
    time_fs += shortest_ns * SIM_FS_PER_NS;
  }
  return true;
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
  warp->asleep = true;
  sim_queue_sift(warp->block->sm, (size_t)warp->heap_place);
}

/* A warp that asks an mbarrier over and over is told what it waits for. */
static void say_timeout(sim_warp *warp, uint32_t lanes) {
  const sim_group *group = &warp->groups[warp->current];
  const sim_block *block = warp->block;
  char rest[120], what[200] = "";
  if (warp->polled != NULL) {
    sim_mbarrier_say(warp->polled, rest, sizeof rest);
    snprintf(what, sizeof what, "; it asks the mbarrier at shared address 0x%llx: %s",
             (unsigned long long)(warp->polled - block->shared), rest);
  }
  sim_fault(warp, &block->grid->kernel->module->program->code[group->pc], (uint32_t)__builtin_ctz(lanes),
            SIM_TIMEOUT, "still running after %llu warp instructions (INKMARK_SIM_MAX_STEPS)%s",
            (unsigned long long)block->sm->device->config.max_steps, what);
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
  warp->asleep = false;
  if (!sim_warp_pick(warp, &lanes)) {
    wait_or_leave(warp);
    return;
  }
  if (++block->grid->steps > device->config.max_steps) {
    say_timeout(warp, lanes);
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
  device->look = false;
  if (device->grids != NULL) {
    sim_place_blocks(device, 0);
  }
  while (device->grids != NULL && !device->failed && !grid_done && !device->look &&
         (steps == UINT64_MAX || device->stats.warp_instructions < end)) {
    sim_sm *sm = earliest(device);
    uint64_t landing_fs = sim_landing_next_fs(device);
    if (landing_fs != UINT64_MAX && (sm == NULL || landing_fs <= sm->clock.time_fs)) {
      sim_landing_land(device);
      continue;
    }
    if (sm == NULL) {
      if (end_waits(device)) {
        continue;
      }
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
