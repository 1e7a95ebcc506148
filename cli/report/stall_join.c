/* SPDX-License-Identifier: MIT */
/* Which map a table of samples is of, by the words of every instruction, and what of it falls to each section. */
#include "stall_join.h"

#include "message.h"

#include "inkmark/activity.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

void stall_bare_name(const char *name, char *out, size_t bytes) {
  char shorter[512];
  ink_activity_short_name(name, shorter, sizeof shorter);
  for (char *at; (at = strstr(shorter, "(anonymous namespace)::")) || (at = strstr(shorter, "<unnamed>::"));) {
    const char *behind = strstr(at, "::") + 2;
    memmove(at, behind, strlen(behind) + 1);
  }
  /* Ends at the arguments of the template or of the call; begins behind the type and the namespaces. */
  const char *end = shorter + strcspn(shorter, "<("), *begin = end;
  while (end > shorter && end[-1] == ' ')
    end--;
  for (begin = end; begin > shorter && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_' || begin[-1] == '$'); begin--)
    ;
  snprintf(out, bytes, "%.*s", (int)(end - begin), begin);
}

/* ---- texts ---- */

typedef struct cursor {
  const char *at, *end;
} cursor;

typedef struct word {
  const char *at;
  size_t bytes;
  bool any; /* an address that the linker fills in */
} word;

static bool in_word(char c) { return isalnum((unsigned char)c) || (c && strchr("_.$@!~|+-", c)); }

static const char *behind_bracket(const char *at, const char *end) {
  int depth = 0;
  for (; at < end; at++) {
    depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    if (*at == ')' && depth == 0)
      return at + 1;
  }
  return end;
}

/* `(.L_x_1) and 32@lo((name)) are numbers in a loaded program. ".reuse" is left out, which one of the two does not print. */
static bool next_word(cursor *c, word *out) {
  while (c->at < c->end && !in_word(*c->at) && *c->at != '`')
    c->at++;
  if (c->at >= c->end)
    return false;
  const size_t left = (size_t)(c->end - c->at);
  if (*c->at == '`' || (left > 3 && memcmp(c->at, "32@", 3) == 0) || (left > 4 && memcmp(c->at, "-32@", 4) == 0)) {
    *out = (word){c->at, 1, true};
    c->at = behind_bracket(c->at, c->end);
    return true;
  }
  const char *begin = c->at;
  while (c->at < c->end && in_word(*c->at))
    c->at++;
  size_t bytes = (size_t)(c->at - begin);
  if (bytes > 6 && memcmp(c->at - 6, ".reuse", 6) == 0)
    bytes -= 6;
  *out = (word){begin, bytes, false};
  return true;
}

static bool same_text(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
  cursor x = {a, a + a_bytes}, y = {b, b + b_bytes};
  for (word v, w;;) {
    const bool more = next_word(&x, &v);
    if (more != next_word(&y, &w))
      return false;
    if (!more)
      return true;
    if (!v.any && !w.any && (v.bytes != w.bytes || memcmp(v.at, w.at, v.bytes)))
      return false;
  }
}

/* ---- the map ---- */

static bool same_instruction(const stall_row *row, const ink_verify_instruction *i) {
  return same_text(row->text, strcspn(row->text, ";"), i->text, i->text_bytes);
}

/* How many of the table's rows are the map's; *first is the first that is not, or the number of rows. */
static size_t count_same(const stall_table *t, const ink_verify_map *map, size_t *first) {
  const uint64_t base = t->rows[0].address;
  size_t same = 0, at = 0;
  *first = t->row_count;
  for (size_t r = 0; r < t->row_count; r++) {
    const uint64_t offset = t->rows[r].address - base;
    while (at < map->instruction_count && map->instructions[at].offset < offset)
      at++;
    if (at < map->instruction_count && map->instructions[at].offset == offset && same_instruction(&t->rows[r], &map->instructions[at]))
      same++;
    else if (*first == t->row_count)
      *first = r;
  }
  return same;
}

static bool is_padding(const ink_verify_instruction *i) { return i->opcode_bytes == 3 && !memcmp(i->text + i->opcode_at, "NOP", 3); }

/* The page may leave out the padding at the end. */
static bool is_whole(const stall_table *t, const ink_verify_map *map, size_t same) {
  if (same != t->row_count || !same || same > map->instruction_count ||
      map->instructions[same - 1].offset != t->rows[same - 1].address - t->rows[0].address)
    return false;
  for (size_t i = same; i < map->instruction_count; i++)
    if (!is_padding(&map->instructions[i]))
      return false;
  return true;
}

static void describe(const stall_table *t, const ink_verify_map *map, size_t first, stall_difference *out) {
  out->near = map;
  out->sampled = "";
  out->mapped[0] = 0;
  out->offset = (first < t->row_count ? t->rows[first].address : t->rows[t->row_count - 1].address + 16) - t->rows[0].address;
  if (first < t->row_count)
    out->sampled = t->rows[first].text + strspn(t->rows[first].text, " ");
  for (size_t i = 0; i < map->instruction_count; i++)
    if (map->instructions[i].offset == out->offset)
      snprintf(out->mapped, sizeof out->mapped, "%.*s", (int)map->instructions[i].text_bytes, map->instructions[i].text);
}

const ink_verify_map *stall_find_map(const stall_table *t, const ink_verify_map *maps, size_t n, stall_difference *difference) {
  char wanted[256], name[256];
  size_t best = 0;
  *difference = (stall_difference){0};
  stall_bare_name(t->kernel, wanted, sizeof wanted);
  for (size_t m = 0; m < n && t->row_count; m++) {
    size_t first;
    const size_t same = count_same(t, &maps[m], &first);
    if (is_whole(t, &maps[m], same))
      return &maps[m];
    stall_bare_name(maps[m].name, name, sizeof name);
    /* Without a name: of another build where most is the same. */
    const bool named = *wanted ? strcmp(name, wanted) == 0 : same * 2 > t->row_count;
    if (named && (!difference->near || same > best)) {
      best = same;
      describe(t, &maps[m], first, difference);
    }
  }
  return NULL;
}

/* ---- sums ---- */

/* What happens after an instruction was issued is sampled on the one behind it. */
static bool is_after_issue(const char *reason) {
  static const char *const names[] = {"barrier", "membar", "drain"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(reason, names[i]) == 0)
      return true;
  return false;
}

static bool is_load(const ink_verify_instruction *i) {
  return i->kind == INK_INSTRUCTION_MEMORY && i->opcode_bytes >= 2 && !memcmp(i->text + i->opcode_at, "LD", 2);
}

static void add_row(stall_join *j, size_t r, const ink_verify_instruction *last_run) {
  const stall_table *t = j->table;
  const stall_row *row = &t->rows[r];
  const ink_verify_instruction *at = &j->map->instructions[r];
  const ink_verify_instruction *waits = t->counts && row->executed <= 0 && last_run ? last_run : at;
  double moved = 0;
  for (size_t reason = 0; reason < t->reason_count; reason++) {
    const bool before = r > 0 && is_after_issue(t->reasons[reason]);
    const ink_verify_instruction *to = before && waits == at ? at - 1 : waits;
    j->sums[to->row].reasons[reason] += row->reasons[reason];
    if (to == waits)
      continue;
    moved += row->reasons[reason];
    j->sums[to->row].samples += row->reasons[reason];
    j->sums[to->row].own += to->own ? row->reasons[reason] : 0;
  }
  const double left = row->samples > moved ? row->samples - moved : 0; /* a hostile table may have more reasons than samples */
  j->sums[waits->row].samples += left;
  j->sums[waits->row].own += waits->own ? left : 0;
  j->samples += row->samples;
  stall_sum *sum = &j->sums[at->row];
  if (!at->own) {
    sum->executed += row->executed;
    sum->loads += is_load(at) ? row->executed : 0;
  }
  if (at->stamp != UINT32_MAX && j->map->stamps[at->stamp].closes)
    sum->passes += row->executed;
}

bool stall_join_make(const stall_table *table, const ink_verify_map *map, stall_join *out) {
  *out = (stall_join){.table = table, .map = map, .sums = calloc(map->row_count + 1, sizeof *out->sums)};
  bool fine = out->sums != NULL;
  for (size_t i = 0; i < map->row_count && fine; i++) {
    out->sums[i].reasons = calloc(table->reason_count + 1, sizeof *out->sums[i].reasons);
    fine = out->sums[i].reasons != NULL;
  }
  const ink_verify_instruction *last_run = NULL;
  for (size_t r = 0; r < table->row_count && fine; r++) {
    if (table->rows[r].executed > 0)
      last_run = &map->instructions[r];
    add_row(out, r, last_run);
  }
  if (!fine) {
    message_say("out of memory for the samples");
    stall_join_free(out);
  }
  return fine;
}

void stall_join_free(stall_join *join) {
  for (size_t i = 0; join->sums && i < join->map->row_count; i++)
    free(join->sums[i].reasons);
  free(join->sums);
  join->sums = NULL;
}
