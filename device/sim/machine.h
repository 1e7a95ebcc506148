/* SPDX-License-Identifier: MIT */
/* The simulated GPU's inner border: below it PTX is parsed and executed, above it (cudart_*.c) the
 * CUDA runtime's entry points live. Nothing here knows of fat binaries, streams or CUDA's API.
 *
 * Time: each device has one line of nanoseconds; each of its SMs turns that line into clock64 by
 * its own start value, rate and drift. The scheduler always steps the SM that is earliest in ns, so
 * a run is a pure function of the program, its inputs and the configuration.
 * Threads: no locking inside; the caller holds one lock around every call. */
#ifndef INKMARK_SIM_MACHINE_H
#define INKMARK_SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_program sim_program; /* parsed and linked PTX, shared by devices */
typedef struct sim_device sim_device;
typedef struct sim_module sim_module;   /* a program loaded on one device: has its own globals */
typedef struct sim_kernel sim_kernel;   /* an entry of a sim_module */
typedef struct sim_grid sim_grid;       /* a launch that has begun */

typedef struct sim_dim3 {
  uint32_t x, y, z;
} sim_dim3;

enum sim_error_kind {
  SIM_OK = 0,
  SIM_UNSUPPORTED,      /* an instruction, directive or feature that is not simulated */
  SIM_BAD_PTX,          /* not PTX, or a name that nothing defines */
  SIM_BAD_LAUNCH,       /* shape, shared memory or argument size out of range */
  SIM_ILLEGAL_ADDRESS,
  SIM_MISALIGNED,
  SIM_ASSERT,           /* device assert */
  SIM_TRAP,
  SIM_DEADLOCK,         /* no thread can run: a barrier waits for threads that never come */
  SIM_TIMEOUT,          /* more instructions than INKMARK_SIM_MAX_STEPS */
  SIM_NO_MEMORY
};

typedef struct sim_error {
  enum sim_error_kind kind;
  char text[768]; /* one line: kernel, block, thread, PTX line, source file:line, instruction */
} sim_error;

/* From the environment (sim_config_from_environment), defaults in parentheses:
 *   INKMARK_SIM_DEVICES (1)        INKMARK_SIM_SMS (4)        INKMARK_SIM_BLOCKS_PER_SM (4)
 *   INKMARK_SIM_SEED (0)           what skews, rates and start-up order are drawn from
 *   INKMARK_SIM_CLOCK_HZ (1000000000)  nominal clock rate
 *   INKMARK_SIM_SKEW_CYCLES (1000003)  SM i's clock64 starts at i * this (+ a draw if "random:N")
 *   INKMARK_SIM_DRIFT_PPM (0)      each SM's rate is off by a draw in +-this
 *   INKMARK_SIM_RATES ("")         "SM@NS=HZ,...": that SM runs at HZ from device time NS on; SM may be '*'
 *   INKMARK_SIM_TIMER_STEP_NS (32) step of globaltimer
 *   INKMARK_SIM_EPOCH_NS (1700000000000000000)  globaltimer at device time 0
 *   INKMARK_SIM_MAX_STEPS (2000000000)  warp instructions a launch may take
 *   INKMARK_SIM_LOG ("")           file for the instruction log, see sim_log.h
 *   INKMARK_SIM_LOG_LANES (32)     of that many lanes of a warp, from lane 0 on, the log has lines
 * A value that does not parse ends the program with a message that names the variable. */
typedef struct sim_config {
  int devices, sms, blocks_per_sm, log_lanes;
  int first_sm; /* number of the first one: %smid begins there, %nsmid is the last one's and one */
  uint64_t seed, clock_hz, skew_cycles, timer_step_ns, epoch_ns, max_steps;
  bool skew_random;
  double drift_ppm;
  const char *rates; /* borrowed */
  const char *log_path;
} sim_config;

enum { SIM_DEVICES_MAX = 16 };
void sim_config_from_environment(sim_config *config);

/* Ends the process at once: no exit handlers, nor those of a preloaded _exit. They may call the
 * runtime, whose lock this thread holds. */
_Noreturn void sim_end(int code);

/* Parses n PTX texts (NUL-terminated, borrowed) and links them as one program: an .extern in one is
 * satisfied by a .visible or .weak definition in another, weak definitions merge, two strong ones
 * are an error. NULL and *error on failure. Freed with sim_program_free, after its modules. */
sim_program *sim_program_parse(const char *const *texts, size_t n, sim_error *error);
void sim_program_free(sim_program *program);

sim_device *sim_device_open(int index, const sim_config *config, sim_error *error);
void sim_device_close(sim_device *device);
/* cudaDeviceReset: ends grids, frees modules and memory; clocks go on. */
void sim_device_reset(sim_device *device);
uint64_t sim_device_time_ns(const sim_device *device);
/* Idle time passes (a host that waits or copies): moves the ns line forward. */
void sim_device_idle(sim_device *device, uint64_t ns);

/* Device memory. Addresses are host pointers; every access by a kernel is checked against the live
 * ranges of its device. Fresh memory is filled with 0xa5. sim_memory_map makes host memory (pinned,
 * managed) reachable by kernels of the device. */
void *sim_memory_alloc(sim_device *device, size_t bytes, size_t align);
bool sim_memory_free(sim_device *device, void *pointer);
bool sim_memory_map(sim_device *device, void *pointer, size_t bytes);
bool sim_memory_unmap(sim_device *device, void *pointer);
/* True when [pointer, pointer + bytes) lies in one live range of the device. */
bool sim_memory_has(const sim_device *device, const void *pointer, size_t bytes);

/* Loads a program: allocates and initialises its globals and constants on the device. */
sim_module *sim_module_load(sim_device *device, const sim_program *program, sim_error *error);
void sim_module_unload(sim_module *module);
void *sim_module_symbol(sim_module *module, const char *name, size_t *bytes); /* NULL: no such */
sim_kernel *sim_module_kernel(sim_module *module, const char *name);          /* NULL: no such */
bool sim_module_owns(const sim_module *module, const void *pointer);          /* it is in one of its globals */
/* For cudaFuncGetAttributes and occupancy: static shared and local bytes, .maxntid or 1024. */
void sim_kernel_limits(const sim_kernel *kernel, size_t *shared_bytes, size_t *local_bytes,
                       uint32_t *max_threads, size_t *parameter_bytes, int *parameters);
/* Blocks of a cluster that the kernel's own code asks for; x 0: it asks for none. */
sim_dim3 sim_kernel_cluster(const sim_kernel *kernel);
/* Where parameter `index` lies in the parameter space: what a launch copies and cudaFuncGetParamInfo
 * tells. False where the kernel has no such parameter. */
bool sim_kernel_parameter(const sim_kernel *kernel, int index, size_t *offset, size_t *bytes);

/* Begins a launch: its blocks compete for SMs with those of every grid that has begun and not
 * ended on this device, interleaved block by block. args[i] points at parameter i. The grid id is
 * unique on the device, rising from 1. */
typedef struct sim_shape {
  sim_dim3 grid, block;
  sim_dim3 cluster; /* blocks of a cluster; x 0: as the kernel says, else none */
  sim_grid *prerequisite; /* what griddepcontrol.wait waits for; NULL: nothing */
} sim_shape;
sim_grid *sim_grid_begin_shape(sim_kernel *kernel, const sim_shape *shape, void *const *args,
                               size_t dynamic_shared_bytes, sim_error *error);
sim_grid *sim_grid_begin(sim_kernel *kernel, sim_dim3 grid, sim_dim3 block, void *const *args,
                         size_t dynamic_shared_bytes, sim_error *error);
uint64_t sim_grid_id(const sim_grid *grid);
/* From the start of the first block to the end of the last one, in ns of device time, rounded to
 * hold them. */
void sim_grid_times(const sim_grid *grid, uint64_t *begin_ns, uint64_t *end_ns);
bool sim_grid_done(const sim_grid *grid);
/* Whether every block has executed griddepcontrol.launch_dependents or ended. Once it is asked of a grid, sim_device_run
 * returns when that comes true. */
bool sim_grid_released(sim_grid *grid);
void sim_grid_free(sim_grid *grid); /* only when done, or after an error */

/* Runs the device until one more grid is done, or `steps` warp instructions have been executed, or
 * something fails. SIM_OK with nothing running returns at once. After a failure every running grid
 * of the device is dead and *error says where. */
enum sim_error_kind sim_device_run(sim_device *device, uint64_t steps, sim_error *error);
bool sim_device_busy(const sim_device *device);

/* Counters of the whole device, for INKMARK_SIM_STATS. */
typedef struct sim_stats {
  uint64_t warp_instructions, thread_instructions, grids;
} sim_stats;
void sim_device_stats(const sim_device *device, sim_stats *stats);

/* Where printf of kernels goes. */
typedef void sim_print_fn(void *user, const char *text, size_t bytes);
void sim_set_print(sim_print_fn *print, void *user);

#endif
