// cuda/page_pool.hpp - the pages of a shard on a GPU as the host counts them: which are taken, by how many versions,
// and where the memory of each segment of pages begins. The pages themselves are never looked at here.
//
// A batch of a thousand updates takes a GPU some ten microseconds, so what follows it on the host must not take longer.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace graphlode::cuda {

class page_pool {
 public:
  // A segment has so many pages, a power of two.
  explicit page_pool(std::int64_t segment_pages);

  // The same, with room for all that does not fail here: for those who reckon ahead.
  [[nodiscard]] page_pool copy() const;

  // Memory for segments more, in pieces that begin there and have so many segments each: all of their pages are free,
  // and the next ones to be taken, in the order of their numbers. The pieces are numbered on from `first_piece`; of the
  // table of segments, [begin, end) is new. Changes nothing if it fails.
  struct added {
    std::int64_t first_piece, begin, end;
  };
  [[nodiscard]] std::int64_t segments_with(std::int64_t more) const noexcept;  // in the table, if so many were added
  added add(std::span<const std::uint64_t> addresses, std::span<const std::int64_t> segments,
            std::uint64_t segment_bytes);

  // The pieces in which no page is taken: they are gone, and the numbers of their pages are not free any more.
  std::vector<std::int64_t> drop_unused();

  // These pages are taken, once each, and no others: all else is free. If more than so many pages are free then, pieces
  // in which no page is taken are dropped, as drop_unused does it. As releasing all others, in a fraction of the time.
  std::vector<std::int64_t> keep_only(std::span<const std::uint32_t> pages, std::int64_t most_free);

  // Forgets the numbers behind the last segment that has memory.
  void forget_tail() noexcept;
  [[nodiscard]] std::int64_t segments_with_tail_forgotten() const noexcept;

  // Free pages, which are the caller's from now on: as many numbers as `into` has room for, which must be free.
  void take(std::span<std::uint32_t> into) noexcept;
  // One version more, or less, has these pages. Free are those that none has; there is room to remember them.
  void hold(std::span<const std::uint32_t> pages) noexcept;
  void release(std::span<const std::uint32_t> pages) noexcept;

  [[nodiscard]] bool knows(std::span<const std::uint32_t> pages) const noexcept;  // whether all have such numbers
  [[nodiscard]] std::int64_t num_free() const noexcept { return static_cast<std::int64_t>(free_.size()); }
  [[nodiscard]] std::int64_t num_used() const noexcept { return num_used_; }
  [[nodiscard]] std::int64_t num_pages() const noexcept { return static_cast<std::int64_t>(references_.size()); }
  [[nodiscard]] std::span<const std::uint32_t> free() const noexcept { return free_; }
  [[nodiscard]] std::span<const std::int32_t> references() const noexcept { return references_; }
  [[nodiscard]] std::span<const std::uint64_t> addresses() const noexcept { return addresses_; }

 private:
  static constexpr std::int64_t no_piece = -1;

  // The pieces without a segment that `is_used`; their segments have no memory any more.
  template <class IsUsed>
  std::vector<std::int64_t> drop_pieces(IsUsed is_used);

  std::int64_t segment_pages_;
  int segment_bits_;                      // their logarithm: dividing would take longer than all else
  std::vector<std::int32_t> references_;  // per page: versions that hold it
  std::vector<std::uint32_t> free_;       // the last one is taken first
  std::vector<std::uint64_t> addresses_;  // per segment; 0: has no memory
  std::vector<std::int64_t> pieces_;      // per segment
  std::vector<std::int64_t> taken_;       // per segment: pages that are taken; only while `keep_only` runs
  std::int64_t num_used_ = 0;
  std::int64_t next_piece_ = 0;
};

// A directory in which fresh pages take the place of others. `ranges` are triples, ascending: a position, how many
// pages from there on are replaced, by how many of the fresh ones, which come in order; those of no pages are skipped.
// Takes no memory: `result` and `replaced` have as many pages as come to it, or nothing is written and an exception
// says so.
void replace_pages(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> ranges,
                   std::span<const std::uint32_t> fresh, std::span<std::uint32_t> result,
                   std::span<std::uint32_t> replaced);

}  // namespace graphlode::cuda
