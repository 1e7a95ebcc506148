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

// An entry keeps what its last user left, so it counts only for the thread and the grid that it names, mixed with a
// constant that other data does not hold by chance. A block need not be named: closing clears the entry, and
// where a thread left without closing its track stays open until its grid has ended, so nothing else
// lies in the ring that a later block of the grid would write to.
constexpr u32 entry_magic = 0x9d6b6e69u;
struct __align__(16) state_entry {
  u32 grid; // lower half ^ entry_magic
  u32 thread;
  // The ring's address + records * 4 - 8: ones where the ring's mask has them, but for the uppermost, in
  // bits that are 0 in the address of a ring. + 1 to keep last.
  u32 low, high;
  u64 bytes, extra; // not masked; extra words
};
static_assert(sizeof(state_entry) == 32, "the state is meant to stay small");

#if defined(INKMARK_SHARED)
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
__device__ __forceinline__ entry_address entry_of(u32 thread) {
  return entries_at() + (thread & ~31u); // 32 bytes, 32 threads
}
__device__ __forceinline__ bool has_entry(u32 thread) { return entry_count >= 32 || thread / 32 < entry_count; }
__device__ __forceinline__ entry_address entry_at(u32 kept) { return kept; }
#define INK_I_ENTRY "shared"
#define INK_I_ENTRY_AT "r"
#endif

#else

// SMs beyond the last, and warps, share entries, which what is checked makes a loss of marks and no more.
constexpr u32 entry_sms = 256, entry_warps = 64;
} // namespace ink_i
// One table a file, or one a program with -rdc=true, as of ink_current.
#if defined(__CUDACC_RTC__) && __cplusplus >= 201703L
inline __device__ ink_i::state_entry ink_entries[ink_i::entry_sms * ink_i::entry_warps];
#elif defined(__CUDACC_RTC__)
__device__ __attribute__((weak)) ink_i::state_entry ink_entries[ink_i::entry_sms * ink_i::entry_warps];
#elif defined(__CUDACC_RDC__)
inline __device__ ink_i::state_entry ink_entries[ink_i::entry_sms * ink_i::entry_warps];
#else
static __device__ __attribute__((unused)) ink_i::state_entry ink_entries[ink_i::entry_sms * ink_i::entry_warps];
#endif
namespace ink_i {
#if defined(__CUDA_ARCH__)
using entry_address = u64;
__device__ __forceinline__ entry_address entries_at() { return __cvta_generic_to_global(ink_entries); }
// Not volatile: one reading serves all marks of a function. A warp that is moved in between loses marks.
__device__ __forceinline__ entry_address entry_of(u32) {
  u32 sm, warp;
  asm("mov.u32 %0, %%smid;" : "=r"(sm));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  return address_of(entries_at(), sm % entry_sms * entry_warps + warp % entry_warps, sizeof(state_entry));
}
__device__ __forceinline__ bool has_entry(u32) { return true; }
__device__ __forceinline__ entry_address entry_at(u32 kept) { return address_of(entries_at(), kept, sizeof(state_entry)); }
#define INK_I_ENTRY "global"
#define INK_I_ENTRY_AT "l"
#endif

#endif

#if defined(__CUDA_ARCH__)

// ---- entries by their address --------------------------------------------------------------------

template <int Offset> __device__ __forceinline__ u32 load_entry_u32(entry_address at) {
  u32 word;
  asm volatile("ld." INK_I_ENTRY ".u32 %0, [%1+%2];" : "=r"(word) : INK_I_ENTRY_AT(at), "n"(Offset));
  return word;
}
__device__ __forceinline__ void load_entry_head(entry_address at, u32 &a, u32 &b, u32 &c, u32 &d) {
  asm volatile("ld." INK_I_ENTRY ".v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : INK_I_ENTRY_AT(at));
}
__device__ __forceinline__ void load_entry_counts(entry_address at, u64 &bytes, u64 &extra) {
  asm volatile("ld." INK_I_ENTRY ".v2.u64 {%0, %1}, [%2+%3];"
               : "=l"(bytes), "=l"(extra)
               : INK_I_ENTRY_AT(at), "n"(INK_I_AT(state_entry, bytes)));
}
__device__ __forceinline__ void store_entry_counts(entry_address at, u64 bytes, u64 extra) {
  asm volatile("st." INK_I_ENTRY ".v2.u64 [%0+%1], {%2, %3};"
               :
               : INK_I_ENTRY_AT(at), "n"(INK_I_AT(state_entry, bytes)), "l"(bytes), "l"(extra)
               : "memory");
}
__device__ __forceinline__ void clear_entry(entry_address at) {
  asm volatile("st." INK_I_ENTRY ".u32 [%0+%1], %2;"
               :
               : INK_I_ENTRY_AT(at), "n"(INK_I_AT(state_entry, thread)), "r"(~0u) // no thread
               : "memory");
}

#endif // __CUDA_ARCH__

} // namespace ink_i

#endif
#endif
