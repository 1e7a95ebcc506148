// SPDX-License-Identifier: MIT
// Private: where marks in functions that have no context find the cursor of the thread's track: an entry for each
// warp that an SM can hold, in the file's own global memory, or, where it is asked for, in shared memory.
#ifndef INKMARK_MARK_ENTRY_CUH
#define INKMARK_MARK_ENTRY_CUH

#include "inkmark/mark_word.cuh"

// INKMARK_NO_SHARED is its older name, from when the entries were in shared memory alone.
#if defined(INKMARK_NO_SHARED) && !defined(INKMARK_NO_CALLED)
#define INKMARK_NO_CALLED // marks in functions without a context are not recorded: no entries
#endif
#if !defined(INKMARK_WARPS)
#define INKMARK_WARPS 32 // with INKMARK_SHARED: the most warps a block of a marked kernel has
#endif

#if !defined(INKMARK_NO_CALLED)

namespace ink_i {

// An entry keeps what its last user left, so it counts only for the grid that it names: while that runs, the state that
// it points to is there. And only while that state's word is the warp's, by SM and slot, and the lane's: closing changes it,
// and so does another thread that opens the same track. Where a thread left without closing, its track stays open until
// its grid has ended, so nothing else lies in the ring that a later block of the grid would write to.
struct __align__(16) state_entry {
  u64 state_at; // ink_device_state; 0: none
  u64 grid;     // %gridid ^ entry_magic
  u64 unused[2]; // as large as a state: see mark_track.cuh
};
static_assert(sizeof(state_entry) == sizeof(ink_device_state), "one factor serves both");
constexpr u32 entry_lane = 1u << 26; // of the lane in a state's word, above warp and SM

#if defined(__CUDA_ARCH__)
// What the word of this thread's open track is.
__device__ __forceinline__ u32 warp_place() {
  u32 sm, warp;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  return sm * 64 + warp;
}
__device__ __forceinline__ u32 state_word(u32 place) { return read_lane() * entry_lane + (place * 8 + 1); }
#endif

#if defined(INKMARK_SHARED)
constexpr u64 entry_magic = 0x9d6b6e693a5c0f1eull; // what other data does not hold by chance
#if defined(__CUDA_ARCH__)

// On sm_90 and newer the dynamic segment, which lies behind, keeps its alignment: 128-byte swizzles need 1,024.
#if __CUDA_ARCH__ >= 900
constexpr u32 entry_count = (INKMARK_WARPS + 31) / 32 * 32;
#else
constexpr u32 entry_count = INKMARK_WARPS;
#endif
// One symbol for the whole program, with -rdc=true too (weak, merged by nvlink).
inline __device__ state_entry *entries() {
  static __shared__ state_entry all[entry_count];
  return all;
}
using entry_address = u32;
__device__ __forceinline__ entry_address entries_at() { return (u32)__cvta_generic_to_shared(entries()); }
__device__ __forceinline__ bool has_entry(u32 warp) { return entry_count >= 32 || warp < entry_count; }
__device__ __forceinline__ entry_address entry_of(u32) { return entries_at() + linear_thread() / 32 * sizeof(state_entry); }
#define INK_I_ENTRY "shared"
#define INK_I_ENTRY_AT "r"
#endif

#else

// SMs beyond the last, and warps, share entries, which what is checked makes a loss of marks and no more.
constexpr u32 entry_count = 256 * 64;
constexpr u64 entry_magic = 0;
} // namespace ink_i
// One table a file, or one a program with -rdc=true, as of ink_current.
#if defined(__CUDACC_RTC__) && __cplusplus >= 201703L
inline __device__ ink_i::state_entry ink_entries[ink_i::entry_count];
#elif defined(__CUDACC_RTC__)
__device__ __attribute__((weak)) ink_i::state_entry ink_entries[ink_i::entry_count];
#elif defined(__CUDACC_RDC__)
inline __device__ ink_i::state_entry ink_entries[ink_i::entry_count];
#else
static __device__ __attribute__((unused)) ink_i::state_entry ink_entries[ink_i::entry_count];
#endif
namespace ink_i {
#if defined(__CUDA_ARCH__)
using entry_address = u64;
__device__ __forceinline__ entry_address entries_at() { return __cvta_generic_to_global(ink_entries); }
// The place is not volatile: one reading serves all marks of a function. A warp that is moved in between loses marks.
__device__ __forceinline__ entry_address entry_of(u32 place) {
  return address_of(entries_at(), place % entry_count, sizeof(state_entry));
}
__device__ __forceinline__ bool has_entry(u32) { return true; }
#define INK_I_ENTRY "global"
#define INK_I_ENTRY_AT "l"
#endif

#endif

#if defined(__CUDA_ARCH__)

// ---- entries by their address --------------------------------------------------------------------

__device__ __forceinline__ void load_entry(entry_address at, u64 &state_at, u64 &grid) {
  asm volatile("ld." INK_I_ENTRY ".v2.u64 {%0, %1}, [%2];" : "=l"(state_at), "=l"(grid) : INK_I_ENTRY_AT(at));
}

// The cursor of the ring that marks without a context have, and the counts; false: this thread has none.
__device__ __forceinline__ bool find_called(u64 &state_at, cursor &at, u64 &bytes, u64 &extra) {
  const u32 place = warp_place();
  u64 grid;
  if (!has_entry(linear_thread() / 32))
    return false;
  load_entry(entry_of(place), state_at, grid);
  if ((u32)grid != (u32)(read_gridid() ^ entry_magic) || !state_at)
    return false;
  u32 low, high, word;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(low), "=r"(high), "=r"(at.mask), "=r"(word)
               : "l"(state_at));
  if (word != state_word(place))
    return false;
  load_u64x2<INK_I_AT(ink_device_state, aux_bytes)>(state_at, bytes, extra);
  const u64 ring = ((u64)high << 32 | low) + ((at.mask | 7) + 1);
  at.low = (u32)ring;
  at.high = (u32)(ring >> 32);
  return true;
}

#endif // __CUDA_ARCH__

} // namespace ink_i

#endif
#endif
