/* SPDX-License-Identifier: MIT */
/* Fuzzes the reader of JSON traces and the conversion of whatever it accepts. */
#include "fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_file input;

static ink_status second_pass(convert *c, void *user) {
  const convert_progress progress = {0};
  ink_error error = {0};
  ink_status status = convert_json(c, input.path, &progress, user, &error);
  fuzz_failed(status, &error);
  return status;
}

static void read_and_convert(bool base_known) {
  ink_foreign *foreign = calloc(1, sizeof *foreign);
  convert_notes *notes = convert_notes_new();
  ink_error error = {0};
  FUZZ_CHECK(foreign && notes);
  notes->base_known = base_known;
  const foreign_listener listener = convert_notes_listener(notes);
  const foreign_reading how = {.listener = &listener};
  ink_status status = ink_kineto_read(foreign, input.path, &how, &error);
  fuzz_failed(status, &error);
  if (status == INK_OK) {
    /* the bracket that closes the events is in the file, or will be behind it */
    const json_edits *edits = &foreign->edits;
    const bool unclosed = edits->count && *edits->list[edits->count - 1].put == ']';
    FUZZ_CHECK(base_known || foreign->events_end + !unclosed <= foreign->facts.bytes);
    if (base_known || convert_notes_fit(notes, foreign->facts.base_ns)) {
      /* a file that does not change must give the same twice */
      status = fuzz_convert(&notes->c, "/dev/null", second_pass, &notes->report);
      FUZZ_CHECK(status == INK_OK || status == INK_ERROR_LIMIT);
    }
  }
  convert_notes_free(notes);
  ink_foreign_free(foreign);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ink_foreign *foreign = NULL;
  ink_error error = {0};
  fuzz_put(&input, data, size);
  ink_status status = ink_foreign_open(input.path, &foreign, &error);
  fuzz_failed(status, &error);
  ink_foreign_free(foreign);
  read_and_convert(false);
  read_and_convert(true);
  return 0;
}
