/* SPDX-License-Identifier: MIT */
/* The NPY output: for each kernel three int64 arrays [track][iteration][section] (cycles, ns,
 * counts) and a JSON file with what the indices stand for. Two passes: the first collects the
 * iterations and sections, the second fills one track at a time, so memory does not grow with the
 * tracks. */
#include "id_map.h"
#include "clock/clock_map.h"
#include "outputs.h"
#include "selection.h"
#include "text_scan.h"
#include "text_write.h"
#include "track_events.h"

#include <limits.h>
#include <stdlib.h>

/* A track's cells are held in memory; more are certainly a mistake (rows used as ids). */
#define CELLS_MAX ((uint64_t)1 << 27)

enum { CYCLES, NS, COUNTS, ARRAYS, AXES = ARRAYS, FILES };
static const char *const array_names[ARRAYS] = {"cycles", "ns", "counts"};

typedef struct npy {
  ink_selection selection; /* first: see ink_selection_decode */
  ink_error *error;
  uint32_t kernel; /* the one that is written now */
  bool filling;    /* second pass */
  size_t launch;
  id_map row_map, section_map;
  int64_t *rows;
  size_t row_count, row_room;
  ink_section_index *sections;
  size_t section_count, section_room;
  int64_t *cells[ARRAYS]; /* [row][section] of the current track */
  uint64_t tracks;
  ink_file *files;         /* [kernel_count][FILES], named together at the very end */
  ink_file *arrays, *axes; /* of the current kernel: [ARRAYS] of files, and one */
  char *names[FILES];      /* their paths */
  int32_t device;          /* of the current track */
  uint32_t sm;
} npy;

/* ---- first pass: which rows and sections there are ------------------------------------------- */

static ink_status remember_row(npy *w, int64_t row) {
  if (id_map_get(&w->row_map, (uint64_t)row) != INK_ID_NONE)
    return INK_OK;
  void *rows = w->rows;
  ink_status status = ink_grow(&rows, w->row_count, &w->row_room, sizeof *w->rows);
  w->rows = rows;
  if (status != INK_OK || !id_map_put(&w->row_map, (uint64_t)row, 0))
    return INK_ERROR_MEMORY;
  w->rows[w->row_count++] = row;
  return INK_OK;
}

static ink_status remember_section(npy *w, ink_section_index section) {
  if (id_map_get(&w->section_map, section) != INK_ID_NONE)
    return INK_OK;
  void *sections = w->sections;
  ink_status status = ink_grow(&sections, w->section_count, &w->section_room, sizeof *w->sections);
  w->sections = sections;
  if (status != INK_OK || !id_map_put(&w->section_map, section, 0))
    return INK_ERROR_MEMORY;
  w->sections[w->section_count++] = section;
  return INK_OK;
}

/* No row first, numbers ascending, unknown last. */
static int by_row(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  a = a == INK_ROW_UNKNOWN ? INT64_MAX : a;
  b = b == INK_ROW_UNKNOWN ? INT64_MAX : b;
  return (a > b) - (a < b);
}

static int by_section(const void *left, const void *right) {
  ink_section_index a = *(const ink_section_index *)left, b = *(const ink_section_index *)right;
  return (a > b) - (a < b);
}

static ink_status order_axes(npy *w) {
  if (w->row_count)
    qsort(w->rows, w->row_count, sizeof *w->rows, by_row);
  if (w->section_count)
    qsort(w->sections, w->section_count, sizeof *w->sections, by_section);
  bool fits = true;
  for (size_t i = 0; fits && i < w->row_count; i++)
    fits = id_map_put(&w->row_map, (uint64_t)w->rows[i], (uint32_t)i);
  for (size_t i = 0; fits && i < w->section_count; i++)
    fits = id_map_put(&w->section_map, w->sections[i], (uint32_t)i);
  uint64_t cells = (uint64_t)w->row_count * w->section_count;
  if (cells > CELLS_MAX)
    return ink_error_set(w->error, INK_ERROR_LIMIT,
                         "%zu iterations of %zu sections are too many for an array", w->row_count,
                         w->section_count);
  for (int i = 0; fits && i < ARRAYS; i++) {
    w->cells[i] = calloc((size_t)cells + 1, sizeof **w->cells);
    fits = w->cells[i] != NULL;
  }
  return fits ? INK_OK : INK_ERROR_MEMORY;
}

/* ---- second pass ------------------------------------------------------------------------------
 */

static ink_status add_to_cell(npy *w, ink_section_index section, int64_t row, uint64_t cycles,
                              int64_t ns, uint64_t count) {
  if (!w->filling) {
    ink_status status = remember_row(w, row);
    return status == INK_OK ? remember_section(w, section) : status;
  }
  size_t at = (size_t)id_map_get(&w->row_map, (uint64_t)row) * w->section_count +
              id_map_get(&w->section_map, section);
  const uint64_t added[ARRAYS] = {cycles, (uint64_t)ns, count};
  for (int i = 0; i < ARRAYS; i++) /* unsigned: garbage may wrap */
    w->cells[i][at] = (int64_t)((uint64_t)w->cells[i][at] + added[i]);
  return INK_OK;
}

static ink_status on_track_begin(void *user, const ink_decoded_track *track) {
  npy *w = user;
  w->launch = track->stored->launch;
  w->device = track->stored->device;
  w->sm = track->stored->header.sm_open;
  size_t cells = w->row_count * w->section_count;
  for (int i = 0; w->filling && i < ARRAYS; i++)
    memset(w->cells[i], 0, cells * sizeof **w->cells);
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  npy *w = user;
  if (slice->cut)
    return INK_OK;
  if (slice->nested) /* its time is that of the slice around it */
    return add_to_cell(w, slice->section, slice->row, 0, 0, 1);
  return add_to_cell(w, slice->section, slice->row,
                     slice->end_cycles - slice->begin_cycles - slice->marking_cycles,
                     ink_ns_between(slice->marking_ns, ink_ns_between(slice->begin_ns, slice->end_ns)),
                     1);
}

static ink_status on_point(void *user, const ink_point *point) {
  npy *w = user;
  if (point->kind != INK_KIND_ESCAPE || point->escape != INK_ESCAPE_SUM)
    return INK_OK;
  uint64_t cycles = point->value.sum.total_cycles -
                    point->value.sum.count * point->value.sum.pass_marking_cycles;
  /* A sum's passes have no stamps: at the rate of its end. */
  double ns = (double)cycles * ink_clock_map_line(w->selection.map, w->device, w->sm, point->cycles,
                                                  point->cycles).ns_per_cycle;
  return add_to_cell(w, point->section, point->row, cycles, ns < 9e18 ? (int64_t)(ns + 0.5) : 0,
                     point->value.sum.count);
}

static void put_track_axis(npy *w, const ink_decoded_track *track) {
  const ink_track *h = &track->stored->header;
  ink_file_print(w->axes,
                 "%s\n    {\"launch\": %zu, \"grid_id\": %llu, \"device\": %d, \"sm\": %u, "
                 "\"block\": [%u, %u, %u], \"warp\": %u, \"thread\": %u, \"marks_dropped\": %llu}",
                 w->tracks ? "," : "", w->launch, (unsigned long long)h->grid_id,
                 track->stored->device, h->sm_open, h->block_index[0], h->block_index[1],
                 h->block_index[2], h->thread / 32, h->thread,
                 (unsigned long long)track->marks_dropped);
}

static ink_status on_track_end(void *user, const ink_decoded_track *track) {
  npy *w = user;
  if (!w->filling)
    return INK_OK;
  put_track_axis(w, track);
  w->tracks++;
  for (int i = 0; i < ARRAYS; i++) {
    ink_file_write(&w->arrays[i], w->cells[i], w->row_count * w->section_count * sizeof **w->cells);
    ink_status status = ink_file_check(&w->arrays[i], w->error);
    if (status != INK_OK)
      return status;
  }
  return INK_OK;
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, version 1.0 */
static void put_npy_head(const npy *w, ink_file *file, uint64_t tracks) {
  char head[256];
  int length = snprintf(head, sizeof head,
                        "{'descr': '<i8', 'fortran_order': False, 'shape': (%llu, %zu, %zu), }",
                        (unsigned long long)tracks, w->row_count, w->section_count);
  size_t padded = ((size_t)length + 1 + 10 + 63) / 64 * 64 - 10;
  memset(head + length, ' ', padded - (size_t)length);
  head[padded - 1] = '\n';
  const unsigned char magic[10] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   (unsigned char)(padded & 0xff),
                                   (unsigned char)(padded >> 8)};
  ink_file_write(file, magic, sizeof magic);
  ink_file_write(file, head, padded);
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void put_axes_head(npy *w) {
  ink_file *f = w->axes;
  const ink_kernel *kernel = &w->selection.kernels[w->kernel];
  ink_file_print(f, "{\n  \"schema_version\": 1,\n  \"clock\": \"%s\",\n  \"kernel\": ",
                 ink_capture_simulated(w->selection.capture) ? "simulated clock" : "GPU clock");
  ink_file_json_string(f, kernel->name);
  ink_file_print(f, ",\n  \"marking\": \"%s\"", ink_selection_marking(&w->selection));
  ink_file_text(f, ",\n  \"arrays\": {");
  for (int i = 0; i < ARRAYS; i++) {
    ink_file_print(f, "%s\"%s\": ", i ? ", " : "", array_names[i]);
    ink_file_json_string(f, base_name(w->names[i]));
  }
  ink_file_text(f, "},\n  \"axes\": [\"track\", \"iteration\", \"section\"],\n  \"iterations\": [");
  for (size_t i = 0; i < w->row_count; i++) {
    ink_file_text(f, i ? ", " : "");
    if (w->rows[i] == INK_ROW_NONE)
      ink_file_text(f, "null");
    else if (w->rows[i] == INK_ROW_UNKNOWN)
      ink_file_text(f, "\"unknown\"");
    else
      ink_file_print(f, "%lld", (long long)w->rows[i]);
  }
  ink_file_text(f, "],\n  \"sections\": [");
  for (size_t i = 0; i < w->section_count; i++) {
    ink_file_text(f, i ? ", " : "");
    ink_file_json_string(f, ink_selection_section(&w->selection, w->sections[i]));
  }
  ink_file_text(f, "],\n  \"tracks\": [");
}

static ink_status run_pass(npy *w) {
  const ink_sink sink = {.track_begin = on_track_begin,
                         .slice = on_slice,
                         .point = on_point,
                         .track_end = on_track_end};
  return ink_selection_decode(&w->selection, &sink, w->error);
}

static ink_status open_files(npy *w, const char *stem, const char *kernel) {
  w->arrays = w->files + (size_t)w->kernel * FILES;
  w->axes = w->arrays + AXES;
  for (int i = 0; i < FILES; i++) {
    size_t size = strlen(stem) + strlen(kernel) + 32;
    w->names[i] = malloc(size);
    if (!w->names[i])
      return INK_ERROR_MEMORY;
    snprintf(w->names[i], size, i == AXES ? "%s%s%s.axes.json" : "%s%s%s.%s.npy", stem,
             *kernel ? "." : "", kernel, i == AXES ? "" : array_names[i]);
    ink_status status = i == AXES ? ink_file_open_utf8(&w->arrays[i], w->names[i], w->error)
                                  : ink_file_open(&w->arrays[i], w->names[i], w->error);
    if (status != INK_OK)
      return status;
  }
  return INK_OK;
}

static void forget_kernel(npy *w) {
  for (int i = 0; i < FILES; i++) {
    free(w->names[i]);
    w->names[i] = NULL;
  }
  for (int i = 0; i < ARRAYS; i++) {
    free(w->cells[i]);
    w->cells[i] = NULL;
  }
  id_map_clear(&w->row_map);
  id_map_clear(&w->section_map);
  w->row_count = w->section_count = 0;
  w->tracks = 0;
  w->filling = false;
}

/* `name` is "" where the capture has one kernel, else what tells its files from the others'. */
static ink_status write_kernel(npy *w, const char *stem, const char *name) {
  for (size_t i = 0; i < w->selection.kernel_count; i++)
    w->selection.kernel_chosen[i] = i == w->kernel;
  ink_status status = open_files(w, stem, name);
  if (status == INK_OK)
    status = run_pass(w);
  if (status == INK_OK)
    status = order_axes(w);
  if (status != INK_OK)
    return status;
  uint64_t tracks = 0;
  const uint64_t all = ink_capture_track_count(w->selection.capture);
  for (uint64_t i = 0; i < all; i++) {
    ink_stored_track track;
    ink_capture_track(w->selection.capture, i, &track);
    tracks += track.kernel == w->kernel && ink_selection_has(&w->selection, track.launch);
  }
  for (int i = 0; i < ARRAYS; i++)
    put_npy_head(w, &w->arrays[i], tracks);
  put_axes_head(w);
  w->filling = true;
  status = run_pass(w);
  if (status != INK_OK)
    return status;
  ink_file_text(w->axes, "\n  ]\n}\n");
  if (w->tracks != tracks)
    return ink_error_set(w->error, INK_ERROR_DAMAGED,
                         "the decoder gave %llu tracks of the kernel's %llu",
                         (unsigned long long)w->tracks, (unsigned long long)tracks);
  for (int i = 0; i < FILES && status == INK_OK; i++)
    status = ink_file_finish(&w->arrays[i], w->error);
  return status;
}

enum { PART_BYTES = 200 };

/* A name without what is special in file names, or hidden in lists of them. */
static size_t plain_part(const char *name, char *part) {
  size_t left = strnlen(name, PART_BYTES), n = 0, bytes;
  for (uint32_t code; left && n < PART_BYTES - 16; name += bytes, left -= bytes) {
    bytes = ink_i_text_next(name, left, &code);
    const bool plain = code != INK_I_NO_CHARACTER && !ink_i_text_hides(code) &&
                       (code >= 0x80 || !strchr("/\\ :?*<>|\"", (int)code));
    memcpy(part + n, plain ? name : "_", plain ? bytes : 1);
    n += plain ? bytes : 1;
  }
  part[n] = 0;
  return n;
}

/* A kernel's name as a part of a file name; a number is added where two would be the same. */
static void file_part(const npy *w, char *part) {
  char other[PART_BYTES];
  const size_t n = plain_part(w->selection.kernels[w->kernel].name, part);
  for (size_t i = 0; i < w->selection.kernel_count; i++) {
    plain_part(w->selection.kernels[i].name, other);
    if (i != w->kernel && !strcmp(other, part)) {
      snprintf(part + n, PART_BYTES - n, ".%u", w->kernel);
      break;
    }
  }
}

static ink_status write_kernels(npy *w, const char *path) {
  size_t length = strlen(path), count = w->selection.kernel_count, chosen = 0;
  bool *wanted = calloc(count + 1, sizeof *wanted);
  char *stem = strdup(path);
  ink_status status = wanted && stem ? INK_OK : INK_ERROR_MEMORY;
  if (status != INK_OK)
    goto cleanup;
  if (length > 4 && !strcmp(path + length - 4, ".npy"))
    stem[length - 4] = 0;
  const uint64_t tracks = ink_capture_track_count(w->selection.capture);
  for (uint64_t i = 0; i < tracks; i++) {
    ink_stored_track track;
    ink_capture_track(w->selection.capture, i, &track);
    if (track.kernel < count && ink_selection_has(&w->selection, track.launch))
      wanted[track.kernel] |= w->selection.kernel_chosen[track.kernel];
  }
  for (size_t i = 0; i < count; i++)
    chosen += wanted[i];
  if (!chosen) {
    status = ink_error_set(w->error, INK_ERROR_EMPTY, "no track to write");
    goto cleanup;
  }
  w->selection.passes = 2 * (uint32_t)chosen;
  for (w->kernel = 0; w->kernel < count && status == INK_OK; w->kernel++) {
    if (!wanted[w->kernel])
      continue;
    char part[PART_BYTES] = "";
    if (chosen > 1)
      file_part(w, part);
    status = write_kernel(w, stem, part);
    forget_kernel(w);
  }
  for (size_t i = 0; i < count * FILES && status == INK_OK; i++)
    if (wanted[i / FILES])
      status = ink_file_commit(&w->files[i], w->error);
cleanup:
  free(stem);
  free(wanted);
  return status;
}

ink_status ink_write_npy(const ink_capture *capture, const ink_clock_map *map,
                         const ink_output_options *options, const char *path, ink_error *error) {
  if (!strcmp(path, "-"))
    return ink_error_set(error, INK_ERROR_ARGUMENT,
                         "npy writes several files, give a name instead of '-'");
  npy w = {.error = error};
  ink_status status = ink_selection_make(&w.selection, capture, map, options, error);
  if (status == INK_OK && w.selection.options.filter)
    status = ink_error_set(error, INK_ERROR_ARGUMENT, "arrays cannot be filtered by time, blocks, iterations or length");
  if (status != INK_OK)
    goto cleanup;
  if (!w.selection.kernel_count) {
    status = ink_error_set(error, INK_ERROR_EMPTY, "the capture has no kernel");
    goto cleanup;
  }
  w.files = calloc(w.selection.kernel_count * FILES, sizeof *w.files);
  status = w.files ? write_kernels(&w, path) : INK_ERROR_MEMORY;
  if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
cleanup:
  for (size_t i = 0; w.files && i < w.selection.kernel_count * FILES; i++)
    ink_file_abandon(&w.files[i]);
  free(w.files);
  forget_kernel(&w);
  id_map_free(&w.row_map);
  id_map_free(&w.section_map);
  free(w.rows);
  free(w.sections);
  ink_selection_free(&w.selection);
  return status;
}
