// store/split.cpp - splits the keys of a batch by the shard that owns them.
#include "graph/stable_partition.hpp"
#include "graphlode/store/buckets.hpp"
#include "graphlode/store/layout.hpp"

namespace graphlode::packed {
namespace {

constexpr std::int64_t keys_per_piece = 1 << 14;

}  // namespace

owned_places split_by_owner(std::span<const std::uint64_t> keys, std::span<const std::int64_t> owners,
                            std::int64_t num_owners, int threads, const control& ctl) {
  owned_places found{buffer<std::int64_t>(keys.size()), {}};
  std::vector<graph::input_piece> pieces;
  graph::cut_pieces(0, static_cast<std::int64_t>(keys.size()), keys_per_piece, 0, pieces);
  const auto visit = [&](const graph::input_piece& piece, auto&& sink) {
    for (auto i = piece.begin; i < piece.end; ++i)
      sink(owners[bucket_of(row_of(keys[static_cast<std::size_t>(i)]))], i);
  };
  found.begins = graph::stable_partition<std::int64_t>(pieces, 1, num_owners, graph::bucket_order::by_group,
                                                       found.places.data(), threads, ctl, visit);
  return found;
}

}  // namespace graphlode::packed
