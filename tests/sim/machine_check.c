/* SPDX-License-Identifier: MIT */
/* See machine_check.h. */
#include "machine_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096
#define THREADS 128

unsigned machine_checks, machine_failures;

bool machine_check(bool holds, const char *text, const char *file, int line) {
  machine_checks++;
  if (!holds) {
    machine_failures++;
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, text);
  }
  return holds;
}

bool machine_check_equal(uint64_t got, uint64_t want, const char *text, const char *file,
                         int line) {
  machine_checks++;
  if (got != want) {
    machine_failures++;
    fprintf(stderr, "%s:%d: %s is %llu (0x%llx), not %llu (0x%llx)\n", file, line, text,
            (unsigned long long)got, (unsigned long long)got, (unsigned long long)want,
            (unsigned long long)want);
  }
  return got == want;
}

int machine_result(void) {
  printf("%u checks, %u failed\n", machine_checks, machine_failures);
  return machine_failures == 0 && machine_checks != 0 ? 0 : 1;
}

uint64_t machine_random(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1du;
}

void machine_config(sim_config *config) {
  *config = (sim_config){.devices = 1, .sms = 4, .blocks_per_sm = 4, .clock_hz = 1000000000,
                         .skew_cycles = 1000003, .timer_step_ns = 32,
                         .epoch_ns = UINT64_C(1700000000000000000), .max_steps = 20000000,
                         .rates = "", .log_path = ""};
}

void machine_open_with(machine *m, const char *ptx, const sim_config *config) {
  sim_error error;
  m->config = *config;
  m->program = sim_program_parse(&ptx, 1, &error);
  m->device = m->program != NULL ? sim_device_open(0, config, &error) : NULL;
  m->module = m->device != NULL ? sim_module_load(m->device, m->program, &error) : NULL;
  if (m->module == NULL) {
    fprintf(stderr, "cannot load: %s\n%.2000s\n", error.text, ptx);
    exit(1);
  }
}

void machine_open(machine *m, const char *ptx) {
  sim_config config;
  machine_config(&config);
  machine_open_with(m, ptx, &config);
}

void machine_close(machine *m) {
  sim_module_unload(m->module);
  sim_device_close(m->device);
  sim_program_free(m->program);
}

char *machine_read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long bytes;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) >= 0) {
    rewind(file);
    text = calloc(1, (size_t)bytes + 1);
    if (text != NULL && fread(text, 1, (size_t)bytes, file) != (size_t)bytes) {
      free(text);
      text = NULL;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  if (text == NULL) {
    fprintf(stderr, "cannot read '%s'\n", path);
    exit(1);
  }
  return text;
}

enum sim_error_kind machine_run(machine *m, const char *name, unsigned blocks, unsigned threads,
                                void *const *args, size_t dynamic_shared, sim_error *error) {
  sim_kernel *kernel = sim_module_kernel(m->module, name);
  enum sim_error_kind kind = SIM_OK;
  sim_grid *grid;
  if (kernel == NULL) {
    fprintf(stderr, "there is no kernel '%s'\n", name);
    exit(1);
  }
  grid = sim_grid_begin(kernel, (sim_dim3){blocks, 1, 1}, (sim_dim3){threads, 1, 1}, args,
                        dynamic_shared, error);
  if (grid == NULL) {
    return error->kind;
  }
  while (kind == SIM_OK && !sim_grid_done(grid)) {
    kind = sim_device_run(m->device, UINT64_MAX, error);
  }
  sim_grid_free(grid);
  return kind;
}

/* ---- one instruction on many operands ---- */

static size_t edges(enum machine_operands operands, const uint64_t **values) {
  static const uint64_t integers[] = {
      0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 32767, 32768, 65535, 65536,
      0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x100000000,
      0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffff0,
      0x0123456789abcdef};
  static const uint64_t singles[] = {
      0, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
      0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x3f000000,
      0x3f7fffff, 0x3f800001, 0x40490fdb, 0x4f000000, 0xcf000000, 0x4effffff, 0x5f000000,
      0xbf000000, 0x40200000, 0xc0200000, 0x3fc00000, 0x42fe0000, 0xc3150000};
  static const uint64_t doubles[] = {
      0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 1, 0x000fffffffffffff,
      0x0010000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
      0x7ff8000000000000, 0x3fe0000000000000, 0xbfe0000000000000, 0x4004000000000000,
      0x41dfffffffc00000, 0xc1e0000000000000, 0x43e0000000000000, 0xc3e0000000000000,
      0x3ff0000000000001, 0x400921fb54442d18, 0x47efffffe0000000, 0x380fffffffffffff};
  static const uint64_t halves[] = {0, 0x8000, 0x3c00, 0xbc00, 1, 0x8001, 0x03ff, 0x0400, 0x7bff,
                                    0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3800, 0x3bff, 0x3c01, 0x4248,
                                    0x6400, 0x6401, 0x3e00};
  static const uint64_t brains[] = {0, 0x8000, 0x3f80, 0xbf80, 1, 0x8001, 0x007f, 0x0080, 0x7f7f,
                                    0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x3f00, 0x3f7f, 0x3f81, 0x4049,
                                    0x4300, 0x4301};
  switch (operands) {
    case MACHINE_F32: *values = singles; return sizeof singles / sizeof *singles;
    case MACHINE_F64: *values = doubles; return sizeof doubles / sizeof *doubles;
    case MACHINE_F16: *values = halves; return sizeof halves / sizeof *halves;
    case MACHINE_BF16: *values = brains; return sizeof brains / sizeof *brains;
    default: *values = integers; return sizeof integers / sizeof *integers;
  }
}

static uint64_t random_operand(enum machine_operands operands) {
  uint64_t bits = machine_random();
  float single;
  double wide;
  uint32_t word;
  if (operands == MACHINE_INTEGER || bits % 4 == 0) {
    return bits % 5 == 0 ? bits >> (bits >> 8 & 63) : bits; /* small numbers too */
  }
  /* Numbers of everyday size. */
  wide = ((double)(bits >> 11) * 0x1p-52 - 1) * (double)(1 << (bits & 7));
  single = (float)wide;
  memcpy(&word, &single, sizeof word);
  switch (operands) {
    case MACHINE_F32: return word;
    case MACHINE_F64: memcpy(&bits, &wide, sizeof bits); return bits;
    case MACHINE_BF16: return (word >> 16) | (bits & 0x7fff0000) | (bits & 0xffff) << 32;
    default: /* f16: exponents 8 to 22, both halves of a pair */
      return (bits & 0x83ff83ff) | (8 + (bits >> 34 & 7)) << 10 | (8 + (bits >> 38 & 7)) << 26;
  }
}

/* Every pair of edges (with a third value that moves along), then random triples. */
static size_t fill(uint64_t *a, uint64_t *b, uint64_t *c, enum machine_operands operands) {
  const uint64_t *values;
  size_t count = edges(operands, &values), n = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < count && n < MOST; k++, n++) {
      a[n] = values[i] | (operands >= MACHINE_F16 ? values[k] << 16 : 0);
      b[n] = values[k] | (operands >= MACHINE_F16 ? values[i] << 16 : 0);
      c[n] = values[(i * 7 + k * 3) % count];
    }
  }
  for (; n < MOST; n++) {
    a[n] = random_operand(operands);
    b[n] = random_operand(operands);
    c[n] = random_operand(operands);
  }
  return n;
}

static const char *const text_format =
    ".version 8.6\n.target sm_100\n.address_size 64\n"
    ".visible .entry k(.param .u64 po, .param .u64 pa, .param .u64 pb, .param .u64 pc,\n"
    "                  .param .u32 pm)\n{\n"
    "  .reg .b64 x, o, ya, yb, yc; .reg .b32 i, n, m; .reg .pred p, q, g;\n"
    "  .reg .b%u d; .reg .b%u a; .reg .b%u b; .reg .b%u c; .reg .b32 t, u; .reg .b16 h, hh;\n"
    "  .reg .f32 f, ff; .reg .f64 w;\n"
    "  mov.u32 i, %%ctaid.x; mov.u32 n, %%ntid.x; mov.u32 m, %%tid.x; mad.lo.s32 i, i, n, m;\n"
    "  ld.param.u32 n, [pm]; rem.u32 m, i, n; setp.eq.u32 g, m, 0;\n"
    "  mul.wide.u32 x, i, 8;\n"
    "  ld.param.u64 o, [po]; add.s64 o, o, x; ld.param.u64 ya, [pa]; add.s64 ya, ya, x;\n"
    "  ld.param.u64 yb, [pb]; add.s64 yb, yb, x; ld.param.u64 yc, [pc]; add.s64 yc, yc, x;\n"
    "  ld.global.b%u a, [ya]; ld.global.b%u b, [yb]; ld.global.b%u c, [yc];\n"
    "  mov.b%u d, 0x5a5a;\n"
    "  @!g bra done;\n"
    "  %s\n"
    "done:\n"
    "  st.global.b%u [o], d;\n"
    "  ret;\n}\n";

static uint64_t cut(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static bool same(uint64_t got, uint64_t want, enum machine_result_kind kind) {
  float f[2];
  double d[2];
  uint32_t words[2] = {(uint32_t)got, (uint32_t)want};
  uint64_t longs[2] = {got, want};
  if (got == want) {
    return true;
  }
  memcpy(f, words, sizeof f);
  memcpy(d, longs, sizeof d);
  switch (kind) {
    case MACHINE_F32_CLOSE:
      return (isnan(f[0]) && isnan(f[1])) ||
             fabsf(f[0] - f[1]) <= 4e-7f * fabsf(f[1]) + 1e-37f;
    case MACHINE_F64_CLOSE:
      return (isnan(d[0]) && isnan(d[1])) || fabs(d[0] - d[1]) <= 1e-15 * fabs(d[1]);
    default: return false;
  }
}

static void check_op(const machine_op *op, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                     size_t count, enum machine_result_kind kind) {
  char text[4096];
  machine m;
  sim_error error;
  unsigned bad = 0;
  snprintf(text, sizeof text, text_format, op->d, op->a, op->b, op->c, op->a, op->b, op->c, op->d,
           op->text, op->d);
  machine_open(&m, text);
  for (uint32_t every = 1; every <= 3; every += 2) {
    size_t bytes = count * 8;
    uint64_t *out = sim_memory_alloc(m.device, bytes, 8), *in[3];
    const uint64_t *from[3] = {a, b, c};
    void *args[5] = {&out, &in[0], &in[1], &in[2], &every};
    for (int i = 0; i < 3; i++) {
      in[i] = sim_memory_alloc(m.device, bytes, 8);
      memcpy(in[i], from[i], bytes);
    }
    memset(out, 0, bytes);
    if (machine_run(&m, "k", (unsigned)(count / THREADS), THREADS, args, 0, &error) != SIM_OK) {
      fprintf(stderr, "'%s': %s\n", op->text, error.text);
      machine_failures++;
      break;
    }
    for (size_t i = 0; i < count; i++) {
      uint64_t x = cut(a[i], op->a), y = cut(b[i], op->b), z = cut(c[i], op->c);
      uint64_t want = i % every == 0 ? cut(op->reference(x, y, z), op->d) : cut(0x5a5a, op->d);
      machine_checks++;
      if (!same(out[i], want, kind) && bad++ < 3) {
        machine_failures++;
        fprintf(stderr, "'%s' of 0x%llx, 0x%llx, 0x%llx is 0x%llx, not 0x%llx\n", op->text,
                (unsigned long long)x, (unsigned long long)y, (unsigned long long)z,
                (unsigned long long)out[i], (unsigned long long)want);
      }
    }
  }
  machine_close(&m);
}

void machine_check_ops(const machine_op *ops, size_t count, enum machine_operands operands,
                       enum machine_result_kind kind) {
  static uint64_t a[MOST], b[MOST], c[MOST];
  for (size_t i = 0; i < count; i++) {
    size_t n = fill(a, b, c, operands);
    check_op(&ops[i], a, b, c, n / THREADS * THREADS, kind);
  }
}
