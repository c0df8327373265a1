// caches.hpp - a trace-driven simulation of caches for edge-centric processing.
//
// It simulates two streams of accesses: the edge list, and the data of the vertices at both ends of every edge. Levels
// are set-associative with least-recently-used replacement, and each receives only the misses of the level before. The
// edge list may bypass all levels but the first: it then arrives through on-chip buffers in processing order,
// independent of its addresses.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graphlode/control.hpp"
#include "graphlode/locality/edge_word.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::measure {

struct cache_shape {
  std::int64_t size;  // bytes
  int ways;
  int line;  // bytes; both the line size and the number of sets are powers of two
};

struct hits_and_misses {
  std::int64_t hits = 0, misses = 0;
};

class cache {
 public:
  explicit cache(const cache_shape& shape);
  // Whether the line of the address was cached. Makes it the most recently used of its set.
  bool touch(std::uint64_t address) noexcept;

 private:
  int ways_;
  int line_bits_;
  std::uint64_t set_mask_;
  buffer<std::uint64_t> lines_;  // of each set, from the most to the least recently used
};

enum class stream : std::uint8_t { vertices, edges };

struct traced_data {
  std::int64_t num_edges;
  std::int64_t edge_bytes, vertex_bytes;
  bool bypass;  // the edge list uses only the first level
};

class cache_simulation {
 public:
  cache_simulation(std::span<const cache_shape> levels, const traced_data& data);
  cache_simulation(const cache_simulation&) =
      delete;  // deleted explicitly: the vector hides that caches cannot be copied
  cache_simulation& operator=(const cache_simulation&) = delete;

  // Processes the list from front to back.
  void pass_in_order(std::span<const locality::edge_word> edges, locality::sort_key key, const control& ctl);
  // Processes the steps of a reordering pass, one edge of each block at a time.
  void pass_in_steps(std::span<const locality::edge_word> edges, locality::sort_key key, int lanes, int level,
                     const control& ctl);

  std::size_t num_levels() const noexcept { return levels_.size(); }
  const hits_and_misses& counts(std::size_t level, stream of) const noexcept {
    return counts_[level][static_cast<std::size_t>(of)];
  }
  // Does not change the contents of the caches.
  void reset_counts() noexcept;

 private:
  template <locality::sort_key Key>
  void visit(locality::edge_word edge, std::int64_t place, std::int64_t turn) noexcept;
  void access(stream of, std::uint64_t address) noexcept;

  traced_data data_;
  std::uint64_t first_vertex_;  // address of its data; the edge list begins at 0
  std::vector<cache> levels_;
  std::vector<std::array<hits_and_misses, 2>> counts_;
};

}  // namespace graphlode::measure
