// bfs_shard.cpp - one shard's part of a level. See bfs_shard.hpp, and bfs_steps.hpp for the steps themselves.
#include "graphlode/analytics/bfs_shard.hpp"

#include <algorithm>
#include <atomic>

#include "walks/bfs_steps.hpp"

namespace graphlode::analytics {

bfs_shard::bfs_shard(const packed::row_view& rows, std::span<const std::uint64_t> own)
    : rows_(rows),
      own_(rows.num_rows()),
      visited_(rows.num_rows()),
      frontier_(rows.num_rows()),
      parents_(static_cast<std::size_t>(rows.num_rows()), -1),
      queue_(static_cast<std::size_t>(rows.num_rows())),
      mine_(static_cast<std::size_t>(rows.num_rows())) {
  for (std::int64_t w = 0; w < own_.num_words(); ++w) own_.word(w) = own[static_cast<std::size_t>(w)];
}

std::int64_t bfs_shard::enter(std::span<const std::int32_t> frontier, int threads, const control& ctl) {
  constexpr std::int64_t grain = 1024;
  const auto size = static_cast<std::int64_t>(frontier.size());
  std::atomic<std::int64_t> entries{0};
  vertex_list<std::int32_t> own(mine_.data());
  frontier_.clear();
  parallel_chunks(0, size, grain, worthwhile_threads(4 * size, threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    vertex_list<std::int32_t>::writer mine(own);
                    std::int64_t sum = 0;
                    for (auto i = begin; i < end; ++i) {
                      const auto v = frontier[static_cast<std::size_t>(i)];
                      if (i + rows_ahead < end)
                        rows_.prefetch_index(frontier[static_cast<std::size_t>(i + rows_ahead)]);
                      visited_.insert_shared(v);
                      frontier_.insert_shared(v);
                      if (!owns(v)) continue;
                      mine.push(v);
                      sum += rows_.degree_estimate(v);
                    }
                    entries.fetch_add(sum, std::memory_order_relaxed);
                  });
  num_mine_ = own.size();
  return entries_ = entries.load();
}

bfs_shard::found bfs_shard::forwards(int threads, const control& ctl) {
  const auto num_found = walk_frontier(rows_, mine_.data(), num_mine_, entries_, visited_.words(), parents_.data(),
                                       queue_.data(), threads, ctl);
  found result{buffer<std::int32_t>(static_cast<std::size_t>(num_found)),
               buffer<std::int32_t>(static_cast<std::size_t>(num_found))};
  std::copy_n(queue_.begin(), num_found, result.vertices.begin());
  for (std::size_t i = 0; i < result.parents.size(); ++i) result.parents[i] = parents_[result.vertices[i]];
  return result;
}

bfs_shard::found bfs_shard::backwards(int threads, const control& ctl) {
  bit_set joined(rows_.num_rows());
  const auto num_found = look_back(
      rows_, frontier_.words(), parents_.data(),
      [&](std::int64_t w) {
        if (!looked_back_) own_.word(w) &= ~rows_.known_empty(w, own_.words()[w]);
        return visited_.missing(w) & own_.words()[w];
      },
      [&](std::int64_t w, std::uint64_t some, std::uint64_t empty) {
        joined.word(w) = some;
        own_.word(w) &= ~empty;  // they will not be needed again
      },
      threads, ctl);
  looked_back_ = true;
  found result{buffer<std::int32_t>(static_cast<std::size_t>(num_found)),
               buffer<std::int32_t>(static_cast<std::size_t>(num_found))};
  std::size_t at = 0;
  for (std::int64_t w = 0; w < joined.num_words(); ++w)
    for_each_bit(joined.words()[w], 64 * w, [&](std::int64_t v) {
      result.vertices[at] = static_cast<std::int32_t>(v);
      result.parents[at++] = parents_[static_cast<std::size_t>(v)];
    });
  return result;
}

}  // namespace graphlode::analytics
