/* SPDX-License-Identifier: MIT */
/* What a Perfetto trace says once and later packets refer to: of each packet sequence its interned texts and
 * defaults, of the whole the tracks. */
#ifndef INK_PACKET_STATE_H
#define INK_PACKET_STATE_H

#include "id_map.h"
#include "packet_clocks.h"
#include "merge/read/text_table.h"

enum packet_interned {
  NAMES_OF_CATEGORIES,
  NAMES_OF_EVENTS,
  NAMES_OF_ARGUMENTS,
  NAMES_OF_VALUES,
  NAMES_OF_STAGES, /* of render stages and queues */
  INTERNED_KINDS
};

typedef struct packet_sequence {
  uint32_t id;
  bool lost; /* packets that it refers to are not in the file */
  unsigned clock;
  uint64_t track; /* of events that name none; 0: no such */
  id_map texts[INTERNED_KINDS];
  id_map compute; /* stages that compute */
} packet_sequence;

typedef struct packet_track {
  uint64_t uuid, parent; /* parent 0: none */
  uint32_t name;         /* of packet_state.texts; UINT32_MAX: none */
  bool implicit; /* no event names it: it is its sequence's */
} packet_track;

typedef struct packet_state {
  text_table texts;
  packet_sequence *sequences;
  packet_track *tracks;
  size_t sequence_count, sequence_room, track_count, track_room;
  id_map sequence_index, track_index;
} packet_state;

void packet_state_free(packet_state *s);
/* Valid until the next one is made. */
ink_status packet_state_sequence(packet_state *s, uint32_t id, packet_sequence **out);
void packet_state_clear(packet_sequence *sequence); /* its incremental state */
ink_status packet_state_intern(packet_state *s, packet_sequence *sequence, pb_message interned);
void packet_state_defaults(packet_sequence *sequence, pb_message defaults);
/* A text of that kind; NULL: it is not in the trace. */
const char *packet_state_text(const packet_state *s, const packet_sequence *sequence, enum packet_interned kind,
                              uint64_t iid);
ink_status packet_state_track(packet_state *s, uint64_t uuid, uint32_t *out);
/* The track of events of a sequence that name none. */
ink_status packet_state_implicit(packet_state *s, const packet_sequence *sequence, uint32_t *out);
ink_status packet_state_describe(packet_state *s, pb_message descriptor);
/* The outermost track above that one, which may be itself. */
uint32_t packet_state_root(const packet_state *s, uint32_t track);

#endif
