/* SPDX-License-Identifier: MIT */
/* Decides what will run and where: the program on the PATH, the library beside this command, a GPU
 * or the simulated device, the capture's name. */
#include "record.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join(const char *folder, const char *name) {
  char *path;
  if (asprintf(&path, "%s/%s", folder, name) < 0)
    return NULL;
  return path;
}

static bool is_file(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* The program as execvp would find it. 0, 126 or 127 after a message. */
static int find_program(const char *name, char **out) {
  const char *path = getenv("PATH");
  bool seen = false;
  if (strchr(name, '/') || !path) {
    *out = strdup(name);
    if (!*out)
      return CLI_FAILED;
    seen = !access(name, F_OK);
    if (is_file(name) && !access(name, X_OK))
      return 0;
  }
  for (; path && !strchr(name, '/') && *path; path += strcspn(path, ":"), path += *path == ':') {
    char *folder = strndup(path, strcspn(path, ":"));
    char *candidate = folder ? join(*folder ? folder : ".", name) : NULL;
    free(folder);
    if (!candidate)
      return CLI_FAILED;
    if (is_file(candidate)) {
      seen = true;
      if (!access(candidate, X_OK)) {
        *out = candidate;
        return 0;
      }
    }
    free(candidate);
  }
  struct stat status;
  if (!seen)
    message_say("cannot run '%s': no such program%s", name,
                !strchr(name, '/') && is_file(name) ? " on the PATH, did you mean './'?" : "");
  else if (!stat(name, &status) && S_ISDIR(status.st_mode))
    message_say("cannot run '%s': is a directory", name);
  else
    message_say("cannot run '%s': not executable", name);
  return seen ? 126 : 127;
}

/* `name` under the folder of this command: as installed, else as in the build tree. */
char *record_find_beside(const char *installed, const char *built) {
  const char *const candidates[] = {installed, built};
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0)
    return NULL;
  self[n] = 0;
  const char *folder = dirname(self);
  for (size_t i = 0; i < 2; i++) {
    char *path = join(folder, candidates[i]);
    char *real = path ? realpath(path, NULL) : NULL;
    free(path);
    if (real)
      return real;
  }
  return NULL;
}

bool record_gpu_is_here(void) {
  /* the driver's control device; the paravirtual one of WSL; the integrated ones of Jetson */
  static const char *const nodes[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu",
                                      "/dev/nvgpu"};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
    if (!access(nodes[i], F_OK))
      return true;
  return false;
}

/* Whether the entries of a runtime inside of the program can be made jumps: device/sim/audit_static.c. */
#if defined(__x86_64__)
enum { CAN_REDIRECT = 1 };
#else
enum { CAN_REDIRECT = 0 };
#endif

/* A device that can run this program, or a message. */
static bool choose_device(record_plan *plan) {
  const char *program = plan->program;
  plan->gpu_here = record_gpu_is_here();
  int device = plan->settings->device;
  if (device == DEVICE_GPU && !plan->gpu_here) {
    message_say("no NVIDIA GPU is here; '--device sim' records on the simulated device");
    return false;
  }
  if (device == DEVICE_GPU || (device == DEVICE_AUTO && plan->gpu_here))
    return true;
  char *runtime = record_find_beside(INKMARK_BIN_TO_LIB "/inkmark/sim/libcudart.so.13",
                              "../device/sim/libcudart.so.13");
  if (!runtime) {
    message_say("%sthe simulated device is not installed with this inkmark",
                plan->gpu_here ? "" : "no NVIDIA GPU is here, and ");
    return false;
  }
  *strrchr(runtime, '/') = 0;
  plan->sim_folder = runtime;
  plan->simulates = true;
  const elf_probe *probe = &plan->probe;
  if (probe->elf && probe->device_code && !probe->cudart[0] && !CAN_REDIRECT) {
    message_say("'%s' has the CUDA runtime linked in statically, and only on x86-64 can the simulated device "
                "replace that runtime: build the program with nvcc -cudart shared (CMake: CUDA_RUNTIME_LIBRARY "
                "Shared)",
                program);
    return false;
  }
  if (probe->elf && probe->device_code && !probe->cudart[0] && !probe->symbols) {
    message_say("'%s' has the CUDA runtime linked in statically and is stripped of its symbols, so the simulated device "
                "cannot run it: do not strip it, or build it with nvcc -cudart shared (CMake: CUDA_RUNTIME_LIBRARY "
                "Shared)",
                program);
    return false;
  }
  if (probe->cudart[0] && strcmp(probe->cudart, "libcudart.so.13")) {
    message_say("'%s' needs %s, and the simulated device stands in for libcudart.so.13 only: build "
                "it with CUDA 13",
                program, probe->cudart);
    return false;
  }
  return true;
}

/* "PROGRAM.%p.ink", with every % of the program's name doubled. */
static char *default_output(const char *program) {
  const char *name = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
  char *text = malloc(strlen(name) * 2 + sizeof ".%p.ink"), *to = text;
  if (!text)
    return NULL;
  for (; *name; name++) {
    if (*name == '%')
      *to++ = '%';
    *to++ = *name;
  }
  memcpy(to, ".%p.ink", sizeof ".%p.ink");
  return text;
}

/* Something that is no capture has the name: it is not taken for an old one. */
static bool is_of_another_kind(const char *output, const char *name) {
  static const char begin[] = {'\x89', 'I', 'N', 'K'}; /* of every capture: docs/format.md */
  char head[sizeof begin];
  struct stat status;
  const bool is_file = !strchr(output, '%') && !stat(output, &status) && S_ISREG(status.st_mode);
  FILE *file = is_file ? fopen(output, "rb") : NULL;
  if (!file)
    return false;
  const size_t n = fread(head, 1, sizeof head, file);
  fclose(file);
  if (!n || (n == sizeof head && !memcmp(head, begin, sizeof head)))
    return false;
  message_say("'%s' exists and is no capture: it is not overwritten", name ? name : output);
  return true;
}

/* Whether a file can be made in a folder, which its bits alone do not tell: one without a name, or where there are none,
 * one that nobody else has. A disk that is full may have room later. */
static bool can_create(const char *folder) {
  char *path = NULL;
  int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT) &&
      asprintf(&path, "%s/.inkmark-%ld-XXXXXX", folder, (long)getpid()) >= 0 && (fd = mkostemp(path, O_CLOEXEC)) >= 0)
    unlink(path);
  const int code = errno;
  if (fd >= 0)
    close(fd);
  free(path);
  errno = code;
  return fd >= 0 || code == ENOSPC;
}

/* 0, or why a link that leads to no file cannot become one: the writer makes the file that it leads to. */
static int why_no_target(const char *link) {
  struct stat status;
  if (lstat(link, &status) || !S_ISLNK(status.st_mode) || !stat(link, &status))
    return 0;
  const int fd = open(link, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), code = errno;
  if (fd < 0)
    return code;
  char *made = realpath(link, NULL);
  if (made)
    unlink(made);
  free(made);
  close(fd);
  return 0;
}

/* 0, or why a file of that name cannot be made in a folder where files can be. */
static int why_no_file(const char *output) {
  struct stat status;
  if (output[0] && output[strlen(output) - 1] == '/')
    return EISDIR;
  if (strchr(output, '%'))
    return 0;
  return !stat(output, &status) && S_ISDIR(status.st_mode) ? EISDIR : why_no_target(output);
}

/* The folder part of a template that has no '%' in it must be there and be writable. `name` is what
 * the user wrote, or NULL. */
static bool check_folder(const char *output, const char *name) {
  char *copy = strdup(output);
  struct stat status;
  if (!copy)
    return false;
  const char *folder = dirname(copy);
  bool fine = true;
  if (!strchr(folder, '%')) {
    fine = !access(folder, W_OK | X_OK) && (!stat(output, &status) || can_create(folder));
    const char *slash = name ? strrchr(name, '/') : NULL;
    if (!fine && slash)
      message_say("cannot write to the folder '%.*s': %s", (int)(slash - name + (slash == name)), name,
                  message_errno(errno));
    else if (!fine)
      message_say("cannot write to the current folder, '%s': %s", folder, message_errno(errno));
    const int why = fine ? why_no_file(output) : 0;
    if (why)
      message_say("cannot write '%s': %s", name ? name : output, message_errno(why));
    fine = fine && !why;
  }
  free(copy);
  return fine;
}

static bool choose_output(record_plan *plan) {
  char *name =
      plan->settings->output ? strdup(plan->settings->output) : default_output(plan->program);
  char here[PATH_MAX];
  if (name && name[0] != '/') {
    if (!getcwd(here, sizeof here)) {
      message_say("cannot tell the current folder: %s", message_errno(errno));
      free(name);
      return false;
    }
    /* a % in the folder's own name must not be taken for one of ours */
    char *escaped = malloc(strlen(here) * 2 + strlen(name) + 2), *to = escaped;
    for (const char *at = here; escaped && *at; at++) {
      if (*at == '%')
        *to++ = '%';
      *to++ = *at;
    }
    if (escaped)
      sprintf(to, "/%s", name);
    free(name);
    name = escaped;
  }
  plan->output = name;
  if (!name) {
    message_say("out of memory");
    return false;
  }
  return check_folder(name, plan->settings->output) &&
         !is_of_another_kind(name, plan->settings->output);
}

/* A path through plan->links to the file or folder at `path`, which is freed; NULL after a message.
 */
static char *path_by_link(record_plan *plan, char *path, const char *name) {
  char *link = NULL, *slash = strrchr(path, '/'), *through = NULL;
  if (!plan->links && (plan->links = strdup("/tmp/inkmark-XXXXXX")) && !mkdtemp(plan->links)) {
    free(plan->links);
    plan->links = NULL;
  }
  if (plan->links && slash && asprintf(&link, "%s/%s", plan->links, name) >= 0) {
    *slash = 0;
    if (symlink(path, link) || asprintf(&through, "%s/%s", link, slash + 1) < 0)
      through = NULL;
    *slash = '/';
  }
  if (!through)
    message_say("cannot make a link to '%s', whose path has a space or a colon: %s", path,
                message_errno(errno));
  free(link);
  free(path);
  return through;
}

/* The loader takes spaces, colons and semicolons in LD_PRELOAD and LD_LIBRARY_PATH for separators:
 * paths that have any are reached through a link. */
static bool choose_paths(record_plan *plan) {
  static const char separators[] = " :;";
  if (strpbrk(plan->library, separators)) /* the folder is linked: the library's own is beside it */
    plan->library = path_by_link(plan, plan->library, "lib");
  if (plan->library && plan->sim_folder && strpbrk(plan->sim_folder, separators))
    plan->sim_folder = path_by_link(plan, plan->sim_folder, "sim");
  return plan->library && (plan->sim_folder || !plan->simulates);
}

int record_plan_make(const record_settings *settings, const char *program, record_plan *plan) {
  *plan = (record_plan){.settings = settings, .control = -1};
  int code = find_program(program, &plan->program);
  if (code)
    return code;
  plan->probe = elf_probe_file(plan->program);
  plan->library =
      record_find_beside(INKMARK_BIN_TO_LIB "/libinkmark-preload.so", "../runtime/libinkmark-preload.so");
  if (!plan->library) {
    message_say("cannot find libinkmark-preload.so beside this command");
    return CLI_FAILED;
  }
  if (record_why_unloadable(plan, program))
    return CLI_FAILED;
  if (!choose_device(plan) || !choose_output(plan) || !choose_paths(plan))
    return CLI_FAILED;
  return CLI_OK;
}

void record_plan_free(record_plan *plan) {
  record_writer_free(plan);
  static const char *const names[] = {"lib", "sim"};
  for (size_t i = 0; plan->links && i < 2; i++) {
    char *link = join(plan->links, names[i]);
    if (link)
      unlink(link);
    free(link);
  }
  if (plan->links)
    rmdir(plan->links);
  free(plan->links);
  free(plan->program);
  free(plan->output);
  free(plan->library);
  free(plan->sim_folder);
}
