// rmat.cpp - every edge chooses one quadrant of the adjacency matrix per level, with probabilities a, b, c and d.
//
// Five levels are drawn at once. Their 1,024 outcomes form one alias table (Walker 1977; Vose 1991): 10 bits choose a
// column and 22 bits choose between the column's own outcome and its alias. So one 64-bit word serves ten levels.
// Probabilities of outcomes are rounded to multiples of 2^-32, and the table is built in integers, so that an outcome
// of probability 0 never occurs. The last group uses only the remaining levels and drops the other bits.
#include "graphlode/generate/rmat.hpp"

#include <array>
#include <vector>

#include "graphlode/clones.hpp"
#include "graphlode/generate/random.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::generate {
namespace {

constexpr int levels_per_group = 5;
constexpr std::uint32_t side = 1u << levels_per_group;
constexpr std::uint32_t outcomes = side * side;  // an outcome is (row within the group) * side + column
constexpr int column_bits = 2 * levels_per_group;
constexpr int chance_bits = 32 - column_bits;
constexpr std::uint32_t capacity = 1u << chance_bits;
constexpr std::int64_t block = 512;    // edges per leaf call: its arrays stay in the first-level cache
constexpr std::int64_t grain = 65536;  // edges between checks of the control
constexpr int most_words = 7;          // 64-bit words per edge at the largest scale, 62

// Column i in one word: the lower 22 bits are the share of outcome i in the column, the upper ten bits its alias.
using alias_table = std::array<std::uint32_t, outcomes>;

std::array<std::int64_t, outcomes> outcome_weights(const rmat_model& model) {
  const double quadrant[4] = {model.a, model.b, model.c, std::max(0.0, 1.0 - model.a - model.b - model.c)};
  std::array<std::int64_t, outcomes> weights;
  std::int64_t left = std::int64_t{1} << 32;
  std::uint32_t largest = 0;
  for (std::uint32_t outcome = 0; outcome < outcomes; ++outcome) {
    double probability = 1;
    for (int level = 0; level < levels_per_group; ++level) {
      const auto row = outcome >> (levels_per_group + level) & 1, column = outcome >> level & 1;
      probability *= quadrant[2 * row + column];
    }
    weights[outcome] = static_cast<std::int64_t>(probability * 0x1p32);
    left -= weights[outcome];
    if (weights[outcome] > weights[largest]) largest = outcome;
  }
  weights[largest] += left;  // what rounding down left
  return weights;
}

alias_table make_alias_table(const rmat_model& model) {
  auto weights = outcome_weights(model);
  std::vector<std::uint32_t> poor, rich;
  for (std::uint32_t i = 0; i < outcomes; ++i) (weights[i] < capacity ? poor : rich).push_back(i);
  alias_table table;
  while (!poor.empty()) {
    const auto i = poor.back(), donor = rich.back();  // weights sum to outcomes * capacity, so there is always a donor
    poor.pop_back();
    table[i] = static_cast<std::uint32_t>(weights[i]) | donor << chance_bits;
    weights[donor] -= capacity - weights[i];
    if (weights[donor] < capacity) {
      rich.pop_back();
      poor.push_back(donor);
    }
  }
  for (const auto i : rich) table[i] = i << chance_bits;  // exactly full: both choices are i
  return table;
}

// A bijection of [0, 2^scale): odd multiplications and xor-shifts, all of them invertible.
struct relabeling {
  explicit relabeling(const rmat_model& model) noexcept
      : mask((std::uint64_t{1} << model.scale) - 1), shift((model.scale + 1) / 2) {
    const stream keys(model.seed, purpose::labels);
    for (int round = 0; round < rounds; ++round) {
      factor[round] = keys.word(static_cast<std::uint64_t>(2 * round)) | 1;
      addend[round] = keys.word(static_cast<std::uint64_t>(2 * round + 1));
    }
  }

  template <class Word>
  void apply(Word* label, std::int64_t size) const noexcept {
    for (int round = 0; round < rounds; ++round) {
      const auto times = static_cast<Word>(factor[round]), plus = static_cast<Word>(addend[round]);
      for (std::int64_t i = 0; i < size; ++i) {
        const Word moved = (label[i] * times + plus) & static_cast<Word>(mask);
        label[i] = moved ^ moved >> shift;
      }
    }
  }

  static constexpr int rounds = 4;
  std::uint64_t mask, factor[rounds], addend[rounds];
  int shift;
};

struct recipe {
  explicit recipe(const rmat_model& model)
      : scale(model.scale), relabel(model.relabel), table(make_alias_table(model)), labels(model) {
    starts.reserve(most_words);
    for (int word = 0; word < most_words; ++word)
      starts.emplace_back(model.seed, purpose::rmat, static_cast<std::uint64_t>(word));
  }
  int scale;
  bool relabel;
  alias_table table;
  relabeling labels;
  std::vector<stream> starts;  // the stream of the i-th word of every edge
};

template <class Word>
struct block_arrays {
  alignas(64) Word src[block], dst[block];
};

template <class Word>
inline void add_levels(const std::uint32_t* table, const std::uint32_t* draws, int levels, std::int64_t size,
                       block_arrays<Word>& at) {
  const int dropped = levels_per_group - levels;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::uint32_t column = draws[i] >> chance_bits, entry = table[column];
    const std::uint32_t outcome =
        (draws[i] & (capacity - 1)) < (entry & (capacity - 1)) ? column : entry >> chance_bits;
    at.src[i] = at.src[i] << levels | static_cast<Word>(outcome >> levels_per_group >> dropped);
    at.dst[i] = at.dst[i] << levels | static_cast<Word>((outcome & (side - 1)) >> dropped);
  }
}

template <class Word>
inline void make_block(const recipe& how, std::uint64_t first, std::int64_t size, Word* src, Word* dst) {
  block_arrays<Word> at{};
  alignas(64) std::uint32_t upper[block], lower[block];
  for (int left = how.scale, word = 0; left > 0; ++word) {
    const stream words = how.starts[static_cast<std::size_t>(word)];
    for (std::int64_t i = 0; i < size; ++i) {
      const std::uint64_t draw = words.word(first + static_cast<std::uint64_t>(i));
      upper[i] = static_cast<std::uint32_t>(draw >> 32);
      lower[i] = static_cast<std::uint32_t>(draw);
    }
    for (const auto* draws : {upper, lower}) {
      const int levels = std::min(left, levels_per_group);
      if (levels > 0) add_levels(how.table.data(), draws, levels, size, at);
      left -= levels;
    }
  }
  if (how.relabel) {
    how.labels.apply(at.src, size);
    how.labels.apply(at.dst, size);
  }
  std::copy_n(at.src, size, src);
  std::copy_n(at.dst, size, dst);
}

// The clones. Everything above is inlined into them.
GRAPHLODE_CLONES void make_block_32(const recipe& how, std::uint64_t first, std::int64_t size, std::uint32_t* src,
                                    std::uint32_t* dst) {
  make_block(how, first, size, src, dst);
}
GRAPHLODE_CLONES void make_block_64(const recipe& how, std::uint64_t first, std::int64_t size, std::uint64_t* src,
                                    std::uint64_t* dst) {
  make_block(how, first, size, src, dst);
}

}  // namespace

template <class Vertex>
edges<Vertex> rmat(const rmat_model& model, std::int64_t begin, std::int64_t end, int threads, const control& ctl) {
  const recipe how(model);
  edges<Vertex> made(static_cast<std::size_t>(end - begin));
  parallel_chunks(begin, end, grain, threads, ctl, [&](int, std::int64_t from, std::int64_t to) {
    for (; from < to; from += block) {
      const auto size = std::min(block, to - from);
      const auto first = static_cast<std::uint64_t>(from);
      if constexpr (sizeof(Vertex) == 4) {
        make_block_32(how, first, size, reinterpret_cast<std::uint32_t*>(made.src.data()) + (from - begin),
                      reinterpret_cast<std::uint32_t*>(made.dst.data()) + (from - begin));
      } else {
        make_block_64(how, first, size, reinterpret_cast<std::uint64_t*>(made.src.data()) + (from - begin),
                      reinterpret_cast<std::uint64_t*>(made.dst.data()) + (from - begin));
      }
    }
  });
  return made;
}

template edges<std::int32_t> rmat(const rmat_model&, std::int64_t, std::int64_t, int, const control&);
template edges<std::int64_t> rmat(const rmat_model&, std::int64_t, std::int64_t, int, const control&);

}  // namespace graphlode::generate
