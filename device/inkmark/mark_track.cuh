// SPDX-License-Identifier: MIT
// Private: opening and closing a track. The layout is record.h's.
#ifndef INKMARK_MARK_TRACK_CUH
#define INKMARK_MARK_TRACK_CUH

#include "inkmark/mark_entry.cuh"

namespace ink_i {

// The name of the function that opens a track, template arguments and all, where it lies on the device. Bytes: with
// the final zero; in the upper half INK_ROWS of a track of rows.
template <u64 Bytes> struct instance {
  const char *text;
};

#if defined(__CUDA_ARCH__)

// ---- opening and closing -----------------------------------------------------------------------

// Opening in PTX: of its two loops, and of what leaves them, compilers make half as many instructions again
// from C++. What only a thread that may record comes to. The operands: 0 to 2 the cursor, 3 the buffer, 4 the
// kernel's key, 5 where the search for it starts, 6 the entries of warps, else constants of record.h.

// The cursor, of registers that ptxas takes for no part of the ring's address: else it copies the address's upper half for each
// mark and keeps three registers for it. The lop3 is a move that it does not see through: no SM's number has the bit. On sm_75, and
// for the mask with -rdc=true on sm_90 and newer, a load does it, in front of the clocks: the first mark does not wait for it.
#if __CUDA_ARCH__ < 800
#define INK_I_CURSOR_LOAD "ld.global.v2.u32 {%0, %1}, [_state];\n\t"
#define INK_I_CURSOR "lop3.b32 %2, _sm, 0x80000000, _mask, 0xEA;\n\t"
#else
#if defined(__CUDACC_RDC__) && __CUDA_ARCH__ >= 900
#define INK_I_CURSOR_LOAD "ld.global.u32 %2, [_state+8];\n\t"
#define INK_I_MASK ""
#else
#define INK_I_CURSOR_LOAD ""
#define INK_I_MASK "mov.u32 %2, _mask;\n\t"
#endif
#define INK_I_CURSOR                                        \
  INK_I_MASK                                                \
  "mov.b64 {%0, _a}, _ring;\n\t"                            \
  "lop3.b32 %1, _sm, 0x80000000, _a, 0xEA;\n\t"
#endif

// What most threads come by is one piece without a branch that is taken; the rest stands behind branches that most threads
// do not take, or that leave. The first part: a thread that may record (thread & thread_mask is 0), of a grid with so few
// blocks that no block is left out, and the kernel's slot in its first place. `enabled` is 1, and no compiler knows: around
// the addition of a value that is the same in all threads ptxas builds a warp-wide aggregate, 15 instructions for what one
// thread does. Where it is 0 the key is another one.
#define INK_I_OPEN_USUAL(bra, thread_mask)                                                     \
  "ld.global.v4.u32 {_thread_mask, _blocks_limit, _tracks_mask, _state_bytes}, [%3+16];\n\t"   \
  thread_mask                                                                                  \
  "add.u64 _at, %3, %5;\n\t"                                                                   \
  "ld.global.v2.u64 {_found, _enabled}, [_at+%8];\n\t"                                         \
  "mov.u32 _a, %%tid.x; mov.u32 _b, %%tid.y; mov.u32 _c, %%tid.z;\n\t"                         \
  "mad.lo.u32 _thread, _b, 1024, _a;\n\t"                                                      \
  "mad.lo.u32 _thread, _c, 1048576, _thread;\n\t"                                              \
  "mov.u32 _grid_x, %%nctaid.x; mov.u32 _grid_y, %%nctaid.y; mov.u32 _grid_z, %%nctaid.z;\n\t" \
  "mul.lo.u32 _blocks, _grid_x, _grid_y;\n\t"                                                  \
  "mul.lo.u32 _blocks, _blocks, _grid_z;\n\t"                                                  \
  "cvt.u32.u64 _a, _enabled;\n\t"                                                              \
  "mul.wide.u32 _at, _a, %17;\n\t"                                                             \
  "add.u64 _slot, _at, %3;\n\t"                                                                \
  "and.b32 _c, _thread, _thread_mask;\n\t"                                                     \
  "setp.ne.u32 _again, _c, 0;\n\t"                                                             \
  "setp.ge.or.u32 _again, _blocks, _blocks_limit, _again;\n\t"                                 \
  "setp.ne.or.u64 _again, _found, %4, _again;\n\t"                                             \
  "@!_again " bra " _claim;\n\t"

// May this warp record? Where blocks are filtered, or a block needs several tracks of a sampled buffer, or the grid has too
// many: is this block out? record.h says which blocks are a sample. And the search for the kernel's slot. Where no table named
// it, it ends at an empty slot, whose `missed` counts it. Lower half of a key: never 0, it ends in a section's id.
#define INK_I_OPEN_CHOOSE(bra, warps)                                                          \
  "setp.eq.u32 _again, _thread_mask, 0xffffffff;\n\t"                                          \
  "setp.ne.and.u32 _again, _c, 0, _again;\n\t"                                                 \
  "@_again " bra " _none;\n\t"                                                                 \
  "ld.global.v4.u32 {_slots_mask, _last_block, _block_warps, _rate}, [%3+32];\n\t"             \
  warps                                                                                        \
  INK_I_LINEAR_THREAD                                                                          \
  "shr.u32 _a, _linear, 5;\n\t"                                                                \
  "shr.u32 _warps, _warps, _a;\n\t"                                                            \
  "ld.global.u64 _bits_at, [%3+48];\n\t"                                                       \
  "mov.u32 _grid_x, %%nctaid.x; mov.u32 _grid_y, %%nctaid.y;\n\t"                              \
  "mov.u32 _block_x, %%ctaid.x; mov.u32 _block_y, %%ctaid.y; mov.u32 _block_z, %%ctaid.z;\n\t" \
  "mad.lo.u32 _a, _block_z, _grid_y, _block_y;\n\t"                                            \
  "mad.lo.u32 _linear, _a, _grid_x, _block_x;\n\t"                                             \
  "min.u32 _last_block, _last_block, _linear;\n\t"                                             \
  "shr.u32 _a, _last_block, 5;\n\t"                                                            \
  "mul.wide.u32 _at, _a, 4;\n\t"                                                               \
  "add.u64 _at, _at, _bits_at;\n\t"                                                            \
  "ld.global.u32 _bits, [_at];\n\t"                                                            \
  "shf.r.wrap.b32 _bits, _bits, _bits, _last_block;\n\t"                                       \
  "and.b32 _warps, _warps, _bits;\n\t"                                                         \
  "mov.u32 _b, %%ntid.z;\n\t"                                                                  \
  "mul.lo.u32 _b, _ntid_x, _b;\n\t"                                                            \
  "mul.lo.u32 _b, _ntid_y, _b;\n\t"                                                            \
  "mul.hi.u32 _b, _b, _block_warps;\n\t"                                                       \
  "mad.lo.u32 _c, _b, _blocks, _blocks;\n\t"                                                   \
  "mul.hi.u32 _c, _c, _rate;\n\t"                                                              \
  "bfind.shiftamt.u32 _c, _c;\n\t"                                                             \
  "brev.b32 _b, _linear;\n\t"                                                                  \
  "mul.lo.u32 _b, _b, %16;\n\t"                                                                \
  "shr.u32 _b, _b, _c;\n\t"                                                                    \
  "setp.ne.u32 _again, _b, 0;\n\t"                                                             \
  "@_again " bra " _none;\n\t"                                                                 \
  "mov.u32 _b, %18;\n\t"                                                                       \
  "_find:\n\t"                                                                                 \
  "mul.wide.u32 _at, _b, %7;\n\t"                                                              \
  "add.u64 _slot, _at, %3;\n\t"                                                                \
  "ld.global.v2.u64 {_found, _enabled}, [_slot+%8];\n\t"                                       \
  "setp.eq.u64 _refused, _found, %4;\n\t"                                                      \
  "@_refused " bra " _there;\n\t"                                                              \
  "add.u32 _b, _b, %19;\n\t"                                                                   \
  "and.b32 _b, _b, _slots_mask;\n\t"                                                           \
  "cvt.u32.u64 _c, _found;\n\t"                                                                \
  "setp.ne.u32 _again, _c, 0;\n\t"                                                             \
  "@_again " bra " _find;\n\t"                                                                 \
  "_there:\n\t"                                                                                \
  "cvt.u32.u64 _c, _enabled;\n\t"                                                              \
  "and.b32 _c, _c, _warps;\n\t"                                                                \
  "setp.eq.u32 _again, _c, 0;\n\t"                                                             \
  "@_again " bra " _none;\n\t"                                                                 \
  "@_refused " bra " _claim;\n\t"                                                              \
  "bra.uni _missed;\n\t"
#define INK_I_LINEAR_THREAD                                                                    \
  "mov.u32 _ntid_x, %%ntid.x; mov.u32 _ntid_y, %%ntid.y;\n\t"                                  \
  "mov.u32 _a, %%tid.x; mov.u32 _b, %%tid.y; mov.u32 _c, %%tid.z;\n\t"                         \
  "mad.lo.u32 _b, _c, _ntid_y, _b;\n\t"                                                        \
  "mad.lo.u32 _linear, _b, _ntid_x, _a;\n\t"

// A track that can be claimed. Tracks are counted from the end, so that their states need no address of their own: b is the
// ticket's lower bits with ones above them. The state says where the ring is.
#define INK_I_CLAIM                                                      \
  "atom.global.add.u64 _ticket, [%3+64], _enabled;\n\t"                  \
  "mov.b64 {_b, _c}, _ticket;\n\t"                                       \
  "lop3.b32 _b, _b, _tracks_mask, 0, 0xF3;\n\t"                          \
  "mul.wide.s32 _state, _b, _state_bytes;\n\t"                           \
  "add.u64 _state, _state, %3;\n\t"                                      \
  "ld.global.v2.u32 {_ring_low, _ring_high}, [_state];\n\t"   \
  "ld.global.u32 _mask, [_state+8];\n\t"   \
  "atom.global.cas.b32 _c, [_state+12], 0, _word;\n\t"                   \
  "setp.ne.u32 _refused, _c, 0;\n\t"
// A warp is together again behind the branches of its opening only if ptxas finds no loop in them that one lane may go round alone: else
// it makes a call of each shuffle and vote behind it, and a product of matrices takes 13 registers more. So a thread whose track
// is in use tries three more, without a loop: the next one, and two that lie an eighth and half a buffer further on, since
// tracks in use lie together. The tickets between are nobody's.
#define INK_I_CLAIM_FURTHER(bra, part)                 \
  "shr.u32 _a, _further, " #part ";\n\t"                 \
  "cvt.u64.u32 _at, _a;\n\t"                          \
  "add.u64 _at, _at, _ticket;\n\t"                    \
  "red.global.max.u64 [%3+64], _at;\n\t"              \
  INK_I_CLAIM                                         \
  "@!_refused " bra " _claimed;\n\t"
#define INK_I_OPEN_CLAIM(bra, which_lane)             \
  "_claim:\n\t"                                       \
  INK_I_WORD(which_lane)                              \
  INK_I_CLAIM                                         \
  "@!_refused " bra " _claimed;\n\t"                  \
  "ld.global.u32 _further, [%3+56];\n\t"                \
  "setp.eq.u32 _again, _further, 0;\n\t"                \
  "@_again " bra " _missed;\n\t"                      \
  INK_I_CLAIM                                         \
  "@!_refused " bra " _claimed;\n\t"                  \
  INK_I_CLAIM_FURTHER(bra, 3)                         \
  INK_I_CLAIM_FURTHER(bra, 1)                         \
  "_missed:\n\t"                                      \
  "red.global.add.u64 [_slot+%10], _enabled;\n\t"     \
  "_none:\n\t"                                        \
  "mov.u32 %1, 0;\n\t"                                \
  "bra.uni _out;\n\t"                                 \
  "_claimed:\n\t"                                     \
  "mov.b64 _ring, {_ring_low, _ring_high};\n\t"

// What marks of called functions find: the warp's entry, which says where the track's state is, and the state's word, which
// says that it is this thread's.
#define INK_I_LANE "mov.u32 _a, %%laneid; mad.lo.u32 _word, _a, %13, _word;\n\t"
#if defined(INKMARK_NO_CALLED)
#define INK_I_WORD(which_lane)                         \
  "mov.u32 _sm, %%smid;\n\t"                           \
  "mov.u32 _word, 0xf8f8f8f9;\n\t" /* INK_STATE_NO_PLACE */
#define INK_I_OPEN_ENTRY ""
#else
#define INK_I_WORD(which_lane)                         \
  "mov.u32 _sm, %%smid;\n\t"                           \
  "mov.u32 _a, %%warpid;\n\t"                          \
  "mad.lo.u32 _place, _sm, 64, _a;\n\t"                \
  "mad.lo.u32 _word, _place, 8, 1;\n\t"                \
  which_lane                                           \
  INK_I_SHARED_ENTRY
#if defined(INKMARK_SHARED)
#define INK_I_SHARED_ENTRY                             \
  INK_I_LINEAR_THREAD                                  \
  "and.b32 _a, _linear, 0xffffffe0;\n\t"               \
  "add.u32 _place, _a, %6;\n\t"
#if INKMARK_WARPS < 32 && __CUDA_ARCH__ < 900
#define INK_I_HAS_ENTRY INK_I_LINEAR_THREAD "setp.lt.u32 _again, _linear, %14;\n\t@_again "
#else
#define INK_I_HAS_ENTRY
#endif
#define INK_I_OPEN_ENTRY                               \
  "xor.b64 _at, _grid, %15;\n\t"                       \
  INK_I_HAS_ENTRY                                      \
  "st.shared.v2.u64 [_place], {_state, _at};\n\t"
#else
#define INK_I_SHARED_ENTRY
// In two stores: as one of 16 bytes the state's address takes copies, because the header has it beside another word.
#define INK_I_OPEN_ENTRY                                                     \
  "and.b32 _a, _place, %14;\n\t"                                             \
  "mul.wide.u32 _at, _a, _state_bytes;\n\t" /* as large as a state */        \
  "add.u64 _at, _at, %6;\n\t"                                                \
  "st.global.u64 [_at], _state;\n\t"                                         \
  "st.global.u64 [_at+8], _grid;\n\t"
#endif
#endif

// The header's rows. The block's dimensions come behind the clocks, over which ptxas moves nothing: all loads in front of all
// stores would take 34 registers.
#if __CUDA_ARCH__ >= 900
#define INK_I_RANK "mov.u32 _c, %%cluster_ctarank;\n\t"
#else
#define INK_I_RANK "mov.u32 _c, 0;\n\t"
#endif
// With -rdc=true the name's address is no load, and ptxas moves it in front of the claim: it is to take two registers
// there, not a row's four.
#if defined(__CUDACC_RDC__) && __CUDA_ARCH__ >= 800
#define INK_I_NAME_FIRST "st.global.u64 [_ring+%9+96], %11;\n\t"
#define INK_I_NAME_LAST                                                                         \
  "mov.u32 _b, %12;\n\t"                                                                        \
  "st.global.v2.u32 [_ring+%9+104], {_b, _a};\n\t"
#else
#define INK_I_NAME_FIRST
#define INK_I_NAME_LAST                                                                         \
  "mov.b64 {_b, _c}, %11;\n\t"                                                                  \
  "mov.u32 _place, %12;\n\t"                                                                    \
  "st.global.v4.u32 [_ring+%9+96], {_b, _c, _place, _a};\n\t"
#endif
#define INK_I_OPEN_HEADER                                                              \
  INK_I_NAME_FIRST                                                                              \
  "mov.u32 _block_x, %%ctaid.x; mov.u32 _block_y, %%ctaid.y; mov.u32 _block_z, %%ctaid.z;\n\t"  \
  "st.global.v4.u32 [_ring+%9+64], {_block_x, _block_y, _block_z, _thread};\n\t"                \
  "mov.u64 _grid, %%gridid;\n\t"                                                                \
  "st.global.v2.u64 [_ring+%9], {_slot, _state};\n\t"                                           \
  "st.global.v2.u64 [_ring+%9+16], {_ticket, _grid};\n\t"                                       \
  INK_I_CURSOR_LOAD                                                                             \
  INK_I_OPEN_ENTRY                                                                              \
  "mov.u32 _grid_x, %%nctaid.x; mov.u32 _grid_y, %%nctaid.y; mov.u32 _grid_z, %%nctaid.z;\n\t"  \
  "st.global.v4.u32 [_ring+%9+32], {_grid_x, _grid_y, _grid_z, _sm};\n\t"                       \
  "mov.u64 _found, %%clock64;\n\t"                                                              \
  "mov.u64 _enabled, %%globaltimer;\n\t"                                                        \
  "mov.u64 _at, %%clock64;\n\t"                                                                 \
  INK_I_RANK                                                                                    \
  "mov.u32 _ntid_x, %%ntid.x; mov.u32 _ntid_y, %%ntid.y; mov.u32 _ntid_z, %%ntid.z;\n\t"        \
  "st.global.v4.u32 [_ring+%9+48], {_ntid_x, _ntid_y, _ntid_z, _c};\n\t"                        \
  "st.global.v2.u64 [_ring+%9+80], {_found, _enabled};\n\t"                                     \
  "cvt.u32.u64 _a, _at;\n\t"                                                                    \
  INK_I_NAME_LAST                                                                               \
  INK_I_CURSOR

#if defined(INKMARK_NO_CALLED)
#define INK_I_ENTRIES_AT "n"(0)
#define INK_I_ENTRY_SIZES "n"(0), "n"(0), "n"(0)
#elif defined(INKMARK_SHARED)
#define INK_I_ENTRIES_AT "r"(entries_at())
#define INK_I_ENTRY_SIZES "n"(entry_lane), "n"(INKMARK_WARPS * 32), "l"(entry_magic)
#else
#define INK_I_ENTRIES_AT "l"(entries_at())
#define INK_I_ENTRY_SIZES "n"(entry_lane), "n"(entry_count - 1), "n"(0)
#endif

#define INK_I_OPEN(bra, thread_mask, warps, which_lane)                                                               \
  asm volatile("{\n\t"                                                                                                \
               ".reg .pred _refused, _again;\n\t"                                                                     \
               ".reg .u32 _a, _b, _c, _warps, _slots_mask, _last_block, _tracks_mask, _further, _mask, _state_bytes;\n\t" \
               ".reg .u32 _grid_x, _grid_y, _grid_z, _ntid_x, _ntid_y, _ntid_z, _block_x, _block_y, _block_z;\n\t"    \
               ".reg .u32 _bits, _thread, _word, _place, _sm, _linear, _block_warps, _rate, _blocks, _blocks_limit;\n\t" \
               ".reg .u32 _ring_low, _ring_high, _thread_mask;\n\t"                                                   \
               ".reg .u64 _bits_at, _at, _slot, _found, _enabled, _ticket, _ring, _grid, _state;\n\t"                 \
               INK_I_OPEN_USUAL(bra, thread_mask) INK_I_OPEN_CHOOSE(bra, warps)                                       \
               INK_I_OPEN_CLAIM(bra, which_lane) INK_I_OPEN_HEADER "_out:\n\t"                                        \
               "}"                                                                                                    \
               : "=&r"(at.low), "=&r"(at.high), "=&r"(at.mask)                                                        \
               : "l"(buffer), "l"(key), "l"(first * sizeof(ink_kernel_slot)), INK_I_ENTRIES_AT,                       \
                 "n"(sizeof(ink_kernel_slot)), "n"(sizeof(ink_buffer)), "n"(INK_I_TRACK(slot)),                       \
                 "n"(sizeof(ink_buffer) + INK_I_AT(ink_kernel_slot, missed)), "l"(name.text), "n"(name_rows(Bytes)),  \
                 INK_I_ENTRY_SIZES, "n"(INK_SAMPLE_FACTOR), "r"(first * (u32)sizeof(ink_kernel_slot)), "r"(first),    \
                 "r"(step)                                                                                              \
               : "memory")

// Of an instance: what its header says of the name and the rows.
constexpr __host__ __device__ u32 name_rows(u64 bytes) {
  return (u32)(bytes >> 32) | ((u32)bytes < INK_NAME_BYTES_MOST ? (u32)bytes : INK_NAME_BYTES_MOST) << INK_ROWS_BITS;
}

__device__ __forceinline__ u64 ring_of(const cursor &at) { return (u64)at.high << 32 | (at.low & ~at.mask); }

// at.high stays 0 where this thread does not record; else all of the cursor is set.
template <u64 Bytes>
__device__ __forceinline__ void open_track(u64 buffer, u64 key, bool chosen, instance<Bytes> name, cursor &at) {
  const u32 first = INK_KERNEL_FIRST(key), step = INK_KERNEL_STEP(key);
#define INK_I_CHOSEN "bra", "mov.u32 _thread_mask, 0;\n\t", "ld.global.u32 _warps, [%3+12];\n\t", INK_I_LANE
#define INK_I_FIRST_LANE "bra.uni", "", "ld.global.u32 _warps, [%3+8];\n\t", ""
#define INK_I_OPEN_(...) INK_I_OPEN(__VA_ARGS__)
  if (chosen)
    INK_I_OPEN_(INK_I_CHOSEN);
  else // one thread of the warp
    INK_I_OPEN_(INK_I_FIRST_LANE);
}

// With the ticket beside it, so that opening need not clear what the last track left.
__device__ __forceinline__ void store_role(const cursor &at, u64 role) {
  if (!at.high)
    return;
  u64 ticket;
  load_u64<INK_I_TRACK(ticket)>(ring_of(at), ticket);
  store_u64x2<INK_I_TRACK(role)>(ring_of(at), role, ticket);
}

// Finds the track in front of the ring that it was given: no register is kept for it meanwhile. What is rare stands behind a
// branch: marks of called functions that were executed, and closed tracks that wait for the host.
#if defined(INKMARK_NO_CALLED)
#define INK_I_CLOSE_COUNTS "mov.u64 _aux_bytes, 0; mov.u64 _aux_extra, 0; mov.u32 _b, 0;\n\t"
#else
#define INK_I_CLOSE_COUNTS                                 \
  "ld.global.v2.u64 {_aux_bytes, _aux_extra}, [_state+16];\n\t" \
  "mov.b64 {_a, _b}, _aux_bytes;\n\t"                      \
  "or.b32 _b, _a, _b;\n\t"
#endif
#define INK_I_CLOSE(bra)                                                                    \
  asm volatile("{\n\t"                                                                         \
               ".reg .pred _rare, _host; .reg .u32 _a, _b, _sm, _word;\n\t"                            \
               ".reg .u64 _ring, _slot, _state, _aux_bytes, _aux_extra, _clock0, _ns, _clock1;\n\t"    \
               "mov.u64 _clock0, %%clock64;\n\t"                                                       \
               "mov.u64 _ns, %%globaltimer;\n\t"                                                       \
               "mov.u64 _clock1, %%clock64;\n\t"                                                       \
               "lop3.b32 _a, %0, %2, 0, 0x30;\n\t"                                                     \
               "mov.b64 _ring, {_a, %1};\n\t"                                                          \
               "ld.global.v2.u64 {_slot, _state}, [_ring+%5];\n\t"                                     \
               "st.global.v2.u64 [_ring+%5+112], {_clock0, _ns};\n\t"                                  \
               "st.global.v2.u64 [_ring+%5+128], {%3, %4};\n\t"                                        \
               INK_I_CLOSE_COUNTS                                                                      \
               "mov.u32 _sm, %%smid;\n\t"                                                              \
               "lop3.b32 _b, _b, %2, 7, 0xF2;\n\t" /* b | (~mask & 7) */                               \
               "setp.ne.u32 _rare, _b, 0;\n\t"                                                         \
               "cvt.u32.u64 _a, _clock1;\n\t"                                                          \
               "@_rare " bra " _more;\n\t"                                                             \
               "st.global.v2.u32 [_ring+%5+160], {_a, _sm};\n\t"                                       \
               "red.global.add.u64 [_slot+%6], _slot;\n\t"                                             \
               "red.global.add.u64 [_slot+%7], %4;\n\t"                                                \
               "red.global.add.u64 [_slot+%8], %3;\n\t"                                                \
               "st.release.gpu.global.u32 [_state+12], 0;\n\t"                                         \
               "bra.uni _done;\n\t"                                                                    \
               "_more:\n\t"                                                                            \
               "or.b32 _sm, _sm, 0x80000000;\n\t"                                                      \
               "st.global.v2.u32 [_ring+%5+160], {_a, _sm};\n\t"                                       \
               "st.global.v2.u64 [_ring+%5+144], {_aux_bytes, _aux_extra};\n\t"                        \
               "red.global.add.u64 [_slot+%6], _slot;\n\t"                                             \
               "add.u64 _aux_extra, _aux_extra, %4;\n\t"                                               \
               "add.u64 _aux_bytes, _aux_bytes, %3;\n\t"                                               \
               "red.global.add.u64 [_slot+%7], _aux_extra;\n\t"                                        \
               "red.global.add.u64 [_slot+%8], _aux_bytes;\n\t"                                        \
               "mov.u64 _clock0, 0;\n\t"                                                               \
               "st.global.v2.u64 [_state+16], {_clock0, _clock0};\n\t"                                 \
               "and.b32 _a, %2, 7;\n\t"                                                                \
               "setp.ne.u32 _rare, _a, 7;\n\t"                                                         \
               "selp.u32 _word, 2, 0, _rare;\n\t"                                                      \
               "setp.eq.u32 _host, _a, 2;\n\t"                                                         \
               "@_host st.release.sys.global.u32 [_ring+%5+168], _word;\n\t"                           \
               "st.release.gpu.global.u32 [_state+12], _word;\n\t"                                     \
               "_done:\n\t"                                                                            \
               "}"                                                                                     \
               :                                                                                       \
               : "r"(at.low), "r"(at.high), "r"(at.mask), "l"(bytes), "l"(extra), "n"(INK_I_TRACK(slot)), \
                 "n"(sizeof(ink_buffer) + INK_I_AT(ink_kernel_slot, closed)),                          \
                 "n"(sizeof(ink_buffer) + INK_I_AT(ink_kernel_slot, extra)),                           \
                 "n"(sizeof(ink_buffer) + INK_I_AT(ink_kernel_slot, bytes))                            \
               : "memory")
__device__ __forceinline__ void close_track(const cursor &at, u64 bytes, u64 extra, bool chosen) {
  if (chosen)
    INK_I_CLOSE("bra");
  else
    INK_I_CLOSE("bra.uni");
}

#endif // __CUDA_ARCH__

} // namespace ink_i

#endif
