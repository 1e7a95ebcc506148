/* SPDX-License-Identifier: MIT */
/* The list of outputs, in the order of --help. */
#include "outputs.h"

#include <string.h>

static const ink_output list[] = {
    {"perfetto", ".pftrace .perfetto-trace .pftrace.gz", "a Perfetto trace, for ui.perfetto.dev",
     ink_write_perfetto},
    {"chrome", ".json .json.gz", "Chrome's trace event JSON", ink_write_chrome},
    {"csv", ".csv .csv.gz", "one row a record", ink_write_csv},
    {"npy", ".npy", "NumPy arrays [track][iteration][section] of cycles, ns and counts",
     ink_write_npy},
    {"json", ".tables.json", "the tables and the clock quality as JSON", ink_write_json},
    {"html", ".html .htm", "one page with tables, curves and lanes, no network needed",
     ink_write_html},
};

size_t ink_outputs(const ink_output **out) {
  *out = list;
  return sizeof list / sizeof *list;
}

const ink_output *ink_output_by_name(const char *name) {
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (!strcmp(list[i].name, name))
      return &list[i];
  return NULL;
}

/* The longest ending wins: run.tables.json is not run.json. */
const ink_output *ink_output_by_path(const char *path) {
  const ink_output *found = NULL;
  size_t path_length = strlen(path), best = 0;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    for (const char *ending = list[i].endings; *ending;) {
      size_t length = strcspn(ending, " ");
      if (length > best && length < path_length &&
          !strncmp(path + path_length - length, ending, length)) {
        found = &list[i];
        best = length;
      }
      ending += length + (ending[length] == ' ');
    }
  }
  return found;
}
