/* SPDX-License-Identifier: MIT */
/* What the rewriter asks of the file system, without a parse: whether another header would be found, whether what a kept result
 * was made of is as it was, which files of a cache are the newest, and which folder is the project's. */
#include "../unit/check.h"
#include "cache_folder.h"
#include "dependencies.h"
#include "shadows.h"
#include "unit.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[PATH_MAX];

/* A path below the folder of this test. */
static const char *at(const char *name) {
  static char paths[8][PATH_MAX + 300];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof *paths, "%s/%s", root, name);
  return path;
}

static void run(const char *format, ...) {
  char command[3 * PATH_MAX], before[PATH_MAX];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  CHECK(getcwd(before, sizeof before) && !chdir(root) && !system(command) && !chdir(before), "%s", command);
}

static struct stat status_of(const char *name) {
  struct stat status = {0};
  CHECK(!stat(at(name), &status), "%s is there", name);
  return status;
}

/* ---- headers in front of others ---- */

typedef struct shadow_case {
  const char *const flags[4];
  const char *variable, *value; /* of the environment; NULL: none. @ is the folder of this test */
  bool found;
} shadow_case;

static char *with_root(const char *text) {
  static char made[4][3 * PATH_MAX];
  static unsigned next;
  char *to = made[next++ % 4];
  size_t used = 0;
  for (; *text; text++)
    used += (size_t)snprintf(to + used, sizeof *made - used, *text == '@' ? "%s" : "%.1s", *text == '@' ? root : text);
  to[used] = 0;
  return to;
}

static void shadowed(const shadow_case *one, const char *what) {
  shadow_list shadows = {0};
  const struct stat own = status_of("system/lib/own.h"), last = status_of("system/z.h");
  /* the last one is only asked for, and is not there */
  CHECK(shadows_name(&shadows, at("system/lib/own.h"), &own) && shadows_name(&shadows, at("system/z.h"), &last) &&
            shadows_name(&shadows, "asked/for.h", NULL),
        "named");
  const char *flags[4];
  size_t count = 0;
  for (; count < 4 && one->flags[count]; count++)
    flags[count] = with_root(one->flags[count]);
  for (size_t i = 0; shadows_variables[i]; i++)
    unsetenv(shadows_variables[i]);
  if (one->variable)
    setenv(one->variable, with_root(one->value), 1);
  CHECK(shadows_any(&shadows, flags, count) == one->found, "%s: %s %s %s: %sfound", what, count ? flags[0] : "", count > 1 ? flags[1] : "",
        one->variable ? one->value : "", one->found ? "not " : "");
  shadows_free(&shadows);
  CHECK(!shadows.headers.count && !shadows.words.count && !shadows.headers.items, "freed");
  if (one->variable)
    unsetenv(one->variable);
}

static void shadows_all(void) {
  run("mkdir -p system/lib empty other/lib only/lib linked/lib asked asking/asked folder/own.h deep/system/lib near/lib/own.h part/li long && "
      "touch system/lib/own.h system/z.h other/lib/own.h only/own.h asking/asked/for.h deep/system/lib/own.h part/li/own.h part/own.hh empty/a.h empty/zz.h && "
      "ln ./system/lib/own.h linked/lib/own.h && mkdir last && touch last/z.h && mkdir two && touch two/a.h two/b.h two/z.h");
  static const shadow_case cases[] = {
      {{NULL}, NULL, NULL, false},
      {{"-I@/empty"}, NULL, NULL, false},
      {{"-I@/nowhere"}, NULL, NULL, false},
      {{"-I@/other"}, NULL, NULL, true},     /* lib/own.h */
      {{"-I@/only"}, NULL, NULL, true},      /* own.h, the last part */
      {{"-I@/linked"}, NULL, NULL, false},   /* the same file */
      {{"-I@/system"}, NULL, NULL, false},   /* the files themselves */
      {{"-I@/folder"}, NULL, NULL, false},   /* a folder of that name */
      {{"-I@/near"}, NULL, NULL, false},
      {{"-I@/part"}, NULL, NULL, false},     /* other words that begin alike */
      {{"-I@/asking"}, NULL, NULL, true},    /* what is only asked for */
      {{"-I@/last"}, NULL, NULL, true},
      {{"-I@/two"}, NULL, NULL, true},
      {{"-I@/deep"}, NULL, NULL, true},      /* system/lib/own.h, three parts */
      {{"-I", "@/other"}, NULL, NULL, true},
      {{"-I=@/other"}, NULL, NULL, true},
      {{"-isystem@/other"}, NULL, NULL, true},
      {{"-isystem", "@/other"}, NULL, NULL, true},
      {{"-isystem=@/other"}, NULL, NULL, true},
      {{"--include-path", "@/other"}, NULL, NULL, true},
      {{"--include-path=@/other"}, NULL, NULL, true},
      {{"--system-include", "@/other"}, NULL, NULL, true},
      {{"--system-include=@/other"}, NULL, NULL, true},
      {{"-include", "@/empty/a.h"}, NULL, NULL, true}, /* it cannot be known */
      {{"-include=@/empty/a.h"}, NULL, NULL, true},
      {{"--pre-include", "@/empty/a.h"}, NULL, NULL, true},
      {{"-I"}, NULL, NULL, false},
      {{"-I", "@/empty", "@/other"}, NULL, NULL, false}, /* no option before the last one */
      {{"-I@/empty", "-I@/other"}, NULL, NULL, true},
      {{"-I@/other", "-I@/empty"}, NULL, NULL, true},
      {{"-I", "@/empty", "-I", "@/other"}, NULL, NULL, true},
      {{"-DI@/other", "-o@/other"}, NULL, NULL, false},
      {{NULL}, "CPATH", "@/other", true},
      {{NULL}, "C_INCLUDE_PATH", "@/other", true},
      {{NULL}, "CPLUS_INCLUDE_PATH", "@/other", true},
      {{NULL}, "CPLUS_INCLUDE_PATH", "@/empty", false},
      {{NULL}, "CPATH", "@/empty:@/other", true},
      {{NULL}, "CPATH", "@/other:@/empty", true},
      {{NULL}, "CPATH", "@/empty:@/system", false},
      {{NULL}, "CPATH", "", false},
      {{NULL}, "INCLUDE", "@/other", false},
      {{"-I@/empty"}, "CPATH", "@/other", true},
      {{"-I@/other"}, "CPATH", "@/empty", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    shadowed(&cases[i], "shadows");
  char before[PATH_MAX]; /* an empty folder of a variable is the one that the compiler runs in */
  CHECK(getcwd(before, sizeof before) && !chdir(at("other")), "into a folder");
  shadowed(&(shadow_case){{NULL}, "CPATH", "@/empty:", true}, "here");
  shadowed(&(shadow_case){{NULL}, "CPATH", ":@/empty", true}, "here");
  shadowed(&(shadow_case){{NULL}, "CPATH", "@/empty", false}, "here");
  CHECK(!chdir(at("empty")), "into another");
  shadowed(&(shadow_case){{NULL}, "CPATH", ":@/empty", false}, "there");
  CHECK(!chdir(before), "back");
  shadow_list none = {0};
  const char *flags[] = {with_root("-I@/other")};
  CHECK(!shadows_any(&none, flags, 1), "no headers");
  shadows_free(&none);
}

/* ---- what a kept result depends on ---- */

static bool holds(const char *format, ...) {
  char text[4 * PATH_MAX];
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  char *copy = malloc((size_t)n + 1); /* so long, and no longer */
  memcpy(copy, text, (size_t)n + 1);
  const bool found = ink_dependencies_hold(copy, (size_t)n);
  free(copy);
  return found;
}

/* A line of a file or a folder, with so much added to each of its numbers. */
static const char *line_of(char kind, const char *name, const char *text, const long long more[7]) {
  static char lines[4][2 * PATH_MAX];
  static unsigned next;
  char *line = lines[next++ % 4];
  const struct stat is = status_of(name);
  size_t used = (size_t)snprintf(line, sizeof *lines, "%c ", kind);
  if (kind == 'F')
    used += (size_t)snprintf(line + used, sizeof *lines - used, "%llx %lld ", (unsigned long long)ink_text_hash(text, strlen(text)) + (unsigned long long)more[0],
                             (long long)strlen(text) + more[1]);
  snprintf(line + used, sizeof *lines - used, "%lld %lld %lld %lld %llu %s\n", (long long)is.st_mtim.tv_sec + more[2], (long long)is.st_mtim.tv_nsec + more[3],
           (long long)is.st_ctim.tv_sec + more[4], (long long)is.st_ctim.tv_nsec + more[5], (unsigned long long)is.st_ino + (unsigned long long)more[6], at(name));
  return line;
}

static void dependencies_hold(void) {
  static const long long same[7] = {0};
  run("mkdir -p kept/sub && printf 'some text' >kept/a.h && printf 'more' >kept/b.h && : >kept/none.h");
  CHECK(!holds("%s", ""), "nothing");
  CHECK(holds("%s", line_of('F', "kept/a.h", "some text", same)), "a file as it was");
  CHECK(holds("%s", line_of('F', "kept/none.h", "", same)), "an empty file as it was");
  CHECK(!holds("F 1 9 1 2 3 4 5 %s\n", at("kept/absent.h")), "a file that is gone");
  CHECK(!holds("F 1 9 1 2 3 4 5 %s\n", at("kept/sub")), "a folder in its place");
  CHECK(!holds("F 1 9 1 2 3 4\n"), "too few numbers of a file");
  CHECK(!holds("D 1 2 3 4\n"), "too few numbers of a folder");
  CHECK(!holds("X %s\n", at("kept/a.h")), "a line of no kind");
  for (int i = 0; i < 7; i++) {
    long long more[7] = {0};
    more[i] = 1;
    const bool fine = i != 1; /* of the same times the text is not read: with another hash too */
    CHECK(holds("%s", line_of('F', "kept/a.h", "some text", more)) == fine, "number %d of a file differs", i);
    more[i] = -1;
    CHECK(holds("%s", line_of('F', "kept/a.h", "some text", more)) == fine, "number %d of a file differs downward", i);
    if (i > 1) { /* another time: the text counts */
      more[0] = 1;
      CHECK(!holds("%s", line_of('F', "kept/a.h", "some text", more)), "number %d of a file and its text differ", i);
      more[0] = 0;
      CHECK(holds("%s", line_of('F', "kept/none.h", "", more)), "number %d of an empty file differs", i);
      CHECK(holds("%s-absent.h\n", line_of('D', "kept", "", more)), "number %d of a folder differs, nothing came", i);
      CHECK(!holds("%s-a.h\n", line_of('D', "kept", "", more)), "number %d of a folder differs, one came", i);
    }
  }
  CHECK(!holds("%s", line_of('F', "kept/a.h", "other one", (const long long[7]){0, 0, 1})), "another text");
  CHECK(holds("%s-a.h\n", line_of('D', "kept", "", same)), "a folder as it was is not looked into");
  const char *absent = line_of('D', "kept", "", same);
  CHECK(holds("D 1 2 3 4 0 %s\n-absent.h\n", at("kept")) && !holds("D 1 2 3 4 0 %s\n-a.h\n", at("kept")), "a folder that is always looked into");
  CHECK(!holds("D 1 2 3 4 0 %s\n-x.h\n-b.h\n", at("kept")) && !holds("D 1 2 3 4 0 %s\n-b.h\n-x.h\n", at("kept")), "any of its names");
  CHECK(holds("D 1 2 3 4 0 %s\n-x\n%s-a.h\n", at("kept/sub"), absent) && !holds("%s-a.h\nD 1 2 3 4 0 %s\n-b.h\n", absent, at("kept")), "each folder is for the names behind it");
  CHECK(holds("D 1 2 3 4 0 %s\n-x\n", at("nowhere")), "a folder that is gone has none of its names");
  CHECK(holds("+%s\n", at("kept/a.h")) && holds("+%s\n", at("kept/sub")) && !holds("+%s\n", at("kept/absent.h")), "what is there");
  CHECK(!holds("+%s", at("kept/a.h")) && !holds("%s+%s", line_of('F', "kept/a.h", "some text", same), at("kept/b.h")), "a line without an end");
  CHECK(!holds("%s%s+%s\n", line_of('F', "kept/a.h", "some text", same), line_of('F', "kept/b.h", "some of it", same), at("kept/a.h")), "the second of two files");
  CHECK(holds("%s%s+%s\n", line_of('F', "kept/a.h", "some text", same), line_of('F', "kept/b.h", "more", same), at("kept/a.h")), "two files");
  CHECK(!holds("+%s\n+%s\n", at("kept/absent.h"), at("kept/a.h")), "the first of two lines");
}

/* ---- the files of a cache ---- */

static void names_are(const char *prefix, const char *wanted) {
  char got[2000] = "";
  ink_cache_files files = ink_cache_files_of(at("cache"), prefix);
  for (size_t i = 0; i < files.count; i++)
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s:%llu ", files.items[i].name, (unsigned long long)files.items[i].bytes);
  CHECK(!strcmp(got, wanted), "'%s': is %s, not %s", prefix, got, wanted);
  ink_cache_files_free(&files);
  CHECK(!files.dir && !files.items && !files.count, "freed");
}

static void cache_files(void) {
  run("mkdir cache && cd cache && printf 12345 >one-b && printf 1 >one-a && printf 123 >one-c && : >one- && : >two-a && printf 12 >one-d && printf 1234 >one-e && "
      "touch -d '2020-01-01 00:00:05.5' one-b && touch -d '2020-01-01 00:00:05.5' one-a && touch -d '2020-01-01 00:00:05.25' one-c && "
      "touch -d '2020-01-01 00:00:06.125' one- && touch -d '2020-01-01 00:00:04.75' one-d && touch -d '2020-01-01 00:00:05.75' one-e && ln -s one-b one-link && "
      "touch -h -d '2020-01-01 00:00:03' one-link && touch long-%042d long-%043d", 1, 2);
  names_are("one-", "one-:0 one-e:4 one-a:1 one-b:5 one-c:3 one-d:2 one-link:5 ");
  names_are("one-b", "one-b:5 ");
  names_are("two-", "two-a:0 ");
  names_are("three", "");
  names_are("long-", "long-000000000000000000000000000000000000000001:0 "); /* as long as there is room */
  ink_cache_files none = ink_cache_files_of(at("cache/nowhere"), "");
  CHECK(!none.dir && !none.count, "a folder that is not there");
  ink_cache_files_free(&none);
  ink_cache_files files = ink_cache_files_of(at("cache"), "one-");
  ink_cache_remove(&files, "one-a");
  ink_cache_files_free(&files);
  names_are("one-a", "");
  ink_cache_file file = {.used = {.tv_sec = time(NULL) - 3700}};
  CHECK(ink_cache_is_left(&file), "an old one");
  file.used.tv_sec += 300;
  CHECK(!ink_cache_is_left(&file), "a new one");
}

/* ---- the project's folder ---- */

static void root_is(const char *from, const char *source, const char *wanted, bool may_grow) {
  ink_unit unit = {0};
  char before[PATH_MAX];
  CHECK(getcwd(before, sizeof before) && !chdir(from), "into %s", from);
  ink_unit_guess_root(&unit, source);
  CHECK(!chdir(before), "back");
  CHECK(unit.root && !strcmp(unit.root, wanted) && unit.root_may_grow == may_grow, "the root of '%s' in '%s' is '%s', %d, not '%s'", source, from,
        unit.root ? unit.root : "", unit.root_may_grow, wanted);
  free(unit.root);
}

static void roots(void) {
  run("mkdir -p git/.git git/a/b hg/.hg/x svn/.svn svn/a/.git plain/a/b gitfile/a && : >gitfile/.git");
  static const char *const signs[][2] = {{"git/a/b/x.cu", "git"}, {"git/x.cu", "git"}, {"hg/x.cu", "hg"}, {"svn/x.cu", "svn"}, {"svn/a/x.cu", "svn/a"}, {"gitfile/a/x.cu", "gitfile"}};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    root_is("/", at(signs[i][0]), at(signs[i][1]), false);
  root_is("/", at("plain/a/b/x.cu"), at("plain/a/b"), true);
  root_is(at("plain"), at("plain/a/b/x.cu"), at("plain"), true);
  root_is(at("plain/a/b"), at("plain/a/b/x.cu"), at("plain/a/b"), true);
  root_is(at("plain/a"), at("plain/ab.cu"), at("plain"), true); /* begins alike, and is not below it */
  root_is(at("git"), at("plain/a/x.cu"), at("plain/a"), true);
  root_is("/", "/x.cu", "/", true);
  ink_unit unit = {0};
  ink_unit_guess_root(&unit, "x.cu");
  CHECK(!unit.root && !unit.root_may_grow, "a path without a folder has no root");
}

/* ---- texts ---- */

static void bytes(void) {
  ink_bytes text = {0};
  CHECK(!ink_bytes_read(&text, at("kept/absent.h")) && !text.count, "a file that is not there");
  CHECK(!ink_bytes_read(&text, at("kept")) && !text.count, "a folder");
  CHECK(ink_bytes_read(&text, at("kept/none.h")) && !text.count, "an empty file");
  CHECK(ink_bytes_read(&text, at("kept/a.h")) && text.count == 9 && !memcmp(text.at, "some text", 9), "a file");
  CHECK(ink_bytes_read(&text, at("kept/b.h")) && text.count == 13 && !memcmp(text.at, "some textmore", 13), "another one behind it");
  ink_bytes_free(&text);
  for (size_t length = 250; length < 520; length++) {
    for (size_t i = 0; i < length; i++)
      ink_bytes_format(&text, "%c", 'a' + (int)(i % 26));
    ink_bytes_text(&text, "end");
    CHECK(text.count == length + 3 && !text.failed && !memcmp(text.at + length, "end", 3), "%zu bytes", length);
    for (size_t i = 0; i < length; i++)
      CHECK(text.at[i] == 'a' + (char)(i % 26), "byte %zu of %zu", i, length);
    ink_bytes_free(&text);
    CHECK(!text.at && !text.count && !text.room, "freed");
  }
}

int main(void) {
  char folder[] = "/tmp/ink-files-XXXXXX";
  if (!mkdtemp(folder) || !realpath(folder, root))
    return 1;
  shadows_all();
  dependencies_hold();
  cache_files();
  roots();
  bytes();
  char command[PATH_MAX + 20];
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  CHECK(!system(command), "removed");
  return check_result("files");
}
