/* SPDX-License-Identifier: MIT */
/* The map of each kernel's machine code as JSON: stamps, rows, and a line for each instruction. */
#include "verify_map.h"

#include <string.h>

const char *verify_kind_name(enum ink_instruction_kind kind) {
  static const char *const names[INK_INSTRUCTION_KINDS] = {"memory", "shared", "local", "tensor", "math", "barrier", "int", "control"};
  return names[kind];
}

static void piece(json_writer *json, const char *key, const char *text, size_t bytes) {
  char copy[512];
  bytes = bytes < sizeof copy ? bytes : sizeof copy - 1;
  memcpy(copy, text, bytes);
  copy[bytes] = 0;
  json_string(json, key, copy);
}

static void add_stamps(json_writer *json, const ink_verify_map *map) {
  json_open(json, "stamps", '[');
  for (size_t i = 0; i < map->stamp_count; i++) {
    const ink_verify_stamp *s = &map->stamps[i].stamp;
    json_open_flat(json, NULL);
    json_string(json, "name", s->name);
    json_string(json, "macro", s->macro);
    json_string(json, "file", s->file);
    json_unsigned(json, "line", s->line);
    json_unsigned(json, "copies", s->copies);
    json_string(json, "closes", map->stamps[i].closes);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void add_rows(json_writer *json, const ink_verify_map *map) {
  json_open(json, "rows", '[');
  for (size_t i = 0; i < map->row_count; i++) {
    json_open_flat(json, NULL);
    json_string(json, "section", map->rows[i].name);
    json_unsigned(json, "several", map->rows[i].several);
    json_unsigned(json, "instructions", map->rows[i].instructions);
    json_unsigned(json, "own", map->rows[i].own);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void add_instructions(json_writer *json, const ink_verify_map *map) {
  json_open(json, "instructions", '[');
  for (size_t n = 0; n < map->instruction_count; n++) {
    const ink_verify_instruction *i = &map->instructions[n];
    json_open_flat(json, NULL);
    json_unsigned(json, "offset", i->offset);
    json_string(json, "section", map->rows[i->row].name);
    json_unsigned(json, "row", i->row);
    json_bool(json, "own", i->own);
    if (i->stamp != UINT32_MAX)
      json_unsigned(json, "stamp", i->stamp);
    if (i->file) {
      json_string(json, "file", i->file);
      json_unsigned(json, "line", i->line);
    }
    piece(json, "opcode", i->text + i->opcode_at, i->opcode_bytes);
    json_string(json, "kind", verify_kind_name(i->kind));
    piece(json, "text", i->text, i->text_bytes);
    json_close(json, '}');
  }
  json_close(json, ']');
}

void verify_map_begin(json_writer *json) {
  json_open(json, NULL, '{');
  json_unsigned(json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_open(json, "maps", '[');
}

void verify_map_add(json_writer *json, const char *path, const ink_verify *verify) {
  const ink_verify_map *maps;
  const size_t n = ink_verify_maps(verify, &maps);
  for (size_t i = 0; i < n; i++) {
    json_open(json, NULL, '{');
    json_string(json, "file", path);
    json_string(json, "kernel", maps[i].name);
    json_string(json, "target", maps[i].target);
    json_string(json, "code_sha256", maps[i].code_hash);
    add_stamps(json, &maps[i]);
    add_rows(json, &maps[i]);
    add_instructions(json, &maps[i]);
    json_close(json, '}');
  }
}

void verify_map_end(json_writer *json) {
  json_close(json, ']');
  json_close(json, '}');
  fputc('\n', json->to);
}
