// cliques/rows.cpp - extracts rows and columns from a bit matrix.
//
// Extracting the bits that a mask selects is one instruction on x86 with BMI2, and a loop over the bits elsewhere.
#include "cliques/rows.hpp"

namespace graphlode::mining {
namespace {

struct extract_portable {
  static word extract(word bits, word mask) {
    word out = 0;
    for (word wanted = bits & mask; wanted; wanted &= wanted - 1)
      out |= word{1} << count_bits(mask & ((wanted & -wanted) - 1));
    return out;
  }
};

// Appends the bits of `part` that `set` selects to `to`, word by word.
template <class Extract>
[[gnu::always_inline]] inline void extract_words(const word* part, const word* set, int words, word* to, int to_words) {
  for (int w = 0; w < to_words; ++w) to[w] = 0;
  int at = 0;
  for (int w = 0; w < words; ++w) {
    if (set[w] == 0) continue;
    const word bits = Extract::extract(part[w], set[w]);
    const int shift = at % word_bits;
    to[at / word_bits] |= bits << shift;
    if (shift && at / word_bits + 1 < to_words) to[at / word_bits + 1] |= bits >> (word_bits - shift);
    at += count_bits(set[w]);
  }
}

template <class Extract>
[[gnu::always_inline]] inline void extract_rows(const row_block& from, const word* set, row_block& to) {
  int i = 0;
  for (int w = 0; w < from.words; ++w)
    for (word left = set[w]; left; left &= left - 1, ++i)
      extract_words<Extract>(from.row(w * word_bits + lowest_bit(left)), set, from.words, to.row(i), to.words);
}

#if defined(__x86_64__) && defined(__GNUC__)
struct extract_bmi2 {
  // Inline assembly, because the intrinsic may be used only in functions that are compiled for BMI2 as a whole.
  static word extract(word bits, word mask) {
    word out;
    __asm__("pext %2, %1, %0" : "=r"(out) : "r"(bits), "r"(mask));
    return out;
  }
};
[[gnu::target("popcnt")]] void rows_bmi2(const row_block& from, const word* set, row_block& to) {
  extract_rows<extract_bmi2>(from, set, to);
}
[[gnu::target("popcnt")]] void set_bmi2(const word* part, const word* set, int words, word* to, int to_words) {
  extract_words<extract_bmi2>(part, set, words, to, to_words);
}
const bool has_bmi2 = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#endif

}  // namespace

void narrow_set(const word* part, const word* set, int words, word* to, int to_words) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_bmi2) return set_bmi2(part, set, words, to, to_words);
#endif
  extract_words<extract_portable>(part, set, words, to, to_words);
}

void narrow_rows(const row_block& from, const word* set, row_block& to, bool with_names) {
  if (with_names) {
    int i = 0;
    for (int w = 0; w < from.words; ++w)
      for (word left = set[w]; left; left &= left - 1) to.names[i++] = from.names[w * word_bits + lowest_bit(left)];
  }
#if defined(__x86_64__) && defined(__GNUC__)
  if (has_bmi2) return rows_bmi2(from, set, to);
#endif
  extract_rows<extract_portable>(from, set, to);
}

}  // namespace graphlode::mining
