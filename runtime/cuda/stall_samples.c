/* SPDX-License-Identifier: MIT */
/* CUPTI's sampling of instructions: switched on in each context as it comes, asked for what it has now and then. The thread
 * that drains asks; callbacks run in the program's threads, inside of its calls. */
#include "cuda/stall_samples.h"

#include "cuda/activity.h"
#include "cuda/cupti_api.h"
#include "list_room.h"
#include "monotonic.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  CONTEXTS_MAX = 64,
  PCS = 4096,                    /* that CUPTI hands over at a time */
  ROUNDS_MAX = 4096,             /* of asking one context in a row */
  REASONS_MAX = 256,
  ITEMS_MAX = 1 << 20,           /* that wait to be written: 40 MiB */
  DEVICE_BUFFER_BYTES = 64 << 20, /* CUPTI's default is 512 MiB of the device's memory */
  PATIENCE_S = 5
};

typedef struct stall_context {
  void *context;                 /* NULL: it has gone */
  ink_i_cupti_samples samples;   /* where CUPTI puts them */
  unsigned char *pcs;            /* [PCS] */
  ink_i_cupti_reason_samples *counts; /* [PCS][reason_count] */
  size_t reason_count;
  uint32_t reasons[REASONS_MAX]; /* CUPTI's numbers */
  char *names[REASONS_MAX];
  char texts[REASONS_MAX][CUPTI_REASON_BYTES];
  uint32_t period_log2;
} stall_context;

/* A module that was loaded. */
typedef struct stall_code {
  uint64_t id, cupti_sum;        /* the sum below, and CUPTI's own */
  bool marked;
  unsigned char *data;           /* until it is written */
  size_t bytes;
} stall_code;

struct ink_i_stalls {
  ink_i_cupti cupti;
  void *subscriber;
  bool own_subscriber, on;
  char refusal[700];             /* with the lock, once contexts may come */
  pthread_mutex_t collecting;    /* around the calls by which CUPTI hands samples over */
  pthread_mutex_t lock;          /* all below; never around a call of CUPTI, which may hold locks that a callback came with */
  stall_context *contexts[CONTEXTS_MAX];
  size_t context_count;
  stall_code *codes;
  size_t code_count, code_room;
  uint64_t code_bytes;           /* kept so far */
  bool codes_left_out;
  ink_stall *items;
  size_t item_count, item_room;
  ink_stall_facts facts;         /* since they were written */
  const char **functions;        /* names that items have; they stay */
  size_t function_count, function_room;
  time_t asked_at;
  const char *told;              /* how it went, as the capture has it */
};

static ink_i_stalls *current; /* for callbacks */

static void refuse(ink_i_stalls *s, int result, const char *what) {
  char why[600];
  ink_i_cupti_explain(&s->cupti, result, why, sizeof why);
  pthread_mutex_lock(&s->lock);
  if (!s->refusal[0]) /* the first tells most */
    snprintf(s->refusal, sizeof s->refusal, "%s: %s", what, why);
  pthread_mutex_unlock(&s->lock);
}

/* ---- what CUPTI hands over: with the lock ---- */

static const char *function_name(ink_i_stalls *s, const char *name) {
  for (size_t i = s->function_count; i-- > 0;)
    if (strcmp(s->functions[i], name) == 0)
      return s->functions[i];
  char *kept = ink_list_room((void **)&s->functions, &s->function_room, s->function_count, sizeof *s->functions) ? strdup(name) : NULL;
  if (kept)
    s->functions[s->function_count++] = kept;
  return kept;
}

static const char *reason_name(const stall_context *c, uint32_t reason) {
  for (size_t i = 0; i < c->reason_count; i++)
    if (c->reasons[i] == reason)
      return c->names[i];
  return NULL;
}

/* By our sum; by CUPTI's where it did not take ours, and where one module alone has it. NULL: not known, as of a module that was
 * loaded before anybody looked. */
static const stall_code *code_of(const ink_i_stalls *s, uint64_t sum) {
  const stall_code *by_cupti = NULL;
  size_t several = 0;
  for (size_t i = 0; i < s->code_count; i++) {
    if (s->codes[i].id == sum)
      return &s->codes[i];
    if (s->codes[i].cupti_sum == sum) {
      by_cupti = &s->codes[i];
      several++;
    }
  }
  return several == 1 ? by_cupti : NULL;
}

/* Samples of code that is not known are kept. */
static void take_pc(ink_i_stalls *s, const stall_context *c, const ink_i_cupti_pc *pc) {
  const stall_code *code = code_of(s, pc->code);
  const bool marked = !code || code->marked;
  const char *function = marked && pc->function ? function_name(s, pc->function) : NULL;
  for (size_t i = 0; i < pc->reason_count && i < c->reason_count; i++) {
    const uint32_t samples = pc->reasons[i].samples;
    const char *reason = reason_name(c, pc->reasons[i].reason);
    if (!samples || (reason && strstr(reason, "not_issued"))) /* those are among the others too */
      continue;
    if (!marked)
      s->facts.elsewhere += samples;
    else if (!function || !reason || s->item_count == ITEMS_MAX ||
             !ink_list_room((void **)&s->items, &s->item_room, s->item_count, sizeof *s->items))
      s->facts.left_out += samples;
    else
      s->items[s->item_count++] =
          (ink_stall){.code = code ? code->id : pc->code, .offset = pc->offset, .samples = samples, .function = function, .reason = reason};
  }
}

/* CUPTI may share a function's name among its records, so none is freed. */
static void take(ink_i_stalls *s, stall_context *c) {
  const size_t stride = s->cupti.version < CUPTI_VERSION_12_4 ? offsetof(ink_i_cupti_pc, correlation) : sizeof(ink_i_cupti_pc);
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; i < c->samples.count && i < PCS; i++) {
    ink_i_cupti_pc pc = {0};
    memcpy(&pc, c->pcs + i * stride, stride);
    take_pc(s, c, &pc);
  }
  s->facts.samples += c->samples.total;
  s->facts.dropped += c->samples.dropped;
  s->facts.elsewhere += c->samples.elsewhere;
  s->facts.full += c->samples.full != 0;
  s->facts.period_log2 = c->period_log2;
  pthread_mutex_unlock(&s->lock);
  c->samples.count = 0;
  c->samples.total = c->samples.dropped = c->samples.elsewhere = 0;
  c->samples.full = 0;
}

/* ---- one context: with `collecting` ---- */

/* What was put into the buffer meanwhile, then what CUPTI has, until it has no more. */
static void ask(ink_i_stalls *s, stall_context *c) {
  ink_i_cupti_sampled get = {.bytes = offsetof(ink_i_cupti_sampled, of), .context = c->context, .what.samples = &c->samples};
  take(s, c);
  for (int round = 0; round < ROUNDS_MAX; round++) {
    const int result = s->cupti.sampling_data(&get);
    const bool any = c->samples.count > 0;
    take(s, c);
    if (result != CUPTI_OK || !any || !c->samples.remaining)
      return;
  }
}

static void end_context(ink_i_stalls *s, stall_context *c) {
  ink_i_cupti_sampled which = {.bytes = offsetof(ink_i_cupti_sampled, what), .context = c->context};
  ask(s, c);
  s->cupti.sampling_disable(&which);
  take(s, c); /* what it put into the buffer as it ended */
  c->context = NULL;
}

static int name_reasons(ink_i_stalls *s, stall_context *c) {
  ink_i_cupti_sampled which = {.bytes = offsetof(ink_i_cupti_sampled, of), .context = c->context, .what.reason_count = &c->reason_count};
  int result = s->cupti.reason_count(&which);
  if (result != CUPTI_OK)
    return result;
  if (c->reason_count > REASONS_MAX)
    c->reason_count = REASONS_MAX;
  for (size_t i = 0; i < c->reason_count; i++)
    c->names[i] = c->texts[i];
  which = (ink_i_cupti_sampled){.bytes = sizeof which, .context = c->context, .what.count = c->reason_count,
                                .of.reasons = c->reasons, .names = c->names};
  return s->cupti.reason_names(&which);
}

/* The entries as CUPTI of that version walks over them. */
static bool make_room(ink_i_stalls *s, stall_context *c) {
  const size_t stride = s->cupti.version < CUPTI_VERSION_12_4 ? offsetof(ink_i_cupti_pc, correlation) : sizeof(ink_i_cupti_pc);
  c->pcs = calloc(PCS, sizeof(ink_i_cupti_pc));
  c->counts = calloc(PCS * (c->reason_count + 1), sizeof *c->counts);
  for (size_t i = 0; i < PCS && c->pcs && c->counts; i++) {
    const ink_i_cupti_pc pc = {.bytes = stride, .reasons = c->counts + i * (c->reason_count + 1)};
    memcpy(c->pcs + i * stride, &pc, stride);
  }
  c->samples = (ink_i_cupti_samples){.bytes = sizeof c->samples, .most = PCS, .pcs = c->pcs};
  return c->pcs && c->counts;
}

static int configure(ink_i_stalls *s, stall_context *c) {
  ink_i_cupti_attribute attributes[] = {
      {.type = CUPTI_SAMPLING_MODE, .value.number = CUPTI_SAMPLING_CONTINUOUS},
      {.type = CUPTI_SAMPLING_DEVICE_BUFFER_BYTES, .value.bytes = DEVICE_BUFFER_BYTES},
      {.type = CUPTI_SAMPLING_BUFFER, .value.pointer = &c->samples},
  };
  ink_i_cupti_sampled which = {.bytes = offsetof(ink_i_cupti_sampled, names), .context = c->context,
                               .what.count = sizeof attributes / sizeof *attributes, .of.attributes = attributes};
  const int result = s->cupti.sampling_configure(&which);
  ink_i_cupti_attribute period = {.type = CUPTI_SAMPLING_PERIOD};
  which.what.count = 1;
  which.of.attributes = &period;
  if (result == CUPTI_OK && s->cupti.sampling_configuration(&which) == CUPTI_OK)
    c->period_log2 = period.value.number;
  return result;
}

static void free_context(stall_context *c) {
  free(c->pcs);
  free(c->counts);
  free(c);
}

static void context_came(ink_i_stalls *s, void *context) {
  stall_context *c = calloc(1, sizeof *c);
  ink_i_cupti_sampled which = {.bytes = offsetof(ink_i_cupti_sampled, what), .context = context};
  if (!c)
    return;
  c->context = context;
  int result = s->cupti.sampling_enable(&which);
  if (result != CUPTI_OK) {
    refuse(s, result, "sampling of instructions");
    free_context(c);
    return;
  }
  result = name_reasons(s, c);
  bool fine = result == CUPTI_OK && make_room(s, c);
  if (fine && (result = configure(s, c)) != CUPTI_OK)
    fine = false;
  pthread_mutex_lock(&s->lock);
  fine = fine && s->context_count < CONTEXTS_MAX;
  if (fine)
    s->contexts[s->context_count++] = c;
  pthread_mutex_unlock(&s->lock);
  if (fine)
    return;
  if (result != CUPTI_OK)
    refuse(s, result, "sampling of instructions");
  s->cupti.sampling_disable(&which);
  free_context(c);
}

static size_t contexts_now(ink_i_stalls *s, stall_context *out[CONTEXTS_MAX]) {
  pthread_mutex_lock(&s->lock);
  const size_t n = s->context_count;
  memcpy(out, s->contexts, n * sizeof *out);
  pthread_mutex_unlock(&s->lock);
  return n;
}

/* The thread that asks may wait for a lock that the caller has: nobody waits here for ever. */
static void context_goes(ink_i_stalls *s, const void *context) {
  stall_context *all[CONTEXTS_MAX];
  if (ink_i_lock_within(&s->collecting, PATIENCE_S))
    return;
  const size_t n = contexts_now(s, all);
  for (size_t i = 0; i < n; i++)
    if (all[i]->context == context)
      end_context(s, all[i]);
  pthread_mutex_unlock(&s->collecting);
}

/* ---- modules ---- */

static bool has_marks(const void *code, size_t bytes) {
  static const char name[] = "ink_current"; /* the name of the variable that the marks of every file read begins so */
  return memmem(code, bytes, name, sizeof name - 1) != NULL;
}

/* CUPTI's own sum of a module looks at a few bytes of it (32 of 37,424 in 13.0), so that two builds may have one. */
static uint64_t sum_of(const void *code, size_t bytes) {
  const unsigned char *at = code;
  uint64_t sum = bytes, word = 0;
  for (size_t i = 0; i < bytes; i += sizeof word) {
    const size_t left = bytes - i;
    word = 0;
    memcpy(&word, at + i, left < sizeof word ? left : sizeof word);
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 32;
  }
  return sum;
}

static void keep_code(ink_i_stalls *s, uint64_t cupti_sum, const ink_i_cupti_module *module) {
  stall_code code = {.id = sum_of(module->code, module->bytes), .cupti_sum = cupti_sum,
                     .marked = has_marks(module->code, module->bytes), .bytes = module->bytes};
  pthread_mutex_lock(&s->lock);
  bool known = false;
  for (size_t i = 0; i < s->code_count && !known; i++)
    known = s->codes[i].id == code.id;
  const bool fits = module->bytes <= INK_CODE_BYTES_MAX && s->code_bytes + module->bytes <= INK_CODES_BYTES_MAX;
  if (!known && ink_list_room((void **)&s->codes, &s->code_room, s->code_count, sizeof *s->codes)) {
    if (code.marked && fits && (code.data = malloc(code.bytes)) != NULL) {
      memcpy(code.data, module->code, code.bytes);
      s->code_bytes += code.bytes;
    }
    s->codes_left_out |= code.marked && !code.data;
    s->codes[s->code_count++] = code;
  }
  pthread_mutex_unlock(&s->lock);
}

static void sum_for_cupti(const void *code, size_t bytes, uint64_t *sum) { *sum = sum_of(code, bytes); }

static void module_came(ink_i_stalls *s, const ink_i_cupti_module *module) {
  ink_i_cupti_checksum sum = {.bytes = sizeof sum, .code_bytes = module->bytes, .code = module->code};
  if (module->code && module->bytes && s->cupti.checksum(&sum) == CUPTI_OK)
    keep_code(s, sum.checksum, module);
}

/* A context or a module comes or goes. */
static void take_resource(uint32_t id, const void *data) {
  ink_i_stalls *s = current;
  const ink_i_cupti_resource *resource = data;
  if (!s || !s->on)
    return;
  if (id == CUPTI_CONTEXT_CREATED)
    context_came(s, resource->context);
  else if (id == CUPTI_CONTEXT_DESTROY_STARTING)
    context_goes(s, resource->context);
  else if (id == CUPTI_MODULE_LOADED && resource->descriptor)
    module_came(s, resource->descriptor);
}

/* ---- starting and ending ---- */

static const uint32_t resources[] = {CUPTI_CONTEXT_CREATED, CUPTI_CONTEXT_DESTROY_STARTING, CUPTI_MODULE_LOADED};

static void watch_resources(ink_i_stalls *s, uint32_t on) {
  for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
    s->cupti.enable_callback(on, s->subscriber, CUPTI_DOMAIN_RESOURCE, resources[i]);
}

ink_i_stalls *ink_i_stalls_start(const ink_i_activity *activity) {
  ink_i_stalls *s = calloc(1, sizeof *s);
  if (!s)
    return NULL;
  pthread_mutex_init(&s->collecting, NULL);
  pthread_mutex_init(&s->lock, NULL);
  s->own_subscriber = !ink_i_activity_subscriber(activity, &s->cupti, &s->subscriber);
  if (s->own_subscriber && !ink_i_cupti_load(&s->cupti, ink_i_cupti_major(), s->refusal, sizeof s->refusal))
    return s;
  if (!ink_i_cupti_find_sampling(&s->cupti)) {
    snprintf(s->refusal, sizeof s->refusal, "'%.500s' has no sampling of instructions", s->cupti.path);
    return s;
  }
  ink_i_cupti_take(CUPTI_DOMAIN_RESOURCE, take_resource);
  const int result = s->own_subscriber ? s->cupti.subscribe(&s->subscriber, ink_i_cupti_called, NULL) : CUPTI_OK;
  if (result != CUPTI_OK) {
    refuse(s, result, "sampling of instructions");
    return s;
  }
  if (s->cupti.register_checksum)
    s->cupti.register_checksum(sum_for_cupti);
  s->on = true;
  current = s;
  watch_resources(s, 1);
  return s;
}

const char *ink_i_stalls_refusal(ink_i_stalls *s) {
  if (!s)
    return NULL;
  pthread_mutex_lock(&s->lock);
  const bool refused = s->refusal[0] != 0;
  pthread_mutex_unlock(&s->lock);
  return refused ? s->refusal : NULL; /* it does not change any more */
}

void ink_i_stalls_flush(ink_i_stalls *s, bool last, bool *wanted) {
  stall_context *all[CONTEXTS_MAX];
  struct timespec now;
  if (!s)
    return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (s->on && (last || now.tv_sec != s->asked_at)) {
    s->asked_at = now.tv_sec;
    pthread_mutex_lock(&s->collecting);
    const size_t n = contexts_now(s, all);
    for (size_t i = 0; i < n; i++)
      if (all[i]->context)
        ask(s, all[i]);
    pthread_mutex_unlock(&s->collecting);
  }
  pthread_mutex_lock(&s->lock);
  *wanted |= s->item_count > 0;
  pthread_mutex_unlock(&s->lock);
}

void ink_i_stalls_stop(ink_i_stalls *s) {
  stall_context *all[CONTEXTS_MAX];
  if (!s || !s->on)
    return;
  current = NULL;
  s->on = false;
  watch_resources(s, 0);
  pthread_mutex_lock(&s->collecting);
  const size_t n = contexts_now(s, all);
  for (size_t i = 0; i < n; i++)
    if (all[i]->context)
      end_context(s, all[i]);
  pthread_mutex_unlock(&s->collecting);
  if (s->own_subscriber)
    s->cupti.unsubscribe(s->subscriber);
}

void ink_i_stalls_after_fork(ink_i_stalls *s) {
  if (!s)
    return;
  current = NULL;
  s->on = false;
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->collecting, NULL);
  s->context_count = s->item_count = s->code_count = 0;
  s->facts = (ink_stall_facts){0};
  s->told = NULL;
  snprintf(s->refusal, sizeof s->refusal, "CUPTI does not work in a forked process");
}

/* ---- writing ---- */

static ink_status write_code(ink_i_stalls *s, size_t index, ink_writer *writer, ink_error *error) {
  pthread_mutex_lock(&s->lock);
  stall_code code = s->codes[index];
  s->codes[index].data = NULL;
  pthread_mutex_unlock(&s->lock);
  const ink_code whole = {.id = code.id, .bytes = code.bytes, .data = code.data};
  const ink_status status = code.data ? ink_writer_code(writer, &whole, error) : INK_OK;
  free(code.data);
  return status;
}

static ink_status write_how(ink_i_stalls *s, ink_writer *writer, ink_error *error) {
  const char *refusal = ink_i_stalls_refusal(s), *how = refusal ? refusal : "sampled";
  if (s->told == how)
    return INK_OK;
  s->told = how;
  ink_status status = ink_writer_fact(writer, "stalls", how, error);
  if (!status && s->cupti.simulated)
    status = ink_writer_fact(writer, "stalls_simulated", "1", error);
  return status;
}

ink_status ink_i_stalls_write(ink_i_stalls *s, ink_writer *writer, ink_error *error) {
  if (!s)
    return INK_OK;
  pthread_mutex_lock(&s->lock);
  const size_t codes = s->code_count, count = s->item_count;
  ink_stall *items = s->items;
  const ink_stall_facts facts = s->facts;
  s->items = NULL;
  s->item_count = s->item_room = 0;
  s->facts = (ink_stall_facts){0};
  pthread_mutex_unlock(&s->lock);
  ink_status status = write_how(s, writer, error);
  for (size_t i = 0; i < codes && !status; i++)
    status = write_code(s, i, writer, error);
  if (!status && (count || facts.samples || facts.dropped || facts.elsewhere || facts.left_out || facts.full))
    status = ink_writer_stalls(writer, items, count, &facts, error);
  if (!status && s->codes_left_out) {
    status = ink_writer_fact(writer, "stalls_code", "the code of some modules is not stored: it is too large", error);
    s->codes_left_out = false;
  }
  free(items);
  return status;
}
