/* SPDX-License-Identifier: MIT */
/* Private: the one session of a process, and what runs under its lock. */
#ifndef INK_CUDA_SESSION_PRIVATE_H
#define INK_CUDA_SESSION_PRIVATE_H

#include "cuda/device.h"
#include "cuda/window.h"
#include "inkmark/session.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { INK_I_REMARKS_MAX = 8, INK_I_REMARK_BYTES = 600 };

struct ink_i_activity;
struct ink_i_stalls;
struct ink_i_caught;

struct ink_session {
  ink_i_options options;
  ink_i_window window;    /* when it records */
  pthread_mutex_t lock;   /* protects all fields below; error-checking: relocking from the same thread gives EDEADLK */
  pthread_cond_t wake;
  pthread_t thread;
  bool thread_runs, stop;
  sem_t left;                /* the thread drains no more, and has no lock */
  sem_t waited;              /* with `stays`: the thread has waited, at its end, until no kernel runs any more, */
  int waited_codes[INK_I_DEVICES_MAX]; /* with this result of each device */
  bool has_waited;
  _Atomic bool arm_wanted; /* an arming could not wait for the lock: the drain thread does it */
  ink_i_device devices[INK_I_DEVICES_MAX];
  _Atomic uint64_t chosen; /* bits of the devices to be armed, where they are not listed */
  ink_writer *writer;     /* made with the first track */
  char *path;
  _Atomic uint64_t tracks_written; /* read without the lock too, by who waits for it */
  ink_status first_failure; /* of the writer: nothing more is written after it */
  ink_error failure;
  char write_failure[sizeof((ink_error *)0)->message]; /* of a drain, the first; later ones may be fine */
  char not_armed[sizeof((ink_error *)0)->message]; /* kernels that got no slot: the capture says so */
  char passed[900];       /* at its end: the kernels that ran and that --kernels left out, "TABLE::NAME, TABLE::NAME" */
  char device_failure[sizeof((ink_error *)0)->message]; /* of the first device that failed for good */
  bool by_writer;         /* under `inkmark record`: chunks go into the ring, where there is one */
  char command[4096], host[256]; /* facts, read while the program has not shut itself in */
  char *selftests[INK_I_DEVICES_MAX]; /* the same of devices; NULL: `inkmark selftest` left nothing */
  pid_t pid;
  bool takes_all;         /* a device goes: a drain waits for room as at the end */
  bool stays;             /* its memory does: threads of the program may be in it, or come by, when it ends */
  bool leaves;            /* the process ends at once: nothing is freed, which may want a lock of malloc */
  bool at_once;           /* it is ended by a signal: no kernel is waited for */
  int ended_by;           /* the signal that ends the process, or 0 */
  bool forked;            /* a child: its capture has a name of its own */
  int64_t started_ns;     /* CLOCK_REALTIME */
  char remarks[INK_I_REMARKS_MAX][INK_I_REMARK_BYTES]; /* arming_remarks.h */
  uint32_t remark_count;
  struct ink_i_activity *_Atomic activity; /* NULL: not asked for, or CUDA is not in use yet */
  struct ink_i_stalls *_Atomic stalls;     /* the same */
};

/* Copies what is closed on one device to the capture. */
ink_status ink_i_drain_device(ink_session *session, ink_i_device *device, ink_error *error);
/* After the last drain: stores the tracks that are still open. `ended`: no kernel runs any more. */
ink_status ink_i_drain_open(ink_session *session, ink_i_device *device, bool ended, ink_error *error);
/* In a forked child: what was counted until now, and tracks that are open, are the parent's. */
void ink_i_drain_after_fork(ink_i_device *device);
/* So that the next drain of each device reads and writes everything, whether or not it seems to have changed. */
void ink_i_session_sweep(ink_session *session);
/* The last thing that the thread that drains does. */
void ink_i_session_wait_for_kernels(ink_session *session);
/* The body of the thread that drains; `session` is an ink_session. */
void *ink_i_drain_thread(void *session);
/* The writer, made on first use, with the facts of this process in it. */
ink_status ink_i_session_writer(ink_session *session, ink_error *error);
/* Reads what the facts need; asks for the ring where chunks are to go into one. */
void ink_i_session_prepare(ink_session *session);
void ink_i_session_read_selftest(ink_session *session, const ink_i_device *device);
/* Of the first write that failed: the capture is to say why it is not whole. And of the first device. */
void ink_i_session_note_failure(ink_session *session, ink_status status, const ink_error *why);
ink_status ink_i_session_drain_locked(ink_session *session, ink_error *error);
/* What the host said of itself, and that launches were sampled. */
ink_status ink_i_session_drain_host(ink_session *session, ink_error *error);
/* Of CUPTI's records; `last`: those of buffers that are not full too. */
ink_status ink_i_session_drain_activity(ink_session *session, bool last, ink_error *error);
/* Takes over what was caught; it is written with the next part of the capture. */
void ink_i_session_keep_caught(ink_i_device *device, struct ink_i_caught *caught);

/* ---- windows ---- */

/* Opens or closes a gate. `waits`: where that begins or ends the recording the devices are waited for, before. */
ink_status ink_i_window_turn(ink_session *session, enum ink_i_gate gate, bool open, bool waits, ink_error *error);
/* In front of a launch, which is counted. */
void ink_i_window_launch(ink_session *session);
/* The rest with the session's lock. One device records, or does not. */
ink_status ink_i_window_apply(ink_session *session, ink_i_device *device, bool on, ink_error *error);
/* Turns what is to be turned by now; `us`, or less: when it is to be asked again. */
int64_t ink_i_window_tick(ink_session *session, int64_t us);

/* ---- on the devices: with the session's lock held ---- */

/* Copies the registered modules' descriptors, so that no CUDA call runs under the registry's lock. The
 * copy is the caller's; how many. */
size_t ink_i_session_modules(ink_i_module **out);
/* Points a module's symbol at a buffer; a cudaError_t. */
int ink_i_session_set_symbol(ink_i_device *device, const ink_module_desc *module, ink_buffer *buffer);
/* Arms what ink_session_arm left to the drain thread. */
void ink_i_session_arm_late(ink_session *session);
bool ink_i_session_any_works(const ink_session *session);
/* What a thread has of its own and is to find again: its device and its capture mode. Between the two our
 * calls are legal while a thread captures. */
typedef struct ink_i_calls {
  int (*exchange_capture_mode)(int *mode), (*set_device)(int device); /* of a file that may go before the end */
  int device, mode;
  bool has_device, has_mode;
} ink_i_calls;
/* NULL: in a thread that has no lock of a session, and that calls the driver. */
void ink_i_calls_begin(ink_session *session, ink_i_calls *own);
void ink_i_calls_end(ink_i_calls *own);
/* This thread is between the two. */
bool ink_i_in_calls(void);
ink_status ink_i_session_on_devices(ink_session *session, ink_status (*what)(ink_session *, ink_error *),
                                    ink_error *error);

/* The one session of this process, or NULL. */
ink_session *ink_i_session_current(void);
/* From here on none is, as for marked files that go: a thread of ours stays in it, with its lock. */
void ink_i_session_give_up(void);
bool ink_i_session_is_given_up(void);
void ink_i_session_forget(void);
/* Locks a session that another thread may end meanwhile; false: it has ended, or this thread is in it. */
bool ink_i_session_enter(ink_session *session);
/* Around fork(), outside of its handlers: drains, and holds the lock until the end. */
void ink_i_session_fork_begin(ink_session *session);
void ink_i_session_fork_end(ink_session *session);
/* In a child that no handler of fork saw: what they do. The thread comes last, as there. */
void ink_i_session_after_clone(void);
void ink_i_session_thread_after_clone(void);
/* Takes a marked file out of the registry; its code is gone when this returns, so whatever is called
 * through it is called through another one from now on. */
void ink_i_session_module_goes(const ink_module_desc *gone);
/* A section table that no module has any more: what its kernels counted is written, and their slots are given
 * back. */
void ink_i_session_table_goes(uint64_t hash48);
/* Before a context of cuCtxCreate's is destroyed: all that is there is taken. Slot -1: one that is not recorded. */
void ink_i_session_lets_context_go(ink_session *session, int slot);
/* Before a device is reset, where nobody tells when that is over: as it is between the two below. */
void ink_i_session_lets_device_go(ink_session *session, int device);
/* Around cudaDeviceReset on a device, -1 for the current one: drains and holds the lock, for nobody may use a device
 * while it is reset. The device, or -1: there is nothing to do, and no end. */
int ink_i_session_reset_begin(ink_session *session, int device);
void ink_i_session_reset_end(ink_session *session, int device);
/* Takes what is there, without waiting for kernels: the process may end, or run another program. */
void ink_i_session_keep(ink_session *session);
/* Starts CUPTI's sampling of instructions, once; behind the activity, where that is wanted too. */
void ink_i_session_start_stalls(ink_session *session);
/* Starts CUPTI, once. Also from inside of the first CUDA call, whichever locks the caller holds. */
void ink_i_session_start_activity(ink_session *session);
/* True while the session that ends waits for kernels, which may take any time. */
bool ink_i_session_waits(void);
/* True in a thread that is inside of a call for the session, with its lock. */
bool ink_i_session_is_locked_here(ink_session *session);
/* True in a forked child that could not keep the session. */
bool ink_i_session_is_gone(const ink_session *session);
/* ink_session_close; *path is the capture's name, the caller's to free, or NULL if none was made. */
ink_status ink_i_session_close(ink_session *session, char **path, ink_error *error);

#endif
