// bfs_steps.hpp - one level of a breadth-first search, forwards or backwards, over any kind of rows.
//
// Parents do not depend on threads or direction: it is always the lowest neighbor on the level before. Backwards that
// costs nothing, since rows ascend. Forwards it is an atomic minimum, which only whoever is new on this level pays for:
// earlier ones are filtered by a bitmap that does not change within a level.
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

namespace graphlode::analytics {

constexpr std::int64_t rows_ahead = 4;         // that are asked for before they are walked
constexpr std::int64_t candidates_ahead = 16;  // the same where most rows are left after one entry

// New members of the next frontier, handed over many at a time.
template <class Vertex>
class found_vertices {
 public:
  found_vertices(Vertex* queue, std::atomic<std::int64_t>& size) : queue_(queue), size_(size) {}
  ~found_vertices() { hand_over(); }
  void push(Vertex v) {
    if (count_ == held_.size()) hand_over();
    held_[count_++] = v;
  }

 private:
  void hand_over() {
    const auto at = size_.fetch_add(static_cast<std::int64_t>(count_), std::memory_order_relaxed);
    std::copy_n(held_.begin(), count_, queue_ + at);
    count_ = 0;
  }
  std::array<Vertex, 512> held_;
  std::size_t count_ = 0;
  Vertex* queue_;
  std::atomic<std::int64_t>& size_;
};

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
  constexpr std::int64_t grain = 64;
  std::atomic<std::int64_t> num_found{0};
  parallel_chunks(0, size, grain, worthwhile_threads(entries + size, threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    found_vertices<Vertex> sink(found, num_found);
                    for (auto i = begin; i < end; ++i) {
                      if (i + 2 * rows_ahead < size) rows.prefetch_index(frontier[i + 2 * rows_ahead]);
                      if (i + rows_ahead < size) rows.prefetch_row(frontier[i + rows_ahead]);
                      const Vertex from = frontier[i];
                      rows.for_each_neighbor(from, [&](Vertex to) {
                        if (!contains_bit(visited, to) && lower_parent(parents[to], from)) sink.push(to);
                        return true;
                      });
                    }
                  });
  return num_found.load();
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
