// clique_lists.cpp - lists k-cliques by enumeration on bit rows.
//
// The row of a root u becomes a small graph: candidate i is the i-th entry of the row, and bit row i holds the
// candidates j > i that are adjacent to i. Below an entry (u, i), every further vertex costs one AND of bit rows. When
// one vertex is missing, the cliques are written in bulk: the names held so far, and one name per remaining bit.
//
// Threads draw ranges of entries, long ones first and shorter ones towards the end, so that all threads share a heavy
// root. A range may begin inside a row: then only the bit rows from there on are built.
#include "graphlode/mining/clique_lists.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <utility>

#include "cliques/batch.hpp"
#include "cliques/rows.hpp"
#include "graphlode/clones.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::mining {
namespace {

// What ends a search early, in whichever thread it occurs.
struct search_end {
  const control& ctl;
  std::atomic<bool> failed{false};

  void check() const {
    if (failed.load(std::memory_order_relaxed) || ctl.stop_requested()) throw cancelled();
  }
};

// The candidates of one root: bit rows towards higher candidates, and the name of each.
struct root_space {
  row_block rows;
  int width_class = 0;
  buffer<std::int64_t> names;

  explicit root_space(std::int64_t longest) : names(longest) {}

  void resize(int size) {
    const auto width = width_for(size, false);
    width_class = width.width_class;
    rows.resize(size, width.words, false);
  }
};

// The sets of candidates on the path below an entry, and the held names.
struct search_path {
  buffer<word> sets;
  buffer<std::int64_t> head;

  search_path(int k, int longest) : sets((k - 2) * width_for(longest, false).words), head(k) {}
};

// Two vertices are missing: writes each candidate of the set with each of its higher neighbors in the set.
template <int K>
[[gnu::always_inline]] inline void write_pairs(const root_space& space, const word* set, int words, int k,
                                               std::int64_t* head, clique_batch& batch) {
  const std::int64_t* const names = space.names.data();
  for (int from = 0; from < words; ++from)
    for (word members = set[from]; members; members &= members - 1) {
      const int j = from * word_bits + std::countr_zero(members);
      const word* const row = space.rows.row(j);
      head[k - 2] = names[j];
      for (int w = from; w < words; ++w)
        if (const word common = set[w] & row[w]) batch.write<K>(head, common, names + w * word_bits);
    }
}

// Removes the lowest candidate from a nonempty set and writes the remaining candidates adjacent to it to `next`.
// Returns the candidate and the number of those.
[[gnu::always_inline]] inline std::pair<int, int> take_lowest(const root_space& space, word* set, word* next,
                                                              int words) {
  int from = 0;
  while (set[from] == 0) ++from;
  const int lowest = from * word_bits + std::countr_zero(set[from]);
  const word* const row = space.rows.row(lowest);
  set[from] &= set[from] - 1;
  int count = 0;
  for (int w = 0; w < words; ++w) {
    next[w] = set[w] & row[w];
    count += std::popcount(next[w]);
  }
  return {lowest, count};
}

[[gnu::always_inline]] inline bool is_empty(const word* set, int words) {
  return std::all_of(set, set + words, [](word w) { return w == 0; });
}

// Lists the cliques below the entry of candidate `first`. Its name and the root's are already in the head. Each level
// has the set of untried candidates that are adjacent to everything held. Bit rows lead to higher candidates only, so
// the next level needs no other candidates. Words and K are compile-time values; 0 stands for any.
template <int Words, int K>
GRAPHLODE_CLONES void list_below(const root_space& space, int first, int any_k, search_path& path, clique_batch& batch,
                                 const search_end& end) {
  const int words = Words ? Words : space.rows.words, k = K ? K : any_k;
  std::int64_t* const head = path.head.data();
  if (k == 3) {
    for (int w = first / word_bits; w < words; ++w)
      batch.write<K>(head, space.rows.row(first)[w], space.names.data() + w * word_bits);
    return;
  }
  word* set = path.sets.data();
  std::copy_n(space.rows.row(first), words, set);
  for (int held = 2;;) {
    end.check();
    if (held == k - 2) {
      write_pairs<K>(space, set, words, k, head, batch);
    } else if (!is_empty(set, words)) {
      const auto [candidate, joined] = take_lowest(space, set, set + words, words);
      if (joined >= k - held - 1) {  // enough for the vertices that are then missing
        head[held++] = space.names[candidate];
        set += words;
      }
      continue;
    }
    if (held-- == 2) return;
    set -= words;
  }
}

using listing = void (*)(const root_space&, int, int, search_path&, clique_batch&, const search_end&);

template <int Words>
listing choose_size(int k) {
  switch (k) {
    case 3:
      return list_below<Words, 3>;
    case 4:
      return list_below<Words, 4>;
    case 5:
      return list_below<Words, 5>;
    case 6:
      return list_below<Words, 6>;
    case 7:
      return list_below<Words, 7>;
    case 8:
      return list_below<Words, 8>;
    default:
      return list_below<Words, 0>;
  }
}

listing choose(int width_class, int k) {
  static_assert(compiled_widths == std::array{1, 2, 4, 8, 16, 32, 0});
  switch (width_class) {
    case 0:
      return choose_size<1>(k);
    case 1:
      return choose_size<2>(k);
    case 2:
      return choose_size<4>(k);
    case 3:
      return choose_size<8>(k);
    case 4:
      return choose_size<16>(k);
    case 5:
      return choose_size<32>(k);
    default:
      return choose_size<0>(k);
  }
}

// The search of one thread, from one range of entries after the other.
template <class Vertex>
class list_search {
 public:
  list_search(const csr_view<Vertex>& oriented, int k, const std::int64_t* names, std::int64_t longest,
              std::int64_t batch_size, clique_sink& sink, const search_end& end)
      : graph_(oriented),
        k_(k),
        names_(names),
        end_(end),
        places_(oriented.num_vertices),
        space_(longest),
        path_(k, static_cast<int>(longest)),
        batch_(sink, k, batch_size) {
    places_.zero();
  }

  void entries(std::int64_t begin, std::int64_t end) {
    auto u = std::upper_bound(graph_.offsets, graph_.offsets + graph_.num_vertices, begin) - graph_.offsets - 1;
    for (; begin < end; ++u) {
      const auto first = begin - graph_.offsets[u];
      const auto beyond = std::min(end, graph_.offsets[u + 1]) - graph_.offsets[u];
      // An entry needs k - 2 more entries behind it.
      candidates(u, static_cast<int>(first), static_cast<int>(std::min(beyond, graph_.degree(u) - (k_ - 2))));
      begin = graph_.offsets[u] + beyond;
    }
  }

  std::int64_t finish() { return batch_.finish(); }

 private:
  void candidates(std::int64_t u, int first, int beyond) {
    if (first >= beyond) return;
    if (u != built_) build(u, first);
    path_.head[0] = names_[u];
    const auto list = choose(space_.width_class, k_);
    for (auto i = first; i < beyond; ++i) {
      end_.check();
      path_.head[1] = space_.names[i];
      list(space_, i, k_, path_, batch_, end_);
    }
  }

  // Builds the bit rows from candidate `first` on. Earlier ones are not needed, because ranges are drawn in ascending
  // order.
  void build(std::int64_t u, int first) {
    const auto row = graph_.row(u);
    const int size = static_cast<int>(row.size());
    space_.resize(size);
    for (int i = first; i < size; ++i) {
      places_[row[i]] = i + 1;
      space_.names[i] = names_[row[i]];
    }
    for (int i = first; i < size; ++i) {
      word* const bits = space_.rows.row(i);
      std::fill_n(bits, space_.rows.words, 0);
      for (const auto w : graph_.row(row[i]))
        if (const auto place = places_[w]) set_bit(bits, place - 1);
    }
    for (int i = first; i < size; ++i) places_[row[i]] = 0;
    built_ = u;
  }

  const csr_view<Vertex>& graph_;
  const int k_;
  const std::int64_t* const names_;
  const search_end& end_;
  buffer<std::int32_t> places_;  // 1 + place among the candidates of the root; 0: not a candidate
  root_space space_;
  search_path path_;
  clique_batch batch_;
  std::int64_t built_ = -1;
};

// The length of the next range: a share of the rest, so that the last ranges are single entries.
std::int64_t range_length(std::int64_t left, int threads) {
  constexpr std::int64_t shares_per_thread = 16, longest = 1024;
  return std::clamp<std::int64_t>(left / (shares_per_thread * threads), 1, longest);
}

}  // namespace

template <class Vertex>
std::int64_t list_cliques(const csr_view<Vertex>& oriented, std::int64_t begin, std::int64_t end, int k,
                          const std::int64_t* names, std::int64_t batch_size, clique_sink& sink, int threads,
                          const control& ctl) {
  std::int64_t longest = 0;
  for (std::int64_t u = 0; u < oriented.num_vertices; ++u) longest = std::max(longest, oriented.degree(u));
  if (longest < k - 1) {
    ctl.advance(end - begin);
    return 0;
  }
  threads = worthwhile_threads((end - begin) * longest, threads);
  search_end stop{ctl};
  std::atomic<std::int64_t> next{begin}, total{0};
  with_helpers(threads, [&](int) {
    try {
      list_search<Vertex> search(oriented, k, names, longest, batch_size, sink, stop);
      for (auto from = next.load(); from < end;) {
        const auto to = from + range_length(end - from, threads);
        if (!next.compare_exchange_weak(from, to)) continue;
        stop.check();
        search.entries(from, to);
        ctl.advance(to - from);
        from = next.load();
      }
      total += search.finish();
    } catch (...) {
      stop.failed = true;
      throw;
    }
  });
  return total;
}

template std::int64_t list_cliques(const csr_view<std::int32_t>&, std::int64_t, std::int64_t, int, const std::int64_t*,
                                   std::int64_t, clique_sink&, int, const control&);
template std::int64_t list_cliques(const csr_view<std::int64_t>&, std::int64_t, std::int64_t, int, const std::int64_t*,
                                   std::int64_t, clique_sink&, int, const control&);

}  // namespace graphlode::mining
