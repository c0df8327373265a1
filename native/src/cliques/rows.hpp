// cliques/rows.hpp - the neighborhood of a root as a square matrix of bits, and smaller matrices cut out of it.
//
// Bit j of row i says that candidates i and j are adjacent. Rows have one of a few widths that searches are compiled
// for, or any larger width. A search that has narrowed its candidates down copies their rows into a narrower block: the
// copy costs about as much as one visit of a node, and every later visit costs half or less.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "graphlode/memory.hpp"

namespace graphlode::mining {

using word = std::uint64_t;
constexpr int word_bits = 64;

// Words per row that searches are compiled for; 0 stands for any width.
constexpr std::array<int, 7> compiled_widths{1, 2, 4, 8, 16, 32, 0};
constexpr int num_width_classes = static_cast<int>(compiled_widths.size());
constexpr int any_width_class = num_width_classes - 1;

constexpr int words_for(int size) { return (size + word_bits - 1) / word_bits; }

struct row_width {
  int width_class;
  int words;
};

// The narrowest rows for so many candidates. Searches that also count per vertex or edge are compiled for one word and
// for any width alone: they spend their time elsewhere.
constexpr row_width width_for(int size, bool few_widths) {
  const int words = words_for(size);
  for (int c = 0; c < (few_widths ? 1 : any_width_class); ++c)
    if (words <= compiled_widths[static_cast<std::size_t>(c)]) return {c, compiled_widths[static_cast<std::size_t>(c)]};
  return {any_width_class, words};
}

struct row_block {
  int size = 0;                // candidates
  int words = 0;               // words per row
  buffer<word> bits;           // size x words
  buffer<std::int32_t> names;  // candidate -> place in the root's row; only for counts per vertex or edge

  word* row(int i) { return bits.data() + static_cast<std::int64_t>(i) * words; }
  const word* row(int i) const { return bits.data() + static_cast<std::int64_t>(i) * words; }

  void resize(int new_size, int new_words, bool with_names) {
    size = new_size;
    words = new_words;
    const auto needed = static_cast<std::size_t>(new_size) * static_cast<std::size_t>(new_words);
    if (bits.size() < needed) bits = buffer<word>(needed);
    if (with_names && names.size() < static_cast<std::size_t>(new_size)) names = buffer<std::int32_t>(new_size);
  }
};

// One block per width class, reused from search to search. A block that another thread still works on, because a branch
// was given away, is left to it and replaced.
class row_slots {
 public:
  std::shared_ptr<row_block>& fresh(int width_class) {
    auto& slot = slots_[static_cast<std::size_t>(width_class)];
    if (!slot || slot.use_count() > 1) slot = std::make_shared<row_block>();
    std::atomic_thread_fence(std::memory_order_acquire);  // what the last other user read, it read before we write
    return slot;
  }

 private:
  std::array<std::shared_ptr<row_block>, num_width_classes> slots_;
};

// As builtins: the standard functions are compiled on their own, for the plain instruction set, and not inlined into
// functions that are compiled for a richer one.
[[gnu::always_inline]] inline int count_bits(word bits) { return __builtin_popcountll(bits); }
[[gnu::always_inline]] inline int lowest_bit(word bits) { return __builtin_ctzll(bits); }

inline void set_bit(word* set, int i) { set[i / word_bits] |= word{1} << (i % word_bits); }

inline void fill_set(word* set, int size, int words) {
  for (int w = 0; w < words; ++w) {
    const int left = size - w * word_bits;
    set[w] = left >= word_bits ? ~word{0} : left > 0 ? (word{1} << left) - 1 : 0;
  }
}

// Copies the rows and columns of the candidates in `set` (of `size` members) to `to`, which must have been resized.
void narrow_rows(const row_block& from, const word* set, row_block& to, bool with_names);

// The members of `part`, a subset of `set`, as places among the members of `set`: `to` has `to_words` words.
void narrow_set(const word* part, const word* set, int words, word* to, int to_words);

}  // namespace graphlode::mining
