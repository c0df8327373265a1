// edge_map.hpp - building blocks of graph traversals: a function for every vertex of a set, a function for every edge
// that leaves a set, and the vertices found on the way.
//
// Rows of scattered vertices are prefetched some vertices ahead. Loops are handed out in chunks, so that hubs and other
// vertices balance out.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "graphlode/parallel.hpp"
#include "graphlode/rows.hpp"

namespace graphlode::analytics {

constexpr std::int64_t rows_ahead = 4;  // rows that are prefetched ahead

// Calls visit(i) for i in begin .. end - 1 and prefetches the row of vertex_at(i) before. vertex_at is defined up to
// `known`.
template <class Rows, class VertexAt, class Visit>
void visit_rows(const Rows& rows, std::int64_t begin, std::int64_t end, std::int64_t known, VertexAt&& vertex_at,
                Visit&& visit) {
  for (auto i = begin; i < end; ++i) {
    if (i + 2 * rows_ahead < known) rows.prefetch_index(vertex_at(i + 2 * rows_ahead));
    if (i + rows_ahead < known) rows.prefetch_row(vertex_at(i + rows_ahead));
    visit(i);
  }
}

// Calls work(thread, v) for every vertex.
template <class Work>
void vertex_map(std::int64_t num_vertices, std::int64_t grain, int threads, const control& ctl, Work&& work) {
  parallel_chunks(0, num_vertices, grain, threads, ctl, [&](int thread, std::int64_t begin, std::int64_t end) {
    for (auto v = begin; v < end; ++v) work(thread, v);
  });
}

// A list to which several threads append vertices, many at a time.
template <class Vertex>
class vertex_list {
 public:
  explicit vertex_list(Vertex* room) : room_(room) {}
  std::int64_t size() const { return size_.load(std::memory_order_relaxed); }

  class writer {
   public:
    explicit writer(vertex_list& list) : list_(list) {}
    ~writer() { hand_over(); }
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    void push(Vertex v) {
      if (count_ == held_.size()) hand_over();
      held_[count_++] = v;
    }

   private:
    void hand_over() {
      const auto at = list_.size_.fetch_add(static_cast<std::int64_t>(count_), std::memory_order_relaxed);
      std::copy_n(held_.begin(), count_, list_.room_ + at);
      count_ = 0;
    }
    std::array<Vertex, 512> held_;
    std::size_t count_ = 0;
    vertex_list& list_;
  };

 private:
  Vertex* room_;
  std::atomic<std::int64_t> size_{0};
};

// Calls along(from, to) for every entry of the rows of the vertices in `from`. Vertices `to` for which it returns true
// are written to `found`, in any order. `entries` is about the number of entries. Returns the number of vertices found.
template <class Rows, class Vertex = typename Rows::vertex, class Along>
std::int64_t edge_map(const Rows& rows, const Vertex* from, std::int64_t size, std::int64_t entries, Vertex* found,
                      int threads, const control& ctl, Along&& along) {
  constexpr std::int64_t grain = 64;
  vertex_list<Vertex> list(found);
  parallel_chunks(0, size, grain, worthwhile_threads(entries + size, threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    typename vertex_list<Vertex>::writer next(list);
                    visit_rows(
                        rows, begin, end, size, [&](std::int64_t i) { return from[i]; },
                        [&](std::int64_t i) {
                          const Vertex u = from[i];
                          rows.for_each_neighbor(u, [&](Vertex v) {
                            if (along(u, v)) next.push(v);
                            return true;
                          });
                        });
                  });
  return list.size();
}

}  // namespace graphlode::analytics
