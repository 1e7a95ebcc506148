/* SPDX-License-Identifier: MIT */
/* Declares the record, the track and the buffer: the layout that kernels write and the host reads.
 *
 * C11, C++14, CUDA and NVRTC include this file, so it includes nothing that NVRTC lacks. All words are little-endian.
 * docs/format.md says how the same bytes lie in a capture file.
 *
 * A RECORD is one 64-bit head, with the payload words BEFORE it:
 *
 *     head = clock64 ^ tag << 48                       tag = kind << 13 | section id
 *
 * So a ring is decoded backwards from its newest word. If a head was overwritten, its payload is never taken for a
 * record. The low 48 bits of a head are the clock's. Its upper 16 bits are the tag XORed with the clock's upper 16.
 * This costs one machine instruction; inserting the tag would cost two. The host knows the full clock of the closing
 * and walks back from there. If a stamp's low 48 bits are above those of the stamp after it, the stamp lies before a
 * wrap, and its upper 16 bits are one less. Section ids run from 1 to 8191 within one section table.
 *
 *   kind          words (oldest first)                          meaning
 *   MARK          [head]                                        time since the level's last stamp
 *   BEGIN, END    [head]                                        a nested range
 *   INSTANT       [head]                                        a point in time
 *   ITER          [row: i64][head, section 0]                   the table row from here on
 *   ASYNC_BEGIN   [key: u64][head]                              a range that may overlap others
 *   ASYNC_END     [key: u64][head]
 *   ESCAPE        ...[escape word]                              by its code:
 *     TABLE       [any record above][escape: hash48]  that record's section belongs to the table of
 *                                               that hash, not to the table of the track's kernel
 *     VALUE_I64   [value][INSTANT head][escape: hash48]  a number at that instant (also _U64, _F64)
 *                 [value][BEGIN head][escape: hash48]    a range that has the number as its argument
 *     SUM         [count][total][min][max][INSTANT head][escape: hash48]  cycles, summed since the
 *                                               last row
 *     CLOCKS      [clock64 before][clock64 after][globaltimer][INSTANT head, section 0][escape: 0]
 *                                               a clock triple inside the track
 *     BLOCK       [key][ASYNC head][escape: hash48]  a range that another thread of the block, or
 *     GRID                                      of the grid, may end
 *     CLUSTER     [cluster][key][ASYNC head][escape: hash48]  or of the cluster with that linear index
 *
 * If a MARK has the section INK_SECTION_NONE, it is a PROF_MARK_ID whose index is not in its table.
 *
 * An escape word is (ESCAPE << 13 | code) << 48 | hash48. Its upper 16 bits are XORed like a head's, with the upper
 * 16 bits of the clock of the stamp that it follows. Codes are even. If a wrap lies between the escape word and the
 * next stamp, the reader's upper bits are one too high, and the code comes out odd. So the two cases cannot be
 * confused.
 *
 * @code{.c}
 * #include <inkmark/record.h>
 * #include <stdio.h>
 *
 * int main(void) {
 *   const uint64_t clock = 0x0001234500000007ull;
 *   const uint64_t head = clock ^ (uint64_t)INK_TAG(INK_KIND_MARK, 5) << INK_TAG_SHIFT; // what PROF_MARK stores
 *   const unsigned tag = (unsigned)((head ^ clock) >> INK_TAG_SHIFT);                   // with the clock it is known again
 *   printf("kind %u, section %u\n", tag >> 13, tag & 8191);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_RECORD_H
#define INKMARK_RECORD_H

#if !defined(__CUDACC_RTC__)
#include <stdint.h>
#else
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#endif

#ifdef __cplusplus
#define INK_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define INK_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#define INK_LAYOUT_VERSION 5u
#define INK_BUFFER_MAGIC 0x6b6e69u /* "ink" */
/* The symbols of a module that hold the buffer's address and the entries of warps. Their names end in INK_LAYOUT_VERSION: so files
 * of several layouts may be linked into one module, where a symbol of one name is one variable, and get no other's buffer. */
#define INK_BUFFER_SYMBOL ink_current_5
#define INK_BUFFER_SYMBOL_TEXT "ink_current_5"
#define INK_ENTRIES_SYMBOL ink_entries_5

#define INK_TAG_SHIFT 48 /* a head is clock64 ^ tag << 48: see above how the tag is found again */
#define INK_CLOCK_MASK 0xffffffffffffull
#define INK_SECTION_BITS 13
#define INK_SECTION_MASK 0x1fffu
#define INK_SECTION_MAX 8191u
#define INK_SECTION_NONE 8191u /* of PROF_MARK_ID alone, whose tables have fewer */
/* What a section table inside a module begins with: its number is INK_LAYOUT_VERSION (1: up to 4). */
#define INK_TABLE_TEXT_ANY "inkmark table "
#define INK_TABLE_TEXT_MAGIC INK_TABLE_TEXT_ANY "5"
#define INK_NAME_COMMA '\x1a' /* in the text of a section table: a comma that is part of a name */

enum ink_kind {
  INK_KIND_MARK = 0,
  INK_KIND_BEGIN = 1,
  INK_KIND_END = 2,
  INK_KIND_INSTANT = 3,
  INK_KIND_ITER = 4,
  INK_KIND_ASYNC_BEGIN = 5,
  INK_KIND_ASYNC_END = 6,
  INK_KIND_ESCAPE = 7
};

enum ink_escape {
  INK_ESCAPE_TABLE = 2,
  INK_ESCAPE_VALUE_I64 = 4,
  INK_ESCAPE_VALUE_U64 = 6,
  INK_ESCAPE_VALUE_F64 = 8,
  INK_ESCAPE_SUM = 10,
  INK_ESCAPE_CLOCKS = 12,
  INK_ESCAPE_BLOCK = 14,
  INK_ESCAPE_CLUSTER = 16,
  INK_ESCAPE_GRID = 18
};

/* What a keep-first ring holds where nothing was written; no head has this value (its escape code
 * is not one of the above). The last word written to a ring is always a head, so up to
 * INK_RECORD_WORDS_MAX - 1 of these at the end of a full keep-first ring are a record that did not
 * fit and was not stored in part. */
#define INK_UNWRITTEN 0xffffffffffffffffull
#define INK_RECORD_WORDS_MAX 6u

/* The one way to build a head or an escape word, for tests and tools; kernels do it in PTX. */
#define INK_HEAD(kind, section, clock64)                                                           \
  ((uint64_t)(clock64) ^ (uint64_t)INK_TAG(kind, section) << INK_TAG_SHIFT)
#define INK_ESCAPE_WORD(code, hash48, clock64)                                                     \
  ((uint64_t)(hash48) ^ ((uint64_t)(clock64) & ~INK_CLOCK_MASK) ^                                   \
   (uint64_t)INK_TAG(INK_KIND_ESCAPE, code) << INK_TAG_SHIFT)

#define INK_TAG(kind, section) ((uint32_t)(kind) << INK_SECTION_BITS | (uint32_t)(section))

/* A kernel's identity: hash48 of its section table, and the section that PROF_KERNEL named. */
#define INK_KERNEL_KEY(hash48, section) ((uint64_t)(hash48) << 16 | (uint64_t)(section))

/* hash48: FNV-1a (64 bits, offset basis 0xcbf29ce484222325, prime 0x100000001b3; public domain,
 * http://www.isthe.com/chongo/tech/comp/fnv/) over NAME ':' SECTIONS, folded as (h >> 48 ^ h) to 48
 * bits, where SECTIONS is the text of the comma-separated names as the preprocessor made it. */

/* ---- one recording thread's stream ------------------------------------------------------- */

enum ink_track_state { INK_TRACK_FREE = 0, INK_TRACK_OPEN = 1, INK_TRACK_CLOSED = 2 };

/* Of a stored track that is open. */
enum ink_track_flags {
  INK_TRACK_LOST_OLDER = 1, /* words older than the oldest kept may have been overwritten, how many is not known */
  INK_TRACK_CUT = 2,        /* its grid has ended: its thread left by `exit` in assembly, or by a trap */
  INK_TRACK_NEWEST = 4,     /* when it was last seen there was nothing newer than the newest word kept, of either
                             * ring; where none is kept, no mark had been executed */
};

/* A TRACK OF ROWS has a ring of rows in place of records. A row is 2^n words, of which the first two are
 *
 *     [row number: i64, INT64_MIN: none][clock64 of the row's beginning, stored last]
 *
 * and the rest are slots of 32 bits, each the lower half of the clock of a mark, 0 where none was passed: of section S
 * the slot S - 1 (counted behind the head's two words), then, of each of the first `ranges` sections, where a range of it
 * began and where it ended, and, where passes are checked, how many marks found their slot written. The row at the
 * opening is the first. Counts are in words: of a row one mark, the other words extra. */
#define INK_ROWS(words_log2, sections, ranges, checked)                                             \
  ((uint32_t)(words_log2) | (uint32_t)(sections) << 4 | (uint32_t)(ranges) << 10 | (uint32_t)(checked) << 16)
#define INK_ROWS_WORDS(rows) (1u << ((rows) & 15u))
#define INK_ROWS_SECTIONS(rows) ((rows) >> 4 & 63u)
#define INK_ROWS_RANGES(rows) ((rows) >> 10 & 63u)
#define INK_ROWS_CHECKED(rows) ((rows) >> 16 & 1u)
#define INK_ROWS_SLOTS(rows) (INK_ROWS_SECTIONS(rows) + 2 * INK_ROWS_RANGES(rows) + INK_ROWS_CHECKED(rows))
#define INK_ROWS_SLOTS_MAX 60u
#define INK_ROWS_WORDS_MAX 32u
#define INK_ROWS_BITS 17
#define INK_TRACK_ROWS_SHIFT 8 /* INK_ROWS in ink_track.flags, of a closed track too; 0: a track of records */
#define INK_TRACK_ROWS(track) ((track)->flags >> INK_TRACK_ROWS_SHIFT & ((1u << INK_ROWS_BITS) - 1))

/* A track as the capture file and the host have it; kernels write ink_device_track, which the drain
 * turns into this. The word counts are exact past 2^32: words executed, stored or not. marks executed
 * = words - extra, where extra counts the payload and escape words beyond one a mark. Of an OPEN track the
 * words are those known to have been executed, so at least that many; extra is 0, of the closing only
 * close_global_ns holds something: globaltimer when it was last seen, 0 where that is not known. */
typedef struct ink_track {
  uint32_t state;
  uint32_t kernel;         /* index into the buffer's kernel slots */
  uint64_t ticket;         /* the claim that opened it, unique in the buffer's life */
  uint64_t grid_id;        /* %gridid */
  uint32_t grid_dim[3];    /* blocks */
  uint32_t block_dim[3];   /* threads */
  uint32_t block_index[3];
  uint32_t thread;         /* linear index in the block; warp = thread / 32, lane = thread % 32 */
  uint32_t cluster_rank;   /* %cluster_ctarank; 0 below sm_90 */
  uint32_t sm_open, sm_close; /* %smid */
  uint32_t flags;          /* enum ink_track_flags, 0 of a closed one; and INK_TRACK_ROWS */
  uint64_t open_clock0, open_global_ns, open_clock1;    /* clock64, globaltimer, clock64 */
  uint64_t close_clock0, close_global_ns, close_clock1;
  uint64_t words, extra;         /* the ring of marks in the kernel's body */
  uint64_t aux_words, aux_extra; /* the ring of marks in the functions it calls */
  uint64_t role;           /* INK_KERNEL_KEY of the section that PROF_ROLE named; 0: none */
  uint64_t instance;       /* where the name of the function that opened it lies on the device; 0: none */
} ink_track;
INK_STATIC_ASSERT(sizeof(ink_track) == 176, "ink_track is part of the file format");

/* A track's state lies in device memory, apart from the header and the ring, which may lie in memory of the host: that of
 * track i of n is n - i states in front of the buffer. Opening changes `word` from 0, in one exchange, to the word of its
 * thread: odd, and above three bits which warp's it is, so that a mark in a function without a context knows the track for
 * its own; INK_STATE_NO_PLACE where such marks are not recorded. Closing sets it to 0 where the track can be claimed
 * again at once, else to INK_STATE_CLOSED, which waits for the host. */
#define INK_STATE_FREE 0u
#define INK_STATE_TAKEN 1u
#define INK_STATE_NO_PLACE 0xf8f8f8f9u /* taken; no SM has this number */
#define INK_STATE_CLOSED 2u
#define INK_STATE_BITS 3

typedef struct ink_device_state {
  uint64_t ring;           /* the address of the track's ring, */
  uint32_t mask;           /* and the buffer's ring_mask: the host sets both once */
  uint32_t word;
  /* Of an open track: what was executed in functions without a context, 8 bytes a word; else 0. */
  uint64_t aux_bytes, aux_extra;
} ink_device_state;
INK_STATIC_ASSERT(sizeof(ink_device_state) == 32, "ink_device_state is part of the layout");

/* What kernels write of a track, right in front of its ring, so that closing finds it from the cursor. Rows of 16
 * bytes, each one store: seven at opening, three at closing, and one more with INK_CLOSED_CALLED. What the host can
 * work out is left to it. */
typedef struct ink_device_track {
  uint64_t slot;           /* the buffer's address + the kernel slot's index times its size */
  uint64_t state_at;       /* of its state */
  uint64_t ticket;
  uint64_t grid_id;
  uint32_t grid_dim[3], sm_open;
  uint32_t block_dim[3], cluster_rank;
  uint32_t block_index[3], thread_index; /* x, y << 10 and z << 20 of the thread */
  uint64_t open_clock0, open_global_ns;
  uint64_t instance;       /* where the name of the function that opened it lies on the device: __PRETTY_FUNCTION__ */
  uint32_t name_rows;      /* INK_ROWS of a track of rows, 0 of one of records; above it INK_NAME_BYTES */
  uint32_t open_clock1;    /* the clock's lower half */
  uint64_t close_clock0, close_global_ns;
  uint64_t bytes, extra;   /* 8 bytes a word; as in ink_track */
  uint64_t aux_bytes, aux_extra;
  uint32_t close_clock1;   /* the clock's lower half */
  uint32_t sm_close;       /* and INK_CLOSED_CALLED; else the next two are not written */
  uint32_t closing;        /* in memory of the host: the state's word that closing leaves, written last; else not written */
  uint32_t reserved;
  uint64_t role;           /* INK_KERNEL_KEY of the section that PROF_ROLE named, */
  uint64_t role_ticket;    /* where this is the track's ticket; else none did */
} ink_device_track;
#define INK_CLOSED_CALLED 0x80000000u /* functions without a context executed marks, or closed tracks wait for the host */
/* Of a name, template arguments, final zero and all, the bytes that are told: of a longer one the beginning is known. */
#define INK_NAME_BYTES(name_rows) ((uint32_t)(name_rows) >> INK_ROWS_BITS)
#define INK_NAME_BYTES_MOST 32767u
INK_STATIC_ASSERT(sizeof(ink_device_track) == 192, "ink_device_track is part of the layout");

/* ---- one kernel of one section table ----------------------------------------------------- */

typedef struct ink_kernel_slot {
  uint64_t key;     /* INK_KERNEL_KEY, 0: empty */
  uint64_t enabled; /* 1: record, 0: given back (host writes); 1 in an empty slot */
  uint64_t missed;  /* recording threads that found no free track; of an empty slot, kernels without a slot: filtered out, or of no table */
  uint64_t closed;  /* closed tracks, times what their headers say in `slot`, modulo 2^64 */
  uint64_t extra;   /* sums over closed tracks, both rings */
  uint64_t bytes;
} ink_kernel_slot;
INK_STATIC_ASSERT(sizeof(ink_kernel_slot) == 48, "ink_kernel_slot is part of the layout");

/* Where the search for a key starts: known when the kernel is compiled. It goes on by a step, modulo the power-of-two slot
 * count, and ends at the key or at an empty slot (the host keeps at least one empty). A buffer with fewer slots than
 * places has those alone whose keys are in their first place. The step is odd, so that it comes to each slot, and that of the key's
 * table: where there are more keys than places, a step of 1 for all would pass thousands of others'. */
#define INK_KERNEL_PLACES 16384u
#define INK_KERNEL_FIRST(key) (((uint32_t)((key) >> 16) ^ (uint32_t)(key)) & (INK_KERNEL_PLACES - 1))
#define INK_KERNEL_STEP(key) ((uint32_t)((key) >> 30) | 1u)

/* ---- the buffer -------------------------------------------------------------------------- */

enum ink_buffer_flags {
  INK_BUFFER_ON = 1,         /* off: every kernel opens nothing */
  INK_BUFFER_PER_WARP = 2,   /* lane 0 of each warp records; else thread 0 of the block */
  INK_BUFFER_KEEP_FIRST = 4, /* stop when full, instead of keeping the newest */
  INK_BUFFER_SAMPLED = 8,    /* of a grid that needs more tracks than there are, some blocks record: see below */
  INK_BUFFER_SAMPLED_WARPS = 16 /* a block needs a track for each of its warps; else 2^INK_BUFFER_SAMPLED_LOG2 tracks */
};
#define INK_BUFFER_SAMPLED_LOG2(flags) ((uint32_t)(flags) >> 8 & 7u)

/* A SAMPLE. Each thread that opens a track works out how many tracks its grid needs. If that is more than there are, one
 * block of each S = 2^n in a row records, n the least with which they fit: that one whose linear index, bits reversed,
 * times INK_SAMPLE_FACTOR has its n upper bits 0. All odd factors choose one of each S. With this one no period of a grid
 * falls on them: in grids of 64 to 262,144 blocks, 2 to 2,048 wide, S of 2 to 32, the columns' shares differ 0.7 times as
 * much as chance would make them, 3.3 times at most. With the fields of ink_buffer, modulo 2^32:
 *
 *     warps = threads of the block * sample_warps >> 32                    one less than it needs, or 0
 *     more = (blocks of the grid * (warps + 1)) * sample_rate >> 32        n: as many bits as it has
 *
 * A buffer of an older library has zeros there: then more is 0. An older file's code records all blocks. */
#define INK_SAMPLE_FACTOR 0x8dcaa919u
#define INK_SAMPLE_WARPS 0x07ffffffu /* sample_warps where warps count: a thirty-second, rounded up, less 1 */
/* The three lowest bits of a ring's mask, which no record's offset has set. 0: keep first. */
#define INK_MASK_LOW 7u
#define INK_MASK_KEEP_LAST 7u /* keep the newest; a closed track can be claimed again at once */
#define INK_MASK_HELD 4u      /* keep the newest; a closed track waits until the host has set its state free */
#define INK_MASK_FLIGHT 2u    /* held; rings and headers are in memory of the host, which outlives the device's:
                               * they are there, for the host too, before the closing's last words are */

/* Lives in device memory, at an address whose lower half is not 0, with the tracks' states in front of it and the kernel
 * slots right behind it. The host writes it before a kernel can see it; afterwards kernels change only `claim`, the kernel
 * slots and the tracks, the host only warps to blocks_limit, the slots' `enabled` and what it wiped of tracks that are held.
 * Track i's ring is at rings_end - (n - i) * stride, aligned to its size; its header, an ink_device_track, in front of it;
 * the ring of called functions right behind it. Kernels read and write 16 bytes at once: everything is aligned to 16, and
 * fields that are read together stand together. */
typedef struct ink_buffer {
  uint32_t magic, version;
  uint32_t warps;           /* bit w: lane 0 of warp w of a block may record; 0 while off */
  uint32_t warps_chosen;    /* as warps, for threads that PROF_KERNEL_IF chose */
  uint32_t thread_mask;     /* of thread_index: threads that have one of these bits do not record, but as `warps` says;
                             * all ones: as `warps` says neither. Not for threads that PROF_KERNEL_IF chose */
  uint32_t blocks_limit;    /* in grids with so many blocks, modulo 2^32, or more kernels look at `warps`, last_block and the
                             * sample; 0: in each */
  uint32_t tracks_mask;     /* track count - 1; a power of two */
  uint32_t state_bytes;     /* sizeof(ink_device_state): of a constant compilers make two instructions */
  uint32_t kernel_mask;     /* kernel slots - 1 */
  uint32_t last_block;      /* linear blocks from here on share this one's bit; 0: that bit is set */
  uint32_t sample_warps;    /* INK_SAMPLE_WARPS; 0: a block counts for one */
  uint32_t sample_rate;     /* 2^32 / the blocks or warps that have room, less 1; 0: no block is left out */
  uint64_t block_bits_at;   /* uint32_t *: bit i % 32 of word i / 32 selects linear block i */
  uint32_t further;         /* 0: a thread whose track is in use has none; else it tries three more: the next one, the one an
                             * eighth of this further on, and one half of it behind that */
  uint32_t flags;           /* what the host made fields of; this and what stands behind `claim` kernels do not read */
  uint64_t claim;           /* the next ticket */
  uint64_t rings_end;       /* uint64_t *: behind the last track, which is why all are counted from there */
  uint32_t stride;          /* bytes from a track to the next */
  uint32_t ring_mask;       /* records per ring * 8 - 8 (bytes); a power of two, at least 4 records;
                             * and one of INK_MASK_ in the lowest bits. Both rings of a track have as many */
  uint64_t reserved;
} ink_buffer;
INK_STATIC_ASSERT(sizeof(ink_buffer) == 96, "ink_buffer is part of the layout");

/* What a kernel takes as an explicit argument: PROF_KERNEL(buf, Step). NULL records nothing. */
typedef struct prof_buffer {
  ink_buffer *device; /* device memory; owned by the session that made it */
} prof_buffer;

#endif
