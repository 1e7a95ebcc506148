/* SPDX-License-Identifier: MIT */
/* Opening captures for the commands that read them. */
#include "load.h"

#include "message.h"

#include <sys/stat.h>

bool load_capture(const char *path, loaded_capture *out) {
  ink_error error = {0};
  struct stat file;
  *out = (loaded_capture){.path = path};
  if (!stat(path, &file) && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode)) {
    message_say("cannot read '%s': a capture is mapped, and this is not a regular file", path);
    return false; /* opening a pipe would wait for a writer */
  }
  ink_status status = ink_capture_open(path, &out->capture, &error);
  if (!status)
    status = ink_clock_map_make(out->capture, &out->map, &error);
  if (status) {
    error.status = status;
    message_failure(&error);
    unload_capture(out);
    return false;
  }
  const ink_capture_facts *facts = ink_capture_get_facts(out->capture);
  if (facts->note[0])
    message_say("'%s': %s", path, facts->note);
  return true;
}

void unload_capture(loaded_capture *loaded) {
  ink_clock_map_free(loaded->map);
  ink_capture_free(loaded->capture);
  loaded->map = NULL;
  loaded->capture = NULL;
}

bool load_check_launch(const loaded_capture *loaded, uint64_t launch) {
  const ink_launch *launches;
  size_t n = ink_capture_launches(loaded->capture, &launches);
  if (launch == UINT64_MAX || launch < n)
    return true;
  if (n)
    message_say("no launch %llu in '%s': its launches are 0 to %zu", (unsigned long long)launch,
                loaded->path, n - 1);
  else
    message_say("no launch %llu in '%s': it holds none", (unsigned long long)launch, loaded->path);
  return false;
}

const char *load_section_name(const loaded_capture *loaded, ink_section_index section) {
  const ink_section *sections;
  size_t n = ink_capture_sections(loaded->capture, &sections);
  return section < n ? sections[section].name : "(unmarked)";
}
