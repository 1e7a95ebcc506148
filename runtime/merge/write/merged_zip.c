/* SPDX-License-Identifier: MIT */
/* The merged trace as a zip for Perfetto (interface v58 and newer): the other file unpacked but
 * otherwise untouched, ours beside it, and a manifest that puts both on one clock. Members are
 * stored, not compressed; sizes stand in front of them, because readers that stream want them
 * there. Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3 to 4.5. */
#include "merge/write/trace_copy.h"
#include "merged_perfetto.h"
#include "merged_private.h"

#include "output/text_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  LOCAL_HEADER = 0x04034b50,
  CENTRAL_HEADER = 0x02014b50,
  CENTRAL_END = 0x06054b50,
  CENTRAL_END_64 = 0x06064b50,
  CENTRAL_LOCATOR_64 = 0x07064b50
};
/* Extra fields: sizes of 64 bits; and, where 32 are enough, room that nobody reads. */
enum { EXTRA_ZIP64 = 1, EXTRA_PADDING = 0xd935, MEMBERS = 3, NAME_MAX_BYTES = 256 };

typedef struct member {
  char name[NAME_MAX_BYTES];
  uint64_t header_at, data_at, size;
  uint32_t crc;
} member;

typedef struct zip {
  ink_file *file;
  member members[MEMBERS];
  size_t count;
} zip;

static char *put16(char *p, unsigned value) {
  *p++ = (char)(value & 0xff);
  *p++ = (char)(value >> 8 & 0xff);
  return p;
}

static char *put32(char *p, uint32_t value) {
  return put16(put16(p, value & 0xffff), value >> 16);
}

static char *put64(char *p, uint64_t value) {
  return put32(put32(p, (uint32_t)value), (uint32_t)(value >> 32));
}

static bool is_large(uint64_t value) {
  return value >= UINT32_MAX;
}

/* Fields that both headers share: version, flags (names are UTF-8), method, time, sums, lengths. */
static char *put_common(char *p, const member *m, unsigned extra_bytes) {
  bool large = is_large(m->size);
  p = put16(p, large ? 45 : 20);
  p = put16(p, 1 << 11);
  p = put16(p, 0);
  p = put32(p, 0x00210000); /* 1980-01-01: the same input gives the same bytes */
  p = put32(p, m->crc);
  p = put32(p, large ? UINT32_MAX : (uint32_t)m->size);
  p = put32(p, large ? UINT32_MAX : (uint32_t)m->size);
  p = put16(p, (unsigned)strlen(m->name));
  return put16(p, extra_bytes);
}

static size_t local_header(const member *m, char *bytes) {
  char *p = put32(bytes, LOCAL_HEADER);
  p = put_common(p, m, 20);
  memcpy(p, m->name, strlen(m->name));
  p += strlen(m->name);
  p = put16(p, is_large(m->size) ? EXTRA_ZIP64 : EXTRA_PADDING);
  p = put16(p, 16);
  p = put64(p, is_large(m->size) ? m->size : 0);
  return (size_t)(put64(p, is_large(m->size) ? m->size : 0) - bytes);
}

static member *begin_member(zip *z, const char *name) {
  char header[NAME_MAX_BYTES + 64];
  member *m = &z->members[z->count++];
  *m = (member){.header_at = z->file->written};
  snprintf(m->name, sizeof m->name, "%s", name);
  size_t size = local_header(m, header);
  ink_file_write(z->file, header, size);
  ink_file_flush(z->file);
  m->data_at = z->file->written;
  ink_file_utf8(z->file, strstr(name, ".json") != NULL);
  z->file->sums = true;
  z->file->crc = 0;
  return m;
}

static void end_member(zip *z, member *m) {
  char header[NAME_MAX_BYTES + 64];
  ink_file_utf8(z->file, false);
  z->file->sums = false;
  m->size = z->file->written - m->data_at;
  m->crc = z->file->crc;
  size_t size = local_header(m, header);
  ink_file_patch(z->file, m->header_at, header, size);
}

static void put_central(zip *z, const member *m) {
  char header[NAME_MAX_BYTES + 128], extra[32], *e = extra;
  if (is_large(m->size))
    e = put64(put64(e, m->size), m->size);
  if (is_large(m->header_at))
    e = put64(e, m->header_at);
  size_t extra_bytes = (size_t)(e - extra);
  char *p = put32(header, CENTRAL_HEADER);
  p = put16(p, 3 << 8 | 45); /* made on Unix */
  p = put_common(p, m, extra_bytes ? (unsigned)extra_bytes + 4 : 0);
  p = put16(p, 0);
  p = put16(p, 0);
  p = put16(p, 0);
  p = put32(p, 0100644u << 16);
  p = put32(p, is_large(m->header_at) ? UINT32_MAX : (uint32_t)m->header_at);
  memcpy(p, m->name, strlen(m->name));
  p += strlen(m->name);
  if (extra_bytes) {
    p = put16(put16(p, EXTRA_ZIP64), (unsigned)extra_bytes);
    memcpy(p, extra, extra_bytes);
    p += extra_bytes;
  }
  ink_file_write(z->file, header, (size_t)(p - header));
}

static void end_zip(zip *z) {
  char bytes[128];
  uint64_t at = z->file->written;
  for (size_t i = 0; i < z->count; i++)
    put_central(z, &z->members[i]);
  uint64_t end = z->file->written, size = end - at;
  bool large = is_large(at);
  char *p = bytes;
  if (large) {
    p = put64(put32(p, CENTRAL_END_64), 44);
    p = put16(put16(p, 45), 45);
    p = put32(put32(p, 0), 0);
    p = put64(put64(p, z->count), z->count);
    p = put64(put64(p, size), at);
    p = put64(put32(put32(p, CENTRAL_LOCATOR_64), 0), end);
    p = put32(p, 1);
  }
  p = put32(put32(p, CENTRAL_END), 0);
  p = put16(put16(p, (unsigned)z->count), (unsigned)z->count);
  p = put32(put32(p, (uint32_t)size), large ? UINT32_MAX : (uint32_t)at);
  p = put16(p, 0);
  ink_file_write(z->file, bytes, (size_t)(p - bytes));
}

/* ---- the members -------------------------------------------------------------------------------
 */

/* "trace.json.gz" -> "trace.json": members must not be packed by themselves. */
static void member_name(const char *path, char *name, size_t size) {
  const char *slash = strrchr(path, '/');
  snprintf(name, size, "%.200s", slash ? slash + 1 : path);
  static const char *const endings[] = {".gz", ".zst", ".zip"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    size_t length = strlen(name), n = strlen(endings[i]);
    if (length > n && !strcmp(name + length - n, endings[i]))
      name[length - n] = 0;
  }
  if (!strstr(name, ".json"))
    strcat(name, ".json");
  if (!strcmp(name, "ink.pftrace"))
    strcpy(name, "trace.json");
}

static void put_manifest(zip *z, const placement *p, const char *theirs) {
  member *m = begin_member(z, "perfetto_manifest.json");
  ink_file_text(z->file,
                "{\"perfetto_manifest\":{\"version\":1,\"trace_time\":{\"clock\":\"REALTIME\"},"
                "\"files\":[{\"path\":\"ink.pftrace\"},{\"path\":");
  ink_file_json_string(z->file, theirs);
  ink_file_print(z->file,
                 ",\"clocks\":{\"sync_to\":{\"file\":\"ink.pftrace\",\"clock\":\"REALTIME\"},"
                 "\"offset_ns\":%" PRId64 "}}]}}\n",
                 p->facts->base_ns);
  end_member(z, m);
}

/* In the processes that the other file's pids make, a track for each stream. */
static ink_status describe_streams(merged_perfetto *w) {
  const placement *p = &w->sink.place;
  for (size_t d = 0; d < p->selection.device_count; d++) {
    char pid[96], *end;
    int32_t device = p->selection.devices[d].index;
    size_t kernel = placement_any_kernel(p, device);
    if (kernel == SIZE_MAX)
      continue;
    foreign_pid(p->foreign, &p->kernels[kernel], pid, sizeof pid);
    long long number = strtoll(pid, &end, 10);
    w->process_pids[d] = !*end && number >= 0 && number <= INT32_MAX ? number : -1;
  }
  for (size_t i = 0; i < p->selection.launch_count; i++) {
    const placed_launch *l = &p->launches[i];
    if (!l->placed || l->kernel == SIZE_MAX)
      continue;
    const ink_foreign_kernel *k = &p->kernels[l->kernel];
    size_t same = 0; /* an earlier launch of that stream */
    while (same < i && (!w->parents[same] || p->launches[same].kernel == SIZE_MAX ||
                        p->kernels[p->launches[same].kernel].type->device != k->type->device ||
                        p->kernels[p->launches[same].kernel].type->stream != k->type->stream))
      same++;
    w->parents[i] =
        same < i ? w->parents[same]
                 : merged_perfetto_stream(w, p->selection.launches[i].device, k->type->stream);
  }
  return INK_OK;
}

static ink_status put_capture(zip *z, merged_whole *whole, size_t index) {
  merged_sink *sink = &whole->sinks[index];
  merged_perfetto *w = calloc(1, sizeof *w);
  if (!w)
    return INK_ERROR_MEMORY;
  ink_status status = merged_perfetto_init(w, sink, z->file, (unsigned)index, NULL);
  if (status == INK_OK && whole->count > 1)
    status = merged_name_processes(w, index, sink->place.who);
  if (status == INK_OK)
    status = describe_streams(w);
  if (status == INK_OK)
    status = merged_perfetto_put(w);
  merged_perfetto_free(w, sink);
  free(w);
  return status;
}

static ink_status put_ours(zip *z, merged_whole *whole) {
  member *m = begin_member(z, "ink.pftrace");
  ink_status status = INK_OK;
  for (size_t i = 0; i < whole->count && status == INK_OK; i++)
    status = put_capture(z, whole, i);
  end_member(z, m);
  return status;
}

static ink_status put_theirs(zip *z, const placement *p, const char *name, ink_error *error) {
  trace_copy in = {0};
  member *m = begin_member(z, name);
  ink_status status = trace_copy_open(&in, p->with, error);
  if (status == INK_OK)
    status = trace_copy_copy(&in, z->file, UINT64_MAX, p, error);
  trace_copy_close(&in);
  end_member(z, m);
  return status;
}

ink_status merged_write_zip(merged_whole *whole, const char *path, ink_error *error) {
  const placement *p = &whole->sinks[0].place;
  ink_file file = {.fd = -1};
  zip z = {.file = &file};
  char name[NAME_MAX_BYTES];
  if (p->facts->kind == INK_FOREIGN_NSIGHT)
    return ink_error_set(
        error, INK_ERROR_UNSUPPORTED,
        "cannot put '%s' into a zip: Perfetto does not read SQLite, use a name that "
        "ends in .pftrace",
        p->with);
  if (p->facts->kind == INK_FOREIGN_PERFETTO)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "cannot put '%s' into a zip: it is a Perfetto trace, whose packets and ours make one file, use "
                         "a name that ends in .pftrace",
                         p->with);
  ink_status status = ink_file_open(&file, path, error);
  if (status == INK_OK && file.direct)
    status = ink_error_set(error, INK_ERROR_UNSUPPORTED,
                           "cannot write a zip to '%s', which is not a regular file", path);
  if (status != INK_OK)
    goto cleanup;
  member_name(p->with, name, sizeof name);
  put_manifest(&z, p, name);
  status = put_ours(&z, whole);
  if (status == INK_OK)
    status = put_theirs(&z, p, name, error);
  if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  if (status == INK_OK) {
    end_zip(&z);
    status = ink_file_close(&file, error);
  }
cleanup:
  ink_file_abandon(&file);
  return status;
}
