// cuda/page_pool.hpp - the host's records of a shard's pages on a GPU: which pages are in use, by how many versions,
// and where each segment of pages is stored. The pages themselves are never read here.
//
// A GPU processes a batch of a thousand updates in about ten microseconds, so the host's part must not take longer.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace graphlode::cuda {

class page_pool {
 public:
  // segment_pages, the number of pages in a segment, is a power of two.
  explicit page_pool(std::int64_t segment_pages);

  // A copy with reserved memory, so that functions that cannot fail here cannot fail there either. For planning ahead.
  [[nodiscard]] page_pool copy() const;

  // Adds memory for segments, in pieces with the given addresses and numbers of segments. All of their pages are free
  // and will be taken next, in order of their numbers. The pieces are numbered from `first_piece` on; [begin, end) of
  // the table of segments is new. Changes nothing if it fails.
  struct added {
    std::int64_t first_piece, begin, end;
  };
  [[nodiscard]] std::int64_t segments_with(
      std::int64_t more) const noexcept;  // size of the table after adding `more` segments
  added add(std::span<const std::uint64_t> addresses, std::span<const std::int64_t> segments,
            std::uint64_t segment_bytes);

  // Drops the pieces that have no page in use, and the numbers of their pages. Returns these pieces.
  std::vector<std::int64_t> drop_unused();

  // Marks exactly these pages as in use, once each, and all others as free. If more than `most_free` pages are free
  // then, pieces without a used page are dropped as by drop_unused. Has the effect of releasing all other pages, in a
  // fraction of the time.
  std::vector<std::int64_t> keep_only(std::span<const std::uint32_t> pages, std::int64_t most_free);

  // Removes the numbers behind the last segment that has memory.
  void forget_tail() noexcept;
  [[nodiscard]] std::int64_t segments_with_tail_forgotten() const noexcept;

  // Hands out free pages, as many as `into` has room for. There must be enough.
  void take(std::span<std::uint32_t> into) noexcept;
  // Adds or removes one version that holds these pages. Pages without a version become free; this allocates no memory.
  void hold(std::span<const std::uint32_t> pages) noexcept;
  void release(std::span<const std::uint32_t> pages) noexcept;

  [[nodiscard]] bool knows(
      std::span<const std::uint32_t> pages) const noexcept;  // whether all of them are page numbers
  [[nodiscard]] std::int64_t num_free() const noexcept { return static_cast<std::int64_t>(free_.size()); }
  [[nodiscard]] std::int64_t num_used() const noexcept { return num_used_; }
  [[nodiscard]] std::int64_t num_pages() const noexcept { return static_cast<std::int64_t>(references_.size()); }
  [[nodiscard]] std::span<const std::uint32_t> free() const noexcept { return free_; }
  [[nodiscard]] std::span<const std::int32_t> references() const noexcept { return references_; }
  [[nodiscard]] std::span<const std::uint64_t> addresses() const noexcept { return addresses_; }

 private:
  static constexpr std::int64_t no_piece = -1;

  // Drops the pieces that contain no segment with is_used. Their segments then have no memory.
  template <class IsUsed>
  std::vector<std::int64_t> drop_pieces(IsUsed is_used);

  std::int64_t segment_pages_;
  int segment_bits_;                      // log2 of segment_pages: dividing would take longer than everything else
  std::vector<std::int32_t> references_;  // per page: number of versions that hold it
  std::vector<std::uint32_t> free_;       // the last one is taken first
  std::vector<std::uint64_t> addresses_;  // per segment; 0: no memory
  std::vector<std::int64_t> pieces_;      // per segment
  std::vector<std::int64_t> taken_;       // per segment: number of used pages; only during keep_only
  std::int64_t num_used_ = 0;
  std::int64_t next_piece_ = 0;
};

// Computes a directory with some pages replaced by fresh ones. `ranges` are triples in ascending order: a position, the
// number of pages replaced from there on, and the number of fresh pages that replace them, taken in order. Ranges of no
// pages are skipped. Allocates nothing: `result` and `replaced` must have exactly the needed sizes, otherwise nothing
// is written and an exception is thrown.
void replace_pages(std::span<const std::uint32_t> pages, std::span<const std::uint32_t> ranges,
                   std::span<const std::uint32_t> fresh, std::span<std::uint32_t> result,
                   std::span<std::uint32_t> replaced);

}  // namespace graphlode::cuda
