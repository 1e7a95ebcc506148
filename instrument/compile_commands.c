/* SPDX-License-Identifier: MIT */
/* Reads a file's compiler flags from compile_commands.json. */
#include "bytes.h"

#include "inkmark/instrument.h"

#include <clang-c/CXCompilationDatabase.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The words of the command behind the compiler, relative folders made absolute. */
static bool pack(CXCompileCommand command, const char ***flags, size_t *count) {
  const unsigned n = clang_CompileCommand_getNumArgs(command);
  CXString where = clang_CompileCommand_getDirectory(command);
  const char *folder = clang_getCString(where);
  ink_bytes words = {0};
  size_t used = 0;
  for (unsigned i = 1; i < n; i++) {
    CXString text = clang_CompileCommand_getArg(command, i);
    const char *word = clang_getCString(text);
    if (word && !strncmp(word, "-I", 2) && word[2] && word[2] != '/' && folder)
      ink_bytes_format(&words, "-I%s/%s", folder, word + 2);
    else
      ink_bytes_text(&words, word ? word : "");
    ink_bytes_add(&words, "", 1);
    used++;
    clang_disposeString(text);
  }
  clang_disposeString(where);
  char *block = words.failed ? NULL : malloc(used * sizeof(char *) + words.count + 1);
  if (block) {
    const char **array = (const char **)(void *)block;
    char *at = block + used * sizeof(char *);
    if (words.count)
      memcpy(at, words.at, words.count);
    for (size_t i = 0; i < used; i++, at += strlen(at) + 1)
      array[i] = at;
    *flags = array;
    *count = used;
  }
  ink_bytes_free(&words);
  return block != NULL;
}

ink_status ink_compile_flags(const char *folder, const char *source, const char ***flags,
                             size_t *count, ink_error *error) {
  CXCompilationDatabase_Error code;
  char path[PATH_MAX];
  ink_status status = INK_OK;
  if (!folder || !source || !flags || !count)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no compilation database");
  CXCompilationDatabase database = clang_CompilationDatabase_fromDirectory(folder, &code);
  if (code != CXCompilationDatabase_NoError)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "cannot read 'compile_commands.json' in '%s'",
                         folder);
  CXCompileCommands commands = clang_CompilationDatabase_getCompileCommands(
      database, realpath(source, path) ? path : source);
  if (!commands || !clang_CompileCommands_getSize(commands))
    status = ink_error_set(error, INK_ERROR_NOT_FOUND,
                           "'%s' is not in the 'compile_commands.json' of '%s'", source, folder);
  else if (!pack(clang_CompileCommands_getCommand(commands, 0), flags, count))
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  if (commands)
    clang_CompileCommands_dispose(commands);
  clang_CompilationDatabase_dispose(database);
  return status;
}
