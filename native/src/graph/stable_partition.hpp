// stable_partition.hpp - distributes values to buckets on several threads, keeping their order within each bucket.
//
// The input is cut into pieces. First all pieces count; then every piece knows where its values of each bucket go, and
// writes them. Pieces belong to groups, and every group has its own buckets.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::graph {

struct input_piece {
  std::int64_t begin, end, group;
};

// Appends pieces of at most `most` that cover begin .. end - 1 to `pieces`.
inline void cut_pieces(std::int64_t begin, std::int64_t end, std::int64_t most, std::int64_t group,
                       std::vector<input_piece>& pieces) {
  for (auto from = begin; from < end; from += most) pieces.push_back({from, std::min(end, from + most), group});
}

enum class bucket_order { by_group, by_bucket };  // what is contiguous: each group, or each bucket number

// visit(piece, sink) must call sink(bucket, value) for each value of the piece; it is called twice and must do the same
// both times. Returns where each bucket of each group begins in `out`, and the end of the last.
template <class Value, class Visit>
buffer<std::int64_t> stable_partition(std::span<const input_piece> pieces, std::int64_t num_groups,
                                      std::int64_t num_buckets, bucket_order order, Value* out, int threads,
                                      const control& ctl, Visit&& visit) {
  const auto num_pieces = static_cast<std::int64_t>(pieces.size());
  buffer<std::int64_t> places(static_cast<std::size_t>(num_pieces * num_buckets));
  parallel_chunks(0, num_pieces, 1, threads, ctl, [&](int, std::int64_t piece, std::int64_t) {
    std::int64_t* const counts = places.data() + piece * num_buckets;
    std::fill_n(counts, num_buckets, 0);
    visit(pieces[static_cast<std::size_t>(piece)], [=](std::int64_t bucket, Value) { ++counts[bucket]; });
  });

  // From counts to places: bucket by bucket, with the pieces in order within each.
  const auto at = [&](std::int64_t group, std::int64_t bucket) {
    return static_cast<std::size_t>(order == bucket_order::by_group ? group * num_buckets + bucket
                                                                    : bucket * num_groups + group);
  };
  buffer<std::int64_t> begins(static_cast<std::size_t>(num_groups * num_buckets + 1), 0);
  for (std::int64_t piece = 0; piece < num_pieces; ++piece) {
    const auto group = pieces[static_cast<std::size_t>(piece)].group;
    for (std::int64_t bucket = 0; bucket < num_buckets; ++bucket) {
      auto& length = begins[at(group, bucket) + 1];
      auto& place = places[static_cast<std::size_t>(piece * num_buckets + bucket)];
      const auto count = place;
      place = length;
      length += count;
    }
  }
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];

  parallel_chunks(0, num_pieces, 1, threads, ctl, [&](int, std::int64_t piece, std::int64_t) {
    const auto& own = pieces[static_cast<std::size_t>(piece)];
    std::int64_t* const next = places.data() + piece * num_buckets;
    for (std::int64_t bucket = 0; bucket < num_buckets; ++bucket) next[bucket] += begins[at(own.group, bucket)];
    visit(own, [=](std::int64_t bucket, Value value) { out[next[bucket]++] = value; });
  });
  return begins;
}

}  // namespace graphlode::graph
