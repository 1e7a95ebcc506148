/* SPDX-License-Identifier: MIT */
/* From a file to a verdict: runs NVIDIA's disassembler, parses what it prints, judges every function
 * with stamps, and writes the listing again with the stamps named. */
#include "verify_private.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <regex.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- finding and running the tools ---- */

static char *executable(const char *folder, const char *name) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s", folder, name) < 0)
    return NULL;
  if (access(path, X_OK) == 0)
    return path;
  free(path);
  return NULL;
}

static char *find_tool(const char *name, const char *variable, ink_error *error) {
  const char *named = getenv(variable);
  if (named && *named)
    return strdup(named);
  char *folders = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = folders, *found = NULL;
  for (char *folder; folders && !found && (folder = strsep(&rest, ":"));)
    found = *folder ? executable(folder, name) : NULL;
  free(folders);
  const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  for (size_t i = 0; i < 3 && !found; i++) {
    char folder[PATH_MAX];
    if (homes[i] && snprintf(folder, sizeof folder, "%s/bin", homes[i]) < (int)sizeof folder)
      found = executable(folder, name);
  }
  if (!found)
    ink_error_set(error, INK_ERROR_NOT_FOUND,
                  "cannot find %s: it comes with the CUDA toolkit, or pip install nvidia-cuda-%s and "
                  "set %s to its path", name, name, variable);
  return found;
}

/* Reads what `argv` prints; NULL when it cannot be run or fails. */
static char *run(char *const argv[], const char *folder, size_t *bytes, ink_error *error) {
  int ends[2], status = 0;
  pid_t child;
  posix_spawn_file_actions_t actions;
  if (pipe2(ends, O_CLOEXEC)) {
    ink_error_set(error, INK_ERROR_IO, "cannot make a pipe: %s", strerror(errno));
    return NULL;
  }
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  if (folder)
    posix_spawn_file_actions_addchdir_np(&actions, folder);
  const int code = posix_spawn(&child, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  size_t room = 1 << 16, used = 0;
  char *text = code ? NULL : malloc(room);
  for (ssize_t n = 1; text && n > 0; used += n > 0 ? (size_t)n : 0) {
    if (used + 1 >= room) {
      char *grown = realloc(text, room *= 2);
      if (!grown)
        free(text);
      text = grown;
    }
    n = text ? read(ends[0], text + used, room - used - 1) : 0;
  }
  close(ends[0]);
  if (!code)
    waitpid(child, &status, 0);
  if (code || !text || !WIFEXITED(status) || WEXITSTATUS(status)) {
    free(text);
    ink_error_set(error, INK_ERROR_UNSUPPORTED, code ? "cannot run '%s': %s" : "'%s' failed%s",
                  argv[0], code ? strerror(code) : " on this file");
    return NULL;
  }
  text[used] = 0;
  *bytes = used;
  return text;
}

/* ---- one listing ---- */

static bool is_wanted(ink_verify *v, const regex_t *regex, const char *name) {
  return regexec(regex, name, 0, NULL, 0) == 0 || regexec(regex, ink_v_demangle(v, name), 0, NULL, 0) == 0;
}

static ink_status judge_all(ink_verify *v, const ink_verify_options *options, ink_error *error) {
  regex_t regex;
  const bool filtered = options && options->kernel_regex;
  if (filtered && regcomp(&regex, options->kernel_regex, REG_EXTENDED | REG_NOSUB))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "'%s' is no regular expression",
                         options->kernel_regex);
  ink_status status = INK_OK;
  bool any_lines = false;
  for (size_t i = 0; i < v->function_count && !status; i++) {
    const v_function f = v->functions[i];
    v_stamp *stamps;
    size_t count;
    any_lines = any_lines || f.has_lines;
    if (filtered && !is_wanted(v, &regex, f.name))
      continue;
    status = ink_v_find_stamps(v, &f, &stamps, &count, error);
    if (!status && (count || (options && options->without_stamps)))
      status = ink_v_judge(v, &f, stamps, count, options, error);
    free(stamps);
  }
  if (filtered)
    regfree(&regex);
  if (!status && v->kernel_count == 0)
    return any_lines || (options && options->without_stamps) ? ink_error_set(error, INK_ERROR_EMPTY, "no mark in this machine code")
                     : ink_error_set(error, INK_ERROR_EMPTY,
                                     "the machine code has no line information: build with -lineinfo");
  return status;
}

/* Of each section's function and those behind it. */
static ink_status map_all(ink_verify *v, const ink_verify_options *options, ink_error *error) {
  regex_t regex;
  const bool filtered = options->kernel_regex != NULL;
  if (filtered && regcomp(&regex, options->kernel_regex, REG_EXTENDED | REG_NOSUB))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "'%s' is no regular expression", options->kernel_regex);
  ink_status status = INK_OK;
  for (size_t first = 0, end; first < v->function_count && !status; first = end) {
    for (end = first + 1; end < v->function_count && v->functions[end].called; end++)
      ;
    if (!filtered || is_wanted(v, &regex, v->functions[first].name))
      status = ink_v_add_map(v, v->functions + first, end - first, options->without_stamps, error);
  }
  if (filtered)
    regfree(&regex);
  return status;
}

/* Takes over the text and the hashes. */
static ink_verify *adopt(char *text, size_t bytes, ink_v_hashes *hashes, const ink_verify_options *options,
                         ink_status *status, ink_error *error) {
  ink_verify *v = calloc(1, sizeof *v);
  if (!v) {
    free(text);
    if (hashes)
      ink_v_free_hashes(hashes);
    *status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the listing");
    return NULL;
  }
  v->text = text;
  v->text_bytes = bytes;
  if (hashes)
    v->hashes = *hashes;
  *status = ink_v_parse(v, error);
  if (!*status)
    *status = ink_v_scan_sources(v, error);
  if (!*status)
    *status = judge_all(v, options, error);
  if (!*status && options && options->map)
    *status = map_all(v, options, error);
  if (*status) {
    ink_verify_free(v);
    return NULL;
  }
  return v;
}

ink_status ink_verify_listing(const char *text, size_t bytes, const ink_verify_options *options,
                              ink_verify **out, ink_error *error) {
  char *copy = malloc(bytes + 1);
  if (!copy)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the listing");
  memcpy(copy, text, bytes);
  copy[bytes] = 0;
  ink_status status;
  ink_verify *v = adopt(copy, bytes, NULL, options, &status, error);
  if (v)
    *out = v;
  return status;
}

/* ---- files ---- */

static bool is_cubin(const char *path) {
  unsigned char head[20] = {0};
  FILE *file = fopen(path, "rb");
  const size_t n = file ? fread(head, 1, sizeof head, file) : 0;
  if (file)
    fclose(file);
  return n == sizeof head && memcmp(head, "\177ELF", 4) == 0 && head[18] == 190 && head[19] == 0;
}

static ink_status check_readable(const char *path, ink_error *error) {
  struct stat status;
  if (stat(path, &status) || access(path, R_OK))
    return ink_error_set(error, INK_ERROR_IO, "cannot open '%s': %s", path, strerror(errno));
  if (S_ISDIR(status.st_mode))
    return ink_error_set(error, INK_ERROR_IO, "cannot read '%s': it is a directory", path);
  return status.st_size ? INK_OK : ink_error_set(error, INK_ERROR_EMPTY, "'%s' is empty", path);
}

/* Appends the listing of one cubin, and the hashes of its code. */
static ink_status append_listing(const char *nvdisasm, const char *cubin, char **text,
                                 size_t *bytes, ink_v_hashes *hashes, ink_error *error) {
  char *const argv[] = {(char *)nvdisasm, "-gi", "-c", (char *)cubin, NULL};
  size_t more = 0;
  char *listing = run(argv, NULL, &more, error);
  char *joined = listing ? realloc(*text, *bytes + more + 2) : NULL;
  if (!joined) {
    free(listing);
    return INK_ERROR_UNSUPPORTED;
  }
  memcpy(joined + *bytes, listing, more);
  *bytes += more;
  joined[(*bytes)++] = '\n';
  joined[*bytes] = 0;
  *text = joined;
  free(listing);
  return ink_v_hash_cubin(hashes, cubin, error);
}

/* Takes the cubins out into a folder of its own; appends the listing of each. */
static ink_status list_program(const char *path, const char *nvdisasm, char **text, size_t *bytes,
                               ink_v_hashes *hashes, ink_error *error) {
  char folder[] = "/tmp/inkmark-verify-XXXXXX", pattern[sizeof folder + 16], *full = NULL;
  char *cuobjdump = find_tool("cuobjdump", "INKMARK_CUOBJDUMP", error);
  if (!cuobjdump)
    return INK_ERROR_NOT_FOUND;
  full = realpath(path, NULL);
  if (!full || !mkdtemp(folder)) {
    free(full);
    free(cuobjdump);
    return ink_error_set(error, INK_ERROR_IO, "cannot make a folder in /tmp: %s", strerror(errno));
  }
  char *const argv[] = {cuobjdump, "-xelf", "all", full, NULL};
  size_t ignored;
  free(run(argv, folder, &ignored, NULL)); /* what it took out says how it went */
  glob_t cubins = {0};
  snprintf(pattern, sizeof pattern, "%s/*.cubin", folder);
  ink_status status = INK_OK;
  if (glob(pattern, 0, NULL, &cubins))
    status = ink_error_set(error, INK_ERROR_UNSUPPORTED,
                           "'%s' has no machine code that could be taken out: build with "
                           "-arch=sm_XX -lineinfo (PTX alone has no machine code)", path);
  for (size_t i = 0; i < cubins.gl_pathc; i++) {
    if (!status)
      status = append_listing(nvdisasm, cubins.gl_pathv[i], text, bytes, hashes, error);
    unlink(cubins.gl_pathv[i]);
  }
  globfree(&cubins);
  rmdir(folder);
  free(full);
  free(cuobjdump);
  return status;
}

ink_status ink_verify_file(const char *path, const ink_verify_options *options, ink_verify **out,
                           ink_error *error) {
  ink_status status = check_readable(path, error);
  if (status)
    return status;
  char *nvdisasm = find_tool("nvdisasm", "INKMARK_NVDISASM", error);
  if (!nvdisasm)
    return INK_ERROR_NOT_FOUND;
  char *text = NULL;
  size_t bytes = 0;
  ink_v_hashes hashes = {0};
  status = is_cubin(path) ? append_listing(nvdisasm, path, &text, &bytes, &hashes, error)
                          : list_program(path, nvdisasm, &text, &bytes, &hashes, error);
  free(nvdisasm);
  ink_verify *v = NULL;
  if (status) {
    free(text);
    ink_v_free_hashes(&hashes);
  } else {
    v = adopt(text, bytes, &hashes, options, &status, error);
  }
  if (v)
    *out = v;
  return status;
}

/* ---- results ---- */

size_t ink_verify_kernels(const ink_verify *v, const ink_verify_kernel **out) {
  *out = v->kernels;
  return v->kernel_count;
}

size_t ink_verify_maps(const ink_verify *v, const ink_verify_map **out) {
  *out = v->maps;
  return v->map_count;
}

const char *ink_verify_text(const ink_verify *v, size_t *bytes) {
  *bytes = v->text_bytes;
  return v->text;
}

void ink_verify_free(ink_verify *v) {
  if (!v)
    return;
  for (size_t i = 0; i < v->function_count; i++) {
    free(v->functions[i].name);
    free(v->functions[i].target);
  }
  for (size_t i = 0; i < v->file_count; i++)
    free(v->files[i]);
  for (size_t i = 0; v->lines && i < v->file_count; i++)
    free(v->lines[i].of);
  free(v->lines);
  for (size_t i = 0; i < v->string_count; i++)
    free(v->strings[i]);
  free(v->strings);
  ink_v_free_hashes(&v->hashes);
  if (v->cxx_library)
    dlclose(v->cxx_library);
  free(v->maps);
  free(v->files);
  free(v->functions);
  free(v->frames);
  free(v->instructions);
  free(v->labels);
  free(v->kernels);
  free(v->marks);
  free(v->macros);
  free(v->tables);
  free(v->text);
  free(v);
}
