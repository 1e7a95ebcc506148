/* SPDX-License-Identifier: MIT */
/* Launches: checks, arguments, and the placing of blocks on SMs, round-robin over grids. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler.h"

static bool launch_shape(const sim_kernel *kernel, sim_dim3 grid, sim_dim3 block,
                         uint64_t dynamic_shared, sim_error *error) {
  const char *name = kernel->function->name;
  uint64_t threads = (uint64_t)block.x * block.y * block.z;
  uint64_t shared = (kernel->static_shared + kernel->dynamic_align - 1) / kernel->dynamic_align *
                        kernel->dynamic_align + dynamic_shared;
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || threads > 1024) {
    sim_error_set(error, SIM_BAD_LAUNCH, "kernel %.200s: a block of %u x %u x %u threads", name,
                  block.x, block.y, block.z);
    return false;
  }
  if (threads > kernel->function->max_threads) {
    sim_error_set(error, SIM_BAD_LAUNCH, "kernel %.200s: %llu threads, it allows %u", name,
                  (unsigned long long)threads, kernel->function->max_threads);
    return false;
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > INT32_MAX || grid.y > 65535 ||
      grid.z > 65535) {
    sim_error_set(error, SIM_BAD_LAUNCH, "kernel %.200s: a grid of %u x %u x %u blocks", name,
                  grid.x, grid.y, grid.z);
    return false;
  }
  if (dynamic_shared > SIM_MAX_SHARED || shared > SIM_MAX_SHARED) {
    sim_error_set(error, SIM_BAD_LAUNCH, "kernel %.200s: %llu bytes of shared memory, an SM has %u",
                  name, (unsigned long long)shared, SIM_MAX_SHARED);
    return false;
  }
  return true;
}

/* The shape of the launch's clusters: the kernel's own, the launch's, or one block. */
static bool cluster_shape(const sim_kernel *kernel, sim_grid *grid, sim_dim3 wanted, sim_error *error) {
  const sim_dim3 *own = &kernel->function->cluster;
  const sim_config *config = &grid->device->config;
  uint32_t warps = (grid->block.x * grid->block.y * grid->block.z + SIM_LANES - 1) / SIM_LANES;
  uint64_t by_warps = SIM_SM_WARPS / warps, slots = (uint64_t)config->blocks_per_sm, count;
  grid->cluster = own->x != 0 ? *own : wanted.x != 0 ? wanted : (sim_dim3){1, 1, 1};
  slots = (slots < by_warps ? slots : by_warps) * (uint64_t)config->sms;
  count = (uint64_t)grid->cluster.x * grid->cluster.y * grid->cluster.z;
  if (count == 0 || count > SIM_CLUSTER_BLOCKS || count > slots || grid->grid.x % grid->cluster.x != 0 ||
      grid->grid.y % grid->cluster.y != 0 || grid->grid.z % grid->cluster.z != 0) {
    sim_error_set(error, SIM_BAD_LAUNCH,
                  "kernel %.200s: clusters of %u x %u x %u blocks for a grid of %u x %u x %u; the device holds %llu",
                  kernel->function->name, grid->cluster.x, grid->cluster.y, grid->cluster.z, grid->grid.x,
                  grid->grid.y, grid->grid.z, (unsigned long long)slots);
    return false;
  }
  return true;
}

static bool fill_grid(sim_grid *grid, void *const *args, sim_error *error) {
  const sim_kernel *kernel = grid->kernel;
  const sim_function *function = kernel->function;
  grid->argument_bytes = function->parameter_bytes;
  grid->arguments = calloc(1, grid->argument_bytes + 16);
  grid->workspace = sim_memory_alloc(grid->device, 64, 64);
  if (grid->arguments == NULL || grid->workspace == NULL) {
    sim_error_set(error, SIM_NO_MEMORY, "kernel %.200s: no memory for a launch", function->name);
    return false;
  }
  memset(grid->workspace, 0, 64);
  grid->workspace[0] = 64;
  for (size_t i = 0; i < function->parameter_count; i++) {
    const sim_parameter *parameter = &function->parameters[i];
    if (parameter->bytes != 0) {
      memcpy(grid->arguments + parameter->offset, args[i], parameter->bytes);
    }
  }
  return true;
}

sim_grid *sim_grid_begin_shape(sim_kernel *kernel, const sim_shape *shape, void *const *args,
                               size_t dynamic_shared_bytes, sim_error *error) {
  sim_device *device = kernel->module->device;
  sim_grid *grid, **end;
  if (error != NULL) {
    *error = (sim_error){.kind = SIM_OK};
  }
  if (!launch_shape(kernel, shape->grid, shape->block, dynamic_shared_bytes, error) ||
      !sim_kernel_prepare(kernel, error)) {
    return NULL;
  }
  grid = calloc(1, sizeof *grid);
  if (grid == NULL) {
    sim_error_set(error, SIM_NO_MEMORY, "no memory for a launch");
    return NULL;
  }
  grid->device = device;
  grid->kernel = kernel;
  grid->grid = shape->grid;
  grid->block = shape->block;
  grid->prerequisite = shape->prerequisite;
  grid->blocks = (uint64_t)shape->grid.x * shape->grid.y * shape->grid.z;
  grid->dynamic_shared = dynamic_shared_bytes;
  grid->static_shared = (kernel->static_shared + kernel->dynamic_align - 1) /
                        kernel->dynamic_align * kernel->dynamic_align;
  if (!cluster_shape(kernel, grid, shape->cluster, error) || !fill_grid(grid, args, error)) {
    grid->complete = true;
    sim_grid_free(grid);
    return NULL;
  }
  grid->id = device->next_grid++;
  grid->begin_fs = sim_device_now_fs(device) + SIM_LAUNCH_GAP_FS;
  grid->end_fs = grid->first_fs = grid->begin_fs;
  device->stats.grids++;
  for (end = &device->grids; *end != NULL; end = &(*end)->next) {
  }
  *end = grid;
  return grid;
}

sim_grid *sim_grid_begin(sim_kernel *kernel, sim_dim3 grid, sim_dim3 block, void *const *args,
                         size_t dynamic_shared_bytes, sim_error *error) {
  const sim_shape shape = {.grid = grid, .block = block};
  return sim_grid_begin_shape(kernel, &shape, args, dynamic_shared_bytes, error);
}

uint64_t sim_grid_id(const sim_grid *grid) { return grid->id; }

void sim_grid_times(const sim_grid *grid, uint64_t *begin_ns, uint64_t *end_ns) {
  *begin_ns = grid->first_fs / SIM_FS_PER_NS;
  *end_ns = (grid->end_fs + SIM_FS_PER_NS - 1) / SIM_FS_PER_NS;
}

bool sim_grid_released(sim_grid *grid) {
  grid->watched = true;
  return grid->released == grid->blocks;
}

void sim_block_release(sim_block *block) {
  sim_grid *grid = block->grid;
  if (!block->released) {
    block->released = true;
    grid->device->look |= ++grid->released == grid->blocks && grid->watched;
  }
}

bool sim_grid_done(const sim_grid *grid) { return grid->complete; }

void sim_grid_free(sim_grid *grid) {
  if (grid == NULL || !grid->complete) {
    return;
  }
  if (grid->workspace != NULL) {
    sim_memory_free(grid->device, grid->workspace);
  }
  free(grid->arguments);
  free(grid);
}

/* ---- placing blocks ---- */

bool sim_warp_reserve(sim_warp *warp, size_t rows) {
  size_t wanted = warp->row_capacity < 64 ? 64 : warp->row_capacity;
  void *grown;
  if (rows <= warp->row_capacity) {
    return true;
  }
  if (rows > SIM_MAX_REGISTERS + SIM_MAX_ROWS) {
    return false;
  }
  while (wanted < rows) {
    wanted *= 2;
  }
  grown = realloc(warp->rows, wanted * sizeof *warp->rows);
  if (grown == NULL) {
    return false;
  }
  warp->rows = grown;
  memset(warp->rows + warp->row_capacity, 0, (wanted - warp->row_capacity) * sizeof *warp->rows);
  warp->row_capacity = wanted;
  return true;
}

/* Stacks of a warp's lanes: mapped, so that what no call touches costs nothing. */
static bool reserve_local(sim_warp *warp, uint64_t stride) {
  size_t bytes = (size_t)stride * SIM_LANES;
  void *mapped;
  warp->local_stride = stride;
  if (bytes <= warp->local_capacity) {
    return true;
  }
  bytes = (bytes + 65535) / 65536 * 65536;
  mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
  if (mapped == MAP_FAILED) {
    return false;
  }
  if (warp->local != NULL) {
    munmap(warp->local, warp->local_capacity);
  }
  warp->local = mapped;
  warp->local_capacity = bytes;
  return true;
}

static bool start_warp(sim_block *block, uint32_t index, uint32_t threads, uint64_t ready) {
  sim_warp *warp = &block->slot->warps[index];
  const sim_grid *grid = block->grid;
  const sim_function *function = grid->kernel->function;
  uint32_t first = index * SIM_LANES, lanes = threads - first;
  if (!sim_warp_reserve(warp, function->registers + 2) ||
      !reserve_local(warp, grid->kernel->stack_bytes)) {
    return false;
  }
  lanes = lanes < SIM_LANES ? lanes : SIM_LANES;
  warp->live = lanes == SIM_LANES ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
  warp->index = index;
  warp->turns = 0;
  warp->block = block;
  warp->constants = grid->kernel->constants;
  warp->frame = warp->rows[0];
  warp->group_count = 1;
  warp->current = 0;
  warp->groups[0] = (sim_group){.mask = warp->live, .pc = function->start};
  memset(warp->local_base, 0, sizeof warp->local_base);
  memset(warp->depth, 0, sizeof warp->depth);
  memset(warp->carry, 0, sizeof warp->carry);
  warp->asleep = false;
  warp->polled = NULL;
  warp->cluster_arrived = 0;
  if (warp->bulk != NULL) {
    memset(warp->bulk, 0, sizeof *warp->bulk);
  }
  for (uint32_t lane = 0; lane < SIM_LANES; lane++) {
    uint32_t thread = first + lane;
    warp->tid[0][lane] = thread % grid->block.x;
    warp->tid[1][lane] = thread / grid->block.x % grid->block.y;
    warp->tid[2][lane] = thread / grid->block.x / grid->block.y;
  }
  warp->ready = ready;
  warp->heap_place = -1;
  sim_warp_queue(warp);
  return true;
}

/* Where `count` warps have numbers of their own among the warps that the SM holds; SIM_SM_WARPS: it is full. An
 * SM without blocks takes any. */
static uint32_t first_warp_on(const sim_sm *sm, uint32_t count) {
  uint32_t first = 0;
  for (int k = 0; sm->busy != 0 && k < sm->device->config.blocks_per_sm; k++) {
    const sim_block *other = &sm->slots[k].block;
    if (sm->slots[k].busy && first < other->first_warp + other->warp_count && other->first_warp < first + count) {
      first = other->first_warp + other->warp_count;
      k = -1; /* the others again */
    }
  }
  return sm->busy != 0 && first + count > SIM_SM_WARPS ? SIM_SM_WARPS : first;
}

static uint32_t warps_of_block(const sim_grid *grid) {
  return (grid->block.x * grid->block.y * grid->block.z + SIM_LANES - 1) / SIM_LANES;
}

uint32_t sim_grid_cluster_blocks(const sim_grid *grid) {
  return grid->cluster.x * grid->cluster.y * grid->cluster.z;
}

/* Block number n of a grid, cluster by cluster. */
static void set_place(sim_block *block, const sim_grid *grid, uint64_t n) {
  const sim_dim3 *size = &grid->cluster;
  uint32_t count = sim_grid_cluster_blocks(grid);
  uint64_t cluster = n / count, across = grid->grid.x / size->x, up = grid->grid.y / size->y;
  block->rank = (uint32_t)(n % count);
  block->x = (uint32_t)(cluster % across) * size->x + block->rank % size->x;
  block->y = (uint32_t)(cluster / across % up) * size->y + block->rank / size->x % size->y;
  block->z = (uint32_t)(cluster / across / up) * size->z + block->rank / size->x / size->y;
}

/* The block becomes one of its cluster, which its first block begins. */
static bool join_cluster(sim_block *block, sim_cluster *cluster) {
  uint32_t count = sim_grid_cluster_blocks(block->grid);
  if (cluster == NULL) {
    cluster = count > 1 ? malloc(sizeof *cluster) : &block->slot->cluster;
    if (cluster == NULL) {
      return false;
    }
    *cluster = (sim_cluster){.count = count, .left = count, .alive = count * block->alive, .shared = count > 1};
  }
  cluster->blocks[block->rank] = block;
  block->cluster = cluster;
  return true;
}

void sim_block_leave(sim_block *block) {
  sim_cluster *cluster = block->cluster;
  cluster->blocks[block->rank] = NULL;
  if (--cluster->left == 0 && cluster->shared) {
    free(cluster);
  }
}

/* The next block of the grid on a reserved slot. `cluster` of those placed with it before, or NULL. */
static bool start_block(sim_grid *grid, sim_slot *slot, uint64_t time_fs, sim_cluster *cluster) {
  sim_block *block = &slot->block;
  sim_sm *sm = block->sm;
  uint32_t threads = grid->block.x * grid->block.y * grid->block.z;
  uint64_t ready = sim_clock_cycle_at(&sm->clock, time_fs);
  *block = (sim_block){.grid = grid, .slot = slot, .sm = sm, .alive = threads,
                       .shared = slot->shared, .first_warp = block->first_warp,
                       .shared_bytes = grid->static_shared + grid->dynamic_shared};
  set_place(block, grid, grid->placed++);
  block->warp_count = warps_of_block(grid);
  if (!join_cluster(block, cluster)) {
    sim_error_set(sm->device->error, SIM_NO_MEMORY, "no memory for a cluster");
    sm->device->failed = true;
    return false;
  }
  for (uint32_t i = 0; i < block->warp_count; i++) {
    if (!start_warp(block, i, threads, ready)) {
      sim_error_set(sm->device->error, SIM_NO_MEMORY,
                    "kernel %.200s: no memory for the registers or stacks of a block",
                    grid->kernel->function->name);
      sm->device->failed = true;
      return false;
    }
  }
  return true;
}

/* The SM with the fewest blocks that has room, in the device's order. */
static sim_sm *free_sm(sim_device *device, const sim_grid *grid) {
  sim_sm *best = NULL;
  for (int i = 0; i < device->config.sms; i++) {
    sim_sm *sm = &device->sms[device->sm_order[i]];
    if (sm->busy < (uint32_t)device->config.blocks_per_sm && (best == NULL || sm->busy < best->busy) &&
        first_warp_on(sm, warps_of_block(grid)) < SIM_SM_WARPS) {
      best = sm;
    }
  }
  return best;
}

/* The next grid in turn that has blocks to place. */
static sim_grid *next_grid(sim_device *device) {
  sim_grid *first = device->turn != NULL ? device->turn : device->grids, *grid = first;
  while (grid != NULL) {
    if (grid->placed < grid->blocks) {
      device->turn = grid->next;
      return grid;
    }
    grid = grid->next != NULL ? grid->next : device->grids;
    if (grid == first) {
      break;
    }
  }
  return NULL;
}

/* Slots for the blocks of one cluster of the grid, of one block mostly. False, and none taken, where there are too
 * few. */
static bool reserve(sim_device *device, const sim_grid *grid, uint64_t time_fs, sim_slot **slots) {
  uint32_t count = sim_grid_cluster_blocks(grid), got = 0;
  for (; got < count; got++) {
    sim_sm *sm = free_sm(device, grid);
    sim_slot *slot;
    if (sm == NULL) {
      break;
    }
    for (slot = sm->slots; slot->busy; slot++) {
    }
    slot->block.first_warp = first_warp_on(sm, warps_of_block(grid));
    slot->block.warp_count = warps_of_block(grid);
    slot->block.sm = sm;
    slots[got] = slot;
    if (sm->busy == 0) {
      sim_clock_to_time(&sm->clock, time_fs);
    }
    slot->busy = true;
    sm->busy++;
  }
  for (uint32_t i = 0; got < count && i < got; i++) {
    slots[i]->busy = false;
    slots[i]->block.sm->busy--;
  }
  return got == count;
}

static bool start_cluster(sim_grid *grid, sim_slot **slots, uint64_t time_fs) {
  uint32_t count = sim_grid_cluster_blocks(grid);
  if (grid->placed == 0) {
    grid->first_fs = time_fs;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!start_block(grid, slots[i], time_fs, i != 0 ? slots[0]->block.cluster : NULL)) {
      return false;
    }
  }
  return true;
}

bool sim_place_blocks(sim_device *device, uint64_t time_fs) {
  for (;;) {
    sim_grid *turn = device->turn, *grid = next_grid(device);
    sim_slot *slots[SIM_CLUSTER_BLOCKS];
    uint64_t begin_fs = grid != NULL && grid->begin_fs > time_fs ? grid->begin_fs : time_fs;
    if (grid == NULL || !reserve(device, grid, begin_fs, slots)) {
      device->turn = turn;
      return true;
    }
    if (!start_cluster(grid, slots, begin_fs)) {
      return false;
    }
  }
}
