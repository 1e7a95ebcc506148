/* SPDX-License-Identifier: MIT */
/* Stripping and diffing of texts that no run of the rewriter made, and what is found in a text without libclang. */
#include "inkmark/instrument.h"
#include "instantiations.h"
#include "resources.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void strips(const char *text, const char *want) {
  char *out = NULL;
  size_t bytes = 0;
  ink_error error = {0};
  ink_status status = ink_instrument_strip(text, strlen(text), &out, &bytes, &error);
  const bool fine = want ? !status && bytes == strlen(want) && !memcmp(out, want, bytes)
                         : status == INK_ERROR_FORMAT && error.message[0];
  if (!fine) {
    printf("FAILED: strip of '%s': status %d, '%.*s'\n", text, (int)status, (int)bytes,
           out ? out : "");
    failures++;
  }
  free(out);
}

static void refuses(void) {
  ink_instrumented *result = NULL;
  ink_error error = {0};
  ink_instrument_options options = {.size = sizeof options, .source = "/nonexistent.cu"};
  if (ink_instrument_run(&options, &result, &error) != INK_ERROR_NOT_FOUND || result)
    failures++, puts("FAILED: a source that is not there");
  options.size = 3;
  if (ink_instrument_run(&options, &result, &error) != INK_ERROR_ARGUMENT || result)
    failures++, puts("FAILED: options of another size");
  if (ink_instrument_run(NULL, &result, NULL) != INK_ERROR_ARGUMENT)
    failures++, puts("FAILED: no options");
}

/* An instance in front of `before` is seen, whatever quotes stand there. */
static void instantiates(const char *before) {
  char text[300];
  snprintf(text, sizeof text, "%s\ntemplate __global__ void k<4>(float *);\n", before);
  char *out = ink_instantiations(text, strlen(text));
  if (!out || !strstr(out, "ink_i_instance_1)(float *) = &k<4>;")) {
    printf("FAILED: the instance behind '%s' gives '%s'\n", before, out ? out : "");
    failures++;
  }
  free(out);
}

/* One in a conditional is seen under the same one; beside an #else nothing is known. */
static void instantiates_under_conditions(void) {
  static const struct {
    const char *text, *found;
  } cases[] = {
      {"#ifndef OFF\ntemplate void run<90>(int &);\n#endif\n", "#ifndef OFF\nstatic void (*ink_i_instance_1)(int &) = &run<90>;\n#endif\n"},
      {"#if A\n#if \\\n B\ntemplate void run<9>(int &);\n#endif\n#endif\n",
       "#if A\n#if \\\n B\nstatic void (*ink_i_instance_1)(int &) = &run<9>;\n#endif\n#endif\n"},
      {"#if A\n#else\ntemplate void run<9>(int &);\n#endif\ntemplate void run<8>(int &);\n", "static void (*ink_i_instance_1)(int &) = &run<8>;\n"},
      {"#if A\n#elif B\ntemplate void run<9>(int &);\n#endif\n", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *out = ink_instantiations(cases[i].text, strlen(cases[i].text));
    if (cases[i].found ? !out || strcmp(out, cases[i].found) != 0 : out != NULL) {
      printf("FAILED: instances of '%s': '%s'\n", cases[i].text, out ? out : "");
      failures++;
    }
    free(out);
  }
}

/* Folders of headers: found beside a library, behind its links, by the short and the whole version. */
static void finds_resources(void) {
  char root[] = "/tmp/ink-resources-XXXXXX", command[600];
  if (!mkdtemp(root)) {
    failures++;
    return;
  }
  snprintf(command, sizeof command,
           "cd %s && mkdir -p a/lib/clang/97/include b/lib b/x c/clang/98.1.2/include d && touch a/lib/libclang.so "
           "a/lib/clang/97/include/__clang_cuda_runtime_wrapper.h c/clang/98.1.2/include/__clang_cuda_runtime_wrapper.h "
           "c/libclang.so d/libclang.so && ln -s ../../a/lib/libclang.so b/lib/libclang.so",
           root);
  static const struct {
    const char *library, *version, *found; /* NULL: none */
  } cases[] = {{"a/lib/libclang.so", "clang version 97.0.1 (x)", "a/lib/clang/97"},
               {"b/lib/libclang.so", "Debian clang version 97.0.1 (8)", "a/lib/clang/97"},
               {"c/libclang.so", "clang version 98.1.2", "c/clang/98.1.2"},
               {"d/libclang.so", "clang version 97.0.1", NULL},
               {"a/lib/libclang.so", "clang version 96.0.1", NULL},
               {"a/lib/libclang.so", "clang", NULL}};
  if (system(command) != 0)
    failures++, puts("FAILED: no folders");
  char *real = realpath(root, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char library[200], want[200];
    snprintf(library, sizeof library, "%s/%s", root, cases[i].library);
    snprintf(want, sizeof want, "%s/%s", real, cases[i].found ? cases[i].found : "");
    char *found = ink_clang_resources(library, cases[i].version);
    if (cases[i].found ? !found || strcmp(found, want) != 0 : found != NULL) {
      printf("FAILED: the headers of '%s', '%s' are at '%s'\n", cases[i].library, cases[i].version, found ? found : "");
      failures++;
    }
    free(found);
  }
  char *loaded = ink_clang_resources_loaded();
  if (!loaded)
    failures++, puts("FAILED: the headers of the libclang that is loaded");
  free(loaded);
  free(real);
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  failures += system(command) != 0;
}

/* FNV-1a of 64 bits, with the values that its authors give for these texts. */
static void hashes(void) {
  static const struct {
    const char *text;
    uint64_t hash;
  } cases[] = {{"", 0xcbf29ce484222325u}, {"a", 0xaf63dc4c8601ec8cu}, {"foobar", 0x85944171f73967e8u}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (ink_text_hash(cases[i].text, strlen(cases[i].text)) != cases[i].hash)
      failures++, printf("FAILED: the hash of '%s'\n", cases[i].text);
}

int main(void) {
  hashes();
  instantiates_under_conditions();
  finds_resources();
  instantiates("");
  instantiates("int n = 1'000;");
  instantiates("auto s = u8R\"(\" ; {)\";");
  instantiates("auto s = R\"x(\" {)\" )x\"; char c = '{';");
  instantiates("// it's \\\n {\n/* { ' */");
  strips("", "");
  strips("int a;\n", "int a;\n");
  strips("a/*ink[*/{B;/*ink]*/b/*ink[*/}/*ink]*/", "ab");
  strips("a\n/*ink[*/{B;\n#line 2 /*ink]*/\n#pragma unroll\n/*ink[*/}/*ink]*/", "a\n#pragma unroll\n");
  strips("/*ink[*/(INK_BEFORE(s), INK_AFTER(s) /*ink]*/f(x)/*ink[*/))/*ink]*/;", "f(x);");
  strips("a/*ink[*/{B;/*ink]*/b/*ink[*/)/*ink]*/", NULL);
  strips("{PROF_KERNEL(K);f(x));}/*ink[*/PROF_MARK(x_L12);/*ink]*/", "{PROF_KERNEL(K);f(x));}");
  strips("{PROF_MARK(Load_L2);}", "{PROF_MARK(Load_L2);}");
  const char *copied = "a\nb }/*ink[*/\n#if INK_CONTEXTS\n#line 2\nb 'x\n}\n#endif\n#line 2\n/*ink]*/ // c\nd\n";
  strips(copied, "a\nb } // c\nd\n");
  strips("a }/*ink[*/\n#if INK_CONTEXTS\n#line 2\nb }\n#line 2\n/*ink]*/\n", NULL);
  strips("a }/*ink[*/\n#if INK_CONTEXTS\nb }\n#endif\n#line 2\nmine/*ink]*/\n", NULL);
  strips("a }\n#if INK_CONTEXTS\nb }\n#endif\n#line 2\n", NULL);
  strips("\n{PROF_MARK(load_L2);}", NULL);
  /* what strings, characters and comments hold is the user's */
  strips("s = \"/*ink[*/\";a/*ink[*/{B;/*ink]*/b/*ink[*/}/*ink]*/", "s = \"/*ink[*/\";ab");
  strips("s = \"\\\"/*ink]*/ INK_UNTIL(x)\";", "s = \"\\\"/*ink]*/ INK_UNTIL(x)\";");
  strips("s = R\"x(\" /*ink[*/)\" )x\";a/*ink[*/B;/*ink]*/", "s = R\"x(\" /*ink[*/)\" )x\";a");
  strips("n = 1'000'000;a/*ink[*/B;/*ink]*/;c = '\"';/*ink[*/B;/*ink]*/", "n = 1'000'000;a;c = '\"';");
  strips("// as \\\n/*ink[*/ don't\na/*ink[*/B;/*ink]*/", "// as \\\n/*ink[*/ don't\na");
  strips("/* \"/*ink[*/ a/*ink[*/B;/*ink]*/", "/* \"/*ink[*/ a");
  strips("#if 0\ndon't\n#endif\na/*ink[*/B;/*ink]*/", "#if 0\ndon't\n#endif\na");
  strips("# include <a/" "*b.h>\na/*ink[*/B;/*ink]*/", "# include <a/" "*b.h>\na");
  strips("#include <a//b.h> // c\na/*ink[*/B;/*ink]*/", "#include <a//b.h> // c\na");
  strips("#define S(x) #x < 1\na/*ink[*/B;/*ink]*/", "#define S(x) #x < 1\na");
  strips("s = \"// inkmark rewriter: begin (inkmark instrument --strip removes it)\n",
         "s = \"// inkmark rewriter: begin (inkmark instrument --strip removes it)\n");
  strips("s = \"a\" /*ink[*/\"b\";", NULL);
  strips("INK_BEFOREHAND(x) INK_TABLE", "INK_BEFOREHAND(x) INK_TABLE");
  strips("// inkmark rewriter: begin (inkmark instrument --strip removes it)\nx\n"
         "// inkmark rewriter: end\n#line 1 \"a.cu\"\nint a;",
         "int a;");
  strips("a/*ink[*/{B;", NULL);
  strips("// inkmark rewriter: begin (inkmark instrument --strip removes it)\nx\n", NULL);
  char *diff = NULL;
  const char *marked = "a\nb/*ink[*/X;/*ink]*/\nc\n";
  if (ink_instrument_diff(marked, strlen(marked), "o", "n", &diff, NULL) ||
      strcmp(diff, "--- o\n+++ n\n@@ -1,3 +1,3 @@\n a\n-b\n+b/*ink[*/X;/*ink]*/\n c\n")) {
    printf("FAILED: diff gives '%s'\n", diff ? diff : "");
    failures++;
  }
  free(diff);
  diff = NULL;
  marked = "x = \"/*ink[*/\"; /* it's\nit's */ a/*ink[*/X;/*ink]*/\nb\n";
  if (ink_instrument_diff(marked, strlen(marked), "o", "n", &diff, NULL) ||
      strcmp(diff, "--- o\n+++ n\n@@ -1,3 +1,3 @@\n x = \"/*ink[*/\"; /* it's\n-it's */ a\n+it's */ a/*ink[*/X;/*ink]*/\n b\n")) {
    printf("FAILED: diff of literals gives '%s'\n", diff ? diff : "");
    failures++;
  }
  free(diff);
  diff = NULL;
  if (ink_instrument_diff(copied, strlen(copied), "o", "n", &diff, NULL) ||
      strcmp(diff, "--- o\n+++ n\n@@ -1,3 +1,10 @@\n a\n-b } // c\n+b }/*ink[*/\n+#if INK_CONTEXTS\n+#line 2\n+b 'x\n+}\n"
                   "+#endif\n+#line 2\n+/*ink]*/ // c\n d\n")) {
    printf("FAILED: diff of a copy gives '%s'\n", diff ? diff : "");
    failures++;
  }
  free(diff);
  refuses();
  return failures != 0;
}
