/* SPDX-License-Identifier: MIT */
/* nvcc_values OPTION...: prints those after which `inkmark nvcc` takes the next word for a file. */
#include "../../cli/message.h"
#include "../../cli/rewriter/nvcc_args.h"

#include <stdio.h>

/* Nothing that is asked here says anything. */
int message_failure(const ink_error *error) { (void)error; return 1; }

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!nvcc_takes_value(argv[i]))
      puts(argv[i]);
  return 0;
}
