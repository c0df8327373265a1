#include "graphlode/graph/id_set.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "bucket_sort.hpp"
#include "graphlode/parallel.hpp"
#include "stable_partition.hpp"

namespace graphlode::graph {
namespace {

constexpr std::int64_t grain = 1 << 16;

struct placed_id {
  std::uint64_t key;  // of an id, in the order of ids
  std::int64_t place;
};

constexpr std::uint64_t sign = std::uint64_t{1} << 63;
std::uint64_t key_of(std::int64_t id) { return static_cast<std::uint64_t>(id) ^ sign; }
std::int64_t id_of(std::uint64_t key) { return static_cast<std::int64_t>(key ^ sign); }

// Buckets of about as many ids each, whatever their distribution: they are split where a sample of them is. The
// splitters form a tree in an array, node k above nodes 2k and 2k + 1, so that a descent has no branches.
class sampled_buckets {
 public:
  // id_at(i) is one of `size` ids.
  template <class IdAt>
  sampled_buckets(std::int64_t size, IdAt&& id_at)
      : count_(std::clamp<std::size_t>(std::bit_ceil(static_cast<std::size_t>(size / ids_per_bucket)), 1, most)),
        tree_(count_) {
    std::vector<std::int64_t> sample(count_ > 1 ? count_ * samples_per_bucket : 0);
    for (std::size_t i = 0; i < sample.size(); ++i)
      sample[i] = id_at(static_cast<std::int64_t>(mixed(i) % static_cast<std::uint64_t>(size)));
    std::sort(sample.begin(), sample.end());
    for (std::size_t width = 1; width < count_; width *= 2)
      for (std::size_t node = 0; node < width; ++node)
        tree_[width + node] = sample[(2 * node + 1) * (sample.size() / width / 2)];
  }

  std::int64_t count() const { return static_cast<std::int64_t>(count_); }
  std::int64_t of(std::int64_t id) const {
    std::size_t node = 1;
    while (node < count_) node = 2 * node + (id >= tree_[node]);
    return static_cast<std::int64_t>(node - count_);
  }

 private:
  static constexpr std::int64_t ids_per_bucket = 1 << 13;
  static constexpr std::size_t most = 1 << 10, samples_per_bucket = 16;
  std::size_t count_;
  std::vector<std::int64_t> tree_;
};

// Sorts buckets on one thread.
class bucket_sorter {
 public:
  // Returns how many different keys there are.
  std::int64_t sort(std::span<placed_id> entries) {
    if (entries.empty()) return 0;
    std::uint64_t different = 0;
    for (const auto& entry : entries) different |= entry.key ^ entries[0].key;
    if (spare_.size() < entries.size()) spare_ = buffer<placed_id>(entries.size());
    const placed_id* const sorted = sort_bucket(entries.data(), spare_.data(), entries.size(),
                                                static_cast<int>(std::bit_width(different)), counts_);
    if (sorted != entries.data()) std::copy_n(sorted, entries.size(), entries.data());
    std::int64_t distinct = 1;
    for (std::size_t i = 1; i < entries.size(); ++i) distinct += entries[i].key != entries[i - 1].key;
    return distinct;
  }

 private:
  buffer<placed_id> spare_;
  std::vector<std::size_t> counts_;
};

}  // namespace

template <class Id>
id_range<Id> find_range(std::span<const Id> a, std::span<const Id> b, int threads) {
  id_range<Id> all{std::numeric_limits<Id>::max(), std::numeric_limits<Id>::min()};
  if (a.empty() && b.empty()) return {};
  for (auto list : {a, b}) {
    std::vector<id_range<Id>> parts(static_cast<std::size_t>(threads), all);
    parallel_parts(static_cast<std::int64_t>(list.size()), threads,
                   [&](int thread, std::int64_t begin, std::int64_t end) {
                     auto part = all;
                     for (auto i = begin; i < end; ++i) {
                       part.first = std::min(part.first, list[static_cast<std::size_t>(i)]);
                       part.last = std::max(part.last, list[static_cast<std::size_t>(i)]);
                     }
                     parts[static_cast<std::size_t>(thread)] = part;
                   });
    for (const auto& part : parts) {
      all.first = std::min(all.first, part.first);
      all.last = std::max(all.last, part.last);
    }
  }
  return all;
}

template id_range<std::int32_t> find_range(std::span<const std::int32_t>, std::span<const std::int32_t>, int);
template id_range<std::int64_t> find_range(std::span<const std::int64_t>, std::span<const std::int64_t>, int);

dense_ids::dense_ids(std::int64_t width)
    : words_(static_cast<std::size_t>((width + 63) / 64)), before_(static_cast<std::size_t>((width + 63) / 64)) {
  words_.zero();
}

std::int64_t dense_ids::count() {
  std::int64_t total = 0;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    before_[w] = total;
    total += std::popcount(words_[w]);
  }
  return total;
}

template <class Vertex>
buffer<std::int64_t> rank_sparse_ids(std::span<const std::int64_t> a, std::span<const std::int64_t> b, Vertex* ranks_a,
                                     Vertex* ranks_b, int threads, const control& ctl) {
  const auto size_a = static_cast<std::int64_t>(a.size()), size = size_a + static_cast<std::int64_t>(b.size());
  const auto id_at = [&](std::int64_t i) {
    return i < size_a ? a[static_cast<std::size_t>(i)] : b[static_cast<std::size_t>(i - size_a)];
  };
  const sampled_buckets buckets(size, id_at);
  buffer<placed_id> entries(static_cast<std::size_t>(size));
  std::vector<input_piece> pieces;
  cut_pieces(0, size, std::max(grain, (size + threads - 1) / threads), 0, pieces);
  const auto begins = stable_partition(std::span<const input_piece>(pieces), 1, buckets.count(), bucket_order::by_group,
                                       entries.data(), threads, ctl, [&](const input_piece& piece, auto&& sink) {
                                         for (auto i = piece.begin; i < piece.end; ++i)
                                           sink(buckets.of(id_at(i)), placed_id{key_of(id_at(i)), i});
                                       });

  std::vector<std::int64_t> firsts(static_cast<std::size_t>(buckets.count()) + 1, 0);
  std::atomic<std::size_t> next{0};
  on_threads(buckets.count() > 1 ? threads : 1, [&](int) {
    bucket_sorter sorter;
    for (auto bucket = next++; bucket + 1 < firsts.size(); bucket = next++) {
      ctl.check();
      firsts[bucket + 1] = sorter.sort({entries.begin() + begins[bucket], entries.begin() + begins[bucket + 1]});
    }
  });
  std::inclusive_scan(firsts.begin(), firsts.end(), firsts.begin());
  buffer<std::int64_t> ids(static_cast<std::size_t>(firsts.back()));
  parallel_chunks(0, buckets.count(), 1, threads, ctl, [&](int, auto bucket, auto) {
    auto rank = firsts[static_cast<std::size_t>(bucket)] - 1;
    const auto begin = begins[static_cast<std::size_t>(bucket)], end = begins[static_cast<std::size_t>(bucket) + 1];
    for (const auto *entry = entries.data() + begin, *last = entries.data() + end, *first = entry; entry != last;
         ++entry) {
      if (entry == first || entry->key != entry[-1].key) ids[static_cast<std::size_t>(++rank)] = id_of(entry->key);
      (entry->place < size_a ? ranks_a[entry->place] : ranks_b[entry->place - size_a]) = static_cast<Vertex>(rank);
    }
  });
  return ids;
}

template buffer<std::int64_t> rank_sparse_ids(std::span<const std::int64_t>, std::span<const std::int64_t>,
                                              std::int32_t*, std::int32_t*, int, const control&);
template buffer<std::int64_t> rank_sparse_ids(std::span<const std::int64_t>, std::span<const std::int64_t>,
                                              std::int64_t*, std::int64_t*, int, const control&);

namespace {

// Ids of a range, whose first one is `first`.
buffer<std::int64_t> rank_dense_ids(std::span<const std::int64_t> ids, const id_range<std::int64_t>& range,
                                    std::int32_t* ranks, int threads, const control& ctl) {
  const auto size = static_cast<std::int64_t>(ids.size());
  const auto distance = [&](std::int64_t i) { return ids[static_cast<std::size_t>(i)] - range.first; };
  dense_ids seen(range.width());
  parallel_chunks(0, size, grain, threads, ctl, [&](int, auto begin, auto end) {
    for (auto i = begin; i < end; ++i) seen.insert(distance(i));
  });
  buffer<std::int64_t> ascending(static_cast<std::size_t>(seen.count()));
  auto* next = ascending.data();
  seen.each([&](std::int64_t id) { *next++ = range.first + id; });
  parallel_chunks(0, size, grain, threads, ctl, [&](int, auto begin, auto end) {
    for (auto i = begin; i < end; ++i) ranks[i] = static_cast<std::int32_t>(seen.rank(distance(i)));
  });
  return ascending;
}

}  // namespace

buffer<std::int64_t> rank_ids(std::span<const std::int64_t> ids, std::int32_t* ranks, int threads, const control& ctl) {
  constexpr std::size_t bits_per_id = 64, fewest_bits = std::size_t{1} << 12;
  const auto range = find_range(ids, {}, threads);
  if (range.width() <= static_cast<std::int64_t>(std::max(bits_per_id * ids.size(), fewest_bits)))
    return rank_dense_ids(ids, range, ranks, threads, ctl);
  return rank_sparse_ids<std::int32_t>(ids, {}, ranks, nullptr, threads, ctl);
}

}  // namespace graphlode::graph
