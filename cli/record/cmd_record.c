/* SPDX-License-Identifier: MIT */
/* `inkmark record`: runs a program with its marks switched on. */
#include "record.h"

#include "commands.h"
#include "message.h"

#include <stdlib.h>

static const cli_option options[] = {
    {'o', "output", CLI_TEXT, "FILE", offsetof(record_settings, output),
     "the capture; %p is the process id, %r the rank (RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, "
     "SLURM_PROCID or LOCAL_RANK), %h the host, %% a percent sign. Default: PROGRAM.%p.ink in this folder"},
    {'g', "granularity", CLI_CHOICE, "block|warp", offsetof(record_settings, granularity),
     "who records: the first thread of each block (the default) or of each warp"},
    {'k', "kernels", CLI_TEXT, "REGEX", offsetof(record_settings, kernels),
     "only kernels whose PROF_KERNEL name matches the POSIX extended regular expression"},
    {'b', "blocks", CLI_TEXT, "LIST", offsetof(record_settings, blocks),
     "only these linear block indices, as 0,7,100-120, or FIRST:END:STEP: ::16 is every 16th of any grid; auto: of each grid "
     "that has more blocks than the buffer has tracks as many as there is room for, spread over it at random"},
    {'w', "warps", CLI_TEXT, "LIST", offsetof(record_settings, warps),
     "only these warps of a block, as 0,2-3; for --granularity warp"},
    {'r', "records-per-track", CLI_COUNT, "N", offsetof(record_settings, records),
     "how many records the ring of a track holds, a power of two, and a second ring for marks in "
     "called functions as many again; 1024 unless given"},
    {'t', "tracks", CLI_COUNT, "N", offsetof(record_settings, tracks),
     "how many tracks the buffer of a device holds, a power of two; unless given as many as a 64th of "
     "its free memory has room for, 2 GiB at most; fewer for long rings, which is said"},
    {0, "keep", CLI_CHOICE, "last|first", offsetof(record_settings, keep),
     "what to keep when a ring or the buffer is full: the newest (the default) or the oldest"},
    {'a', "activity", CLI_FLAG, NULL, offsetof(record_settings, activity),
     "record kernels, copies, sets and the calls that launch them as well, from CUPTI: "
     "'inkmark report --activity' shows them"},
    {0, "nvtx", CLI_FLAG, NULL, offsetof(record_settings, nvtx),
     "record the host's NVTX ranges and marks as well, and ink_scope_begin: in every trace, above the kernels that were "
     "launched in them; 'inkmark report --host' sums them up"},
    {'d', "device", CLI_CHOICE, "auto|gpu|sim", offsetof(record_settings, device),
     "a real GPU, or the simulated device; auto (the default) simulates where there is no GPU"},
    {0, "devices", CLI_TEXT, "LIST", offsetof(record_settings, devices),
     "which CUDA devices record, as 0,2; all; mine, the one of this rank on its node; or used (the default), "
     "each with its first launch. A number that is not there is named"},
    {0, "flight", CLI_FLAG, NULL, offsetof(record_settings, flight),
     "keep rings in memory of the host, so that what was recorded outlives a trap, an illegal address, a reset of "
     "the device or a killed program. Every mark then is a write over PCIe, and the opening and closing of a "
     "track a few more and a read; 4096 tracks unless --tracks says more"},
    {0, "hang", CLI_TEXT, "TIME", offsetof(record_settings, hang),
     "say where blocks wait when a kernel does nothing new for so long, as 10s or 500ms"},
    {0, "live", CLI_FLAG, NULL, offsetof(record_settings, live),
     "record what tracks get while they are open too, so that a kernel that never ends is recorded"},
    {0, "launches", CLI_TEXT, "LIST", offsetof(record_settings, launches),
     "only these launches of the process, as 10-20,30, counted from 0 over all kernels and graphs; the devices are waited "
     "for where that begins and ends"},
    {0, "on-start", CLI_CHOICE, "on|off", offsetof(record_settings, on_start),
     "off: record only between the program's cudaProfilerStart and cudaProfilerStop"},
    {0, "range", CLI_TEXT, "NAME", offsetof(record_settings, range),
     "record only while an NVTX range of that name is open; with --schedule each such range is a step"},
    {0, "delay", CLI_TEXT, "TIME", offsetof(record_settings, delay),
     "begin to record so long after the program's start, as 10s or 500ms"},
    {0, "duration", CLI_TEXT, "TIME", offsetof(record_settings, duration), "record for so long, and then no more"},
    {0, "schedule", CLI_TEXT, "STEPS", offsetof(record_settings, schedule),
     "as wait=1,warmup=1,active=3,repeat=2: which steps of the program to record, the active ones; "
     "ink_session_step() (Python: inkmark.step()), or the end of an NVTX range (--range), ends a step. Without repeat it goes on to the end"},
    {0, "fit", CLI_FLAG, NULL, offsetof(record_settings, fit),
     "run the program twice, the second time with rings for its longest track and as many tracks as it has, up to "
     "2 GiB; what --records-per-track and --tracks say stays"},
    {0, "drain-ms", CLI_COUNT, "N", offsetof(record_settings, drain_ms),
     "the longest time between two copies of what was recorded to the host, in milliseconds; 100 "
     "unless given; above 1000 it is not copied sooner when the buffer fills"},
    {0},
};

int record_once(const record_settings *settings, char **argv) {
  record_plan plan = {.control = -1};
  int code = record_plan_make(settings, argv[0], &plan);
  plan.argv = argv;
  if (!code && getenv("INKMARK_RECORD"))
    message_say("this runs inside another 'inkmark record', whose capture gets nothing of '%s'", argv[0]);
  if (!code)
    code = record_environment(&plan) ? CLI_OK : CLI_FAILED;
  if (!code) {
    code = record_run(&plan, argv);
    if (code >= 0)
      record_outcome(&plan, code);
    else
      code = -code;
  }
  record_plan_free(&plan);
  if (plan.ended_by)
    record_end_as(plan.ended_by);
  return code;
}

static int run(int argc, char **argv) {
  record_settings settings = {
      .records = RECORD_UNSET, .tracks = RECORD_UNSET, .drain_ms = RECORD_UNSET};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_record, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  record_outlive_messages();
  argv[operands] = NULL; /* argv held the command's name and the options too: there is room */
  int code = record_check(&cmd_record, &settings);
  if (!code && settings.fit)
    code = record_fit(&settings, argv);
  return code ? code : record_once(&settings, argv);
}

const cli_command cmd_record = {
    .name = "record",
    .summary = "run a program and record the marks in its kernels",
    .operands = "[--] PROGRAM [ARGUMENTS]",
    .about =
        "The program needs no change but the marks: it runs with libinkmark preloaded, which "
        "hands its kernels a buffer and writes what they record to a capture. The exit code, or "
        "the signal that ended it, is the program's. Without a GPU the program runs on the simulated device, which needs "
        "PTX in the program, as nvcc puts there by default; cycles are then the simulator's, and every output says so.",
    .examples = "inkmark record -- ./solver -n 64\twrites solver.PID.ink\n"
                "inkmark record -g warp -b 0,7 -o run.ink -- ./pipeline\tevery warp of two blocks\n"
                "inkmark record -o 'run.%r.ink' -- ./solver\tone capture for each rank",
    .options = options,
    .operands_min = 1,
    .operands_max = SIZE_MAX,
    .refused = "pid\ta program that runs already cannot be recorded: its kernels get their buffer when "
               "it starts; start it with 'inkmark record -- PROGRAM', or have it open a session of its "
               "own where it shall be recorded (ink_session_open)\n",
    .program_follows = true,
    .operand_kind = "program",
    .run = run,
};
