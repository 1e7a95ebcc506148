/* SPDX-License-Identifier: MIT */
/* Parts of the rewriter that need no source: which architectures each toolkit's `-arch=all` stands for and what its compiler
 * defines, the words of options files, and what a compile_commands.json says. The answers are those of NVIDIA's and
 * clang's documents. */
#include "inkmark/instrument.h"
#include "nvcc_macros.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, checks;
static char root[] = "/tmp/ink-pieces-XXXXXX";

static void same(const char *what, const char *got, const char *want) {
  checks++;
  if (strcmp(got, want)) {
    failures++;
    printf("FAILED: %s:\n is  %s\n not %s\n", what, got, want);
  }
}

/* A file below the folder of this test; its folder is made. */
static void put(const char *name, const char *text) {
  char path[4096], command[4200];
  snprintf(path, sizeof path, "%s/%s", root, name);
  snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", path);
  FILE *file = system(command) ? NULL : fopen(path, "w");
  if (!file || fputs(text, file) < 0 || fclose(file)) {
    printf("FAILED: %s cannot be written\n", path);
    exit(1);
  }
}

/* ---- what nvcc defines ---- */

static void add_macro(void *to, bool early, const char *name, const char *value) {
  char *all = to;
  const size_t used = strlen(all);
  (void)early;
  if (strcmp(name, "__CUDACC__") && strcmp(name, "__NVCC__") && strcmp(name, "CUDA_DOUBLE_MATH_FUNCTIONS") && strcmp(name, "__NVCC_DIAG_PRAGMA_SUPPORT__"))
    snprintf(all + used, 2000 - used, "%s%s%s%s", used ? " " : "", name, *value ? "=" : "", value);
}

/* The macros beside those that there are always. */
static void macros(const char *folder, const char *flags, const char *want) {
  char words[500], cuda[4096], got[2000] = "", what[600];
  const char *all[20];
  size_t count = 0;
  snprintf(words, sizeof words, "%s", flags);
  for (char *at = strtok(words, " "); at; at = strtok(NULL, " "))
    all[count++] = at;
  ink_nvcc nvcc;
  snprintf(cuda, sizeof cuda, "%s/%s", root, folder);
  ink_nvcc_read(&nvcc, all, count, *folder ? cuda : NULL);
  ink_nvcc_macros(&nvcc, add_macro, got);
  snprintf(what, sizeof what, "macros of %s for '%s'", folder, flags);
  same(what, got, want);
}

static void toolkit(const char *folder, const char *version, const char *said, const char *where) {
  char name[100], text[300];
  snprintf(name, sizeof name, "%s/include/cuda_runtime_api.h", folder);
  snprintf(text, sizeof text, "/* x */\n#define CUDART_VERSION  %s\n", version);
  put(name, text);
  snprintf(name, sizeof name, "%s/%s", folder, where);
  snprintf(text, sizeof text, "nvcc: %s, and more", said);
  put(name, text);
}

#define VERSION(major, minor, build) \
  " __CUDACC_VER_MAJOR__=" major " __CUDACC_VER_MINOR__=" minor " __CUDACC_VER_BUILD__=" build " __CUDA_API_VER_MAJOR__=" major " __CUDA_API_VER_MINOR__=" minor

static void toolkits(void) {
  toolkit("t118", "11080", "release 11.8, V11.8.89", "bin/nvcc");
  toolkit("t120", "12000", "release 12.0, V12.0.140", "bin/nvcc");
  toolkit("t127", "12070", "release 12.6, V12.6.85 release 12.7, V12.7.33", "bin/nvcc");
  toolkit("t128", "12080", "release 12.8, V12.8.61", "bin/nvcc");
  toolkit("t129", "12090", "release 12.9, V12.9.41", "bin/nvcc");
  toolkit("t130", "13000", "release 13.0, V13.0.88", "bin/nvcc");
  toolkit("targets/x86/t131", "13010", "release 13.1, V13.1.20", "../../bin/nvcc"); /* the headers lie below the toolkit */
#define OLD "500,520,530,600,610,620,700,720,750,800,860,870,890,900"
  macros("t120", "-arch=all", "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=" OLD VERSION("12", "0", "140"));
  macros("t127", "-arch=all", "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=" OLD VERSION("12", "7", "33"));
  macros("t128", "-arch=all", "__CUDA_ARCH__=1200 __CUDA_ARCH_LIST__=" OLD ",1000,1010,1200" VERSION("12", "8", "61"));
  macros("t129", "-arch=all", "__CUDA_ARCH__=1210 __CUDA_ARCH_LIST__=" OLD ",1000,1010,1030,1200,1210" VERSION("12", "9", "41"));
#define NEW "__CUDACC_DEVICE_ATOMIC_BUILTINS__=1"
  macros("t130", "-arch=all",
         "__CUDA_ARCH__=1210 __CUDA_ARCH_LIST__=750,800,860,870,880,890,900,1000,1030,1100,1200,1210" VERSION("13", "0", "88") " " NEW);
  macros("targets/x86/t131", "-arch all",
         "__CUDA_ARCH__=1210 __CUDA_ARCH_LIST__=750,800,860,870,880,890,900,1000,1030,1100,1200,1210" VERSION("13", "1", "20") " " NEW);
  macros("t120", "--gpu-architecture=all-major", "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=500,600,700,800,900" VERSION("12", "0", "140"));
  macros("t128", "-arch=all-major", "__CUDA_ARCH__=1200 __CUDA_ARCH_LIST__=500,600,700,800,900,1000,1200" VERSION("12", "8", "61"));
  macros("t129", "-arch=all-major", "__CUDA_ARCH__=1200 __CUDA_ARCH_LIST__=500,600,700,800,900,1000,1200" VERSION("12", "9", "41"));
  macros("t130", "-arch=all-major", "__CUDA_ARCH__=1200 __CUDA_ARCH_LIST__=750,800,900,1000,1100,1200" VERSION("13", "0", "88") " " NEW);
  /* nothing asked: the oldest that is not deprecated, or 5.2 */
  macros("t120", "", "__CUDA_ARCH__=520 __CUDA_ARCH_LIST__=520" VERSION("12", "0", "140"));
  macros("t130", "-std=c++17", "__CUDA_ARCH__=750 __CUDA_ARCH_LIST__=750" VERSION("13", "0", "88") " " NEW);
  macros("", "-arch=sm_90", "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=900" VERSION("13", "0", "0") " " NEW);
  macros("nowhere", "-arch=native", "__CUDA_ARCH__=750 __CUDA_ARCH_LIST__=750" VERSION("13", "0", "0") " " NEW);
  /* of an architecture, since 12.9 of a family */
  macros("t128", "-arch=sm_90a", "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=900 __CUDA_ARCH_FEAT_SM90_ALL" VERSION("12", "8", "61"));
  macros("t129", "-arch=sm_90a",
         "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=900 __CUDA_ARCH_FEAT_SM90_ALL __CUDA_ARCH_SPECIFIC__=900 __CUDA_ARCH_FAMILY_SPECIFIC__=900" VERSION("12", "9", "41"));
  macros("t129", "-arch=compute_100f", "__CUDA_ARCH__=1000 __CUDA_ARCH_LIST__=1000 __CUDA_ARCH_FAMILY_SPECIFIC__=1000" VERSION("12", "9", "41"));
  macros("t129", "-gencode arch=compute_100f,code=sm_100f -gencode=arch=compute_100a,code=sm_100a",
         "__CUDA_ARCH__=1000 __CUDA_ARCH_LIST__=1000 __CUDA_ARCH_FEAT_SM100_ALL __CUDA_ARCH_SPECIFIC__=1000 __CUDA_ARCH_FAMILY_SPECIFIC__=1000" VERSION("12", "9", "41"));
  macros("t129", "-gencode arch=compute_100a,code=sm_100a -gencode=arch=compute_100f,code=sm_100f",
         "__CUDA_ARCH__=1000 __CUDA_ARCH_LIST__=1000 __CUDA_ARCH_FEAT_SM100_ALL __CUDA_ARCH_SPECIFIC__=1000 __CUDA_ARCH_FAMILY_SPECIFIC__=1000" VERSION("12", "9", "41"));
  /* the newest counts, each is listed once, in order */
  macros("t120", "--generate-code arch=compute_90a,code=sm_90a -gencode arch=compute_70,code=sm_70 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_70,code=compute_70",
         "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=700,800,900 __CUDA_ARCH_FEAT_SM90_ALL" VERSION("12", "0", "140"));
  macros("t120", "-gencode arch=compute_80,code=sm_80 -gencode arch=lto_90,code=lto_90 -gencode code=sm_75", "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=800,900" VERSION("12", "0", "140"));
  macros("t120", "-arch=sm_90a -arch=sm_89", "__CUDA_ARCH__=900 __CUDA_ARCH_LIST__=890,900 __CUDA_ARCH_FEAT_SM90_ALL" VERSION("12", "0", "140"));
  macros("t120", "-arch=sm_80 -arch", "__CUDA_ARCH__=800 __CUDA_ARCH_LIST__=800" VERSION("12", "0", "140"));
  /* flags that define something */
#define AT "__CUDA_ARCH__=800 __CUDA_ARCH_LIST__=800"
#define OF VERSION("12", "0", "140")
  macros("t120", "-arch=sm_80 -rdc=true", AT " __CUDACC_RDC__" OF);
  macros("t120", "-arch=sm_80 -rdc=true -rdc=false", AT OF);
  macros("t120", "-arch=sm_80 --relocatable-device-code true", AT " __CUDACC_RDC__" OF);
  macros("t120", "-arch=sm_80 -dc -G", AT " __CUDACC_RDC__ __CUDACC_DEBUG__" OF);
  macros("t120", "-arch=sm_80 --dlink-time-opt --device-debug --dopt on", AT " __CUDACC_RDC__" OF);
  macros("t120", "-arch=sm_80 -G -dopt=off", AT " __CUDACC_DEBUG__" OF);
  macros("t120", "-arch=sm_80 -ewp -extended-lambda --expt-relaxed-constexpr", AT " __CUDACC_EXTENDED_LAMBDA__ __CUDACC_RELAXED_CONSTEXPR__ __CUDACC_EWP__" OF);
  macros("t120", "-arch=sm_80 -default-stream per-thread", AT " CUDA_API_PER_THREAD_DEFAULT_STREAM=1" OF);
  macros("t120", "-arch=sm_80 --default-stream=legacy", AT OF);
  macros("t120", "-arch=sm_80 -rdcx=true -dcx -Gx", AT OF);
  macros("t118", "-arch=sm_80", AT VERSION("11", "8", "89"));
}

/* ---- words of options ---- */

static void join_words(const char *words, size_t bytes, char *out, size_t room) {
  *out = 0;
  for (const char *at = words; at < words + bytes; at += strlen(at) + 1)
    snprintf(out + strlen(out), room - strlen(out), "[%s]", at);
}

static void option_words(const char *text, const char *want) {
  char path[4096], got[1000], *words = NULL;
  size_t bytes = 0;
  put("words.rsp", text);
  snprintf(path, sizeof path, "%s/words.rsp", root);
  if (ink_option_words(path, &words, &bytes, NULL)) {
    failures++;
    printf("FAILED: the words of '%s'\n", text);
    return;
  }
  join_words(words, bytes, got, sizeof got);
  same(text, got, want);
  free(words);
}

/* ---- compile_commands.json ---- */

/* `want`: the words, with @ for the folder of this test; or the message of an error. */
static void flags_of(const char *folder, const char *source, const char *want) {
  char got[4000] = "", in[4096], path[4096], shown[4000] = "";
  const char **flags = NULL;
  size_t count = 0;
  ink_error error = {0};
  snprintf(in, sizeof in, "%s/%s", root, folder);
  snprintf(path, sizeof path, "%s/%s", root, source);
  if (ink_compile_flags(in, path, &flags, &count, &error))
    snprintf(got, sizeof got, "%s", error.message);
  else
    for (size_t i = 0; i < count; i++)
      snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? "|" : "", flags[i]);
  char *to = shown;
  for (const char *at = got; *at;)
    if (!strncmp(at, root, strlen(root))) {
      *to++ = '@';
      at += strlen(root);
    } else {
      *to++ = *at++;
    }
  *to = 0;
  same(source, shown, want);
  free(flags);
}

static void databases(void) {
  char text[8000];
  const char *const sources[] = {"p/a.cu", "p/sub/b.cu", "p/c d.cu", "p/e.cu", "p/absent.cu"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    put(sources[i], "");
  put("p/inc/x.h", "");
  put("p/sys/y.h", "");
  put("p/pre.h", "");
  put("p/one.rsp", "-DONE=\"1 2\" -I inc --options-file sub/two.rsp,three.rsp");
  put("p/sub/two.rsp", "-DTWO");
  put("p/three.rsp", "-DTHREE -isystem=sys");
  put("p/loop.rsp", "-DAGAIN -optf loop.rsp");
  snprintf(text, sizeof text,
           "[{\"directory\": \"%s/p\", \"file\": \"a.cu\", \"arguments\": [\"nvcc\", \"-Iinc\", \"-I\", \"inc\", \"-I=inc\", \"-Inone\", \"-I/abs\", \"-isystem\", \"sys\","
           " \"-isystem=sys\", \"--include-path=inc\", \"--include-path\", \"inc\", \"--system-include\", \"sys\", \"-include\", \"pre.h\", \"-include\", \"elsewhere.h\","
           " \"--pre-include=pre.h\", \"-isystemx\", \"-includes\", \"-DX=inc\", \"-c\", \"a.cu\", \"-o\", \"a.o\", \"-I\"]},\n"
           " {\"directory\": \"%s/p/sub\", \"file\": \"%s/p/sub/b.cu\", \"command\": \"nvcc -I../inc -DQ=\\\\\\\"q\\\\\\\" -c b.cu\"},\n"
           " {\"directory\": \"%s/p\", \"file\": \"sub/b.cu\", \"command\": \"nvcc -DSECOND -c sub/b.cu\"},\n"
           " {\"directory\": \"%s/p\", \"file\": \"c d.cu\", \"arguments\": [\"nvcc\", \"--options-file\", \"one.rsp\", \"-optf=missing.rsp\", \"-c\", \"c d.cu\"]},\n"
           " {\"directory\": \"%s/p\", \"file\": \"e.cu\", \"arguments\": [\"nvcc\", \"--options-file=%s/p/sub/two.rsp\", \"-optf\", \"loop.rsp\", \"-c\", \"e.cu\", \"-optf\"]}]\n",
           root, root, root, root, root, root, root);
  put("p/compile_commands.json", text);
  flags_of("p", "p/a.cu",
           "-I@/p/inc|-I|@/p/inc|-I=@/p/inc|-Inone|-I/abs|-isystem|@/p/sys|-isystem=@/p/sys|--include-path=@/p/inc|--include-path|@/p/inc|--system-include|@/p/sys|"
           "-include|@/p/pre.h|-include|elsewhere.h|--pre-include=@/p/pre.h|-isystemx|-includes|-DX=inc|-c|a.cu|-o|a.o|-I");
  flags_of("p", "p/sub/b.cu", "-I@/p/sub/../inc|-DQ=\"q\"|-c|b.cu");
  flags_of("p", "p/c d.cu", "-DONE=1 2|-I|@/p/inc|-DTWO|-DTHREE|-isystem=@/p/sys|-c|c d.cu");
  flags_of("p", "p/e.cu", "-DTWO|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-DAGAIN|-c|e.cu");
  flags_of("p", "p/absent.cu", "'@/p/absent.cu' is not in the 'compile_commands.json' of '@/p'");
  flags_of("none", "p/a.cu", "cannot read 'compile_commands.json' in '@/none': no such file or directory");
  flags_of("p/a.cu", "p/a.cu", "cannot read 'compile_commands.json' in '@/p/a.cu': no such file or directory");
  put("broken/compile_commands.json", "[{\"directory\": ");
  flags_of("broken", "p/a.cu", "'@/broken/compile_commands.json' is not a list of compile commands");
  put("empty/compile_commands.json", "[]");
  flags_of("empty", "p/a.cu", "'@/p/a.cu' is not in the 'compile_commands.json' of '@/empty'");
  if (ink_compile_flags(NULL, "a", &(const char **){0}, &(size_t){0}, NULL) != INK_ERROR_ARGUMENT)
    failures++, puts("FAILED: no folder");
}

int main(void) {
  char command[100], error_text[4200];
  ink_error error = {0};
  char *words;
  size_t bytes;
  if (!mkdtemp(root))
    return 1;
  toolkits();
  option_words("", "");
  option_words("a b\tc\nd\r\n", "[a][b][c][d]");
  option_words("  -DX=\"a b\"  'c d'e \"\" ''", "[-DX=a b][c de][][]");
  option_words("a\\ b \"c\\\"d\" 'e\\f' \"it's\" 'say \"x\"'", "[a b][c\"d][e\\f][it's][say \"x\"]");
  option_words("a\\\\b c\\", "[a\\b][c]");
  option_words("\"open and", "[open and]");
  databases();
  snprintf(error_text, sizeof error_text, "cannot read the options file '%s/no.rsp': No such file or directory", root);
  char missing[4096];
  snprintf(missing, sizeof missing, "%s/no.rsp", root);
  if (ink_option_words(missing, &words, &bytes, &error) != INK_ERROR_NOT_FOUND)
    failures++, puts("FAILED: words of a file that is not there");
  same("the message", error.message, error_text);
  if (ink_option_words(NULL, &words, &bytes, NULL) != INK_ERROR_ARGUMENT || ink_option_words(missing, NULL, &bytes, NULL) != INK_ERROR_ARGUMENT)
    failures++, puts("FAILED: words of nothing");
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  failures += system(command) != 0;
  printf("pieces: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
