// bfs_steps.hpp - one level of a breadth-first search, forwards or backwards, over any kind of rows.
//
// A parent is always the lowest neighbor on the previous level, so it does not depend on threads or direction. In a
// backward step this is free, because rows are sorted. In a forward step it is an atomic minimum, which only new
// vertices of the level pay for: earlier ones are filtered by a bitmap that does not change within a level.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "graphlode/bits.hpp"
#include "graphlode/parallel.hpp"
#include "graphlode/rows.hpp"
#include "walks/edge_map.hpp"

namespace graphlode::analytics {

constexpr std::int64_t words_at_once = 64;
constexpr std::size_t candidates_ahead = 16;  // rows to prefetch when most vertices are done after one entry

// Lowers the parent. Returns true if there was none; as an unsigned number, none (-1) is the highest.
template <class Vertex>
bool lower_parent(Vertex& place, Vertex from) {
  using number = std::make_unsigned_t<Vertex>;
  std::atomic_ref parent(place);
  Vertex seen = parent.load(std::memory_order_relaxed);
  while (static_cast<number>(from) < static_cast<number>(seen))
    if (parent.compare_exchange_weak(seen, from, std::memory_order_relaxed)) return seen == -1;
  return false;
}

// Forward step: visits the rows of the frontier and writes new vertices to `found`, in any order. Their parents are
// final afterwards. `entries` is about the number of entries to visit. Returns the number of new vertices.
template <class Rows, class Vertex = typename Rows::vertex>
std::int64_t walk_frontier(const Rows& rows, const Vertex* frontier, std::int64_t size, std::int64_t entries,
                           const std::uint64_t* visited, Vertex* parents, Vertex* found, int threads,
                           const control& ctl) {
  return edge_map(rows, frontier, size, entries, found, threads, ctl, [&](Vertex from, Vertex to) {
    return !contains_bit(visited, to) && lower_parent(parents[to], from);
  });
}

// Backward step: each candidate looks for a neighbor in the frontier, which becomes its parent. `candidates(w)` returns
// the candidates among the 64 vertices of word w. `finish(w, joined, empty)` receives those that found a parent and
// those whose row is empty. Rows in known_empty (rows.hpp) must not be candidates. A thread owns whole words. Returns
// the number of vertices that joined.
//
// Most vertices find their parent at the first entry. That test has no branches, because its outcome is unpredictable.
// The others visit their rows.
template <class Rows, class Vertex = typename Rows::vertex, class Candidates, class Finish>
std::int64_t look_back(const Rows& rows, const std::uint64_t* frontier, Vertex* parents, Candidates&& candidates,
                       Finish&& finish, int threads, const control& ctl) {
  std::atomic<std::int64_t> num_joined{0};
  const auto look = [&](int, std::int64_t begin, std::int64_t end) {
    std::array<std::uint64_t, words_at_once> joined{}, empty{};
    std::array<Vertex, 64 * words_at_once> all;  // listed first, because candidates may be sparse
    std::size_t size = 0;
    for (auto w = begin; w < end; ++w)
      for_each_bit(candidates(w), 64 * w, [&](std::int64_t v) { all[size++] = static_cast<Vertex>(v); });
    for (std::size_t i = 0; i < std::min(candidates_ahead, size); ++i) rows.prefetch_row(all[i]);
    std::int64_t count = 0;
    std::size_t left = 0;  // candidates whose first neighbor is not in the frontier
    for (std::size_t i = 0; i < size; ++i) {
      if (i + candidates_ahead < size) rows.prefetch_row(all[i + candidates_ahead]);
      const std::int64_t v = all[i];
      const Vertex from = rows.first_neighbor(v);
      const bool has_parent = (from >= 0) & contains_bit(frontier, std::max<Vertex>(from, 0));
      parents[v] = has_parent ? from : Vertex{-1};
      joined[static_cast<std::size_t>((v >> 6) - begin)] |= std::uint64_t{has_parent} << (v & 63);
      all[left] = static_cast<Vertex>(v);
      left += !has_parent;
    }
    count += static_cast<std::int64_t>(size - left);
    for (std::size_t i = 0; i < left; ++i) {
      const std::int64_t v = all[i];
      bool has_none = true, has_parent = false;
      rows.for_each_neighbor(v, [&](Vertex from) {
        has_none = false;
        has_parent = contains_bit(frontier, from);
        if (has_parent) parents[v] = from;
        return !has_parent;
      });
      const auto word = static_cast<std::size_t>((v >> 6) - begin);
      joined[word] |= std::uint64_t{has_parent} << (v & 63);
      empty[word] |= std::uint64_t{has_none} << (v & 63);
      count += has_parent;
    }
    for (auto w = begin; w < end; ++w)
      finish(w, joined[static_cast<std::size_t>(w - begin)], empty[static_cast<std::size_t>(w - begin)]);
    num_joined.fetch_add(count, std::memory_order_relaxed);
  };
  parallel_chunks(0, (rows.num_rows() + 63) / 64, words_at_once, worthwhile_threads(rows.num_entries(), threads), ctl,
                  look);
  return num_joined.load();
}

}  // namespace graphlode::analytics
