/* SPDX-License-Identifier: MIT */
/* Counts of two builds side by side, and what of it is harm. */
#include "verify_against.h"
#include "message.h"
#include "style.h"
#include "text_out.h"

#include <string.h>

const ink_verify_kernel *verify_against_find(const ink_verify *plain, const ink_verify_kernel *marked) {
  const ink_verify_kernel *kernels;
  const size_t n = ink_verify_kernels(plain, &kernels);
  for (size_t i = 0; i < n; i++)
    if (strcmp(kernels[i].name, marked->name) == 0 && strcmp(kernels[i].target, marked->target) == 0)
      return &kernels[i];
  return NULL;
}

static uint32_t more(uint32_t marked, uint32_t plain) { return marked > plain ? marked - plain : 0; }

static uint32_t new_spills(const ink_verify_counts *p, const ink_verify_counts *m) {
  return more(m->spill_stores, p->spill_stores) + more(m->spill_loads, p->spill_loads);
}

/* Nearly every matrix instruction begins a group of its own. */
static bool is_serial(const ink_verify_counts *c) { return c->matrix > 1 && (uint64_t)c->arrives * 5 >= (uint64_t)c->matrix * 4; }

static bool gets_serial(const ink_verify_counts *p, const ink_verify_counts *m) { return is_serial(m) && !is_serial(p); }

bool verify_against_harms(const ink_verify_kernel *plain, const ink_verify_kernel *marked) {
  const ink_verify_counts *p = &plain->counts, *m = &marked->counts;
  return new_spills(p, m) || m->drains > p->drains || gets_serial(p, m);
}

static void print_pair(FILE *to, const char *what, uint32_t plain, uint32_t marked) {
  text_print(to, ", %s %u -> %u", what, plain, marked);
}

void verify_against_print(const ink_verify_kernel *plain, const ink_verify_kernel *marked, const char *path, FILE *to) {
  if (!plain) {
    text_print(to, "  note     '%s' has no such function for %s\n", path, marked->target);
    return;
  }
  const ink_verify_counts *p = &plain->counts, *m = &marked->counts;
  text_print(to, "  against  instructions %u -> %u (%u are inkmark's)", p->instructions, m->instructions, m->own);
  print_pair(to, "registers named", p->registers, m->registers);
  print_pair(to, "spills", p->spill_stores + p->spill_loads, m->spill_stores + m->spill_loads);
  print_pair(to, "waits", p->waits, m->waits);
  print_pair(to, "matrix instructions", p->matrix, m->matrix);
  print_pair(to, "WARPGROUP.ARRIVE", p->arrives, m->arrives);
  print_pair(to, "loops", p->loops, m->loops);
  fputc('\n', to);
  const char *warn = style_code(to, STYLE_WARNING), *plainly = style_code(to, STYLE_PLAIN);
  if (new_spills(p, m))
    text_print(to, "  %sspills%s   %u more stores to the stack and loads from it\n", warn, plainly, new_spills(p, m));
  if (m->drains > p->drains)
    text_print(to, "  %swaits%s    %u times until nothing is in flight, %u times in the plain build\n", warn, plainly, m->drains,
               p->drains);
  if (gets_serial(p, m))
    text_print(to, "  %sserial%s   WARPGROUP.ARRIVE %u times for %u matrix instructions, %u for %u in the plain build\n", warn, plainly,
               m->arrives, m->matrix, p->arrives, p->matrix);
}

static void json_counts(json_writer *json, const char *key, const ink_verify_counts *c) {
  json_open_flat(json, key);
  json_unsigned(json, "instructions", c->instructions);
  json_unsigned(json, "inkmarks", c->own);
  json_unsigned(json, "registers_named", c->registers);
  json_unsigned(json, "spill_stores", c->spill_stores);
  json_unsigned(json, "spill_loads", c->spill_loads);
  json_unsigned(json, "matrix_instructions", c->matrix);
  json_unsigned(json, "waits", c->waits);
  json_unsigned(json, "drains", c->drains);
  json_unsigned(json, "warpgroup_arrives", c->arrives);
  json_unsigned(json, "loops", c->loops);
  json_close(json, '}');
}

void verify_against_json(json_writer *json, const ink_verify_kernel *plain, const ink_verify_kernel *marked) {
  json_counts(json, "counts", &marked->counts);
  if (plain) {
    json_counts(json, "plain", &plain->counts);
    json_bool(json, "harmed", verify_against_harms(plain, marked));
  }
}
