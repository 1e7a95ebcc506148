/* SPDX-License-Identifier: MIT */
/* The JSON output: the summary object, for scripts. */
#include "outputs.h"
#include "summary_json.h"

ink_status ink_write_json(const ink_capture *capture, const ink_clock_map *map,
                          const ink_output_options *options, const char *path, ink_error *error) {
  ink_selection selection;
  ink_table *table = NULL;
  ink_file file = {.fd = -1};
  ink_status status = ink_selection_make(&selection, capture, map, options, error);
  if (status == INK_OK)
    status = ink_selection_table(&selection, INK_BY_SECTION, &table, error);
  if (status == INK_OK)
    status = ink_file_open_utf8(&file, path, error);
  if (status == INK_OK) {
    ink_summary_json(&file, &selection, table);
    ink_file_text(&file, "\n");
    status = ink_file_close(&file, error);
  }
  ink_file_abandon(&file);
  ink_table_free(table);
  ink_selection_free(&selection);
  return status;
}
