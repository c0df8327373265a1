// store/write.hpp - writes entries and updates into leaves, windows and pages; every slot is written once.
//
// In place: single leaves (`write_leaf`), and windows of leaves whose entries are gathered with their updates and
// spread evenly (`spread`). From scratch: whole pages, from a stream of entries (`write_page`).
#pragma once
#include <algorithm>
#include <cstring>

#include "graphlode/store/updates.hpp"

namespace graphlode::packed {

// Updates of one page, as indices into the located batch.
struct update_range {
  std::size_t begin, end;
};

// Merges a leaf with its updates. It is read in pieces, because a hot leaf may have any number of updates.
template <bool Weighted>
class leaf_merge {
 public:
  leaf_merge(const page& at, int leaf, const updates& batch, update_range mine)
      : keys_(at.leaf(leaf)), count_(at.counts[static_cast<std::size_t>(leaf)]), batch_(&batch), mine_(mine) {
    if constexpr (Weighted) weights_ = at.weights() + leaf * leaf_slots;
  }
  // Reads up to `room` entries; fewer only at the end.
  int read(key_type* keys, double* weights, int room) {
    int out = 0;
    while (out < room) {
      const key_type update = mine_.begin < mine_.end ? batch_->keys[mine_.begin] : no_key;
      const key_type updated = mine_.begin < mine_.end ? plain(update) : no_key;
      if (at_ < count_ && keys_[at_] < updated) {
        keys[out] = keys_[at_];
        if constexpr (Weighted) weights[out] = weights_[at_];
        ++at_;
        ++out;
        continue;
      }
      if (mine_.begin == mine_.end) break;
      if (at_ < count_ && keys_[at_] == updated) ++at_;
      if (!is_delete(update)) {
        keys[out] = updated;
        if constexpr (Weighted) weights[out] = batch_->weights[mine_.begin];
        ++out;
      }
      ++mine_.begin;
    }
    return out;
  }

 private:
  const key_type* keys_;
  const double* weights_ = nullptr;
  int count_;
  int at_ = 0;
  const updates* batch_;
  update_range mine_;
};

// Removes the updates of leaf `leaf` from the front of `rest` and returns them.
inline update_range take_leaf(const updates& batch, update_range& rest, int leaf) {
  const auto begin = rest.begin;
  while (rest.begin < rest.end && leaf_of(batch.places[rest.begin]) == leaf) ++rest.begin;
  return {begin, rest.begin};
}

// Writes a leaf with its updates, which must fit. Returns its number of entries.
template <bool Weighted>
int write_leaf(page& at, int leaf, const updates& batch, update_range mine) {
  auto& count = at.counts[static_cast<std::size_t>(leaf)];
  key_type* keys = at.leaf(leaf);
  double* weights = Weighted ? at.weights() + leaf * leaf_slots : nullptr;
  const int before = count;
  if (mine.end - mine.begin == 1) {  // by far the most frequent case
    const key_type update = batch.keys[mine.begin], key = plain(update);
    const int rank = at.rank_in_leaf(leaf, key), behind = before - rank;
    const auto move = [&](auto* from) {
      if (is_delete(update))
        std::memmove(from + rank, from + rank + 1, static_cast<std::size_t>(behind - 1) * sizeof(*from));
      else if (!is_present(update))
        std::memmove(from + rank + 1, from + rank, static_cast<std::size_t>(behind) * sizeof(*from));
    };
    move(keys);
    if constexpr (Weighted) move(weights);
    if (!is_delete(update)) {
      keys[rank] = key;
      if constexpr (Weighted) weights[rank] = batch.weights[mine.begin];
    }
    count = static_cast<std::uint8_t>(before + growth_of(update));
  } else {
    std::array<key_type, leaf_slots> merged;
    std::array<double, Weighted ? leaf_slots : 1> merged_weights;
    const int size = leaf_merge<Weighted>(at, leaf, batch, mine).read(merged.data(), merged_weights.data(), leaf_slots);
    std::copy_n(merged.data(), size, keys);
    if constexpr (Weighted) std::copy_n(merged_weights.data(), size, weights);
    count = static_cast<std::uint8_t>(size);
  }
  at.count += count - before;
  return count;
}

// The entries of a window with their updates, gathered before they are spread.
template <bool Weighted>
struct window_entries {
  std::array<key_type, page_slots> keys;
  std::array<double, Weighted ? page_slots : 1> weights;
  int size = 0;

  void gather(const page& at, int leaf, const updates& batch, update_range mine) {
    leaf_merge<Weighted> merge(at, leaf, batch, mine);
    size += merge.read(keys.data() + size, Weighted ? weights.data() + size : nullptr, page_slots - size);
  }
};

// The separator of a leaf that begins with `key`, where `before` is the entry in front of it. If a row begins with the
// leaf, all its possible keys belong into the leaf, so the row index has the leaf where the row starts.
constexpr key_type separator_between(key_type before, key_type key) {
  return row_of(before) == row_of(key) ? key : first_key_of(row_of(key));
}

// Spreads the entries evenly over leaves first .. first + leaves - 1. The separator of the first leaf does not change.
template <bool Weighted>
void spread(page& at, int first, int leaves, const window_entries<Weighted>& from) {
  for (int l = 0; l < leaves; ++l) {
    const int begin = from.size * l / leaves, end = from.size * (l + 1) / leaves;
    const int leaf = first + l, slot = leaf * leaf_slots;
    at.count += end - begin - at.counts[static_cast<std::size_t>(leaf)];
    at.counts[static_cast<std::size_t>(leaf)] = static_cast<std::uint8_t>(end - begin);
    if (begin > 0) {
      const key_type* const key = from.keys.data() + begin;
      at.separators[static_cast<std::size_t>(leaf)] = separator_between(key[-1], key[0]);
    } else if (l > 0) {  // only in a single, nearly empty page
      at.separators[static_cast<std::size_t>(leaf)] = from.keys[0];
    }
    std::copy(from.keys.begin() + begin, from.keys.begin() + end, at.leaf(leaf));
    if constexpr (Weighted) std::copy(from.weights.begin() + begin, from.weights.begin() + end, at.weights() + slot);
  }
}

// Writes a page of `size` entries from a stream. If `separator` is no_key, the separator of the page is its first key.
template <bool Weighted, class Stream>
void write_page(page& at, std::int64_t size, key_type separator, Stream& stream) {
  const key_type* before = nullptr;  // the last entry so far
  for (int l = 0; l < page_leaves; ++l) {
    const auto count = static_cast<int>(size * (l + 1) / page_leaves - size * l / page_leaves);
    stream.read(at.leaf(l), Weighted ? at.weights() + l * leaf_slots : nullptr, count);
    at.counts[static_cast<std::size_t>(l)] = static_cast<std::uint8_t>(count);
    key_type& lowest = at.separators[static_cast<std::size_t>(l)];
    lowest = no_key;
    if (count == 0) continue;
    lowest = before ? separator_between(*before, *at.leaf(l)) : *at.leaf(l);
    before = at.leaf(l) + count - 1;
  }
  // An empty leaf gets the separator of the next one, so no key belongs into it.
  for (std::size_t l = page_leaves - 1; l-- > 0;)
    if (at.counts[l] == 0) at.separators[l] = at.separators[l + 1];
  if (separator != no_key) at.separators[0] = separator;
  at.count = size;
}

// Entries of the pages from `first` on, merged with their updates, in key order.
template <bool Weighted>
class merged_stream {
 public:
  merged_stream(const packed_rows& rows, const updates& batch, std::int64_t first, update_range mine)
      : rows_(rows), batch_(batch), position_(first), rest_(mine), page_(&rows.page_at(first)) {}

  void read(key_type* keys, double* weights, int count) {
    while (count > 0) {
      if (available_ == 0) advance();
      const int taken = std::min(count, available_);
      std::copy_n(keys_, taken, keys);
      keys += taken;
      if constexpr (Weighted) {
        std::copy_n(weights_, taken, weights);
        weights += taken;
      }
      count -= taken;
      pass(taken);
    }
  }
  void skip(std::int64_t count) {
    while (count > 0) {
      if (available_ == 0) advance();
      const int taken = static_cast<int>(std::min<std::int64_t>(count, available_));
      count -= taken;
      pass(taken);
    }
  }

 private:
  static constexpr int room = 256;

  void pass(int count) {
    keys_ += count;
    if constexpr (Weighted) weights_ += count;
    available_ -= count;
  }
  // Provides the next entries: a leaf without updates, or a piece of its merge with updates. Requires that entries are
  // left.
  void advance() {
    while (available_ == 0) {
      if (merging_) {
        keys_ = merged_.data();
        weights_ = merged_weights_.data();
        available_ = merge_.read(merged_.data(), merged_weights_.data(), room);
        merging_ = available_ == room;
        continue;
      }
      if (++leaf_ == page_leaves) {
        page_ = &rows_.page_at(++position_);
        leaf_ = 0;
      }
      const auto here = static_cast<std::uint32_t>(position_ << leaf_bits | leaf_);
      if (rest_.begin < rest_.end && batch_.places[rest_.begin] == here) {
        auto end = rest_.begin + 1;
        while (end < rest_.end && batch_.places[end] == here) ++end;
        merge_ = leaf_merge<Weighted>(*page_, leaf_, batch_, {rest_.begin, end});
        rest_.begin = end;
        merging_ = true;
      } else {
        keys_ = page_->leaf(leaf_);
        if constexpr (Weighted) weights_ = page_->weights() + leaf_ * leaf_slots;
        available_ = page_->counts[static_cast<std::size_t>(leaf_)];
      }
    }
  }

  const packed_rows& rows_;
  const updates& batch_;
  std::int64_t position_;
  update_range rest_;
  const page* page_;
  int leaf_ = -1;
  bool merging_ = false;
  leaf_merge<Weighted> merge_{*page_, 0, batch_, {0, 0}};
  const key_type* keys_ = nullptr;
  const double* weights_ = nullptr;
  int available_ = 0;
  std::array<key_type, room> merged_;
  std::array<double, Weighted ? room : 1> merged_weights_;
};

// Entries that are already sorted and final.
template <bool Weighted>
class flat_stream {
 public:
  flat_stream(const updates& entries, std::size_t begin) : entries_(entries), at_(begin) {}
  void read(key_type* keys, double* weights, int count) {
    std::copy_n(entries_.keys.data() + at_, count, keys);
    if constexpr (Weighted) std::copy_n(entries_.weights.data() + at_, count, weights);
    at_ += static_cast<std::size_t>(count);
  }

 private:
  const updates& entries_;
  std::size_t at_;
};

}  // namespace graphlode::packed
