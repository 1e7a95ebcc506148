/* SPDX-License-Identifier: MIT */
/* nvrtc LIBRARY ARCH FOLDER SOURCE OPTION...: compiles SOURCE with that libnvrtc and prints its PTX. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int create_fn(void **, const char *, const char *, int, const char *const *, const char *const *);
typedef int compile_fn(void *, int, const char *const *);
typedef int size_fn(void *, size_t *);
typedef int text_fn(void *, char *);

static void print_text(void *library, void *program, const char *size_name, const char *name, FILE *to) {
  size_fn *size = (size_fn *)dlsym(library, size_name);
  text_fn *get = (text_fn *)dlsym(library, name);
  size_t bytes = 0;
  if (!size || !get || size(program, &bytes) || bytes == 0)
    return;
  char *text = malloc(bytes);
  if (text && get(program, text) == 0)
    fputs(text, to);
  free(text);
}

int main(int argc, char **argv) {
  if (argc < 6 || argc > 12)
    return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  create_fn *create = library ? (create_fn *)dlsym(library, "nvrtcCreateProgram") : NULL;
  compile_fn *compile = library ? (compile_fn *)dlsym(library, "nvrtcCompileProgram") : NULL;
  FILE *file = fopen(argv[4], "rb");
  static char source[1 << 16], arch[64], path[4096];
  if (!create || !compile || !file) {
    fprintf(stderr, "cannot load '%s' or open '%s'\n", argv[1], argv[4]);
    return 1;
  }
  source[fread(source, 1, sizeof source - 1, file)] = 0;
  fclose(file);
  snprintf(arch, sizeof arch, "--gpu-architecture=compute_%s", argv[2]);
  snprintf(path, sizeof path, "--include-path=%s", argv[3]);
  const char *options[12] = {arch, path};
  for (int i = 5; i < argc; i++)
    options[i - 3] = argv[i];
  void *program = NULL;
  if (create(&program, source, "kernel.cu", 0, NULL, NULL))
    return 1;
  const int failed = compile(program, argc - 3, options);
  print_text(library, program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", stderr);
  if (!failed)
    print_text(library, program, "nvrtcGetPTXSize", "nvrtcGetPTX", stdout);
  return failed ? 1 : 0;
}
