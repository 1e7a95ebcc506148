// SPDX-License-Identifier: MIT
// Every case in one program: compiled before and after, the output has to be the same.
#include "check.cuh"

#include "cases/again.cu"
#include "cases/braces.cu"
#include "cases/by_hand.cu"
#include "cases/contexts.cu"
#include "cases/control.cu"
#include "cases/dependent.cu"
#include "cases/expressions.cu"
#include "cases/extended.cu"
#include "cases/forms.cu"
#include "cases/holds.cu"
#include "cases/inner.cu"
#include "cases/instances.cu"
#include "cases/libraries.cu"
#include "cases/macros.cu"
#include "cases/numbered.cu"
#include "cases/pointers.cu"
#include "cases/prefixed.cu"
#include "cases/roles.cu"
#include "cases/scope.cu"
#include "cases/templates.cu"
#include "cases/text.cu"
#include "cases/unrolled.cu"
#include "cases/waiting.cu"
#include "cases/waits.cu"
#include "cases/warned.cu"

int main() {
  again::run();
  braces::run();
  by_hand::run();
  contexts::run();
  control::run();
  dependent::run();
  expressions::run();
  extended::run();
  forms::run();
  holds::run();
  inner::run();
  instances::run();
  libraries::run();
  macros::run();
  numbered::run();
  pointers::run();
  prefixed::run();
  roles::run();
  scope::run();
  templates::run();
  text::run();
  unrolled::run();
  waiting::run();
  waits::run();
  warned::run();
  printf("%s %d\n", strrchr(__FILE__, '/'), __LINE__);
}
