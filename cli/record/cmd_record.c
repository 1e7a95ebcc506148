/* SPDX-License-Identifier: MIT */
/* `inkmark record`: runs a program with its marks switched on. */
#include "record.h"

#include "commands.h"
#include "message.h"

#include <stdlib.h>

static const cli_option options[] = {
    {'o', "output", CLI_TEXT, "FILE", offsetof(record_settings, output),
     "write the capture to FILE; %p stands for the process id, %r for the rank (RANK, OMPI_COMM_WORLD_RANK, "
     "PMI_RANK, SLURM_PROCID or LOCAL_RANK), %h for the host, %% for a percent sign. Default: PROGRAM.%p.ink "
     "in this folder"},
    {'g', "granularity", CLI_CHOICE, CHOICE_WORDS(GRANULARITY_CHOICES), offsetof(record_settings, granularity),
     "choose who records: the first thread of each block (the default) or of each warp"},
    {'k', "kernels", CLI_TEXT, "REGEX", offsetof(record_settings, kernels),
     "record only kernels whose PROF_KERNEL name matches the POSIX extended regular expression"},
    {'b', "blocks", CLI_TEXT, "LIST", offsetof(record_settings, blocks),
     "record only these linear block indices, as 0,7,100-120, or FIRST:END:STEP: ::16 is every 16th block of "
     "any grid. auto (the default): if a grid has more blocks than the buffer has tracks, record one block of "
     "each 2, 4, 8, ... in a row, as many as there is room for, all over the grid. all: record all blocks; if "
     "there is no room, those that end last are left"},
    {'w', "warps", CLI_TEXT, "LIST", offsetof(record_settings, warps),
     "record only these warps of a block, as 0,2-3; for --granularity warp"},
    {'r', "records-per-track", CLI_COUNT, "N", offsetof(record_settings, records),
     "give the ring of a track room for N records, a power of two; default 1024. A second ring, for marks in "
     "called functions, has as many"},
    {'t', "tracks", CLI_COUNT, "N", offsetof(record_settings, tracks),
     "give the buffer of a device room for N tracks, a power of two. Default: as many as fit in a 64th of the "
     "device's free memory, 2 GiB at most. If rings are long, there are fewer, and record says so"},
    {0, "keep", CLI_CHOICE, CHOICE_WORDS(KEEP_CHOICES), offsetof(record_settings, keep),
     "choose what to keep when a ring or the buffer is full: the newest (the default) or the oldest"},
    {'a', "activity", CLI_FLAG, NULL, offsetof(record_settings, activity),
     "also record kernels, copies, sets and the calls that launch them, from CUPTI: 'inkmark report "
     "--activity' shows them"},
    {0, "stalls", CLI_FLAG, NULL, offsetof(record_settings, stalls),
     "also sample why warps wait, instruction by instruction, by CUPTI, and store the code of the marked modules: "
     "'inkmark report --stalls' shows it by section. It takes 64 MiB of each device's memory"},
    {0, "nvtx", CLI_FLAG, NULL, offsetof(record_settings, nvtx),
     "also record the host's NVTX ranges and marks, and ink_scope_begin. Every trace shows them above the "
     "kernels that were launched in them; 'inkmark report --host' sums them up"},
    {'d', "device", CLI_CHOICE, CHOICE_WORDS(DEVICE_CHOICES), offsetof(record_settings, device),
     "use a real GPU, or the simulated device; auto (the default) simulates if there is no GPU"},
    {0, "devices", CLI_TEXT, "LIST", offsetof(record_settings, devices),
     "choose which CUDA devices record: numbers, as 0,2; all; mine, the device of this rank on its node; or "
     "used (the default), each device with its first launch. If a number is not there, record names it"},
    {0, "flight", CLI_FLAG, NULL, offsetof(record_settings, flight),
     "keep rings in memory of the host, so that what was recorded outlives a trap, an illegal address, a reset "
     "of the device or a killed program. Then every mark is a write over PCIe, and the opening and closing of "
     "a track are a few more writes and a read. There are 4096 tracks unless --tracks says more"},
    {0, "hang", CLI_TEXT, "TIME", offsetof(record_settings, hang),
     "if a kernel does nothing new for TIME, as 10s or 500ms, say where its blocks wait"},
    {0, "live", CLI_FLAG, NULL, offsetof(record_settings, live),
     "also record what tracks get while they are open, so that a kernel that never ends is recorded"},
    {0, "launches", CLI_TEXT, "LIST", offsetof(record_settings, launches),
     "record only these launches of the process, as 10-20,30, counted from 0 over all kernels and graphs. When "
     "a part of the list begins or ends, record waits for the devices"},
    {0, "on-start", CLI_CHOICE, CHOICE_WORDS(ON_START_CHOICES), offsetof(record_settings, on_start),
     "off: record only between the program's cudaProfilerStart and cudaProfilerStop"},
    {0, "range", CLI_TEXT, "NAME", offsetof(record_settings, range),
     "record only while an NVTX range of that name is open. With --schedule each of these ranges is a step"},
    {0, "delay", CLI_TEXT, "TIME", offsetof(record_settings, delay),
     "begin to record TIME after the program's start, as 10s or 500ms"},
    {0, "duration", CLI_TEXT, "TIME", offsetof(record_settings, duration), "record for TIME, and then no more"},
    {0, "schedule", CLI_TEXT, "STEPS", offsetof(record_settings, schedule),
     "record only the active steps of the program, as wait=1,warmup=1,active=3,repeat=2. ink_session_step() "
     "(Python: inkmark.step()), or the end of an NVTX range (--range), ends a step. Without repeat this goes "
     "on to the end"},
    {0, "sources", CLI_CHOICE, CHOICE_WORDS(SOURCES_CHOICES), offsetof(record_settings, sources),
     "on (the default): store the text of the source files that have PROF_SECTIONS in the capture, so that the html "
     "output can show it. off: do not"},
    {0, "fit", CLI_FLAG, NULL, offsetof(record_settings, fit),
     "run the program twice. The second run has rings for the longest track of the first, and as many tracks "
     "as it had, up to 2 GiB. What --records-per-track and --tracks say stays"},
    {0, "drain-ms", CLI_COUNT, "N", offsetof(record_settings, drain_ms),
     "copy what was recorded to the host at least every N milliseconds; default 100. Above 1000 it is not "
     "copied sooner when the buffer fills"},
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
        "The program needs no change but the marks. It runs with libinkmark preloaded, which hands its kernels "
        "a buffer and writes what they record to a capture. The exit code, or the signal that ended the "
        "program, is the program's. Without a GPU the program runs on the simulated device. The simulated "
        "device needs PTX in the program, and nvcc puts it there by default. Cycles are then the simulator's, "
        "and every output says so.",
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
