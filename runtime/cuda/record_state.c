/* SPDX-License-Identifier: MIT */
#include "cuda/record_state.h"

#include "cuda/session_private.h"

#include <unistd.h>

ink_i_record_state ink_i_recorded;

bool ink_i_record_is_mine(void) { return ink_i_recorded.owner && getpid() == ink_i_recorded.owner; }

ink_session *ink_i_record_session(void) {
  return getpid() == ink_i_recorded.owner ? ink_i_recorded.session : NULL;
}

bool ink_i_record_is_inside(void) { return ink_i_recorded.made && ink_i_session_is_locked_here(ink_i_recorded.made); }
