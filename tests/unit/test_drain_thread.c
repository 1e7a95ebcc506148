/* SPDX-License-Identifier: MIT */
/* The thread that drains, alone: how long it waits, when a drain is due, and what it calls in each turn. All that it calls stands
 * here. Nothing is held against an upper limit of time. */
#include "cuda/drain_thread.c"

#include "check.h"

#include <inttypes.h>
#include <string.h>

static ink_session session;
static uint64_t claims, read_claims_count, drains, ticks, late, own, own_ends, waited, set_device_of[INK_I_DEVICES_MAX], exchanges;
static int claims_code, exchange_code, last_mode;
static uint32_t claim_more, stop_behind; /* at each look; turns of the thread */

int ink_i_counts_read_claims(ink_i_device *d, uint64_t *out) {
  (void)d;
  read_claims_count++;
  *out = claims;
  claims += claim_more;
  return claims_code;
}
ink_status ink_i_session_drain_locked(ink_session *s, ink_error *error) {
  (void)error;
  drains++;
  CHECK(own == own_ends + 1, "what is drained is not the thread's own");
  for (int i = 0; i < INK_I_DEVICES_MAX; i++)
    s->devices[i].claims = claims;
  return INK_OK;
}
void ink_i_session_arm_late(ink_session *s) {
  (void)s;
  late++;
}
int64_t ink_i_window_tick(ink_session *s, int64_t us) {
  CHECK(us == INT64_MAX, "%" PRId64, us);
  if (++ticks == stop_behind)
    s->stop = true;
  return 700;
}
void ink_i_activity_own_begin(void) { own++; }
void ink_i_activity_own_end(void) { own_ends++; }
void ink_i_session_wait_for_kernels(ink_session *s) {
  (void)s;
  waited++;
}

static int set_device(int device) {
  set_device_of[device]++;
  return 0;
}
static int exchange(int *mode) {
  exchanges++;
  last_mode = *mode;
  return exchange_code;
}
static const ink_cuda_api cuda = {.set_device = set_device, .exchange_capture_mode = exchange}, other_cuda = {.set_device = set_device, .exchange_capture_mode = exchange};

static int64_t now_us(void) { return ink_i_monotonic_ns() / 1000; }

/* By how many were claimed since the last look: so long that an eighth of the tracks is claimed until the next one. */
static void how_soon(void) {
  static const struct {
    int64_t us;
    uint64_t claimed;
    uint32_t tracks;
    int64_t most, want;
  } cases[] = {{1000, 0, 64, 20000, 2000}, {12000, 0, 64, 20000, 20000}, {10000, 0, 64, 20000, 20000}, {1000, 1, 64, 20000, 8000}, {1000, 8, 64, 20000, 1000}, {2000, 4, 64, 20000, 4000},
               {2000, 16, 64, 20000, 1000}, {2000, 7, 80, 20000, 2857}, {2000, 1, 4, 20000, 1000}, {19999, 1, 64, 20000, 20000}, {1000, 20, 160, 500, 500}, {400, 0, 64, 20000, 1000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int64_t got = ink_i_look_again_us(cases[i].us, cases[i].claimed, cases[i].tracks, cases[i].most);
    CHECK(got == cases[i].want, "case %zu: %" PRId64, i, got);
  }
}

/* A device is drained where more than a quarter of its tracks was claimed since, or some were and no more come. */
static void when_due(void) {
  static const struct {
    bool made, dead;
    int code;
    uint64_t claims, looked, drained;
    bool due;
    int64_t next;
  } cases[] = {{false, false, 0, 64, 0, 0, false, 9000}, {true, true, 0, 64, 0, 0, false, 9000}, {true, false, 0, 0, 0, 0, false, 2000}, {true, false, 0, 16, 0, 0, false, 1000},
               {true, false, 0, 17, 0, 0, true, 1000},   {true, false, 0, 17, 16, 1, false, 8000}, {true, false, 0, 17, 16, 0, true, 8000}, {true, false, 0, 17, 17, 16, true, 2000},
               {true, false, 0, 17, 17, 17, false, 2000}, {true, false, 7, 17, 17, 17, true, 9000}, {true, false, 0, 100, 90, 83, true, 1000}, {true, false, 0, 100, 90, 84, false, 1000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ink_i_device d = {.made = cases[i].made, .dead = cases[i].dead, .cuda = &cuda, .index = 3, .looked = cases[i].looked, .claims = cases[i].drained};
    int64_t next = 9000;
    const uint64_t before = set_device_of[3];
    d.info.track_count = 64;
    claims = cases[i].claims;
    claims_code = cases[i].code;
    claim_more = 0;
    const bool due = look(&d, 1000, 20000, &next);
    CHECK(due == cases[i].due && next == cases[i].next, "case %zu: %d, %" PRId64, i, due, next);
    CHECK(set_device_of[3] == before + (cases[i].made && !cases[i].dead), "case %zu", i);
    CHECK(d.looked == (cases[i].made && !cases[i].dead && !cases[i].code ? cases[i].claims : cases[i].looked), "case %zu", i);
    int64_t sooner = 500;
    look(&d, 1000, 20000, &sooner);
    CHECK(sooner == 500, "case %zu: %" PRId64, i, sooner);
  }
  claims_code = 0;
}

/* Once for each CUDA runtime that there is, and again where it failed. */
static void modes(void) {
  const ink_cuda_api *relaxed = NULL;
  memset(session.devices, 0, sizeof session.devices);
  relax(&session, &relaxed);
  CHECK(!exchanges && !relaxed, "no device, and %" PRIu64 " calls", exchanges);
  session.devices[INK_I_DEVICES_MAX - 1].made = true;
  session.devices[INK_I_DEVICES_MAX - 1].cuda = &cuda;
  session.devices[2].cuda = &other_cuda; /* not made */
  exchange_code = 4;
  relax(&session, &relaxed);
  CHECK(exchanges == 1 && !relaxed && last_mode == 2, "%" PRIu64 " calls, %d", exchanges, last_mode);
  exchange_code = 0;
  relax(&session, &relaxed);
  relax(&session, &relaxed);
  CHECK(exchanges == 2 && relaxed == &cuda, "%" PRIu64 " calls", exchanges);
  session.devices[2].made = true;
  relax(&session, &relaxed);
  CHECK(exchanges == 3 && relaxed == &other_cuda, "%" PRIu64 " calls", exchanges);
}

static void begin(uint32_t drain_ms, uint32_t turns) {
  pthread_condattr_t attributes;
  memset(&session, 0, sizeof session);
  session.options.drain_ms = drain_ms;
  pthread_mutex_init(&session.lock, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&session.wake, &attributes);
  pthread_condattr_destroy(&attributes);
  sem_init(&session.left, 0, 0);
  claims = read_claims_count = drains = ticks = late = own = own_ends = waited = exchanges = 0;
  claim_more = 0;
  stop_behind = turns;
  memset(set_device_of, 0, sizeof set_device_of);
}

static void device(int at, uint32_t tracks) {
  session.devices[at].made = true;
  session.devices[at].cuda = &cuda;
  session.devices[at].index = at;
  session.devices[at].info.track_count = tracks;
}

static void waits(void) {
  begin(0, 0);
  pthread_mutex_lock(&session.lock);
  for (int i = 0; i < 3; i++) { /* over the end of a second, too */
    const int64_t begun = now_us();
    CHECK(wait_us(&session, 450000), "woken");
    CHECK(now_us() - begun >= 449999, "%" PRId64 " us", now_us() - begun);
  }
  int64_t begun = now_us();
  CHECK(wait_us(&session, 1200001), "woken");
  CHECK(now_us() - begun >= 1200000, "%" PRId64 " us", now_us() - begun);
  begun = now_us();
  CHECK(wait_us(&session, 300), "woken");
  CHECK(now_us() - begun >= 299, "%" PRId64 " us", now_us() - begun);
  session.stop = true;
  CHECK(!wait_us(&session, 100), "it is to stop");
  pthread_mutex_unlock(&session.lock);
}

static void *wake(void *user) {
  (void)user;
  pthread_mutex_lock(&session.lock); /* not before the other one waits */
  session.stop = true;
  pthread_cond_signal(&session.wake);
  pthread_mutex_unlock(&session.lock);
  return NULL;
}

/* However long its period is, it ends when it is woken. */
static void is_woken(void) {
  pthread_t thread;
  begin(3600000, 0);
  device(1, 64);
  pthread_mutex_lock(&session.lock);
  if (pthread_create(&thread, NULL, wake, NULL))
    exit(1);
  CHECK(!wait_us(&session, INT64_C(3600000000)), "not woken");
  pthread_mutex_unlock(&session.lock);
  pthread_join(thread, NULL);
}

static void turns(void) {
  /* a short period: by the clock, at each of the turns */
  begin(1, 30);
  device(0, 64);
  device(INK_I_DEVICES_MAX - 1, 64);
  int64_t begun = now_us();
  ink_i_drain_thread(&session);
  CHECK(now_us() - begun >= 29 * 700 + 1000, "%" PRId64 " us", now_us() - begun);
  CHECK(ticks == 30 && late == 30 && own == 30 && own_ends == 30, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, ticks, late, own, own_ends);
  CHECK(drains >= 10 && drains <= 30 && exchanges == 1, "%" PRIu64 " drains", drains);
  CHECK(read_claims_count == 60 && set_device_of[0] == 30 && set_device_of[INK_I_DEVICES_MAX - 1] == 30, "%" PRIu64 " looks", read_claims_count);
  CHECK(!waited && !sem_trywait(&session.left), "it has not left");
  CHECK(pthread_mutex_trylock(&session.lock) == 0, "the lock is taken");
  /* nothing is claimed, and a second is not over: no drain */
  begin(1000, 8);
  device(5, 64);
  ink_i_drain_thread(&session);
  CHECK(ticks == 8 && read_claims_count == 8 && drains <= 1, "%" PRIu64 " drains", drains);
  /* 17 of 64 more at each look, and a drain has those of its own look too: one at every second */
  begin(1000, 8);
  device(5, 64);
  claim_more = 17;
  ink_i_drain_thread(&session);
  CHECK(drains == 4, "%" PRIu64 " drains", drains);
  /* above a second the clock alone drains */
  begin(1001, 1);
  device(5, 64);
  claim_more = 64;
  begun = now_us();
  session.stays = true;
  ink_i_drain_thread(&session);
  CHECK(!read_claims_count && drains == 1 && waited == 1 && now_us() - begun >= 1001000, "%" PRIu64 " looks, %" PRIu64 " drains", read_claims_count, drains);
  begin(1000, 1);
  session.stays = session.leaves = true;
  ink_i_drain_thread(&session);
  CHECK(!waited && !drains, "%" PRIu64, waited);
  begin(1000, 1);
  session.stop = true;
  ink_i_drain_thread(&session);
  CHECK(!ticks && !sem_trywait(&session.left), "%" PRIu64 " turns", ticks);
}

int main(void) {
  how_soon();
  when_due();
  modes();
  waits();
  is_woken();
  turns();
  return check_result("drain_thread");
}
