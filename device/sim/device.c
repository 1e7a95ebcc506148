/* SPDX-License-Identifier: MIT */
/* Devices: their SMs with slots, idle time, reset, statistics. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler.h"

#define SHARED_ROOM ((SIM_MAX_SHARED + 4095) / 4096 * 4096)

static bool open_sm(sim_device *device, int index) {
  sim_sm *sm = &device->sms[index];
  size_t slots = (size_t)device->config.blocks_per_sm;
  sm->device = device;
  sm->index = (uint32_t)index;
  if (!sim_clock_open(&sm->clock, &device->config, device->index, index)) {
    return false;
  }
  sm->slots = calloc(slots, sizeof *sm->slots);
  sm->heap = calloc(slots * SIM_MAX_WARPS, sizeof *sm->heap);
  if (sm->slots == NULL || sm->heap == NULL) {
    return false;
  }
  for (size_t i = 0; i < slots; i++) {
    sim_slot *slot = &sm->slots[i];
    slot->warps = calloc(SIM_MAX_WARPS, sizeof *slot->warps);
    slot->shared = aligned_alloc(4096, (SIM_MAX_SHARED + 8191u) / 4096 * 4096);
    if (slot->warps == NULL || slot->shared == NULL) {
      return false;
    }
    memset(slot->shared, 0xa5, SIM_MAX_SHARED + 4096);
  }
  return true;
}

static void close_sm(sim_device *device, sim_sm *sm) {
  for (int i = 0; sm->slots != NULL && i < device->config.blocks_per_sm; i++) {
    sim_slot *slot = &sm->slots[i];
    for (int k = 0; slot->warps != NULL && k < SIM_MAX_WARPS; k++) {
      sim_warp *warp = &slot->warps[k];
      free(warp->rows);
      free(warp->returns);
      free(warp->bulk);
      if (warp->local != NULL) {
        munmap(warp->local, warp->local_capacity);
      }
    }
    free(slot->warps);
    free(slot->shared);
  }
  free(sm->slots);
  free(sm->heap);
  sim_clock_close(&sm->clock);
}

/* The order in which SMs are given blocks: 0, 1, 2... or, with a seed, a shuffle. */
static bool order_sms(sim_device *device) {
  uint32_t count = (uint32_t)device->config.sms;
  device->sm_order = malloc(count * sizeof *device->sm_order);
  if (device->sm_order == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    device->sm_order[i] = i;
  }
  for (uint32_t i = count; device->config.seed != 0 && i > 1; i--) {
    uint32_t other = (uint32_t)(sim_draw(device->config.seed, 3 + (uint64_t)device->index, i) % i);
    uint32_t kept = device->sm_order[i - 1];
    device->sm_order[i - 1] = device->sm_order[other];
    device->sm_order[other] = kept;
  }
  return true;
}

sim_device *sim_device_open(int index, const sim_config *config, sim_error *error) {
  sim_device *device;
  if (config->sms < 1 || config->blocks_per_sm < 1 || config->clock_hz == 0 ||
      !sim_rates_valid(config->rates)) {
    sim_error_set(error, SIM_BAD_LAUNCH, "the simulated device's configuration is not valid");
    return NULL;
  }
  device = calloc(1, sizeof *device);
  if (device != NULL) {
    bool good;
    device->index = index;
    device->config = *config;
    device->next_grid = 1;
    device->sms = calloc((size_t)config->sms, sizeof *device->sms);
    good = device->sms != NULL && order_sms(device);
    for (int i = 0; good && i < config->sms; i++) {
      good = open_sm(device, i);
    }
    if (good && sim_log_open(device, error)) {
      return device;
    }
    if (good) {
      sim_device_close(device);
      return NULL;
    }
    sim_device_close(device);
  }
  sim_error_set(error, SIM_NO_MEMORY, "no memory for the simulated device %d", index);
  return NULL;
}

/* Blocks that run are dropped, their grids are dead. */
void sim_device_stop(sim_device *device) {
  device->front_fs = sim_device_now_fs(device);
  sim_landing_drop(device);
  device->idle_rounds = 0;
  for (int i = 0; i < device->config.sms; i++) {
    sim_sm *sm = &device->sms[i];
    for (int k = 0; k < device->config.blocks_per_sm; k++) {
      if (sm->slots[k].busy) {
        sim_block_leave(&sm->slots[k].block);
      }
      sm->slots[k].busy = false;
    }
    sm->busy = 0;
    sm->heap_count = 0;
  }
  while (device->grids != NULL) {
    sim_grid *grid = device->grids;
    device->grids = grid->next;
    grid->dead = true;
    grid->complete = true;
    grid->next = NULL;
  }
  device->turn = NULL;
}

void sim_device_reset(sim_device *device) {
  sim_device_stop(device);
  while (device->modules != NULL) {
    sim_module_unload(device->modules);
  }
  sim_memory_clear(&device->memory);
  device->heap_bytes = 0;
}

void sim_device_close(sim_device *device) {
  if (device == NULL) {
    return;
  }
  if (device->sms != NULL) {
    bool whole = device->sms[device->config.sms - 1].slots != NULL;
    if (whole) {
      sim_device_reset(device);
    }
    for (int i = 0; i < device->config.sms; i++) {
      close_sm(device, &device->sms[i]);
    }
  }
  sim_log_close(device);
  sim_memory_clear(&device->memory);
  free(device->sms);
  free(device->sm_order);
  free(device);
}

/* The device's present: the latest of its SMs, and of what it idled. */
uint64_t sim_device_now_fs(const sim_device *device) {
  uint64_t now = device->front_fs;
  for (int i = 0; i < device->config.sms; i++) {
    uint64_t time = device->sms[i].clock.time_fs;
    now = device->sms[i].busy != 0 && time > now ? time : now;
  }
  return now;
}

uint64_t sim_device_time_ns(const sim_device *device) {
  return sim_device_now_fs(device) / SIM_FS_PER_NS;
}

void sim_device_idle(sim_device *device, uint64_t ns) {
  uint64_t most = (SIM_LAST_FS - device->front_fs) / SIM_FS_PER_NS;
  device->front_fs = sim_device_now_fs(device);
  device->front_fs += (ns < most ? ns : most) * SIM_FS_PER_NS;
  device->front_fs = device->front_fs < SIM_LAST_FS ? device->front_fs : SIM_LAST_FS;
}

bool sim_device_busy(const sim_device *device) { return device->grids != NULL; }

void sim_device_stats(const sim_device *device, sim_stats *stats) { *stats = device->stats; }
