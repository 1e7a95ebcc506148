/* SPDX-License-Identifier: MIT */
/* Sources in captures: what the writer process takes for a table's file and what not, the chunk, whole and hostile, and the
 * lines on which sections are marked. */
#include "check.h"
#include "craft.h"
#include "synth.h"

#include "inkmark/collect.h"
#include "inkmark/sources.h"
#include "shm/collect_private.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/inkmark-sources-XXXXXX", template_[64];
static char only_beside[64], alike[64], differs[64]; /* names of files beside the program */

static const char kernel_text[] = "// one\n"
                                  "#include <inkmark/mark.cuh>\n"
                                  "PROF_SECTIONS(Solver, Step,\n"
                                  "              LineSearch)\n"
                                  "PROF_SECTIONS(Other, Alpha)\n";

static void write_text(const char *name, const char *text) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file || fputs(text, file) < 0 || fclose(file))
    exit(2);
}

/* Beside this program, where names of tables are looked for too. */
static void beside(const char *name, const char *text, char path[4200]) {
  char program[4096];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  if (n <= 0)
    exit(2);
  program[n] = 0;
  *strrchr(program, '/') = 0;
  snprintf(path, 4200, "%s/%s", program, name);
  FILE *file = text ? fopen(path, "w") : NULL;
  if (text && (!file || fputs(text, file) < 0 || fclose(file)))
    exit(2);
}

/* ---- the writer process --------------------------------------------------------------------- */

/* The program is there until `hold` ends: its folder is asked for by its process. */
static void put_tables(int hold) {
  ink_error error = {0};
  ink_writer *writer = NULL;
  char long_path[5000], here[200];
  memset(long_path, 'x', sizeof long_path - 1);
  long_path[sizeof long_path - 1] = 0;
  snprintf(here, sizeof here, "%s/absolute.cu", folder);
  if (ink_i_link_ring(1 << 20, 1 << 20, false, NULL, &error) || ink_i_writer_open_ring(4096, &writer, &error))
    _exit(2);
  const struct {
    const char *name, *sections, *file;
    uint32_t line;
  } tables[] = {
      {"Solver", "Step, LineSearch", "fits.cu", 4},          /* the macro takes two lines */
      {"Other", "Alpha", "fits.cu", 5},                      /* stored already */
      {"Solver", "A", here, 4},
      {"Elsewhere", "B", "second.cu", 4},                    /* of that file another table fits */
      {"Other", "C", "second.cu", 5},
      {"Moved", "D", "moved.cu", 3},                         /* the name is not there */
      {"Solver", "E", "short.cu", 400},                      /* it has no such line */
      {"Solver", "F", "missing.cu", 4},
      {"Solver", "G", "pipe", 1},                            /* is not waited for */
      {"Solver", "H", ".", 1},
      {"Solver", "I", "zero.cu", 1},
      {"Solver", "J", "large.cu", 1},
      {"auto_table", "wait (auto.cu:2), for (auto.cu:4, 2)", "auto.cu", 1},
      {"auto_table", "wait (gone.cu:9)", "gone.cu", 1},      /* fewer lines */
      {"Solver", "K", long_path, 1},
      {"Solver", "M", only_beside, 3},
      {"Solver", "N", alike, 3},
      {"Solver", "O", differs, 3},                           /* another one than in the folder */
      {"Solver", "L", "", 1},
  };
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (ink_writer_table(writer, tables[i].name, tables[i].sections, tables[i].file, tables[i].line, i + 1, &error))
      _exit(3);
  if (ink_writer_fact(writer, "tables", "all given", &error) || read(hold, here, 1))
    _exit(4);
  _exit(ink_writer_close(writer, &error) != INK_OK);
}

static void make_files(void) {
  char path[200];
  write_text("fits.cu", kernel_text);
  write_text("absolute.cu", kernel_text);
  write_text("second.cu", kernel_text);
  write_text("moved.cu", kernel_text);
  write_text("short.cu", kernel_text);
  write_text("auto.cu", "a\nb\nc\nd");
  write_text("gone.cu", "a\nb\nc\nd");
  snprintf(path, sizeof path, "%s/pipe", folder);
  if (mkfifo(path, 0600))
    exit(2);
  snprintf(path, sizeof path, "%s/zero.cu", folder);
  FILE *file = fopen(path, "w");
  if (!file || fwrite("PROF_SECTIONS(Solver\0, A)\n", 1, 26, file) != 26 || fclose(file))
    exit(2);
  snprintf(path, sizeof path, "%s/large.cu", folder);
  file = fopen(path, "w");
  if (!file || fputs("PROF_SECTIONS(Solver, A)\n", file) < 0 || fseek(file, INK_SOURCE_BYTES_MAX, SEEK_SET) ||
      fputc('\n', file) < 0 || fclose(file))
    exit(2);
}

static bool is_in_file(const char *path, const char *words) {
  static char bytes[1 << 20];
  FILE *file = fopen(path, "rb");
  const size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file)
    fclose(file);
  return memmem(bytes, n, words, strlen(words)) != NULL;
}

/* The capture that the writer process made; `with`: it was told of a folder. */
static ink_capture *record(bool with) {
  int pair[2], hold[2], status = 0;
  ink_collector *collector = NULL;
  ink_capture *capture = NULL;
  ink_error error = {0};
  char path[200];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) || pipe(hold))
    exit(1);
  const ink_collector_options options = {.size = sizeof options, .output = template_, .control = pair[1], .began_ns = 1,
                                         .source_folder = with ? folder : NULL};
  NEED(ink_collector_open(&options, &collector, &error), error);
  setenv("INKMARK_WRITER", ink_collector_address(collector), 1);
  const pid_t writer = fork();
  if (!writer) {
    close(pair[0]);
    close(hold[1]);
    ink_collector_run(collector);
    _exit(0);
  }
  ink_collector_free(collector);
  const pid_t child = fork();
  if (!child) {
    close(hold[1]);
    put_tables(hold[0]);
  }
  snprintf(path, sizeof path, "%s/%ld.ink", folder, (long)child);
  pid_t ended = 0;
  while (!is_in_file(path, "all given") && (ended = waitpid(child, &status, WNOHANG)) == 0)
    usleep(1000);
  close(hold[0]);
  close(hold[1]);
  CHECK((ended ? ended : waitpid(child, &status, 0)) == child && !status, "status %x", (unsigned)status);
  close(pair[0]);
  CHECK(waitpid(writer, NULL, 0) == writer, "the writer");
  NEED(ink_capture_open(path, &capture, &error), error);
  return capture;
}

static void stored(void) {
  const char *const wanted[] = {"fits.cu", "/absolute.cu", "second.cu", "auto.cu", only_beside, alike};
  char paths[3][4200];
  const ink_source *sources;
  make_files();
  snprintf(only_beside, sizeof only_beside, "only-beside-%ld.cu", (long)getpid());
  snprintf(alike, sizeof alike, "alike-%ld.cu", (long)getpid());
  snprintf(differs, sizeof differs, "differs-%ld.cu", (long)getpid());
  beside(only_beside, kernel_text, paths[0]);
  beside(alike, kernel_text, paths[1]);
  beside(differs, "\n\nPROF_SECTIONS(Solver, O)\n", paths[2]);
  write_text(alike, kernel_text);
  write_text(differs, kernel_text);
  ink_capture *capture = record(true);
  for (size_t i = 0; i < 3; i++)
    unlink(paths[i]);
  const size_t n = ink_capture_sources(capture, &sources);
  CHECK(n == 6, "%zu sources", n);
  for (size_t i = 0; i < n && i < 6; i++) {
    const char *text = i == 3 ? "a\nb\nc\nd" : kernel_text;
    CHECK(strstr(sources[i].file, wanted[i]), "'%s'", sources[i].file);
    CHECK(sources[i].bytes == strlen(text) && !strcmp(sources[i].text, text), "'%s'", sources[i].text);
  }
  CHECK(ink_capture_get_facts(capture)->complete, "%s", ink_capture_get_facts(capture)->note);
  ink_capture_free(capture);
  capture = record(false);
  CHECK(ink_capture_sources(capture, &sources) == 0, "sources without being asked for");
  ink_capture_free(capture);
}

/* ---- the chunk ------------------------------------------------------------------------------ */

typedef struct payload {
  ink_file_source fixed;
  char texts[64];
} payload;

static size_t damaged(const payload *p, size_t bytes, size_t *sources) {
  static craft c;
  const ink_source *list;
  ink_capture *capture;
  ink_error error = {0};
  craft_start(&c, INK_FILE_MAJOR, INK_FILE_MINOR);
  craft_chunk(&c, INK_CHUNK_SOURCE, p, bytes);
  NEED(ink_capture_open_memory(c.bytes, c.size, &capture, &error), error);
  const size_t n = (size_t)ink_capture_get_facts(capture)->damaged_chunks;
  *sources = ink_capture_sources(capture, &list);
  ink_capture_free(capture);
  return n;
}

static void chunks(void) {
  payload good = {.fixed.bytes = 3};
  size_t sources, bytes = sizeof good.fixed + 9;
  memcpy(good.texts, "f.cu\0abc", 9);
  memset(good.fixed.sha256, 'a', sizeof good.fixed.sha256);
  CHECK(damaged(&good, bytes, &sources) == 0 && sources == 1, "%zu", sources);
  for (size_t n = 0; n < bytes; n++)
    CHECK(damaged(&good, n, &sources) == 1 && !sources, "%zu bytes of it", n);
  for (uint64_t wrong = 0; wrong < 70; wrong++) {
    payload bad = good;
    bad.fixed.bytes = wrong < 64 ? UINT64_C(1) << wrong : wrong - 64;
    CHECK(bad.fixed.bytes == 3 || damaged(&bad, bytes, &sources) == 1, "%llu bytes of text",
          (unsigned long long)bad.fixed.bytes);
  }
  payload bad = good;
  bad.texts[6] = 0;
  CHECK(damaged(&bad, bytes, &sources) == 1, "a 0 in the text");
  bad = good;
  bad.fixed.sha256[63] = '<';
  CHECK(damaged(&bad, bytes, &sources) == 1, "a digest that is none");
}

/* Without SOURCE a capture reads as before, and a text that is too long or holds a 0 is not written. */
static void limits(void) {
  ink_error error = {0};
  const char *path = synth_path("sources");
  ink_writer *writer = synth_writer(path, 16, 8, false);
  char *large = calloc(1, INK_SOURCE_BYTES_MAX + 1);
  if (!large)
    exit(2);
  memset(large, ' ', INK_SOURCE_BYTES_MAX + 1);
  CHECK(ink_writer_source(writer, "a.cu", large, INK_SOURCE_BYTES_MAX + 1, &error) == INK_ERROR_ARGUMENT, "too long");
  CHECK(ink_writer_source(writer, "a.cu", "a\0b", 3, &error) == INK_ERROR_ARGUMENT, "with a 0");
  CHECK(ink_writer_source(writer, "a.cu", large, INK_SOURCE_BYTES_MAX, &error) == INK_OK, "%s", error.message);
  CHECK(ink_writer_source(writer, "a.cu", "other", 5, &error) == INK_OK, "%s", error.message);
  NEED(ink_writer_close(writer, &error), error);
  ink_capture *capture;
  const ink_source *sources;
  NEED(ink_capture_open(path, &capture, &error), error);
  CHECK(ink_capture_sources(capture, &sources) == 1 && sources[0].bytes == INK_SOURCE_BYTES_MAX, "the first one holds");
  ink_capture_free(capture);
  remove(path);
  free(large);
  char digest[INK_SHA256_TEXT];
  ink_sha256("abc", 3, digest);
  CHECK(!strcmp(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "%s", digest);
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* "line section" for each mark, with a + behind those that begin. */
static void marks_of(const char *text, const char *wanted) {
  ink_error error = {0};
  const char *path = synth_path("marks");
  ink_writer *writer = synth_writer(path, 16, 8, false);
  NEED(ink_writer_table(writer, "Auto", "wait (solver.cu:2), for (solver.cu:2), x (solver.cu:900), y (other.cu:1), ring (solver.cu:3\x1a 2)",
                        "solver.cu", 1, 99, &error), error);
  NEED(ink_writer_source(writer, "solver.cu", text, strlen(text), &error), error);
  NEED(ink_writer_close(writer, &error), error);
  ink_capture *capture;
  const ink_source *sources;
  const ink_section *sections;
  ink_source_mark *marks;
  size_t count, at = 0;
  char said[1000] = "";
  NEED(ink_capture_open(path, &capture, &error), error);
  ink_capture_sources(capture, &sources);
  ink_capture_sections(capture, &sections);
  NEED(ink_source_marks(capture, &sources[0], &marks, &count, &error), error);
  for (size_t i = 0; i < count && at < sizeof said; i++)
    if (!strchr(sections[marks[i].section].name, '(') || strstr(wanted, "("))
      at += (size_t)snprintf(said + at, sizeof said - at, "%s%u %s%s", at ? ", " : "", marks[i].line,
                             sections[marks[i].section].name, marks[i].begins ? "+" : "");
  CHECK(!strcmp(said, wanted), "'%s' gives '%s', not '%s'", text, said, wanted);
  free(marks);
  ink_capture_free(capture);
  remove(path);
}

static void lines(void) {
  marks_of("PROF_KERNEL(Step);\nPROF_MARK(LineSearch, a, b);\n PROF_MARK_STRICT ( Hessian\n);", "1 Step, 2 LineSearch, 3 Hessian");
  marks_of("PROF_OPEN_IF(lane == 0 && f(a, b)[1], Step);\nPROF_OPEN_IF((a, b), /* , */ Step)", "1 Step, 2 Step");
  marks_of("PROF_BEGIN(Gradient);\nPROF_END(Gradient);\nPROF_BEGIN_WITH(Gradient, 3);PROF_ASYNC_BEGIN_BLOCK(Hessian, k)",
           "1 Gradient+, 2 Gradient, 3 Hessian+, 3 Gradient+");
  marks_of("PROF_MARK(Solver::Step); PROF_MARK(::app::Other::Alpha);\nPROF_MARK(Other::Step); PROF_MARK(Nothing);", "1 Step, 1 Alpha");
  marks_of("PROF_MARK_ID(Other, kind, x);", "1 Alpha, 1 Beta");
  marks_of("// PROF_MARK(Step);\n/* PROF_MARK(Step)\n*/ const char *s = \"PROF_MARK(Step)\", c = '\"'; PROF_MARK(Hessian)", "3 Hessian");
  marks_of("auto s = R\"x(PROF_MARK(Step)\")x\"; int n = 1'000'000; PROF_MARK(Hessian) // PROF_MARK(Step)", "1 Hessian");
  marks_of("auto s = \"a\\\" PROF_MARK(Step)\"; 'x' PROF_MARK(Hessian)", "1 Hessian");
  marks_of("PROF_SECTIONS(Solver, Step)\nMY_PROF_MARK(Step); PROF_MARK; PROF_MARK (", "");
  marks_of("MARK(Step, PROF_MARK(Hessian, PROF_MARK(Gradient)))", "1 Hessian, 1 Gradient");
  marks_of("PROF_MARK(Step", "1 Step");
  marks_of("R\"", "");
  marks_of("/*", "");
  marks_of("\"\\", "");
  marks_of("for (;;)\nwait();\n\n", "2 wait (solver.cu:2), 2 for (solver.cu:2), 3 ring (solver.cu:3, 2)");
}

/* What a hostile text costs is bounded: a million calls, each within the one before. */
static void deep(void) {
  enum { CALLS = 80000, EACH = 13 };
  ink_error error = {0};
  const char *path = synth_path("deep");
  ink_writer *writer = synth_writer(path, 16, 8, false);
  char *text = malloc(CALLS * EACH + 1);
  for (size_t i = 0; text && i < CALLS; i++)
    memcpy(text + i * EACH, "PROF_ID(Step,", EACH);
  NEED(ink_writer_source(writer, "solver.cu", text, CALLS * EACH, &error), error);
  NEED(ink_writer_close(writer, &error), error);
  ink_capture *capture;
  const ink_source *sources;
  ink_source_mark *marks;
  size_t count;
  NEED(ink_capture_open(path, &capture, &error), error);
  ink_capture_sources(capture, &sources);
  NEED(ink_source_marks(capture, &sources[0], &marks, &count, &error), error);
  CHECK(count == 20000, "%zu marks", count);
  free(marks);
  ink_capture_free(capture);
  free(text);
  remove(path);
}

int main(void) {
  if (!mkdtemp(folder))
    return 1;
  snprintf(template_, sizeof template_, "%s/%%p.ink", folder);
  stored();
  chunks();
  limits();
  lines();
  deep();
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) ? 1 : check_result("sources");
}
