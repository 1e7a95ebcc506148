/* SPDX-License-Identifier: MIT */
/* Fuzzes packed input. The first byte chooses: 0, the rest is the file; else the rest changes a
 * good file, gzip, zip or zstd, so that the insides are reached: threes of a 16-bit place and a
 * byte. */
#include "fuzz_input.h"

#include "merge/read/trace_bytes.h"
#include "merge/read/zip_read.h"

#include <dlfcn.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 4, FILE_MAX = 4096, UNPACKED_MAX = 1 << 22 };

static fuzz_file input;
static struct {
  uint8_t bytes[FILE_MAX];
  size_t size;
} files[FILES]; /* gzip, a zip that is packed, one that is not, zstd */

static size_t put16(uint8_t *p, unsigned value) {
  p[0] = (uint8_t)value;
  p[1] = (uint8_t)(value >> 8);
  return 2;
}

static size_t put32(uint8_t *p, uint32_t value) {
  put16(p, value & 0xffff);
  put16(p + 2, value >> 16);
  return 4;
}

static size_t deflated(const char *text, size_t size, int bits, uint8_t *out) {
  z_stream z = {0};
  FUZZ_CHECK(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  z.next_in = (Bytef *)(uintptr_t)text;
  z.avail_in = (uInt)size;
  z.next_out = out;
  z.avail_out = FILE_MAX / 2;
  FUZZ_CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
  size_t n = z.total_out;
  deflateEnd(&z);
  return n;
}

/* What both headers of a member have: flags, method, time, sum, sizes, lengths of name and extra.
 */
static size_t zip_common(uint8_t *p, unsigned method, const char *text, size_t packed,
                         size_t size) {
  size_t n = put16(p, 20);
  n += put16(p + n, 0);
  n += put16(p + n, method);
  n += put32(p + n, 0);
  n += put32(p + n, (uint32_t)crc32(0, (const Bytef *)text, (uInt)size));
  n += put32(p + n, (uint32_t)packed);
  n += put32(p + n, (uint32_t)size);
  n += put16(p + n, 6);
  return n + put16(p + n, 0);
}

static size_t zipped(const char *text, size_t size, unsigned method, uint8_t *out) {
  uint8_t packed[FILE_MAX];
  size_t bytes = size;
  if (method == ZIP_DEFLATED)
    bytes = deflated(text, size, -15, packed);
  else
    memcpy(packed, text, size);
  size_t n = put32(out, 0x04034b50);
  n += zip_common(out + n, method, text, bytes, size);
  memcpy(out + n, "t.json", 6);
  memcpy(out + n + 6, packed, bytes);
  size_t directory = n += 6 + bytes;
  n += put32(out + n, 0x02014b50);
  n += put16(out + n, 20);
  n += zip_common(out + n, method, text, bytes, size);
  memset(out + n, 0, 14); /* comment, disk, attributes, where the header is */
  memcpy(out + n + 14, "t.json", 6);
  size_t end = n += 20;
  n += put32(out + n, 0x06054b50);
  n += put32(out + n, 0);
  n += put16(out + n, 1);
  n += put16(out + n, 1);
  n += put32(out + n, (uint32_t)(end - directory));
  n += put32(out + n, (uint32_t)directory);
  return n + put16(out + n, 0);
}

static size_t zstd_packed(const char *text, size_t size, uint8_t *out) {
  void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  size_t (*compress)(void *, size_t, const void *, size_t, int);
  if (!library)
    return 0;
  *(void **)&compress = dlsym(library, "ZSTD_compress");
  return compress(out, FILE_MAX, text, size, 3); /* the library stays: it is used in a moment */
}

static void make_files(void) {
  static char text[1500];
  size_t n = 0;
  for (int i = 0; n + 40 < sizeof text; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s{\"ph\":\"X\",\"ts\":%d}", i ? "," : "[",
                          i * i);
  text[n++] = ']';
  files[0].size = deflated(text, n, 15 + 16, files[0].bytes);
  files[1].size = zipped(text, n, ZIP_DEFLATED, files[1].bytes);
  files[2].size = zipped(text, n, ZIP_STORED, files[2].bytes);
  files[3].size = zstd_packed(text, n, files[3].bytes);
  for (size_t i = 0; i < FILES; i++) { /* the good ones are good */
    uint8_t bytes[sizeof text + 1];
    trace_bytes in;
    size_t got = 1, all = 0;
    fuzz_put(&input, files[i].bytes, files[i].size);
    if (!files[i].size)
      continue;
    FUZZ_CHECK(trace_bytes_open(&in, input.path, NULL) == INK_OK);
    for (; got; all += got)
      FUZZ_CHECK(trace_bytes_read(&in, bytes + all, sizeof bytes - all, &got, NULL) == INK_OK);
    FUZZ_CHECK(all == n && !memcmp(bytes, text, n));
    trace_bytes_close(&in);
  }
}

/* Reads all of it, in rooms that change, so that streams stop and go on anywhere. */
static void read_all(size_t step) {
  static uint8_t room[4096];
  trace_bytes in;
  ink_error error = {0};
  size_t got = 1, given = 0;
  ink_status status = trace_bytes_open(&in, input.path, &error);
  for (; status == INK_OK && got && given < UNPACKED_MAX; given += got) {
    status = trace_bytes_read(&in, room, 1 + step % sizeof room, &got, &error);
    step = step * 5 + 1;
    FUZZ_CHECK(got <= sizeof room && in.taken <= in.size);
  }
  fuzz_failed(status, &error);
  trace_bytes_close(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t bytes[FILE_MAX];
  if (!files[0].size)
    make_files();
  if (!size)
    return 0;
  size_t which = data[0] % (FILES + 1u);
  if (!which) {
    fuzz_put(&input, data + 1, size - 1);
  } else {
    size_t n = files[which - 1].size;
    memcpy(bytes, files[which - 1].bytes, n);
    for (size_t i = 1; n && i + 3 <= size; i += 3)
      bytes[(data[i] | (size_t)data[i + 1] << 8) % n] = data[i + 2];
    fuzz_put(&input, bytes,
             size % 3 == 2 ? n * (data[size - 1] + 1u) / 256 : n); /* some cut short */
  }
  read_all(size);
  read_all(4095);
  ink_foreign *foreign = NULL;
  ink_error error = {0};
  fuzz_failed(ink_foreign_open(input.path, &foreign, &error), &error);
  ink_foreign_free(foreign);
  return 0;
}
