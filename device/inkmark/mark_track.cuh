// SPDX-License-Identifier: MIT
// Private: opening and closing a track, and what the marks of called functions find in shared memory.
// The layout is record.h's.
#ifndef INKMARK_MARK_TRACK_CUH
#define INKMARK_MARK_TRACK_CUH

#include "inkmark/mark_word.cuh"

#ifndef INKMARK_WARPS
#define INKMARK_WARPS 32 // the most warps a block of a marked kernel has; 48 bytes of shared each
#endif

namespace ink_i {

#if defined(__CUDA_ARCH__)

// ---- what marks in called functions find in shared memory ----------------------------------------

#if !defined(INKMARK_NO_SHARED)
// Shared memory keeps what the last block left there, so an entry counts only for the thread and the
// grid that it names, mixed with a constant that other data does not hold by chance. A block need not
// be named: closing clears the entry, and where a thread left without closing its track stays open
// for good, so nothing else lies in the ring that a later block of the grid would write to.
struct __align__(16) state_entry {
  uint4 who;         // grid (lower half), thread ^ entry_magic, the ring's address: lower, upper half
  ulonglong2 counts; // offset in bytes (not masked), extra words
  uint4 ring;        // mask as in cursor; the track's own ring: lower, upper half; unused
};
static_assert(sizeof(state_entry) == 48, "the state is meant to stay small");
constexpr u32 entry_magic = 0x9d6b6e69u;

// One symbol for the whole program, with -rdc=true too (weak, merged by nvlink).
inline __device__ state_entry *state() {
  static __shared__ state_entry entries[INKMARK_WARPS];
  return entries;
}
__device__ __forceinline__ bool has_entry(u32 thread) {
  return INKMARK_WARPS >= 32 || thread / 32 < INKMARK_WARPS;
}
#endif

// ---- opening and closing -----------------------------------------------------------------------

__device__ __forceinline__ bool block_selected(u32 block, u32 block_bits, u64 block_bits_at) {
  if (block_bits == 0)
    return true;
  return block < block_bits && (load_u32<0>(address_of(block_bits_at, block / 32, 4)) >> (block & 31) & 1);
}

// The kernel's slot; false: no table named it (counted), or it is filtered out. The lower half of a
// key is never 0: it ends in a section's id.
__device__ __forceinline__ bool find_kernel(u64 buffer, u64 kernels_at, u32 kernel_mask, u32 one,
                                            u64 key, u32 *slot) {
#pragma unroll 1
  for (u32 i = INK_KERNEL_HASH(key);; i++) {
    u64 found, enabled;
    *slot = i & kernel_mask;
    load_u64x2<INK_I_AT(ink_kernel_slot, key)>(address_of(kernels_at, *slot, sizeof(ink_kernel_slot)), found, enabled);
    if (found == key)
      return (u32)enabled != 0;
    if ((u32)found == 0) {
      add_global<INK_I_AT(ink_buffer, unknown)>(buffer, one);
      return false;
    }
  }
}

// Claims a free track: FREE or, with keep last, CLOSED. False: none.
__device__ __forceinline__ bool claim_track(u64 buffer, u64 tracks_at, u32 tracks_mask, u32 one,
                                            bool keep_first, u64 *ticket) {
#pragma unroll 1
  for (u32 tries = tracks_mask;; tries--) {
    *ticket = fetch_add_global<INK_I_AT(ink_buffer, claim)>(buffer, one);
    if (keep_first && *ticket > tracks_mask)
      return false;
    const u32 index = (u32)*ticket & tracks_mask;
    if (exchange_global(address_of(tracks_at, index, sizeof(ink_track)), INK_TRACK_OPEN) !=
        INK_TRACK_OPEN)
      return true;
    if (tries == 0)
      return false;
  }
}

__device__ __forceinline__ void open_shared(u64 aux, u32 mask, const cursor &at, u32 thread) {
#if !defined(INKMARK_NO_SHARED)
  if (!has_entry(thread))
    return;
  state_entry *entry = state() + thread / 32;
  entry->who = make_uint4((u32)read_gridid(), thread ^ entry_magic, (u32)aux, (u32)(aux >> 32));
  entry->counts = make_ulonglong2(0, 0);
  entry->ring = make_uint4(mask, at.low, at.high, 0);
#endif
}

__device__ __forceinline__ void write_header(u64 track, u32 kernel, u64 ticket, u32 thread) {
  const u64 grid = read_gridid();
  store_u32x4<0>(track, INK_TRACK_OPEN, kernel, (u32)ticket, (u32)(ticket >> 32));
  store_u32x4<16>(track, (u32)grid, (u32)(grid >> 32), INK_I_READ_HERE("nctaid.x"),
                  INK_I_READ_HERE("nctaid.y"));
  store_u32x4<32>(track, INK_I_READ_HERE("nctaid.z"), INK_I_READ_HERE("ntid.x"),
                  INK_I_READ_HERE("ntid.y"), INK_I_READ_HERE("ntid.z"));
  store_u32x4<48>(track, INK_I_READ_HERE("ctaid.x"), INK_I_READ_HERE("ctaid.y"),
                  INK_I_READ_HERE("ctaid.z"), thread);
  store_u32x4<64>(track, read_cluster_rank(), read_smid(), 0, 0);
  const u64 clock0 = read_clock();
  const u64 global_ns = read_globaltimer();
  const u64 clock1 = read_clock();
  store_u64x2<80>(track, clock0, global_ns);
  store_u64x2<96>(track, clock1, 0);
}

// A cursor whose mask is 0: this thread does not record.
__device__ __forceinline__ cursor open_track(u64 buffer, u64 key, u32 thread, bool chosen) {
  cursor at = {0, 0, 0};
  u32 flags, warps, tracks_mask, kernel_mask, block_bits, reserved, one, slot;
  u64 kernels_at, block_bits_at, tracks_at, rings_at, aux_at, ticket;
  load_u32x2<INK_I_AT(ink_buffer, flags)>(buffer, flags, warps);
  load_u32x4<INK_I_AT(ink_buffer, tracks_mask)>(buffer, tracks_mask, kernel_mask, block_bits, reserved);
  load_u64x2<INK_I_AT(ink_buffer, kernels_at)>(buffer, kernels_at, block_bits_at);
  asm("bfe.u32 %0, %1, %2, 1;" : "=r"(one) : "r"(warps), "r"(thread / 32));
  if (!(flags & INK_BUFFER_ON) || !(chosen || thread == 0 || (flags & INK_BUFFER_PER_WARP)) ||
      one == 0 || !block_selected(linear_block(), block_bits, block_bits_at) ||
      !find_kernel(buffer, kernels_at, kernel_mask, one, key, &slot))
    return at;
  load_u64x2<INK_I_AT(ink_buffer, tracks_at)>(buffer, tracks_at, rings_at);
  const bool keep_first = flags & INK_BUFFER_KEEP_FIRST;
  if (!claim_track(buffer, tracks_at, tracks_mask, one, keep_first, &ticket)) {
    add_global<INK_I_AT(ink_kernel_slot, missed)>(
        address_of(kernels_at, slot, sizeof(ink_kernel_slot)), one);
    return at;
  }
  const u32 index = (u32)ticket & tracks_mask;
  u32 aux_low, aux_high, ring_mask, aux_mask;
  load_u32x4<INK_I_AT(ink_buffer, aux_at)>(buffer, aux_low, aux_high, ring_mask, aux_mask);
  aux_at = (u64)aux_high << 32 | aux_low;
  const u32 keep_last_bit = keep_first ? 0 : 2;
  const u64 ring = address_of(rings_at, index, ring_mask + 8);
  at.low = (u32)ring;
  at.high = (u32)(ring >> 32);
  at.mask = ring_mask | keep_last_bit;
  open_shared(address_of(aux_at, index, aux_mask + 8), aux_mask | keep_last_bit, at, thread);
  write_header(address_of(tracks_at, index, sizeof(ink_track)), slot, ticket, thread);
  return at;
}

// Finds the track again from the ring that it was given: no register is kept for it meanwhile.
__device__ __forceinline__ void close_track(u64 buffer, const cursor &at, u64 words, u64 extra,
                                            u32 thread) {
  const u64 clock0 = read_clock();
  const u64 global_ns = read_globaltimer();
  const u64 clock1 = read_clock();
  const u32 low = at.low & ~at.mask;
  u32 tracks_mask, kernel_mask, block_bits, one;
  u64 tracks_at, rings_at, aux_words = 0, aux_extra = 0;
  load_u32x4<INK_I_AT(ink_buffer, tracks_mask)>(buffer, tracks_mask, kernel_mask, block_bits, one);
  load_u64x2<INK_I_AT(ink_buffer, tracks_at)>(buffer, tracks_at, rings_at);
  const u32 shift = load_u32<INK_I_AT(ink_buffer, ring_shift)>(buffer);
#if !defined(INKMARK_NO_SHARED)
  state_entry *entry = state() + thread / 32;
  if (has_entry(thread) && entry->ring.y == low && entry->ring.z == at.high) {
    aux_words = entry->counts.x >> 3;
    aux_extra = entry->counts.y;
    entry->who.y = 0;
  }
#endif
  const u64 index = (((u64)at.high << 32 | low) - rings_at) >> shift;
  if (index > tracks_mask)
    return; // the buffer was exchanged under a running kernel: touch nothing
  const u64 track = address_of(tracks_at, (u32)index, sizeof(ink_track));
  u64 kernels_at, block_bits_at;
  const u32 slot = load_u32<INK_I_AT(ink_track, kernel)>(track);
  load_u64x2<INK_I_AT(ink_buffer, kernels_at)>(buffer, kernels_at, block_bits_at);
  asm volatile("st.global.u32 [%0+%1], %2;"
               :
               : "l"(track), "n"(INK_I_AT(ink_track, sm_close)), "r"(read_smid())
               : "memory");
  store_u64<INK_I_AT(ink_track, close_clock0)>(track, clock0);
  store_u64x2<112>(track, global_ns, clock1);
  store_u64x2<128>(track, words, extra);
  store_u64x2<144>(track, aux_words, aux_extra);
  const u64 at_slot = address_of(kernels_at, slot, sizeof(ink_kernel_slot));
  add_global<INK_I_AT(ink_kernel_slot, tracks)>(at_slot, one);
  add_global<INK_I_AT(ink_kernel_slot, marks)>(at_slot, words - extra + aux_words - aux_extra);
  add_global<INK_I_AT(ink_kernel_slot, words)>(at_slot, words + aux_words);
  __threadfence(); // the host reads a track only when it finds it closed
  asm volatile("st.volatile.global.u32 [%0], %1;" : : "l"(track), "r"((u32)INK_TRACK_CLOSED) : "memory");
}

#endif // __CUDA_ARCH__

} // namespace ink_i

#endif
