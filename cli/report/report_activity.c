/* SPDX-License-Identifier: MIT */
/* `inkmark report --activity`: each capture's view, as text, JSON or CSV. */
#include "report_activity.h"

#include "commands.h"
#include "outfile.h"

static void json_begin(json_writer *json) {
  json_open(json, NULL, '{');
  json_unsigned(json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_string(json, "inkmark", INKMARK_VERSION);
  json_open(json, "captures", '[');
}

static void json_end(json_writer *json) {
  json_close(json, ']');
  json_close(json, '}');
}

int report_activity(const report_settings *settings, char **paths, size_t n) {
  outfile file;
  bool fine = true, follows = false;
  if (!outfile_open_for(&file, settings->output, paths, n))
    return CLI_FAILED;
  json_writer json = {.to = file.stream};
  if (settings->format == REPORT_JSON)
    json_begin(&json);
  else if (settings->format == REPORT_CSV)
    activity_csv_begin(file.stream);
  for (size_t i = 0; i < n; i++) {
    activity_view view;
    if (!activity_view_make(settings, paths[i], &view)) {
      fine = false;
      continue;
    }
    fine = (settings->format == REPORT_JSON  ? activity_json(&view, &json)
            : settings->format == REPORT_CSV ? activity_csv(&view, file.stream)
                                             : activity_text(&view, follows, file.stream)) &&
           fine;
    follows = true;
    activity_view_free(&view);
  }
  if (settings->format == REPORT_JSON)
    json_end(&json);
  fine = outfile_close(&file, fine) && fine;
  return fine ? CLI_OK : CLI_FAILED;
}
