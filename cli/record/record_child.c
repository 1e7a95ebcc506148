/* SPDX-License-Identifier: MIT */
/* Runs `inkmark record` of this very build as a child, for commands that record on their own. */
#include "record_child.h"

#include "message.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 4096 };

static size_t count(const void *list) {
  const char *const *at = list;
  size_t n = 0;
  while (at[n])
    n++;
  return n;
}

static char **arguments_of(const record_child *child) {
  const size_t options = count(child->options), words = count(child->program);
  char **arguments = calloc(options + words + 4, sizeof *arguments);
  if (!arguments)
    return NULL;
  arguments[0] =
      (char *)(uintptr_t) "inkmark"; /* execv takes them as not const, and leaves them be */
  arguments[1] = (char *)(uintptr_t) "record";
  memcpy(arguments + 2, child->options, options * sizeof *arguments);
  arguments[2 + options] = (char *)(uintptr_t) "--";
  memcpy(arguments + 3 + options, child->program, words * sizeof *arguments);
  return arguments;
}

static void become_record(const record_child *child, char **arguments) {
  const int write_new = O_WRONLY | O_CREAT | O_TRUNC;
  const int out = open(child->output ? child->output : "/dev/null", write_new, 0600);
  const int err = open(child->messages, write_new, 0600);
  if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
      (child->marks_off ? setenv("INKMARK_MARKS", "off", 1) : unsetenv("INKMARK_MARKS")))
    _exit(126);
  execv("/proc/self/exe", arguments);
  _exit(126);
}

static void tell_messages(const char *path) {
  char text[MESSAGE_BYTES];
  FILE *file = fopen(path, "r");
  const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  text[n] = 0;
  if (file)
    fclose(file);
  fputs(text, stderr);
}

int record_child_run(const record_child *child) {
  const char *ran = child->program[0];
  char **arguments = arguments_of(child);
  int status = 0, code = CLI_OK;
  if (!arguments) {
    message_say("out of memory");
    return CLI_FAILED;
  }
  const pid_t pid = fork();
  if (!pid)
    become_record(child, arguments);
  if (pid < 0 || waitpid(pid, &status, 0) != pid) {
    message_say("cannot run '%s': %s", ran, message_errno(errno));
    code = CLI_FAILED;
  } else if (!WIFEXITED(status) || WEXITSTATUS(status)) {
    tell_messages(child->messages);
    if (WIFEXITED(status))
      message_say("'%s' ended with exit code %d", ran, WEXITSTATUS(status));
    else
      message_say("'%s' was ended by signal %d", ran, WTERMSIG(status));
    code = CLI_FAILED;
  }
  free(arguments);
  return code;
}
