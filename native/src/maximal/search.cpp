// maximal/search.cpp - see maximal/search.hpp.
#include "maximal/search.hpp"

#include <utility>

#include "graphlode/clones.hpp"

namespace graphlode::mining::maximal {
namespace {

constexpr std::int64_t least_given = 12;     // fewer candidates are not worth giving to another thread
constexpr std::int64_t least_narrowed = 12;  // and not worth copying

// Helpers of the cloned functions below: always inlined, so that they are compiled for each instruction set.
[[gnu::always_inline]] inline std::int64_t count_common(const word* a, const word* b, std::int64_t words) {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < words; ++k) count += __builtin_popcountll(a[k] & b[k]);
  return count;
}

[[gnu::always_inline]] inline bool covers(const word* a, const word* b, std::int64_t words) {
  word missing = 0;
  for (std::int64_t k = 0; k < words; ++k) missing |= b[k] & ~a[k];
  return missing == 0;
}

struct pivot {
  std::int64_t row = -1;
  std::int64_t count = -1;
  [[gnu::always_inline]] inline void offer(std::int64_t other, std::int64_t other_count) {
    if (other_count > count) *this = {other, other_count};
  }
};

// Holds the candidates that are adjacent to all others, chooses the pivot among the rest and the excluded vertices, and
// pushes a frame unless the node is finished. Every excluded row has some of the candidates, but not all.
template <int Width>
[[gnu::always_inline]] inline void open_node(maximal_search& s, const problem& in, maximal_search::frame node,
                                             std::int64_t size, pivot best) {
  const std::int64_t words = Width ? Width : in.words;
  word* const candidates = s.bits.data() + node.bits;
  word* const branches = candidates + words;
  for (std::int64_t k = 0; k < words; ++k) branches[k] = 0;
  std::int64_t universal = 0;
  pivot best_candidate;
  for (std::int64_t k = 0; k < words; ++k) {
    for (word left = candidates[k]; left; left &= left - 1) {
      const auto v = 64 * k + std::countr_zero(left);
      const auto count = count_common(in.row(v), candidates, words);
      if (count == size - 1) {
        branches[k] |= left & -left;
        ++universal;
        s.held.push_back(in.names[v]);
      } else {
        best_candidate.offer(v, count);
      }
    }
  }
  if (universal == size) {  // no excluded row has all of them
    s.writer.write(s.held);
    return;
  }
  if (universal) {
    for (std::int64_t k = 0; k < words; ++k) candidates[k] &= ~branches[k];
    size -= universal;
    best = {};
    best_candidate.count -= universal;
    auto kept = node.excluded;
    for (auto i = node.excluded; i < node.excluded_end; ++i) {
      const auto x = s.excluded[i];
      if (!covers(in.row(x), branches, words)) continue;
      const auto count = count_common(in.row(x), candidates, words);
      if (count == 0) continue;
      s.excluded[kept++] = x;
      best.offer(x, count);
    }
    node.excluded_end = kept;
  }
  best.offer(best_candidate.row, best_candidate.count);
  const word* const joined = in.row(best.row);
  for (std::int64_t k = 0; k < words; ++k) branches[k] = candidates[k] & ~joined[k];
  node.held = static_cast<std::int64_t>(s.held.size());
  s.frames.push_back(node);
}

// Keeps the excluded rows that are adjacent to v and to some of the child's candidates. Returns false if one has all of
// them.
template <int Width>
[[gnu::always_inline]] inline bool exclude(maximal_search& s, const problem& in, const maximal_search::frame& node,
                                           std::int64_t v, maximal_search::frame& child, std::int64_t size,
                                           pivot& best) {
  const std::int64_t words = Width ? Width : in.words;
  const word* const candidates = s.bits.data() + child.bits;
  const word* const rows = in.rows.data();
  std::uint32_t* const excluded = s.excluded.data();
  const std::int64_t word_of_v = v / 64;
  const int shift = static_cast<int>(v % 64);
  auto end = child.excluded;
  for (auto i = node.excluded; i < node.excluded_end; ++i) {
    const auto x = excluded[i];
    const word* const row = rows + x * words;
    if (!(row[word_of_v] >> shift & 1)) continue;
    const auto count = count_common(row, candidates, words);
    if (count == size) return false;
    excluded[end] = x;
    end += count > 0;
    best.offer(x, count);
  }
  child.excluded_end = end;
  return true;
}

template <int Width>
[[gnu::always_inline]] inline void search(maximal_search& s, const std::shared_ptr<const problem>& owner,
                                          std::int64_t at, std::int64_t from, std::int64_t to) {
  const problem& in = *owner;
  const std::int64_t words = Width ? Width : in.words;
  const auto floor = s.frames.size();
  {
    s.bits.reserve(at + 2 * words);
    const word* const candidates = s.bits.data() + at;
    pivot best;
    for (auto i = from; i < to; ++i) best.offer(s.excluded[i], count_common(in.row(s.excluded[i]), candidates, words));
    open_node<Width>(s, in, {0, at, from, to}, count_common(candidates, candidates, words), best);
  }
  while (s.frames.size() > floor) {
    auto& node = s.frames.back();
    s.tick(words * (64 + node.excluded_end - node.excluded));
    s.held.resize(static_cast<std::size_t>(node.held));
    s.bits.reserve(node.bits + 4 * words);
    s.excluded.reserve(2 * node.excluded_end - node.excluded + 1);
    word* const candidates = s.bits.data() + node.bits;
    word* const branches = candidates + words;
    word* const fewer = branches + words;
    std::int64_t k = 0;
    while (k < words && branches[k] == 0) ++k;
    if (k == words) {
      s.frames.pop_back();
      continue;
    }
    const word lowest = branches[k] & -branches[k];
    const auto v = 64 * k + std::countr_zero(lowest);
    branches[k] ^= lowest;
    candidates[k] ^= lowest;
    const word* const joined = in.row(v);
    std::int64_t size = 0;
    for (std::int64_t j = 0; j < words; ++j) {
      fewer[j] = candidates[j] & joined[j];
      size += __builtin_popcountll(fewer[j]);
    }
    // The child's excluded rows lie behind the node's, with one place between them for v itself.
    maximal_search::frame child{0, node.bits + 2 * words, node.excluded_end + 1, 0};
    pivot best;
    const bool open = node.held + 1 + size >= s.min_size && exclude<Width>(s, in, node, v, child, size, best);
    s.excluded[node.excluded_end++] = static_cast<std::uint32_t>(v);
    if (!open) continue;
    s.held.push_back(in.names[v]);
    if (size <= 1) {
      for (std::int64_t j = 0; j < words; ++j)
        if (fewer[j]) s.held.push_back(in.names[64 * j + std::countr_zero(fewer[j])]);
      s.writer.write(s.held);
    } else if (size >= least_given && s.pool.wanted()) {
      s.give_away(owner, child.bits, child.excluded, child.excluded_end);
    } else if (Width != 1 && size >= least_narrowed && width_of(words_for(size)) < width_of(words)) {
      s.descend_narrower(in, child.bits, size, child.excluded, child.excluded_end);
    } else {
      open_node<Width>(s, in, child, size, best);
    }
  }
}

using owned = std::shared_ptr<const problem>;

// An exception must not leave a cloned function, because the compiler treats the resolver as a function that never
// throws. It is stored, and `descend` rethrows it.
template <int Width>
[[gnu::always_inline]] inline void search_guarded(maximal_search& s, const owned& in, std::int64_t at,
                                                  std::int64_t from, std::int64_t to) {
  try {
    search<Width>(s, in, at, from, to);
  } catch (...) {
    s.failure = std::current_exception();
  }
}

GRAPHLODE_CLONES void search_1(maximal_search& s, const owned& in, std::int64_t at, std::int64_t from,
                               std::int64_t to) {
  search_guarded<1>(s, in, at, from, to);
}
GRAPHLODE_CLONES void search_2(maximal_search& s, const owned& in, std::int64_t at, std::int64_t from,
                               std::int64_t to) {
  search_guarded<2>(s, in, at, from, to);
}
GRAPHLODE_CLONES void search_4(maximal_search& s, const owned& in, std::int64_t at, std::int64_t from,
                               std::int64_t to) {
  search_guarded<4>(s, in, at, from, to);
}
GRAPHLODE_CLONES void search_8(maximal_search& s, const owned& in, std::int64_t at, std::int64_t from,
                               std::int64_t to) {
  search_guarded<8>(s, in, at, from, to);
}
GRAPHLODE_CLONES void search_any(maximal_search& s, const owned& in, std::int64_t at, std::int64_t from,
                                 std::int64_t to) {
  search_guarded<0>(s, in, at, from, to);
}

}  // namespace

void maximal_search::descend(const std::shared_ptr<const problem>& in, std::int64_t at, std::int64_t from,
                             std::int64_t to) {
  switch (in->words) {
    case 1:
      search_1(*this, in, at, from, to);
      break;
    case 2:
      search_2(*this, in, at, from, to);
      break;
    case 4:
      search_4(*this, in, at, from, to);
      break;
    case 8:
      search_8(*this, in, at, from, to);
      break;
    default:
      search_any(*this, in, at, from, to);
  }
  if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
}

void maximal_search::from_root(const std::shared_ptr<const problem>& in, std::int64_t root) {
  held.assign(1, root);
  bits.reserve(in->words);
  for (std::int64_t k = 0; k < in->words; ++k) {
    const auto left = std::clamp<std::int64_t>(in->num_candidates - 64 * k, 0, 64);
    bits[k] = left == 64 ? ~word{0} : (word{1} << left) - 1;
  }
  const auto num_excluded = in->num_rows - in->num_candidates;
  excluded.reserve(num_excluded);
  for (std::int64_t i = 0; i < num_excluded; ++i) excluded[i] = static_cast<std::uint32_t>(in->num_candidates + i);
  descend(in, 0, 0, num_excluded);
}

void maximal_search::from_branch(const maximal_branch& given) {
  held = given.held;
  bits.reserve(given.in->words);
  std::copy(given.candidates.begin(), given.candidates.end(), bits.data());
  const auto num_excluded = static_cast<std::int64_t>(given.excluded.size());
  excluded.reserve(num_excluded);
  std::copy(given.excluded.begin(), given.excluded.end(), excluded.data());
  descend(given.in, 0, 0, num_excluded);
}

void maximal_search::give_away(const std::shared_ptr<const problem>& in, std::int64_t at, std::int64_t from,
                               std::int64_t to) {
  const word* const candidates = bits.data() + at;
  pool.give({in, held, {candidates, candidates + in->words}, {excluded.data() + from, excluded.data() + to}});
}

void maximal_search::descend_narrower(const problem& in, std::int64_t at, std::int64_t size, std::int64_t from,
                                      std::int64_t to) {
  kept_.clear();
  for_each_bit(bits.data() + at, in.words, [&](std::int64_t v) { kept_.push_back(static_cast<std::uint32_t>(v)); });
  const auto narrower = slots.free_slot(size);
  const auto num_excluded = to - from;
  narrow(*narrower, in, kept_, {excluded.data() + from, static_cast<std::size_t>(num_excluded)}, numbers_);
  // Above the current contents of the stacks; the node's own candidates are not needed below.
  bits.reserve(at + narrower->words);
  for (std::int64_t k = 0; k < narrower->words; ++k) {
    const auto left = std::clamp<std::int64_t>(size - 64 * k, 0, 64);
    bits[at + k] = left == 64 ? ~word{0} : (word{1} << left) - 1;
  }
  for (std::int64_t i = 0; i < num_excluded; ++i) excluded[from + i] = static_cast<std::uint32_t>(size + i);
  descend(narrower, at, from, to);
}

}  // namespace graphlode::mining::maximal
