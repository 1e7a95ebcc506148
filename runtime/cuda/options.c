/* SPDX-License-Identifier: MIT */
/* Checks and expands the options of a session: lists of numbers, regex, sizes, the output's name. */
#include "cuda/options.h"

#include "capture/capture_path.h"
#include "options_take.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BITS_MAX (1u << 27) /* 16 MiB of bitmap */

/* "FIRST:END:STEP" behind the colon, or in front of it: FIRST is 0, END is behind the last, STEP is 1 where it is not
 * there. False: it is none of that. */
static bool read_stride(const char **at, uint64_t limit, uint64_t *first, uint64_t *last, uint64_t *step) {
  uint64_t parts[3] = {0, limit, 1};
  size_t i = 0;
  for (;;) {
    char *end;
    if (**at >= '0' && **at <= '9') {
      parts[i] = strtoull(*at, &end, 10);
      *at = end;
    }
    if (**at != ':' || i == 2)
      break;
    (*at)++;
    i++;
  }
  *first = parts[0];
  *last = parts[1] - 1;
  *step = parts[2];
  return i > 0 && parts[2] && parts[2] <= limit && parts[1] > parts[0] && parts[1] <= limit;
}

static bool is_stride(const char *at) { return at[strspn(at, "0123456789")] == ':'; }

/* Calls mark(user, first, last) for each "N" or "N-M" of a comma-separated list, and for what "A:B:S" has. */
static ink_status each_range(const char *list, uint64_t limit, const char *what,
                             void (*mark)(void *user, uint64_t first, uint64_t last), void *user,
                             ink_error *error) {
  const char *at = list;
  do {
    char *end;
    if (is_stride(at)) {
      uint64_t from, to, step;
      if (!read_stride(&at, limit, &from, &to, &step) || (*at && *at != ','))
        goto bad;
      for (uint64_t i = from; i <= to; i += step)
        mark(user, i, i);
      at += *at == ',';
      continue;
    }
    if (*at < '0' || *at > '9')
      goto bad;
    const unsigned long long first = strtoull(at, &end, 10);
    unsigned long long last = first;
    if (*end == '-') {
      at = end + 1;
      if (*at < '0' || *at > '9')
        goto bad;
      last = strtoull(at, &end, 10);
    }
    if ((*end != ',' && *end != 0) || last < first)
      goto bad;
    if (last >= limit)
      return ink_error_set(error, INK_ERROR_ARGUMENT, "%s '%s': %llu is too large, at most %llu",
                           what, list, last, (unsigned long long)limit - 1);
    mark(user, first, last);
    at = *end ? end + 1 : end;
  } while (*at);
  return INK_OK;
bad:
  return ink_error_set(error, INK_ERROR_ARGUMENT, "%s '%s' is not a list like 0,7,100-120 or ::16", what,
                       list);
}

static void mark_mask(void *user, uint64_t first, uint64_t last) {
  for (uint64_t i = first; i <= last; i++)
    *(uint64_t *)user |= 1ull << i;
}

static void mark_top(void *user, uint64_t first, uint64_t last) {
  (void)first;
  if (last > *(uint64_t *)user)
    *(uint64_t *)user = last;
}

static void mark_bits(void *user, uint64_t first, uint64_t last) {
  uint32_t *bits = user;
  for (uint64_t i = first; i <= last; i++)
    bits[i / 32] |= 1u << i % 32;
}

static ink_status parse_blocks(const char *list, ink_i_options *out, ink_error *error) {
  uint64_t top = 0;
  if ((out->sample = !strcmp(list, "auto")) || !strcmp(list, "all"))
    return INK_OK;
  ink_status status = each_range(list, BLOCK_BITS_MAX, "blocks", mark_top, &top, error);
  if (status)
    return status;
  out->blocks = strdup(list);
  if (!out->blocks)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the block filter");
  out->block_bit_count = (uint32_t)(top + 32) / 32 * 32;
  out->block_bits = calloc(out->block_bit_count / 32, sizeof(uint32_t));
  if (!out->block_bits)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the block filter");
  return each_range(list, BLOCK_BITS_MAX, "blocks", mark_bits, out->block_bits, error);
}

static uint32_t power_of_two(uint32_t n) {
  uint32_t power = 1;
  while (power < n)
    power *= 2;
  return power;
}

static ink_status parse_sizes(const ink_session_options *in, ink_i_options *out, ink_error *error) {
  const uint32_t most = 1u << 24;
  if (in->records_per_track > most || in->tracks > most)
    return ink_error_set(error, INK_ERROR_ARGUMENT,
                         "%s: %u is too large, at most %u", in->tracks > most ? "tracks"
                         : "records per track", in->tracks > most ? in->tracks
                         : in->records_per_track, most);
  const uint32_t records = in->records_per_track;
  out->records = records ? power_of_two(records < 4 ? 4 : records) : 0;
  out->tracks = in->tracks ? power_of_two(in->tracks) : 0;
  out->drain_ms = in->drain_ms ? in->drain_ms : 100;
  return INK_OK;
}

static ink_status parse_lists(const ink_session_options *in, ink_i_options *out, ink_error *error) {
  ink_status status = INK_OK;
  out->warps = UINT32_MAX;
  out->devices = UINT64_MAX;
  if (in->warps && *in->warps) {
    uint64_t bits = 0;
    status = each_range(in->warps, 32, "warps", mark_mask, &bits, error);
    out->warps = (uint32_t)bits;
  }
  const char *devices = in->devices && *in->devices ? in->devices : "all";
  out->choice = !strcmp(devices, "mine")   ? INK_I_DEVICES_MINE
                : !strcmp(devices, "used") ? INK_I_DEVICES_USED
                                           : INK_I_DEVICES_LISTED;
  if (!status && strcmp(devices, "all") != 0 && out->choice == INK_I_DEVICES_LISTED) {
    out->devices = 0;
    status = each_range(devices, INK_I_DEVICES_MAX, "devices", mark_mask, &out->devices, error);
  }
  if (!status)
    status = parse_blocks(in->blocks && *in->blocks ? in->blocks : "auto", out, error);
  return status;
}

ink_status ink_i_options_parse(const ink_session_options *in, ink_i_options *out,
                               ink_error *error) {
  ink_session_options own = {0};
  const ink_status taken = INK_I_OPTIONS_TAKE(&own, ink_session_options, activity, in, error);
  if (taken)
    return taken;
  in = &own;
  *out = (ink_i_options){.per_warp = in->per_warp, .keep_first = in->keep_first,
                         .replace = in->replace, .flight = in->flight, .live = in->live,
                         .hang_ms = in->hang_ms, .host_ranges = in->host_ranges};
  if (in->keep_first && (in->flight || in->live || in->hang_ms))
    return ink_error_set(error, INK_ERROR_ARGUMENT,
                         "flight, hang and live keep the newest: they do not go with keep first");
  ink_status status = parse_sizes(in, out, error);
  if (!status)
    status = parse_lists(in, out, error);
  if (!status && in->kernels && *in->kernels) {
    const int code = regcomp(&out->kernels, in->kernels, REG_EXTENDED | REG_NOSUB);
    if (code) {
      char why[128];
      regerror(code, &out->kernels, why, sizeof why);
      status = ink_error_set(error, INK_ERROR_ARGUMENT, "kernels '%s': %s", in->kernels, why);
    }
    out->has_kernels = !code;
  }
  if (!status) {
    out->output = strdup(in->output && *in->output ? in->output : "inkmark.%p.ink");
    if (!out->output)
      status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  }
  if (status)
    ink_i_options_free(out);
  return status;
}

void ink_i_options_free(ink_i_options *options) {
  if (options->has_kernels)
    regfree(&options->kernels);
  options->has_kernels = false;
  free(options->block_bits);
  free(options->blocks);
  free(options->output);
  options->block_bits = NULL;
  options->blocks = NULL;
  options->output = NULL;
}

/* The ranks that launchers set: torchrun, Open MPI, MPICH and Slurm. */
const char *ink_i_rank(void) {
  static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID",
                                      "LOCAL_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = secure_getenv(names[i]);
    if (value && *value)
      return value;
  }
  return NULL;
}

char *ink_i_expand_path(const char *template_, ink_error *error) {
  char host[HOST_NAME_MAX + 1] = "";
  if (gethostname(host, sizeof host - 1) != 0)
    host[0] = 0;
  const ink_i_names names = {.pid = getpid(), .host = host, .rank = ink_i_rank()};
  return ink_i_capture_name(template_, &names, error);
}
