/* SPDX-License-Identifier: MIT */
/* What marks cost on each device, as `inkmark info` prints it. */
#include "info.h"

#include "grid.h"
#include "message.h"
#include "style.h"
#include "text_out.h"

#include <inttypes.h>
#include <string.h>

static const struct {
  uint32_t what;
  const char *name;
} rows[] = {
    {INK_COST_OF_MARK, "MARK"},
    {INK_COST_OF_RANGE, "BEGIN or END"},
    {INK_COST_OF_INSTANT, "EVENT"},
    {INK_COST_OF_ITER, "ITER"},
    {INK_COST_OF_VALUE, "VALUE"},
    {INK_COST_OF_ASYNC, "ASYNC_BEGIN or _END"},
    {INK_COST_OF_SUM, "SUM_BEGIN and _END"},
    {INK_COST_OF_SUM_INSIDE, "between the two"},
    {INK_COST_OF_SUM_RECORD, "record of a sum"},
    {INK_COST_OF_CLOCKS, "CLOCKS, from 2nd clock on"},
    {INK_COST_OF_OPENING, "opening to first mark"},
    {INK_COST_OF_TRACK, "rest of opening, closing"},
};

const char *info_cost_name(uint32_t what) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].what == what)
      return rows[i].name;
  return "?";
}

static const ink_mark_cost *find(const ink_mark_costs *costs, uint32_t what, uint32_t flags) {
  for (uint32_t i = 0; i < costs->count; i++)
    if (costs->costs[i].what == what && costs->costs[i].flags == flags)
      return &costs->costs[i];
  return NULL;
}

static void cost_cell(text_grid *grid, const ink_mark_cost *cost) {
  if (cost)
    grid_cell(grid, "%s ± %s", number_fraction((double)cost->millicycles / 1000, 1).text,
              number_fraction((double)cost->bound_millicycles / 1000, 1).text);
  else
    grid_cell(grid, "%s", "");
}

static bool cost_table(const ink_mark_costs *costs, FILE *to) {
  static const uint32_t columns[] = {INK_COST_RECORDING, 0,
                                     INK_COST_RECORDING | INK_COST_CALLED_FUNCTION,
                                     INK_COST_CALLED_FUNCTION};
  static const char *const titles[] = {"recording", "not", "called, recording", "called, not"};
  text_grid *grid = grid_new();
  bool fine = grid != NULL;
  if (fine) {
    grid_column(grid, GRID_LEFT, "mark");
    for (size_t c = 0; c < 4; c++)
      grid_column(grid, GRID_RIGHT, titles[c]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      bool any = false;
      for (size_t c = 0; c < 4; c++)
        any = any || find(costs, rows[i].what, columns[c]);
      if (!any)
        continue;
      grid_cell(grid, "%s", rows[i].name);
      for (size_t c = 0; c < 4; c++)
        cost_cell(grid, find(costs, rows[i].what, columns[c]));
    }
    fine = grid_print(grid, to, 2);
  }
  grid_free(grid);
  if (!fine)
    message_say("out of memory");
  return fine;
}

bool info_cost_text(const loaded_capture *loaded, FILE *to) {
  const ink_mark_costs *list;
  size_t n = ink_capture_mark_costs(loaded->capture, &list);
  bool fine = true;
  for (size_t i = 0; i < n && fine; i++) {
    text_print(to, "\n%scost of a mark on device %d, cycles%s%s\n", style_code(to, STYLE_BOLD),
            list[i].device, style_code(to, STYLE_PLAIN),
            ink_capture_simulated(loaded->capture) ? " (simulated clock: not those of a GPU)" : "");
    if (list[i].count)
      fine = cost_table(&list[i], to);
    if (list[i].note[0])
      text_print(to, "  not measured: %s\n", list[i].note);
  }
  return fine;
}
