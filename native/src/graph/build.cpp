// build.cpp - edges to sorted rows by one partition and many small sorts.
//
// 1. Which ids occur (a bitmap, or a hash table for scattered ids).
// 2. Every edge becomes one entry (directed) or two (undirected), partitioned by the high bits of its source into
//    buckets that fit the second-level cache. An entry packs the low bits of the source and the destination into one
//    key, 32 bits wide where that is enough: the partition is the largest intermediate, and it then is no larger than
//    the result.
// 3. Every bucket is radix sorted in cache, repeated entries are dropped, rows are counted.
// 4. One scan gives the offsets, one copy the neighbors, translated from ids to vertices on the way.
//
// The translation keeps the order of ids, so it can wait until step 4, when repeated entries are gone. Two passes over
// the list and two over the entries; all of them parallel, all deterministic whatever the number of threads.
#include "graphlode/graph/build.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "bucket_sort.hpp"
#include "graphlode/errors.hpp"
#include "graphlode/graph/id_set.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::graph {
namespace {

constexpr std::int64_t bucket_entries = 1 << 15;  // two copies of 32-bit keys take a quarter of a 1 MiB cache
constexpr int max_bucket_bits = 12;               // more write streams than this miss the cache on every store
constexpr std::int64_t edges_between_checks = 1 << 20;

int bits_for(std::int64_t values) {
  return values <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(values - 1)));
}

template <class Key>
struct plain_entry {
  using key_type = Key;
  static constexpr bool has_position = false;
  Key key;
};

struct placed_entry {
  using key_type = std::uint64_t;
  static constexpr bool has_position = true;
  std::uint64_t key;
  std::int64_t position;
};

// How a source and a destination become a bucket and a key.
struct key_layout {
  int id_bits;   // bits of an id
  int low_bits;  // bits of the source that stay in the key
  std::size_t num_buckets;

  std::size_t bucket(std::int64_t source) const { return static_cast<std::size_t>(source >> low_bits); }
  template <class Key>
  Key key(std::int64_t source, std::int64_t destination) const {
    const auto low = static_cast<std::uint64_t>(source) & ((std::uint64_t{1} << low_bits) - 1);
    return static_cast<Key>(low << id_bits | static_cast<std::uint64_t>(destination));
  }
  std::int64_t destination(std::uint64_t key) const {
    return static_cast<std::int64_t>(key & ((std::uint64_t{1} << id_bits) - 1));
  }
  std::int64_t source(std::size_t bucket_index, std::uint64_t key) const {
    return static_cast<std::int64_t>(bucket_index << low_bits | static_cast<std::size_t>(key >> id_bits));
  }
  int key_bits() const { return id_bits + low_bits; }
};

key_layout choose_layout(std::int64_t width, std::int64_t entries) {
  const int id_bits = bits_for(width);
  const int wanted = bits_for(entries / bucket_entries);
  const int needed = std::max(0, 2 * id_bits - 64);  // so that a key fits 64 bits
  const int bucket_bits = std::max(needed, std::min({wanted, max_bucket_bits, id_bits}));
  const int low_bits = id_bits - bucket_bits;
  return {id_bits, low_bits, static_cast<std::size_t>((width + (std::int64_t{1} << low_bits) - 1) >> low_bits)};
}

// The edges with ids as distances from the first id, seen as entries.
template <class Id>
struct edge_source {
  std::span<const Id> src, dst;
  Id first;
  bool directed;

  std::int64_t size() const { return static_cast<std::int64_t>(src.size()); }
  std::int64_t distance(Id id) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(first));
  }
  // Calls visit(source, destination, edge) for each entry of edges begin..end; counts self-loops.
  template <class Visit>
  std::int64_t each(std::int64_t begin, std::int64_t end, const control& ctl, Visit&& visit) const {
    std::int64_t loops = 0;
    for (; begin < end; begin += edges_between_checks) {
      ctl.check();
      loops += each_of_block(begin, std::min(end, begin + edges_between_checks), visit);
    }
    return loops;
  }

 private:
  template <class Visit>
  std::int64_t each_of_block(std::int64_t begin, std::int64_t end, Visit& visit) const {
    std::int64_t loops = 0;
    for (auto i = begin; i < end; ++i) {
      const auto u = distance(src[static_cast<std::size_t>(i)]), v = distance(dst[static_cast<std::size_t>(i)]);
      if (u == v) {
        ++loops;
        continue;
      }
      visit(u, v, i);
      if (!directed) visit(v, u, i);
    }
    return loops;
  }
};

template <class Entry>
struct partition {
  buffer<Entry> entries;
  std::vector<std::int64_t> starts;  // of each bucket, and the end
  std::int64_t self_loops = 0;
};

template <class Entry, class Id>
partition<Entry> partition_edges(const edge_source<Id>& edges, const key_layout& layout, dense_ids* seen, int threads,
                                 const control& ctl) {
  const auto buckets = layout.num_buckets;
  std::vector<std::vector<std::int64_t>> heads(static_cast<std::size_t>(threads));
  std::vector<std::int64_t> loops(static_cast<std::size_t>(threads), 0);
  parallel_parts(edges.size(), threads, [&](int thread, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> counts(buckets, 0);
    loops[static_cast<std::size_t>(thread)] =
        edges.each(begin, end, ctl, [&](std::int64_t u, std::int64_t, std::int64_t) { ++counts[layout.bucket(u)]; });
    if (seen)
      for (auto i = begin; i < end; ++i) {
        seen->insert(edges.distance(edges.src[static_cast<std::size_t>(i)]));
        seen->insert(edges.distance(edges.dst[static_cast<std::size_t>(i)]));
      }
    heads[static_cast<std::size_t>(thread)] = std::move(counts);
  });

  partition<Entry> result;
  result.self_loops = std::accumulate(loops.begin(), loops.end(), std::int64_t{0});
  result.starts.resize(buckets + 1);
  std::int64_t total = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    result.starts[b] = total;
    for (auto& head : heads) total += std::exchange(head[b], total);
  }
  result.starts[buckets] = total;
  result.entries = buffer<Entry>(static_cast<std::size_t>(total));

  parallel_parts(edges.size(), threads, [&](int thread, std::int64_t begin, std::int64_t end) {
    auto* head = heads[static_cast<std::size_t>(thread)].data();
    Entry* entries = result.entries.data();
    edges.each(begin, end, ctl, [&](std::int64_t u, std::int64_t v, [[maybe_unused]] std::int64_t edge) {
      Entry& entry = entries[head[layout.bucket(u)]++];
      entry.key = layout.template key<typename Entry::key_type>(u, v);
      if constexpr (Entry::has_position) entry.position = edge;
    });
  });
  return result;
}

// Sorts each bucket and drops repeated keys (the last one stays). Returns how many entries each bucket keeps.
template <class Entry>
std::vector<std::int64_t> sort_buckets(partition<Entry>& parts, const key_layout& layout, int threads,
                                       const control& ctl) {
  std::vector<std::size_t> by_size(layout.num_buckets);
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  const auto size = [&](std::size_t b) { return parts.starts[b + 1] - parts.starts[b]; };
  std::stable_sort(by_size.begin(), by_size.end(), [&](auto a, auto b) { return size(a) > size(b); });
  std::vector<std::int64_t> kept(layout.num_buckets, 0);
  std::atomic<std::size_t> next{0};
  with_helpers(threads, [&](int) {
    buffer<Entry> spare;
    std::vector<std::size_t> counts;
    for (auto i = next.fetch_add(1); i < by_size.size(); i = next.fetch_add(1)) {
      ctl.check();
      const auto b = by_size[i];
      const auto n = static_cast<std::size_t>(size(b));
      if (n == 0) return;  // the rest is empty, too
      if (spare.size() < n) spare = buffer<Entry>(n);
      Entry* mine = parts.entries.data() + parts.starts[b];
      const Entry* sorted = sort_bucket(mine, spare.data(), n, layout.key_bits(), counts);
      std::size_t out = 0;
      for (std::size_t j = 0; j < n; ++j)
        if (j + 1 == n || sorted[j + 1].key != sorted[j].key) mine[out++] = sorted[j];
      kept[b] = static_cast<std::int64_t>(out);
    }
  });
  return kept;
}

// Offsets and neighbors from sorted buckets. `seen` is null when the ids are the vertices.
template <class Entry, class Vertex>
void write_rows(const partition<Entry>& parts, const std::vector<std::int64_t>& kept, const key_layout& layout,
                const dense_ids* seen, std::int64_t width, int threads, const control& ctl,
                build_result<Vertex>& result) {
  std::vector<std::int64_t> base(kept.size() + 1, 0);
  std::inclusive_scan(kept.begin(), kept.end(), base.begin() + 1);
  result.graph.offsets = buffer<std::int64_t>(static_cast<std::size_t>(result.num_vertices) + 1);
  result.graph.neighbors = buffer<Vertex>(static_cast<std::size_t>(base.back()));
  if constexpr (Entry::has_position) result.positions = buffer<std::int64_t>(static_cast<std::size_t>(base.back()));
  auto* offsets = result.graph.offsets.data();
  offsets[result.num_vertices] = base.back();
  const auto vertex = [&](std::int64_t id) { return seen ? seen->rank(id) : id; };
  parallel_chunks(0, static_cast<std::int64_t>(kept.size()), 1, threads, ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
                      const Entry* entry = parts.entries.data() + parts.starts[b];
                      const Entry* const last = entry + kept[b];
                      Vertex* out = result.graph.neighbors.data() + base[b];
                      auto position = base[b];
                      const auto row_end = std::min(width, static_cast<std::int64_t>((b + 1) << layout.low_bits));
                      for (auto row = static_cast<std::int64_t>(b << layout.low_bits); row < row_end; ++row) {
                        if (seen && !seen->contains(row)) continue;
                        offsets[vertex(row)] = position;
                        for (; entry != last && layout.source(b, entry->key) == row; ++entry, ++position) {
                          *out++ = static_cast<Vertex>(vertex(layout.destination(entry->key)));
                          if constexpr (Entry::has_position)
                            result.positions[static_cast<std::size_t>(position)] = entry->position;
                        }
                      }
                    }
                  });
}

template <class Entry, class Id, class Vertex>
void build_entries(const edge_source<Id>& edges, std::int64_t width, dense_ids* seen, const build_options& options,
                   const control& ctl, build_result<Vertex>& result) {
  const auto layout = choose_layout(width, edges.size() * (options.directed ? 1 : 2));
  auto parts = partition_edges<Entry>(edges, layout, seen, options.threads, ctl);
  result.num_vertices = seen ? seen->count() : width;
  const auto kept = sort_buckets(parts, layout, options.threads, ctl);
  const bool every_id = result.num_vertices == width;
  write_rows(parts, kept, layout, every_id ? nullptr : seen, width, options.threads, ctl, result);
  const auto entries = std::accumulate(kept.begin(), kept.end(), std::int64_t{0});
  result.num_edges = options.directed ? entries : entries / 2;
  result.self_loops = parts.self_loops;
  result.duplicates = edges.size() - parts.self_loops - result.num_edges;
  if (seen && (!every_id || edges.first != 0)) {
    result.ids = buffer<std::int64_t>(static_cast<std::size_t>(result.num_vertices));
    auto* id = result.ids.data();
    seen->each([&](std::int64_t distance) {
      *id++ = static_cast<std::int64_t>(static_cast<std::uint64_t>(edges.first) + static_cast<std::uint64_t>(distance));
    });
  }
}

template <class Id, class Vertex>
void build_dense(const edge_source<Id>& edges, std::int64_t width, dense_ids* seen, const build_options& options,
                 const control& ctl, build_result<Vertex>& result) {
  const auto layout = choose_layout(width, edges.size() * (options.directed ? 1 : 2));
  if (options.keep_positions)
    build_entries<placed_entry>(edges, width, seen, options, ctl, result);
  else if (layout.key_bits() <= 32)
    build_entries<plain_entry<std::uint32_t>>(edges, width, seen, options, ctl, result);
  else
    build_entries<plain_entry<std::uint64_t>>(edges, width, seen, options, ctl, result);
}

template <class Id>
void require_range(std::span<const Id> src, std::span<const Id> dst, const id_range<Id>& range,
                   std::int64_t num_vertices) {
  if (range.width() == 0 || (range.first >= 0 && static_cast<std::int64_t>(range.last) < num_vertices)) return;
  for (std::size_t i = 0; i < src.size(); ++i)
    for (const Id id : {src[i], dst[i]})
      if (id < 0 || static_cast<std::int64_t>(id) >= num_vertices)
        throw input_error("edge " + std::to_string(i) + " names vertex " + std::to_string(id) +
                          ", but num_vertices is " + std::to_string(num_vertices));
}

}  // namespace

template <class Id, class Vertex>
build_result<Vertex> build(std::span<const Id> src, std::span<const Id> dst, const build_options& wanted,
                           const control& ctl) {
  build_result<Vertex> result;
  build_options options = wanted;
  options.threads = worthwhile_threads(static_cast<std::int64_t>(src.size()), wanted.threads);
  const auto range = find_range(src, dst, options.threads);
  if (options.num_vertices >= 0) {
    require_range(src, dst, range, options.num_vertices);
    build_dense(edge_source<Id>{src, dst, 0, options.directed}, options.num_vertices, nullptr, options, ctl, result);
    return result;
  }
  // A bitmap of up to 64 bits per edge end is worth it; beyond, ids are too scattered. Two keys must fit 64 bits.
  const auto affordable = static_cast<std::int64_t>(std::max<std::size_t>(src.size() * 128, std::size_t{1} << 16));
  if (range.width() <= std::min(affordable, std::int64_t{1} << 31)) {
    dense_ids seen(range.width());
    build_dense(edge_source<Id>{src, dst, range.width() ? range.first : Id{0}, options.directed}, range.width(), &seen,
                options, ctl, result);
    return result;
  }
  if constexpr (sizeof(Id) == 8) {
    buffer<Vertex> u(src.size()), v(src.size());
    auto ids = rank_sparse_ids<Vertex>(src, dst, u.data(), v.data(), options.threads, ctl);
    build_dense(edge_source<Vertex>{u, v, 0, options.directed}, static_cast<std::int64_t>(ids.size()), nullptr, options,
                ctl, result);
    result.ids = std::move(ids);
    return result;
  } else {
    std::vector<std::int64_t> u(src.begin(), src.end()), v(dst.begin(), dst.end());
    return build<std::int64_t, Vertex>(u, v, options, ctl);
  }
}

template build_result<std::int32_t> build<std::int32_t, std::int32_t>(std::span<const std::int32_t>,
                                                                      std::span<const std::int32_t>,
                                                                      const build_options&, const control&);
template build_result<std::int32_t> build<std::int64_t, std::int32_t>(std::span<const std::int64_t>,
                                                                      std::span<const std::int64_t>,
                                                                      const build_options&, const control&);
template build_result<std::int64_t> build<std::int64_t, std::int64_t>(std::span<const std::int64_t>,
                                                                      std::span<const std::int64_t>,
                                                                      const build_options&, const control&);

}  // namespace graphlode::graph
