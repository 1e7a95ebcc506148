// SPDX-License-Identifier: MIT
// Private: a kernel's track whose cursor stays in memory, for kernels that have no register for one. Its marks are those
// of a called function: each finds the track by its warp's entry, and nothing of one lives until the next.
#ifndef INKMARK_MARK_APART_CUH
#define INKMARK_MARK_APART_CUH

#include "inkmark/mark_impl.cuh"

namespace ink_i {

struct apart : found_marks<true> {
  __host__ __device__ __forceinline__ apart operator()() const { return *this; }
#if defined(__CUDA_ARCH__)
  template <u64 Role> __device__ __forceinline__ void role() {
#if !defined(INKMARK_NO_CALLED)
    cursor at;
    if (find_track(at))
      store_role(at, Role);
#endif
  }
#if !defined(INKMARK_NO_CALLED)
  // The body's cursor, at its beginning; false: this thread has no track.
  static __device__ __forceinline__ bool find_track(cursor &at) {
    const u32 place = warp_place_anew();
    u64 state_at, ring, unused;
    if (!find_state<true>(place, state_at) || !load_state<true>(place, state_at, at, unused, unused))
      return false;
    load_u64<INK_I_AT(ink_device_state, ring)>(state_at, ring);
    at.low = (u32)ring;
    at.high = (u32)(ring >> 32);
    return true;
  }
#endif
#endif
};

template <u32 Section, u64 Hash> class scope<Section, Hash, apart> {
  apart context;

public:
  __host__ __device__ __forceinline__ explicit scope(apart) { stamp<INK_KIND_BEGIN, Section, Hash>(context); }
  __host__ __device__ __forceinline__ ~scope() { stamp<INK_KIND_END, Section, Hash>(context); }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;
};

// Open until the end of its scope. The context is another object, which a lambda may copy.
template <u64 Table, bool Chosen> class apart_track {
public:
  template <u64 Bytes>
  __host__ __device__ __forceinline__ apart_track(u32 section, bool cond, instance<Bytes> name) {
#if defined(__CUDA_ARCH__)
    ink_buffer *buffer = from_symbol().buffer();
    cursor at;
    if ((u32)(u64)buffer && (Chosen ? cond : read_lane() == 0))
      open_track(__cvta_generic_to_global(buffer), INK_KERNEL_KEY(Table, section), Chosen, name, at);
#endif
  }
  __host__ __device__ __forceinline__ ~apart_track() {
#if defined(__CUDA_ARCH__) && !defined(INKMARK_NO_CALLED)
    cursor at;
    if (apart::find_track(at))
      close_track(at, 0, 0, Chosen);
#endif
  }
  apart_track(const apart_track &) = delete;
  apart_track &operator=(const apart_track &) = delete;
};

} // namespace ink_i

#define INK_KERNEL_APART(S) INK_I_KERNEL_APART(false, false, S)
#define INK_KERNEL_APART_IF(cond, S) INK_I_KERNEL_APART(true, (cond), S)
#if defined(INKMARK_NO_CALLED) // no entries
#define INK_I_KERNEL_APART(chosen, cond, S) INK_I_KERNEL_SYMBOL(kernel, S, chosen, cond)
#else
#define INK_I_KERNEL_APART(chosen, cond, S)                                                        \
  const ::ink_i::apart_track<ink_table_hash(names_of_PROF_SECTIONS::S), chosen> ink_track_(        \
      names_of_PROF_SECTIONS::S, cond, INK_I_INSTANCE);                                            \
  const ::ink_i::apart ink_ctx_ = ::ink_i::apart();                                                \
  (void)ink_ctx_
#endif

#endif
