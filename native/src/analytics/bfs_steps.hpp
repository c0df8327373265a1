// bfs_steps.hpp - one level of a breadth-first search, forwards or backwards, over any kind of rows.
//
// Parents do not depend on threads or direction: it is always the lowest neighbor on the level before. Backwards that
// costs nothing, since rows ascend. Forwards it is an atomic minimum, which only whoever is new on this level pays for:
// earlier ones are filtered by a bitmap that does not change within a level.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "edge_map.hpp"
#include "graphlode/bits.hpp"
#include "graphlode/parallel.hpp"
#include "graphlode/rows.hpp"

namespace graphlode::analytics {

constexpr std::int64_t candidates_ahead = 16;  // rows that are asked for where most are left after one entry

// Whether there was no parent before. As an unsigned number, none (-1) is the highest.
template <class Vertex>
bool lower_parent(Vertex& place, Vertex from) {
  using number = std::make_unsigned_t<Vertex>;
  std::atomic_ref parent(place);
  Vertex seen = parent.load(std::memory_order_relaxed);
  while (static_cast<number>(from) < static_cast<number>(seen))
    if (parent.compare_exchange_weak(seen, from, std::memory_order_relaxed)) return seen == -1;
  return false;
}

// Forwards: walks the rows of the frontier and puts whoever is new into `found`, in any order; their parents are final
// afterwards. `entries` is about how many there are to walk. Returns how many are new.
template <class Rows, class Vertex = typename Rows::vertex>
std::int64_t walk_frontier(const Rows& rows, const Vertex* frontier, std::int64_t size, std::int64_t entries,
                           const std::uint64_t* visited, Vertex* parents, Vertex* found, int threads,
                           const control& ctl) {
  return edge_map(rows, frontier, size, entries, found, threads, ctl, [&](Vertex from, Vertex to) {
    return !contains_bit(visited, to) && lower_parent(parents[to], from);
  });
}

// Backwards: each candidate looks for a neighbor in the frontier, which becomes its parent. `candidates(w)` gives those
// of the 64 vertices of word w who look; `finish(w, joined, empty)` hears who of them found a parent and whose row has
// no entries at all. A thread owns whole words. Returns how many joined.
template <class Rows, class Vertex = typename Rows::vertex, class Candidates, class Finish>
std::int64_t look_back(const Rows& rows, const std::uint64_t* frontier, Vertex* parents, Candidates&& candidates,
                       Finish&& finish, int threads, const control& ctl) {
  constexpr std::int64_t grain = 64;
  const auto num_rows = rows.num_rows();
  std::atomic<std::int64_t> num_joined{0};
  parallel_chunks(0, (num_rows + 63) / 64, grain, worthwhile_threads(rows.num_entries(), threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    std::int64_t count = 0;
                    for (auto w = begin; w < end; ++w) {
                      std::uint64_t joined = 0, empty = 0;
                      for_each_bit(candidates(w), 64 * w, [&](std::int64_t v) {
                        if (v + candidates_ahead < num_rows) rows.prefetch_row(v + candidates_ahead);
                        const auto bit = std::uint64_t{1} << (v & 63);
                        empty |= bit;
                        rows.for_each_neighbor(v, [&](Vertex from) {
                          empty &= ~bit;
                          if (!contains_bit(frontier, from)) return true;
                          parents[v] = from;
                          joined |= bit;
                          return false;
                        });
                      });
                      finish(w, joined, empty);
                      count += std::popcount(joined);
                    }
                    num_joined.fetch_add(count, std::memory_order_relaxed);
                  });
  return num_joined.load();
}

}  // namespace graphlode::analytics
