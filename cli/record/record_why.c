/* SPDX-License-Identifier: MIT */
/* Why a recording cannot reach the program, or reaches it only later: other processors and C libraries, what lives on,
 * what the loader or an emptied environment leaves out, and outputs that keep nothing. */
#include "record.h"

#include "elf_probe.h"

#include "message.h"
#include "outfile.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Whether the environment that a process was started with has the line. *empty: it has no line at all. */
static bool environment_has(const char *pid, const char *line, bool *empty) {
  char path[288], *text = NULL;
  size_t room = 0;
  bool found = false;
  snprintf(path, sizeof path, "/proc/%s/environ", pid);
  FILE *file = fopen(path, "re");
  *empty = file != NULL;
  while (file && !found && getdelim(&text, &room, 0, file) > 0) {
    found = !strcmp(text, line);
    *empty = false;
  }
  if (file)
    fclose(file);
  free(text);
  return found;
}

/* Looks once for a process of this recording that has not ended, inkmark's own left out; 0: none is seen.
 * *unclear: one had no environment. In the middle of an exec a process has none for a moment. */
static long look_for_living(const char *line, bool *unclear) {
  char exe[288];
  long found = 0;
  DIR *processes = opendir("/proc");
  *unclear = false;
  for (struct dirent *entry; processes && !found && (entry = readdir(processes));) {
    const long pid = atol(entry->d_name);
    bool empty = false;
    snprintf(exe, sizeof exe, "/proc/%s/exe", entry->d_name);
    if (pid > 0 && pid != getpid() && !outfile_are_one("/proc/self/exe", exe) &&
        environment_has(entry->d_name, line, &empty))
      found = pid;
    *unclear = *unclear || (empty && !access(exe, F_OK)); /* the kernel's own threads have no program */
  }
  if (processes)
    closedir(processes);
  return found;
}

/* A process of this recording that has not ended; 0: none. It looks again while it is not clear, 20 ms at most. */
static long process_living_on(void) {
  const char *began = getenv("INKMARK_BEGAN_NS");
  const struct timespec pause = {.tv_nsec = 2000000};
  char line[64];
  long found = 0;
  bool unclear = began != NULL;
  snprintf(line, sizeof line, "INKMARK_BEGAN_NS=%s", began ? began : "");
  for (int look = 0; look < 10 && unclear && !found; look++) {
    if (look)
      nanosleep(&pause, NULL);
    found = look_for_living(line, &unclear);
  }
  return found;
}

/* What makes the kernel start the file in secure mode, where LD_PRELOAD is left out; or NULL. */
static const char *secure_by(const char *program) {
  struct stat file;
  if (stat(program, &file))
    return NULL;
  if (file.st_mode & S_ISUID && file.st_uid != getuid())
    return "is set-uid";
  if (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getgid())
    return "is set-gid";
  if (getuid() && getxattr(program, "security.capability", NULL, 0) > 0)
    return "has file capabilities";
  return NULL;
}

/* A word of short options with -i among them: what stands behind -u, -C or -S is their value. */
static bool has_short_i(const char *word) {
  for (const char *at = word + 1; word[1] != '-' && *at && !strchr("uCS", *at); at++)
    if (*at == 'i')
      return true;
  return false;
}

/* env -i, env -, env --ignore-environment, and -u of what inkmark sets. */
static bool empties_environment(char *const *argv) {
  if (strcmp(base_name(argv[0]), "env"))
    return false;
  for (size_t i = 1; argv[i] && argv[i][0] == '-'; i++) {
    const char *word = argv[i];
    if (!word[1] || !strcmp(word, "--ignore-environment") || has_short_i(word) ||
        strstr(word, "LD_PRELOAD"))
      return true;
    if (!strcmp(word, "-u") || !strcmp(word, "--unset")) {
      if (!argv[++i])
        return false;
      if (!strcmp(argv[i], "LD_PRELOAD"))
        return true;
    }
  }
  return false;
}

/* ---- before it runs ---- */

static const char *machine_name(unsigned machine) {
  static const struct {
    unsigned machine;
    const char *name;
  } known[] = {{EM_X86_64, "x86-64"}, {EM_AARCH64, "arm64"}, {EM_386, "32-bit x86"}, {EM_ARM, "32-bit ARM"}, {EM_PPC64, "POWER"}, {EM_RISCV, "RISC-V"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].machine == machine)
      return known[i].name;
  return "another processor";
}

/* The C library that the preloaded library asks for, as 2.N. */
static int glibc_wanted(const record_plan *plan) {
  char path[4096];
  const elf_probe preload = elf_probe_file(plan->library);
  snprintf(path, sizeof path, "%.*s/libinkmark.so.0", (int)(strrchr(plan->library, '/') - plan->library), plan->library);
  const elf_probe library = elf_probe_file(path);
  return library.glibc_minor > preload.glibc_minor ? library.glibc_minor : preload.glibc_minor;
}

/* Of a program whose loader is there and is glibc's. */
static bool glibc_is_old(const record_plan *plan, const char *program) {
  const elf_probe *probe = &plan->probe;
  const int wanted = glibc_wanted(plan), has = elf_glibc_of_loader(probe->loader);
  if (has ? has >= wanted : wanted < 33)
    return false;
  char version[32] = "before 2.33";
  if (has)
    snprintf(version, sizeof version, "2.%d", has);
  message_say("'%s' runs with glibc %s (its loader is '%s'), and this inkmark was built for glibc 2.%d: nothing can be "
              "preloaded into it; an inkmark that was built where the program runs can record it",
              program, version, probe->loader, wanted);
  return true;
}

bool record_why_unloadable(const record_plan *plan, const char *program) {
  const elf_probe *probe = &plan->probe;
  const unsigned here = elf_machine_here();
  const char *loader = base_name(probe->loader);
  if (probe->machine && probe->machine != here)
    message_say("'%s' is a program for %s, and this inkmark is for %s: nothing can be preloaded into it", program,
                machine_name(probe->machine), machine_name(here));
  else if (probe->machine && probe->bits_32)
    message_say("'%s' is a 32-bit program, and this inkmark has 64 bits: nothing can be preloaded into it", program);
  else if (probe->elf && probe->static_link)
    message_say("'%s' is linked statically: nothing can be preloaded into it", program);
  else if (*loader && strncmp(loader, "ld-linux", 8) && strncmp(loader, "ld64.so", 7))
    message_say("'%s' is no program of glibc (its loader is '%s'), and this inkmark is: nothing can be preloaded into it",
                program, probe->loader);
  else
    return *loader && !access(probe->loader, R_OK) && glibc_is_old(plan, program);
  return true;
}

/* ---- after it has run ---- */

bool record_why_unreached(const record_plan *plan) {
  const char *program = plan->program, *secure = secure_by(program);
  struct stat output;
  const long living = process_living_on();
  if (living)
    message_say("nothing was recorded so far: '%s' has ended, but it started process %ld, which goes on; its "
                "recording is written while it runs",
                program, living);
  else if (secure)
    message_say("nothing was recorded: '%s' %s, so the loader leaves out what is preloaded; record a "
                "copy without that, as the user that it needs",
                program, secure);
  else if (outfile_are_one("/proc/self/exe", program))
    message_say("nothing was recorded: '%s' is inkmark itself; an 'inkmark record' inside of another "
                "one writes captures of its own",
                program);
  else if (empties_environment(plan->argv))
    message_say("nothing was recorded: '%s' starts the program without the environment that records; put 'env' "
                "in front: env ... inkmark record -- PROGRAM",
                base_name(program));
  else if (!stat(plan->output, &output) && S_ISCHR(output.st_mode) && output.st_rdev == makedev(1, 3))
    message_say("nothing was kept: '-o %s' throws the capture away", plan->output);
  else
    return false;
  return true;
}

bool record_why_cut(const record_plan *plan) {
  for (size_t i = 0; i < plan->line_count; i++) {
    long pid;
    int text = 0;
    if (sscanf(plan->lines[i], "%ld cut %n", &pid, &text) != 1 || !text)
      continue;
    message_say("nothing was recorded: %s, process %ld, before anything was drained; a smaller '--drain-ms' "
                "drains sooner",
                plan->lines[i] + text, pid);
    return true;
  }
  return false;
}

bool record_why_modules(const record_plan *plan, const char *what) {
  unsigned long seen = 0, marked = 0;
  for (size_t i = 0; i < plan->line_count; i++) {
    unsigned long loaded, with_marks;
    if (sscanf(plan->lines[i], "%*d modules %lu %lu", &loaded, &with_marks) == 2) {
      seen += loaded;
      marked += with_marks;
    }
  }
  if (!seen)
    return false;
  if (!marked)
    message_say("%s: the program loaded %lu module%s through the CUDA driver, none of them with marks: what it "
                "compiles has to include inkmark/mark.cuh, whose folder is given to its compiler with -I",
                what, seen, seen == 1 ? "" : "s");
  else
    message_say("%s: %lu of the %lu module%s that the program loaded through the CUDA driver %s marks, but no kernel "
                "with PROF_KERNEL ran on a device that is recorded",
                what, marked, seen, seen == 1 ? "" : "s", marked == 1 ? "has" : "have");
  return true;
}
