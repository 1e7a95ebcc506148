/* SPDX-License-Identifier: MIT */
/* Reads registers, stack and shared memory of each kernel from the machine code in a program,
 * through cuobjdump of the CUDA toolkit (or PyPI), and what an SM can hold of it. */
#include "cost_code.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the tool ---- */

static bool find_tool(char *path, size_t bytes) {
  const char *named = getenv("INKMARK_CUOBJDUMP"), *at = getenv("PATH");
  if (named && *named)
    return snprintf(path, bytes, "%s", named) < (int)bytes;
  for (; at && *at; at += strcspn(at, ":"), at += *at == ':')
    if (snprintf(path, bytes, "%.*s/cuobjdump", (int)strcspn(at, ":"), at) < (int)bytes &&
        !access(path, X_OK))
      return true;
  const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  for (size_t i = 0; i < 3; i++)
    if (homes[i] && snprintf(path, bytes, "%s/bin/cuobjdump", homes[i]) < (int)bytes &&
        !access(path, X_OK))
      return true;
  return false;
}

/* What it prints, as a file at its begin; NULL: it could not be run. */
static FILE *run_tool(const char *tool, const char *option, const char *program) {
  FILE *printed = tmpfile();
  int status = 0;
  const pid_t child = printed ? fork() : -1;
  if (!child) {
    if (dup2(fileno(printed), 1) < 0 || !freopen("/dev/null", "w", stderr))
      _exit(126);
    execl(tool, tool, option, program, (char *)NULL);
    _exit(127);
  }
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
      !WEXITSTATUS(status)) {
    rewind(printed);
    return printed;
  }
  if (printed)
    fclose(printed);
  return NULL;
}

/* ---- what it prints ---- */

static bool add(cost_codes *codes, const char *function, uint32_t capability) {
  cost_code *grown = realloc(codes->items, (codes->count + 1) * sizeof *grown);
  if (!grown)
    return false;
  codes->items = grown;
  cost_code *code = &grown[codes->count];
  *code = (cost_code){.function = strdup(function), .capability = capability};
  if (!code->function)
    return false;
  ink_activity_short_name(function, code->label, sizeof code->label);
  codes->count++;
  return true;
}

/* "arch = sm_90", " Function NAME:", "  REG:8 STACK:0 SHARED:0 LOCAL:0 ..." */
static void read_listing(FILE *from, cost_codes *codes) {
  char *line = NULL;
  size_t room = 0;
  uint32_t capability = 0, registers, stack, shared;
  bool open = false; /* a function whose numbers come next */
  while (getline(&line, &room, from) > 0) {
    char *name = strstr(line, " Function ");
    if (sscanf(line, "arch = sm_%u", &capability) == 1)
      continue;
    if (name) {
      name += strlen(" Function ");
      name[strcspn(name, ":\n")] = 0;
      open = add(codes, name, capability);
    } else if (open &&
               sscanf(line, " REG:%u STACK:%u SHARED:%u", &registers, &stack, &shared) == 3) {
      cost_code *code = &codes->items[codes->count - 1];
      code->registers = registers;
      code->stack_bytes = stack;
      /* from 9.0 on the tool counts the system's 1 KiB with the block's own */
      code->shared_bytes = capability >= 90 && shared >= 1024 ? shared - 1024 : shared;
      open = false;
    }
  }
  free(line);
}

/* The assembler notes each instruction that spills or refills in the function's information section:
 * ".nv.info.NAME", and below it "SpillRefill : 	Offset : 0x70" for each. */
static void read_spills(FILE *from, cost_codes *codes) {
  static const char section[] = ".nv.info.";
  char *line = NULL;
  size_t room = 0;
  uint32_t capability = 0;
  cost_code *code = NULL;
  while (getline(&line, &room, from) > 0) {
    if (sscanf(line, "arch = sm_%u", &capability) == 1 || line[0] == '.')
      code = NULL;
    if (strncmp(line, section, sizeof section - 1) == 0) {
      const char *name = line + sizeof section - 1;
      line[strcspn(line, " \t\r\n")] = 0;
      for (size_t i = 0; i < codes->count && !code; i++)
        if (codes->items[i].capability == capability && !strcmp(codes->items[i].function, name))
          code = &codes->items[i];
    } else if (code && strstr(line, "SpillRefill")) {
      code->spills++;
    }
  }
  free(line);
}

void cost_codes_read(const char *program, cost_codes *out) {
  char tool[PATH_MAX];
  *out = (cost_codes){0};
  if (!strchr(program, '/')) {
    snprintf(out->why_none, sizeof out->why_none, "give '%.200s' with its path", program);
    return;
  }
  if (!find_tool(tool, sizeof tool)) {
    snprintf(out->why_none, sizeof out->why_none,
             "cuobjdump is not here: it comes with the CUDA toolkit, or pip install "
             "nvidia-cuda-cuobjdump and set INKMARK_CUOBJDUMP to its path");
    return;
  }
  FILE *listing = run_tool(tool, "-res-usage", program);
  if (listing) {
    read_listing(listing, out);
    fclose(listing);
  }
  FILE *elf = out->count ? run_tool(tool, "-elf", program) : NULL;
  if (elf) {
    read_spills(elf, out);
    fclose(elf);
  }
  if (!out->count)
    snprintf(out->why_none, sizeof out->why_none, "%s",
             listing ? "it has no machine code, or PTX alone" : "cuobjdump cannot read it");
}

void cost_codes_free(cost_codes *codes) {
  for (size_t i = 0; i < codes->count; i++)
    free(codes->items[i].function);
  free(codes->items);
}

/* ---- occupancy ---- */

/* CUDA C++ Programming Guide 13, "Technical Specifications per Compute Capability". */
static const ink_activity_device specifications[] = {
    {.capability = 75, .warps_per_sm = 32, .blocks_per_sm = 16, .shared_per_sm_bytes = 64 << 10},
    {.capability = 80, .warps_per_sm = 64, .blocks_per_sm = 32, .shared_per_sm_bytes = 164 << 10},
    {.capability = 86, .warps_per_sm = 48, .blocks_per_sm = 16, .shared_per_sm_bytes = 100 << 10},
    {.capability = 87, .warps_per_sm = 48, .blocks_per_sm = 16, .shared_per_sm_bytes = 164 << 10},
    {.capability = 89, .warps_per_sm = 48, .blocks_per_sm = 24, .shared_per_sm_bytes = 100 << 10},
    {.capability = 90, .warps_per_sm = 64, .blocks_per_sm = 32, .shared_per_sm_bytes = 228 << 10},
    {.capability = 100, .warps_per_sm = 64, .blocks_per_sm = 32, .shared_per_sm_bytes = 228 << 10},
    {.capability = 103, .warps_per_sm = 64, .blocks_per_sm = 32, .shared_per_sm_bytes = 228 << 10},
    {.capability = 120, .warps_per_sm = 48, .blocks_per_sm = 24, .shared_per_sm_bytes = 100 << 10},
    {.capability = 121, .warps_per_sm = 48, .blocks_per_sm = 24, .shared_per_sm_bytes = 100 << 10},
};

ink_occupancy cost_code_occupancy(const cost_code *code, const ink_activity *sample) {
  ink_activity_device device = {0};
  for (size_t i = 0; i < sizeof specifications / sizeof *specifications; i++)
    if (specifications[i].capability == code->capability)
      device = specifications[i];
  device.sm_count = 1;
  device.registers_per_sm = 65536; /* of all of them */
  device.threads_per_warp = 32;
  ink_activity kernel = *sample;
  kernel.registers = code->registers;
  kernel.static_shared_bytes = code->shared_bytes;
  kernel.sm_shared_bytes = 0; /* as much as there is */
  return ink_activity_occupancy(&kernel, &device);
}
