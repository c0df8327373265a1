// store/rows.cpp - creates, forks and resizes a packed array. Reading is in store/read.cpp, updating in
// store/prepare.cpp and store/commit.cpp.
#include <algorithm>

#include "graphlode/store/packed_rows.hpp"

namespace graphlode::packed {
namespace {

std::size_t parts_for(std::int64_t num_rows) {
  return static_cast<std::size_t>((num_rows + index_rows - 1) / index_rows);
}

index_part& part_in(const block& part) { return *static_cast<index_part*>(part.data); }

template <class T>
buffer<T> copy_of(const buffer<T>& from, std::size_t size) {
  buffer<T> copy(size);
  std::copy_n(from.data(), size, copy.data());
  return copy;
}

}  // namespace

packed_rows::packed_rows(std::int64_t num_rows, bool weighted)
    : pools_(std::make_shared<pools>(weighted)), weighted_(weighted) {
  directory_.separators = buffer<key_type>(1, 0);
  directory_.numbers = buffer<std::uint32_t>(1, 0);
  directory_.pages = buffer<block>(1);
  directory_.positions = buffer<std::uint32_t>(1, 0);
  pools_->pages.take({directory_.pages.data(), 1});
  directory_.num_pages = 1;
  directory_.num_numbers = 1;
  page& only = *static_cast<page*>(directory_.pages[0].data);
  only.counts.fill(0);
  only.separators.fill(no_key);
  only.separators[0] = 0;
  only.count = 0;
  resize(num_rows);
}

packed_rows::packed_rows(const packed_rows& other, as_fork)
    : pools_(other.pools_), num_rows_(other.num_rows_), num_entries_(other.num_entries_), weighted_(other.weighted_) {
  const auto pages = static_cast<std::size_t>(other.num_pages());
  directory_.separators = copy_of(other.directory_.separators, pages);
  directory_.numbers = copy_of(other.directory_.numbers, pages);
  directory_.positions = copy_of(other.directory_.positions, other.directory_.num_numbers);
  auto page_blocks = copy_of(other.directory_.pages, other.directory_.num_numbers);
  index_ = copy_of(other.index_, other.index_.size());
  for (const auto& part : index_) part.retain();
  for (const auto& one : page_blocks)
    if (one) one.retain();
  directory_.pages = std::move(page_blocks);
  directory_.num_pages = other.directory_.num_pages;
  directory_.num_numbers = other.directory_.num_numbers;
}

packed_rows::~packed_rows() {
  pools_->pages.give_back({directory_.pages.data(), directory_.num_numbers});
  pools_->parts.give_back({index_.data(), index_.size()});
}

std::unique_ptr<packed_rows> packed_rows::fork() const {
  auto version = std::unique_ptr<packed_rows>(new packed_rows(*this, as_fork{}));
  stamp_.fetch_add(1, std::memory_order_relaxed);
  return version;
}

void packed_rows::resize(std::int64_t num_rows) {
  if (num_rows <= num_rows_) return;
  const auto have = index_.size(), want = parts_for(num_rows);
  // If the last part has room, it gets new names. Its other holders must not see them, so a shared part is copied.
  const bool copy_last = (num_rows_ & (index_rows - 1)) != 0 && !index_[have - 1].exclusive();
  const auto kept = have - copy_last;
  buffer<block> index(want);
  std::copy_n(index_.data(), kept, index.data());
  pools_->parts.take({index.data() + kept, want - kept});
  if (copy_last) {
    part_in(index[kept]) = part_in(index_[kept]);
    pools_->parts.give_back({index_.data() + kept, 1});
  }
  index_ = std::move(index);
  const auto last = static_cast<std::size_t>(num_pages() - 1);
  const auto last_number = directory_.numbers[last];
  const leaf_name name = name_of(last_number, page_numbered(last_number).find_leaf(first_key_of(num_rows_)));
  for (auto row = num_rows_; row < num_rows; ++row)
    part_in(index_[static_cast<std::size_t>(row >> index_bits)]).set(row, name, index_part::known_empty);
  num_rows_ = num_rows;
  stamp_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace graphlode::packed
