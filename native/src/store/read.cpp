// store/read.cpp - reads from a packed array: rows, degrees, compressed rows, shares of rows, statistics.
//
// Reads of everything sweep the pages in parallel. The entry at which a page begins is known (from the counts of the
// pages before it), so each page writes its part of the result independently.
#include <algorithm>
#include <vector>

#include "graphlode/parallel.hpp"
#include "graphlode/store/buckets.hpp"
#include "graphlode/store/packed_rows.hpp"

namespace graphlode::packed {
namespace {

constexpr std::int64_t pages_per_task = 16;

struct page_starts {
  std::vector<std::int64_t> entry;     // of each page: entries before it
  std::vector<std::int64_t> last_row;  // of each page: the last row with entries before it, -1 if none
};

page_starts starts_of(const packed_rows& rows) {
  page_starts starts;
  std::int64_t entry = 0, last_row = -1;
  for (std::int64_t position = 0; position < rows.num_pages(); ++position) {
    starts.entry.push_back(entry);
    starts.last_row.push_back(last_row);
    const page& at = rows.page_at(position);
    entry += at.count;
    for (int l = page_leaves - 1; l >= 0 && at.count > 0; --l)
      if (const int count = at.counts[static_cast<std::size_t>(l)]) {
        last_row = row_of(at.leaf(l)[count - 1]);
        break;
      }
  }
  return starts;
}

}  // namespace

std::int64_t packed_rows::degree(std::int64_t row) const noexcept {
  std::int64_t count = 0;
  for_each_neighbor(row, [&](std::int32_t) { return ++count, true; });
  return count;
}

buffer<std::int64_t> packed_rows::degrees(int threads, const control& ctl) const {
  buffer<std::int64_t> result(static_cast<std::size_t>(num_rows_), 0);
  parallel_chunks(0, num_pages(), pages_per_task, threads, ctl, [&](int, std::int64_t first, std::int64_t last) {
    sweep_rows(first, last, [&](std::int64_t row, std::span<const key_type> keys, const double*) {
      std::atomic_ref(result[static_cast<std::size_t>(row)])  // a row may extend into the pages of another task
          .fetch_add(static_cast<std::int64_t>(keys.size()), std::memory_order_relaxed);
    });
  });
  return result;
}

packed_rows::arrays packed_rows::compressed(int threads, const control& ctl) const {
  arrays result;
  result.rows.offsets = buffer<std::int64_t>(static_cast<std::size_t>(num_rows_) + 1);
  result.rows.neighbors = buffer<std::int32_t>(static_cast<std::size_t>(num_entries_));
  if (weighted_) result.weights = buffer<double>(static_cast<std::size_t>(num_entries_));
  const auto starts = starts_of(*this);
  auto* offsets = result.rows.offsets.data();
  parallel_chunks(0, num_pages(), pages_per_task, threads, ctl, [&](int, std::int64_t first, std::int64_t last) {
    auto entry = starts.entry[static_cast<std::size_t>(first)];
    auto begun = starts.last_row[static_cast<std::size_t>(first)];  // offsets are known up to this row
    sweep(first, last, [&](std::span<const key_type> keys, const double* weights) {
      if (weights) std::copy_n(weights, keys.size(), result.weights.data() + entry);
      for (const key_type key : keys) {
        for (const auto row = row_of(key); begun < row;) offsets[++begun] = entry;
        result.rows.neighbors[static_cast<std::size_t>(entry++)] = neighbor_of(key);
      }
    });
    if (last == num_pages()) std::fill(offsets + begun + 1, offsets + num_rows_ + 1, num_entries_);
  });
  return result;
}

packed_rows::entries packed_rows::rows_in(std::span<const bool> buckets, int threads, const control& ctl) const {
  const auto each_chosen = [&](std::int64_t first, std::int64_t last, auto&& visit) {
    sweep_rows(first, last, [&](std::int64_t row, std::span<const key_type> keys, const double* weights) {
      if (buckets[bucket_of(row)]) visit(keys, weights);
    });
  };
  const auto tasks = (num_pages() + pages_per_task - 1) / pages_per_task;
  std::vector<std::int64_t> starts(static_cast<std::size_t>(tasks) + 1, 0);
  const auto each_task = [&](auto&& work) {
    parallel_chunks(0, tasks, 1, threads, ctl, [&](int, std::int64_t task, std::int64_t) {
      work(static_cast<std::size_t>(task), task * pages_per_task, std::min((task + 1) * pages_per_task, num_pages()));
    });
  };
  each_task([&](std::size_t task, std::int64_t first, std::int64_t last) {
    each_chosen(first, last, [&](std::span<const key_type> keys, const double*) {
      starts[task + 1] += static_cast<std::int64_t>(keys.size());
    });
  });
  for (std::size_t task = 0; task < static_cast<std::size_t>(tasks); ++task) starts[task + 1] += starts[task];
  entries result;
  result.keys = buffer<key_type>(static_cast<std::size_t>(starts.back()));
  if (weighted_) result.weights = buffer<double>(result.keys.size());
  each_task([&](std::size_t task, std::int64_t first, std::int64_t last) {
    auto out = starts[task];
    each_chosen(first, last, [&](std::span<const key_type> keys, const double* weights) {
      std::copy(keys.begin(), keys.end(), result.keys.data() + out);
      if (weights) std::copy_n(weights, keys.size(), result.weights.data() + out);
      out += static_cast<std::int64_t>(keys.size());
    });
  });
  return result;
}

packed_rows::entries packed_rows::all(int threads, const control& ctl) const {
  entries result;
  result.keys = buffer<key_type>(static_cast<std::size_t>(num_entries_));
  if (weighted_) result.weights = buffer<double>(result.keys.size());
  const auto starts = starts_of(*this);
  parallel_chunks(0, num_pages(), pages_per_task, threads, ctl, [&](int, std::int64_t first, std::int64_t last) {
    auto out = starts.entry[static_cast<std::size_t>(first)];
    sweep(first, last, [&](std::span<const key_type> keys, const double* weights) {
      std::copy(keys.begin(), keys.end(), result.keys.data() + out);
      if (weights) std::copy_n(weights, keys.size(), result.weights.data() + out);
      out += static_cast<std::int64_t>(keys.size());
    });
  });
  return result;
}

packed_rows::entries packed_rows::row(std::int64_t row) const {
  const auto size = static_cast<std::size_t>(degree(row));
  entries result;
  result.keys = buffer<key_type>(size);
  if (weighted_) result.weights = buffer<double>(size);
  std::size_t out = 0;
  walk_row(row, [&](const page& at, int slot, key_type key) {
    if (weighted_) result.weights[out] = at.weights()[slot];
    result.keys[out++] = key;
    return true;
  });
  return result;
}

void packed_rows::contains(std::span<const key_type> keys, bool* found) const noexcept {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const page& at = page_at(find_page(keys[i], 0, num_pages() - 1));
    const int l = at.find_leaf(keys[i]);
    const int rank = at.rank_in_leaf(l, keys[i]);
    found[i] = rank < at.counts[static_cast<std::size_t>(l)] && at.leaf(l)[rank] == keys[i];
  }
}

packed_rows::figures packed_rows::statistics() const noexcept {
  figures result{num_entries_, num_pages() * page_slots, num_pages(), 0, 0.0, {}};
  result.density = static_cast<double>(num_entries_) / static_cast<double>(result.capacity);
  for (std::int64_t position = 0; position < num_pages(); ++position) {
    const auto number = directory_.numbers[static_cast<std::size_t>(position)];
    result.shared_pages += !directory_.pages[number].exclusive();
    std::array<int, page_leaves> windows;
    std::copy(page_at(position).counts.begin(), page_at(position).counts.end(), windows.begin());
    for (int level = 0; level < levels; ++level) {
      const int count = page_leaves >> level;
      if (level > 0)
        for (int w = 0; w < count; ++w)
          windows[static_cast<std::size_t>(w)] =
              windows[static_cast<std::size_t>(2 * w)] + windows[static_cast<std::size_t>(2 * w + 1)];
      auto& fullest = result.density_by_level[static_cast<std::size_t>(level)];
      const int most = *std::max_element(windows.begin(), windows.begin() + count);
      fullest = std::max(fullest, static_cast<double>(most) / static_cast<double>(leaf_slots << level));
    }
  }
  return result;
}

std::int64_t packed_rows::bytes() const noexcept {
  const auto small = directory_.separators.size() * sizeof(key_type) + directory_.numbers.size() * 4 +
                     directory_.pages.size() * sizeof(block) + directory_.positions.size() * 4 +
                     index_.size() * sizeof(block);
  return pools_->pages.bytes() + pools_->parts.bytes() + static_cast<std::int64_t>(small);
}

}  // namespace graphlode::packed
