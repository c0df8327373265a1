// rewire.cpp - degree-preserving randomization by edge swaps.
//
// The chain of swaps, in which a rejected attempt counts as a step, is symmetric and connected on the simple graphs of
// one degree sequence. So in the long run each of them is equally likely (Fosdick, Larremore, Nishimura and Ugander,
// SIAM Review 60, 2018). An open-addressing table of all edges of the sample says whether an edge exists. Removal
// leaves no tombstones: later entries move up.
#include "graphlode/mining/rewire.hpp"

#include <algorithm>
#include <bit>

#include "graphlode/generate/random.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::mining {
namespace {

constexpr std::int64_t attempts_between_checks = 1 << 14;

std::uint64_t key_of(std::int32_t a, std::int32_t b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b));
}

class edge_table {
 public:
  explicit edge_table(std::int64_t num_edges)
      : slots_(std::bit_ceil(static_cast<std::size_t>(2 * num_edges + 2)), empty), mask_(slots_.size() - 1) {}

  bool contains(std::uint64_t key) const {
    for (auto at = home(key); slots_[at] != empty; at = (at + 1) & mask_)
      if (slots_[at] == key) return true;
    return false;
  }
  void insert(std::uint64_t key) {
    auto at = home(key);
    while (slots_[at] != empty) at = (at + 1) & mask_;
    slots_[at] = key;
  }
  void remove(std::uint64_t key) {
    auto hole = home(key);
    while (slots_[hole] != key) hole = (hole + 1) & mask_;
    for (auto at = (hole + 1) & mask_; slots_[at] != empty; at = (at + 1) & mask_) {
      // Entries that were displaced beyond the hole move into it.
      if (((at - home(slots_[at])) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = empty;
  }

 private:
  static constexpr std::uint64_t empty = ~std::uint64_t{0};  // not an edge: it would be a self-loop

  std::size_t home(std::uint64_t key) const { return generate::mix(key) & mask_; }

  buffer<std::uint64_t> slots_;
  std::size_t mask_;
};

void make_sample(std::int64_t num_edges, std::int64_t attempts, const generate::stream& words, std::int32_t* src,
                 std::int32_t* dst, const control& ctl) {
  if (num_edges < 2) return;
  edge_table present(num_edges);
  for (std::int64_t e = 0; e < num_edges; ++e) present.insert(key_of(src[e], dst[e]));
  const auto choices = static_cast<std::uint64_t>(num_edges);
  for (std::int64_t attempt = 0; attempt < attempts; ++attempt) {
    if (attempt % attempts_between_checks == 0) ctl.check();
    const auto counter = 2 * static_cast<std::uint64_t>(attempt);
    const auto first = words.word(counter), second = words.word(counter + 1);
    const auto i = generate::below(first, choices), j = generate::below(second, choices);
    if (i == j) continue;
    // The second edge is taken in either direction. Its low bits did not affect the choice above.
    const bool turned = (second & 1) != 0;
    const auto a = src[i], b = dst[i];
    const auto c = turned ? dst[j] : src[j], d = turned ? src[j] : dst[j];
    if (a == d || c == b || present.contains(key_of(a, d)) || present.contains(key_of(c, b))) continue;
    present.remove(key_of(a, b));
    present.remove(key_of(c, d));
    present.insert(key_of(a, d));
    present.insert(key_of(c, b));
    dst[i] = d;
    src[j] = c;
    dst[j] = b;
  }
}

}  // namespace

void rewire(const edge_list& edges, std::int64_t attempts, std::uint64_t seed, std::int64_t first, std::int64_t samples,
            std::int32_t* src, std::int32_t* dst, int threads, const control& ctl) {
  parallel_chunks(0, samples, 1, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto sample = begin; sample < end; ++sample) {
      auto* const own_src = src + sample * edges.num_edges;
      auto* const own_dst = dst + sample * edges.num_edges;
      std::copy_n(edges.src, edges.num_edges, own_src);
      std::copy_n(edges.dst, edges.num_edges, own_dst);
      const generate::stream words(seed, generate::purpose::rewiring, static_cast<std::uint64_t>(first + sample));
      make_sample(edges.num_edges, attempts, words, own_src, own_dst, ctl);
      ctl.advance(1);
    }
  });
}

}  // namespace graphlode::mining
