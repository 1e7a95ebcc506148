/* SPDX-License-Identifier: MIT */
/* The fat binary reader on containers built here: packings, nesting, the choice of a target, and
 * every truncation and many damages of a good container. */
#include "fatbin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "check.h"
#include "lz4_block.h"

#define PTX_A ".version 9.0 .target sm_75 // a a a a a a a a a a a a a a a a a a a a a a a a a a\n"
#define PTX_B ".version 9.0 .target sm_90\n"

typedef struct bytes {
  unsigned char at[4096];
  size_t n;
} bytes;

static void put(bytes *b, const void *from, size_t n) {
  memcpy(b->at + b->n, from, n);
  b->n += n;
}

static void put_int(bytes *b, uint64_t value, size_t n) {
  put(b, &value, n);
}

static void put_container(bytes *b, const bytes *body) {
  put_int(b, 0xba55ed50u, 4);
  put_int(b, 1, 2);
  put_int(b, 16, 2);
  put_int(b, body->n, 8);
  put(b, body->at, body->n);
}

static void put_int_zeros(bytes *b, size_t n) {
  memset(b->at + b->n, 0, n);
  b->n += n;
}

static void put_entry(bytes *b, unsigned kind, unsigned target, uint64_t flags, const void *stored,
                      size_t n, size_t raw) {
  const size_t padded = (n + 7) / 8 * 8, header = 80;
  put_int(b, kind, 2);
  put_int(b, 257, 2);
  put_int(b, header, 4);
  put_int(b, padded, 8);
  put_int(b, raw ? n : 0, 4);
  put_int(b, 0, 4);
  put_int(b, 9u << 16, 4);
  put_int(b, target, 4);
  put_int(b, 0, 8);
  put_int(b, flags | 0x11, 8);
  put_int(b, 0, 8);
  put_int(b, raw, 8);
  put_int_zeros(b, header - 64);
  put(b, stored, n);
  put_int_zeros(b, padded - n);
}

/* Literals only: a valid, if poor, block. */
static size_t pack_lz4(const char *text, unsigned char *out) {
  const size_t n = strlen(text);
  size_t at = 0;
  if (n < 15) {
    out[at++] = (unsigned char)(n << 4);
  } else {
    out[at++] = 15 << 4;
    size_t left = n - 15;
    for (; left >= 255; left -= 255)
      out[at++] = 255;
    out[at++] = (unsigned char)left;
  }
  memcpy(out + at, text, n);
  return at + n;
}

static void expect(const bytes *b, int capability, enum fatbin_status status, const char *text) {
  char *found = NULL;
  CHECK_EQUAL(fatbin_find_ptx(b->at, b->n, capability, &found, NULL), status);
  if (text)
    CHECK(found && !strcmp(found, text));
  else
    CHECK(!found);
  free(found);
}

static void test_packings(void) {
  unsigned char packed[1024];
  bytes body = {.n = 0}, whole = {.n = 0};
  put_entry(&body, 1, 75, 0, PTX_A, sizeof PTX_A, 0);
  put_container(&whole, &body);
  expect(&whole, 75, FATBIN_OK, PTX_A);

  body.n = whole.n = 0;
  const size_t zstd_bytes = ZSTD_compress(packed, sizeof packed, PTX_A, strlen(PTX_A), 3);
  put_entry(&body, 1, 75, 0x8000, packed, zstd_bytes, strlen(PTX_A));
  put_container(&whole, &body);
  expect(&whole, 75, FATBIN_OK, PTX_A);

  body.n = whole.n = 0;
  const size_t lz4_bytes = pack_lz4(PTX_A, packed);
  put_entry(&body, 1, 75, 0x2000, packed, lz4_bytes, strlen(PTX_A));
  put_container(&whole, &body);
  expect(&whole, 75, FATBIN_OK, PTX_A);

  body.n = whole.n = 0;
  put_entry(&body, 1, 75, 0x1000, PTX_A, sizeof PTX_A, 400);
  put_container(&whole, &body);
  expect(&whole, 75, FATBIN_PACKING, NULL);

  body.n = whole.n = 0;
  put_entry(&body, 1, 75, 0x8000, "not zstd", 8, 400);
  put_container(&whole, &body);
  expect(&whole, 75, FATBIN_BAD, NULL);
}

static void test_choice(void) {
  bytes body = {.n = 0}, whole = {.n = 0}, outer = {.n = 0};
  put_entry(&body, 2, 75, 0, "\177ELF....", 8, 0);
  put_container(&whole, &body);
  expect(&whole, 75, FATBIN_NO_PTX, NULL);

  put_entry(&body, 1, 90, 0, PTX_B, sizeof PTX_B, 0);
  put_entry(&body, 1, 75, 0, PTX_A, sizeof PTX_A, 0);
  whole.n = 0;
  put_container(&whole, &body);
  expect(&whole, 75, FATBIN_OK, PTX_A);
  expect(&whole, 89, FATBIN_OK, PTX_A);
  expect(&whole, 90, FATBIN_OK, PTX_B);
  expect(&whole, 120, FATBIN_OK, PTX_B);
  expect(&whole, 50, FATBIN_OK, PTX_B); /* none fits: the newest */

  put_container(&outer, &whole);
  expect(&outer, 75, FATBIN_OK, PTX_A);
  for (int i = 0; i < 8; i++) {
    bytes next = {.n = 0};
    put_container(&next, &outer);
    outer = next;
  }
  expect(&outer, 75, FATBIN_BAD, NULL); /* too deep */
}

/* A container that is cut anywhere is damaged, never read past its end. */
static void test_damage(void) {
  unsigned char packed[1024];
  bytes body = {.n = 0}, whole = {.n = 0};
  const size_t zstd_bytes = ZSTD_compress(packed, sizeof packed, PTX_A, strlen(PTX_A), 3);
  put_entry(&body, 2, 75, 0, "\177ELF....", 8, 0);
  put_entry(&body, 1, 75, 0x8000, packed, zstd_bytes, strlen(PTX_A));
  put_container(&whole, &body);
  for (size_t n = 0; n < whole.n; n++) {
    unsigned char *exact = malloc(n ? n : 1); /* so that a sanitizer sees what is read */
    if (!exact)
      continue;
    memcpy(exact, whole.at, n);
    char *found = NULL;
    CHECK_EQUAL(fatbin_find_ptx(exact, n, 75, &found, NULL), FATBIN_BAD);
    CHECK(!found);
    free(exact);
  }
  for (size_t i = 0; i < whole.n; i++)
    for (unsigned bit = 0; bit < 8; bit++) {
      bytes flipped = whole;
      flipped.at[i] ^= (unsigned char)(1u << bit);
      char *found = NULL;
      const enum fatbin_status status = fatbin_find_ptx(flipped.at, flipped.n, 75, &found, NULL);
      CHECK((status == FATBIN_OK) == (found != NULL));
      CHECK(strlen(fatbin_status_text(status)) > 0);
      free(found);
    }
  bytes absurd = {.n = 0};
  put_int(&absurd, 0xba55ed50u, 4);
  put_int(&absurd, 1, 2);
  put_int(&absurd, 16, 2);
  put_int(&absurd, UINT64_MAX, 8);
  put_int_zeros(&absurd, 64);
  expect(&absurd, 75, FATBIN_BAD, NULL);
}

static void test_lz4(void) {
  unsigned char out[32];
  size_t n = 0;
  const unsigned char run[] = {0x1f, 'a', 1, 0, 5, 0x10, 'b'}; /* a, 24 more a's, b */
  CHECK(lz4_block_unpack(run, sizeof run, out, sizeof out, &n));
  CHECK_EQUAL(n, 26);
  CHECK(!memcmp(out, "aaaaaaaaaaaaaaaaaaaaaaaaab", 26));
  CHECK(!lz4_block_unpack(run, sizeof run, out, 25, &n));
  CHECK(!lz4_block_unpack(run, 3, out, sizeof out, &n));
  CHECK(!lz4_block_unpack(run, 4, out, sizeof out, &n));
  const unsigned char far_back[] = {0x10, 'a', 2, 0};
  CHECK(!lz4_block_unpack(far_back, sizeof far_back, out, sizeof out, &n));
  const unsigned char nowhere[] = {0x10, 'a', 0, 0};
  CHECK(!lz4_block_unpack(nowhere, sizeof nowhere, out, sizeof out, &n));
  CHECK(lz4_block_unpack(NULL, 0, out, sizeof out, &n));
  CHECK_EQUAL(n, 0);
}

int main(void) {
  test_packings();
  test_choice();
  test_damage();
  test_lz4();
  return check_result();
}
