/* SPDX-License-Identifier: MIT */
/* A table of layouts without chains: of two heads of one place the later one stays. */
#include "sqlite_layout.h"

#include "sqlite_load.h"

#include <stdbool.h>

const sqlite_form sqlite_forms[SQLITE_RESERVED] = {
    {0, SQL_NULL, 0, 0, 0},      {-1, SQL_INTEGER, 1, 56, 0}, {-1, SQL_INTEGER, 2, 48, 0}, {-1, SQL_INTEGER, 3, 40, 0},
    {-1, SQL_INTEGER, 4, 32, 0}, {-1, SQL_INTEGER, 6, 16, 0}, {-1, SQL_INTEGER, 8, 0, 0},  {-1, SQL_FLOAT, 8, 0, 0},
    {0, SQL_INTEGER, 0, 0, 0},   {0, SQL_INTEGER, 0, 0, 1}};

static bool fill(sqlite_layout *l, const unsigned char *types, size_t count) {
  uint32_t at = 0;
  l->head_bytes = l->number_count = 0;
  for (size_t i = 0; i < count; i++) {
    if (types[i] >= SQLITE_RESERVED || types[i] == SQLITE_REAL)
      return false;
    const sqlite_form *form = &sqlite_forms[types[i]];
    l->cells[i] = (sqlite_cell){.type = form->type, .number = form->one};
    if (form->mask)
      l->numbers[l->number_count++] = (struct layout_number){(uint16_t)at, (unsigned char)i, form->shift};
    at += form->size;
  }
  memcpy(l->head, types, count);
  l->head_bytes = (uint32_t)count;
  l->body_bytes = at;
  return true;
}

const sqlite_layout *sqlite_layout_find(sqlite_layouts *layouts, const unsigned char *types, size_t count) {
  uint64_t h = count;
  if (!count || count > LAYOUT_COLUMNS)
    return NULL;
  for (size_t i = 0; i < count; i += 8) {
    uint64_t eight;
    memcpy(&eight, types + i, sizeof eight);
    if (count - i < 8)
      eight &= (UINT64_C(1) << 8 * (count - i)) - 1; /* little-endian hosts only, as the capture format */
    h = (h ^ eight) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 32;
  }
  sqlite_layout *l = &layouts->of[h % LAYOUTS];
  if (l->head_bytes == count && !memcmp(l->head, types, count))
    return l;
  return fill(l, types, count) ? l : NULL;
}
