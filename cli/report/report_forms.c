/* SPDX-License-Identifier: MIT */
/* Reports that are no tables: of each capture in turn, as text or as one JSON object. */
#include "report.h"

#include "commands.h"
#include "outfile.h"
#include "text_out.h"

int report_in_forms(const report_settings *settings, char **paths, size_t n, report_one *one_file) {
  outfile file;
  bool fine = true;
  if (!outfile_open_for(&file, settings->output, paths, n))
    return CLI_FAILED;
  json_writer json = {.to = file.stream};
  const bool is_json = settings->format == REPORT_JSON;
  if (is_json) {
    json_open(&json, NULL, '{');
    json_unsigned(&json, "schema_version", INK_CLI_SCHEMA_VERSION);
    json_string(&json, "inkmark", INKMARK_VERSION);
    json_open(&json, "captures", '[');
  }
  for (size_t i = 0; i < n; i++) {
    if (i && !is_json)
      text_print(file.stream, "\n");
    fine = one_file(settings, paths[i], is_json ? &json : NULL, file.stream) && fine;
  }
  if (is_json) {
    json_close(&json, ']');
    json_close(&json, '}');
  }
  fine = outfile_close(&file, fine) && fine;
  return fine ? CLI_OK : CLI_FAILED;
}
