/* SPDX-License-Identifier: MIT */
/* Which slice lies directly in which: of the body's this is known when a slice is made; a MARK that
 * ends around slices of called functions comes after them. */
#include "decode_events.h"

void ink_decoder_wait(ink_decoder *decoder, uint32_t section, uint64_t cycles) {
  if (!decoder->sink->want_inside || section == INK_SECTION_UNKNOWN)
    return;
  decoder->waiting_cycles += cycles;
  for (uint32_t i = 0; i < decoder->waiting_count; i++)
    if (decoder->waiting[i] == section)
      return;
  if (decoder->waiting_count < sizeof decoder->waiting / sizeof *decoder->waiting)
    decoder->waiting[decoder->waiting_count++] = section;
}

void ink_decoder_forget_told(ink_decoder *decoder, uint32_t kernel) {
  if (decoder->told_kernel == kernel)
    return;
  decoder->told_kernel = kernel;
  for (size_t i = 0; i < decoder->capture->sections.count; i++)
    decoder->told_of[i] = INK_PARENT_UNKNOWN;
}

ink_status ink_decoder_tell(ink_decoder *decoder, uint32_t parent) {
  ink_status status = INK_OK;
  for (uint32_t i = 0; i < decoder->waiting_count && status == INK_OK; i++) {
    uint32_t *told = &decoder->told_of[decoder->waiting[i]];
    if (parent == INK_PARENT_UNKNOWN || *told == parent)
      continue;
    *told = parent;
    *ink_decoder_next(decoder) = (ink_event){
        .type = INK_EVENT_INSIDE, .called = 1, .section = decoder->waiting[i], .parent = parent};
    status = ink_decoder_give(decoder);
  }
  if (status == INK_OK && decoder->waiting_cycles && parent < decoder->capture->sections.count) {
    *ink_decoder_next(decoder) =
        (ink_event){.type = INK_EVENT_INSIDE, .called = 1, .section = INK_SECTION_UNKNOWN, .parent = parent,
                    .u.value = decoder->waiting_cycles};
    status = ink_decoder_give(decoder);
  }
  decoder->waiting_count = 0;
  decoder->waiting_cycles = 0;
  return status;
}
