/* SPDX-License-Identifier: MIT */
/* A running machine: device, SMs, slots, blocks, warps, and the helpers that instructions are
 * written with. Below the border of machine.h only. */
#ifndef INKMARK_SIM_EXEC_H
#define INKMARK_SIM_EXEC_H

#include <stdio.h>

#include "program.h"
#include "sim_clock.h"

#define SIM_BARRIERS 16
#define SIM_CLUSTER_BLOCKS 16u /* of a cluster */
#define SIM_MAX_WARPS 32 /* of a block */
#define SIM_SM_WARPS 64u /* that an SM holds at once */
#define SIM_HEAP_BYTES (UINT64_C(256) << 20)
#define SIM_MAX_DEPTH 20000  /* calls a thread may nest */
#define SIM_MAX_ROWS (1u << 17) /* registers of all frames of a warp */

typedef struct sim_block sim_block;
typedef struct sim_slot sim_slot;
typedef struct sim_sm sim_sm;

typedef struct sim_range {
  uint8_t *begin;
  size_t bytes;
  bool owned, heap; /* heap: of a kernel's malloc */
  void *mapping;    /* of owned memory that is a mapping of its own, else NULL */
  size_t mapping_bytes;
} sim_range;

enum { SIM_FREED = 64 };

/* Live ranges of a device's memory, sorted by address. What was freed last is given back to the process late:
 * a kernel that still uses it is then found out, for no other range lies there yet. */
typedef struct sim_memory {
  sim_range *ranges;
  size_t count, capacity, last;
  void *freed[SIM_FREED]; /* a ring of small ones */
  size_t freed_count;
} sim_memory;

enum sim_group_state { SIM_G_READY, SIM_G_BARRIER, SIM_G_ASLEEP, SIM_G_PHASE, SIM_G_CLUSTER, SIM_G_GRID };

/* Lanes of a warp that stand at one instruction with one register window. */
typedef struct sim_group {
  uint32_t mask;
  int32_t pc;
  uint32_t base; /* first row of the window */
  uint8_t state, barrier;
  bool expired;  /* its time at an mbarrier is over: the next try_wait answers */
  uint64_t wake; /* cycle at which a sleeper goes on; SIM_G_PHASE: ns that it asked to wait */
  const uint8_t *awaited; /* SIM_G_PHASE: the mbarrier */
} sim_group;

typedef struct sim_return {
  int32_t pc;
  uint32_t base, local;
} sim_return;

/* Bulk copies of each lane: when the last one lands, and the last groups that were committed. */
enum { SIM_BULK_GROUPS = 16 };
typedef struct sim_bulk_groups {
  uint64_t newest_fs[SIM_LANES], committed_fs[SIM_LANES][SIM_BULK_GROUPS];
  uint32_t count[SIM_LANES];
} sim_bulk_groups;

struct sim_warp {
  uint64_t *frame; /* rows of the running group's window */
  const uint64_t *const *constants;
  sim_block *block;
  uint64_t (*rows)[SIM_LANES];
  size_t row_capacity;
  sim_group groups[SIM_LANES];
  unsigned group_count, current;
  uint32_t live, index, turns;
  int32_t pc; /* of the running instruction */
  uint8_t *local; /* SIM_LANES stacks of local_stride bytes */
  size_t local_stride, local_capacity;
  uint32_t local_base[SIM_LANES];
  uint32_t depth[SIM_LANES];
  sim_return (*returns)[SIM_LANES];
  size_t return_capacity;
  uint64_t tid[3][SIM_LANES];
  uint8_t carry[SIM_LANES];
  uint64_t sink[SIM_LANES]; /* where results go that nobody takes */
  uint64_t ready; /* cycle of its SM */
  uint64_t order; /* breaks ties */
  int32_t heap_place; /* -1: not waiting to be issued */
  bool asleep;        /* in the queue, but nothing of it runs before `ready` */
  sim_bulk_groups *bulk; /* NULL: none yet */
  uint32_t cluster_arrived, cluster_parity; /* at the cluster's barrier: lanes, and in which phase */
  const uint8_t *polled; /* the mbarrier whose phase a test_wait found not complete last */
};

typedef struct sim_barrier {
  uint32_t arrived[SIM_MAX_WARPS];
  uint32_t expected; /* 0: every thread */
  bool used;
  uint32_t ones, zeros; /* votes of bar.red */
} sim_barrier;

typedef struct sim_cluster {
  sim_block *blocks[SIM_CLUSTER_BLOCKS]; /* by rank; NULL: it has ended */
  uint32_t count, left;                  /* blocks, and those that have not ended */
  uint32_t alive, arrived;               /* threads, and those that came to the barrier */
  bool parity, shared;                   /* of the barrier's phase; by blocks: allocated */
} sim_cluster;

struct sim_block {
  sim_grid *grid;
  sim_slot *slot;
  sim_sm *sm;
  sim_cluster *cluster;
  uint32_t x, y, z, warp_count, alive, rank;
  uint32_t first_warp; /* number of its first warp among those that the SM holds */
  uint8_t *shared;
  uint64_t shared_bytes;
  bool released; /* the next grid may begin as far as this block goes */
  sim_barrier barriers[SIM_BARRIERS];
};

struct sim_slot {
  bool busy;
  sim_block block;
  uint8_t *shared; /* keeps its bytes from block to block */
  sim_warp *warps; /* SIM_MAX_WARPS, their storage is kept too */
  sim_cluster cluster; /* of a block that is one by itself */
};

struct sim_sm {
  sim_device *device;
  uint32_t index, busy;
  sim_clock clock;
  sim_slot *slots;
  uint64_t copy_free_fs; /* when its bulk copies are through */
  sim_warp **heap; /* warps by ready cycle */
  size_t heap_count;
};

struct sim_grid {
  sim_device *device;
  sim_kernel *kernel;
  uint64_t id, begin_fs, first_fs, end_fs, blocks, placed, done, steps;
  sim_dim3 grid, block, cluster; /* cluster: 1 x 1 x 1 without */
  uint64_t dynamic_shared, static_shared;
  uint8_t *arguments;
  size_t argument_bytes;
  uint32_t *workspace; /* for grid-wide barriers: bytes, then the barrier word */
  uint64_t released;      /* blocks that are */
  bool watched;           /* somebody waits for the last of them */
  sim_grid *prerequisite; /* that its threads may wait for; NULL: done, or none */
  bool dead, complete;
  sim_grid *next;
};

typedef struct sim_landing sim_landing; /* a bulk copy in flight */

struct sim_device {
  int index;
  sim_config config;
  sim_sm *sms;
  sim_memory memory;
  sim_grid *grids; /* begun and not done, in a ring order */
  sim_grid *turn;
  sim_module *modules;
  uint64_t next_grid, front_fs, issue_order, heap_bytes;
  uint32_t *sm_order;
  sim_landing *landings; /* by time */
  uint32_t idle_rounds;  /* times that waits ended since something went on */
  FILE *log;
  sim_stats stats;
  sim_error *error;
  bool failed, look; /* look: a watched grid is released */
};

typedef struct sim_shared_place {
  int32_t symbol;
  uint64_t offset;
} sim_shared_place;

struct sim_kernel {
  sim_module *module;
  const sim_function *function;
  uint64_t static_shared, dynamic_align, stack_bytes;
  sim_shared_place *places;
  size_t place_count, place_capacity;
  const uint64_t **constants; /* a row each; made at the first launch */
  uint64_t (*own_rows)[SIM_LANES];
  sim_kernel *next;
};

struct sim_module {
  sim_device *device;
  const sim_program *program;
  uint8_t **addresses; /* of each symbol; NULL: has none */
  sim_kernel *kernels;
  sim_module *next;
};

/* ---- what instructions are written with ---- */

/* Lanes of a mask, in order. */
#define SIM_EACH_LANE(lane, mask) \
  for (uint32_t rest_##lane = (mask), lane = 0; \
       rest_##lane != 0 && ((lane = (uint32_t)__builtin_ctz(rest_##lane)), true); \
       rest_##lane &= rest_##lane - 1)

static inline const uint64_t *sim_row(const sim_warp *warp, int32_t row) {
  return row >= 0 ? warp->frame + ((size_t)row << 5) : warp->constants[~row];
}

static inline const uint64_t *sim_source(const sim_warp *warp, const sim_insn *insn, int i) {
  return sim_row(warp, insn->src[i]);
}

static inline uint64_t *sim_row_out(sim_warp *warp, int32_t row) {
  return row >= 0 ? warp->frame + ((size_t)row << 5) : warp->sink;
}

static inline uint64_t *sim_target(sim_warp *warp, const sim_insn *insn) {
  return sim_row_out(warp, insn->dst);
}

/* A predicate row holds one bit a lane in its first word. */
static inline uint32_t sim_predicate(const sim_warp *warp, const sim_insn *insn, int i) {
  uint32_t bits = (uint32_t)sim_source(warp, insn, i)[0];
  return insn->negated >> i & 1 ? ~bits : bits;
}

static inline void sim_predicate_set(sim_warp *warp, int32_t row, uint32_t bits, uint32_t lanes) {
  uint64_t *out = sim_row_out(warp, row);
  out[0] = ((uint32_t)out[0] & ~lanes) | (bits & lanes);
}

static inline float sim_f32(uint64_t bits) {
  union {
    uint32_t u;
    float f;
  } pun = {.u = (uint32_t)bits};
  return pun.f;
}

static inline uint64_t sim_f32_bits(float value) {
  union {
    float f;
    uint32_t u;
  } pun = {.f = value};
  return pun.u;
}

static inline double sim_f64(uint64_t bits) {
  union {
    uint64_t u;
    double f;
  } pun = {.u = bits};
  return pun.f;
}

static inline uint64_t sim_f64_bits(double value) {
  union {
    double f;
    uint64_t u;
  } pun = {.f = value};
  return pun.u;
}

/* The value of a type in 64 bits, zero- or sign-extended. */
static inline uint64_t sim_zero_extend(unsigned type, uint64_t value) {
  switch (sim_type_bytes(type)) {
    case 1: return (uint8_t)value;
    case 2: return (uint16_t)value;
    case 4: return (uint32_t)value;
    default: return value;
  }
}

static inline int64_t sim_sign_extend(unsigned type, uint64_t value) {
  switch (sim_type_bytes(type)) {
    case 1: return (int8_t)value;
    case 2: return (int16_t)value;
    case 4: return (int32_t)value;
    default: return (int64_t)value;
  }
}

/* Half types through double, which holds them exactly; rounding to nearest even. */
double sim_half_to_double(unsigned type, uint64_t bits);
uint64_t sim_half_from_double(unsigned type, double value);
double sim_float_value(unsigned type, uint64_t bits);
uint64_t sim_float_bits(unsigned type, double value);

/* Stops the device with a message that says where; the lane is one of the warp. */
void sim_fault(sim_warp *warp, const sim_insn *insn, uint32_t lane, enum sim_error_kind kind,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Host address of `bytes` at a kernel's address, or NULL after sim_fault. */
uint8_t *sim_reach(sim_warp *warp, const sim_insn *insn, uint32_t lane, unsigned space,
                   uint64_t address, size_t bytes);
/* The same whatever the alignment. */
uint8_t *sim_reach_bytes(sim_warp *warp, const sim_insn *insn, uint32_t lane, unsigned space,
                         uint64_t address, size_t bytes);
/* A string of the device, or NULL after sim_fault. */
const char *sim_reach_string(sim_warp *warp, const sim_insn *insn, uint32_t lane,
                             uint64_t address);

bool sim_memory_find(const sim_memory *memory, const uint8_t *begin, size_t bytes);
bool sim_memory_remove(sim_memory *memory, uint8_t *begin, bool owned);
/* malloc and free of kernels, from a heap of SIM_HEAP_BYTES a device. */
void *sim_heap_alloc(sim_device *device, size_t bytes);
bool sim_heap_free(sim_device *device, void *pointer);
void sim_memory_clear(sim_memory *memory);
/* Where the range that begins at or before an address ends, or NULL. */
const sim_range *sim_memory_range(const sim_memory *memory, const uint8_t *address);

/* Groups of lanes. Splitting moves lanes of the running group to another place. */
void sim_warp_move(sim_warp *warp, uint32_t lanes, int32_t pc, uint32_t base);
void sim_warp_end(sim_warp *warp, uint32_t lanes);
void sim_barrier_check(sim_block *block, unsigned id);
bool sim_warp_reserve(sim_warp *warp, size_t rows);
/* Blocks of a cluster of the grid. */
uint32_t sim_grid_cluster_blocks(const sim_grid *grid);
/* Puts a warp into its SM's queue of those to be issued. */
void sim_warp_queue(sim_warp *warp);

/* Bulk copies in flight: the next one's time (UINT64_MAX: none), its end, that of all of a block that ends, and
 * of none (the device stops). */
uint64_t sim_landing_next_fs(const sim_device *device);
void sim_landing_land(sim_device *device);
void sim_landing_flush(sim_device *device, const sim_block *block);
void sim_landing_drop(sim_device *device);

/* mbarriers, at their host address in a block's shared memory. False after sim_fault. */
bool sim_mbarrier_known(sim_warp *warp, const sim_insn *insn, uint32_t lane, const uint8_t *at);
/* Bytes that a copy brought; what waits in the block goes on if that ends the phase. */
void sim_mbarrier_bytes(sim_block *block, uint8_t *at, uint64_t bytes, uint64_t time_fs);
/* "1 of 2 arrivals and 64 bytes are still to come". */
void sim_mbarrier_say(const uint8_t *at, char *text, size_t bytes);
/* Of the cluster of a warp: the block of a rank, NULL after sim_fault; the bytes at an address of shared::cluster,
 * NULL where there are none; that address. */
sim_block *sim_cluster_block(sim_warp *warp, const sim_insn *insn, uint32_t lane, uint32_t rank);
uint8_t *sim_cluster_reach(const sim_warp *warp, uint64_t address, size_t bytes);
uint64_t sim_cluster_address(const sim_block *block, const uint8_t *at);
void sim_cluster_end_threads(sim_warp *warp, uint32_t lanes);
/* An atomic's operation on one element. */
uint64_t sim_combine(const sim_insn *insn, uint64_t old, uint64_t b, uint64_t c);

/* The warp can go on from a device time. */
void sim_warp_wake(sim_warp *warp, uint64_t time_fs);
/* The next grid may begin as far as the block goes. */
void sim_block_release(sim_block *block);
/* Sets lanes of the running group apart in a state; gives their group. */
sim_group *sim_warp_stop(sim_warp *warp, uint32_t lanes, enum sim_group_state state);
/* The block whose shared memory an address lies in, of the warp's cluster; NULL: none. */
sim_block *sim_block_at(const sim_warp *warp, const uint8_t *at);

void sim_call_builtin(sim_warp *warp, const sim_insn *insn, uint32_t lanes,
                      const sim_function *function);
void sim_print(const char *text, size_t bytes);

/* Kernels of a module. */
bool sim_kernel_prepare(sim_kernel *kernel, sim_error *error);

/* Instruction log; each does nothing when there is none. */
bool sim_log_open(sim_device *device, sim_error *error);
void sim_log_close(sim_device *device);
void sim_log_clock(const sim_warp *warp, const sim_insn *insn, uint32_t lanes, bool globaltimer,
                   uint64_t value);
void sim_log_grid(const sim_grid *grid);

#endif
