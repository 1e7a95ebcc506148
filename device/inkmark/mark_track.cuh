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

// What claiming needs. On sm_120 as pairs: where the mask comes out of a vector of four, ptxas copies the address's upper
// half for each mark in a loop with PROF_ITER, and where it is loaded once more at the end it needs 36 registers.
#if __CUDA_ARCH__ >= 1200 && !defined(__CUDACC_RDC__)
#define INK_I_SIZES                                          \
  "ld.global.v2.u32 {_stride, _tries}, [%3+48];\n\t"         \
  "ld.global.v2.u32 {_mask, _state_bytes}, [%3+56];\n\t"
#else
#define INK_I_SIZES "ld.global.v4.u32 {_stride, _tries, _mask, _state_bytes}, [%3+48];\n\t"
#endif
// The block's bits, and these. Late it takes fewer registers on sm_75 and sm_80, where ptxas else
// copies the upper half of a mark's address for each mark.
#if __CUDA_ARCH__ >= 900 && !defined(INKMARK_SHARED) && !defined(INKMARK_NO_CALLED)
#define INK_I_SIZES_EARLY "ld.global.u64 _rings_end, [%3+40];\n\t" INK_I_SIZES
#define INK_I_SIZES_LATE
#else
#define INK_I_SIZES_EARLY
#define INK_I_SIZES_LATE INK_I_SIZES "ld.global.u64 _rings_end, [%3+40];\n\t"
#endif
#define INK_I_BITS_AT "ld.global.u64 _bits_at, [%3+32];\n\t"
// On sm_80 to 89 the mask is loaded once more at the end, for the same copies. For those in tracks of rows on sm_75 the lop3
// is a move that ptxas does not see through.
#define INK_I_MASK_OF_ROWS_75 "lop3.b32 %2, _thread, 0x80000000, _mask, 0xEA;\n\t"
#if __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900 && !defined(__CUDACC_RDC__)
#define INK_I_MASK "ld.global.u32 %2, [%3+56];\n\t"
#else
#define INK_I_MASK "mov.u32 %2, _mask;\n\t"
#endif

// What most threads come by is one piece without a branch that is taken; the rest stands behind a branch that most threads
// do not take, or that leaves: _choose, _next, _taken, _missed.

// Is this warp out? That is bit 0 of `warps`. Where blocks are filtered (last_block is not 0), or a block needs several tracks
// of a sampled buffer, or the grid has more blocks than that has room for, _choose finds out whether this block is.
#define INK_I_OPEN_LIMITS(which_warps)                                                         \
  "ld.global.v4.u32 {_warps, _slots_mask, _last_block, _tracks_mask}, [%3+16];\n\t"            \
  "ld.global.v2.u32 {_block_warps, _rate}, [%3+72];\n\t"                                       \
  INK_I_SIZES_EARLY                                                                            \
  which_warps                                                                                  \
  "mov.u32 _ntid_x, %%ntid.x; mov.u32 _ntid_y, %%ntid.y;\n\t"                                  \
  "mov.u32 _a, %%tid.x; mov.u32 _b, %%tid.y; mov.u32 _c, %%tid.z;\n\t"                         \
  "mad.lo.u32 _thread, _c, _ntid_y, _b;\n\t"                                                   \
  "mad.lo.u32 _thread, _thread, _ntid_x, _a;\n\t"                                              \
  "shr.u32 _a, _thread, 5;\n\t"                                                                \
  "shr.u32 _warps, _warps, _a;\n\t"                                                            \
  "mov.u32 _grid_x, %%nctaid.x; mov.u32 _grid_y, %%nctaid.y; mov.u32 _grid_z, %%nctaid.z;\n\t" \
  "mul.lo.u32 _blocks, _grid_x, _grid_y;\n\t"                                                  \
  "mul.lo.u32 _blocks, _blocks, _grid_z;\n\t"                                                  \
  "mul.hi.u32 _a, _blocks, _rate;\n\t"                                                         \
  "lop3.b32 _a, _a, _last_block, _block_warps, 0xFE;\n\t"                                      \
  "setp.ne.u32 _again, _a, 0;\n\t"

// record.h says which blocks are a sample.
#define INK_I_OPEN_CHOOSE(bra)                                                                 \
  "_choose:\n\t"                                                                               \
  INK_I_BITS_AT                                                                                \
  "mov.u32 _grid_x, %%nctaid.x; mov.u32 _grid_y, %%nctaid.y; mov.u32 _ntid_z, %%ntid.z;\n\t"   \
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
  "mul.lo.u32 _b, _ntid_x, _ntid_y;\n\t"                                                       \
  "mul.lo.u32 _b, _b, _ntid_z;\n\t"                                                            \
  "mul.hi.u32 _b, _b, _block_warps;\n\t"                                                       \
  "mad.lo.u32 _c, _b, _blocks, _blocks;\n\t"                                                   \
  "mul.hi.u32 _c, _c, _rate;\n\t"                                                              \
  "bfind.shiftamt.u32 _c, _c;\n\t"                                                             \
  "brev.b32 _b, _linear;\n\t"                                                                  \
  "mul.lo.u32 _b, _b, %16;\n\t"                                                                \
  "shr.u32 _b, _b, _c;\n\t"                                                                    \
  "setp.ne.u32 _again, _b, 0;\n\t"                                                             \
  "@_again " bra " _none;\n\t"                                                                 \
  "bra.uni _chosen;\n\t"

// The kernel's slot. Where no table named it, the search ends at an empty slot, whose `missed` counts it. Lower
// half of a key: never 0, it ends in a section's id. `enabled` is 1, and no compiler knows: see add_global.
#define INK_I_OPEN_FIND(bra)                             \
  "@_again " bra " _choose;\n\t"                         \
  "_chosen:\n\t"                                         \
  "and.b32 _b, _slots_mask, %5;\n\t"                     \
  "_find:\n\t"                                           \
  "mul.wide.u32 _at, _b, %7;\n\t"                        \
  "add.u64 _slot, _at, %3;\n\t"                          \
  "ld.global.v2.u64 {_found, _enabled}, [_slot+%8];\n\t" \
  "setp.ne.u64 _refused, _found, %4;\n\t"                \
  "@_refused " bra " _next;\n\t"                         \
  "_empty:\n\t"                                          \
  "cvt.u32.u64 _a, _enabled;\n\t"                        \
  "and.b32 _b, _a, _warps;\n\t"                          \
  "setp.eq.u32 _again, _b, 0;\n\t"                       \
  "@_again " bra " _none;\n\t"                           \
  INK_I_SIZES_LATE                                       \
  "@!_refused " bra " _claim;\n\t"                       \
  "_missed:\n\t"                                         \
  "red.global.add.u64 [_slot+%10], _enabled;\n\t"        \
  "_none:\n\t"                                           \
  "mov.u32 %1, 0;\n\t"                                   \
  "bra.uni _out;\n\t"                                    \
  "_next:\n\t"                                           \
  "add.u32 _b, _b, 1;\n\t"                               \
  "and.b32 _b, _b, _slots_mask;\n\t"                     \
  "cvt.u32.u64 _c, _found;\n\t"                          \
  "setp.ne.u32 _again, _c, 0;\n\t"                       \
  "@_again " bra " _find;\n\t"                           \
  "bra.uni _empty;\n\t"

// A track that can be claimed. Tracks are counted from the end, so that their states need no address of their own:
// b is the ticket's lower bits with ones above them.
#define INK_I_OPEN_CLAIM(bra)                         \
  "_taken:\n\t"                                       \
  "setp.eq.u32 _again, _tries, 0;\n\t"                \
  "sub.u32 _tries, _tries, 1;\n\t"                    \
  "@_again " bra " _missed;\n\t"                      \
  "_claim:\n\t"                                       \
  "atom.global.add.u64 _ticket, [%3+64], _enabled;\n\t" \
  "mov.b64 {_b, _c}, _ticket;\n\t"                    \
  "lop3.b32 _b, _b, _tracks_mask, 0, 0xF3;\n\t"       \
  "mul.wide.s32 _state, _b, _state_bytes;\n\t"        \
  "add.u64 _state, _state, %3;\n\t"                   \
  "atom.global.or.b32 _c, [_state+12], _a;\n\t"       \
  "and.b32 _c, _c, 1;\n\t"                            \
  "setp.ne.u32 _refused, _c, 0;\n\t"                  \
  "@_refused " bra " _taken;\n\t"                     \
  "mul.wide.s32 _at, _b, _stride;\n\t"                \
  "add.u64 _ring, _at, _rings_end;\n\t"

// What marks of called functions find: the warp's entry, which says where the track's state is, and the state, which
// says that it is this thread's.
#if defined(INKMARK_NO_CALLED)
#define INK_I_OPEN_ENTRY(which_lane) ""
#else
#if defined(INKMARK_SHARED)
#if INKMARK_WARPS < 32 && __CUDA_ARCH__ < 900
#define INK_I_HAS_ENTRY "setp.lt.u32 _again, _thread, %14;\n\t"
#define INK_I_IF_ENTRY "@_again "
#else
#define INK_I_HAS_ENTRY
#define INK_I_IF_ENTRY
#endif
#define INK_I_STORE_ENTRY                                                    \
  "and.b32 _b, _thread, 0xffffffe0;\n\t"                                     \
  "add.u32 _b, _b, %6;\n\t"                                                  \
  "xor.b64 _grid, _grid, %15;\n\t"                                           \
  INK_I_HAS_ENTRY                                                            \
  INK_I_IF_ENTRY "st.shared.v2.u64 [_b], {_state, _grid};\n\t"
#else
#define INK_I_STORE_ENTRY                                                    \
  "and.b32 _a, _a, %14;\n\t"                                                 \
  "mul.wide.u32 _at, _a, _state_bytes;\n\t" /* as large as a state */        \
  "add.u64 _at, _at, %6;\n\t"                                                \
  "st.global.v2.u64 [_at], {_state, _grid};\n\t"
#endif
#define INK_I_LANE "mov.u32 _b, %%laneid; mad.lo.u32 _word, _b, %13, _word;\n\t"
// The ring's address apart: as one store of 16 bytes it takes copies.
#define INK_I_OPEN_ENTRY(which_lane)                                         \
  "mov.u32 _b, %%warpid;\n\t"                                                \
  "mad.lo.u32 _a, _sm, 64, _b;\n\t"                                          \
  "mad.lo.u32 _word, _a, 8, 1;\n\t"                                          \
  which_lane                                                                 \
  INK_I_STORE_ENTRY                                                          \
  "st.global.u64 [_state], _ring;\n\t"                                       \
  "st.global.v2.u32 [_state+8], {_mask, _word};\n\t"                            \
  "mov.u64 _at, 0;\n\t"                                                      \
  "st.global.v2.u64 [_state+16], {_at, _at};\n\t"
#endif

// The header's rows. The instruction that makes the cursor's upper half is a no-op on the value: no SM's number has the bit. It
// stops ptxas from treating the half as a copy of the ring's, copying it again for each mark and keeping three registers for it.
#if __CUDA_ARCH__ >= 900
#define INK_I_RANK "mov.u32 _a, %%cluster_ctarank;\n\t"
#else
#define INK_I_RANK "mov.u32 _a, 0;\n\t"
#endif
// With -rdc=true the name's address is no load, and ptxas moves it in front of the claim's loop: it is to take two registers
// there, not a row's four.
#if defined(__CUDACC_RDC__) && __CUDA_ARCH__ >= 800
#define INK_I_NAME_FIRST "st.global.u64 [_ring+%9+96], %11;\n\t"
#define INK_I_NAME_LAST                                                                         \
  "mov.u32 _word, %12;\n\t"                                                                     \
  "st.global.v2.u32 [_ring+%9+104], {_word, _a};\n\t"
#else
#define INK_I_NAME_FIRST
#define INK_I_NAME_LAST                                                                         \
  "mov.b64 {_b, _c}, %11;\n\t"                                                                  \
  "mov.u32 _word, %12;\n\t"                                                                     \
  "st.global.v4.u32 [_ring+%9+96], {_b, _c, _word, _a};\n\t"
#endif
#define INK_I_OPEN_HEADER(which_lane, to_mask)                                                     \
  INK_I_NAME_FIRST                                                                              \
  "mov.u32 _block_x, %%ctaid.x; mov.u32 _block_y, %%ctaid.y; mov.u32 _block_z, %%ctaid.z;\n\t"  \
  "st.global.v4.u32 [_ring+%9+64], {_block_x, _block_y, _block_z, _thread};\n\t"                \
  "mov.u32 _sm, %%smid;\n\t"                                                                    \
  "mov.u64 _grid, %%gridid;\n\t"                                                                \
  "st.global.v2.u64 [_ring+%9], {_ticket, _slot};\n\t"                                          \
  "st.global.v2.u64 [_ring+%9+16], {_state, _grid};\n\t"                                        \
  INK_I_OPEN_ENTRY(which_lane)                                                                  \
  "mov.u32 _grid_x, %%nctaid.x; mov.u32 _grid_y, %%nctaid.y; mov.u32 _grid_z, %%nctaid.z;\n\t"  \
  "st.global.v4.u32 [_ring+%9+32], {_grid_x, _grid_y, _grid_z, _sm};\n\t"                       \
  INK_I_RANK                                                                                    \
  "mov.u32 _ntid_x, %%ntid.x; mov.u32 _ntid_y, %%ntid.y; mov.u32 _ntid_z, %%ntid.z;\n\t"        \
  "st.global.v4.u32 [_ring+%9+48], {_ntid_x, _ntid_y, _ntid_z, _a};\n\t"                        \
  "mov.u64 _found, %%clock64;\n\t"                                                              \
  "mov.u64 _enabled, %%globaltimer;\n\t"                                                        \
  "mov.u64 _at, %%clock64;\n\t"                                                                 \
  "st.global.v2.u64 [_ring+%9+80], {_found, _enabled};\n\t"                                     \
  "cvt.u32.u64 _a, _at;\n\t"                                                                    \
  INK_I_NAME_LAST                                                                               \
  to_mask                                                                                       \
  "mov.b64 {%0, _a}, _ring;\n\t"                                                                \
  "lop3.b32 %1, _sm, 0x80000000, _a, 0xEA;\n\t"                                             \
  "_out:\n\t"

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

#define INK_I_OPEN(bra, which_warps, which_lane, to_mask)                                                                  \
  asm volatile("{\n\t"                                                                                                  \
               ".reg .pred _refused, _again;\n\t"                                                            \
               ".reg .u32 _a, _b, _c, _warps, _slots_mask, _last_block, _tracks_mask, _stride, _tries, _mask, _state_bytes;\n\t" \
               ".reg .u32 _grid_x, _grid_y, _grid_z, _ntid_x, _ntid_y, _ntid_z, _block_x, _block_y, _block_z;\n\t"      \
               ".reg .u32 _bits, _thread, _word, _sm, _linear, _block_warps, _rate, _blocks;\n\t"                         \
               ".reg .u64 _bits_at, _rings_end, _at, _slot, _found, _enabled, _ticket, _ring, _grid, _state;\n\t" \
               INK_I_OPEN_LIMITS(which_warps) INK_I_OPEN_FIND(bra) INK_I_OPEN_CHOOSE(bra) INK_I_OPEN_CLAIM(bra)         \
               INK_I_OPEN_HEADER(which_lane, to_mask)                                                                      \
               "}"                                                                                                      \
               : "=&r"(at.low), "=&r"(at.high), "=&r"(at.mask)                                                             \
               : "l"(buffer), "l"(key), "r"(INK_KERNEL_HASH(key)), INK_I_ENTRIES_AT,                                    \
                 "n"(sizeof(ink_kernel_slot)), "n"(sizeof(ink_buffer)), "n"(INK_I_TRACK(ticket)),                       \
                 "n"(sizeof(ink_buffer) + INK_I_AT(ink_kernel_slot, missed)), "l"(name.text), "n"(name_rows(Bytes)),    \
                 INK_I_ENTRY_SIZES, "n"(INK_SAMPLE_FACTOR)                                                              \
               : "memory")

// Of an instance: what its header says of the name and the rows.
constexpr __host__ __device__ u32 name_rows(u64 bytes) {
  return (u32)(bytes >> 32) | ((u32)bytes < INK_NAME_BYTES_MOST ? (u32)bytes : INK_NAME_BYTES_MOST) << INK_ROWS_BITS;
}

__device__ __forceinline__ u64 ring_of(const cursor &at) { return (u64)at.high << 32 | (at.low & ~at.mask); }

// at.high stays 0 where this thread does not record; else all of the cursor is set.
template <u64 Bytes>
__device__ __forceinline__ void open_track(u64 buffer, u64 key, bool chosen, instance<Bytes> name, cursor &at) {
#if __CUDA_ARCH__ < 800
  if (Bytes >> 32 && chosen)
    INK_I_OPEN("bra", "ld.global.u32 _warps, [%3+12];\n\t", INK_I_LANE, INK_I_MASK_OF_ROWS_75);
  else if (Bytes >> 32)
    INK_I_OPEN("bra.uni", "", "", INK_I_MASK_OF_ROWS_75);
  else
#endif
  if (chosen)
    INK_I_OPEN("bra", "ld.global.u32 _warps, [%3+12];\n\t", INK_I_LANE, INK_I_MASK);
  else // one thread of the warp
    INK_I_OPEN("bra.uni", "", "", INK_I_MASK);
}

// With the ticket beside it, so that opening need not clear what the last track left.
__device__ __forceinline__ void store_role(const cursor &at, u64 role) {
  if (!at.high)
    return;
  u64 ticket;
  load_u64<INK_I_TRACK(ticket)>(ring_of(at), ticket);
  store_u64x2<INK_I_TRACK(role)>(ring_of(at), role, ticket);
}

// Finds the track in front of the ring that it was given: no register is kept for it meanwhile.
__device__ __forceinline__ void close_track(const cursor &at, u64 bytes, u64 extra) {
  const u64 clock0 = read_clock();
  const u64 global_ns = read_globaltimer();
  const u64 clock1 = read_clock();
  const u64 ring = ring_of(at);
  u64 slot, state_at, aux_bytes = 0, aux_extra = 0;
  load_u64<INK_I_TRACK(slot)>(ring, slot);
  load_u64<INK_I_TRACK(state_at)>(ring, state_at);
  store_u64x2<INK_I_TRACK(close_clock0)>(ring, clock0, global_ns);
  store_u64<INK_I_TRACK(close_clock1)>(ring, clock1);
  store_u64x2<INK_I_TRACK(bytes)>(ring, bytes, extra);
#if !defined(INKMARK_NO_CALLED)
  load_u64x2<INK_I_AT(ink_device_state, aux_bytes)>(state_at, aux_bytes, aux_extra);
#endif
  u32 word;
  asm("mad.lo.u32 %0, %1, %2, %3;"
      : "=r"(word)
      : "r"(read_smid()), "n"(1 << INK_STATE_BITS), "r"(~at.mask & INK_STATE_LOW));
  store_u64x2<INK_I_TRACK(aux_bytes)>(ring, aux_bytes, aux_extra);
  store_last_where<INK_MASK_SYSTEM, INK_I_TRACK(closing)>(at.mask, ring, word);
  constexpr int sums = sizeof(ink_buffer);
  add_global<sums + INK_I_AT(ink_kernel_slot, closed)>(slot, at.mask);
  add_global<sums + INK_I_AT(ink_kernel_slot, extra)>(slot, extra + aux_extra);
  add_global<sums + INK_I_AT(ink_kernel_slot, bytes)>(slot, bytes + aux_bytes);
  store_last<INK_I_AT(ink_device_state, word)>(state_at, word);
}

#endif // __CUDA_ARCH__

} // namespace ink_i

#endif
