/* SPDX-License-Identifier: MIT */
/* Reads inkmark.conf. A line is `key = value`, where the key is
 * the long name of a rule's option and the value a string, a number, true or false; comments, blank
 * lines and the heading [rules]. Everything else is an error with its line. */
#include "rule_file.h"

#include "message.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct holder {
  rule_settings rules;
} holder;

static const cli_option table[] = {RULE_OPTIONS(holder), {0}};

typedef struct reader {
  rule_file *file;
  holder *to;
  unsigned line;
  bool seen[sizeof table / sizeof *table];
} reader;

__attribute__((format(printf, 2, 3))) static bool wrong(const reader *r, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  message_say("%s:%u: %s", r->file->path, r->line, text);
  return false;
}

/* ---- values ------------------------------------------------------------------------------------- */

/* Only blanks and a comment may follow. */
static bool ends_here(const reader *r, const char *at) {
  at += strspn(at, " \t\r\n");
  return !*at || *at == '#' || wrong(r, "more than one value: '%.40s'", at);
}

/* A string in double quotes, with escapes, or in single ones, without. NULL after a message. */
static char *read_string(reader *r, const char **at) {
  const char quote = **at;
  char *text = malloc(strlen(*at) + 1), *to = text;
  if (!text || r->file->count == sizeof r->file->texts / sizeof *r->file->texts) {
    free(text);
    return wrong(r, "out of memory"), NULL;
  }
  const char *from = *at + 1;
  for (; *from && *from != quote && *from != '\n'; from++) {
    if (*from != '\\' || quote == '\'') {
      *to++ = *from;
      continue;
    }
    static const char escapes[] = "bt\"\\fnr", meanings[] = "\b\t\"\\\f\n\r";
    const char *known = from[1] ? strchr(escapes, *++from) : NULL;
    if (!known) {
      free(text);
      return wrong(r, "unknown escape '\\%c' (in single quotes none is needed)", *from), NULL;
    }
    *to++ = meanings[known - escapes];
  }
  *to = 0;
  r->file->texts[r->file->count++] = text;
  if (*from != quote)
    return wrong(r, "the string has no end"), NULL;
  *at = from + 1;
  return text;
}

static bool read_number(reader *r, const char **at, uint64_t *number) {
  char digits[32];
  size_t n = 0;
  for (; isdigit((unsigned char)**at) || **at == '_'; ++*at)
    if (**at != '_' && n + 1 < sizeof digits)
      digits[n++] = **at;
  digits[n] = 0;
  errno = 0;
  *number = strtoull(digits, NULL, 10);
  return (n && !errno && n < 21) || wrong(r, "not a number: '%.20s'", *at);
}

static bool set_choice(const reader *r, const cli_option *option, const char *text, int *to) {
  int index = 0;
  for (const char *word = option->value; *word; index++) {
    const size_t length = strcspn(word, "|");
    if (strlen(text) == length && !strncmp(word, text, length)) {
      *to = index;
      return true;
    }
    word += length + (word[length] == '|');
  }
  return wrong(r, "'%s' is one of %s, not '%s'", option->name, option->value, text);
}

static bool set_value(reader *r, const cli_option *option, const char *at) {
  void *to = (char *)r->to + option->at;
  const bool yes = !strncmp(at, "true", 4) && !isalnum((unsigned char)at[4]);
  const bool no = !strncmp(at, "false", 5) && !isalnum((unsigned char)at[5]);
  const bool quoted = *at == '"' || *at == '\'';
  const bool takes_text = option->kind == CLI_TEXT || option->kind == CLI_CHOICE ||
                          option->kind == CLI_MAYBE;
  if ((yes || no) && (option->kind == CLI_FLAG || option->kind == CLI_MAYBE)) {
    if (option->kind == CLI_FLAG)
      *(bool *)to = yes;
    else
      *(const char **)to = yes ? "" : NULL;
    return ends_here(r, at + (yes ? 4 : 5));
  }
  if (option->kind == CLI_COUNT && isdigit((unsigned char)*at))
    return read_number(r, &at, to) && ends_here(r, at);
  if (!takes_text || !quoted)
    return wrong(r, "'%s' needs %s", option->name,
                 option->kind == CLI_FLAG    ? "true or false"
                 : option->kind == CLI_COUNT ? "a number"
                 : option->kind == CLI_MAYBE ? "true, false or a string in quotes"
                                             : "a string in quotes");
  const char *text = read_string(r, &at);
  if (!text || !ends_here(r, at))
    return false;
  if (option->kind == CLI_CHOICE)
    return set_choice(r, option, text, to);
  *(const char **)to = text;
  return true;
}

/* ---- lines -------------------------------------------------------------------------------------- */

static bool read_line(reader *r, const char *at) {
  char key[64];
  at += strspn(at, " \t\r\n");
  if (!*at || *at == '#')
    return true;
  if (*at == '[') {
    const bool rules = !strncmp(at, "[rules]", 7);
    return rules ? ends_here(r, at + 7) : wrong(r, "the only heading is [rules]");
  }
  const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
  if (!length || length >= sizeof key)
    return wrong(r, "not 'key = value': '%.40s'", at);
  memcpy(key, at, length);
  key[length] = 0;
  at += length;
  at += strspn(at, " \t");
  if (*at != '=')
    return wrong(r, "'%s' has no value", key);
  at += 1 + strspn(at + 1, " \t");
  for (size_t i = 0; table[i].name; i++) {
    if (strcmp(table[i].name, key) || !strcmp(key, "rules"))
      continue;
    if (r->seen[i])
      return wrong(r, "'%s' has a value already", key);
    r->seen[i] = true;
    return set_value(r, &table[i], at);
  }
  return wrong(r, "no rule is called '%s' (they are those of 'inkmark instrument --help')", key);
}

/* A folder is as seen from the file. */
static bool anchor_root(reader *r) {
  const char *root = r->to->rules.root, *slash = strrchr(r->file->path, '/');
  char *joined;
  if (!root || *root == '/' || !slash || r->file->count == 8)
    return true;
  if (asprintf(&joined, "%.*s/%s", (int)(slash - r->file->path), r->file->path, root) < 0)
    return wrong(r, "out of memory");
  r->file->texts[r->file->count++] = joined;
  r->to->rules.root = joined;
  return true;
}

/* The nearest inkmark.conf, from the current folder up; NULL: none. One of the name that it had is told of, and read. */
static char *find_file(void) {
  static const char *const names[] = {"inkmark.conf", "inkmark.toml"};
  char folder[PATH_MAX], *path;
  if (!getcwd(folder, sizeof folder))
    return NULL;
  for (char *slash = folder + strlen(folder);; slash = strrchr(folder, '/')) {
    if (!slash)
      return NULL;
    *slash = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      if (asprintf(&path, "%s/%s", folder, names[i]) < 0)
        return NULL;
      if (!access(path, F_OK)) {
        if (i)
          message_say("'%s' is read, but it is no TOML: call it inkmark.conf", path);
        return path;
      }
      free(path);
    }
  }
}

bool rule_file_load(int argc, char **argv, rule_settings *rules, rule_file *file) {
  holder to = {.rules = *rules};
  reader r = {.file = file, .to = &to};
  char line[4096];
  *file = (rule_file){0};
  for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
    if (!strncmp(argv[i], "--rules=", 8))
      file->path = strdup(argv[i] + 8);
    else if (!strcmp(argv[i], "--rules") && i + 1 < argc)
      file->path = strdup(argv[i + 1]);
    if (file->path)
      break;
  }
  if (!file->path && !(file->path = find_file()))
    return true;
  FILE *from = fopen(file->path, "r");
  if (!from) {
    message_say("cannot read '%s': %s", file->path, message_errno(errno));
    return false;
  }
  bool fine = true;
  while (fine && fgets(line, sizeof line, from)) {
    r.line++;
    fine = strlen(line) + 1 < sizeof line ? read_line(&r, line) : wrong(&r, "the line is too long");
  }
  if (fine && ferror(from)) {
    message_say("cannot read '%s'", file->path);
    fine = false;
  }
  fclose(from);
  fine = fine && anchor_root(&r);
  if (fine)
    *rules = to.rules;
  return fine;
}

void rule_file_free(rule_file *file) {
  for (size_t i = 0; i < file->count; i++)
    free(file->texts[i]);
  free(file->path);
  *file = (rule_file){0};
}
