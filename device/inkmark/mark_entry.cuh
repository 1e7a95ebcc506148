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
// Read where it stands, and kept for nothing else.
__device__ __forceinline__ u32 warp_place_anew() {
  u32 sm, warp;
  asm volatile("mov.u32 %0, %%smid; mov.u32 %1, %%warpid;" : "=r"(sm), "=r"(warp));
  return sm * 64 + warp;
}
__device__ __forceinline__ u32 read_lane_anew() {
  u32 lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
template <bool Anew = false> __device__ __forceinline__ u32 state_word(u32 place) {
  return (Anew ? read_lane_anew() : read_lane()) * entry_lane + (place * 8 + 1);
}
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
// One table a file, or one a program with -rdc=true, as of the buffer's symbol.
#if defined(__CUDACC_RTC__) && __cplusplus >= 201703L
inline __device__ ink_i::state_entry INK_ENTRIES_SYMBOL[ink_i::entry_count];
#elif defined(__CUDACC_RTC__)
__device__ __attribute__((weak)) ink_i::state_entry INK_ENTRIES_SYMBOL[ink_i::entry_count];
#elif defined(__CUDACC_RDC__)
inline __device__ ink_i::state_entry INK_ENTRIES_SYMBOL[ink_i::entry_count];
#else
static __device__ __attribute__((unused)) ink_i::state_entry INK_ENTRIES_SYMBOL[ink_i::entry_count];
#endif
namespace ink_i {
#if defined(__CUDA_ARCH__)
using entry_address = u64;
__device__ __forceinline__ entry_address entries_at() { return __cvta_generic_to_global(INK_ENTRIES_SYMBOL); }
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

// What the entry of this warp names, if it is of this grid.
template <bool Anew = false> __device__ __forceinline__ bool find_state(u32 place, u64 &state_at) {
  u64 grid;
  u32 named;
  if (!has_entry(linear_thread() / 32))
    return false;
  asm volatile("{\n\t"
               ".reg .u32 _l, _h;\n\t"
               "ld." INK_I_ENTRY ".v2.u64 {%0, %1}, [%3];\n\t"
               "mov.b64 {_l, _h}, %0;\n\t"
               "or.b32 %2, _l, _h;\n\t"
               "}"
               : "=l"(state_at), "=l"(grid), "=r"(named)
               : INK_I_ENTRY_AT(entry_of(place)));
  return (u32)grid == (u32)((Anew ? read_gridid_anew() : read_gridid()) ^ entry_magic) && named;
}

// The cursor of the ring that marks without a context have, and the counts; false: this thread has none. All of a state is
// loaded at once.
template <bool Anew = false>
__device__ __forceinline__ bool load_state(u32 place, u64 state_at, cursor &at, u64 &bytes, u64 &extra) {
  u64 ring;
  u32 word;
  asm volatile("{\n\t"
               ".reg .u32 _l, _h, _m;\n\t"
               "ld.global.v4.u32 {_l, _h, %1, %2}, [%5];\n\t"
               "ld.global.v2.u64 {%3, %4}, [%5+16];\n\t"
               "mov.b64 %0, {_l, _h};\n\t"
               "and.b32 _m, %1, 0xfffffff8;\n\t"
               "mad.wide.u32 %0, _m, 2, %0;\n\t" // behind the ring of the body; what is below its size is not used
               "}"
               : "=l"(ring), "=r"(at.mask), "=r"(word), "=l"(bytes), "=l"(extra)
               : "l"(state_at));
  at.low = (u32)ring;
  at.high = (u32)(ring >> 32);
  return word == state_word<Anew>(place);
}

// Whether the whole record fits: keep last, or the first round. What did not fit was counted, so nothing fits after it.
// `end` is where the record after it begins. In PTX, because compilers add twice otherwise, and branch.
template <u32 Length> __device__ __forceinline__ u32 fits_called(u32 mine, u32 mask, u64 bytes, u64 &end) {
  u32 on;
  asm("{\n\t"
      ".reg .pred _on, _all; .reg .u32 _l, _h, _last;\n\t"
      "mov.b64 {_last, _h}, %4;\n\t"
      "add.u32 _last, _last, %6;\n\t"
      "add.u64 %1, %4, %5;\n\t"
      "mov.b64 {_l, _h}, %1;\n\t"
      "lop3.b32 _last, _last, %3, _h, 0xBA;\n\t" // (last & ~mask) | high
      "setp.ne.u32 _all, %2, 0;\n\t"
      "setp.eq.and.u32 _on, _last, 0, _all;\n\t"
      "and.b32 _l, %3, 0xfffffff8;\n\t"
      "setp.ne.and.u32 _all, _l, %3, _all;\n\t"
      "or.pred _on, _on, _all;\n\t"
      "selp.u32 %0, 1, 0, _on;\n\t"
      "}"
      : "=r"(on), "=l"(end)
      : "r"(mine), "r"(mask), "l"(bytes), "n"(8 * Length), "n"(8 * Length - 8));
  return on;
}
template <u32 Length> __device__ __forceinline__ void count_called(u64 state_at, u32 mine, u64 end, u64 extra) {
  asm volatile("{\n\t"
               ".reg .pred _mine; .reg .u64 _e;\n\t"
               "setp.ne.u32 _mine, %1, 0;\n\t"
               "add.u64 _e, %3, %4;\n\t"
               "@_mine st.global.v2.u64 [%0+16], {%2, _e};\n\t"
               "}"
               :
               : "l"(state_at), "r"(mine), "l"(end), "l"(extra), "n"(Length - 1)
               : "memory");
}

#endif // __CUDA_ARCH__

} // namespace ink_i

#endif
#endif
