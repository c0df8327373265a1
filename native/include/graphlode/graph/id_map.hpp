// id_map.hpp - from original ids to positions, growing as batches arrive.
//
// An id gets the next free position when an insertion first names it; ids that arrive together get theirs in ascending
// order. `admit` locates both ends of every edge of a batch and takes all memory that the new ids need, but changes
// nothing. `keep` makes them permanent and cannot fail. There is one writer at a time.
//
// Readers call `find` and `names` on any thread while a batch is kept. No id is ever forgotten or moved in a table, and
// a table that is replaced lives until its last reader has left. A reader knows the ids below its own number of
// vertices: later entries of the same table have higher positions, and are skipped.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "graphlode/control.hpp"
#include "graphlode/fork_mutex.hpp"
#include "graphlode/memory.hpp"

namespace graphlode::graph {

class id_table;

// Edges as a batch names them. `gone` says of each whether it is deleted; null: all are, or none.
template <class Id>
struct named_edges {
  std::span<const Id> src, dst;
  const bool* gone = nullptr;
  bool all_gone = false;

  bool is_deleted(std::size_t edge) const noexcept { return gone ? gone[edge] : all_gone; }
};

// The new ids of a batch, ascending. A table that replaces the present one has them already.
struct id_arrival {
  buffer<std::int64_t> ids;
  std::int64_t first = 0;  // position of the first
  std::shared_ptr<const id_table> larger;
};

// Deletions bring no vertices. One that names an unknown id has the positions (0, 0), which are no edge.
struct id_admission {
  buffer<std::int32_t> src, dst;
  std::int64_t dropped = 0;  // deletions of unknown ids that are not self-loops
  std::int64_t num_vertices = 0;
  id_arrival arrival;
};

class id_map {
 public:
  id_map();
  ~id_map();
  id_map(const id_map&) = delete;
  id_map& operator=(const id_map&) = delete;

  std::int64_t count() const noexcept { return count_.load(std::memory_order_acquire); }

  // The position of each id; -1 if it is not among the first `below`.
  void find(std::span<const std::int64_t> ids, std::int64_t below, std::int64_t* positions) const;

  // The ids in order of arrival, `count` of them; null while they are the positions.
  std::shared_ptr<const buffer<std::int64_t>> names() const;

  // If there were more than `most` vertices, only their number is found.
  template <class Id>
  id_admission admit(const named_edges<Id>& edges, std::int64_t most, int threads, const control& ctl) const;

  // Whether nothing has arrived since the batch was admitted.
  bool is_next(const id_arrival& arrival) const noexcept { return arrival.first == count(); }
  void keep(id_arrival& arrival) noexcept;

  std::int64_t bytes() const;

 private:
  std::shared_ptr<const id_table> table() const;
  void take_memory_for(id_arrival& arrival, int threads) const;

  // Held while the pointer is copied or replaced, never longer. libstdc++ does the same inside an atomic shared_ptr,
  // but there a reader gives its lock up without ordering what it has read before.
  mutable fork_mutex table_lock_;
  std::shared_ptr<const id_table> table_;
  std::atomic<std::int64_t> count_{0};
  std::int64_t lowest_ = 0, highest_ = -1;  // the writer's
};

}  // namespace graphlode::graph
