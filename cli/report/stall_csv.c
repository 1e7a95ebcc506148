/* SPDX-License-Identifier: MIT */
/* Reads `ncu --import REPORT --page source --csv`, with --print-source sass or cuda,sass: columns by their names, of which there
 * have been several over the years. */
#include "stall_csv.h"

#include "message.h"
#include "stall_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 1024, STALL_FILE_MAX = 1 << 30 };

/* One record: its cells end with 0 in the text itself. */
typedef struct record {
  char *cells[COLUMNS_MAX];
  size_t count;
} record;

typedef struct columns {
  size_t address, source, samples, executed;
  size_t reason_at[COLUMNS_MAX];
} columns;

#define NO_COLUMN SIZE_MAX

typedef struct room {
  size_t tables, rows;
} room;

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t used = 0, have = 0;
  if (!file) {
    message_say("cannot open '%s': %s", path, message_errno(errno));
    return NULL;
  }
  for (size_t n = 1; n; used += n) {
    if (used + 65537 > have) {
      char *grown = used > STALL_FILE_MAX ? NULL : realloc(text, have = used * 2 + 131072);
      if (!grown) {
        message_say(used > STALL_FILE_MAX ? "'%s' is larger than 1 GiB" : "out of memory for '%s'", path);
        free(text);
        fclose(file);
        return NULL;
      }
      text = grown;
    }
    n = fread(text + used, 1, 65536, file);
  }
  const int failed = ferror(file) ? errno : 0;
  fclose(file);
  text[used] = 0;
  if (failed || memchr(text, 0, used)) {
    if (failed)
      message_say("cannot read '%s': %s", path, message_errno(failed));
    else
      message_say("'%s' is no CSV: export it with 'ncu --import REPORT --page source --csv'", path);
    free(text);
    return NULL;
  }
  return text;
}

/* Takes a record off *at; false: there is none left. */
static bool next_record(char **at, record *out) {
  char *from = *at, *to = from;
  if (!*from)
    return false;
  out->count = 0;
  for (;;) {
    char *cell = to;
    if (*from == '"') {
      for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
        from += *from == '"';
        *to++ = *from;
      }
      from += *from == '"';
    }
    while (*from && *from != ',' && *from != '\n' && *from != '\r')
      *to++ = *from++;
    const char end = *from;
    from += end != 0;
    from += end == '\r' && *from == '\n';
    *to++ = 0; /* at or before the separator that was read */
    if (out->count < COLUMNS_MAX)
      out->cells[out->count++] = cell;
    if (end != ',')
      break;
    to = from;
  }
  *at = from;
  return true;
}

static double number_in(const char *cell) {
  char plain[64];
  size_t n = 0;
  for (; *cell && n + 1 < sizeof plain; cell++)
    if (*cell != ',' && *cell != ' ')
      plain[n++] = *cell;
  plain[n] = 0;
  double value = 0, place = 1;
  const char *at = plain; /* not by strtod: the locale may have another decimal point */
  for (; *at >= '0' && *at <= '9'; at++)
    value = value * 10 + (*at - '0');
  if (*at == '.')
    for (at++; *at >= '0' && *at <= '9'; at++)
      value += (*at - '0') * (place /= 10);
  return value < 1e15 ? value : 1e15; /* no count is as large */
}

static size_t find_column(const record *head, const char *const *names) {
  for (; *names; names++)
    for (size_t i = 0; i < head->count; i++)
      if (strcmp(head->cells[i], *names) == 0)
        return i;
  return NO_COLUMN;
}

static bool is_reason(const char *name) {
  return strncmp(name, "stall_", 6) == 0 && !strstr(name, "Not Issued") && !strstr(name, "Not-issued") && !strstr(name, "not_issued");
}

static bool grow(void **array, size_t count, size_t *have, size_t bytes) {
  if (count < *have)
    return true;
  const size_t wanted = *have ? *have * 2 : 16;
  void *grown = realloc(*array, wanted * bytes);
  if (!grown) {
    message_say("out of memory for the samples");
    return false;
  }
  *array = grown;
  *have = wanted;
  return true;
}

/* Names come twice: the first is as good. */
static bool begin_table(const char *path, const record *head, const char *kernel, stall_file *file, room *have, columns *c) {
  c->address = find_column(head, (const char *const[]){"Address", NULL});
  c->source = c->address + 1 < head->count && strcmp(head->cells[c->address + 1], "Source") == 0
                  ? c->address + 1
                  : find_column(head, (const char *const[]){"Source", NULL});
  c->samples = find_column(head, (const char *const[]){"Warp Stall Sampling (All Samples)", "Warp Stall Sampling (All Cycles)",
                                                       "Sampling Data (All)", "# Samples", NULL});
  c->executed = find_column(head, (const char *const[]){"Instructions Executed", "# Instructions Executed", NULL});
  bool any_reason = false;
  for (size_t i = 0; i < head->count; i++)
    any_reason |= is_reason(head->cells[i]);
  if (c->samples == NO_COLUMN && !any_reason) {
    message_say("'%s' has no samples: its columns are of no version that is known, or the report was made without 'ncu --section SourceCounters'", path);
    return false;
  }
  if (!grow((void **)&file->tables, file->table_count, &have->tables, sizeof *file->tables))
    return false;
  stall_table *t = &file->tables[file->table_count];
  *t = (stall_table){.kernel = kernel, .counts = c->executed != NO_COLUMN, .reasons = calloc(head->count + 1, sizeof *t->reasons)};
  if (!t->reasons) {
    message_say("out of memory for the samples");
    return false;
  }
  file->table_count++;
  have->rows = 0;
  for (size_t i = 0; i < head->count; i++) {
    bool known = !is_reason(head->cells[i]);
    for (size_t r = 0; r < t->reason_count && !known; r++)
      known = strcmp(t->reasons[r], head->cells[i] + 6) == 0;
    if (known)
      continue;
    c->reason_at[t->reason_count] = i;
    t->reasons[t->reason_count++] = head->cells[i] + 6;
  }
  return true;
}

static bool add_row(stall_table *t, const columns *c, const record *r, room *have) {
  const char *cell = c->address < r->count ? r->cells[c->address] : "";
  char *end;
  const uint64_t address = strtoull(cell, &end, 16);
  if (!*cell || *end || c->source >= r->count) /* '-': a line of CUDA C */
    return true;
  if (!grow((void **)&t->rows, t->row_count, &have->rows, sizeof *t->rows))
    return false;
  stall_row *row = &t->rows[t->row_count];
  *row = (stall_row){.address = address, .text = r->cells[c->source], .reasons = calloc(t->reason_count + 1, sizeof *row->reasons)};
  if (!row->reasons) {
    message_say("out of memory for the samples");
    return false;
  }
  t->row_count++;
  row->samples = c->samples < r->count ? number_in(r->cells[c->samples]) : 0;
  row->executed = c->executed < r->count ? number_in(r->cells[c->executed]) : 0;
  for (size_t i = 0; i < t->reason_count; i++) {
    row->reasons[i] = c->reason_at[i] < r->count ? number_in(r->cells[c->reason_at[i]]) : 0;
    row->samples += c->samples == NO_COLUMN ? row->reasons[i] : 0; /* each sample has one reason */
  }
  return true;
}

static int by_address(const void *left, const void *right) {
  const stall_row *a = left, *b = right;
  return a->address < b->address ? -1 : a->address > b->address;
}

/* An inlined function's instructions may stand below several of its lines: once is enough. */
static void finish_table(stall_table *t) {
  size_t kept = 0;
  if (t->row_count)
    qsort(t->rows, t->row_count, sizeof *t->rows, by_address);
  for (size_t i = 0; i < t->row_count; i++) {
    if (kept && t->rows[kept - 1].address == t->rows[i].address)
      free(t->rows[i].reasons);
    else
      t->rows[kept++] = t->rows[i];
  }
  t->row_count = kept;
}

static bool read_tables(const char *path, char *text, stall_file *file, record *r) {
  const char *kernel = "";
  columns *c = malloc(sizeof *c);
  room have = {0};
  bool fine = c != NULL, open = false;
  if (!c)
    message_say("out of memory for the samples");
  while (fine && next_record(&text, r)) {
    const bool names = strcmp(r->cells[0], "Kernel Name") == 0 || strcmp(r->cells[0], "Function Name") == 0;
    const bool head = find_column(r, (const char *const[]){"Address", NULL}) != NO_COLUMN &&
                      find_column(r, (const char *const[]){"Source", NULL}) != NO_COLUMN;
    if (names && r->count > 1 && !head) {
      kernel = r->cells[1];
      open = false;
    } else if (head) {
      fine = open = begin_table(path, r, kernel, file, &have, c);
    } else if (open) {
      fine = add_row(&file->tables[file->table_count - 1], c, r, &have);
    }
  }
  free(c);
  return fine;
}

bool stall_csv_read(const char *path, stall_file *out) {
  *out = (stall_file){.text = stall_is_report(path) ? stall_report_text(path) : read_text(path)};
  record *r = out->text ? malloc(sizeof *r) : NULL;
  if (out->text && !r)
    message_say("out of memory for the samples");
  bool fine = r && read_tables(path, out->text, out, r);
  size_t rows = 0;
  for (size_t i = 0; i < out->table_count; i++) {
    finish_table(&out->tables[i]);
    rows += out->tables[i].row_count;
  }
  if (fine && !rows) {
    message_say("'%s' has no table of machine instructions: export it with 'ncu --import REPORT --page source --csv'", path);
    fine = false;
  }
  free(r);
  if (!fine)
    stall_csv_free(out);
  return fine;
}

void stall_csv_free(stall_file *file) {
  for (size_t i = 0; i < file->table_count; i++) {
    for (size_t r = 0; r < file->tables[i].row_count; r++)
      free(file->tables[i].rows[r].reasons);
    free(file->tables[i].rows);
    free(file->tables[i].reasons);
  }
  free(file->tables);
  free(file->text);
  *file = (stall_file){0};
}
