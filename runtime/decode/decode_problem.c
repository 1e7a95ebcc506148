/* SPDX-License-Identifier: MIT */
/* What someone who wrote the marks can do about each kind of problem that the decoder finds. */
#include "inkmark/decode.h"

const char *ink_problem_advice(enum ink_problem_kind kind) {
  switch (kind) {
  case INK_PROBLEM_NEVER_ENDED:
    return "PROF_SCOPE ends by itself on every way out; PROF_BEGIN needs a PROF_END before each "
           "return, "
           "break and continue";
  case INK_PROBLEM_NEVER_BEGUN:
    return "the thread that records came past a PROF_END but not past its PROF_BEGIN: put both "
           "under the "
           "same condition, or write PROF_SCOPE";
  case INK_PROBLEM_WRONG_END:
    return "name the same section in PROF_BEGIN and in its PROF_END, or write PROF_SCOPE";
  case INK_PROBLEM_STILL_OPEN:
    return "end ranges in the reverse order of their beginnings, as PROF_SCOPE does; "
           "PROF_ASYNC_BEGIN and "
           "PROF_ASYNC_END are for ranges that overlap";
  case INK_PROBLEM_ACROSS:
    return "end the range before its function returns; PROF_ASYNC_BEGIN and PROF_ASYNC_END are for "
           "ranges "
           "that go on";
  case INK_PROBLEM_ASYNC_NEVER_ENDED:
  case INK_PROBLEM_ASYNC_NEVER_BEGUN:
    return "give PROF_ASYNC_BEGIN and PROF_ASYNC_END the same section and key, in the same "
           "recording thread";
  case INK_PROBLEM_SHARED_NEVER_ENDED:
  case INK_PROBLEM_SHARED_NEVER_BEGUN:
    return "both threads must record: choose them by PROF_KERNEL_IF, or record with --granularity warp; where blocks "
           "were left out, with more --tracks, and with --blocks all; give the begin and its end the same section, key and scope";
  case INK_PROBLEM_BACKWARDS:
    return "two SMs' clocks are not known better than that: the time between the two is 0 within the bound";
  case INK_PROBLEM_OUT_OF_RANGE:
    return "PROF_MARK_ID counts the table's sections from 0: check the index before it";
  case INK_PROBLEM_LONG_ROW:
    return "take rows more often, or record such a kernel with PROF_KERNEL";
  case INK_PROBLEM_PASSED_AGAIN:
    return "give each pass a section of its own, or record such a kernel with PROF_KERNEL";
  case INK_PROBLEM_NO_TABLE:
    return "the file with that PROF_SECTIONS did not hand it over at its start: link it into the "
           "program "
           "like any other CUDA file, or load its library with dlopen";
  case INK_PROBLEM_NO_SECTION:
    return "mark only names of the PROF_SECTIONS list, no numbers turned into them";
  case INK_PROBLEM_CLOCK:
  case INK_PROBLEM_COUNTS:
    return "something else wrote to the marks' memory, or the file is damaged: compute-sanitizer "
           "finds "
           "stores out of bounds";
  case INK_PROBLEM_MOVED:
    return "the block was preempted, by a debugger or another process that shares the GPU";
  }
  return "";
}
