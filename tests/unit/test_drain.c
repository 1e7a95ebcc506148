/* SPDX-License-Identifier: MIT */
/* The drain against a GPU that runs between any two of its calls, and in the midst of its copies: what is in
 * the capture is whole and the track's own, and kept + lost + open is what ran, exactly. */
#include "check.h"
#include "expected.h"
#include "cuda/drain_open.h"
#include "cuda/device_buffer.h"
#include "cuda/flight.h"
#include "inkmark/capture.h"
#include "made_up_gpu.h"
#include "number_text.h"
#include "synth.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

ink_register_table_fn ink_register_table;
ink_register_module_fn ink_register_module;
ink_unregister_module_fn ink_unregister_module;

static uint64_t allocations; /* of the library: see CMakeLists.txt */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *at, size_t bytes);
void *__wrap_malloc(size_t bytes) { allocations++; return __real_malloc(bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { allocations++; return __real_calloc(n, bytes); }
void *__wrap_realloc(void *at, size_t bytes) { allocations++; return __real_realloc(at, bytes); }

/* ---- one recording ---- */

static const char *path;
static uint64_t already_closed[GPU_KERNELS], already_missed[GPU_KERNELS], already_unknown; /* before a fork */

static bool held, flight, live; /* the sessions that are opened from now on */

static ink_session *open_session(uint32_t tracks, uint32_t records, bool keep_first) {
  const ink_session_options options = {.size = sizeof options, .output = path, .replace = true, .tracks = tracks,
                                       .records_per_track = records, .keep_first = keep_first,
                                       .hang_ms = held ? 86400000 : 0, .flight = flight, .live = live};
  ink_session *s = calloc(1, sizeof *s);
  ink_error error;
  NEED(ink_i_options_parse(&options, &s->options, &error), error);
  return s;
}

static void forget_gpu(uint64_t seed) {
  memset(&gpu, 0, sizeof gpu);
  memset(already_closed, 0, sizeof already_closed);
  memset(already_missed, 0, sizeof already_missed);
  already_unknown = 0;
  gpu.random = seed;
  gpu.free_bytes = (size_t)8 << 30;
}

static ink_session *start(uint64_t seed, uint32_t tracks, uint32_t records, bool keep_first) {
  ink_error error;
  forget_gpu(seed);
  ink_session *s = open_session(tracks, records, keep_first);
  NEED(ink_i_device_make(&s->devices[0], 0, &s->options, &gpu_module, &error), error);
  gpu.device = &s->devices[0];
  return s;
}

static void drain(ink_session *s) {
  ink_error error;
  NEED(ink_i_drain_device(s, gpu.device, &error), error);
}

static void last_drain(ink_session *s) {
  ink_error error;
  gpu.device->sweep = true;
  drain(s);
  NEED(ink_i_drain_open(s, gpu.device, true, &error), error);
}

static void free_session(ink_session *s) {
  gpu.rate = 0;
  ink_i_device_free(&s->devices[0], true);
  ink_i_options_free(&s->options);
  free(s->path);
  free(s);
  gpu.device = NULL;
}

static void close_capture(ink_session *s) {
  ink_error error;
  if (s->writer)
    NEED(ink_writer_close(s->writer, &error), error);
  s->writer = NULL;
}

/* ---- what the capture must say ---- */

typedef struct sums {
  uint64_t kept[GPU_KERNELS], open[GPU_KERNELS], lost[GPU_KERNELS], missed[GPU_KERNELS];
  uint64_t all_kept, all_open, all_lost, unknown;
} sums;

static bool is_own(const ink_stored_track *t) {
  const ink_track *h = &t->header;
  const uint32_t low = (uint32_t)h->ticket;
  const uint64_t ticket = h->ticket, opened = gpu_opened[ticket & 0xffff], shut = gpu_closed[ticket & 0xffff];
  bool own = h->grid_id == ticket / 4 && h->thread == (low & 1023) && h->sm_open == low * 5 &&
             h->cluster_rank == low * 3 && h->open_clock0 == opened << 8 &&
             h->open_global_ns == opened && h->open_clock1 == opened << 8;
  for (int i = 0; i < 3; i++)
    own = own && h->grid_dim[i] == low + 1 && h->block_dim[i] == low + 2 && h->block_index[i] == low;
  if (h->state != INK_TRACK_CLOSED)
    return own;
  return own && h->close_clock0 == shut << 8 && h->close_global_ns == shut &&
         h->close_clock1 == (shut << 8) + 9 && h->sm_close == low % 9 && h->extra == ticket % 5 &&
         h->words == gpu_words(ticket) && h->aux_words == gpu_aux_words(ticket) && h->aux_extra == 0;
}

static bool has_own_words(const uint64_t *words, uint64_t kept, uint64_t executed, uint64_t ticket, bool aux,
                          bool first, uint64_t records) {
  const uint64_t from = first ? 0 : executed - kept;
  /* More than a ring: what was stored of it while it was open joins. */
  bool own = kept >= (executed < records ? executed : records) && kept <= executed;
  for (uint64_t i = 0; i < kept && own; i++)
    own = words[i] == gpu_word(ticket, from + i, aux);
  return own;
}

/* One that was stored while it was open comes in pieces. */
static bool has_own_pieces(const ink_stored_track *t, int which, bool first, uint64_t records) {
  const uint64_t executed = which ? t->header.aux_words : t->header.words;
  const uint64_t n = t->piece_count[which];
  if (n < 2)
    return has_own_words(which ? t->aux : t->ring, which ? t->aux_words : t->ring_words, executed, t->header.ticket,
                         which, first, records);
  uint64_t from = executed, kept = 0;
  for (uint64_t i = n; i--;) {
    const ink_piece *piece = &t->pieces[which][i];
    from -= piece->count;
    kept += piece->count;
    for (uint64_t k = 0; k < piece->count; k++)
      if (piece->words[k] != gpu_word(t->header.ticket, from + k, which))
        return false;
    if (piece->lost || piece->lost_more)
      break;
  }
  return kept >= (executed < records ? executed : records);
}

static sums read_capture(const ink_i_device *d) {
  sums s = {0};
  id_map tickets = {0};
  ink_capture *capture;
  ink_error error;
  const bool first = d->info.flags & INK_BUFFER_KEEP_FIRST;
  NEED(ink_capture_open(path, &capture, &error), error);
  s.unknown = ink_capture_get_facts(capture)->unknown_kernels;
  const ink_kernel *kernels;
  const ink_launch *launches;
  const size_t n = ink_capture_kernels(capture, &kernels);
  ink_capture_launches(capture, &launches);
  CHECK(!ink_capture_get_facts(capture)->damaged_chunks, "%s", ink_capture_get_facts(capture)->note);
  for (uint64_t i = 0; i < ink_capture_track_count(capture); i++) {
    ink_stored_track t;
    ink_capture_track(capture, i, &t);
    const uint64_t ticket = t.header.ticket, kernel = (kernels[launches[t.launch].kernel].key & 0xffff) - 1;
    const bool closed = t.header.state == INK_TRACK_CLOSED;
    CHECK(is_own(&t), "the header of ticket %" PRIu64 " is torn", ticket);
    if (closed)
      CHECK(has_own_pieces(&t, 0, first, d->info.records_per_track) &&
                has_own_pieces(&t, 1, first, d->info.records_per_track),
            "the words of ticket %" PRIu64 " are not its own", ticket);
    CHECK(id_map_get(&tickets, ticket) == INK_ID_NONE, "ticket %" PRIu64 " is there twice", ticket);
    id_map_put(&tickets, ticket, 0);
    CHECK(kernel < GPU_KERNELS, "kernel %" PRIu64, kernel);
    if (kernel < GPU_KERNELS)
      (closed ? s.kept : s.open)[kernel]++;
  }
  for (size_t i = 0; i < n; i++) {
    const uint64_t kernel = (kernels[i].key & 0xffff) - 1;
    s.lost[kernel] += kernels[i].tracks_lost;
    s.missed[kernel] += kernels[i].missed;
  }
  for (int i = 0; i < GPU_KERNELS; i++) {
    s.all_kept += s.kept[i];
    s.all_open += s.open[i];
    s.all_lost += s.lost[i];
  }
  id_map_free(&tickets);
  ink_capture_free(capture);
  return s;
}

static void check_sums(const ink_i_device *d, const char *what, uint64_t seed) {
  const sums s = read_capture(d);
  uint64_t open = 0;
  for (int i = 0; i < GPU_KERNELS; i++) {
    const uint64_t closed = gpu.closed[i] - already_closed[i], missed = gpu.missed[i] - already_missed[i];
    CHECK(s.kept[i] + s.lost[i] == closed, "%s %" PRIu64 ": kernel %d: %" PRIu64 " kept + %" PRIu64
          " lost, %" PRIu64 " closed", what, seed, i, s.kept[i], s.lost[i], closed);
    CHECK(s.missed[i] == missed, "%s %" PRIu64 ": kernel %d missed %" PRIu64 ", is %" PRIu64, what, seed, i,
          missed, s.missed[i]);
    open += s.open[i];
  }
  CHECK(s.unknown == gpu.unknown - already_unknown, "%s %" PRIu64 ": %" PRIu64 " unknown, not %" PRIu64, what, seed,
        s.unknown, gpu.unknown - already_unknown);
  CHECK(open <= gpu_open_tracks(), "%s %" PRIu64 ": %" PRIu64 " open, not %" PRIu64, what, seed, open,
        gpu_open_tracks());
}

/* Where a text is asked for: what a history came to, what it took of the device, and each track that was kept. */
static void tell(const ink_i_device *d, const char *what, uint64_t seed) {
  if (!expected_out)
    return;
  ink_capture *capture;
  ink_error error;
  NEED(ink_capture_open(path, &capture, &error), error);
  fprintf(expected_out, "%s %" PRIu64 ": %" PRIu64 " calls, %" PRIu64 " copies of %" PRIu64 " bytes, %" PRIu64 " waits; claims %" PRIu64 ", open %u, unknown %" PRIu64 "\n",
          what, seed, gpu.calls, gpu.copies, gpu.bytes, gpu.waits, d->claims, d->open_count, d->unknown);
  const ink_kernel *kernels;
  for (size_t i = 0, n = ink_capture_kernels(capture, &kernels); i < n; i++)
    fprintf(expected_out, "  kernel %" PRIx64 ": lost %" PRIu64 ", missed %" PRIu64 "\n", kernels[i].key & 0xffff, kernels[i].tracks_lost, kernels[i].missed);
  uint64_t tracks = ink_capture_track_count(capture), hash = 0;
  for (uint64_t i = 0; i < tracks; i++) {
    ink_stored_track t;
    ink_capture_track(capture, i, &t);
    const uint64_t of[] = {t.header.ticket, t.header.state, t.header.flags, t.header.close_global_ns, t.ring_words, t.aux_words, t.piece_count[0], t.piece_count[1], t.header.words, t.header.aux_words};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
      hash = (hash ^ of[k]) * UINT64_C(0x100000001b3);
    for (int which = 0; which < 2; which++)
      for (uint64_t k = 0; k < t.piece_count[which]; k++)
        hash = (hash ^ t.pieces[which][k].count ^ (uint64_t)t.pieces[which][k].lost << 32) * UINT64_C(0x100000001b3);
  }
  fprintf(expected_out, "  %" PRIu64 " tracks %016" PRIx64 "\n", tracks, hash);
  ink_capture_free(capture);
}

/* ---- random histories ---- */

static struct {
  uint64_t kept, lost, open, drains;
} seen_in_all;

static void note(const ink_i_device *d) {
  const sums s = read_capture(d);
  seen_in_all.kept += s.all_kept;
  seen_in_all.lost += s.all_lost;
  seen_in_all.open += s.all_open;
}

static const char *mode_name(bool keep_first, bool forks) {
  static const char *const modes[] = {"keep last", "held", "flight", "flight", "live", "live held", "live flight", "live flight"};
  return forks ? "fork" : keep_first ? "keep first" : modes[4 * live + 2 * flight + held];
}

static void random_history(uint64_t seed, bool keep_first, bool forks) {
  const uint32_t ring = 4u << gpu_random(3), tracks = 1u << gpu_random(5); /* one after the other, whatever the compiler */
  ink_session *s = start(seed, tracks, ring, keep_first);
  ink_i_device *d = gpu.device;
  const uint32_t rates[] = {1, 3, 20, 200};
  gpu.stay_one_in = seed % 3 ? 6 : 0;
  for (uint32_t round = 0, rounds = 4 + gpu_random(20); round < rounds; round++) {
    gpu.rate = gpu_random(4) ? rates[gpu_random(4)] : 0;
    gpu.tracks_left += gpu_random(3) ? gpu_random(40) : 0;
    gpu.ends = gpu_random(5) == 0;
    drain(s);
    seen_in_all.drains++;
    if (forks && round == rounds / 2) { /* on as the child */
      gpu_runs();
      gpu_close_whole();
      close_capture(s);
      ink_i_drain_after_fork(d);
      d->described = false;
      memcpy(already_closed, gpu.closed, sizeof gpu.closed);
      memcpy(already_missed, gpu.missed, sizeof gpu.missed);
      already_unknown = gpu.unknown;
      ink_i_registry_after_fork();
      free(s->path);
      s->path = NULL;
    }
  }
  gpu.ends = seed % 2;
  gpu_finish();
  gpu.rate = 0;
  last_drain(s);
  const bool written = s->writer != NULL;
  close_capture(s);
  if (written) {
    if (held || flight)
      CHECK(read_capture(d).all_lost == 0, "seed %" PRIu64 ": %" PRIu64 " lost of what waits", seed,
            read_capture(d).all_lost);
    check_sums(d, mode_name(keep_first, forks), seed);
    note(d);
    tell(d, mode_name(keep_first, forks), seed);
    if (!forks && !keep_first)
      CHECK(read_capture(d).all_open == gpu_open_tracks(), "seed %" PRIu64, seed);
  }
  free_session(s);
  remove(path);
}

/* Killed at any moment: what the file has until then names no track twice, and no more than there were. */
static void cut_history(uint64_t seed) {
  ink_session *s = start(seed, 8, 8, false);
  ink_i_device *d = gpu.device;
  gpu.stay_one_in = 4;
  for (uint32_t round = 0, rounds = 2 + gpu_random(8); round < rounds; round++) {
    gpu.rate = gpu_random(2) ? 20 : 2;
    gpu.tracks_left += gpu_random(30);
    gpu.ends = gpu_random(3) == 0;
    drain(s);
  }
  gpu.rate = 0;
  size_t size = 0;
  close_capture(s);
  gpu_close_whole(); /* else its counts have a track that closes twice */
  unsigned char *bytes = s->path ? synth_read_file(path, &size) : NULL;
  const uint64_t opened = d->buffer->claim;
  for (int i = 0; i < 30 && size > 100; i++) {
    FILE *file = fopen(path, "wb");
    const size_t cut = 32 + gpu_random((uint32_t)size - 32);
    fwrite(bytes, 1, cut, file);
    fclose(file);
    ink_capture *capture;
    ink_error error;
    NEED(ink_capture_open(path, &capture, &error), error);
    const ink_kernel *kernels;
    uint64_t sum = ink_capture_track_count(capture);
    for (size_t k = 0, n = ink_capture_kernels(capture, &kernels); k < n; k++)
      sum += kernels[k].tracks_lost;
    uint64_t most = gpu_open_tracks();
    for (int k = 0; k < GPU_KERNELS; k++)
      most += gpu.closed[k];
    CHECK(sum <= most && most <= opened, "seed %" PRIu64 " cut at %zu: %" PRIu64 " of %" PRIu64, seed, cut, sum, most);
    ink_capture_free(capture);
  }
  free(bytes);
  free_session(s);
  remove(path);
}

/* ---- calls ---- */

static void call_counts(void) {
  ink_session *s = start(5, 16384, 32, false);
  ink_i_device *d = gpu.device;
  gpu.tracks_left = 16000;
  gpu_finish();
  const uint64_t before = gpu.copies;
  drain(s);
  const uint64_t full = gpu.copies - before;
  CHECK(full >= 3 && full < 40, "%" PRIu64 " copies for 16,000 tracks", full);
  for (int i = 0; i < 2 * 16; i++) {
    const uint64_t copies = gpu.copies, bytes = gpu.bytes, waits = gpu.waits;
    const bool counters = d->until_full == 0; /* every so many */
    drain(s);
    CHECK(counters || (gpu.copies - copies == 1 && gpu.bytes - bytes == 8 && gpu.waits - waits == 1),
          "idle: %" PRIu64 " copies, %" PRIu64 " bytes, %" PRIu64 " waits", gpu.copies - copies,
          gpu.bytes - bytes, gpu.waits - waits);
  }
  gpu.stay_one_in = 1;
  gpu.tracks_left = 1;
  gpu_finish();
  drain(s);
  uint32_t rings_read = 0;
  for (int i = 0; i < 8; i++) { /* a track is open: its state and header and the counters, seldom its rings */
    const uint64_t copies = gpu.copies, bytes = gpu.bytes;
    const bool counters = d->until_full == 0;
    drain(s);
    const bool little = gpu.copies - copies == 4 && gpu.bytes - bytes < 1000;
    rings_read += !little && !counters;
    CHECK(counters || gpu.copies - copies <= 8, "one open: %" PRIu64 " copies, %" PRIu64 " bytes",
          gpu.copies - copies, gpu.bytes - bytes);
  }
  CHECK(rings_read <= 3, "the rings of a track that stays open were read in %u of 8 drains", rings_read);
  gpu.ends = true;
  gpu_finish();
  const uint64_t made = allocations, copies = gpu.copies;
  for (int i = 0; i < 20; i++) {
    gpu.tracks_left = 100;
    gpu_finish();
    drain(s);
  }
  CHECK(allocations == made, "%" PRIu64 " allocations in 20 drains", allocations - made);
  CHECK(gpu.copies - copies < 20 * 16, "%" PRIu64 " copies for 20 times 100 tracks", gpu.copies - copies);
  last_drain(s);
  close_capture(s);
  check_sums(d, "calls", 0);
  CHECK(read_capture(d).all_lost == 0, "lost %" PRIu64, read_capture(d).all_lost);
  printf("drain: %" PRIu64 " copies for the first 16,000 tracks\n", full);
  free_session(s);
  remove(path);
}

/* Marks take an address below 4 GiB for none: rings there are asked for once more, then refused with the reason. */
static void low_memory(void) {
  for (int low = 1; low <= 2; low++) {
    ink_error error;
    forget_gpu(9);
    gpu.high_first = 1;
    gpu.low = low;
    ink_session *s = open_session(4, 32, false);
    ink_i_device *d = &s->devices[0];
    const ink_status status = ink_i_device_make(d, 0, &s->options, &gpu_module, &error);
    CHECK(gpu.low == 0 && gpu.low_at[0] && !((uintptr_t)gpu.low_at[0] >> 32), "no memory below 4 GiB was given");
    if (low == 1) {
      CHECK(status == INK_OK && (uintptr_t)d->rings >> 32 && gpu.low_freed == 1, "rings at %p", d->rings);
    } else {
      CHECK(status == INK_ERROR_MEMORY && strstr(error.message, "below 4 GiB only"), "%s", error.message);
      CHECK(gpu.low_freed == 2, "%d of both are given back", gpu.low_freed);
    }
    free_session(s);
    munmap(gpu.low_at[0], 1);
    if (gpu.low_at[1])
      munmap(gpu.low_at[1], 1);
  }
}

/* A program with more sections than there are first places: a kernel's search is short still. It is done here as kernels do it. */
static void many_sections(void) {
  enum { TABLES = 1000, SECTIONS = 16, PASSED_MOST = 64 };
  ink_error error;
  for (int t = 0; t < TABLES; t++) {
    char name[16], sections[] = "A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P";
    ink_i_print(name, sizeof name, "T%d", t);
    NEED(ink_register_sections(name, sections, "many.cu", 1, &error), error);
  }
  forget_gpu(5);
  ink_session *s = open_session(4, 32, false);
  ink_i_device *d = &s->devices[0];
  NEED(ink_i_device_make(d, 0, &s->options, &gpu_module, &error), error);
  const ink_kernel_slot *slots = ink_i_device_slots(d);
  uint32_t most = 0, found = 0;
  for (uint32_t i = 0; i < d->kernel_count; i++) {
    const uint64_t key = d->slots[d->kernels[i]].key;
    uint32_t at = INK_KERNEL_FIRST(key), passed = 0;
    for (; slots[at].key && slots[at].key != key; passed++)
      at = (at + INK_KERNEL_STEP(key)) & d->buffer->kernel_mask;
    found += slots[at].key == key;
    most = passed > most ? passed : most;
  }
  CHECK(found == TABLES * SECTIONS + GPU_KERNELS, "%u kernels are found", found);
  CHECK(most < PASSED_MOST, "a search passes %u slots of other kernels", most);
  free_session(s);
}

/* ---- failures ---- */

static void failing_calls(void) {
  uint64_t calls = 1;
  for (uint64_t at = 1; at <= calls; at++) { /* of arming */
    ink_error error;
    forget_gpu(at);
    ink_session *s = open_session(8, 8, false);
    gpu.fails_at = at <= calls ? at : 0;
    const ink_status status = ink_i_device_make(&s->devices[0], 0, &s->options, &gpu_module, &error);
    if (status)
      calls = at + 1;
    gpu.device = &s->devices[0];
    free_session(s);
  }
  CHECK(calls > 15, "arming made %" PRIu64 " calls", calls);
  for (uint64_t at = 1; at < 120; at++) {
    ink_session *s = start(at, 8, 8, false);
    ink_i_device *d = gpu.device;
    gpu.tracks_left = 100;
    gpu.rate = 10;
    gpu.fails_at = gpu.calls + at;
    ink_status status = INK_OK;
    ink_error error = {0};
    for (int i = 0; i < 60 && !status; i++)
      status = ink_i_drain_device(s, d, &error);
    CHECK(status == INK_ERROR_CUDA && d->dead && strstr(error.message, "illegal address"), "call %" PRIu64 ": %s", at,
          error.message);
    CHECK(ink_i_drain_device(s, d, &error) == INK_OK, "a dead device is left alone");
    const bool written = s->writer != NULL;
    close_capture(s);
    gpu.rate = 0;
    if (written) {
      const sums sum = read_capture(d);
      for (int i = 0; i < GPU_KERNELS; i++)
        CHECK(sum.kept[i] + sum.lost[i] <= gpu.closed[i], "%s, call %" PRIu64 ": %" PRIu64 " kept, %" PRIu64 " lost, %" PRIu64 " closed",
              flight ? "flight" : "plain", at, sum.kept[i], sum.lost[i], gpu.closed[i]);
    }
    free_session(s);
    remove(path);
  }
}

/* Writes fail for a while: what is there still when they do not any more is not lost. */
static void failing_writes(void) {
  struct rlimit limit, small;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &limit);
  ink_session *s = start(3, 64, 8, false);
  ink_i_device *d = gpu.device;
  ink_error error;
  gpu.tracks_left = 5;
  gpu_finish();
  drain(s);
  small = limit;
  small.rlim_cur = 2000;
  setrlimit(RLIMIT_FSIZE, &small);
  gpu.tracks_left = 50;
  gpu_finish();
  const ink_status status = ink_i_drain_device(s, d, &error);
  CHECK(status == INK_ERROR_IO, "%s", error.message);
  setrlimit(RLIMIT_FSIZE, &limit);
  drain(s); /* not the last one: it reads what is not written yet without being told to read everything */
  CHECK(s->tracks_written + gpu.unknown == 55, "%" PRIu64 " written", (uint64_t)s->tracks_written);
  last_drain(s);
  close_capture(s);
  check_sums(d, "writes", 0);
  free_session(s);
  remove(path);
}

/* A file that was compiled before there was an entry point for the free memory is armed as it was then. */
static void older_file(void) {
  static ink_cuda_api older;
  static ink_module_desc module;
  ink_i_module *modules;
  ink_error error;
  older = gpu_api;
  older.bytes = offsetof(ink_cuda_api, memory);
  module = gpu_module;
  module.cuda = &older;
  ink_register_module(&module);
  ink_i_registry_lock();
  const size_t n = ink_i_registry_modules(&modules);
  ink_i_registry_unlock();
  CHECK(n == 1, "%zu files", n);
  forget_gpu(1);
  ink_session *s = open_session(0, 16, false);
  NEED(ink_i_device_make(&s->devices[0], 0, &s->options, &module, &error), error);
  CHECK(s->devices[0].info.track_count == 16384, "%u tracks", s->devices[0].info.track_count);
  free_session(s);
  ink_i_registry_remove(&module);
}

/* A library that goes while a drain of the same thread waits in one of its calls: nothing points into it afterwards. */
static ink_cuda_api going_api;
static ink_module_desc going;
static bool goes;
static int wait_and_go(void *waited_for) {
  const int code = gpu_wait(waited_for);
  if (goes) {
    goes = false;
    ink_unregister_module(&going);
    memset(&going_api, 0xa5, sizeof going_api);
    memset(&going, 0xa5, sizeof going);
  }
  return code;
}
static void unloaded_inside(bool other_stays) {
  static ink_module_desc stays;
  const ink_session_options options = {.size = sizeof options, .output = path, .replace = true, .tracks = 8, .records_per_track = 8,
                                       .drain_ms = UINT32_MAX};
  ink_session *s;
  ink_error error = {0};
  forget_gpu(1);
  going_api = gpu_api;
  going_api.stream_synchronize = wait_and_go;
  going = gpu_module;
  going.cuda = &going_api;
  stays = gpu_module;
  ink_register_module(&going);
  NEED(ink_session_open(&options, &s, &error), error);
  NEED(ink_session_arm(s, &error), error);
  ink_i_device *d = gpu.device = &s->devices[0];
  if (other_stays)
    ink_register_module(&stays);
  CHECK(d->cuda == &going_api && d->module == &going, "another file is used");
  goes = true;
  ink_session_drain(s, &error);
  CHECK(!goes, "the library did not go");
  CHECK(d->cuda != &going_api && d->module != &going, "the device points into the library that went");
  CHECK(d->dead == !other_stays, "dead: %d", d->dead);
  ink_session_close(s, NULL, &error);
  if (other_stays)
    ink_unregister_module(&stays);
  remove(path);
}

/* ---- a thread that is stopped between two stores ---- */

static void lane_to(int step) {
  gpu.tracks_left += gpu.lanes[0].step == 0;
  do
    gpu_step(&gpu.lanes[0]);
  while (gpu.lanes[0].step != step);
}

/* It has its ticket when a drain looks, and comes to its slot later, when nothing is claimed any more. */
static void late_claim(void) {
  ink_session *s = start(1, 8, 8, false);
  lane_to(2);
  for (int i = 0; i < 3; i++)
    drain(s);
  gpu_finish();
  drain(s);
  CHECK(s->tracks_written == 1, "%" PRIu64 " tracks", (uint64_t)s->tracks_written);
  last_drain(s);
  close_capture(s);
  check_sums(gpu.device, "late", 0);
  free_session(s);
  remove(path);
}

/* In the midst of opening and of closing, in a slot that another track had: it is not stored as open, with the
 * other's rows or though the counters may have it. */
static void half_way(int step) {
  ink_session *s = start(1, 1, 8, false);
  lane_to(0);
  drain(s);
  drain(s);
  lane_to(step);
  for (int i = 0; i < 4; i++)
    drain(s);
  close_capture(s);
  const sums sum = read_capture(gpu.device);
  CHECK(sum.all_kept == 1 && sum.all_open == (step == 9), "stopped at %d: %" PRIu64 " kept, %" PRIu64 " open", step,
        sum.all_kept, sum.all_open);
  free_session(s);
  remove(path);
}

/* ---- tracks that stay open ---- */

/* Rings as large as the staging: two copies of them go through it. */
static void large_rings(void) {
  ink_session *s = start(1, 2, 1 << 18, false);
  gpu.stay_one_in = 1;
  gpu.tracks_left = 1;
  gpu_finish();
  for (int i = 0; i < 4; i++)
    drain(s);
  gpu.ends = true;
  gpu_finish();
  last_drain(s);
  close_capture(s);
  check_sums(gpu.device, "large rings", 0);
  CHECK(read_capture(gpu.device).all_kept == 1, "%" PRIu64 " kept", read_capture(gpu.device).all_kept);
  free_session(s);
  remove(path);
}

static ink_status note_view(ink_session *s, ink_i_device *d, const ink_i_open_view *view, void *user, ink_error *error) {
  (void)s, (void)d, (void)error;
  *(int64_t *)user = view->follow->changed_ns;
  return INK_OK;
}

static int64_t changed_ns(ink_session *s) {
  ink_error error;
  int64_t at = 0;
  NEED(ink_i_open_view_each(s, gpu.device, ink_i_drain_list_open(gpu.device), false, false, note_view, &at, &error),
       error);
  CHECK(at, "no track is open");
  return at;
}

/* A track that does nothing is seen to do nothing between two stores of it, and one that writes over its ring while
 * that is copied is seen to run. */
static void news_of_open(void) {
  held = true;
  ink_session *s = start(4, 1, 64, false);
  gpu.stay_one_in = 1;
  uint64_t ticket = 4096; /* high: its words' clocks follow from it, and are behind the opening */
  while (gpu_words(ticket) < 40 || gpu_words(ticket) > 60)
    ticket++;
  gpu.device->buffer->claim = ticket;
  lane_to(9);
  while (gpu.lanes[0].word < 20)
    gpu_step(&gpu.lanes[0]);
  for (int i = 0; i < 5; i++)
    drain(s);
  const int64_t before = changed_ns(s);
  gpu_step(&gpu.lanes[0]); /* a record more */
  const int64_t moved = changed_ns(s);
  CHECK(moved > before, "a new record is no news");
  drain(s);
  CHECK(changed_ns(s) == moved && changed_ns(s) == moved, "what was seen is news again");
  gpu.laps = true;
  const int64_t lapped = changed_ns(s); /* its body's words end, those of called functions go on */
  CHECK(changed_ns(s) > lapped, "a ring that was written over between its copies is no news");
  gpu.laps = false;
  gpu.ends = true;
  gpu_finish();
  last_drain(s);
  close_capture(s);
  free_session(s);
  remove(path);
  held = false;
}

/* A child has the writer process's memory not: what is there in its place is laid out as its kernels see it, and
 * nothing waits in it. A child on a GPU has none. */
static void fork_in_flight(bool dead) {
  flight = true;
  ink_session *s = start(2, 4, 4096, false);
  ink_i_device *d = gpu.device;
  ink_error error;
  gpu.stay_one_in = 2;
  gpu.tracks_left = 3;
  gpu_finish();
  drain(s);
  close_capture(s);
  free(s->path);
  s->path = NULL;
  const uint64_t rings_at = d->flight->head->rings_at, kernels_at = d->flight->head->kernels_at;
  munmap(d->flight->head, d->flight->bytes);
  d->flight->owned = false;
  d->dead = dead;
  ink_i_drain_after_fork(d);
  if (dead) {
    CHECK(!d->flight->head && !ink_i_flight_salvage(s, d, &error), "a child reads what it does not have");
  } else {
    CHECK(d->flight->head->rings_at == rings_at && d->flight->head->kernels_at == kernels_at,
          "the rings are at %" PRIu64 " and were at %" PRIu64, d->flight->head->rings_at, rings_at);
    memset(gpu.lanes, 0, sizeof gpu.lanes); /* the parent's kernels are not here */
    memcpy(already_closed, gpu.closed, sizeof gpu.closed);
    memcpy(already_missed, gpu.missed, sizeof gpu.missed);
    already_unknown = gpu.unknown;
    ink_i_registry_after_fork();
    d->described = false;
    gpu.stay_one_in = 0;
    gpu.tracks_left = 4;
    gpu_finish();
    last_drain(s);
    close_capture(s);
    check_sums(d, "flight fork", 0);
    CHECK(read_capture(d).all_kept + gpu.unknown - already_unknown == 4, "%" PRIu64 " kept in the child",
          read_capture(d).all_kept);
  }
  free_session(s);
  remove(path);
  flight = false;
}

static void all_histories(uint64_t histories) {
  for (uint64_t seed = 1; seed <= histories; seed++) {
    random_history(seed, false, false);
    random_history(seed, true, false);
    random_history(seed, false, true);
    cut_history(seed);
    for (int mode = 1; mode < 4; mode++) {
      held = mode & 1;
      flight = mode & 2;
      random_history(seed, false, false);
    }
    held = flight = false;
  }
  live = true;
  for (uint64_t seed = 1; seed <= histories; seed++)
    for (int mode = 0; mode < 4; mode++) {
      held = mode & 1;
      flight = mode & 2;
      random_history(seed, false, false);
    }
  live = held = flight = false;
}

int main(int argc, char **argv) {
  static const ink_table_desc table = {.abi = INK_MODULE_ABI, .bytes = sizeof table, .name = "Made",
                                       .sections = "K0, K1, K2", .file = "made_up.cu", .line = 1,
                                       .hash48 = GPU_TABLE};
  const uint64_t histories = argc > 1 ? strtoull(argv[1], NULL, 10) : 30;
  path = synth_path("drain");
  ink_register_table(&table);
  if (argc > 2) { /* test_drain HISTORIES TEXT: these alone, against a text that is kept */
    expected_begin();
    all_histories(histories);
    expected_end(argv[2]);
    return check_result("drain_exact");
  }
  call_counts();
  low_memory();
  older_file();
  unloaded_inside(false);
  unloaded_inside(true);
  late_claim();
  for (int step = 2; step < 17; step++)
    half_way(step);
  large_rings();
  news_of_open();
  fork_in_flight(false);
  fork_in_flight(true);
  failing_calls();
  failing_writes();
  all_histories(histories);
  flight = true;
  failing_calls();
  printf("drain: %" PRIu64 " tracks kept, %" PRIu64 " lost, %" PRIu64 " open in %" PRIu64 " drains\n",
         seen_in_all.kept, seen_in_all.lost, seen_in_all.open, seen_in_all.drains);
  many_sections();
  CHECK(seen_in_all.kept > 100 && seen_in_all.lost > 100 && seen_in_all.open > 10, "the histories are too tame");
  return check_result("drain");
}
