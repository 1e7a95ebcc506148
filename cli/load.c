/* SPDX-License-Identifier: MIT */
/* Opening captures for the commands that read them. */
#include "load.h"

#include "message.h"
#include "options.h"

#include <dirent.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool load_capture_quietly(const char *path, loaded_capture *out) {
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
  return true;
}

bool load_capture(const char *path, loaded_capture *out) {
  if (!load_capture_quietly(path, out))
    return false;
  const ink_capture_facts *facts = ink_capture_get_facts(out->capture);
  if (facts->note[0])
    message_say("'%s': %s", path, facts->note);
  return true;
}

/* Of two of the same time the last by name: process ids rise. */
char *load_newest(void) {
  DIR *folder = opendir(".");
  char *newest = NULL;
  struct timespec at = {0, 0};
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    struct stat file;
    const size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 4, ".ink") || stat(entry->d_name, &file) ||
        !S_ISREG(file.st_mode))
      continue;
    const struct timespec its = file.st_mtim;
    const bool later = its.tv_sec != at.tv_sec ? its.tv_sec > at.tv_sec : its.tv_nsec > at.tv_nsec;
    const bool same = its.tv_sec == at.tv_sec && its.tv_nsec == at.tv_nsec;
    if (newest && !later && !(same && strcmp(entry->d_name, newest) > 0))
      continue;
    free(newest);
    newest = strdup(entry->d_name);
    at = its;
  }
  if (folder)
    closedir(folder);
  if (!newest)
    message_say("no capture (*.ink) in this folder: name one");
  return newest;
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

/* ---- kernels by name ---- */

void load_say_no_match(const char *path, const char *regex, const char *const *names, size_t n) {
  char list[1024];
  if (cli_list_near(regex, names, n, list, sizeof list))
    message_say("no kernel matches '%s' in '%s', which has %s", regex, path, list);
  else
    message_say("no kernel matches '%s' in '%s', which holds none", regex, path);
}

/* False after a message: none of the kernels, or not that of the launch, is let through. */
static bool check_kernels(const loaded_capture *loaded, const char *regex, uint64_t launch) {
  const ink_kernel *kernels;
  const ink_launch *launches;
  size_t n = ink_capture_kernels(loaded->capture, &kernels);
  const char **names = malloc((n + 1) * sizeof *names);
  regex_t compiled;
  bool found = false;
  if (!names || regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB)) {
    free(names);
    return true; /* the command has checked it, so memory ran out: whoever uses it says so */
  }
  for (size_t i = 0; i < n; i++) {
    names[i] = kernels[i].name;
    found |= !regexec(&compiled, kernels[i].name, 0, NULL, 0);
  }
  if (!found)
    load_say_no_match(loaded->path, regex, names, n);
  else if (launch < ink_capture_launches(loaded->capture, &launches) &&
           regexec(&compiled, kernels[launches[launch].kernel].name, 0, NULL, 0)) {
    message_say("launch %llu in '%s' is of kernel '%s', which '%s' does not match",
                (unsigned long long)launch, loaded->path, kernels[launches[launch].kernel].name,
                regex);
    found = false;
  }
  regfree(&compiled);
  free(names);
  return found;
}

bool load_check_choice(const loaded_capture *loaded, const char *regex, uint64_t launch) {
  return load_check_launch(loaded, launch) && (!regex || check_kernels(loaded, regex, launch));
}

/* ---- tracks ---- */

const char *load_track_place(const loaded_capture *loaded, uint64_t index, char *text) {
  const ink_kernel *kernels;
  const ink_device_info *devices;
  ink_stored_track track;
  char label[160];
  ink_capture_track(loaded->capture, index, &track);
  ink_capture_kernels(loaded->capture, &kernels);
  ink_track_label(&track, label, sizeof label);
  size_t n = (size_t)snprintf(text, LOAD_PLACE_BYTES, "kernel %.100s, launch %" PRIu32,
                              kernels[track.kernel].name, track.launch);
  if (ink_capture_devices(loaded->capture, &devices) > 1)
    n += (size_t)snprintf(text + n, LOAD_PLACE_BYTES - n, " on device %d", track.device);
  snprintf(text + n, LOAD_PLACE_BYTES - n, ", %s", label);
  return text;
}

bool load_open_track(const loaded_capture *loaded, uint64_t *out) {
  uint64_t n = ink_capture_track_count(loaded->capture);
  for (uint64_t i = 0; i < n; i++) {
    ink_stored_track track;
    ink_capture_track(loaded->capture, i, &track);
    if (track.header.state == INK_TRACK_CLOSED)
      continue;
    *out = i;
    return true;
  }
  return false;
}

const char *load_section_name(const loaded_capture *loaded, ink_section_index section) {
  const ink_section *sections;
  size_t n = ink_capture_sections(loaded->capture, &sections);
  return section < n ? sections[section].name : "(unmarked)";
}

const char *load_incomplete(const ink_capture *capture) {
  if (ink_capture_get_facts(capture)->complete)
    return NULL;
  if (ink_capture_fact(capture, "recovered"))
    return "recovered";
  return ink_capture_fact(capture, "write_failure") ? "a write failed"
         : ink_capture_fact(capture, "unfinished")  ? "the recording did not end"
                                                    : "the end is missing";
}
