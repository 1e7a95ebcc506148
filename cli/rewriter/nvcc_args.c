/* SPDX-License-Identifier: MIT */
/* Reads an nvcc command line: which words are CUDA sources, what comes out, where dependencies go. */
#include "nvcc_args.h"

#include "inkmark/instrument.h"
#include "message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool word_add(word_list *list, const char *word) {
  if (list->count + 1 >= list->room) {
    size_t room = list->room ? list->room * 2 : 32;
    char **grown = realloc(list->items, room * sizeof *grown);
    if (!grown)
      return false;
    list->items = grown;
    list->room = room;
  }
  char *copy = strdup(word);
  if (!copy)
    return false;
  list->items[list->count++] = copy;
  list->items[list->count] = NULL;
  return true;
}

void word_free(word_list *list) {
  for (size_t i = 0; i < list->count; i++)
    free(list->items[i]);
  free(list->items);
  *list = (word_list){0};
}

/* Options whose value is the next word, unless it is attached by an equals sign. */
static const char *const with_value[] = {
    "-o", "--output-file", "-I", "--include-path", "-L", "--library-path", "-l", "--library", "-D",
    "--define-macro", "-U", "--undefine-macro", "-isystem", "--system-include", "-include",
    "--pre-include", "-MF", "--dependency-output", "-MT", "--dependency-target-name", "-x", "--x",
    "-Xcompiler", "--compiler-options", "-Xlinker", "--linker-options", "-Xptxas",
    "--ptxas-options", "-Xnvlink", "--nvlink-options", "-Xarchive", "--archive-options",
    "-Xcudafe", "-Xnvvm", "-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode",
    "--generate-code", "-std", "--std", "-ccbin", "--compiler-bindir", "-odir",
    "--output-directory", "-maxrregcount", "--maxrregcount", "-rdc", "--relocatable-device-code",
    "-t", "--threads", "-cudart", "--cudart", "-cudadevrt", "--cudadevrt", "-m", "--machine",
    "-optf", "--options-file", "-O", "--optimize", "-default-stream", "--default-stream",
    "-keep-dir", "--keep-dir", "-ftz", "--ftz", "-fmad", "--fmad", "-prec-div", "--prec-div",
    "-prec-sqrt", "--prec-sqrt", "-diag-suppress",
    "--diag-suppress", "-diag-error", "--diag-error", "-diag-warn", "--diag-warn", "-Werror",
    "--Werror", "-idp", "--input-drive-prefix", "-ddp", "--dependency-drive-prefix", "-dwp",
    "--drive-prefix", "-split-compile", "--split-compile", "-ldir", "--libdevice-directory",
    "-target-dir", "--target-directory", "-dopt", "--dopt", "-time", "--time", "-compress-mode",
    "--compress-mode", "-opt-info", "--opt-info", "-jobs", "-arch-list",
    "-fdevice-time-trace", "--fdevice-time-trace", "-arbin", "--archiver-binary", "--optimization-info",
    "-Ofc", "--Ofast-compile", "-ftemplate-backtrace-limit", "--ftemplate-backtrace-limit",
    "-ftemplate-depth", "--ftemplate-depth", "-static-global-template-stub",
    "--static-global-template-stub", "-device-entity-has-hidden-visibility",
    "--device-entity-has-hidden-visibility", "-split-compile-extended", "--split-compile-extended",
    "-run-args", "--run-args", "-dp", "-e", "--entries", "-hls", "--host-linker-script",
    "-brief-diag", "--brief-diagnostics", "-jtd", "--jump-table-density", "-device-stack-protector",
    "--device-stack-protector", "-frandom-seed", "--frandom-seed", "-sanitize", "--sanitize"};

/* What is printed or made instead of code: nvcc alone does that. */
static const char *const no_code[] = {
    "-E", "--preprocess", "-M", "--generate-dependencies", "-MM",
    "--generate-nonsystem-dependencies", "-V", "--version", "-h", "--help", "--dryrun", "-dryrun",
    "-dlink", "--device-link", "-lib", "--lib", "-clean", "--clean-targets", "-list-gpu-arch",
    "--list-gpu-arch", "-list-gpu-code", "--list-gpu-code", "-run", "--run"};

/* What comes out of each source alone. */
static const char *const no_link[] = {
    "-c", "--compile", "-dc", "--device-c", "-dw", "--device-w", "-ptx", "--ptx", "-cubin", "--cubin",
    "-fatbin", "--fatbin", "-cuda", "--cuda", "-optix-ir", "--optix-ir", "-ltoir", "--ltoir"};

bool nvcc_is_one_of(const char *word, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(word, list[i]))
      return true;
  return false;
}

bool nvcc_takes_value(const char *option) {
  return NVCC_IS_ONE_OF(option, with_value);
}

static bool expand(const char *word, const char *next, word_list *out, bool *used_next,
                   unsigned depth);

static bool expand_file(const char *names, word_list *out, unsigned depth) {
  word_list words = {0};
  bool fine = depth < 16;
  for (const char *at = names; fine && *at; at += strcspn(at, ","), at += *at == ',') {
    char *name = strndup(at, strcspn(at, ","));
    ink_error error = {0};
    char *text = NULL;
    size_t bytes = 0;
    fine = name && !ink_option_words(name, &text, &bytes, &error);
    if (!fine)
      message_failure(&error);
    for (const char *word = text; fine && word < text + bytes; word += strlen(word) + 1)
      fine = word_add(&words, word);
    free(text);
    free(name);
  }
  for (size_t i = 0; fine && i < words.count; i++) {
    bool used = false;
    fine = expand(words.items[i], words.items[i + 1], out, &used, depth + 1);
    i += used;
  }
  word_free(&words);
  return fine;
}

static bool expand(const char *word, const char *next, word_list *out, bool *used_next,
                   unsigned depth) {
  static const char *const names[] = {"-optf", "--options-file"};
  for (size_t i = 0; i < 2; i++) {
    const size_t length = strlen(names[i]);
    if (strncmp(word, names[i], length))
      continue;
    if (word[length] == '=')
      return expand_file(word + length + 1, out, depth);
    if (!word[length] && next) {
      *used_next = true;
      return expand_file(next, out, depth);
    }
  }
  return word_add(out, word);
}

static bool has_extension(const char *word, const char *extension) {
  const char *dot = strrchr(word, '.'), *slash = strrchr(word, '/');
  return dot && (!slash || dot > slash) && !strcmp(dot + 1, extension);
}

/* With -x cu nvcc compiles every file as CUDA, but these, which it links or goes on from. */
static bool is_no_source(const char *word) {
  static const char *const list[] = {"o", "obj", "a", "lib", "so", "ptx", "cubin", "fatbin", "ii", "gpu", "res"};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (has_extension(word, list[i]))
      return true;
  return strstr(word, ".so.") != NULL;
}

/* The value of an option that stands at words[at]; NULL: another option. */
static const char *value_of(const nvcc_args *args, size_t at, const char *letter,
                            const char *name) {
  const char *word = args->words.items[at];
  const char *const spellings[] = {letter, name};
  for (size_t i = 0; i < 2; i++) {
    const size_t length = strlen(spellings[i]);
    if (!strncmp(word, spellings[i], length)) {
      if (!word[length] && at + 1 < args->words.count)
        return args->words.items[at + 1];
      if (word[length] == '=')
        return word + length + 1;
    }
  }
  return NULL;
}

const char *nvcc_include_folder(const nvcc_args *args, size_t at, bool *next) {
  static const char *const names[] = {"--include-path", "--system-include", "-isystem", "-I"};
  const char *word = args->words.items[at];
  *next = false;
  for (size_t i = 0; i < 4; i++) {
    const size_t length = strlen(names[i]);
    if (strncmp(word, names[i], length))
      continue;
    if (!word[length]) {
      *next = true;
      return at + 1 < args->words.count ? args->words.items[at + 1] : NULL;
    }
    if (word[length] == '=')
      return word + length + 1;
    if (i == 3)
      return word + length;
  }
  return NULL;
}

static bool note_word(nvcc_args *args, size_t at, bool *cuda_language, bool *room_for_next) {
  const char *word = args->words.items[at], *value;
  *room_for_next = false;
  args->roles[at] = '-';
  if (!strcmp(word, "-"))
    args->reads_input |= *cuda_language;
  if (word[0] != '-') {
    args->roles[at] = 'f';
    if (has_extension(word, "cu") || (*cuda_language && !is_no_source(word))) {
      size_t *grown = realloc(args->sources, (args->source_count + 1) * sizeof *grown);
      if (!grown)
        return false;
      args->sources = grown;
      args->sources[args->source_count++] = at;
      args->roles[at] = 's';
    }
    return true;
  }
  if (NVCC_IS_ONE_OF(word, no_code))
    args->compiles = false;
  if (NVCC_IS_ONE_OF(word, no_link))
    args->links = false;
  if (!strcmp(word, "-MD") || !strcmp(word, "--generate-dependencies-with-compile") ||
      !strcmp(word, "-MMD") || !strcmp(word, "--generate-nonsystem-dependencies-with-compile"))
    args->makes_dependencies = true;
  if ((value = value_of(args, at, "-x", "--x"))) {
    *cuda_language = !strcmp(value, "cu");
    args->names_language = true;
  }
  *room_for_next = NVCC_IS_ONE_OF(word, with_value);
  if ((value = value_of(args, at, "-o", "--output-file"))) {
    args->output = value;
    args->roles[at] = 'o';
    if (*room_for_next)
      args->roles[at + 1] = 'o';
  } else if (*room_for_next && at + 1 < args->words.count) {
    args->roles[at + 1] = '-';
  }
  if ((value = value_of(args, at, "-MF", "--dependency-output")))
    args->dependencies = value;
  return true;
}

bool nvcc_args_read(int argc, char **argv, nvcc_args *out) {
  *out = (nvcc_args){.compiles = true, .links = true};
  bool fine = true, used, skip, cuda_language = false;
  for (int i = 0; i < argc && fine; i++) {
    used = false;
    fine = expand(argv[i], i + 1 < argc ? argv[i + 1] : NULL, &out->words, &used, 0);
    i += used;
  }
  out->roles = calloc(out->words.count + 1, 1);
  fine = fine && out->roles;
  for (size_t i = 0; i < out->words.count && fine; i++) {
    fine = note_word(out, i, &cuda_language, &skip);
    i += skip;
  }
  if (!fine)
    nvcc_args_free(out);
  return fine;
}

void nvcc_args_free(nvcc_args *args) {
  word_free(&args->words);
  free(args->sources);
  free(args->roles);
  *args = (nvcc_args){0};
}

static const char *base_name(const char *word) {
  const char *slash = strrchr(word, '/');
  return slash ? slash + 1 : word;
}

static bool is_launcher(const char *word) {
  static const char *const names[] = {"ccache", "sccache", "buildcache", "distcc", "icecc"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(base_name(word), names[i]))
      return true;
  return false;
}

static bool is_compiler(const char *word) {
  const char *base = base_name(word);
  struct stat status;
  return word[0] != '-' && !strrchr(base, '.') &&
         (!strncmp(base, "nvcc", 4) ||
          (!stat(word, &status) && S_ISREG(status.st_mode) && !access(word, X_OK)));
}

int nvcc_count_compiler(int argc, char **argv) {
  if (argc > 2 && is_launcher(argv[1]) && is_compiler(argv[2]))
    return 2;
  return argc > 1 && is_compiler(argv[1]);
}

/* "-a,-v": of a list with commas */
static bool has_part(const char *list, const char *part) {
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at != 0)
    if (strcspn(at, ",") == strlen(part) && !strncmp(at, part, strlen(part)))
      return true;
  return false;
}

bool nvcc_says_counts(const nvcc_args *args) {
  static const char *const usage[] = {"-res-usage", "--resource-usage"}, *const ptxas[] = {"-Xptxas", "--ptxas-options"};
  for (size_t i = 0; i < args->words.count; i++) {
    const char *word = args->words.items[i], *value = NULL;
    if (NVCC_IS_ONE_OF(word, usage))
      return true;
    if (NVCC_IS_ONE_OF(word, ptxas) && i + 1 < args->words.count)
      value = args->words.items[i + 1];
    else if (!strncmp(word, "-Xptxas=", 8) || !strncmp(word, "--ptxas-options=", 16))
      value = strchr(word, '=') + 1;
    if (value && (has_part(value, "-v") || has_part(value, "--verbose")))
      return true;
  }
  return false;
}

bool nvcc_can_be_measured(const nvcc_args *args) {
  static const char *const others[] = {"-ptx", "--ptx", "-fatbin", "--fatbin", "-cuda", "--cuda", "-optix-ir", "--optix-ir", "-ltoir",
                                       "--ltoir", "-keep", "--keep", "-save-temps", "--save-temps", "-v", "--verbose", "-clean",
                                       "--clean-targets", "-link", "--link", "-lib", "--lib"};
  static const char *const named[] = {"-keep-dir", "--keep-dir", "-time", "--time", "-fdevice-time-trace", "--fdevice-time-trace"};
  for (size_t i = 0; i < args->words.count; i++) {
    const char *word = args->words.items[i];
    const size_t name = strcspn(word, "=");
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
      if (strlen(named[k]) == name && !strncmp(word, named[k], name))
        return false;
    if (NVCC_IS_ONE_OF(word, others))
      return false;
    i += nvcc_takes_value(word);
  }
  return true;
}
