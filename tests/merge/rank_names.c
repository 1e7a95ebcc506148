/* SPDX-License-Identifier: MIT */
/* The names of rank files: %r of every launcher, %h, %p, and what a template can do to a path. */
#include "cuda/options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const launchers[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
                                        "LOCAL_RANK"};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };
static int failures;

static void expect(const char *template_, const char *wanted) {
  ink_error error = {0};
  char *path = ink_i_expand_path(template_, &error);
  if (!path || strcmp(path, wanted)) {
    printf("'%s' became '%s', not '%s' %s\n", template_, path ? path : "nothing", wanted,
           error.message);
    failures++;
  }
  free(path);
}

static void refuse(const char *template_) {
  ink_error error = {0};
  char *path = ink_i_expand_path(template_, &error);
  if (path || error.status != INK_ERROR_ARGUMENT) {
    printf("'%s' became '%s', status %d\n", template_, path ? path : "nothing", (int)error.status);
    failures++;
  }
  free(path);
}

static void clear(void) {
  for (int i = 0; i < LAUNCHERS; i++)
    unsetenv(launchers[i]);
}

int main(void) {
  char host[HOST_NAME_MAX + 1] = "", wanted[HOST_NAME_MAX + 64];
  clear();
  expect("%r.ink", "0.ink"); /* no launcher */
  failures += ink_i_rank() != NULL;
  for (int i = 0; i < LAUNCHERS; i++) {
    clear();
    setenv(launchers[i], "12", 1);
    expect("run%r.ink", "run12.ink");
    setenv(launchers[i], "", 1);
    expect("run%r.ink", "run0.ink");
  }
  /* torchrun sets LOCAL_RANK too, and it may run under Slurm: the rank of the whole job wins */
  for (int i = 0; i < LAUNCHERS; i++)
    setenv(launchers[i], (char[]){(char)('0' + i), 0}, 1);
  for (int i = 0; i < LAUNCHERS; i++) {
    expect("%r", (char[]){(char)('0' + i), 0});
    unsetenv(launchers[i]);
  }
  setenv("RANK", "../../etc/3", 1); /* a rank names a file, never a folder */
  expect("a/%r.ink", "a/.._.._etc_3.ink");
  clear();
  if (gethostname(host, sizeof host))
    return 1;
  snprintf(wanted, sizeof wanted, "%s.%ld.0%%.x", host, (long)getpid());
  expect("%h.%p.%r%%.x", wanted);
  refuse("%h.%x"); /* one that means nothing */
  refuse("a%");
  expect("", "");
  char *longest = malloc(2 * PATH_MAX);
  if (!longest)
    return 1;
  memset(longest, 'x', 2 * PATH_MAX);
  longest[PATH_MAX] = 0;
  ink_error error = {0};
  char *path = ink_i_expand_path(longest, &error);
  if (path || strcmp(error.message, "the output path is too long"))
    failures += printf("a path of %d bytes: '%s'\n", PATH_MAX, error.message);
  free(path);
  longest[PATH_MAX - 1] = 0;
  expect(longest, longest);
  setenv("RANK", longest, 1);
  path = ink_i_expand_path("%r%r", &error);
  failures += path != NULL;
  free(path);
  free(longest);
  return failures != 0;
}
