// SPDX-License-Identifier: MIT
// Private: the context of marks whose cursor is in registers: a kernel's, and what a function with PROF_PARAMS is
// given of it. One type without template parameters, so that the functions need none.
#ifndef INKMARK_MARK_CONTEXT_CUH
#define INKMARK_MARK_CONTEXT_CUH

#include "inkmark/mark_track.cuh"

namespace ink_i {

// ---- sums: count, total, min and max in registers ----------------------------------------------

// The count stays at 2^32 - 1 and a pass counts at most as many cycles as least and most, so that seven registers do
// where ten would: the total is exact.
struct sum {
  u32 section;
  u32 count, least, most;
  u64 hash, begun, total;

  __device__ __forceinline__ void clear() {
    count = most = 0;
    total = 0;
    least = ~0u;
  }
};

// ---- the context -------------------------------------------------------------------------------

// Where this thread's next record goes. A mark works on a copy: where a callee has it in memory, it is read and
// written once a mark. Set field by field: of an aggregate initialiser nvcc makes a global object of zeros with
// -rdc=true, which every opening would load.
struct __align__(16) place {
  cursor at;      // high is 0 where this thread does not record
  u32 on;         // 1: this thread records, and its ring is not full
  u64 bytes;      // 8 a word, not masked
  u64 extra;      // words

#if defined(__CUDA_ARCH__)
  template <u32 Tag> __device__ __forceinline__ void stamp() {
    store_stamp<Tag>(at, bytes, on);
    bytes += 8;
  }
  template <bool Escaped, u32 Length> __device__ __forceinline__ void put(const u64 (&record)[Length]) {
#pragma unroll
    for (u32 i = 0; i + 1 < Length; i++) // does the whole record fit? else the ring is full from here on
      stop_at_end(on, bytes + 8 * i, at.mask);
    store_record<Escaped>(at, bytes, on, record);
    stop_at_end(on, bytes + 8 * (Length - 1), at.mask);
    bytes += 8 * Length;
    extra += Length - 1;
  }
  __device__ __forceinline__ void put_sum(sum &of) {
    if (of.count == 0)
      return;
    const u64 now = read_clock();
    const u64 record[] = {of.count, of.total, of.least, of.most,
                          head_word(INK_TAG(INK_KIND_INSTANT, of.section), now),
                          escape_word(INK_ESCAPE_SUM, of.hash, now)};
    put<true>(record);
    of.clear();
  }
#endif
};

// Copied by a lambda that captures by value, where the copy is const: told in words, once it is instantiated.
#define INK_I_BY_REFERENCE(holds)                                                                  \
  static_assert(holds, "inkmark: marks in a lambda need the kernel's cursor by reference: capture by [&] (or " \
                       "[=, &ink_ctx_]), or begin the lambda with PROF_LAMBDA()")
#define INK_I_NOT_COPIED(type)                                                                     \
  template <bool ByReference = false>                                                              \
  __host__ __device__ __forceinline__ type &operator()() const {                                   \
    INK_I_BY_REFERENCE(ByReference);                                                               \
    return const_cast<type &>(*this);                                                              \
  }

template <u32 Length> struct calls {}; // that many, one in the other

template <class Lent> class lending;

struct __align__(16) context {
  place here;
  u64 table;      // the hash of the kernel's section table; 0 while the place is lent: no table's hash
  u32 is_lent;    // 1: while a call with PROF_ARGS is under way the place is that of *lent
  u32 summed;     // bit i: sums[i] is in use
  context *lent;
  static constexpr u32 sum_slots = 2; // of a function; more sections than this in turn: more records
  sum sums[sum_slots];

  __host__ __device__ __forceinline__ context() : table(0), is_lent(0), summed(0), lent(nullptr) {
    here.at.low = here.at.high = here.at.mask = here.on = 0;
    here.bytes = here.extra = 0;
  }
  context(const context &) = delete;
  context &operator=(const context &) = delete;

  __host__ __device__ __forceinline__ context &operator()() { return *this; }
  INK_I_NOT_COPIED(context)

  // Around each mark: it may stand in the full expression of a call that the place is lent to, or in a lambda that
  // the callee calls. Then the callee's place is fetched and given back; it may have been lent on, N times in all.
  // Copies, never a pointer to one of several: that would be a cursor in memory.
  __host__ __device__ __forceinline__ void fetch() { fetch(calls<1>()); }
  __host__ __device__ __forceinline__ void give() { give(calls<1>()); }
  __host__ __device__ __forceinline__ void fetch(calls<0>) {}
  __host__ __device__ __forceinline__ void give(calls<0>) {}
  template <u32 Length> __host__ __device__ __forceinline__ void fetch(calls<Length>) {
    if (is_lent) {
      lent->fetch(calls<Length - 1>());
      here = lent->here;
      table = lent->table;
    }
  }
  template <u32 Length> __host__ __device__ __forceinline__ void give(calls<Length>) {
    if (is_lent) {
      table = 0;
      lent->here = here;
      lent->give(calls<Length - 1>());
    }
  }
  // What a further call in that expression is given.
  __host__ __device__ __forceinline__ context &borrower(calls<0>) { return *this; }
  template <u32 Length> __host__ __device__ __forceinline__ context &borrower(calls<Length>) {
    return is_lent ? lent->borrower(calls<Length - 1>()) : *this;
  }

#if defined(__CUDA_ARCH__)
  // A word whose uppermost bit is 0, which no compiler knows: addresses have fewer bits.
  __device__ __forceinline__ u32 top_is_zero() const { return here.at.high; }

  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp_at(u64 now) {
    if (Hash == table) {
      const u64 record[] = {head_word(INK_TAG(Kind, Section), now)};
      put<false>(record);
    } else {
      const u64 record[] = {head_word(INK_TAG(Kind, Section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put<true>(record);
    }
  }
  // May a mark do without fetch() and give()? One comparison for both: is it of the kernel's table, is nothing lent?
  template <u64 Hash> __device__ __forceinline__ bool is_usual() const { return Hash == table; }
  // The mark that may not. In a function that is not inlined it is code beside each mark: one form for its own table and
  // for another's. The words are stored as of a record of one word, or of two.
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp_unusual() {
    fetch();
    place next = here;
    const u32 more = Hash != table;
    const u64 now = read_clock();
    if (more)
      stop_at_end(next.on, next.bytes, next.at.mask);
    store_word(next.at, next.bytes + 8, next.on & more, escape_word(INK_ESCAPE_TABLE, Hash, now));
    store_word(next.at, next.bytes, next.on, head_word(INK_TAG(Kind, Section), now));
    next.bytes += 8 * more;
    next.extra += more;
    stop_at_end(next.on, next.bytes, next.at.mask);
    next.bytes += 8;
    here = next;
    give();
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp() {
    if (Section == 0 || Hash == table) {
      place next = here;
      next.stamp<INK_TAG(Kind, Section)>();
      here = next;
    } else {
      const u64 now = read_clock();
      const u64 record[] = {head_word(INK_TAG(Kind, Section), now), escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put<true>(record);
    }
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp(u64 payload) {
    const u64 now = read_clock();
    if (Section == 0 || Hash == table) {
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now)};
      put<false>(record);
    } else {
      const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put<true>(record);
    }
  }
  template <u32 Section, u64 Hash>
  __device__ __forceinline__ void value(u32 escape, u64 payload) {
    const u64 now = read_clock();
    const u64 record[] = {payload, head_word(INK_TAG(INK_KIND_INSTANT, Section), now),
                          escape_word(escape, Hash, now)};
    put<true>(record);
  }
  // A number with a range, or a key that other threads may know: an escape names the table too.
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void escaped(u32 escape, u64 payload) {
    const u64 now = read_clock();
    const u64 record[] = {payload, head_word(INK_TAG(Kind, Section), now), escape_word(escape, Hash, now)};
    put<true>(record);
  }
  template <u32 Kind, u32 Section, u64 Hash>
  __device__ __forceinline__ void escaped(u32 escape, u64 cluster, u64 key) {
    const u64 now = read_clock();
    const u64 record[] = {cluster, key, head_word(INK_TAG(Kind, Section), now), escape_word(escape, Hash, now)};
    put<true>(record);
  }
  template <u64 Hash> __device__ __forceinline__ void stamp_id(u32 section) {
    const u64 now = read_clock();
    if (Hash == table) {
      const u64 record[] = {head_word(INK_TAG(INK_KIND_MARK, section), now)};
      put<false>(record);
    } else {
      const u64 record[] = {head_word(INK_TAG(INK_KIND_MARK, section), now),
                            escape_word(INK_ESCAPE_TABLE, Hash, now)};
      put<true>(record);
    }
  }
  template <u64 Role> __device__ __forceinline__ void role() { store_role(here.at, Role); }
  __device__ __forceinline__ void clocks() {
    const u64 before = read_clock();
    const u64 ns = read_globaltimer();
    const u64 after = read_clock();
    const u64 record[] = {before, after, ns, head_word(INK_TAG(INK_KIND_INSTANT, 0), after),
                          escape_word(INK_ESCAPE_CLOCKS, 0, after)};
    put<true>(record);
  }
  template <bool Escaped, u32 Length> __device__ __forceinline__ void put(const u64 (&record)[Length]) {
    place next = here;
    next.put<Escaped>(record);
    here = next;
  }

  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_begin() {
    begin_sum<Section, Hash>(sums, summed);
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_end() {
    end_sum<Section>(sums, summed);
  }
  __device__ __forceinline__ void flush_sums() { flush(sums, summed); }
  __device__ __forceinline__ void close() {} // refused before: see mark_impl.cuh

  // Before a loop whose sums have a slot each: inside, nothing is left to be told at run time.
  template <u32 Section, u64 Hash, u32 Length>
  __device__ __forceinline__ void clear_sum(sum (&slots)[Length], u32 &used) {
    sum &slot = slots[Section % Length];
    used |= 1u << Section % Length;
    slot.section = Section;
    slot.hash = Hash;
    slot.clear();
  }
  template <u32 Section, u64 Hash, u32 Length>
  __device__ __forceinline__ void begin_sum(sum (&slots)[Length], u32 &used) {
    sum &slot = slots[Section % Length];
    if (!(used >> Section % Length & 1)) {
      used |= 1u << Section % Length;
      slot.section = 0;
      slot.count = 0;
    }
    if (slot.section != Section || slot.hash != Hash) { // known at compile time but for shared slots
      here.put_sum(slot);
      clear_sum<Section, Hash>(slots, used);
    }
    slot.begun = read_clock();
  }
  template <u32 Section, u32 Length> __device__ __forceinline__ void end_sum(sum (&slots)[Length], u32 used) {
    if (!(used >> Section % Length & 1)) // its PROF_SUM_BEGIN stands in another function
      return;
    sum &slot = slots[Section % Length];
    const u64 cycles = read_clock() - slot.begun;
    const u32 pass = cycles >> 32 ? ~0u : (u32)cycles;
    slot.count += slot.count != ~0u;
    slot.total += cycles;
    slot.least = pass < slot.least ? pass : slot.least;
    slot.most = pass > slot.most ? pass : slot.most;
  }
  template <u32 Length> __device__ __forceinline__ void flush(sum (&slots)[Length], u32 used) {
    if (used == 0)
      return;
#pragma unroll
    for (u32 i = 0; i < Length; i++)
      if (used >> i & 1)
        here.put_sum(slots[i]);
  }
#endif
};

// The context of an object (PROF_MEMBER): a pointer to that of the kernel, or none.
class bound {
  context *to = nullptr;

public:
  __host__ __device__ __forceinline__ void bind(context *in) { to = in; }
  __host__ __device__ __forceinline__ context *get() const { return to; }
  __host__ __device__ __forceinline__ const bound &operator()() const { return *this; }
  __host__ __device__ __forceinline__ void fetch() const {
    if (to)
      to->fetch();
  }
  __host__ __device__ __forceinline__ void give() const {
    if (to)
      to->give();
  }

#if defined(__CUDA_ARCH__)
  __device__ __forceinline__ u32 top_is_zero() const { return read_smid(); }
  template <u64 Hash> __device__ __forceinline__ bool is_usual() const { return !to || to->template is_usual<Hash>(); }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp_at(u64 now) const {
    if (to)
      to->template stamp_at<Kind, Section, Hash>(now);
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp() const {
    if (to)
      to->template stamp<Kind, Section, Hash>();
  }
  template <u32 Kind, u32 Section, u64 Hash> __device__ __forceinline__ void stamp(u64 payload) const {
    if (to)
      to->template stamp<Kind, Section, Hash>(payload);
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void value(u32 escape, u64 payload) const {
    if (to)
      to->template value<Section, Hash>(escape, payload);
  }
  template <u32 Kind, u32 Section, u64 Hash>
  __device__ __forceinline__ void escaped(u32 escape, u64 payload) const {
    if (to)
      to->template escaped<Kind, Section, Hash>(escape, payload);
  }
  template <u32 Kind, u32 Section, u64 Hash>
  __device__ __forceinline__ void escaped(u32 escape, u64 cluster, u64 key) const {
    if (to)
      to->template escaped<Kind, Section, Hash>(escape, cluster, key);
  }
  template <u64 Hash> __device__ __forceinline__ void stamp_id(u32 section) const {
    if (to)
      to->template stamp_id<Hash>(section);
  }
  template <u64 Role> __device__ __forceinline__ void role() const {
    if (to)
      to->template role<Role>();
  }
  __device__ __forceinline__ void clocks() const {
    if (to)
      to->clocks();
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_begin() const {
    if (to)
      to->template sum_begin<Section, Hash>();
  }
  template <u32 Section, u64 Hash> __device__ __forceinline__ void sum_end() const {
    if (to)
      to->template sum_end<Section, Hash>();
  }
  __device__ __forceinline__ void flush_sums() const {
    if (to)
      to->flush_sums();
  }
  __device__ __forceinline__ void close() const {}
#endif
};

// What PROF_ARGS lends the context of. `ink_ctx_` may be a function, or a lambda's: see mark.cuh.
__host__ __device__ __forceinline__ context *lender_at(context *of) { return of; }
__host__ __device__ __forceinline__ context *lender_at(const bound *of) { return of->get(); }
struct no_lender {
  __host__ __device__ __forceinline__ operator context *() const { return nullptr; }
};
__host__ __device__ no_lender lender_at(const volatile void *of);
__host__ __device__ no_lender lender_at(struct called (*function)());
template <class From> __host__ __device__ __forceinline__ context *lender(From &of) {
  static_assert(sizeof lender_at(&of) == sizeof(context *),
                "inkmark: PROF_ARGS needs a context: a PROF_KERNEL before it, PROF_PARAMS of this function, or "
                "PROF_ARGS_OFF, which records nothing");
  return lender_at(&of);
}

// PROF_ARGS: for the length of the full expression the cursor is in a temporary of its own, whose address is all
// that the callee gets. Where the callee is not inlined, that temporary is in memory, and the caller's context
// stays in registers: the lending object knows both, and no callee sees it. A second PROF_ARGS in the
// same expression, and marks in it, use the same temporary: see context::operator().
template <class Lent> class lending {
  context *from;      // NULL: of an object that was not bound
  Lent &temporary;
  u64 table;
  bool first; // this object's temporary is the one in use

public:
  __host__ __device__ __forceinline__ lending(Lent &&own, context *lender)
      : from(lender), temporary(own), table(0), first(lender && !lender->is_lent) {
    if (first) {
      context &own_context = temporary;
      own_context.here = from->here;
      own_context.table = table = from->table;
      from->table = 0;
      from->lent = &own_context;
      from->is_lent = 1;
    }
  }
  __host__ __device__ __forceinline__ ~lending() {
    if (first) {
      context &own_context = temporary;
      from->here.at.low = own_context.here.at.low; // the rest of its address does not change
      from->here.on = own_context.here.on;
      from->here.bytes = own_context.here.bytes;
      from->here.extra = own_context.here.extra;
      from->table = table;
      from->is_lent = 0;
#if defined(__CUDA_ARCH__)
      from->flush(own_context.sums, own_context.summed);
#endif
    }
  }
  lending(const lending &) = delete;
  lending &operator=(const lending &) = delete;
  // All contexts that are lent in a kernel are of its type.
  __host__ __device__ __forceinline__ Lent &get() {
    return first || !from ? temporary : static_cast<Lent &>(from->lent->borrower(calls<3>()));
  }
};
// What type the temporary has: that of the context, without what only a kernel's body has.
__host__ __device__ context lent_as(const context &of);
__host__ __device__ context lent_as(const bound &of);
__host__ __device__ context lent_as(const struct called &of);
__host__ __device__ context lent_as(struct called (&function)());
__host__ __device__ __forceinline__ context &lent_nothing(context &&nothing) { return nothing; }

} // namespace ink_i

#endif
