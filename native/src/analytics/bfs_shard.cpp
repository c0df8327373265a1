// bfs_shard.cpp - one shard's part of a level; see bfs_shard.hpp and, for the steps themselves, bfs_steps.hpp.
#include "graphlode/analytics/bfs_shard.hpp"

#include <algorithm>

#include "bfs_steps.hpp"

namespace graphlode::analytics {

bfs_shard::bfs_shard(const packed::row_view& rows, std::span<const std::uint64_t> own)
    : rows_(rows),
      own_(rows.num_rows()),
      visited_(rows.num_rows()),
      parents_(static_cast<std::size_t>(rows.num_rows()), -1),
      queue_(static_cast<std::size_t>(rows.num_rows())) {
  for (std::int64_t w = 0; w < own_.num_words(); ++w) own_.word(w) = own[static_cast<std::size_t>(w)];
}

std::int64_t bfs_shard::entries_of(std::span<const std::int32_t> frontier) const {
  std::int64_t entries = 0;
  for (const auto v : frontier)
    if (owns(v)) entries += rows_.degree_estimate(v);
  return entries;
}

void bfs_shard::visit(std::span<const std::int32_t> frontier) {
  for (const auto v : frontier) visited_.insert(v);
}

bfs_shard::found bfs_shard::forwards(std::span<const std::int32_t> frontier, int threads, const control& ctl) {
  visit(frontier);
  buffer<std::int32_t> mine(frontier.size());
  std::int64_t size = 0;
  for (const auto v : frontier)
    if (owns(v)) mine[static_cast<std::size_t>(size++)] = v;
  const auto num_found = walk_frontier(rows_, mine.data(), size, entries_of(frontier), visited_.words(),
                                       parents_.data(), queue_.data(), threads, ctl);
  found result{buffer<std::int32_t>(static_cast<std::size_t>(num_found)),
               buffer<std::int32_t>(static_cast<std::size_t>(num_found))};
  std::copy_n(queue_.begin(), num_found, result.vertices.begin());
  for (std::size_t i = 0; i < result.parents.size(); ++i) result.parents[i] = parents_[result.vertices[i]];
  return result;
}

bfs_shard::found bfs_shard::backwards(std::span<const std::int32_t> frontier, int threads, const control& ctl) {
  visit(frontier);
  bit_set now(rows_.num_rows()), joined(rows_.num_rows());
  for (const auto v : frontier) now.insert(v);
  const auto num_found = look_back(
      rows_, now.words(), parents_.data(), [&](std::int64_t w) { return visited_.missing(w) & own_.words()[w]; },
      [&](std::int64_t w, std::uint64_t some, std::uint64_t empty) {
        joined.word(w) = some;
        own_.word(w) &= ~empty;  // nobody will ask for them again
      },
      threads, ctl);
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
