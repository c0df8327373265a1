// caches.cpp - the caches, and the traces of both ways to process an edge list.
#include "graphlode/measure/caches.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "graphlode/locality/block_schedule.hpp"

namespace graphlode::measure {

using locality::edge_word;
using locality::sort_key;

namespace {

constexpr std::int64_t edges_between_looks = 1 << 18;  // edges between checks of the control
constexpr std::uint64_t page = 4096;                   // vertex data begins at a page boundary
constexpr std::uint64_t nothing = ~std::uint64_t{0};

}  // namespace

cache::cache(const cache_shape& shape)
    : ways_(shape.ways),
      line_bits_(std::countr_zero(static_cast<unsigned>(shape.line))),
      set_mask_(static_cast<std::uint64_t>(shape.size / shape.line / shape.ways) - 1),
      lines_(static_cast<std::size_t>(shape.size / shape.line), nothing) {}

bool cache::touch(std::uint64_t address) noexcept {
  const std::uint64_t line = address >> line_bits_;
  std::uint64_t* const set = lines_.data() + (line & set_mask_) * static_cast<std::uint64_t>(ways_);
  if (set[0] == line) return true;
  // The line moves to the front. Those before its old place, or all if it was not cached, move back by one.
  std::uint64_t moving = set[0];
  set[0] = line;
  for (int way = 1; way < ways_; ++way) {
    std::swap(moving, set[way]);
    if (moving == line) return true;
  }
  return false;
}

cache_simulation::cache_simulation(std::span<const cache_shape> levels, const traced_data& data)
    : data_(data),
      first_vertex_((static_cast<std::uint64_t>(data.num_edges * data.edge_bytes) + page - 1) / page * page),
      counts_(levels.size()) {
  levels_.reserve(levels.size());
  for (const auto& shape : levels) levels_.emplace_back(shape);
}

void cache_simulation::reset_counts() noexcept { counts_.assign(counts_.size(), {}); }

void cache_simulation::access(stream of, std::uint64_t address) noexcept {
  const std::size_t reached = of == stream::edges && data_.bypass ? 1 : levels_.size();
  for (std::size_t level = 0; level < reached; ++level) {
    auto& count = counts_[level][static_cast<std::size_t>(of)];
    if (levels_[level].touch(address)) {
      ++count.hits;
      return;
    }
    ++count.misses;
  }
}

template <sort_key Key>
void cache_simulation::visit(edge_word edge, std::int64_t place, std::int64_t turn) noexcept {
  access(stream::edges, static_cast<std::uint64_t>((data_.bypass ? turn : place) * data_.edge_bytes));
  for (const auto vertex : {locality::source_of<Key>(edge), locality::destination_of<Key>(edge)})
    access(stream::vertices, first_vertex_ + static_cast<std::uint64_t>(vertex * data_.vertex_bytes));
}

void cache_simulation::pass_in_order(std::span<const edge_word> edges, sort_key key, const control& ctl) {
  with_key(key, [&]<sort_key Key>() {
    const auto size = static_cast<std::int64_t>(edges.size());
    for (std::int64_t begin = 0; begin < size; begin += edges_between_looks) {
      ctl.check();
      const auto end = std::min(begin + edges_between_looks, size);
      for (auto i = begin; i < end; ++i) visit<Key>(edges[static_cast<std::size_t>(i)], i, i);
      ctl.advance(end - begin);
    }
  });
}

void cache_simulation::pass_in_steps(std::span<const edge_word> edges, sort_key key, int lanes, int level,
                                     const control& ctl) {
  const auto size = static_cast<std::int64_t>(edges.size());
  const locality::block_schedule schedule(size, lanes, level);
  if (schedule.full_steps() == 0) return pass_in_order(edges, key, ctl);  // a step is a whole group in list order
  with_key(key, [&]<sort_key Key>() {
    locality::block_schedule::block_starts starts;
    std::int64_t turn = 0, reported = 0;
    for (std::int64_t group = 0; group < schedule.num_groups(); ++group) {
      schedule.find_starts(group, starts);
      for (std::int64_t step = 0; step <= schedule.full_steps(); ++step) {
        for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
          const auto place = starts[lane] + step;
          if (place < starts[lane + 1]) visit<Key>(edges[static_cast<std::size_t>(place)], place, turn++);
        }
        if (turn - reported >= edges_between_looks) {
          ctl.check();
          ctl.advance(turn - reported);
          reported = turn;
        }
      }
    }
    ctl.advance(turn - reported);
  });
}

}  // namespace graphlode::measure
