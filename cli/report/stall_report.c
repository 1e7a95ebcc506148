/* SPDX-License-Identifier: MIT */
/* Has python3 read a .ncu-rep with NVIDIA's package ncu_report, where the user installed it, and print it as the CSV that
 * stall_csv.c reads: the container is not ours to take apart. */
#include "stall_report.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { NO_PACKAGE = 3, NO_KERNELS = 4, NO_SAMPLES = 5, UNREADABLE = 6, NO_TEXTS = 7 };

/* Every instruction from the function's start on, since those that never ran have no instance of a metric. Functions that the
 * kernel calls stand elsewhere, and have no sections. The package has question marks where it cannot disassemble. */
static const char script[] =
    "import csv, os, sys\n"
    "try:\n"
    "    import ncu_report\n"
    "except ImportError:\n"
    "    sys.exit(3)\n"
    "def by_pc(action, name):\n"
    "    metric = action.metric_by_name(name)\n"
    "    if metric is None or not metric.has_correlation_ids():\n"
    "        return {}\n"
    "    pcs = metric.correlation_ids()\n"
    "    return {pcs.as_uint64(i): metric.as_uint64(i) for i in range(metric.num_instances())}\n"
    "def text_at(action, pc):\n"
    "    try:\n"
    "        return action.sass_by_pc(pc)\n"
    "    except Exception:\n"
    "        return ''\n"
    "def pages(context):\n"
    "    prefix = 'smsp__pcsamp_warps_issue_stalled_'\n"
    "    for r in range(context.num_ranges()):\n"
    "        for a in range(context.range_by_idx(r).num_actions()):\n"
    "            action = context.range_by_idx(r).action_by_idx(a)\n"
    "            stalls = {n[len(prefix):]: by_pc(action, n) for n in action.metric_names()\n"
    "                      if n.startswith(prefix) and 'not_issued' not in n}\n"
    "            yield action, by_pc(action, 'inst_executed'), {n: s for n, s in stalls.items() if s}\n"
    "try:\n"
    "    found = list(pages(ncu_report.load_report(os.path.abspath(sys.argv[1]))))\n"
    "except Exception as error:\n"
    "    print(error, file=sys.stderr)\n"
    "    sys.exit(6)\n"
    "if not found:\n"
    "    sys.exit(4)\n"
    "out, written, mute = csv.writer(sys.stdout), 0, 0\n"
    "for action, executed, stalls in found:\n"
    "    seen = set(executed).union(*stalls.values())\n"
    "    if not stalls or not seen:\n"
    "        continue\n"
    "    functions, pc = action.metric_by_name('launch__function_pcs'), min(seen)\n"
    "    starts = [functions.as_uint64(i) for i in range(functions.num_instances())] if functions is not None else []\n"
    "    pc = max([s for s in starts if s <= pc], default=pc)\n"
    "    if '?' * 3 in text_at(action, pc):\n"
    "        mute += 1\n"
    "        continue\n"
    "    out.writerow(['Kernel Name', action.name()])\n"
    "    out.writerow(['Address', 'Source', '# Samples', 'Instructions Executed', *('stall_' + n for n in stalls)])\n"
    "    while text_at(action, pc):\n"
    "        seen.discard(pc)\n"
    "        counts = [s.get(pc, 0) for s in stalls.values()]\n"
    "        out.writerow([hex(pc), text_at(action, pc), sum(counts), executed.get(pc, 0), *counts])\n"
    "        pc, written = pc + 16, written + 1\n"
    "    called = sum(s.get(pc, 0) for s in stalls.values() for pc in seen)\n"
    "    if called:\n"
    "        print(f\"inkmark: {called} samples of '{action.name()}' lie in functions that it calls: left out\", file=sys.stderr)\n"
    "sys.exit(0 if written else 7 if mute else 5)\n";

bool stall_is_report(const char *path) {
  static const char end[] = ".ncu-rep";
  const size_t bytes = strlen(path);
  return bytes >= sizeof end && strcmp(path + bytes - (sizeof end - 1), end) == 0;
}

static char *read_all(int from) {
  size_t used = 0, room = 1 << 16;
  char *text = malloc(room);
  for (ssize_t n = 1; text && n; used += n > 0 ? (size_t)n : 0) {
    if (used + 1 >= room) {
      char *grown = realloc(text, room *= 2);
      if (!grown)
        free(text);
      text = grown;
    }
    n = text ? read(from, text + used, room - used - 1) : 0;
    if (n < 0 && errno != EINTR)
      break;
  }
  if (text)
    text[used] = 0;
  return text;
}

static void say_why(const char *path, int code) {
  switch (code) {
  case NO_PACKAGE:
    message_say("cannot read '%s': python3 has no package ncu_report: pip install ncu-report, or export the page with "
                "'ncu --import REPORT --page source --csv'", path);
    break;
  case NO_KERNELS: /* also of an empty, cut or foreign file: the package raises nothing then */
    message_say("'%s' holds no kernel, or is no report", path);
    break;
  case NO_SAMPLES:
    message_say("'%s' has no samples by instruction: record it with 'ncu --section SourceCounters'", path);
    break;
  case NO_TEXTS:
    message_say("ncu_report cannot disassemble the kernels of '%s', whose GPU is too old for it: export the page with an ncu of that time, "
                "'ncu --import REPORT --page source --csv'", path);
    break;
  default:
    message_say("cannot read '%s' with python3 and ncu_report", path);
  }
}

char *stall_report_text(const char *path) {
  int ends[2], status = 0;
  pid_t child;
  posix_spawn_file_actions_t actions;
  char *const argv[] = {"python3", "-c", (char *)script, (char *)path, NULL};
  if (access(path, R_OK)) {
    message_say("cannot open '%s': %s", path, message_errno(errno));
    return NULL;
  }
  if (pipe2(ends, O_CLOEXEC)) {
    message_say("cannot make a pipe: %s", message_errno(errno));
    return NULL;
  }
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  const int code = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char *text = code ? NULL : read_all(ends[0]);
  close(ends[0]);
  if (code) {
    message_say("cannot run python3, which reads '%s': %s", path, message_errno(code));
    return NULL;
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  const int left = WIFEXITED(status) ? WEXITSTATUS(status) : UNREADABLE;
  if (text && left == 0)
    return text;
  if (left)
    say_why(path, left);
  else
    message_say("out of memory for '%s'", path);
  free(text);
  return NULL;
}
