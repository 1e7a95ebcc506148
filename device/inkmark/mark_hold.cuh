// SPDX-License-Identifier: MIT
// Private: values named in a mark are passed through an empty `asm volatile` on both sides of the
// clock read, so that what computes them stays before the stamp and what uses them stays after it.
// It costs no instruction of its own: the value stays in its register.
#ifndef INKMARK_MARK_HOLD_CUH
#define INKMARK_MARK_HOLD_CUH

namespace ink_i {

struct end_of_values {}; // closes the value list, so that an empty one needs no extension

template <class Type> struct is_pointer { static constexpr bool value = false; };
template <class Type> struct is_pointer<Type *> { static constexpr bool value = true; };
template <class Type> struct is_pointer<Type *const> { static constexpr bool value = true; };

__host__ __device__ __forceinline__ void hold_one(const end_of_values &) {}
__host__ __device__ __forceinline__ void hold_one(end_of_values &) {}

#if defined(__CUDA_ARCH__)

template <unsigned Bytes> struct hold_bits; // by size, for every type that is not handled by name
template <> struct hold_bits<1> {
  template <class Type> static __device__ __forceinline__ void run(Type &value) {
    unsigned char byte;
    memcpy(&byte, &value, 1);
    unsigned word = byte;
    asm volatile("" : "+r"(word) : : "memory");
    byte = (unsigned char)word;
    memcpy(&value, &byte, 1);
  }
};
template <> struct hold_bits<2> {
  template <class Type> static __device__ __forceinline__ void run(Type &value) {
    unsigned short half;
    memcpy(&half, &value, 2);
    asm volatile("" : "+h"(half) : : "memory");
    memcpy(&value, &half, 2);
  }
};
template <unsigned Bytes> struct hold_bits { // vectors, half2, structs of words
  static_assert(Bytes % 4 == 0, "inkmark: this value cannot be held: its size is not 1, 2 or a "
                                "multiple of 4 bytes");
  template <class Type> static __device__ __forceinline__ void run(Type &value) {
    unsigned words[Bytes / 4];
    memcpy(words, &value, Bytes);
#pragma unroll
    for (unsigned i = 0; i < Bytes / 4; i++)
      asm volatile("" : "+r"(words[i]) : : "memory");
    memcpy(&value, words, Bytes);
  }
};

template <class Type> __device__ __forceinline__ void hold_one(Type &value) {
  static_assert(!is_pointer<Type>::value, "inkmark: hold values, not pointers: a held pointer loses "
                                       "its address space");
  hold_bits<sizeof(Type)>::run(value);
}
template <class Type> __device__ __forceinline__ void hold_one(const Type &value) { // orders what computes it
  Type copy = value;
  hold_one(copy);
}
__device__ __forceinline__ void hold_one(float &v) { asm volatile("" : "+f"(v) : : "memory"); }
__device__ __forceinline__ void hold_one(double &v) { asm volatile("" : "+d"(v) : : "memory"); }
__device__ __forceinline__ void hold_one(int &v) { asm volatile("" : "+r"(v) : : "memory"); }
__device__ __forceinline__ void hold_one(unsigned &v) { asm volatile("" : "+r"(v) : : "memory"); }
__device__ __forceinline__ void hold_one(long &v) {
  long long wide = v;
  asm volatile("" : "+l"(wide) : : "memory");
  v = (long)wide;
}
__device__ __forceinline__ void hold_one(unsigned long &v) {
  unsigned long long wide = v;
  asm volatile("" : "+l"(wide) : : "memory");
  v = (unsigned long)wide;
}
__device__ __forceinline__ void hold_one(long long &v) { asm volatile("" : "+l"(v) : : "memory"); }
__device__ __forceinline__ void hold_one(unsigned long long &v) {
  asm volatile("" : "+l"(v) : : "memory");
}
template <class Type, unsigned long Length> __device__ __forceinline__ void hold_one(Type (&values)[Length]) {
#pragma unroll
  for (unsigned long i = 0; i < Length; i++)
    hold_one(values[i]);
}

#else

template <class Type> __host__ __device__ inline void hold_one(const Type &) {}

#endif

__host__ __device__ __forceinline__ void hold() {}
template <class Type, class... Rest>
__host__ __device__ __forceinline__ void hold(Type &&first, Rest &&...rest) {
  hold_one(first);
  hold(rest...);
}

} // namespace ink_i

#endif
