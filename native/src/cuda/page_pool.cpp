// page_pool.cpp - see cuda/page_pool.hpp.
#include "graphlode/cuda/page_pool.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace graphlode::cuda {

page_pool::page_pool(std::int64_t segment_pages)
    : segment_pages_(segment_pages), segment_bits_(std::countr_zero(static_cast<std::uint64_t>(segment_pages))) {
  if (segment_pages < 1 || !std::has_single_bit(static_cast<std::uint64_t>(segment_pages)))
    throw std::invalid_argument("a segment has a power of two of pages");
}

page_pool page_pool::copy() const {
  page_pool other(*this);
  other.free_.reserve(references_.size());
  other.taken_.reserve(addresses_.size());
  return other;
}

std::int64_t page_pool::segments_with(std::int64_t more) const noexcept {
  const std::int64_t without = std::count(addresses_.begin(), addresses_.end(), std::uint64_t{0});
  return static_cast<std::int64_t>(addresses_.size()) + std::max<std::int64_t>(0, more - without);
}

page_pool::added page_pool::add(std::span<const std::uint64_t> addresses, std::span<const std::int64_t> segments,
                                std::uint64_t segment_bytes) {
  if (addresses.size() != segments.size())
    throw std::invalid_argument("a piece of memory has one address and one size");
  const std::int64_t all = segments_with(std::accumulate(segments.begin(), segments.end(), std::int64_t{0}));
  const auto capacity = static_cast<std::size_t>(all);
  const auto pages = static_cast<std::size_t>(all * segment_pages_);
  addresses_.reserve(capacity);
  pieces_.reserve(capacity);
  taken_.reserve(capacity);
  references_.reserve(pages);
  free_.reserve(pages);

  addresses_.resize(capacity, 0);
  pieces_.resize(capacity, no_piece);
  references_.resize(pages, 0);
  added result{next_piece_, all, 0};
  std::int64_t segment = 0;
  const std::size_t first_free = free_.size();
  for (std::size_t piece = 0; piece < segments.size(); ++piece) {
    for (std::int64_t within = 0; within < segments[piece]; ++within, ++segment) {
      while (addresses_[static_cast<std::size_t>(segment)] != 0) ++segment;
      addresses_[static_cast<std::size_t>(segment)] =
          addresses[piece] + static_cast<std::uint64_t>(within) * segment_bytes;
      pieces_[static_cast<std::size_t>(segment)] = next_piece_;
      result.begin = std::min(result.begin, segment);
      result.end = segment + 1;
      const std::size_t at = free_.size();
      free_.resize(at + static_cast<std::size_t>(segment_pages_));
      std::iota(free_.begin() + static_cast<std::ptrdiff_t>(at), free_.end(),
                static_cast<std::uint32_t>(segment * segment_pages_));
    }
    ++next_piece_;
  }
  std::reverse(free_.begin() + static_cast<std::ptrdiff_t>(first_free), free_.end());  // pages are taken from the end
  return result;
}

template <class IsUsed>
std::vector<std::int64_t> page_pool::drop_pieces(IsUsed is_used) {
  std::vector<std::int64_t> all, used;
  for (std::size_t segment = 0; segment < pieces_.size(); ++segment) {
    if (pieces_[segment] == no_piece) continue;
    const bool seen = !all.empty() && all.back() == pieces_[segment];
    if (!seen) all.push_back(pieces_[segment]);
    if (seen && !used.empty() && used.back() == pieces_[segment]) continue;
    if (is_used(segment)) used.push_back(pieces_[segment]);
  }
  for (auto* pieces : {&all, &used}) {
    std::sort(pieces->begin(), pieces->end());
    pieces->erase(std::unique(pieces->begin(), pieces->end()), pieces->end());
  }
  std::vector<std::int64_t> dropped;
  std::set_difference(all.begin(), all.end(), used.begin(), used.end(), std::back_inserter(dropped));
  if (dropped.empty()) return dropped;
  for (std::size_t segment = 0; segment < pieces_.size(); ++segment) {
    if (pieces_[segment] == no_piece || !std::binary_search(dropped.begin(), dropped.end(), pieces_[segment])) continue;
    addresses_[segment] = 0;
    pieces_[segment] = no_piece;
  }
  return dropped;
}

std::vector<std::int64_t> page_pool::drop_unused() {
  const auto dropped = drop_pieces([&](std::size_t segment) {
    const auto first = references_.begin() + (static_cast<std::ptrdiff_t>(segment) << segment_bits_);
    return std::any_of(first, first + segment_pages_, [](std::int32_t held) { return held > 0; });
  });
  if (!dropped.empty())
    std::erase_if(free_, [&](std::uint32_t page) { return addresses_[page >> segment_bits_] == 0; });
  return dropped;
}

std::vector<std::int64_t> page_pool::keep_only(std::span<const std::uint32_t> pages, std::int64_t most_free) {
  std::fill(references_.begin(), references_.end(), 0);
  taken_.assign(addresses_.size(), 0);
  // Most pages are consecutive, because they were taken that way.
  for (std::size_t begin = 0; begin < pages.size();) {
    std::size_t end = begin + 1;
    while (end < pages.size() && pages[end] == pages[end - 1] + 1) ++end;
    const std::size_t first = pages[begin], last = first + (end - begin);
    std::fill(references_.data() + first, references_.data() + last, 1);
    for (std::size_t at = first; at < last;) {
      const std::size_t segment = at >> segment_bits_, next = std::min(last, (segment + 1) << segment_bits_);
      taken_[segment] += static_cast<std::int64_t>(next - at);
      at = next;
    }
    begin = end;
  }
  num_used_ = static_cast<std::int64_t>(pages.size());
  const auto with_memory =
      addresses_.size() - static_cast<std::size_t>(std::count(addresses_.begin(), addresses_.end(), 0));
  std::vector<std::int64_t> dropped;
  if (static_cast<std::int64_t>(with_memory) * segment_pages_ - num_used_ > most_free)
    dropped = drop_pieces([&](std::size_t segment) { return taken_[segment] != 0; });
  free_.clear();
  for (std::size_t segment = addresses_.size(); segment-- > 0;) {
    if (addresses_[segment] == 0 || taken_[segment] == segment_pages_) continue;
    const auto first = static_cast<std::uint32_t>(segment << segment_bits_);
    for (auto page = first + static_cast<std::uint32_t>(segment_pages_); page-- > first;)
      if (references_[page] == 0) free_.push_back(page);
  }
  return dropped;
}

std::int64_t page_pool::segments_with_tail_forgotten() const noexcept {
  const auto last = std::find_if(addresses_.rbegin(), addresses_.rend(), [](std::uint64_t at) { return at != 0; });
  return static_cast<std::int64_t>(addresses_.rend() - last);
}

void page_pool::forget_tail() noexcept {
  const auto segments = static_cast<std::size_t>(segments_with_tail_forgotten());
  addresses_.resize(segments);
  pieces_.resize(segments);
  references_.resize(segments * static_cast<std::size_t>(segment_pages_));
}

bool page_pool::knows(std::span<const std::uint32_t> pages) const noexcept {
  std::uint32_t highest = 0;
  for (const auto page : pages) highest = std::max(highest, page);
  return pages.empty() || highest < references_.size();
}

void page_pool::take(std::span<std::uint32_t> into) noexcept {
  std::reverse_copy(free_.end() - static_cast<std::ptrdiff_t>(into.size()), free_.end(), into.begin());
  free_.resize(free_.size() - into.size());
  for (const auto page : into) references_[page] = 1;
  num_used_ += static_cast<std::int64_t>(into.size());
}

void page_pool::hold(std::span<const std::uint32_t> pages) noexcept {
  for (const auto page : pages) ++references_[page];
}

void page_pool::release(std::span<const std::uint32_t> pages) noexcept {
  // They are not free, so `add` has reserved room for all of them. No branches: most of the time all pages become free,
  // but not always.
  std::size_t count = free_.size();
  free_.resize(count + pages.size());
  std::uint32_t* const free = free_.data();
  std::int32_t* const references = references_.data();
  const std::size_t before = count;
  for (const auto page : pages) {
    free[count] = page;
    count += --references[page] == 0;
  }
  free_.resize(count);
  num_used_ -= static_cast<std::int64_t>(count - before);
}

void replace_pages(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> ranges,
                   std::span<const std::uint32_t> fresh, std::span<std::uint32_t> result,
                   std::span<std::uint32_t> replaced) {
  if (ranges.size() % 3 != 0) throw std::invalid_argument("ranges come as triples");
  std::size_t gone = 0, come = 0, at = 0;
  for (std::size_t i = 0; i < ranges.size(); i += 3) {
    if (ranges[i + 1] == 0) continue;
    if (ranges[i] < at) throw std::invalid_argument("ranges of pages overlap or are not in order");
    at = std::size_t{ranges[i]} + ranges[i + 1];
    gone += ranges[i + 1];
    come += ranges[i + 2];
  }
  if (at > pages.size()) throw std::invalid_argument("a range of pages is not in the directory");
  if (come != fresh.size() || gone != replaced.size() || pages.size() - gone + come != result.size())
    throw std::invalid_argument("ranges, fresh pages and room for the result do not agree");

  const auto copy = [](std::span<const std::uint32_t> from, std::uint32_t* to) {
    return std::copy(from.begin(), from.end(), to);
  };
  std::uint32_t *to = result.data(), *to_replaced = replaced.data();
  std::size_t next = at = 0;
  for (std::size_t i = 0; i < ranges.size(); i += 3) {
    const std::size_t begin = ranges[i], length = ranges[i + 1], count = ranges[i + 2];
    if (length == 0) continue;
    to = copy(pages.subspan(at, begin - at), to);
    to = copy(fresh.subspan(next, count), to);
    to_replaced = copy(pages.subspan(begin, length), to_replaced);
    at = begin + length;
    next += count;
  }
  copy(pages.subspan(at), to);
}

}  // namespace graphlode::cuda
