/* SPDX-License-Identifier: MIT */
/* What the guard of `inkmark nvcc` reads out of ptxas's words and PTX, and what it calls harm; how many marks a kernel
 * loses then. */
#include "../../cli/rewriter/nvcc_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

static void check(bool is, const char *what) {
  if (!is) {
    printf("FAILED: %s\n", what);
    failures++;
  }
}

static void name_is(const char *entry, const char *name) {
  char *got = counts_kernel_name(entry);
  if (!got || strcmp(got, name)) {
    printf("FAILED: the name of %s is %s\n", entry, got ? got : "none");
    failures++;
  }
  free(got);
}

/* ptxas's words about one kernel for one target */
static void say(char *to, size_t room, const char *target, unsigned stack, unsigned spilled, unsigned registers) {
  const size_t used = strlen(to);
  snprintf(to + used, room - used,
           "ptxas info    : Compiling entry function '_Z1kPf' for '%s'\n"
           "ptxas info    : Function properties for _Z1other\n"
           "    999 bytes stack frame, 999 bytes spill stores, 0 bytes spill loads\n"
           "ptxas info    : Function properties for _Z1kPf\n"
           "    %u bytes stack frame, %u bytes spill stores, 0 bytes spill loads\n"
           "ptxas info    : Used %u registers, used 0 barriers, 360 bytes cmem[0]\n",
           target, stack, spilled, registers);
}

static void read_ptx_text(counts *to, const char *text) {
  char folder[] = "/tmp/inkmark-counts-XXXXXX", path[64];
  check(mkdtemp(folder) != NULL, "a folder");
  snprintf(path, sizeof path, "%s/k.ptx", folder);
  FILE *file = fopen(path, "w");
  check(file && fputs(text, file) >= 0 && !fclose(file) && counts_read_ptx(to, folder), "PTX");
  remove(path);
  rmdir(folder);
}

static bool worse(const counts *plain, const char *words, const char *ptx, const char *why) {
  counts marked = {0};
  char said[200] = "";
  bool found = false;
  const bool fine = counts_read_words(&marked, words);
  if (ptx)
    read_ptx_text(&marked, ptx);
  for (size_t i = 0; i < marked.count && !found; i++)
    found = counts_judge(plain, &marked, &marked.items[i], said, sizeof said);
  check(fine, "reading");
  counts_free(&marked);
  if (found && !strstr(said, why))
    printf("FAILED: '%s' is said, not '%s'\n", said, why), failures++;
  return found;
}

static void judges(void) {
  counts plain = {0};
  char words[4000] = "";
  static const char bounded[] = ".visible .entry _Z1kPf(\n)\n.maxntid 512\n{\nret;\n}\n", free_form[] = ".visible .entry _Z1kPf(\n)\n{\nret;\n}\n";
  say(words, sizeof words, "sm_80", 8, 0, 60);
  say(words, sizeof words, "sm_90", 0, 0, 30);
  check(counts_read_words(&plain, words) && plain.count == 2 && plain.items[0].stack == 8 && plain.items[1].registers == 30,
        "two targets");
  check(!worse(&plain, words, NULL, ""), "the same");
  *words = 0, say(words, sizeof words, "sm_90", 0, 0, 64);
  check(!worse(&plain, words, free_form, ""), "64 registers");
  *words = 0, say(words, sizeof words, "sm_90", 0, 0, 65);
  check(worse(&plain, words, free_form, "65 registers"), "65 registers");
  check(!worse(&plain, words, bounded, ""), "65 registers of a kernel that says how many threads it has");
  static const struct {
    unsigned plain, marked;
    bool worse;
  } blocks[] = {{64, 72, true}, {65, 128, false}, {93, 120, false}, {128, 129, true}, {154, 168, false}, {154, 231, true}, {169, 255, false}, {200, 255, false}};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    counts one = {0};
    *words = 0, say(words, sizeof words, "sm_90", 0, 0, blocks[i].plain);
    check(counts_read_words(&one, words), "registers");
    *words = 0, say(words, sizeof words, "sm_90", 0, 0, blocks[i].marked);
    if (worse(&one, words, free_form, "threads of a block may have") != blocks[i].worse)
      printf("FAILED: %u registers, then %u\n", blocks[i].plain, blocks[i].marked), failures++;
    counts_free(&one);
  }
  *words = 0, say(words, sizeof words, "sm_90", 8, 0, 30);
  check(worse(&plain, words, NULL, "8 bytes of stack"), "stack of one target, that another had before");
  *words = 0, say(words, sizeof words, "sm_80", 8, 4, 30);
  check(worse(&plain, words, NULL, "spill 4 bytes"), "spills");
  strcpy(words, "ptxas info    : (C7519) warpgroup.arrive is injected in around line 112 by compiler in function '_Z1kPf'\n");
  check(!worse(&plain, words, NULL, ""), "a warning of a kernel that was not seen plain"); /* of none, there is nothing to compare */
  check(counts_read_words(&plain, words), "a warning");
  check(!worse(&plain, words, NULL, ""), "the same warning");
  strcat(words, "ptxas info    : (C7514) Potential Performance Loss: serialized in the function '_Z1kPf'\n");
  check(worse(&plain, words, NULL, "C7514"), "another warning");
  counts_free(&plain);
}

/* Registers that cost warps: more than 16 more, and an eighth of the warps or more; in whole blocks, where the PTX says how many
 * threads they have. */
static void crowds(void) {
  static const struct {
    const char *target;
    unsigned plain, marked;
    bool crowds;
    const char *threads; /* as the PTX says, or NULL */
  } cases[] = {{"sm_80", 31, 55, true, NULL}, {"sm_80", 8, 32, false, NULL}, {"sm_80", 31, 40, false, NULL},
               {"sm_80", 32, 48, false, NULL}, {"sm_80", 32, 49, true, NULL}, {"sm_75", 31, 63, false, NULL}, {"sm_75", 40, 96, true, NULL},
               {"sm_86", 20, 44, true, NULL}, {"sm_120", 20, 40, false, NULL}, {"sm_80", 20, 37, true, NULL}, {"sm_80", 20, 36, false, NULL},
               {"sm_120", 32, 56, true, NULL}, {"sm_100", 20, 44, true, NULL}, {"sm_80", 200, 217, false, NULL}, {"sm_80", 93, 114, true, NULL},
               {"sm_80", 93, 130, true, NULL}, {"sm_80", 31, 55, true, ".maxntid 512"}, {"sm_80", 93, 114, false, ".reqntid 256, 1, 1"},
               {"sm_90a", 96, 128, false, ".maxntid 512, 1, 1"}, {"sm_90a", 105, 148, true, ".maxntid 32, 2, 2"},
               {"sm_90a", 105, 148, false, ".maxntid 384"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char words[4000] = "", why[200], ptx[200] = "";
    counts plain = {0}, marked = {0};
    say(words, sizeof words, cases[i].target, 0, 0, cases[i].plain);
    check(counts_read_words(&plain, words), "plain");
    *words = 0, say(words, sizeof words, cases[i].target, 0, 0, cases[i].marked);
    check(counts_read_words(&marked, words), "marked");
    if (cases[i].threads) {
      snprintf(ptx, sizeof ptx, ".visible .entry _Z1kPf(\n)\n%s\n{\nret;\n}\n", cases[i].threads);
      read_ptx_text(&marked, ptx);
    }
    if (counts_crowds(&plain, &marked, &marked.items[0], why, sizeof why) != cases[i].crowds)
      printf("FAILED: %s, %u registers, then %u%s%s\n", cases[i].target, cases[i].plain, cases[i].marked, cases[i].threads ? " " : "",
             cases[i].threads ? cases[i].threads : ""),
          failures++;
    counts_free(&plain);
    counts_free(&marked);
  }
}

/* The most registers with which a kernel is not worse, where nothing else is wrong with it. */
static void bounds(void) {
  static const struct {
    const char *target;
    unsigned plain, marked, spilled, spilled_marked;
    const char *directive; /* of the plain PTX */
    unsigned most;
  } cases[] = {{"sm_80", 32, 64, 0, 0, "", 48},                /* 16 more */
               {"sm_80", 8, 40, 0, 0, "", 32},                 /* costs no warps */
               {"sm_80", 20, 37, 0, 0, "", 36},                /* one too many */
               {"sm_80", 93, 114, 0, 0, "", 109},              /* 18 of 21 warps from 105 on, but 16 more may be */
               {"sm_80", 126, 141, 0, 0, "", 128},             /* 512 threads */
               {"sm_80", 60, 76, 0, 0, "", 64},                /* 1,024 threads */
               {"sm_120", 40, 72, 0, 0, "", 56},               /* 48 warps, 36 with 56 registers */
               {"sm_80", 32, 64, 0, 0, ".maxntid 128", 0},     /* launch bounds, beside which no other bound may stand */
               {"sm_80", 32, 64, 0, 0, ".maxnreg 80", 0},
               {"sm_80", 32, 64, 0, 0, ".minnctapersm 2", 0},
               {"sm_80", 32, 64, 4, 4, "", 0},                 /* spills as it is */
               {"sm_80", 32, 64, 0, 4, "", 0}};                /* something else is wrong */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char words[4000] = "", ptx[200];
    counts plain = {0}, marked = {0};
    say(words, sizeof words, cases[i].target, 0, cases[i].spilled, cases[i].plain);
    check(counts_read_words(&plain, words), "plain");
    *words = 0, say(words, sizeof words, cases[i].target, 0, cases[i].spilled_marked, cases[i].marked);
    check(counts_read_words(&marked, words), "marked");
    snprintf(ptx, sizeof ptx, ".visible .entry _Z1kPf(\n)\n%s\n{\nret;\n}\n", cases[i].directive);
    read_ptx_text(&plain, ptx);
    read_ptx_text(&marked, ptx);
    const unsigned most = counts_most_registers(&plain, &marked, &marked.items[0]);
    if (most != cases[i].most)
      printf("FAILED: bound %zu: %u registers, not %u\n", i, most, cases[i].most), failures++;
    counts_free(&plain);
    counts_free(&marked);
  }
}

/* Instructions of PTX, not lines: inline assembly brings comments, braces and declarations. */
static void grows(void) {
  static const char asm_block[] = "// begin inline asm\n{\n.reg .pred p;\nadd.u32 %r1, %r2, 1;\n\n}\n// end inline asm\n";
  char few[16000] = ".visible .entry _Z1kPf(\n)\n{\n", many[40000];
  counts plain = {0};
  strcpy(many, few);
  for (int i = 0; i < 100; i++)
    strcat(few, "@%p1 add.u32 %r1, %r2, 1;\n");
  for (int i = 0; i < 701; i++) {
    strcat(many, i < 300 ? asm_block : "add.u32 %r1, %r2, 1;\n");
    if (i == 699) {
      char fine[40000];
      snprintf(fine, sizeof fine, "%s}\n", many);
      strcat(few, "}\n");
      read_ptx_text(&plain, few);
      check(!worse(&plain, "", fine, ""), "three times and 400");
    }
  }
  strcat(many, "}\n");
  check(worse(&plain, "", many, "its PTX grows from 100 to 701 instructions"), "more than three times and 400");
  counts_free(&plain);
}

/* What a kernel comes down to that is as bad with whatever marks it has: level by level, no more than `rounds` are measured. */
static void come_down(const char *what, unsigned spilled, unsigned spilled_marked, unsigned registers, unsigned registers_marked,
                      const ink_guard_level *levels) {
  char words[4000] = "", said[4000] = "";
  counts plain = {0}, marked = {0};
  guard_verdicts verdicts = {0};
  bool settled = false, more = true;
  say(words, sizeof words, "sm_80", 0, spilled, registers);
  say(said, sizeof said, "sm_80", 0, spilled_marked, registers_marked);
  check(counts_read_words(&plain, words) && counts_read_words(&marked, said), what);
  for (int round = 0; more; round++) {
    more = guard_raise(&plain, &marked, round == 2 ? GUARD_NO_MORE : GUARD_STEP, &verdicts, &settled);
    const ink_guard_level level = verdicts.count ? verdicts.items[0].level : INK_GUARD_ALL;
    if (level != levels[more ? round : round - 1] || settled != (more ? level == INK_GUARD_NONE : true))
      printf("FAILED: %s: level %d in round %d\n", what, (int)level, round), failures++;
    more = more && !settled;
  }
  counts_free(&plain);
  counts_free(&marked);
  guard_free(&verdicts);
}

/* With fewer registers, then with fewer marks: what each round finds of a kernel of 32 registers. */
static void fewer_registers(void) {
  static const struct {
    const char *what;
    struct {
      unsigned registers, spilled;
      ink_guard_level level; /* it has then */
      unsigned most;
    } rounds[3];
  } cases[] = {
      {"some too many", {{56, 0, INK_GUARD_ALL, 48}, {48, 640, INK_GUARD_OUTSIDE, 48}, {48, 4, INK_GUARD_NONE, 48}}},
      {"a bound that does nothing", {{60, 0, INK_GUARD_ALL, 48}, {60, 0, INK_GUARD_OUTSIDE, 48}, {60, 0, INK_GUARD_NONE, 48}}},
      {"far too many", {{61, 0, INK_GUARD_OUTSIDE, 48}, {48, 4, INK_GUARD_APART, 48}, {48, 4, INK_GUARD_NONE, 48}}},
      {"spills, then too many", {{61, 4, INK_GUARD_OUTSIDE, 0}, {50, 0, INK_GUARD_APART, 48}, {48, 4, INK_GUARD_NONE, 48}}}};
  static const char ptx[] = ".visible .entry _Z1kPf(\n)\n{\nret;\n}\n";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char words[4000] = "", *text;
    counts plain = {0};
    guard_verdicts verdicts = {0};
    bool settled = false;
    say(words, sizeof words, "sm_80", 0, 0, 32);
    check(counts_read_words(&plain, words), "plain");
    read_ptx_text(&plain, ptx);
    for (int round = 0; round < 3; round++) {
      counts marked = {0};
      *words = 0, say(words, sizeof words, "sm_80", 0, cases[i].rounds[round].spilled, cases[i].rounds[round].registers);
      check(counts_read_words(&marked, words), "marked");
      read_ptx_text(&marked, ptx);
      check(guard_raise(&plain, &marked, round == 2 ? GUARD_NO_MORE : GUARD_STEP, &verdicts, &settled) && settled == (round == 2), cases[i].what);
      if (verdicts.count != 1 || verdicts.items[0].level != cases[i].rounds[round].level ||
          verdicts.items[0].registers != cases[i].rounds[round].most)
        printf("FAILED: %s: level %d, %u registers in round %d\n", cases[i].what, verdicts.count ? (int)verdicts.items[0].level : -1,
               verdicts.count ? verdicts.items[0].registers : 0, round),
            failures++;
      counts_free(&marked);
    }
    text = guard_text(&verdicts, true);
    check(text && strstr(text, "'k' has no marks: it would"), "no bound is said where no mark is");
    free(text);
    verdicts.items[0].level = INK_GUARD_ALL;
    text = guard_text(&verdicts, true);
    check(text && strstr(text, "'k' has all marks, and 48 registers at most: it would"), "the bound is said");
    free(text);
    counts_free(&plain);
    guard_free(&verdicts);
  }
}

static void levels(void) {
  come_down("spills with marks", 0, 8, 64, 64, (const ink_guard_level[]){INK_GUARD_OUTSIDE, INK_GUARD_APART, INK_GUARD_NONE});
  come_down("spills without them", 8, 16, 64, 64, (const ink_guard_level[]){INK_GUARD_APART, INK_GUARD_TRACK, INK_GUARD_NONE});
  come_down("crowds", 0, 0, 32, 64, (const ink_guard_level[]){INK_GUARD_OUTSIDE, INK_GUARD_APART});
  char words[4000] = "", said[4000] = "";
  counts plain = {0}, marked = {0};
  guard_verdicts verdicts = {0};
  bool settled;
  say(words, sizeof words, "sm_80", 0, 0, 64);
  say(said, sizeof said, "sm_80", 0, 8, 64);
  check(counts_read_words(&plain, words) && counts_read_words(&marked, said) && guard_raise(&plain, &marked, GUARD_NO_MORE, &verdicts, &settled) &&
            settled && verdicts.items[0].level == INK_GUARD_NONE,
        "in the last round no level is left that was not measured");
  counts_free(&plain);
  counts_free(&marked);
  guard_free(&verdicts);
}

/* What is tried last, and what is compiled beside the kernels that were raised. */
static void last_and_alone(void) {
  static const struct {
    unsigned registers;
    ink_guard_level before, after;
    unsigned most; /* registers that it may take before; 0: no bound */
  } cases[] = {{32, INK_GUARD_ALL, INK_GUARD_APART, 0}, {50, INK_GUARD_OUTSIDE, INK_GUARD_APART, 0}, {32, INK_GUARD_APART, INK_GUARD_TRACK, 0},
               {32, INK_GUARD_OUTSIDE, INK_GUARD_TRACK, 48}, {32, INK_GUARD_TRACK, INK_GUARD_NONE, 0}, {51, INK_GUARD_ALL, INK_GUARD_NONE, 0}}; /* 1,024 threads may have 64 registers, a track takes 14 */
  static const char ptx[] = ".visible .entry _Z1kPf(\n)\n{\nret;\n}\n.visible .entry _Z5otherPf(\n)\n{\nadd;\nret;\n}\n";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char words[4000] = "", said[4000] = "";
    counts plain = {0}, marked = {0};
    guard_verdicts verdicts = {0};
    bool settled;
    say(words, sizeof words, "sm_80", 0, 0, cases[i].registers);
    say(said, sizeof said, "sm_80", 0, 8, cases[i].registers);
    check(counts_read_words(&plain, words) && counts_read_words(&marked, said), "words");
    read_ptx_text(&plain, ptx);
    read_ptx_text(&marked, ptx);
    check(cases[i].before == INK_GUARD_ALL || guard_raise_to(&verdicts, "k", cases[i].before, cases[i].most, "before"), "before");
    check(guard_raise(&plain, &marked, GUARD_LAST, &verdicts, &settled) && verdicts.items[0].level == cases[i].after &&
              settled == (cases[i].after == INK_GUARD_NONE),
          "what is tried last");
    check(guard_raised_few(&plain, &marked, &verdicts), "one of three instructions");
    check(guard_skip(&marked, &verdicts) && verdicts.count == 2 && !verdicts.items[0].skipped && verdicts.items[1].skipped &&
              !strcmp(verdicts.items[1].kernel, "other") && verdicts.items[1].level == INK_GUARD_ALL,
          "the other is skipped");
    guard_skip_none(&verdicts);
    check(verdicts.count == 1 && !verdicts.items[0].skipped && !strcmp(verdicts.items[0].kernel, "k"), "none is skipped any more");
    check(!guard_raise(&plain, &plain, GUARD_STEP, &verdicts, &settled) && verdicts.items[0].skipped, "what is no worse is skipped");
    check(guard_raise_to(&verdicts, "other", INK_GUARD_OUTSIDE, 0, "") && !guard_raised_few(&plain, &marked, &verdicts),
          "two of three instructions");
    counts_free(&plain);
    counts_free(&marked);
    guard_free(&verdicts);
  }
}

/* A kernel of an unnamed namespace is one, whatever digits nvcc gave it; what only looks like one keeps its name. */
static void unnamed(void) {
  static const struct {
    const char *said, *entry;
  } cases[] = {
      {"_ZN35_GLOBAL__N__e3e48c01_4_k_cu__Z2goPf1kEPfi", "_ZN12_GLOBAL__N_11kEPfi"},
      {"_ZN35_GLOBAL__N__00000000_4_k_cu__Z2goPf1kEPfi", "_ZN12_GLOBAL__N_11kEPfi"},
      {"_ZN38_GLOBAL__N__00000000_4_k_cu__Z5otherPf1kEPfi", "_ZN12_GLOBAL__N_11kEPfi"},
      {"_ZN2at4sm9035_GLOBAL__N__e3e48c01_4_k_cu__Z2goPf1kIfEEvPT_", "_ZN2at4sm9012_GLOBAL__N_11kIfEEvPT_"},
      {"_ZN106_GLOBAL__N__e3e48c01_74_"
       "a_file_whose_name_is_long_enough_for_a_length_of_three_digits_in_it_all_cu__Z2goPf1kEv",
       "_ZN12_GLOBAL__N_11kEv"},
      {"_ZN35_GLOBAL__N__e3e48c01_4_k_cu__Z2goPf1kEN35_GLOBAL__N__e3e48c01_4_k_cu__Z2goPf1sE", "_ZN12_GLOBAL__N_11kEN12_GLOBAL__N_11sE"},
      {"_ZN12_GLOBAL__N_11kEPfi", "_ZN12_GLOBAL__N_11kEPfi"},
      {"_ZN99_GLOBAL__N__e3e48c01_4_k_cu__Z2goPf1kEPfi", "_ZN99_GLOBAL__N__e3e48c01_4_k_cu__Z2goPf1kEPfi"},
      {"_ZN35_GLOBAL__N__e3e48_4_k_cu__Z2goPf1kEPfi", "_ZN35_GLOBAL__N__e3e48_4_k_cu__Z2goPf1kEPfi"},
      {"_Z_GLOBAL__N__e3e48c01_4_k_cu_x", "_Z_GLOBAL__N__e3e48c01_4_k_cu_x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char words[600];
    counts read = {0};
    snprintf(words, sizeof words,
             "ptxas info    : Compiling entry function '%s' for 'sm_80'\nptxas info    : Function properties for %s\n"
             "    8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\nptxas info    : Used 32 registers\n",
             cases[i].said, cases[i].said);
    check(counts_read_words(&read, words) && read.count == 1 && !strcmp(read.items[0].entry, cases[i].entry) && read.items[0].spilled == 12 &&
              read.items[0].registers == 32,
          cases[i].said);
    if (read.count && strcmp(read.items[0].entry, cases[i].entry))
      printf("  %s\n", read.items[0].entry);
    counts_free(&read);
  }
}

int main(void) {
  unnamed();
  bounds();
  last_and_alone();
  fewer_registers();
  levels();
  grows();
  crowds();
  name_is("_Z6reduceILi16EEvPfS0_", "reduce");
  name_is("_ZN3own4tileILi8EEEvPKfPfi", "tile");
  name_is("_ZN12_GLOBAL__N_11kEPf", "k");
  name_is("_ZL6hiddenPi", "hidden");
  name_is("plain_c", "plain_c");
  name_is("_Z", "_Z");
  name_is("_Z99short", "_Z99short");
  counts refused = {0};
  check(counts_read_words(&refused, "ptxas error   : Entry function '_Z4fullPf' uses too much shared data (0xd000 bytes)\n") &&
            refused.failed && !strcmp(refused.failed, "_Z4fullPf") && strstr(refused.words, "too much shared data"),
        "what ptxas refuses");
  counts_free(&refused);
  judges();
  return failures != 0;
}
