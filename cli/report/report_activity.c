/* SPDX-License-Identifier: MIT */
/* `inkmark report --activity`: each capture's view, as text, JSON or CSV. */
#include "report_activity.h"

#include "commands.h"
#include "outfile.h"

int report_activity(const report_settings *settings, char **paths, size_t n) {
  outfile file;
  bool fine = true, follows = false;
  if (!outfile_open_for(&file, settings->output, paths, n))
    return CLI_FAILED;
  report_sink sink = {.to = file.stream};
  if (settings->format == REPORT_JSON)
    report_json_begin(&sink);
  else if (settings->format == REPORT_CSV)
    activity_csv_begin(file.stream);
  for (size_t i = 0; i < n; i++) {
    activity_view view;
    if (!activity_view_make(settings, paths[i], &view)) {
      fine = false;
      continue;
    }
    fine = (settings->format == REPORT_JSON  ? activity_json(&view, &sink.json)
            : settings->format == REPORT_CSV ? activity_csv(&view, file.stream)
                                             : activity_text(&view, follows, file.stream)) &&
           fine;
    follows = true;
    activity_view_free(&view);
  }
  if (settings->format == REPORT_JSON)
    report_json_end(&sink);
  fine = outfile_close(&file, fine) && fine;
  return fine ? CLI_OK : CLI_FAILED;
}
