/* SPDX-License-Identifier: MIT */
/* What tells tracks apart besides their kernel's section: the function that opened them, template arguments and all,
 * and the role that they gave themselves. Both are names, and here names are made of them. */
#include "capture_private.h"
#include "fnv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture's names");
}

/* ---- while the chunks are read --------------------------------------------------------------- */

static uint64_t address_key(int32_t device, uint64_t address) {
  return ink_mix64(address) ^ (uint64_t)(uint32_t)device;
}

ink_status ink_read_instance(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error) {
  ink_file_instance fixed;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds an instance that is too short");
  memcpy(&fixed, payload, sizeof fixed);
  const char *text = (const char *)payload + sizeof fixed;
  const uint64_t left = bytes - sizeof fixed;
  if (!left || !memchr(text, 0, (size_t)left) || left > INK_NAME_BYTES_MAX + 8)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds an instance without its name");
  const uint64_t hash = ink_fnv_text(INK_FNV_BEGIN, text);
  uint32_t place = 0;
  while (place < capture->instances.count &&
         (capture->instances.items[place].hash != hash || strcmp(capture->instances.items[place].text, text) != 0))
    place++;
  if (place == capture->instances.count) {
    if (!INK_I_ROOM(capture->instances))
      return no_memory(error);
    capture->instances.items[capture->instances.count++] = (instance_name){.text = text, .hash = hash};
  }
  return id_map_put(&capture->instance_map, address_key(fixed.device, fixed.address), place) ? INK_OK
                                                                                            : no_memory(error);
}

uint32_t ink_instance_of(const ink_capture *capture, int32_t device, uint64_t address) {
  return address ? id_map_get(&capture->instance_map, address_key(device, address)) : INK_ID_NONE;
}

uint32_t ink_role_section(const ink_capture *capture, uint64_t role) {
  const ink_section_table *table = role ? ink_capture_table(capture, role >> 16) : NULL;
  const uint32_t section = (uint32_t)(role & 0xffff);
  return table && section >= 1 && section <= table->section_count ? ink_table_base(capture, table) + section - 1
                                                                  : INK_SECTION_UNKNOWN;
}

/* ---- names of instances ---------------------------------------------------------------------- */

typedef struct piece {
  const char *at;
  size_t bytes;
} piece;

static bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 128;
}

/* "operator()(int)", "operator<(int)": where an operator's name that begins at `at` ends; 0: it is no operator of signs. */
static size_t behind_operator(const char *text, size_t bytes, size_t at) {
  static const char word[] = "operator";
  const size_t length = sizeof word - 1;
  if (bytes - at <= length || memcmp(text + at, word, length) != 0 || (at && is_word(text[at - 1])))
    return 0;
  size_t end = at + length;
  if (end + 1 < bytes && text[end] == '(' && text[end + 1] == ')')
    return end + 2;
  while (end < bytes && text[end] != '(' && text[end] != ' ' && !is_word(text[end]))
    end++;
  return end > at + length ? end : 0;
}

/* "void ns::k(T *) [with T=float]": where its list of parameters begins, outside of angle brackets. `name`: where the last
 * part of its name may have brackets of its own. */
static size_t parameters_at(const char *text, size_t bytes, size_t *name) {
  size_t depth = 0;
  *name = bytes;
  for (size_t i = 0; i < bytes; i++) {
    const size_t behind = depth ? 0 : behind_operator(text, bytes, i);
    if (behind) {
      *name = i;
      return behind;
    }
    if (text[i] == '<')
      depth++;
    else if (text[i] == '>' && depth)
      depth--;
    else if (text[i] == '(' && !depth && i && (is_word(text[i - 1]) || text[i - 1] == '>')) {
      *name = i;
      return i;
    }
  }
  return bytes;
}

/* The function's name, "ns::k" or "Loop<T>::run": what stands before its parameters, up to a space outside of
 * brackets. */
static piece function_of(const char *text, size_t bytes) {
  size_t begin, depth = 0;
  const size_t end = parameters_at(text, bytes, &begin);
  while (begin && !(text[begin - 1] == ' ' && !depth) && text[begin - 1] != '*' && text[begin - 1] != '&') {
    begin--;
    depth += text[begin] == '>';
    depth -= text[begin] == '<' && depth;
  }
  return end == bytes || begin == end ? (piece){text, bytes} : (piece){text + begin, end - begin};
}

/* "[with T=float, N=4]" or "[T = float, N = 4]" or "[with T = float; int N = 4]": the values, "<float, 4>". */
static size_t put_arguments(const char *list, size_t bytes, char *out, size_t room) {
  size_t used = 0, depth = 0;
  bool value = false, first = true;
  for (size_t i = 0; i < bytes; i++) {
    const char c = list[i];
    if (!depth && c == '=' && !value) {
      value = true;
      used += (size_t)snprintf(out + used, room - used, "%s", first ? "<" : ", ");
      first = false;
      while (i + 1 < bytes && list[i + 1] == ' ')
        i++;
    } else if (!depth && (c == ',' || c == ';')) {
      value = false;
    } else if (value) {
      depth += c == '<' || c == '(' || c == '[' || c == '{';
      depth -= depth && (c == '>' || c == ')' || c == ']' || c == '}');
      out[used++] = c;
    }
  }
  if (!first)
    used += (size_t)snprintf(out + used, room - used, ">");
  out[used] = 0;
  return used;
}

/* "k<float, 4>" of "void k(T *, int) [with T=float, N=4]"; the caller frees it. */
static char *short_name(const char *text) {
  const size_t all = strlen(text);
  const char *list = NULL;
  if (all && text[all - 1] == ']')
    for (const char *at = strchr(text, '['); at && !list; at = strchr(at + 1, '['))
      if (at > text && at[-1] == ' ' && strchr(at, '='))
        list = at;
  const piece function = function_of(text, list ? (size_t)(list - text) : all);
  const size_t room = 3 * all + 16; /* a value of one letter becomes three */
  char *out = malloc(room);
  if (!out)
    return NULL;
  memcpy(out, function.at, function.bytes);
  size_t used = function.bytes;
  while (used && out[used - 1] == ' ')
    used--;
  out[used] = 0;
  if (list)
    put_arguments(list + 1, (size_t)(text + all - 1 - list) - 1, out + used, room - used);
  return out;
}

static bool adopt(ink_capture *capture, char *block) {
  if (block && INK_I_ROOM(capture->blocks)) {
    capture->blocks.items[capture->blocks.count++] = block;
    return true;
  }
  free(block);
  return false;
}

uint32_t ink_instance_made_up(ink_capture *capture, int32_t device, uint64_t address) {
  char *text = address ? malloc(64) : NULL;
  if (!text)
    return INK_ID_NONE;
  snprintf(text, 64, "function at 0x%" PRIx64 ", whose name was not read", address);
  if (!adopt(capture, text) || !INK_I_ROOM(capture->instances) ||
      !id_map_put(&capture->instance_map, address_key(device, address), (uint32_t)capture->instances.count))
    return INK_ID_NONE;
  capture->instances.items[capture->instances.count] = (instance_name){.text = text, .hash = ink_fnv_text(INK_FNV_BEGIN, text)};
  return (uint32_t)capture->instances.count++;
}

void ink_instance_short_name(const char *instance, char *text, size_t size) {
  char *name = strstr(instance, " [") ? short_name(instance) : NULL;
  if (name)
    snprintf(text, size, "%s", name);
  else
    ink_activity_short_name(instance, text, size);
  free(name);
}

/* "Step (k<float, 4>)"; `whole`: with all that is known of the function. */
static bool name_kernel(ink_capture *capture, ink_kernel *kernel, const char *section, bool whole) {
  char *function = whole ? strdup(kernel->instance) : short_name(kernel->instance);
  if (!function)
    return false;
  const size_t room = strlen(section) + strlen(function) + 4;
  char *name = malloc(room);
  if (name)
    snprintf(name, room, "%s (%s)", section, function);
  free(function);
  if (!adopt(capture, name))
    return false;
  kernel->name = name;
  return true;
}

/* Kernels of one key are one section's: its name, made longer by as much as it takes. There are few of each. */
ink_status ink_name_instances(ink_capture *capture, ink_error *error) {
  ink_kernel *kernels = capture->kernels.items;
  const size_t count = capture->kernels.count;
  const char **sections = malloc((count + 1) * sizeof *sections);
  bool *several = calloc(count + 1, sizeof *several), fine = sections && several;
  for (size_t i = 0; fine && i < count; i++) {
    sections[i] = kernels[i].name;
    for (size_t k = 0; k < i; k++)
      if (kernels[k].key == kernels[i].key)
        several[i] = several[k] = true;
  }
  for (size_t i = 0; fine && i < count; i++)
    if (several[i] && kernels[i].instance)
      fine = name_kernel(capture, &kernels[i], sections[i], false);
  for (size_t i = 0; fine && i < count; i++)
    for (size_t k = 0; fine && k < i; k++)
      if (several[i] && kernels[k].key == kernels[i].key && kernels[k].instance && kernels[i].instance &&
          strcmp(kernels[k].name, kernels[i].name) == 0)
        fine = name_kernel(capture, &kernels[k], sections[k], true) &&
               name_kernel(capture, &kernels[i], sections[i], true);
  free(sections);
  free(several);
  return fine ? INK_OK : no_memory(error);
}

/* ---- names of tracks ------------------------------------------------------------------------- */

void ink_track_label(const ink_stored_track *track, char *text, size_t size) {
  const ink_track *h = &track->header;
  const bool warp = track->role_name ? track->role_shared : h->thread || track->flags & INK_BUFFER_PER_WARP;
  int n = h->grid_dim[1] > 1 || h->grid_dim[2] > 1
              ? snprintf(text, size, "block (%u,%u,%u)", h->block_index[0], h->block_index[1], h->block_index[2])
              : snprintf(text, size, "block %u", h->block_index[0]);
  if (track->role_name && n > 0 && (size_t)n < size)
    n += snprintf(text + n, size - (size_t)n, " %.80s", track->role_name);
  if (warp && n > 0 && (size_t)n < size)
    n += snprintf(text + n, size - (size_t)n, " warp %u", h->thread / 32);
  if ((!track->role_name || track->role_shared) && h->thread % 32 && n > 0 && (size_t)n < size)
    snprintf(text + n, size - (size_t)n, " lane %u", h->thread % 32);
}
