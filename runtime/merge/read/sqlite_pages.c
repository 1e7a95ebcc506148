/* SPDX-License-Identifier: MIT */
/* Walks the B-tree of a table. Pages that follow each other in the file come with one read. */
#include "sqlite_pages.h"

#include "merge/try.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 100, PAGE_SIZE_AT = 16, RESERVED_AT = 20, ENCODING_AT = 56, UTF8 = 1 };
enum { INNER = 0x05, LEAF = 0x0d }; /* of tables; a table without row numbers has others */
enum { DEPTH = 20, AHEAD = 64 * 1024 };

typedef struct inner_page {
  unsigned char *bytes; /* a copy */
  unsigned next, count; /* next == count: the child on the right */
  size_t head;
  uint32_t page;
} inner_page;

struct sqlite_pages {
  int fd;
  const char *path;
  uint32_t page_size, usable;
  uint64_t page_count, pages_left; /* every page is in one place, so no more than all of them are met */
  uint32_t root;
  bool started;
  inner_page inner[DEPTH];
  unsigned depth;
  unsigned char *ahead; /* pages [ahead_first, ahead_first + ahead_count) */
  uint64_t ahead_first, ahead_count;
  const unsigned char *leaf; /* in them */
  uint32_t leaf_page;
  size_t leaf_head;
  unsigned leaf_next, leaf_count;
  unsigned char *row; /* one that goes on in other pages */
  size_t row_room;
};

static uint32_t u16(const unsigned char *p) {
  return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t u32(const unsigned char *p) {
  return u16(p) << 16 | u16(p + 2);
}

static ink_status damaged(const sqlite_pages *p, uint32_t page, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED, "cannot read '%s': its database page %u is damaged", p->path, page);
}

static ink_status read_at(const sqlite_pages *p, void *to, size_t size, uint64_t at, ink_error *error) {
  unsigned char *bytes = to;
  while (size) {
    ssize_t n = pread(p->fd, bytes, size, (off_t)at);
    if (n <= 0)
      return ink_error_set(error, n ? INK_ERROR_IO : INK_ERROR_DAMAGED, "cannot read '%s': %s", p->path,
                           n ? "input/output error" : "it ends in the middle");
    bytes += n;
    at += (uint64_t)n;
    size -= (size_t)n;
  }
  return INK_OK;
}

static ink_status count_page(sqlite_pages *p, uint32_t page, ink_error *error) {
  if (!page || page > p->page_count)
    return damaged(p, page, error);
  if (!p->pages_left--)
    return ink_error_set(error, INK_ERROR_DAMAGED, "cannot read '%s': it leads to more rows than it can hold", p->path);
  return INK_OK;
}

/* The page, there to the next call. */
static ink_status page_bytes(sqlite_pages *p, uint32_t page, const unsigned char **out, ink_error *error) {
  TRY(count_page(p, page, error));
  uint64_t number = page - 1;
  if (number < p->ahead_first || number >= p->ahead_first + p->ahead_count) {
    uint64_t count = AHEAD / p->page_size;
    if (count > p->page_count - number)
      count = p->page_count - number;
    p->ahead_count = 0;
    TRY(read_at(p, p->ahead, count * p->page_size, number * p->page_size, error));
    p->ahead_first = number;
    p->ahead_count = count;
  }
  *out = p->ahead + (number - p->ahead_first) * p->page_size;
  return INK_OK;
}

/* Goes down to the page: a leaf is the next to give out, another waits for its children. */
static ink_status enter(sqlite_pages *p, uint32_t page, ink_error *error) {
  const unsigned char *bytes;
  TRY(page_bytes(p, page, &bytes, error));
  size_t head = page == 1 ? HEADER : 0;
  unsigned count = u16(bytes + head + 3);
  bool leaf = bytes[head] == LEAF;
  if ((!leaf && bytes[head] != INNER) || head + (leaf ? 8 : 12) + 2 * (size_t)count > p->usable)
    return damaged(p, page, error);
  if (leaf) {
    p->leaf = bytes;
    p->leaf_page = page;
    p->leaf_head = head + 8;
    p->leaf_next = 0;
    p->leaf_count = count;
    return INK_OK;
  }
  if (p->depth == DEPTH)
    return damaged(p, page, error);
  inner_page *inner = &p->inner[p->depth];
  if (!inner->bytes && !(inner->bytes = malloc(p->page_size)))
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  memcpy(inner->bytes, bytes, p->page_size);
  inner->next = 0;
  inner->count = count;
  inner->head = head;
  inner->page = page;
  p->depth++;
  return INK_OK;
}

/* The next leaf; *more is false behind the last. */
static ink_status next_leaf(sqlite_pages *p, bool *more, ink_error *error) {
  p->leaf = NULL;
  if (!p->started) {
    p->started = true;
    TRY(enter(p, p->root, error));
  }
  while (!p->leaf && p->depth) {
    inner_page *inner = &p->inner[p->depth - 1];
    if (inner->next > inner->count) {
      p->depth--;
      continue;
    }
    const unsigned char *head = inner->bytes + inner->head;
    uint32_t at = inner->next < inner->count ? u16(head + 12 + 2 * (size_t)inner->next) : (uint32_t)inner->head + 8;
    inner->next++;
    if (at + 4 > p->usable)
      return damaged(p, inner->page, error);
    TRY(enter(p, u32(inner->bytes + at), error));
  }
  *more = p->leaf != NULL;
  return INK_OK;
}

/* How much of a row stands in its leaf. */
static size_t local_size(const sqlite_pages *p, uint64_t size) {
  uint64_t most = p->usable - 35;
  if (size <= most)
    return (size_t)size;
  uint64_t least = (p->usable - 12) * 32 / 255 - 23;
  uint64_t some = least + (size - least) % (p->usable - 4);
  return (size_t)(some <= most ? some : least);
}

/* Brings the parts of a row together. */
static ink_status gather(sqlite_pages *p, const unsigned char *at, size_t local, size_t size, ink_error *error) {
  if (size > p->row_room) {
    unsigned char *grown = realloc(p->row, size + SQLITE_BEHIND);
    if (!grown)
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    p->row = grown;
    p->row_room = size;
  }
  memcpy(p->row, at, local);
  uint32_t page = u32(at + local);
  unsigned char next[4];
  for (size_t done = local; done < size;) {
    TRY(count_page(p, page, error));
    uint64_t begin = (uint64_t)(page - 1) * p->page_size;
    size_t part = size - done < p->usable - 4 ? size - done : p->usable - 4;
    TRY(read_at(p, next, sizeof next, begin, error));
    TRY(read_at(p, p->row + done, part, begin + 4, error));
    done += part;
    page = u32(next);
  }
  return INK_OK;
}

ink_status sqlite_pages_next(sqlite_pages *p, const unsigned char **row, size_t *size, long long *rowid,
                             ink_error *error) {
  *row = NULL;
  while (!p->leaf || p->leaf_next == p->leaf_count) {
    bool more = false;
    TRY(next_leaf(p, &more, error));
    if (!more)
      return INK_OK;
  }
  const unsigned char *end = p->leaf + p->usable, *at = p->leaf + u16(p->leaf + p->leaf_head + 2 * (size_t)p->leaf_next++);
  uint64_t bytes, number;
  if (!(at = sqlite_varint(at, end, &bytes)) || !(at = sqlite_varint(at, end, &number)) ||
      bytes > p->page_count * p->page_size || bytes > INT32_MAX) /* SQLite's own bound */
    return damaged(p, p->leaf_page, error);
  size_t local = local_size(p, bytes), there = local + (local < bytes ? 4 : 0);
  if (there > (size_t)(end - at))
    return damaged(p, p->leaf_page, error);
  if (local < bytes)
    TRY(gather(p, at, local, (size_t)bytes, error));
  *row = local < bytes ? p->row : at;
  *size = (size_t)bytes;
  *rowid = (long long)number;
  return INK_OK;
}

static ink_status open_file(sqlite_pages *p, long long root, bool *fits, ink_error *error) {
  unsigned char head[HEADER], kind;
  struct stat st;
  if (p->fd < 0 || fstat(p->fd, &st))
    return ink_error_set(error, INK_ERROR_IO, "cannot open '%s'", p->path);
  TRY(read_at(p, head, sizeof head, 0, error));
  p->page_size = u16(head + PAGE_SIZE_AT) == 1 ? 65536 : u16(head + PAGE_SIZE_AT);
  p->usable = p->page_size - head[RESERVED_AT];
  *fits = p->page_size >= 512 && !(p->page_size & (p->page_size - 1)) && p->usable >= 480 &&
          u32(head + ENCODING_AT) == UTF8;
  if (!*fits)
    return INK_OK;
  p->page_count = p->pages_left = (uint64_t)st.st_size / p->page_size;
  if (root < 1 || (uint64_t)root > p->page_count || root > UINT32_MAX) {
    *fits = false;
    return INK_OK;
  }
  p->root = (uint32_t)root;
  TRY(read_at(p, &kind, 1, (uint64_t)(root - 1) * p->page_size + (root == 1 ? HEADER : 0), error));
  *fits = kind == INNER || kind == LEAF;
  p->ahead = malloc(AHEAD + SQLITE_BEHIND);
  return p->ahead ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

ink_status sqlite_pages_open(sqlite_pages **out, const char *path, long long root, ink_error *error) {
  *out = NULL;
  sqlite_pages *p = calloc(1, sizeof *p);
  if (!p)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  bool fits = false;
  p->path = path;
  p->fd = open(path, O_RDONLY | O_CLOEXEC);
  ink_status status = open_file(p, root, &fits, error);
  if (status == INK_OK && fits)
    *out = p;
  else
    sqlite_pages_close(p);
  return status;
}

void sqlite_pages_close(sqlite_pages *p) {
  if (!p)
    return;
  if (p->fd >= 0)
    close(p->fd);
  for (int i = 0; i < DEPTH; i++)
    free(p->inner[i].bytes);
  free(p->ahead);
  free(p->row);
  free(p);
}
