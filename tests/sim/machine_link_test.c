/* SPDX-License-Identifier: MIT */
/* Several PTX texts as one program: which definition stays, what is missing, what fails only when
 * it is executed; and that what is no PTX is refused with its line. */
#include <stdlib.h>
#include <string.h>

#include "machine_check.h"

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

static uint32_t run(sim_program *program, const char *kernel, sim_error *error) {
  machine m;
  uint32_t *out, result;
  void *args[] = {&out};
  machine_config(&m.config);
  m.device = sim_device_open(0, &m.config, error);
  m.module = sim_module_load(m.device, program, error);
  out = sim_memory_alloc(m.device, 64, 8);
  *out = 0;
  machine_run(&m, kernel, 1, 1, args, 0, error);
  result = *out;
  sim_device_close(m.device);
  return result;
}

static void expect(const char *first, const char *second, enum sim_error_kind kind,
                   const char *part) {
  const char *texts[] = {first, second};
  sim_error error;
  sim_program *program = sim_program_parse(texts, second != NULL ? 2 : 1, &error);
  if (!CHECK(program == NULL)) {
    fprintf(stderr, "  accepted: %s\n", first);
  } else if (!CHECK_EQUAL(error.kind, kind) ||
             !machine_check(strstr(error.text, part) != NULL, part, __FILE__, __LINE__)) {
    fprintf(stderr, "  the message: %s\n", error.text);
  }
  sim_program_free(program);
}

#define KERNEL(body) \
  ".visible .entry k(.param .u64 p) { .reg .b64 o; .reg .b32 a, b; ld.param.u64 o, [p];\n" body \
  " st.global.u32 [o], a; ret; }\n"
#define CALL "{ .param .b32 r; call (r), f, (); ld.param.b32 a, [r]; }\n"
#define RETURNS(value) "{ .reg .b32 x; mov.u32 x, " value "; st.param.b32 [r], x; ret; }\n"

static void test_definitions(void) {
  static const struct {
    const char *first, *second;
    uint32_t want;
  } cases[] = {
      /* an extern is satisfied by the other text, either way round */
      {HEAD ".extern .func (.param .b32 r) f;\n" KERNEL(CALL),
       HEAD ".visible .func (.param .b32 r) f() " RETURNS("7"), 7},
      {HEAD ".visible .func (.param .b32 r) f() " RETURNS("8"),
       HEAD ".extern .func (.param .b32 r) f;\n" KERNEL(CALL), 8},
      /* of two weak ones the first stays, a strong one beats both */
      {HEAD ".weak .func (.param .b32 r) f() " RETURNS("1") KERNEL(CALL),
       HEAD ".weak .func (.param .b32 r) f() " RETURNS("2"), 1},
      {HEAD ".weak .func (.param .b32 r) f() " RETURNS("1") KERNEL(CALL),
       HEAD ".visible .func (.param .b32 r) f() " RETURNS("3"), 3},
      /* without linkage a name is its text's own */
      {HEAD ".func (.param .b32 r) f() " RETURNS("4") KERNEL(CALL),
       HEAD ".func (.param .b32 r) f() " RETURNS("5"), 4},
      /* variables alike, through an initialiser too */
      {HEAD ".extern .global .u32 v;\n" KERNEL("ld.global.u32 a, [v];"),
       HEAD ".visible .global .u32 v = 11;\n", 11},
      {HEAD ".extern .global .u32 v[4];\n.global .u64 q = v+8;\n" KERNEL(
           "ld.global.u64 o, [q]; ld.global.u32 a, [o]; ld.param.u64 o, [p];"),
       HEAD ".weak .global .u32 v[4] = {1, 2, 33, 4};\n", 33},
      {HEAD ".common .global .u32 v;\n" KERNEL("ld.global.u32 a, [v+60];"),
       HEAD ".common .global .u32 v[16];\n", 0},
      /* one shared variable for both */
      {HEAD ".weak .shared .u32 s;\n.extern .func f;\n" KERNEL("call f; ld.shared.u32 a, [s];"),
       HEAD ".weak .shared .u32 s;\n.visible .func f() { .reg .b32 x; mov.u32 x, 21;\n"
            " st.shared.u32 [s], x; ret; }\n", 21},
      {HEAD ".func (.param .b32 r) g() " RETURNS("6") ".func (.param .b32 r) f;\n"
            ".alias f, g;\n" KERNEL(CALL), NULL, 6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *texts[] = {cases[i].first, cases[i].second};
    sim_error error;
    sim_program *program = sim_program_parse(texts, texts[1] != NULL ? 2 : 1, &error);
    if (!CHECK(program != NULL) || !CHECK_EQUAL(run(program, "k", &error), cases[i].want)) {
      fprintf(stderr, "  case %zu: %s\n", i, error.text);
    }
    sim_program_free(program);
  }
}

static void test_missing(void) {
  expect(HEAD ".visible .func f() { ret; }\n", HEAD ".visible .func f() { ret; }\n", SIM_BAD_PTX,
         "'f' is defined in two");
  expect(HEAD ".extern .func (.param .b32 r) f;\n" KERNEL(CALL), NULL, SIM_BAD_PTX,
         "PTX line 4: nothing defines 'f'");
  expect(HEAD ".extern .global .u32 v;\n" KERNEL("ld.global.u32 a, [v];"), NULL, SIM_BAD_PTX,
         "nothing defines 'v'");
  expect(HEAD ".extern .global .u32 f;\n" KERNEL("ld.global.u32 a, [f];"),
         HEAD ".visible .func f() { ret; }\n", SIM_BAD_PTX, "'f' is a function in one text");
}

/* What is not simulated fails where it is executed, and only there. */
static void test_unsupported(void) {
  static const char text[] =
      HEAD ".extern .func cudaLaunchDevice;\n"
      ".visible .entry tensor(.param .u64 p) { .reg .b32 a<9>; .reg .b64 o; .loc 1 77 0\n"
      "  wgmma.fence.sync.aligned;\n"
      "  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {a0,a1}, {a2,a3}, {a4,a5}, {a6,a7};\n"
      "  ret; }\n"
      ".visible .entry dynamic(.param .u64 p) { call cudaLaunchDevice; ret; }\n"
      ".visible .entry tensor_memory(.param .u64 p) { .reg .b32 a<2>;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a0], a1; ret; }\n"
      ".visible .entry tensor_copy(.param .u64 p) { .reg .b32 a<4>; .reg .b64 t;\n"
      "  cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [a0], [t, {a1}], [a2]; ret; }\n"
      KERNEL("mov.u32 a, 5; bra over; tex.2d.v4.f32.f32 {a, a, a, a}, [t, {b, b}]; over:");
  static const struct {
    const char *kernel, *part;
  } bad[] = {{"tensor", "PTX line 6, line:77, wgmma.fence.sync.aligned: "},
             {"dynamic", "a call of 'cudaLaunchDevice'"},
             {"tensor_memory", "'tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32'"},
             {"tensor_copy", "'cp.async.bulk.tensor.1d."}};
  const char *texts[] = {text};
  sim_error error;
  sim_program *program = sim_program_parse(texts, 1, &error);
  if (!CHECK(program != NULL)) {
    fprintf(stderr, "  %s\n", error.text);
    return;
  }
  CHECK_EQUAL(run(program, "k", &error), 5);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    run(program, bad[i].kernel, &error);
    CHECK_EQUAL(error.kind, SIM_UNSUPPORTED);
    if (!machine_check(strstr(error.text, bad[i].part) != NULL, bad[i].part, __FILE__, __LINE__)) {
      fprintf(stderr, "  the message: %s\n", error.text);
    }
  }
  sim_program_free(program);
}

static void test_bad_text(void) {
  static const struct {
    const char *text, *part;
  } bad[] = {
      {"#include <x>", "PTX line 1"},
      {HEAD KERNEL("add.u32 a, c, b;"), "PTX line 5: unknown"},
      {HEAD KERNEL("add.u32 a, %q, b;"), "PTX line 5: unknown register '%q'"},
      {HEAD KERNEL("bra nowhere;"), "PTX line 5: there is no label 'nowhere'"},
      {HEAD KERNEL("add.u32 a;"), "'add' has too few operands"},
      {HEAD KERNEL("add.u32 a, b"), "expected ';'"},
      {HEAD ".visible .entry k() { ret;", "the text ends inside a function"},
      {HEAD ".global .u32 v[2] = {1, 2, 3};", "too many initialisers for 'v'"},
      {HEAD ".global .u32 v[99999999999][99999999999];", "too large"},
      {HEAD ".global .u32 v; .global .u32 v;", "'v' is defined twice"},
      {HEAD ".visible .entry k() { .reg .b32 %r<999999999>; ret; }", "registers"},
      {HEAD ".visible .entry k() { .local .b8 l[999999999]; ret; }", "local memory"},
      {HEAD ".visible .entry k() { ld.global.v4.u32 {%r1}, [0]; }", "unknown register"},
      {HEAD ".func f(); .func f() { ret; } .func f() { ret; }", "'f' is defined twice"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    expect(bad[i].text, NULL, SIM_BAD_PTX, bad[i].part);
  }
}

int main(void) {
  test_definitions();
  test_missing();
  test_unsupported();
  test_bad_text();
  return machine_result();
}
