// motifs/neighborhoods.hpp - the graph among the neighbors of each vertex, in places of its row.
//
// Member i of the neighborhood of h is the i-th neighbor of h; members i and j are joined if h and both of them form
// a triangle. A neighborhood is kept as bits if it is dense: column w has word w of every member, so that the common
// neighbors of one member with all others are a few AND + popcount along each column. Otherwise each member has an
// ascending list. Either takes at most 8 bytes per triangle at a vertex, or a word per neighbor.
#pragma once
#include <cstdint>
#include <span>

#include "motifs/graph.hpp"

namespace graphlode::mining::motifs {

enum class neighborhood_kind : std::uint8_t { empty, bits, short_lists, long_lists };

// Which form of a neighborhood of `degree` members with `joined` edges is quicker, and small enough.
neighborhood_kind choose_kind(std::int64_t degree, std::int64_t joined, std::int64_t sum_of_squares);

class neighborhoods {
 public:
  // Of all vertices below `first_left_out`: hubs may be left out.
  neighborhoods(const motif_graph& graph, std::int64_t first_left_out, int threads, const control& ctl);

  neighborhood_kind kind(std::int64_t h) const { return kinds_[h]; }
  static std::int64_t num_words(std::int64_t degree) { return (degree + 63) / 64; }

  // kind bits: word w of member i is column(h, w)[i].
  const std::uint64_t* column(std::int64_t h, std::int64_t w) const {
    return bits_.data() + starts_[h] + w * graph_.degree(h);
  }
  // kind lists: the members joined with member i. Index is std::uint16_t or std::uint32_t, as the kind says.
  template <class Index>
  std::span<const Index> members(std::int64_t h, std::int64_t i) const {
    const auto* all = reinterpret_cast<const Index*>(lists_.data() + starts_[h]);
    const auto entry = graph_.offsets[h] + i;
    return {all + list_starts_[entry], static_cast<std::size_t>(graph_.triangles_at(entry))};
  }

 private:
  void lay_out(std::int64_t first_left_out, int threads, const control& ctl);
  void fill(std::int64_t u, std::int32_t* marks);
  class member_writer;

  const motif_graph& graph_;
  buffer<neighborhood_kind> kinds_;
  buffer<std::int64_t> starts_;        // in words of bits_, or in bytes of lists_
  buffer<std::uint32_t> list_starts_;  // by entry, from the start of the neighborhood
  buffer<std::uint64_t> bits_;
  buffer<std::uint8_t> lists_;
};

}  // namespace graphlode::mining::motifs
