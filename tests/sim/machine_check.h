/* SPDX-License-Identifier: MIT */
/* What the machine's tests share: a device with one program, and the check of one instruction on
 * many operands against a function of the host. */
#ifndef INKMARK_TEST_MACHINE_CHECK_H
#define INKMARK_TEST_MACHINE_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "machine.h"

extern unsigned machine_checks, machine_failures;

#define CHECK(condition) machine_check((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(got, want) \
  machine_check_equal((uint64_t)(got), (uint64_t)(want), #got, __FILE__, __LINE__)
bool machine_check(bool holds, const char *text, const char *file, int line);
bool machine_check_equal(uint64_t got, uint64_t want, const char *text, const char *file, int line);
/* Prints the counts; what main returns. */
int machine_result(void);

typedef struct machine {
  sim_config config;
  sim_program *program;
  sim_device *device;
  sim_module *module;
} machine;

/* The standard configuration, whatever the environment says. */
void machine_config(sim_config *config);
/* Ends the test program when the text does not parse. */
void machine_open(machine *m, const char *ptx);
void machine_open_with(machine *m, const char *ptx, const sim_config *config);
void machine_close(machine *m);
char *machine_read_file(const char *path);
/* Runs one kernel to its end. */
enum sim_error_kind machine_run(machine *m, const char *kernel, unsigned blocks, unsigned threads,
                                void *const *args, size_t dynamic_shared, sim_error *error);

enum machine_operands { MACHINE_INTEGER, MACHINE_F32, MACHINE_F64, MACHINE_F16, MACHINE_BF16 };
enum machine_result_kind { MACHINE_EXACT, MACHINE_F32_CLOSE, MACHINE_F64_CLOSE };

typedef uint64_t machine_reference(uint64_t a, uint64_t b, uint64_t c);

typedef struct machine_op {
  const char *text; /* d, a, b, c are registers of the widths below, p and q predicates */
  uint8_t d, a, b, c; /* bits: 16, 32 or 64 */
  machine_reference *reference;
} machine_op;

/* Runs each on every combination of edge values and on random ones, with the whole warp active and
 * with two thirds of it masked out. */
void machine_check_ops(const machine_op *ops, size_t count, enum machine_operands operands,
                       enum machine_result_kind kind);
uint64_t machine_random(void);

#endif
