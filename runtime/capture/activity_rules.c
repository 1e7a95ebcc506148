/* SPDX-License-Identifier: MIT */
/* What is computed from activities: Unix time, theoretical occupancy. */
#include "inkmark/activity.h"

#include <math.h>
#include <string.h>

/* ---- time ---- */

static int64_t width_ns(const ink_activity_reading *r) {
  return r->realtime_after_ns - r->realtime_before_ns;
}

static int64_t offset_ns(const ink_activity_reading *r) {
  return r->realtime_before_ns + width_ns(r) / 2 - (int64_t)r->ns;
}

/* The tightest reading from `first` to `last`, in CUPTI's ns; NULL: none is there. */
static const ink_activity_reading *tightest(const ink_activity_reading *readings, size_t n,
                                            uint64_t first, uint64_t last) {
  const ink_activity_reading *best = NULL;
  for (size_t i = 0; i < n; i++)
    if (readings[i].ns >= first && readings[i].ns <= last &&
        (!best || width_ns(&readings[i]) < width_ns(best)))
      best = &readings[i];
  return best;
}

ink_activity_clock ink_activity_clock_make(const ink_capture *capture, const ink_clock_map *map) {
  const ink_activity_reading *readings;
  const size_t n = ink_capture_activity_readings(capture, &readings);
  ink_activity_clock clock = {.simulated = ink_capture_simulated(capture), .map = map};
  uint64_t first = UINT64_MAX, last = 0;
  for (size_t i = 0; i < n; i++) {
    first = readings[i].ns < first ? readings[i].ns : first;
    last = readings[i].ns > last ? readings[i].ns : last;
  }
  const ink_activity_reading *a = tightest(readings, n, 0, UINT64_MAX), *b = a;
  if (!a)
    return clock;
  if (!clock.simulated && last - first > 1000000000) { /* a drift shows over seconds */
    a = tightest(readings, n, first, first + (last - first) / 4);
    b = tightest(readings, n, last - (last - first) / 4, last);
  }
  clock.known = true;
  clock.reference_ns = a->ns;
  clock.offset_ns = offset_ns(a);
  clock.bound_ns = ((width_ns(a) > width_ns(b) ? width_ns(a) : width_ns(b)) + 1) / 2;
  if (b->ns > a->ns)
    clock.drift = (double)(offset_ns(b) - offset_ns(a)) / (double)(b->ns - a->ns);
  return clock;
}

/* What puts a simulated device's globaltimer on the host's clock; false: no such device. */
static bool device_offset(const ink_clock_map *map, int32_t device, int64_t *offset) {
  const ink_clock_quality *quality;
  const size_t n = map ? ink_clock_map_quality(map, &quality) : 0;
  const ink_clock_quality *found = NULL;
  for (size_t i = 0; i < n && !found; i++)
    if (quality[i].has_host && (quality[i].device == device || device < 0))
      found = &quality[i];
  if (found)
    *offset = found->host_offset_ns;
  return found != NULL;
}

int64_t ink_activity_unix_ns(const ink_activity_clock *clock, int32_t device, uint64_t ns) {
  int64_t offset;
  if (clock->simulated && device_offset(clock->map, device, &offset))
    return (int64_t)(ns + (uint64_t)offset);
  if (!clock->known)
    return (int64_t)ns;
  return (int64_t)ns + clock->offset_ns +
         llround(clock->drift * ((double)ns - (double)clock->reference_ns));
}

/* ---- words ---- */

const char *ink_activity_copy_words(unsigned copy) {
  static const char *const words[] = {"unknown",         "host to device",  "device to host",
                                      "host to array",   "array to host",   "array to array",
                                      "array to device", "device to array", "device to device",
                                      "host to host",    "peer to peer"};
  return words[copy < sizeof words / sizeof *words ? copy : 0];
}

static bool put_piece(char *out, size_t bytes, size_t *used, const char *text, size_t length) {
  if (*used + length >= bytes)
    length = bytes - 1 - *used;
  memcpy(out + *used, text, length);
  *used += length;
  out[*used] = 0;
  return length != 0;
}

/* "4gemm": a length and so many characters (Itanium C++ ABI, 5.1.2). Returns what follows, or NULL.
 */
static const char *source_name(const char *at, char *out, size_t bytes, size_t *used) {
  size_t length = 0;
  if (*at < '1' || *at > '9')
    return NULL;
  for (; *at >= '0' && *at <= '9' && length < 4096; at++)
    length = length * 10 + (size_t)(*at - '0');
  if (strnlen(at, length) < length)
    return NULL;
  if (*used)
    put_piece(out, bytes, used, "::", 2);
  if (length >= 8 && !strncmp(at, "_GLOBAL_", 8))
    put_piece(out, bytes, used, "(anonymous)", 11);
  else
    put_piece(out, bytes, used, at, length);
  return at + length;
}

/* Template arguments that are plain types, pointers to them, and whole numbers ("IfLi4EE" is <float, 4>).
 * False: there is something else among them. */
static bool put_arguments(const char *at, char *out, size_t bytes, size_t *used) {
  static const char *const types[26] = {
      ['a' - 'a'] = "signed char",   ['b' - 'a'] = "bool",           ['c' - 'a'] = "char",
      ['d' - 'a'] = "double",        ['f' - 'a'] = "float",          ['h' - 'a'] = "unsigned char",
      ['i' - 'a'] = "int",           ['j' - 'a'] = "unsigned",       ['l' - 'a'] = "long",
      ['m' - 'a'] = "unsigned long", ['s' - 'a'] = "short",          ['t' - 'a'] = "unsigned short",
      ['x' - 'a'] = "long long",     ['y' - 'a'] = "unsigned long long"};
  bool follows = false;
  put_piece(out, bytes, used, "<", 1);
  for (at++; *at && *at != 'E'; follows = true) {
    size_t stars = 0;
    if (follows)
      put_piece(out, bytes, used, ", ", 2);
    if (*at == 'L') { /* a literal: its type, an n before a negative number, digits */
      at += at[1] ? 2 : 1;
      if (*at == 'n')
        put_piece(out, bytes, used, "-", at++ ? 1 : 0);
      const size_t digits = strspn(at, "0123456789");
      put_piece(out, bytes, used, at, digits);
      if (!digits || at[digits] != 'E')
        return false;
      at += digits + 1;
      continue;
    }
    for (; *at == 'P'; at++)
      stars++;
    if (*at >= '1' && *at <= '9') {
      char name[128] = "";
      size_t length = 0;
      if (!(at = source_name(at, name, sizeof name, &length)))
        return false;
      put_piece(out, bytes, used, name, length);
      if (*at == 'I')
        return false; /* a template itself */
    } else if (*at >= 'a' && *at <= 'z' && types[*at - 'a']) {
      put_piece(out, bytes, used, types[*at - 'a'], strlen(types[*at - 'a']));
      at++;
    } else {
      return false;
    }
    for (; stars; stars--)
      put_piece(out, bytes, used, "*", 1);
  }
  put_piece(out, bytes, used, ">", 1);
  return *at == 'E' && follows;
}

void ink_activity_short_name(const char *name, char *out, size_t bytes) {
  size_t used = 0;
  const char *at = name;
  if (!bytes)
    return;
  out[0] = 0;
  if (!strncmp(at, "_Z", 2)) {
    at += 2;
    const bool nested = *at == 'N';
    at += nested;
    while (nested && *at && strchr("rVKRO", *at)) /* of a member function */
      at++;
    if (*at == 'L') /* of internal linkage */
      at++;
    do {
      at = source_name(at, out, bytes, &used);
    } while (at && nested && *at >= '1' && *at <= '9');
    const size_t named = used;
    if (at && *at == 'I' && !put_arguments(at, out, bytes, &used)) {
      used = named;
      put_piece(out, bytes, &used, "<...>", 5);
    }
    if (at && *at == 'I')
      ;
    else if (!at || (nested && *at != 'E'))
      used = 0; /* something else stands here: rather the whole name */
  }
  if (!used)
    put_piece(out, bytes, &used, name, strlen(name));
}

/* ---- occupancy ---- */

static uint64_t up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static void limit_to(ink_occupancy *o, uint64_t blocks, enum ink_occupancy_limit limit) {
  if (blocks < o->blocks_per_sm) {
    o->blocks_per_sm = (uint32_t)blocks;
    o->limit = limit;
  }
}

ink_occupancy ink_activity_occupancy(const ink_activity *k, const ink_activity_device *d) {
  enum { SM_PARTS = 4, REGISTER_UNIT = 256 };
  ink_occupancy o = {.limit = INK_LIMIT_UNKNOWN};
  const uint64_t threads = (uint64_t)k->block_dim[0] * k->block_dim[1] * k->block_dim[2];
  const uint64_t blocks = (uint64_t)k->grid_dim[0] * k->grid_dim[1] * k->grid_dim[2];
  if (!d || !d->warps_per_sm || !d->blocks_per_sm || !d->registers_per_sm || !d->threads_per_warp ||
      !threads || threads > 1024 || !blocks || !d->sm_count)
    return o;
  const uint64_t warps = up(threads, d->threads_per_warp) / d->threads_per_warp;
  o.blocks_per_sm = UINT32_MAX;
  limit_to(&o, d->warps_per_sm / warps, INK_LIMIT_WARPS);
  limit_to(&o, d->blocks_per_sm, INK_LIMIT_BLOCKS);

  const uint64_t warp_registers = up((uint64_t)k->registers * d->threads_per_warp, REGISTER_UNIT);
  if (warp_registers)
    limit_to(&o, d->registers_per_sm / SM_PARTS / warp_registers * SM_PARTS / warps,
             INK_LIMIT_REGISTERS);

  const uint64_t system = d->capability >= 80 ? 1024 : 0, unit = d->capability >= 80 ? 128 : 256;
  const uint64_t shared =
      up((uint64_t)k->static_shared_bytes + k->dynamic_shared_bytes + system, unit);
  /* the driver may have given an SM less shared memory and more cache */
  const uint64_t sm_shared = k->sm_shared_bytes ? k->sm_shared_bytes : d->shared_per_sm_bytes;
  if (shared && sm_shared)
    limit_to(&o, sm_shared / shared, INK_LIMIT_SHARED);
  o.warps_per_sm = (uint32_t)(o.blocks_per_sm * warps);
  o.share = (double)o.warps_per_sm / d->warps_per_sm;
  if (o.blocks_per_sm)
    o.waves = (double)blocks / ((double)o.blocks_per_sm * d->sm_count);
  return o;
}
