/* SPDX-License-Identifier: MIT */
/* The words that an option takes and the constants that they stand for, in one list: X("word", CONSTANT) in the order in
 * which --help prints them. A CLI_CHOICE option stores the index of its word, so it counts as the list does. */
#ifndef INKMARK_CLI_CHOICES_H
#define INKMARK_CLI_CHOICES_H

/* "text|json|csv", for the option's `value` */
#define CHOICE_WITH_BAR(word, constant) "|" word
#define CHOICE_WORDS(list) (&(list(CHOICE_WITH_BAR))[1])
/* For an enum, or an array of an enum's constants by index. */
#define CHOICE_CONSTANT(word, constant) constant,
/* For an array of the words. */
#define CHOICE_WORD(word, constant) word,
/* Of an enum that the library has: its constants count as the list does. */
#define CHOICE_INDEX(word, constant) CHOICE_INDEX_OF_##constant,
#define CHOICE_SAME(word, constant) \
  _Static_assert((int)CHOICE_INDEX_OF_##constant == (int)(constant), "the list of choices has another order");
#define CHOICE_CHECK(list) \
  enum { list(CHOICE_INDEX) }; \
  list(CHOICE_SAME)

/* Those that several commands have. */
#define DEVICE_CHOICES(X) X("auto", DEVICE_AUTO) X("gpu", DEVICE_GPU) X("sim", DEVICE_SIM)
enum cli_device { DEVICE_CHOICES(CHOICE_CONSTANT) };

#define GRANULARITY_CHOICES(X) X("block", GRANULARITY_BLOCK) X("warp", GRANULARITY_WARP)
enum cli_granularity { GRANULARITY_CHOICES(CHOICE_CONSTANT) };

#define FORMAT_CHOICES(X) X("text", FORMAT_TEXT) X("json", FORMAT_JSON)
enum cli_format { FORMAT_CHOICES(CHOICE_CONSTANT) };

#endif
