/* SPDX-License-Identifier: MIT */
/* Reads what ptxas says with -v and the PTX that it was given, kernel by kernel, and compares two of them. */
#include "nvcc_counts.h"

#include <ctype.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  block_threads = 1024,
  register_file = 65536, /* registers of an SM, all architectures since sm_50 */
  track_instructions = 400, /* of PTX that a track and its table take, whatever the kernel */
  growth = 3,
  track_registers = 14, /* that ptxas gives a full kernel more for its track */
  most_gained = 16 /* registers, where they cost warps */
};

/* ---- names of what is in no named namespace ----
 * nvcc calls an unnamed namespace `_GLOBAL__N__<8 digits>_<length>_<file>_<more>`, where the digits are of the text that it compiles: with
 * marks they are others. Here it is `_GLOBAL__N_1`, so that a kernel is found in both. (nvcc 13.0) */

/* The length that a name begins with, whose digits end at `at` (`6` and `46` of "native46"): at least `least`; *digits: how many. 0: none. */
static size_t length_before(const char *text, const char *at, size_t least, unsigned *digits) {
  size_t value = 0, place = 1;
  for (*digits = 1; *digits <= 4 && at > text && isdigit((unsigned char)at[-1]); ++*digits, place *= 10) {
    const char digit = *--at;
    value += (size_t)(digit - '0') * place;
    if (digit != '0' && value >= least)
      return value;
  }
  return 0;
}

static void name_unnamed(char *text) {
  static const char word[] = "_GLOBAL__N__", plain[] = "12_GLOBAL__N_1";
  for (char *at = text; (at = strstr(at, word)); ) {
    const char *behind = at + strlen(word);
    const size_t hash = strspn(behind, "0123456789abcdef");
    char *end;
    const size_t file = hash == 8 && behind[8] == '_' ? strtoul(behind + 9, &end, 10) : 0;
    unsigned digits;
    const size_t length = file && *end == '_' ? length_before(text, at, (size_t)(end + 1 - at) + file, &digits) : 0;
    if (!length || length > strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")) {
      at += strlen(word);
      continue;
    }
    char *from = at - digits;
    memmove(from + strlen(plain), at + length, strlen(at + length) + 1);
    memcpy(from, plain, strlen(plain));
    at = from + strlen(plain);
  }
}

static kernel_counts *find(const counts *all, const char *entry, size_t length, const char *target, size_t target_length) {
  for (size_t i = 0; i < all->count; i++)
    if (!strncmp(all->items[i].entry, entry, length) && !all->items[i].entry[length] &&
        !strncmp(all->items[i].target, target, target_length) && !all->items[i].target[target_length])
      return &all->items[i];
  return NULL;
}

static kernel_counts *add(counts *all, const char *entry, size_t length, const char *target, size_t target_length) {
  kernel_counts *found = find(all, entry, length, target, target_length);
  if (found)
    return found;
  if (all->count == all->room) {
    const size_t room = all->room ? 2 * all->room : 16;
    kernel_counts *grown = realloc(all->items, room * sizeof *grown);
    if (!grown)
      return NULL;
    all->items = grown;
    all->room = room;
  }
  kernel_counts one = {.entry = strndup(entry, length), .target = strndup(target, target_length)};
  if (!one.entry || !one.target) {
    free(one.entry);
    free(one.target);
    return NULL;
  }
  all->items[all->count] = one;
  return &all->items[all->count++];
}

const kernel_counts *counts_find(const counts *all, const char *entry, const char *target) {
  return find(all, entry, strlen(entry), target, strlen(target));
}

void counts_free(counts *all) {
  for (size_t i = 0; i < all->count; i++) {
    free(all->items[i].entry);
    free(all->items[i].target);
  }
  free(all->items);
  free(all->failed);
  free(all->words);
  *all = (counts){0};
}

/* ---- the words of ptxas ---- */

/* The last text between single quotes of a line; 0: none. */
static size_t last_quoted(const char *line, size_t bytes, const char **at) {
  size_t end = bytes;
  while (end && line[end - 1] != '\'')
    end--;
  size_t begin = end ? end - 1 : 0;
  while (begin && line[begin - 1] != '\'')
    begin--;
  *at = line + begin;
  return begin ? end - 1 - begin : 0;
}

static bool note_warning(counts *all, const char *line, size_t bytes) {
  const char *code = memmem(line, bytes, "(C75", 4), *entry;
  const size_t length = last_quoted(line, bytes, &entry);
  if (!code || !length || !isdigit((unsigned char)code[4]) || !isdigit((unsigned char)code[5]))
    return true;
  kernel_counts *one = add(all, entry, length, "", 0);
  if (one)
    one->warned[(code[4] - '0') * 10 + code[5] - '0'] = true;
  return one != NULL;
}

static bool note_failure(counts *all, const char *line, size_t bytes) {
  const char *entry, *words = memmem(line, bytes, ": ", 2);
  const size_t length = last_quoted(line, bytes, &entry);
  if (all->failed || !length || !words)
    return true;
  all->failed = strndup(entry, length);
  all->words = strndup(words + 2, (size_t)(line + bytes - words - 2));
  return all->failed && all->words;
}

static bool read_words(counts *all, const char *text) {
  size_t current = SIZE_MAX; /* the entry that ptxas is at, and whether the next line is about it */
  bool own = false, fine = true;
  for (const char *line = text, *next; *line && fine; line = next) {
    const size_t bytes = strcspn(line, "\n");
    const char *at, *name, *target;
    next = line + bytes + (line[bytes] == '\n');
    unsigned stack, stores, loads, registers;
    char short_line[200]; /* sscanf looks for the end of what it is given */
    snprintf(short_line, sizeof short_line, "%.*s", (int)(bytes < 199 ? bytes : 199), line);
    if ((at = memmem(line, bytes, "Compiling entry function '", 26))) {
      name = at + 26;
      const size_t length = strcspn(name, "'\n");
      target = name + length + strspn(name + length, "' for");
      kernel_counts *one = add(all, name, length, target, strcspn(target, "'\n"));
      current = one ? (size_t)(one - all->items) : SIZE_MAX;
      fine = one != NULL;
    } else if ((at = memmem(line, bytes, "Function properties for ", 24))) {
      own = current < all->count && !strncmp(at + 24, all->items[current].entry, strlen(all->items[current].entry)) &&
            at[24 + strlen(all->items[current].entry)] == '\n';
    } else if (sscanf(short_line, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads", &stack, &stores,
                      &loads) == 3) {
      if (own && current < all->count) {
        all->items[current].stack = stack;
        all->items[current].spilled = stores + loads;
      }
      own = false;
    } else if ((at = strstr(short_line, "Used ")) && sscanf(at, "Used %u registers", &registers) == 1) {
      if (current < all->count)
        all->items[current].registers = registers;
    } else if (!strncmp(line, "ptxas", 5) && memmem(line, bytes, "(C75", 4)) {
      fine = note_warning(all, line, bytes);
    } else if (!strncmp(line, "ptxas", 5) && memmem(line, bytes, "error ", 6)) {
      fine = note_failure(all, line, bytes);
    }
  }
  return fine;
}

bool counts_read_words(counts *all, const char *text) {
  char *named = strdup(text);
  if (named)
    name_unnamed(named);
  const bool fine = named && read_words(all, named);
  free(named);
  return fine;
}

/* ---- PTX ---- */

/* Not what inline assembly brings besides: comments, braces, declarations. */
static bool is_instruction(const char *line) {
  line += strspn(line, " \t");
  size_t bytes = strlen(line);
  while (bytes && isspace((unsigned char)line[bytes - 1]))
    bytes--;
  return bytes && line[bytes - 1] == ';' && line[0] != '.' && line[0] != '/';
}

static bool is_of_verbose(const char *line, size_t bytes) {
  static const char *const parts[] = {" : Compiling entry function '", " : Function properties for ", " : Used ", " : Compile time = ",
                                      " bytes gmem"};
  if (bytes > 4 && !memcmp(line, "    ", 4) && memmem(line, bytes, " bytes stack frame, ", 20))
    return true;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (bytes > 10 && !memcmp(line, "ptxas info", 10) && memmem(line, bytes, parts[i], strlen(parts[i])))
      return true;
  return false;
}

void counts_drop_words(char *text) {
  char *to = text;
  for (const char *line = text, *next; *line; line = next) {
    next = strchrnul(line, '\n');
    next += *next != 0;
    const size_t bytes = (size_t)(next - line);
    if (is_of_verbose(line, bytes))
      continue;
    memmove(to, line, bytes);
    to += bytes;
  }
  *to = 0;
}

/* What the line's braces add to the depth: inline assembly may close its own at the start of a line. */
static int braces(const char *line) {
  int depth = 0;
  for (; *line && strncmp(line, "//", 2); line++)
    depth += (*line == '{') - (*line == '}');
  return depth;
}

/* " 128, 2, 1": 256 */
static unsigned threads_of(const char *text) {
  unsigned x = 1, y = 1, z = 1;
  sscanf(text, "%u , %u , %u", &x, &y, &z);
  return x && y && z ? x * y * z : 1;
}

static bool read_ptx(counts *all, FILE *from) {
  char *line = NULL;
  size_t room = 0;
  long in = -1;
  unsigned instructions = 0;
  int depth = 0;
  bool fine = true;
  while (fine && getline(&line, &room, from) >= 0) {
    name_unnamed(line);
    const char *entry = strstr(line, ".entry ");
    if (entry && in < 0) {
      entry += 7;
      kernel_counts *one = add(all, entry, strcspn(entry, "( \t\r\n"), "", 0);
      fine = one != NULL;
      in = one ? one - all->items : -1;
      instructions = 0;
      depth = 0;
    }
    instructions += is_instruction(line);
    const char *bound = strstr(line, ".maxntid");
    bound = bound ? bound : strstr(line, ".reqntid");
    if (in >= 0 && bound)
      all->items[in].threads = threads_of(bound + 8);
    if (in >= 0 && (strstr(line, ".maxnreg") || strstr(line, ".minnctapersm") || strstr(line, ".maxnctapersm")))
      all->items[in].bounded = true;
    const int before = depth;
    depth += braces(line);
    if (in >= 0 && before > 0 && depth == 0) {
      if (instructions > all->items[in].instructions)
        all->items[in].instructions = instructions;
      in = -1;
    }
  }
  free(line);
  return fine;
}

bool counts_read_ptx(counts *all, const char *folder) {
  DIR *list = opendir(folder);
  bool fine = true;
  for (struct dirent *one; list && fine && (one = readdir(list));) {
    const char *dot = strrchr(one->d_name, '.');
    char *path;
    if (!dot || strcmp(dot, ".ptx"))
      continue;
    fine = asprintf(&path, "%s/%s", folder, one->d_name) >= 0;
    FILE *from = fine ? fopen(path, "r") : NULL;
    if (from) {
      fine = read_ptx(all, from);
      fclose(from);
    }
    if (fine)
      free(path);
  }
  if (list)
    closedir(list);
  return fine;
}

/* ---- names and verdicts ---- */

char *counts_kernel_name(const char *entry) {
  const char *at = entry, *name = entry;
  size_t length = strlen(entry);
  if (strncmp(entry, "_Z", 2))
    return strdup(entry);
  at += 2 + strspn(entry + 2, "LN");
  while (isdigit((unsigned char)*at)) {
    char *end;
    const unsigned long bytes = strtoul(at, &end, 10);
    if (bytes > strlen(end))
      break;
    name = end;
    length = bytes;
    at = end + bytes;
    at += *at == 'L' && isdigit((unsigned char)at[1]);
    if (entry[2] != 'N' && !(entry[2] == 'L' && entry[3] == 'N'))
      break;
  }
  return strndup(name, length);
}

/* The greatest of the usual blocks that may have so many registers a thread, which are given out in eights. */
static unsigned block_of(unsigned registers) {
  unsigned threads = block_threads;
  while (threads > 128 && (registers + 7) / 8 * 8 * threads > register_file)
    threads /= 2;
  return (registers + 7) / 8 * 8 * 384 <= register_file && threads < 384 ? 384 : threads;
}

bool counts_judge(const counts *plain, const counts *marked, const kernel_counts *one, char *why, size_t room) {
  const kernel_counts *before = counts_find(plain, one->entry, one->target);
  const kernel_counts *all = counts_find(marked, one->entry, ""), *all_before = counts_find(plain, one->entry, "");
  if (!before)
    return false;
  const unsigned threads = block_of(before->registers), most = register_file / threads / 8 * 8;
  if (!*one->target && before->instructions && one->instructions > growth * before->instructions + track_instructions)
    return snprintf(why, room, "its PTX grows from %u to %u instructions", before->instructions, one->instructions) > 0;
  if (!*one->target)
    for (size_t i = 0; i < 100; i++)
      if (one->warned[i] && !before->warned[i])
        return snprintf(why, room, "ptxas warns of C75%02zu", i) > 0;
  if (one->spilled > before->spilled)
    return snprintf(why, room, "it would spill %u bytes more", one->spilled - before->spilled) > 0;
  if (one->stack > before->stack)
    return snprintf(why, room, "it would take %u bytes of stack more", one->stack - before->stack) > 0;
  if (before->registers <= most && one->registers > most && !(all && all->threads) &&
      !(all_before && all_before->threads))
    return snprintf(why, room, "it would take %u registers, and %u threads of a block may have %u", one->registers,
                    threads, most) > 0;
  return false;
}

/* Warps that an SM has registers for, in whole blocks of so many threads, where that is known; registers are given out to
 * warps in 256s. */
static unsigned warps_of(unsigned registers, unsigned threads, const char *target) {
  static const char *const smaller[] = {"sm_75", "sm_86", "sm_87", "sm_89", "sm_12"};
  unsigned most = 64;
  for (size_t i = 0; i < sizeof smaller / sizeof *smaller; i++)
    if (!strncmp(target, smaller[i], strlen(smaller[i])))
      most = i ? 48 : 32;
  const unsigned fit = registers ? register_file / ((registers + 7) / 8 * 256) : most, warps = fit < most ? fit : most;
  return threads ? warps / ((threads + 31) / 32) * ((threads + 31) / 32) : warps;
}

bool counts_crowds(const counts *plain, const counts *marked, const kernel_counts *one, char *why, size_t room) {
  const kernel_counts *before = counts_find(plain, one->entry, one->target);
  const kernel_counts *all = counts_find(marked, one->entry, "");
  if (!before || !*one->target || one->registers <= before->registers + most_gained)
    return false;
  const unsigned threads = all ? all->threads : 0, were = warps_of(before->registers, threads, one->target),
                 are = warps_of(one->registers, threads, one->target);
  return 8 * are <= 7 * were && snprintf(why, room, "it would take %u registers more, which leave an SM %u warps of %u",
                                         one->registers - before->registers, are, were) > 0;
}

bool counts_has_room(const counts *plain, const kernel_counts *one) {
  const kernel_counts *before = counts_find(plain, one->entry, one->target), *ptx = counts_find(plain, one->entry, "");
  if (!before || !ptx || before->spilled || ptx->bounded)
    return false;
  const unsigned threads = ptx->threads ? ptx->threads : block_of(before->registers), most = register_file / threads / 8 * 8;
  return before->registers + track_registers <= (most < 255 ? most : 255);
}

unsigned counts_most_registers(const counts *plain, const counts *marked, const kernel_counts *one) {
  const kernel_counts *before = counts_find(plain, one->entry, one->target), *ptx = counts_find(plain, one->entry, "");
  char why[160];
  kernel_counts tried = *one;
  if (!before || !ptx || !*one->target || ptx->threads || ptx->bounded || before->spilled)
    return 0;
  for (tried.registers = before->registers; tried.registers < one->registers; tried.registers++)
    if (counts_judge(plain, marked, &tried, why, sizeof why) || counts_crowds(plain, marked, &tried, why, sizeof why))
      break;
  return tried.registers > before->registers ? tried.registers - 1 : 0; /* else it is worse with those of plain too */
}
