/* SPDX-License-Identifier: MIT */
/* `inkmark report --host`: the ranges of the host summed up by name, as text; each of them, as JSON or CSV. */
#include "report_host.h"

#include "commands.h"
#include "message.h"
#include "outfile.h"
#include "style.h"
#include "text_out.h"

#include "inkmark/host_ranges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_SHOWN = 30, NAME_SHOWN = 48 };

/* Ranges of one name, domain and kind. */
typedef struct group {
  const ink_host_range *sample;
  uint64_t count, launches, kernels;
  int64_t total_ns, max_ns, kernels_ns;
} group;

typedef struct view {
  const report_settings *settings;
  loaded_capture loaded;
  const ink_host_range *ranges;
  const ink_host_launch *calls;
  size_t range_count, call_count, launch_count;
  const ink_launch *launches;
  const ink_host_facts *facts;
} view;

static const char *kind_word(const ink_host_range *r) {
  return r->kind == INK_HOST_MARK ? "mark" : r->kind == INK_HOST_START ? "process" : r->flags & INK_HOST_SCOPE ? "scope" : "thread";
}

/* ---- groups ---- */

static int compare(const ink_host_range *a, const ink_host_range *b) {
  const int names = strcmp(a->name, b->name), domains = strcmp(a->domain, b->domain), kinds = strcmp(kind_word(a), kind_word(b));
  return names ? names : domains ? domains : kinds;
}

static int by_name(const void *left, const void *right) {
  return compare(*(const ink_host_range *const *)left, *(const ink_host_range *const *)right);
}

static int by_total(const void *left, const void *right) {
  const group *a = left, *b = right;
  if (a->total_ns != b->total_ns)
    return a->total_ns > b->total_ns ? -1 : 1;
  return compare(a->sample, b->sample);
}

/* NULL: out of memory. */
static group *make_groups(const view *v, size_t *out) {
  const ink_host_range **sorted = malloc((v->range_count + 1) * sizeof *sorted);
  group *groups = malloc((v->range_count + 1) * sizeof *groups);
  size_t n = 0;
  for (size_t i = 0; sorted && i < v->range_count; i++)
    sorted[i] = &v->ranges[i];
  if (sorted && v->range_count)
    qsort(sorted, v->range_count, sizeof *sorted, by_name);
  for (size_t i = 0; sorted && groups && i < v->range_count; i++) {
    const ink_host_range *r = sorted[i];
    const int64_t ns = r->end_ns - r->begin_ns;
    if (!i || compare(sorted[i - 1], r))
      groups[n++] = (group){.sample = r};
    group *g = &groups[n - 1];
    g->count++;
    g->total_ns += ns;
    g->max_ns = ns > g->max_ns ? ns : g->max_ns;
    g->launches += r->launches;
    g->kernels += r->kernels;
    g->kernels_ns += r->kernels_ns;
  }
  free(sorted);
  if (groups && n)
    qsort(groups, n, sizeof *groups, by_total);
  *out = n;
  return sorted ? groups : NULL;
}

/* ---- text ---- */

static void warn(FILE *to, uint64_t n, const char *what, const char *words) {
  if (n)
    text_print(to, "%s%s %s%s %s%s\n", style_code(to, STYLE_WARNING), number_whole(n).text, what, number_plural(n), words,
               style_code(to, STYLE_PLAIN));
}

static void head(const view *v, FILE *to) {
  const ink_capture *capture = v->loaded.capture;
  const char *program = ink_capture_fact(capture, "command"), *incomplete = load_incomplete(capture);
  text_print(to, "%s%s%s%s%s%s\n", v->loaded.path, program ? ": " : "", program ? program : "", incomplete ? " (" : "",
             incomplete ? incomplete : "", incomplete ? ")" : "");
  if (!v->facts->events) {
    fputs("no ranges of the host are in it ('inkmark record --nvtx')\n", to);
    return;
  }
  if (ink_capture_simulated(capture))
    text_print(to, "%ssimulated clock: ranges and calls have the host's time, kernels the simulator's%s\n",
               style_code(to, STYLE_WARNING), style_code(to, STYLE_PLAIN));
  text_print(to, "%s of %s launches are joined with the call that made them; %s calls in all\n",
             number_whole(v->facts->launches_joined).text, number_whole(v->launch_count).text, number_whole(v->call_count).text);
  warn(to, v->facts->lost, "event", "of the host did not fit in memory: ranges or calls are missing, or their ends");
  warn(to, v->facts->ends_without_begin, "end", "had no begin");
  warn(to, v->facts->open, "range", "had no end when the recording ended");
}

static const char *const titles[] = {"range", "domain", "kind", "count", "total", "mean", "max", "calls", "kernels", "kernels' time"};

static void put_group(const view *v, text_grid *grid, const group *g) {
  const double unit = v->settings->unit == REPORT_NS ? 1 : 1000;
  const int decimals = v->settings->unit == REPORT_NS ? 0 : 3;
  grid_cell(grid, "%.*s", NAME_SHOWN, *g->sample->name ? g->sample->name : "(no name)");
  grid_cell(grid, "%.*s", NAME_SHOWN, g->sample->domain);
  grid_cell(grid, "%s", kind_word(g->sample));
  grid_cell(grid, "%s", number_whole(g->count).text);
  grid_cell(grid, "%s", number_fraction((double)g->total_ns / unit, decimals).text);
  grid_cell(grid, "%s", number_fraction((double)g->total_ns / unit / (double)g->count, decimals).text);
  grid_cell(grid, "%s", number_fraction((double)g->max_ns / unit, decimals).text);
  grid_cell(grid, "%s", number_whole(g->launches).text);
  grid_cell(grid, "%s", number_whole(g->kernels).text);
  grid_cell(grid, "%s", number_fraction((double)g->kernels_ns / unit, decimals).text);
}

static bool print_text(const view *v, bool follows, FILE *to) {
  size_t n = 0;
  group *groups = make_groups(v, &n);
  text_grid *grid = grid_new();
  const uint64_t most = v->settings->all ? UINT64_MAX : v->settings->top ? v->settings->top : GROUPS_SHOWN;
  if (follows)
    fputc('\n', to);
  head(v, to);
  for (size_t i = 0; grid && i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, i < 3 ? GRID_LEFT : GRID_RIGHT, titles[i]);
  for (size_t i = 0; groups && grid && i < n && i < most; i++)
    put_group(v, grid, &groups[i]);
  bool fine = groups && grid;
  if (fine && n) {
    text_print(to, "\nranges, %s\n", v->settings->unit == REPORT_NS ? "ns" : "us");
    fine = grid_print(grid, to, 2);
  }
  if (n > most)
    text_print(to, "  %s more ('--all')\n", number_whole(n - most).text);
  if (!fine)
    message_say("out of memory");
  grid_free(grid);
  free(groups);
  return fine;
}

/* ---- for programs ---- */

static void json_range(json_writer *json, const ink_host_range *r) {
  char payload[64];
  json_open_flat(json, NULL);
  json_string(json, "kind", kind_word(r));
  json_string(json, "name", r->name);
  json_string(json, "domain", r->domain);
  json_unsigned(json, "thread", r->thread);
  json_unsigned(json, "depth", r->depth);
  json_signed(json, "begin_ns", r->begin_ns);
  json_signed(json, "end_ns", r->end_ns);
  json_bool(json, "open", r->open);
  if (r->category) {
    json_unsigned(json, "category", r->category);
    json_string(json, "category_name", r->category_name);
  }
  if (r->color)
    json_unsigned(json, "color", r->color);
  ink_host_payload_text(r->payload_type, r->payload, payload, sizeof payload);
  if (*payload)
    json_string(json, "payload", payload);
  json_unsigned(json, "calls", r->launches);
  json_unsigned(json, "kernels", r->kernels);
  json_signed(json, "kernels_ns", r->kernels_ns);
  json_close(json, '}');
}

static void json_call(json_writer *json, const ink_host_launch *call) {
  json_open_flat(json, NULL);
  json_string(json, "function", call->function);
  json_bool(json, "graph", call->flags & INK_HOST_GRAPH);
  json_bool(json, "recorded", !(call->flags & INK_HOST_OUTSIDE));
  json_unsigned(json, "thread", call->thread);
  json_signed(json, "device", call->device);
  json_signed(json, "begin_ns", call->begin_ns);
  json_signed(json, "end_ns", call->end_ns);
  json_unsigned(json, "kernels", call->kernels);
  json_close(json, '}');
}

static bool print_json(const view *v, json_writer *json) {
  json_open(json, NULL, '{');
  json_string(json, "file", v->loaded.path);
  json_bool(json, "simulated", ink_capture_simulated(v->loaded.capture));
  json_unsigned(json, "events", v->facts->events);
  json_unsigned(json, "events_lost", v->facts->lost);
  json_unsigned(json, "ends_without_begin", v->facts->ends_without_begin);
  json_unsigned(json, "open", v->facts->open);
  json_unsigned(json, "launches_joined", v->facts->launches_joined);
  json_open(json, "ranges", '[');
  for (size_t i = 0; i < v->range_count; i++)
    json_range(json, &v->ranges[i]);
  json_close(json, ']');
  json_open(json, "calls", '[');
  for (size_t i = 0; i < v->call_count; i++)
    json_call(json, &v->calls[i]);
  json_close(json, ']');
  json_open(json, "launches", '[');
  for (size_t i = 0; i < v->launch_count; i++) {
    const uint32_t call = ink_launch_call(v->loaded.capture, (uint32_t)i);
    json_open_flat(json, NULL);
    json_unsigned(json, "launch", i);
    json_signed(json, "call", call == UINT32_MAX ? -1 : (int64_t)call);
    json_unsigned(json, "blocks", ink_launch_blocks(&v->launches[i]));
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
  return true;
}

static bool print_csv(const view *v, FILE *to) {
  for (size_t i = 0; i < v->range_count; i++) {
    const ink_host_range *r = &v->ranges[i];
    char payload[64];
    ink_host_payload_text(r->payload_type, r->payload, payload, sizeof payload);
    csv_field(to, v->loaded.path);
    text_print(to, ",%s,", kind_word(r));
    csv_field(to, r->name);
    fputc(',', to);
    csv_field(to, r->domain);
    text_print(to, ",%u,%u,%" PRId64 ",%" PRId64 ",%d,%u,", r->thread, r->depth, r->begin_ns, r->end_ns, r->open, r->category);
    csv_field(to, r->category_name);
    text_print(to, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRId64 "\n", payload, r->launches, r->kernels, r->kernels_ns);
  }
  return true;
}

/* ---- all of it ---- */

static bool view_make(const report_settings *settings, const char *path, view *v) {
  *v = (view){.settings = settings};
  if (!load_capture(path, &v->loaded))
    return false;
  v->range_count = ink_capture_host_ranges(v->loaded.capture, &v->ranges);
  v->call_count = ink_capture_host_launches(v->loaded.capture, &v->calls);
  v->launch_count = ink_capture_launches(v->loaded.capture, &v->launches);
  v->facts = ink_capture_host_facts(v->loaded.capture);
  return true;
}

int report_host(const report_settings *settings, char **paths, size_t n) {
  outfile file;
  bool fine = true, follows = false;
  if (!outfile_open_for(&file, settings->output, paths, n))
    return CLI_FAILED;
  json_writer json = {.to = file.stream};
  if (settings->format == REPORT_JSON) {
    json_open(&json, NULL, '{');
    json_unsigned(&json, "schema_version", INK_CLI_SCHEMA_VERSION);
    json_string(&json, "inkmark", INKMARK_VERSION);
    json_open(&json, "captures", '[');
  } else if (settings->format == REPORT_CSV) {
    fputs("file,kind,name,domain,thread,depth,begin_ns,end_ns,open,category,category_name,payload,calls,kernels,kernels_ns\n",
          file.stream);
  }
  for (size_t i = 0; i < n; i++) {
    view v;
    if (!view_make(settings, paths[i], &v)) {
      fine = false;
      continue;
    }
    fine = (settings->format == REPORT_JSON  ? print_json(&v, &json)
            : settings->format == REPORT_CSV ? print_csv(&v, file.stream)
                                             : print_text(&v, follows, file.stream)) && fine;
    follows = true;
    unload_capture(&v.loaded);
  }
  if (settings->format == REPORT_JSON) {
    json_close(&json, ']');
    json_close(&json, '}');
  }
  fine = outfile_close(&file, fine) && fine;
  return fine ? CLI_OK : CLI_FAILED;
}
