// motifs/neighborhoods.cpp - one walk along the smaller row of every edge finds all its triangles, in ascending order.
//
// Seen from the edge uv the common neighbors w are the members joined with v around u, and with u around v. Nobody
// else writes those two rows, so threads share nothing.
#include "motifs/neighborhoods.hpp"

#include <algorithm>
#include <vector>

#include "graphlode/parallel.hpp"

namespace graphlode::mining::motifs {

neighborhood_kind choose_kind(std::int64_t degree, std::int64_t joined, std::int64_t sum_of_squares) {
  if (joined == 0) return neighborhood_kind::empty;
  // Steps of a nanosecond or so: eight words at once along the columns; along lists two steps for each path.
  const auto words = (degree + 63) / 64;
  const auto bit_steps = degree * degree * words / 16;
  const auto list_steps = sum_of_squares / 2;
  const auto small = degree * words <= std::max(joined, degree);
  if (small && bit_steps <= list_steps + degree) return neighborhood_kind::bits;
  return degree <= 1 << 16 ? neighborhood_kind::short_lists : neighborhood_kind::long_lists;
}

// Writes the members joined with one member.
class neighborhoods::member_writer {
 public:
  member_writer(neighborhoods& all, std::int64_t h, std::int64_t member)
      : kind_(all.kinds_[h]), stride_(all.graph_.degree(h)) {
    if (kind_ == neighborhood_kind::bits) {
      bits_ = all.bits_.data() + all.starts_[h] + member;
    } else if (kind_ != neighborhood_kind::empty) {
      const auto width = kind_ == neighborhood_kind::short_lists ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
      list_ = all.lists_.data() + all.starts_[h] + width * all.list_starts_[all.graph_.offsets[h] + member];
    }
  }
  void write(std::int64_t other) {
    if (kind_ == neighborhood_kind::bits)
      bits_[other / 64 * stride_] |= std::uint64_t{1} << (other % 64);
    else if (kind_ == neighborhood_kind::short_lists)
      append(static_cast<std::uint16_t>(other));
    else if (kind_ == neighborhood_kind::long_lists)
      append(static_cast<std::uint32_t>(other));
  }

 private:
  template <class Index>
  void append(Index other) {
    *reinterpret_cast<Index*>(list_) = other;
    list_ += sizeof(Index);
  }

  neighborhood_kind kind_;
  std::int64_t stride_;
  std::uint64_t* bits_ = nullptr;
  std::uint8_t* list_ = nullptr;
};

neighborhoods::neighborhoods(const motif_graph& graph, std::int64_t first_left_out, int threads, const control& ctl)
    : graph_(graph),
      kinds_(static_cast<std::size_t>(graph.num_vertices)),
      starts_(static_cast<std::size_t>(graph.num_vertices)),
      list_starts_(static_cast<std::size_t>(graph.num_entries())) {
  constexpr std::int64_t grain = 32;
  const auto n = graph.num_vertices;
  threads = worthwhile_threads(graph.num_entries(), threads);
  lay_out(first_left_out, threads, ctl);
  bits_.zero();
  std::vector<buffer<std::int32_t>> marks(static_cast<std::size_t>(threads));
  parallel_chunks(0, n, grain, threads, ctl, [&](int thread, std::int64_t begin, std::int64_t end) {
    auto& mine = marks[static_cast<std::size_t>(thread)];
    if (mine.size() == 0) mine = buffer<std::int32_t>(static_cast<std::size_t>(n), 0);
    for (auto i = begin; i < end; ++i) fill(n - 1 - i, mine.data());  // long rows first
  });
}

void neighborhoods::lay_out(std::int64_t first_left_out, int threads, const control& ctl) {
  parallel_chunks(0, graph_.num_vertices, 1024, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
    for (auto h = begin; h < end; ++h) {
      std::int64_t squares = 0;
      std::uint32_t before = 0;
      for (auto e = graph_.offsets[h]; e < graph_.offsets[h + 1]; ++e) {
        const auto t = graph_.triangles_at(e);
        list_starts_[e] = before;
        before += static_cast<std::uint32_t>(t);
        squares += std::int64_t{t} * t;
      }
      kinds_[h] = h < first_left_out ? choose_kind(graph_.degree(h), graph_.triangles_of(h), squares)
                                     : neighborhood_kind::empty;
    }
  });
  std::int64_t words = 0, bytes = 0;
  for (std::int64_t h = 0; h < graph_.num_vertices; ++h) {
    starts_[h] = kinds_[h] == neighborhood_kind::bits ? words : bytes;
    if (kinds_[h] == neighborhood_kind::bits)
      words += graph_.degree(h) * num_words(graph_.degree(h));
    else if (kinds_[h] == neighborhood_kind::short_lists)
      bytes += (2 * graph_.triangles_of(h) * 2 + 3) / 4 * 4;
    else if (kinds_[h] == neighborhood_kind::long_lists)
      bytes += 2 * graph_.triangles_of(h) * 4;
  }
  bits_ = buffer<std::uint64_t>(static_cast<std::size_t>(words));
  lists_ = buffer<std::uint8_t>(static_cast<std::size_t>(bytes));
}

void neighborhoods::fill(std::int64_t u, std::int32_t* marks) {
  if (graph_.triangles_of(u) == 0) return;
  const auto row = graph_.row(u);
  for (std::size_t i = 0; i < row.size(); ++i) marks[row[i]] = static_cast<std::int32_t>(i + 1);
  for (std::int64_t i = 0; i < graph_.lower[u]; ++i) {
    const auto v = row[static_cast<std::size_t>(i)];
    const auto place = graph_.places(u)[i];
    member_writer around_u(*this, u, i), around_v(*this, v, place);
    auto left = graph_.supports(u)[i];
    const auto* w = graph_.neighbors + graph_.offsets[v];
    for (std::int64_t j = 0; left > 0; ++j)
      if (const auto mark = marks[w[j]]) {
        around_u.write(mark - 1);
        around_v.write(j);
        --left;
      }
  }
  for (const auto v : row) marks[v] = 0;
}

}  // namespace graphlode::mining::motifs
