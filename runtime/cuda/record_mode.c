/* SPDX-License-Identifier: MIT */
/* Recording a program that knows nothing of it: the session that `inkmark record` asks for through
 * the environment, from before main to the last exit. What there is to be said goes to the writer
 * process, for the command to print; nothing is printed here. */
#include "cuda/record_mode.h"

#include "cuda/activity.h"
#include "cuda/stall_samples.h"
#include "cuda/arming_remarks.h"
#include "cuda/device_choice.h"
#include "cuda/driver_api.h"
#include "cuda/driver_kernels.h"
#include "cuda/driver_modules.h"
#include "cuda/ends.h"
#include "cuda/module_scan.h"
#include "cuda/own_threads.h"
#include "cuda/record_state.h"
#include "cuda/record_window.h"
#include "cuda/session_private.h"
#include "held_signals.h"
#include "shm/link.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void (*take_signals)(void); /* of the preloaded library, or NULL */
static atomic_bool use_watched;    /* devices are armed with their first launch */
static bool marks_off;   /* recorded for its activity alone */
static bool cuda_starts; /* the driver has called InitializeInjection */

static void report(const char *what, const char *text) { ink_i_link_report(what, text); }

/* Modules of the driver's API that were seen, and how many of them have marks. */
static _Atomic unsigned modules_seen, modules_marked;

static void report_modules(void) {
  char line[200];
  const unsigned unwaited = ink_i_modules_unwaited();
  snprintf(line, sizeof line, "%u %u", modules_seen, modules_marked);
  if (modules_seen)
    report("modules", line);
  snprintf(line, sizeof line, "%u module%s unloaded while kernels ran that did not end within 2 s: instances of theirs may "
           "have no names", unwaited, unwaited == 1 ? " was" : "s were");
  if (unwaited)
    report("remark", line);
}

/* ---- the end ---- */

static void end_recording(bool leaves, int signal, bool at_once) {
  char *path = NULL;
  ink_error error = {0};
  ink_session *ending = atomic_exchange(&ink_i_recorded.session, NULL);
  if (!ending)
    return;
  atomic_store(&use_watched, false);
  report_modules();
  ink_i_record_window_remarks(ending, report);
  ending->leaves = leaves;
  ending->ended_by = signal;
  ending->at_once = at_once;
  if (ink_i_session_close(ending, &path, &error))
    report("failed", error.message);
  if (ending->passed[0])
    report("kernels", ending->passed);
  const char *refusal = ink_i_stalls_refusal(ending->stalls);
  if (refusal)
    report("stalls", refusal);
  if (path) /* by this process itself */
    report("wrote", path);
  if (ink_i_link_current())
    report("none", "none"); /* matters where no chunk came */
  free(path);
}

static void keep_recording(bool becomes) {
  ink_session *s = ink_i_recorded.session;
  if (!s)
    return;
  ink_i_session_keep(s);
  if (becomes && ink_i_link_current())
    report("exec", "exec"); /* where no chunk follows, this is how the recording ends */
}

static void leave_quickly(void) { ink_record_leave(0); }

/* ---- arming ---- */

/* From here on something is recorded: whatever way the process ends, that is not to be lost. Another thread's first
 * launch waits until it is so. */
static pthread_mutex_t guarding = PTHREAD_MUTEX_INITIALIZER;
static void guard_ends(void) {
  pthread_mutex_lock(&guarding);
  ink_i_ends_start();
  if (take_signals)
    take_signals();
  pthread_mutex_unlock(&guarding);
}

/* Arms and says what came of it. */
static void arm(ink_session *s) {
  static uint32_t told;
  static bool armed;
  ink_error error = {0};
  ink_i_held before;
  ink_i_hold_signals(&before); /* a handler that waits for the ender would stand above the lock of the session */
  ink_i_session_prepare(s);
  const ink_status status = ink_session_arm(s, &error);
  /* Exit handlers run in the opposite order of their registration, and the driver that the first CUDA
   * call loaded may have registered its own: behind that one no call gives anything any more. */
  const bool works = !status && ink_i_session_any_works(s);
  if (works && !armed)
    armed = atexit(ink_record_finish) == 0 && at_quick_exit(leave_quickly) == 0;
  if (works)
    guard_ends();
  if (status)
    report("failed", error.message);
  for (; told < s->remark_count; told++)
    if (!status || strcmp(s->remarks[told], error.message) != 0)
      report("remark", s->remarks[told]);
  ink_i_release_signals(&before);
}

static uint32_t number_from(const char *name) {
  const char *text = secure_getenv(name);
  return text && *text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static bool word_is(const char *name, const char *word) {
  const char *text = secure_getenv(name);
  return text && strcmp(text, word) == 0;
}

/* ---- children ---- */

enum { CHILD_IS_NEW = 0, CHILD_IS_TAKEN, CHILD_IS_KNOWN };

/* In a page that a child finds zeroed, whichever system call made it, unless it shares this memory. NULL: the kernel
 * has no such pages. */
static _Atomic int *known_child;

static void know_this_process(void) {
  void *page = known_child ? (void *)known_child : mmap(NULL, INK_I_RING_PAGE, PROT_READ | PROT_WRITE,
                                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return;
  if (!known_child && madvise(page, INK_I_RING_PAGE, MADV_WIPEONFORK) != 0) {
    munmap(page, INK_I_RING_PAGE);
    return;
  }
  known_child = page;
  atomic_store(known_child, CHILD_IS_KNOWN);
}

static void owner_in_child(void) {
  ink_i_recorded.owner = getpid();
  pthread_mutex_init(&guarding, NULL);
  ink_i_ends_after_fork();
  if (ink_i_recorded.session && ink_i_session_is_gone(ink_i_recorded.session))
    ink_i_recorded.session = NULL;
  if (ink_i_recorded.session && ink_i_recorded.made->thread_runs)
    ink_i_ends_start();
}

static void forked_child(void) {
  ink_i_record_window_after_fork();
  owner_in_child();
  know_this_process();
}

/* Whether what this process does is this session's to record. One that clone made, without a handler of fork, is taken
 * in with its first launch. */
static bool is_mine_or_taken_in(void) {
  int is = CHILD_IS_NEW;
  if (ink_i_record_is_mine())
    return true;
  if (!ink_i_recorded.owner || !known_child)
    return false;
  if (atomic_compare_exchange_strong(known_child, &is, CHILD_IS_TAKEN)) {
    ink_i_session_after_clone();
    owner_in_child();
    ink_i_session_thread_after_clone();
    know_this_process();
  }
  while (atomic_load(known_child) == CHILD_IS_TAKEN)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return ink_i_record_is_mine();
}

void ink_record_fork_begin(ink_i_held *before) {
  ink_i_hold_signals(before);
  ink_session *s = ink_i_record_session();
  if (s)
    ink_i_session_fork_begin(s);
}

void ink_record_fork_end(const ink_i_held *before) {
  if (ink_i_recorded.made)
    ink_i_session_fork_end(ink_i_recorded.made);
  ink_i_release_signals(before);
}

void ink_record_start(void (*signals_taker)(void)) {
  if (ink_i_recorded.session || !word_is("INKMARK_RECORD", "1"))
    return;
  const ink_session_options options = {
      .size = sizeof options,
      .output = secure_getenv("INKMARK_OUTPUT"),
      .kernels = secure_getenv("INKMARK_KERNELS"),
      .blocks = secure_getenv("INKMARK_BLOCKS"),
      .warps = secure_getenv("INKMARK_WARPS"),
      .devices = secure_getenv("INKMARK_DEVICES"),
      .per_warp = word_is("INKMARK_GRANULARITY", "warp"),
      .keep_first = word_is("INKMARK_KEEP", "first"),
      .records_per_track = number_from("INKMARK_RECORDS"),
      .tracks = number_from("INKMARK_TRACKS"),
      .drain_ms = number_from("INKMARK_DRAIN_MS"),
      .replace = true,
      .flight = word_is("INKMARK_FLIGHT", "1"),
      .live = word_is("INKMARK_LIVE", "1"),
      .hang_ms = number_from("INKMARK_HANG_MS"),
      .host_ranges = word_is("INKMARK_NVTX", "1"),
  };
  ink_error error = {0};
  ink_i_module *modules;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_modules(&modules);
  ink_i_registry_unlock();
  ink_session *s = NULL;
  ink_status status = ink_session_open(&options, &s, &error);
  if (!status && (status = ink_i_record_window_make(s, &error)))
    ink_session_close(s, NULL, NULL);
  if (status) {
    ink_i_link_ring(INK_I_RING_LEAST, INK_I_RING_LEAST, false, NULL, NULL);
    report("failed", error.message);
    return;
  }
  marks_off = word_is("INKMARK_MARKS", "off");
  s->stays = true;
  ink_i_recorded.session = ink_i_recorded.made = s;
  ink_i_recorded.owner = getpid();
  know_this_process();
  take_signals = signals_taker;
  atomic_store(&use_watched, s->options.choice == INK_I_DEVICES_USED);
  ink_i_ends_watch_main(&(ink_i_end_calls){.end = end_recording, .keep = keep_recording});
  const char *began = secure_getenv("INKMARK_BEGAN_NS");
  s->by_writer = secure_getenv("INKMARK_WRITER") != NULL;
  s->options.began_ns = began ? strtoll(began, NULL, 10) : 0;
  if (cuda_starts)
    ink_record_cuda_starts();
  pthread_atfork(NULL, NULL, forked_child);
  atexit(ink_record_finish);
  if (marks_off)
    atomic_store(&use_watched, false);
  else if (n || ink_i_registry_other_abi()) /* none yet: a library with marks may be loaded later */
    arm(s);
}

void ink_record_cuda_starts(void) {
  cuda_starts = true;
  ink_session *s = ink_i_recorded.session;
  const bool activity = word_is("INKMARK_ACTIVITY", "1"), stalls = word_is("INKMARK_STALLS", "1");
  if (!s || !(activity || stalls))
    return;
  ink_i_session_prepare(s);
  if (activity)
    ink_i_session_start_activity(s);
  if (stalls)
    ink_i_session_start_stalls(s);
  guard_ends();
  /* the driver's own exit handlers are being registered: ours must run before them, CUPTI's buffers
   * are handed over while it lives. Whichever handler comes first does it all. */
  atexit(ink_record_finish);
  const char *refusal = ink_i_activity_refusal(s->activity);
  if (refusal)
    report("activity", refusal);
}

/* ---- a device's first launch ---- */

bool ink_record_watches_use(void) { return atomic_load(&use_watched) && !ink_i_in_calls(); }

static bool has_modules(void) {
  ink_i_module *modules;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_modules(&modules);
  ink_i_registry_unlock();
  return n > 0;
}

/* The bit is set behind the arming: another thread's first launch waits for it as well. */
void ink_record_before_launch(int device) {
  static _Atomic uint64_t seen;
  if (!ink_i_recorded.session || device < 0 || device >= INK_I_DEVICES_MAX || !is_mine_or_taken_in() ||
      (atomic_load(&seen) >> device & 1))
    return;
  ink_session *s = ink_i_recorded.session; /* a child may have lost it, or another thread ended it */
  if (!s)
    return;
  ink_i_choice_use(s, device);
  if (has_modules()) /* else with the first one that comes */
    ink_i_record_module_came();
  atomic_fetch_or(&seen, 1ull << device);
}

void ink_i_record_module_came(void) {
  ink_session *s = ink_i_recorded.session && is_mine_or_taken_in() ? ink_i_recorded.session : NULL;
  if (s && !marks_off)
    arm(s);
}

int ink_record_before_reset(int device, ink_i_held *before) {
  ink_session *s = ink_i_in_calls() ? NULL : ink_i_record_session();
  const int slot = !s ? -1 : device < 0 ? ink_i_driver_slot_here() : device;
  ink_i_hold_signals(before);
  if (slot >= 0)
    ink_i_modules_context_gone(ink_i_driver_ordinal(slot));
  return s ? ink_i_session_reset_begin(s, device) : -1;
}

void ink_record_after_reset(int device, const ink_i_held *before) {
  if (device >= 0) {
    ink_i_kernels_forget(device);
    ink_i_session_reset_end(ink_i_recorded.made, device);
    if (has_modules()) /* those of the driver's API went with the reset */
      ink_i_record_module_came();
  }
  ink_i_release_signals(before);
}

/* ---- the driver's API ---- */

static bool takes_part(void) {
  return ink_i_record_session() && !ink_i_in_calls() && !marks_off;
}

/* Whoever loads a module uses its device: it is armed at once, where it was not left out by --devices. */
static void arm_here(void) {
  const int slot = ink_i_driver_slot_here();
  if (slot < 0)
    return;
  ink_i_choice_use(ink_i_recorded.made, slot);
  ink_i_remark_left_out(ink_i_recorded.made, ink_i_driver_ordinal(slot));
  ink_session *s = ink_i_recorded.session;
  if (s)
    arm(s);
}

void ink_record_module_loaded(void *handle, bool library, const void *image, size_t bytes) {
  bool marked = false;
  if (!takes_part() || ink_i_is_linked_in(image))
    return;
  const bool knew_other = ink_i_registry_other_abi() != NULL;
  ink_i_modules_came(handle, library, image, bytes, &marked, NULL);
  atomic_fetch_add(&modules_seen, 1);
  atomic_fetch_add(&modules_marked, marked);
  ink_session *s = ink_i_record_session();
  if (marked)
    arm_here();
  else if (s && !knew_other && ink_i_registry_other_abi()) /* the first one of another layout: arming says it */
    arm(s);
}

/* The driver has read it; it is there and is read again. */
void ink_record_file_loaded(void *handle, bool library, const char *path) {
  ink_i_file file;
  if (!takes_part())
    return;
  ink_i_file_map(path, &file);
  ink_record_module_loaded(handle, library, file.bytes, file.size);
  ink_i_file_unmap(&file);
}

void ink_record_module_goes(void *handle, bool library) {
  if (takes_part())
    ink_i_modules_gone(handle, library);
}

void ink_record_context_came(void *context) {
  if (!context || !takes_part() || ink_i_driver_slot_of(context) >= 0)
    return;
  ink_i_driver_slot_here();
  if (ink_i_modules_context_came())
    arm_here();
}

void ink_record_context_goes(void *context) {
  if (takes_part())
    ink_i_session_lets_context_go(ink_i_recorded.made, ink_i_driver_slot_of(context));
}

void ink_record_green_context(int code) {
  static atomic_bool said;
  char line[200];
  if (!takes_part() || atomic_exchange(&said, true))
    return;
  if (code)
    snprintf(line, sizeof line, "the program asked for a green context, which the driver refused (error %d)", code);
  else
    snprintf(line, sizeof line, "the program made a green context: it is recorded like a context of cuCtxCreate, which was "
             "never tried on a GPU; look whether kernels in it are there");
  report("remark", line);
}
