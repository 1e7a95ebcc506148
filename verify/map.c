/* SPDX-License-Identifier: MIT */
/* The section that each instruction's time goes to: along the flow of control that of the next stamp that moves time; where that
 * begins a range or an iteration, the range around it, or none. */
#include "verify_private.h"

#include "inkmark/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are no section; sections follow. */
enum { PROLOGUE, EPILOGUE, UNMARKED, PADDING, UNKNOWN, FIRST_SECTION };
static const char *const others[FIRST_SECTION] = {"(prologue)", "(epilogue)", "(unmarked)", "(padding)", "(unknown)"};

/* What a stamp does to time. */
enum role { ROLE_NONE, ROLE_CLOSES, ROLE_BEGINS, ROLE_ENDS, ROLE_MOVES };

/* A range that is open: a list towards the outermost. */
typedef struct range {
  uint32_t outer, name;
} range;

/* One function of the map. */
typedef struct part {
  const v_function *f;
  v_stamp *stamps;
  size_t stamp_count;
  size_t first_stamp; /* of the map's */
  bool *to_end;       /* [f->count]: the function's end can come next */
} part;

typedef struct mapping {
  ink_verify *v;
  part *parts;
  size_t part_count, stamp_count;
  const char **names; /* [name_count]: rows' sections */
  size_t name_count;
  uint32_t *name_of;  /* [stamp_count]: of all parts' stamps */
  uint64_t *sets;     /* of names, [instructions][words] */
  size_t words;
  uint32_t first, count; /* instructions of all parts */
  range *ranges;
  size_t range_count, range_room;
} mapping;

static enum role role_of(const v_stamp *stamp) {
  if (strcmp(stamp->macro, "PROF_SUM_BEGIN") == 0)
    return ROLE_BEGINS;
  if (strcmp(stamp->macro, "PROF_SUM_END") == 0)
    return ROLE_ENDS;
  const uint32_t kinds = stamp->tag != INK_V_NONE ? 1u << (stamp->tag >> INK_SECTION_BITS)
                         : stamp->mark            ? stamp->mark->kinds
                                                  : 1u << INK_KIND_MARK;
  return kinds & 1u << INK_KIND_MARK ? ROLE_CLOSES : kinds & 1u << INK_KIND_BEGIN ? ROLE_BEGINS
         : kinds & 1u << INK_KIND_END ? ROLE_ENDS : kinds & 1u << INK_KIND_ITER ? ROLE_MOVES : ROLE_NONE;
}

static bool bit_of(const uint64_t *set, size_t bit) { return set[bit / 64] >> bit % 64 & 1; }
static void set_bit(uint64_t *set, size_t bit) { set[bit / 64] |= 1ull << bit % 64; }

static bool any_bit(const uint64_t *set, size_t bits) {
  for (size_t i = 0; i < bits; i++)
    if (bit_of(set, i))
      return true;
  return false;
}

static uint64_t *set_of(const mapping *m, uint32_t instruction) { return m->sets + (instruction - m->first) * m->words; }

/* ---- names ---- */

static bool gather(mapping *m, const v_function *functions, ink_error *error) {
  for (size_t p = 0; p < m->part_count; p++) {
    part *at = &m->parts[p];
    at->f = &functions[p];
    at->first_stamp = m->stamp_count;
    if (ink_v_find_stamps(m->v, at->f, &at->stamps, &at->stamp_count, error))
      return false;
    at->to_end = calloc(at->f->count + 1, sizeof *at->to_end);
    if (!at->to_end)
      return false;
    m->stamp_count += at->stamp_count;
    m->count += at->f->count;
  }
  return true;
}

static bool name_sections(mapping *m) {
  m->names = calloc(m->stamp_count + FIRST_SECTION, sizeof *m->names);
  m->name_of = calloc(m->stamp_count + 1, sizeof *m->name_of);
  if (!m->names || !m->name_of)
    return false;
  memcpy(m->names, others, sizeof others);
  m->name_count = FIRST_SECTION;
  for (size_t p = 0; p < m->part_count; p++)
    for (size_t s = 0; s < m->parts[p].stamp_count; s++) {
      const char *name = m->parts[p].stamps[s].name;
      size_t n = FIRST_SECTION;
      while (n < m->name_count && strcmp(m->names[n], name))
        n++;
      if (n == m->name_count)
        m->names[m->name_count++] = name;
      m->name_of[m->parts[p].first_stamp + s] = (uint32_t)n;
    }
  m->words = (m->name_count + 63) / 64;
  m->sets = calloc((m->count + 1) * m->words, sizeof *m->sets);
  return m->sets != NULL;
}

/* ---- ranges ---- */

static uint32_t open_range(mapping *m, uint32_t outer, uint32_t name) {
  for (uint32_t i = 1; i < m->range_count; i++)
    if (m->ranges[i].outer == outer && m->ranges[i].name == name)
      return i;
  if (!ink_v_room((void **)&m->ranges, m->range_count, &m->range_room, sizeof *m->ranges))
    return INK_V_NONE;
  m->ranges[m->range_count] = (range){outer, name};
  return (uint32_t)m->range_count++;
}

/* The innermost range that is open before each instruction, 0: none. Ranges nest in the source, so one way to an
 * instruction tells of all; recursion that an inlined function does not have ends the search. False: no memory. */
static bool find_ranges(mapping *m, const part *p, const v_graph *g, uint32_t *inside) {
  uint32_t *before = malloc((g->count + 1) * sizeof *before), *queue = malloc((g->count + 1) * sizeof *queue);
  uint32_t waiting = 0;
  bool fine = before && queue;
  for (uint32_t b = 0; fine && b < g->count; b++)
    before[b] = INK_V_NONE;
  for (uint32_t start = 0; fine && start < g->count; start++) {
    if (before[start] != INK_V_NONE)
      continue;
    before[start] = 0; /* the first, and what no way leads to */
    for (queue[waiting++] = start; fine && waiting;) {
      const uint32_t b = queue[--waiting];
      uint32_t now = before[b];
      for (uint32_t i = g->blocks[b].first; fine && i < g->blocks[b].first + g->blocks[b].count; i++) {
        const uint32_t stamp = m->v->instructions[p->f->first + i].stamp;
        inside[i] = now;
        const enum role role = stamp == INK_V_NONE ? ROLE_NONE : role_of(&p->stamps[stamp]);
        if (role == ROLE_BEGINS)
          now = open_range(m, now, m->name_of[p->first_stamp + stamp]);
        else if (role == ROLE_ENDS)
          now = m->ranges[now].outer;
        fine = now != INK_V_NONE;
      }
      for (uint32_t to = 0; fine && to < g->count; to++)
        if (before[to] == INK_V_NONE && ink_v_flows_to(g, b, to)) {
          before[to] = now;
          queue[waiting++] = to;
        }
    }
  }
  free(before);
  free(queue);
  return fine;
}

/* ---- sections ---- */

static bool reads_globaltimer(const v_instruction *i) {
  return i->ours && memmem(i->text, i->text_bytes, "SR_GLOBALTIMER", 14);
}

/* The name for an instruction before the stamp, with the range around it. */
static uint32_t name_before(const mapping *m, const part *p, size_t stamp, uint32_t inside) {
  const enum role role = role_of(&p->stamps[stamp]);
  return role == ROLE_CLOSES || role == ROLE_ENDS ? m->name_of[p->first_stamp + stamp]
         : inside                                 ? m->ranges[inside].name
                                                  : UNMARKED;
}

/* Flows over the stamps that move time, once with the reads of globaltimer beside them: what none of these can have come
 * before lies in front of the track's opening. */
typedef struct flows {
  v_graph graph;
  uint64_t *next, *last, *ignored[2];
  size_t words;
  uint32_t *stamps; /* [count]: as they were found */
  uint32_t *inside; /* [count] */
} flows;

static void free_flows(const part *p, ink_verify *v, flows *of) {
  for (uint32_t i = 0; of->stamps && i < p->f->count; i++)
    v->instructions[p->f->first + i].stamp = of->stamps[i];
  ink_v_free_graph(&of->graph);
  free(of->next);
  free(of->last);
  free(of->ignored[0]);
  free(of->ignored[1]);
  free(of->stamps);
  free(of->inside);
}

static ink_status make_flows(mapping *m, const part *p, flows *out, ink_error *error) {
  const v_function *f = p->f;
  v_instruction *of = &m->v->instructions[f->first];
  size_t words;
  out->stamps = malloc((f->count + 1) * sizeof *out->stamps);
  out->inside = calloc(f->count + 1, sizeof *out->inside);
  for (uint32_t i = 0; out->stamps && i < f->count; i++)
    out->stamps[i] = of[i].stamp;
  if (!out->stamps || !out->inside || !ink_v_make_graph(m->v, f, &out->graph) || !find_ranges(m, p, &out->graph, out->inside))
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the map of '%s'", f->name);
  for (uint32_t i = 0; i < f->count; i++)
    if (of[i].stamp != INK_V_NONE && role_of(&p->stamps[of[i].stamp]) == ROLE_NONE)
      of[i].stamp = INK_V_NONE;
  ink_status status = ink_v_flow(m->v, f, &out->graph, p->stamp_count, &out->ignored[0], &out->next, &out->words, error);
  for (uint32_t i = 0; i < f->count; i++)
    if (reads_globaltimer(&of[i]))
      of[i].stamp = (uint32_t)p->stamp_count;
  /* The sets of both have as many words, or the latter one more: only its own are read with its own. */
  if (!status)
    status = ink_v_flow(m->v, f, &out->graph, p->stamp_count + 1, &out->last, &out->ignored[1], &words, error);
  for (uint32_t i = 0; !status && i < f->count; i++) { /* keep one bit of it: is it the begin alone? */
    const uint64_t *set = out->last + i * words;
    const bool begin = bit_of(set, p->stamp_count + 1) && !any_bit(set, p->stamp_count + 1);
    const bool nothing = !any_bit(set, p->stamp_count + 2);
    out->last[i] = begin ? 1 : nothing ? 2 : 0;
  }
  return status;
}

static ink_status map_part(mapping *m, part *p, ink_error *error) {
  flows flow = {0};
  const bool main = p == m->parts;
  ink_status status = make_flows(m, p, &flow, error);
  for (uint32_t i = 0; !status && i < p->f->count; i++) {
    const v_instruction *at = &m->v->instructions[p->f->first + i];
    uint64_t *set = set_of(m, p->f->first + i);
    const uint64_t *next = flow.next + i * flow.words;
    const uint32_t own = flow.stamps[i];
    if (own != INK_V_NONE && role_of(&p->stamps[own]) != ROLE_NONE) {
      set_bit(set, name_before(m, p, own, flow.inside[i]));
      continue;
    }
    if (flow.last[i] == 2 && ink_v_opcode_in(at, (const char *const[]){"NOP", "BRA", NULL})) {
      set_bit(set, PADDING);
      continue;
    }
    if (main && flow.last[i] == 1) {
      set_bit(set, PROLOGUE);
      continue;
    }
    bool found = false;
    for (size_t s = 0; s < p->stamp_count; s++)
      if (bit_of(next, s)) {
        set_bit(set, name_before(m, p, s, flow.inside[i]));
        found = true;
      }
    p->to_end[i] = bit_of(next, p->stamp_count + 1);
    if (!found && main)
      set_bit(set, p->to_end[i] ? EPILOGUE : UNKNOWN);
  }
  free_flows(p, m->v, &flow);
  return status;
}

/* ---- calls ---- */

static const part *called_part(const mapping *m, const v_instruction *i) {
  if (!ink_v_opcode_is(i, "CALL"))
    return NULL;
  for (size_t p = 1; p < m->part_count; p++) {
    const char *name = m->parts[p].f->name, *found = memmem(i->text, i->text_bytes, name, strlen(name));
    if (found && found + strlen(name) < i->text + i->text_bytes && found[strlen(name)] == ')')
      return &m->parts[p];
  }
  return NULL;
}

/* What runs until a called function's end is time of whatever calls it. Rounds until nothing changes: they call each other. */
static void map_calls(mapping *m) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = m->first; i < m->first + m->count; i++) {
      const part *p = called_part(m, &m->v->instructions[i]);
      for (uint32_t n = 0; p && n < p->f->count; n++) {
        uint64_t *set = set_of(m, p->f->first + n);
        for (size_t w = 0; p->to_end[n] && w < m->words; w++) {
          changed |= (set_of(m, i)[w] & ~set[w]) != 0;
          set[w] |= set_of(m, i)[w];
        }
      }
    }
  }
  for (uint32_t i = m->first; i < m->first + m->count; i++)
    if (!any_bit(set_of(m, i), m->name_count))
      set_bit(set_of(m, i), UNKNOWN);
}

/* ---- the result ---- */

static char *row_name(const mapping *m, const uint64_t *set, uint32_t *several) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  *several = 0;
  for (size_t n = 0; to && n < m->name_count; n++)
    if (bit_of(set, n))
      fprintf(to, "%s%s", (*several)++ ? " | " : "", m->names[n]);
  if (!to || fclose(to))
    return NULL;
  return text;
}

typedef struct row_list {
  ink_verify_row *rows;
  uint32_t *of; /* the first instruction of each */
  size_t count, room, of_room;
} row_list;

/* The row of the set; NONE: no memory. */
static uint32_t find_row(mapping *m, row_list *list, uint32_t instruction) {
  const size_t bytes = m->words * sizeof *m->sets;
  for (size_t r = 0; r < list->count; r++)
    if (memcmp(set_of(m, list->of[r]), set_of(m, instruction), bytes) == 0)
      return (uint32_t)r;
  if (!ink_v_room((void **)&list->rows, list->count, &list->room, sizeof *list->rows) ||
      !ink_v_room((void **)&list->of, list->count, &list->of_room, sizeof *list->of))
    return INK_V_NONE;
  ink_verify_row row = {0};
  row.name = ink_v_keep(m->v, row_name(m, set_of(m, instruction), &row.several));
  list->rows[list->count] = row;
  list->of[list->count] = instruction;
  return row.name ? (uint32_t)list->count++ : INK_V_NONE;
}

static ink_verify_instruction describe(const mapping *m, uint32_t at, uint32_t row) {
  const v_instruction *i = &m->v->instructions[at];
  const v_frame *frame = i->place.count ? ink_v_users_frame(m->v, i->place) : NULL;
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  return (ink_verify_instruction){.offset = i->address, .row = row, .stamp = INK_V_NONE, .line = frame ? frame->line : 0,
                                  .file = frame ? m->v->files[frame->file] : NULL, .text = i->text,
                                  .text_bytes = i->text_bytes, .opcode_at = (uint32_t)(opcode - i->text),
                                  .opcode_bytes = (uint32_t)bytes, .own = i->ours, .kind = ink_v_kind(i),
                                  .memory_bytes = ink_v_memory_bytes(i), .operations = ink_v_operations(i)};
}

static bool fill_stamps(mapping *m, ink_verify_map_stamp *out) {
  for (size_t p = 0; p < m->part_count; p++)
    for (size_t s = 0; s < m->parts[p].stamp_count; s++) {
      const v_stamp *stamp = &m->parts[p].stamps[s];
      const v_frame *inner = &m->v->frames[stamp->place.first + stamp->place.count - 1];
      const enum role role = role_of(stamp);
      *out++ = (ink_verify_map_stamp){{stamp->name, stamp->macro, m->v->files[inner->file], inner->line, stamp->copies},
                                      role == ROLE_CLOSES || role == ROLE_ENDS ? stamp->name : NULL};
    }
  return true;
}

/* The arrays of the map belong to the analysis. */
static bool fill(mapping *m, ink_verify_map *map) {
  ink_verify_instruction *instructions = (ink_verify_instruction *)ink_v_keep(m->v, calloc(m->count + 1, sizeof *instructions));
  ink_verify_map_stamp *stamps = (ink_verify_map_stamp *)ink_v_keep(m->v, calloc(m->stamp_count + 1, sizeof *stamps));
  row_list list = {0};
  bool fine = instructions && stamps && fill_stamps(m, stamps);
  size_t n = 0;
  for (size_t p = 0; fine && p < m->part_count; p++)
    for (uint32_t i = 0; fine && i < m->parts[p].f->count; i++) {
      const uint32_t at = m->parts[p].f->first + i, row = find_row(m, &list, at);
      fine = row != INK_V_NONE;
      if (!fine)
        break;
      instructions[n] = describe(m, at, row);
      if (m->v->instructions[at].stamp != INK_V_NONE)
        instructions[n].stamp = (uint32_t)m->parts[p].first_stamp + m->v->instructions[at].stamp;
      list.rows[row].instructions++;
      list.rows[row].own += instructions[n++].own;
    }
  map->rows = list.rows ? (ink_verify_row *)ink_v_keep(m->v, (char *)list.rows) : NULL;
  free(list.of);
  map->row_count = list.count;
  map->instructions = instructions;
  map->instruction_count = n;
  map->stamps = stamps;
  map->stamp_count = m->stamp_count;
  return fine && map->rows;
}

static void release(mapping *m) {
  for (size_t p = 0; m->parts && p < m->part_count; p++) {
    free(m->parts[p].stamps);
    free(m->parts[p].to_end);
  }
  free(m->parts);
  free(m->names);
  free(m->name_of);
  free(m->sets);
  free(m->ranges);
}

ink_status ink_v_add_map(ink_verify *v, const v_function *functions, size_t count, bool without_stamps, ink_error *error) {
  mapping m = {.v = v, .parts = calloc(count, sizeof *m.parts), .part_count = count, .first = functions[0].first};
  ink_verify_map map = {.name = functions[0].name, .shown = ink_v_shown(v, ink_v_demangle(v, functions[0].name)), .target = functions[0].target,
                        .code_hash = ink_v_find_hash(&v->hashes, functions[0].cubin, functions[0].name)};
  bool fine = m.parts && gather(&m, functions, error);
  if (fine && !m.stamp_count && !without_stamps) {
    release(&m);
    return INK_OK;
  }
  fine = fine && name_sections(&m) && ink_v_room((void **)&m.ranges, 0, &m.range_room, sizeof *m.ranges);
  if (fine)
    m.ranges[m.range_count++] = (range){0, UNMARKED};
  for (size_t p = 0; p < count && fine; p++)
    fine = !map_part(&m, &m.parts[p], error);
  if (fine)
    map_calls(&m);
  fine = fine && fill(&m, &map) && ink_v_room((void **)&v->maps, v->map_count, &v->map_room, sizeof *v->maps);
  if (fine)
    v->maps[v->map_count++] = map;
  release(&m);
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the map of '%s'", functions[0].name);
}
