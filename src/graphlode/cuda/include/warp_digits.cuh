// warp_digits.cuh - finds the lanes of a warp that have the same digit. All 32 lanes must call it.
//
// One ballot per bit returns the lanes that have it set. The peers of a lane agree with it in all bits. Inline PTX is
// used because the compiler tests every bit twice when the code is written with intrinsics: twice the instructions.
#pragma once
#include "platform.cuh"

constexpr unsigned warp_digit_bits = 8;

#ifdef GRAPHLODE_EMULATED
inline unsigned lanes_with_same_digit(unsigned digit) {
  unsigned peers = full_mask;
  for (unsigned bit = 0; bit < warp_digit_bits; ++bit) {
    const bool set = (digit >> bit & 1u) != 0;
    const unsigned votes = __ballot_sync(full_mask, set);
    peers &= set ? votes : ~votes;
  }
  return peers;
}
#else
// The lanes that agree with this one in bit `Bit`.
template <unsigned Bit>
__device__ __forceinline__ unsigned lanes_with_same_bit(unsigned digit) {
  unsigned lanes;
  asm volatile(
      "{ .reg .pred set; .reg .b32 bit;\n"
      "and.b32 bit, %1, %2;\n"
      "setp.ne.u32 set, bit, 0;\n"
      "vote.sync.ballot.b32 %0, set, 0xffffffff;\n"
      "@!set not.b32 %0, %0; }"
      : "=r"(lanes)
      : "r"(digit), "n"(1u << Bit));
  return lanes;
}

// One three-input AND. The compiler does not merge the ANDs itself when an operand is inverted conditionally.
__device__ __forceinline__ unsigned in_all_three(unsigned a, unsigned b, unsigned c) {
  unsigned lanes;
  asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(lanes) : "r"(a), "r"(b), "r"(c));
  return lanes;
}

__device__ __forceinline__ unsigned lanes_with_same_digit(unsigned digit) {
  unsigned lanes =
      in_all_three(lanes_with_same_bit<0>(digit), lanes_with_same_bit<1>(digit), lanes_with_same_bit<2>(digit));
  lanes = in_all_three(lanes, lanes_with_same_bit<3>(digit), lanes_with_same_bit<4>(digit));
  lanes = in_all_three(lanes, lanes_with_same_bit<5>(digit), lanes_with_same_bit<6>(digit));
  return lanes & lanes_with_same_bit<7>(digit);
}
#endif
