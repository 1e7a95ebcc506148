/* SPDX-License-Identifier: MIT */
/* texts_test EXPECTED: what the parts of the rewriter that read a text without a parse make of drawn ones: words of insertions, strings, comments and
 * directives in any order, whole and cut off. EXPECTED has digests; that the results are right is what instrument.unit and
 * instrument.mutated show. Without a digest: what was inserted is taken out again. With a number behind it the texts of that line are printed. */
#include "../unit/expected.h"
#include "edits.h"
#include "instantiations.h"
#include "literals.h"
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LINES = 160, TEXTS = 60 };

static uint64_t state, hash;
static bool shown;

static uint32_t below(uint32_t n) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)((state >> 33) % n);
}

static void say(const char *what, const char *text, size_t bytes) {
  if (shown)
    printf("%s: %.*s\n", what, (int)bytes, text);
  for (const char *at = what; *at; at++)
    hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
}

static void say_number(const char *what, uint64_t number) {
  char text[32];
  snprintf(text, sizeof text, "%" PRIu64, number);
  say(what, text, strlen(text));
}

/* ---- texts ---- */

static const char *const plain[] = {
    "a", "b ", " ", "\n", "\n", "\n\n", ";", "x = 1;\n", "f(x);", "f(x)", "{", "}", "(", ")", "<", ">", ",", "\"s\"", "\"", "'", "'c'", "'\\''", "\"\\\"\"", "\\", "\\\n", "\t", "\r\n", "1'000", "0x1'f", "R\"(\"x)\"", "R\"ab(", ")ab\"", ")\"", "u8R\"x(", "LR\"",
    "R", "//", "// c\n", "// \\\n", "/*", "*/", "/* c */", "/**/", "/*/", "#", "#if A\n", "#ifdef B\n", "#ifndef C\n", "# if D\n", "#else\n", "#elif E\n", "#endif\n", "#  endif\n", "#define F(x) #x\n", "#define G \\\n 3\n", "#pragma unroll\n", "#line 3\n", "#include <a.h>\n",
    "#include \"b.h\"\n", "#include <inkmark/mark.cuh>\n", " # include \"inkmark/mark.cuh\"\n", "#include\n", "#include <inkmark/\n", "#include \"inkmark", "#includes <inkmark/a>\n", "# include <a//b.h>\n", "\xef\xbb\xbf", "template void run<9>(int &);\n", "template __global__ void k<4, (1 > 0)>(float *);\n",
    "template <class T> void t(T);\n", "template <> void t<int>(int);\n", "template struct s<int>;\n", "extern template void run<1>(int &);\n", "template\nvoid n::run<a<b>>(int, char) ;", "template int run<2>(int);\n", "template void plain(int);\n", "template", "void", "namespace n {", "class c {", "template void run<'\"'>(char);\n",
    "template void r<R\"(;)\">(int);\n", "extern \"C\" ", "extern \"C++\" ", "__global__ void k(int *p) {", "e8_", "1.5f", "3_km", "\"x\"_s", "\"C\"_x", "extern \"C\"_t", "PROF_KERNEL(K);", "PROF_MARK(load_L3);", "PROF_MARK(Load_L);", "PROF_BEGIN(a_L12_3); // prof: begin a\n", "PROF_MARK(a_b); /* prof: mark a */", "PROF_MARK(c);// prof\n",
    "PROF_END(L3);", "PROF_MARK(_L1);", "{PROF_ITER(i);", "{PROF_LAMBDA();", "PROF_ITER(i)", "INK_BEFORE(x)", "INK_AFTER", "INK_AFTER(x)", "INK_UNTIL_END(x)", "aINK_BEFORE(x)", "INK_BEFOREHAND(x)", "INK_TABLE", "INK_CONTEXT(", "INK_REGISTERS(4)", "#if INK_CONTEXTS\n", "#include \"inkmark/rewritten.cuh\"\n", "# \tinclude \"inkmark/rewritten.cuh\"\n",
    "// inkmark rewriter: begin\n", "// inkmark rewriter: end\n", "/* ink [*/", "/*ink ]*/", "/*ink*/", "/* in[*/", "/*  ink  ]*/", "/*ink"};
static const char *const inserted[] = {"{", "}", "(", ")", "[", "]", "B;", "INK_BEFORE(s), INK_AFTER(s ", "INK_AFTER", "))", "\")\"", "'('", "'\\''", "\"\\\"{\"", "PROF_MARK(load_L3);", "PROF_BEGIN(a_L12_3);", "PROF_END(a_L12_3);", " ", "", "c_d"};
#define ONE_OF(list) list[below(sizeof list / sizeof *list)]

static void put_plain(ink_bytes *out, uint32_t most) {
  for (uint32_t n = below(most + 1); n; n--)
    ink_bytes_text(out, ONE_OF(plain));
}

static void put_piece(ink_bytes *out, const char *text) {
  ink_bytes_text(out, below(40) ? INK_EDIT_OPEN : "");
  ink_bytes_text(out, text);
  ink_bytes_text(out, below(40) ? INK_EDIT_CLOSE : "");
}

/* As the rewriter puts them in: pairs around text, whole lines, a copy of a function; now and then one end is missing. */
static void put_marked(ink_bytes *out, unsigned depth) {
  static const char *const pairs[][2] = {{"{B;", "}"}, {"(INK_BEFORE(s), INK_AFTER(s ", "))"}, {"INK_AFTER(", "))"}, {"{PROF_BEGIN(a_L12_3);", "PROF_END(a_L12_3);}"}, {"PROF_MARK(load_L3);", ""}, {"[", "]"}, {"{", "(}"}, {"\"{\"", "'}'"}};
  const uint32_t which = below(12);
  if (which < 7 && depth < 4) {
    const uint32_t pair = below(sizeof pairs / sizeof *pairs);
    put_piece(out, pairs[pair][0]);
    put_marked(out, depth + 1);
    put_plain(out, 2);
    if (below(30))
      put_piece(out, pairs[pair][1]);
  } else if (which < 8) {
    ink_bytes_text(out, INK_EDIT_OPEN "{B;\n#line ");
    ink_bytes_text(out, below(6) ? "2" : "");
    ink_bytes_text(out, below(6) ? " " : "x");
    ink_bytes_text(out, INK_EDIT_CLOSE);
    ink_bytes_text(out, below(6) ? "\n" : "");
    put_plain(out, 2);
    ink_bytes_format(out, "%s}%s", INK_EDIT_OPEN, INK_EDIT_CLOSE);
  } else if (which < 9) {
    ink_bytes_format(out, "%s%s#line 2\n", INK_EDIT_OPEN, below(8) ? INK_COPY_OPEN : "\n#if INK_CONTEXT\n");
    put_plain(out, 3);
    ink_bytes_text(out, below(8) ? "\n#endif\n#line " : "#line ");
    ink_bytes_text(out, below(8) ? "12\n" INK_EDIT_CLOSE : "\n" INK_EDIT_CLOSE);
  } else if (which < 10) {
    ink_bytes_format(out, "%s%s%s", INK_EDIT_OPEN, ONE_OF(inserted), INK_EDIT_CLOSE);
  }
  put_plain(out, 3);
  if (below(3) && depth < 4)
    put_marked(out, depth);
}

static void draw_text(ink_bytes *out) {
  const uint32_t kind = below(4);
  if (kind == 0) {
    put_plain(out, 25);
  } else {
    if (below(20) == 0)
      ink_bytes_text(out, "\xef\xbb\xbf");
    if (below(3) == 0) {
      ink_bytes_format(out, "%s#include \"inkmark/rewritten.cuh\"\nINK_TABLE(t, \"load, %s, Load\"\n\", load_L3\n\", a_L12_3\n\")\n", INK_PREAMBLE_OPEN, below(2) ? "c" : "a_L12_3");
      ink_bytes_text(out, below(20) ? INK_PREAMBLE_CLOSE : "");
      ink_bytes_text(out, below(20) ? "#line 1 \"a.cu\"\n" : "#lin");
    }
    put_marked(out, kind == 3 ? 3 : 0);
  }
  while (out->count && below(6) == 0)
    out->count--; /* cut off */
  if (out->count && below(8) == 0) {
    const char other = "/*\"'\n[](){}#\\ "[below(14)];
    out->at[below((uint32_t)out->count)] = other;
  }
}

/* ---- what is made of one ---- */

static void literals(const char *text, size_t bytes) {
  ink_literal kind;
  for (const char *at = text, *end = text + bytes, *next; at < end; at = next) {
    next = ink_literal_behind(at, end, &kind);
    CHECK(next > at && next <= end, "a literal of %zd bytes", (ssize_t)(next - at));
    if (next <= at || next > end)
      return;
    say_number("literal", (uint64_t)kind);
    say_number("of", (uint64_t)(next - at));
  }
  char *hidden = ink_literals_hide(text, bytes);
  say("hidden", hidden, bytes);
  ink_literals_show(hidden, bytes);
  CHECK(!memcmp(hidden, text, bytes), "hidden and shown again");
  free(hidden);
}

static void strip_and_diff(const char *text, size_t bytes) {
  char *out = NULL, *diff = NULL;
  size_t out_bytes = 0;
  ink_error error = {0};
  ink_status status = ink_instrument_strip(text, bytes, &out, &out_bytes, &error);
  say_number("strip", (uint64_t)status);
  say("is", out ? out : error.message, out ? out_bytes : strlen(error.message));
  say_number("at", status ? error.offset : 0);
  error = (ink_error){0};
  status = ink_instrument_diff(text, bytes, "old", "new", &diff, &error);
  say_number("diff", (uint64_t)status);
  say("is", status ? error.message : diff, strlen(status ? error.message : diff));
  free(out);
  free(diff);
}

static void facts(const char *text, size_t bytes) {
  say_number("present", ink_edits_present(text, bytes));
  say_number("includes", ink_includes_marks(text, bytes));
  char *found = ink_instantiations(text, bytes);
  say("instances", found ? found : "", found ? strlen(found) : 0);
  free(found);
  char *changed = malloc(bytes + 1);
  memcpy(changed, text, bytes);
  changed[bytes] = 0;
  say_number("suffix", ink_suffix_patch(changed, bytes));
  say("is", changed, bytes);
  free(changed);
}

/* Drawn insertions: they come out again, and inside of a range they are bare. */
static void edits(const char *text, size_t bytes) {
  ink_edits all = {0};
  ink_bytes out = {0}, inside = {0};
  char *back = NULL;
  size_t back_bytes = 0;
  const uint32_t first = bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0, room = (uint32_t)bytes + 1 - first; /* behind a byte order mark */
  for (uint32_t n = below(9); n; n--) {
    const uint32_t at = first + below(room), depth = below(4), line = below(5) ? 0 : 1 + below(30);
    const bool closes = below(2);
    ink_edits_add(&all, at, closes, depth, line, "%s%u", closes ? "c" : "o", n);
    if (below(6) == 0)
      ink_edits_for_copy(&all);
  }
  if (below(5) == 0) {
    ink_bytes copy = {0};
    ink_bytes_text(&copy, "void copy() {\n}\n");
    ink_edits_add_copy(&all, first + below(room), &copy, 7);
  }
  const uint32_t from = first + below(room), to = from + below((uint32_t)(bytes - from) + 1);
  ink_edits_apply_inside(&all, text, from, to, &inside);
  say("inside", inside.at, inside.count);
  if (below(3) == 0)
    ink_edits_drop_inside(&all, from, to, below(2));
  ink_edits_apply(&all, text, bytes, below(3) ? "" : INK_PREAMBLE_OPEN "p\n" INK_PREAMBLE_CLOSE "#line 1\n", &out);
  say("edited", out.at, out.count);
  ink_error error = {0};
  const ink_status status = ink_edits_take_out(out.at ? out.at : "", out.count, false, &back, &back_bytes, &error);
  say_number("out again", (uint64_t)status);
  if (!status)
    say("is", back, back_bytes);
  free(back);
  ink_bytes_free(&out);
  ink_bytes_free(&inside);
  ink_edits_free(&all);
}

int main(int argc, char **argv) {
  uint64_t stripped = 0;
  expected_begin();
  for (unsigned line = 0; line < LINES; line++) {
    state = line * 7919 + 3;
    hash = UINT64_C(0xcbf29ce484222325);
    shown = argc > 2 && line == (unsigned)atoi(argv[2]);
    for (int i = 0; i < TEXTS; i++) {
      ink_bytes drawn = {0};
      draw_text(&drawn);
      char *text = malloc(drawn.count + !drawn.count); /* nothing lies behind it */
      if (drawn.count)
        memcpy(text, drawn.at, drawn.count);
      say("text", text, drawn.count);
      literals(text, drawn.count);
      strip_and_diff(text, drawn.count);
      facts(text, drawn.count);
      edits(text, drawn.count);
      char *out = NULL;
      size_t bytes;
      stripped += !ink_instrument_strip(text, drawn.count, &out, &bytes, NULL);
      free(out);
      free(text);
      ink_bytes_free(&drawn);
    }
    fprintf(expected_out, "%u %016" PRIx64 "\n", line, hash);
  }
  CHECK(stripped > LINES * TEXTS / 10 && stripped < LINES * TEXTS * 9 / 10, "%" PRIu64 " are whole", stripped);
  expected_end(argc > 1 ? argv[1] : "texts.txt");
  return check_result("texts");
}
