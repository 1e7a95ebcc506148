/* SPDX-License-Identifier: MIT */
/* Writes the instruction log, sim_log.h. */
#include <errno.h>
#include <string.h>

#include "exec.h"

/* One file for all devices of the process; the caller's lock guards it. */
static FILE *shared_log;
static unsigned shared_log_users;
static bool shared_log_started;

bool sim_log_open(sim_device *device, sim_error *error) {
  const char *path = device->config.log_path;
  if (path == NULL || *path == '\0') {
    return true;
  }
  if (shared_log == NULL) {
    shared_log = fopen(path, shared_log_started ? "ae" : "we");
    if (shared_log == NULL) {
      sim_error_set(error, SIM_NO_MEMORY, "INKMARK_SIM_LOG: cannot open '%s': %s", path,
                    strerror(errno));
      return false;
    }
    setvbuf(shared_log, NULL, _IOLBF, 1 << 12); /* ahead of what the thread stores then, should it be killed */
    shared_log_started = true;
  }
  shared_log_users++;
  device->log = shared_log;
  for (int i = 0; i < device->config.sms; i++) {
    fprintf(device->log, "sm %d %d %llu %llu\n", device->index, i,
            (unsigned long long)device->sms[i].clock.start_cycles,
            (unsigned long long)device->sms[i].clock.rate_hz);
  }
  return true;
}

void sim_log_close(sim_device *device) {
  if (device->log == NULL) {
    return;
  }
  device->log = NULL;
  if (--shared_log_users == 0) {
    fclose(shared_log);
    shared_log = NULL;
  }
}

static void print_ns(FILE *file, uint64_t time_fs, char after) {
  fprintf(file, "%llu.%03u%c", (unsigned long long)(time_fs / SIM_FS_PER_NS),
          (unsigned)(time_fs % SIM_FS_PER_NS / 1000), after);
}

void sim_log_clock(const sim_warp *warp, const sim_insn *insn, uint32_t lanes, bool globaltimer,
                   uint64_t value) {
  const sim_block *block = warp->block;
  const sim_device *device = block->sm->device;
  if (device->log == NULL) {
    return;
  }
  const int logged = device->config.log_lanes;
  const uint32_t of_these = logged > 0 && logged < SIM_LANES ? (1u << logged) - 1 : UINT32_MAX;
  SIM_EACH_LANE(lane, lanes & of_these) {
    fprintf(device->log, "%s %d %llu %u %u %u %u %u %u %u %llu ",
            globaltimer ? "globaltimer" : "clock64", device->index,
            (unsigned long long)block->grid->id, block->x, block->y, block->z,
            warp->index * SIM_LANES + lane, block->sm->index, insn->line, insn->source_line,
            (unsigned long long)value);
    print_ns(device->log, block->sm->clock.time_fs, '\n');
  }
}

void sim_log_grid(const sim_grid *grid) {
  const sim_device *device = grid->device;
  if (device->log == NULL) {
    return;
  }
  fprintf(device->log, "grid %d %llu %s %u %u %u %u %u %u ", device->index,
          (unsigned long long)grid->id, grid->kernel->function->name, grid->grid.x, grid->grid.y,
          grid->grid.z, grid->block.x, grid->block.y, grid->block.z);
  print_ns(device->log, grid->begin_fs, ' ');
  print_ns(device->log, grid->end_fs, '\n');
}
