/* SPDX-License-Identifier: MIT */
/* Reads a file's compiler flags from compile_commands.json. */
#include "bytes.h"

#include "inkmark/instrument.h"

#include <clang-c/CXCompilationDatabase.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Options that name a folder or a file, as seen from the command's folder: the value is attached,
 * after an equals sign, or the next word. */
static const char *const with_path[] = {"--include-path", "--system-include", "--pre-include",
                                        "-isystem",       "-include",         "-I"};

typedef struct command_words {
  ink_bytes words; /* each terminated */
  const char *folder;
} command_words;

static void add_word(command_words *to, const char *option, const char *path) {
  char absolute[PATH_MAX];
  if (*path && *path != '/' && to->folder &&
      snprintf(absolute, sizeof absolute, "%s/%s", to->folder, path) < (int)sizeof absolute &&
      !access(absolute, F_OK)) /* a file that -include names may lie in an include folder */
    path = absolute;
  ink_bytes_text(&to->words, option);
  ink_bytes_text(&to->words, path);
  ink_bytes_add(&to->words, "", 1);
}

static void add_words(command_words *to, const char *const *all, size_t n, unsigned depth);

/* nvcc takes several names, with commas between them. */
static void add_file(command_words *to, const char *names, unsigned depth) {
  for (const char *at = names; *at && depth < 16; at += strcspn(at, ","), at += *at == ',') {
    char path[PATH_MAX], *text;
    const int length = (int)strcspn(at, ",");
    size_t bytes, n = 0;
    if (*at == '/' || !to->folder)
      snprintf(path, sizeof path, "%.*s", length, at);
    else
      snprintf(path, sizeof path, "%s/%.*s", to->folder, length, at);
    if (ink_option_words(path, &text, &bytes, NULL))
      continue; /* made by a build that has not run yet: the parse says what it misses */
    const char **all = malloc((bytes + 1) * sizeof *all);
    for (const char *word = text; all && word < text + bytes; word += strlen(word) + 1)
      all[n++] = word;
    to->words.failed |= !all;
    add_words(to, all, n, depth + 1);
    free(all);
    free(text);
  }
}

/* Whether `word` is the option; *value: what is attached to it, NULL: its value is the next word.
 */
static bool is_option(const char *word, const char *option, const char **value) {
  const size_t length = strlen(option);
  if (strncmp(word, option, length))
    return false;
  const char next = word[length];
  *value = !next ? NULL : word + length + (next == '=');
  return !next || next == '=' || length == 2;
}

static void add_words(command_words *to, const char *const *all, size_t n, unsigned depth) {
  for (size_t i = 0; i < n; i++) {
    const char *value;
    bool done = false;
    if (is_option(all[i], "--options-file", &value) || is_option(all[i], "-optf", &value)) {
      add_file(to, value ? value : i + 1 < n ? all[++i] : "", depth);
      continue;
    }
    for (size_t k = 0; k < sizeof with_path / sizeof *with_path && !done; k++) {
      done = is_option(all[i], with_path[k], &value);
      if (!done)
        continue;
      if (value) {
        char option[32];
        snprintf(option, sizeof option, "%.*s", (int)(value - all[i]), all[i]);
        add_word(to, option, value);
      } else {
        add_word(to, all[i], "");
        if (i + 1 < n)
          add_word(to, "", all[++i]);
      }
    }
    if (!done)
      add_word(to, all[i], "");
  }
}

/* The words of the command behind the compiler, options files opened, relative folders made
 * absolute. */
static void add_command(CXCompileCommand command, ink_bytes *out) {
  const unsigned n = clang_CompileCommand_getNumArgs(command);
  CXString where = clang_CompileCommand_getDirectory(command);
  CXString *texts = calloc(n + 1u, sizeof *texts);
  const char **all = calloc(n + 1u, sizeof *all);
  command_words to = {.folder = clang_getCString(where)};
  to.words.failed = !texts || !all;
  for (unsigned i = 1; i < n && !to.words.failed; i++) {
    texts[i] = clang_CompileCommand_getArg(command, i);
    all[i - 1] = clang_getCString(texts[i]);
  }
  if (!to.words.failed)
    add_words(&to, all, n ? n - 1 : 0, 0);
  for (unsigned i = 1; i < n && texts && all; i++)
    clang_disposeString(texts[i]);
  clang_disposeString(where);
  free(texts);
  free(all);
  *out = to.words;
}

/* The first command whose file is `path`. What libclang gives when asked for one file may be
 * guessed from another file's command. */
static CXCompileCommand find_command(CXCompileCommands commands, const char *path) {
  const unsigned n = commands ? clang_CompileCommands_getSize(commands) : 0;
  char full[2 * PATH_MAX], real[PATH_MAX];
  for (unsigned i = 0; i < n; i++) {
    CXCompileCommand command = clang_CompileCommands_getCommand(commands, i);
    CXString file = clang_CompileCommand_getFilename(command);
    CXString folder = clang_CompileCommand_getDirectory(command);
    const char *name = clang_getCString(file), *in = clang_getCString(folder);
    if (name && *name != '/' && in)
      snprintf(full, sizeof full, "%s/%s", in, name);
    else
      snprintf(full, sizeof full, "%s", name ? name : "");
    const bool same = realpath(full, real) && !strcmp(real, path);
    clang_disposeString(file);
    clang_disposeString(folder);
    if (same)
      return command;
  }
  return NULL;
}

static ink_status find_words(const char *folder, const char *source, ink_bytes *words,
                             ink_error *error) {
  CXCompilationDatabase_Error code;
  char path[PATH_MAX];
  ink_status status = INK_OK;
  CXCompilationDatabase database = clang_CompilationDatabase_fromDirectory(folder, &code);
  if (code != CXCompilationDatabase_NoError)
    return ink_error_set(error, INK_ERROR_FORMAT,
                         "'%s/compile_commands.json' is not a list of compile commands", folder);
  CXCompileCommands commands = clang_CompilationDatabase_getAllCompileCommands(database);
  CXCompileCommand command = find_command(commands, realpath(source, path) ? path : source);
  if (command)
    add_command(command, words);
  if (!command)
    status = ink_error_set(error, INK_ERROR_NOT_FOUND,
                           "'%s' is not in the 'compile_commands.json' of '%s'", source, folder);
  else if (words->failed)
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  if (commands)
    clang_CompileCommands_dispose(commands);
  clang_CompilationDatabase_dispose(database);
  return status;
}

/* libclang prints what it thinks of a database: it does so in a process that nobody hears. */
static void child(const char *folder, const char *source, int file) {
  ink_bytes words = {0};
  ink_error error = {0};
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0)
    dup2(nowhere, STDERR_FILENO);
  const ink_status status = find_words(folder, source, &words, &error);
  const bool fine = status ? ink_write_all(file, &error, sizeof error)
                           : ink_write_all(file, words.at, words.count);
#if defined(INKMARK_FREE_ALL) /* the process ends: only leak checkers want this */
  ink_bytes_free(&words);
#endif
  _exit(!fine ? 3 : status ? 2 : 0);
}

static ink_status ask_child(const char *folder, const char *source, ink_bytes *words,
                            ink_error *error) {
  int code = 0;
  ink_status status = INK_OK;
  const int file = memfd_create("inkmark", MFD_CLOEXEC);
  const pid_t pid = file < 0 ? -1 : fork();
  if (!pid)
    child(folder, source, file);
  while (pid > 0 && waitpid(pid, &code, 0) < 0 && errno == EINTR)
    ;
  const bool told = pid > 0 && WIFEXITED(code) && WEXITSTATUS(code) != 1 && WEXITSTATUS(code) != 3;
  ink_error got = {0};
  if (!told || !ink_bytes_read_back(words, file)) {
    status = ink_error_set(error, INK_ERROR_IO, "cannot read 'compile_commands.json' in '%s'",
                           folder);
  } else if (WEXITSTATUS(code) && words->count == sizeof got) {
    memcpy(&got, words->at, sizeof got);
    status = got.status;
    if (error)
      *error = got;
  }
  if (file >= 0)
    close(file);
  return status;
}

/* One block: the array, and the words that it points to. */
static bool pack(const ink_bytes *words, const char ***flags, size_t *count) {
  size_t n = 0;
  for (size_t i = 0; i < words->count; i++)
    n += !words->at[i];
  char *block = malloc(n * sizeof(char *) + words->count + 1);
  if (!block)
    return false;
  const char **array = (const char **)(void *)block;
  char *at = block + n * sizeof(char *);
  if (words->count)
    memcpy(at, words->at, words->count);
  for (size_t i = 0; i < n; i++, at += strlen(at) + 1)
    array[i] = at;
  *flags = array;
  *count = n;
  return true;
}

ink_status ink_compile_flags(const char *folder, const char *source, const char ***flags,
                             size_t *count, ink_error *error) {
  char path[PATH_MAX];
  ink_bytes words = {0};
  if (!folder || !source || !flags || !count)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no compilation database");
  snprintf(path, sizeof path, "%s/compile_commands.json", folder);
  if (access(path, R_OK)) {
    const bool absent = errno == ENOENT || errno == ENOTDIR;
    return ink_error_set(error, INK_ERROR_NOT_FOUND,
                         "cannot read 'compile_commands.json' in '%s': %s", folder,
                         absent ? "no such file or directory" : strerror(errno));
  }
  ink_status status = ask_child(folder, source, &words, error);
  if (!status && !pack(&words, flags, count))
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  ink_bytes_free(&words);
  return status;
}
