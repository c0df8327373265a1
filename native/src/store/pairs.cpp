// store/pairs.cpp - checks pairs of positions and makes keys from them, in two passes: self-loops must be counted
// before anything is written.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "graphlode/errors.hpp"
#include "graphlode/parallel.hpp"
#include "graphlode/store/pair_keys.hpp"

namespace graphlode::packed {
namespace {

constexpr const char* changed_meanwhile = "the arrays of a batch were changed while it was read";

// What is negative is large.
template <class Id>
std::uint64_t as_word(Id id) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(id));
}

struct part_facts {
  std::uint64_t highest = 0;
  std::size_t self_loops = 0;
};

template <class Id>
part_facts look_at(std::span<const Id> rows, std::span<const Id> neighbors) {
  part_facts found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.highest = std::max({found.highest, as_word(rows[i]), as_word(neighbors[i])});
    found.self_loops += rows[i] == neighbors[i];
  }
  return found;
}

// Returns whether the number of keys is exactly the room in `to`.
template <bool both, class Id>
bool write(std::span<const Id> rows, std::span<const Id> neighbors, std::span<std::uint64_t> to) {
  std::size_t written = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t row = as_word(rows[i]), neighbor = as_word(neighbors[i]);
    if (row == neighbor) continue;
    if (written == to.size()) return false;
    to[written++] = row << 32 | neighbor;
    if constexpr (both) to[written++] = neighbor << 32 | row;
  }
  return written == to.size();
}

}  // namespace

template <class Id>
pair_keys keys_of_pairs(std::span<const Id> rows, std::span<const Id> neighbors, std::int64_t num_rows, bool both,
                        int threads) {
  const auto count = static_cast<std::int64_t>(rows.size());
  threads = worthwhile_threads(count / 2, threads);
  std::vector<part_facts> parts(static_cast<std::size_t>(threads));
  const auto of_part = [&](std::span<const Id> ids, std::int64_t begin, std::int64_t end) {
    return ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  };
  parallel_parts(count, threads, [&](int thread, std::int64_t begin, std::int64_t end) {
    parts[static_cast<std::size_t>(thread)] = look_at(of_part(rows, begin, end), of_part(neighbors, begin, end));
  });
  part_facts all;
  std::vector<std::size_t> dropped;  // before each part
  for (const auto& part : parts) {
    dropped.push_back(all.self_loops);
    all.highest = std::max(all.highest, part.highest);
    all.self_loops += part.self_loops;
  }
  if (count > 0 && all.highest >= static_cast<std::uint64_t>(num_rows))
    throw input_error("a position is not one of " + std::to_string(num_rows));
  const std::size_t width = both ? 2 : 1;
  buffer<std::uint64_t> keys(width * (rows.size() - all.self_loops));
  parallel_parts(count, threads, [&](int thread, std::int64_t begin, std::int64_t end) {
    const auto part = static_cast<std::size_t>(thread);
    const std::size_t first = static_cast<std::size_t>(begin) - dropped[part];
    const std::size_t size = static_cast<std::size_t>(end - begin) - parts[part].self_loops;
    const std::span<std::uint64_t> to{keys.data() + width * first, width * size};
    const auto own_rows = of_part(rows, begin, end), own_neighbors = of_part(neighbors, begin, end);
    if (!(both ? write<true, Id> : write<false, Id>)(own_rows, own_neighbors, to)) throw input_error(changed_meanwhile);
  });
  return {std::move(keys), static_cast<std::int64_t>(all.self_loops)};
}

template <class Id, class Value>
buffer<Value> values_of_pairs(std::span<const Id> rows, std::span<const Id> neighbors, std::span<const Value> values,
                              bool both, int threads) {
  const auto count = static_cast<std::int64_t>(rows.size());
  threads = worthwhile_threads(count / 2, threads);
  std::vector<std::size_t> kept(static_cast<std::size_t>(threads) + 1, 0);  // before each part
  parallel_parts(count, threads, [&](int part, std::int64_t begin, std::int64_t end) {
    std::size_t pairs = 0;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      pairs += rows[i] != neighbors[i];
    kept[static_cast<std::size_t>(part) + 1] = pairs;
  });
  std::inclusive_scan(kept.begin(), kept.end(), kept.begin());
  const std::size_t width = both ? 2 : 1;
  buffer<Value> result(width * kept.back());
  parallel_parts(count, threads, [&](int part, std::int64_t begin, std::int64_t end) {
    Value* to = result.data() + width * kept[static_cast<std::size_t>(part)];
    Value* const part_end = result.data() + width * kept[static_cast<std::size_t>(part) + 1];
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end) && to != part_end; ++i) {
      if (rows[i] == neighbors[i]) continue;
      *to++ = values[i];
      if (both) *to++ = values[i];
    }
    if (to != part_end) throw input_error(changed_meanwhile);
  });
  return result;
}

template pair_keys keys_of_pairs(std::span<const std::int32_t>, std::span<const std::int32_t>, std::int64_t, bool, int);
template pair_keys keys_of_pairs(std::span<const std::int64_t>, std::span<const std::int64_t>, std::int64_t, bool, int);

template buffer<bool> values_of_pairs(std::span<const std::int32_t>, std::span<const std::int32_t>,
                                      std::span<const bool>, bool, int);
template buffer<bool> values_of_pairs(std::span<const std::int64_t>, std::span<const std::int64_t>,
                                      std::span<const bool>, bool, int);
template buffer<double> values_of_pairs(std::span<const std::int32_t>, std::span<const std::int32_t>,
                                        std::span<const double>, bool, int);
template buffer<double> values_of_pairs(std::span<const std::int64_t>, std::span<const std::int64_t>,
                                        std::span<const double>, bool, int);

}  // namespace graphlode::packed
