// distance_buckets.hpp - vertices waiting to be relaxed, by ranges of distance.
//
// A search takes the vertices bucket by bucket; each bucket is `width` wide. There are `num_buckets` buckets from
// `base` on. Farther vertices wait in one list, from which the buckets are refilled when all are empty. So the number
// of buckets is fixed, even for very long or very unequal edges. Every thread has its own lists.
//
// An entry holds the distance at which a vertex was reached. If the vertex has been reached at a smaller distance
// since, there is another entry for that, and this one is skipped. So exactly one entry per vertex counts, without any
// marks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace graphlode::analytics {

template <class Vertex>
struct reached_vertex {
  double distance;
  Vertex vertex;
};

template <class Vertex>
class distance_buckets {
 public:
  using entry = reached_vertex<Vertex>;
  using list = std::vector<entry>;
  static constexpr int num_buckets = 256;

  distance_buckets(double width, int threads)
      : width_(width), lists_(static_cast<std::size_t>(threads), std::vector<list>(num_buckets + 1)) {}

  void push(int thread, double distance, Vertex vertex) {
    lists_[static_cast<std::size_t>(thread)][place_of(distance)].push_back({distance, vertex});
  }
  // The entries of a thread in the current bucket.
  list& own(int thread) { return lists_[static_cast<std::size_t>(thread)][current_]; }

  // Appends all entries of the current bucket to `taken`.
  void take_current(list& taken) { take(current_, taken); }

  // Moves on to the next bucket that has entries. Returns false if there are none. is_live(entry) says which entries
  // still count.
  template <class IsLive>
  bool next(IsLive&& is_live) {
    for (;;) {
      for (; current_ < num_buckets; ++current_)
        if (std::any_of(lists_.begin(), lists_.end(), [&](const auto& own) { return !own[current_].empty(); }))
          return true;
      if (!refill(is_live)) return false;
    }
  }

 private:
  std::size_t place_of(double distance) const {
    const double place = (distance - base_) / width_;
    return place < num_buckets ? static_cast<std::size_t>(place) : std::size_t{num_buckets};
  }

  void take(std::size_t place, list& taken) {
    for (auto& own : lists_) {
      taken.insert(taken.end(), own[place].begin(), own[place].end());
      own[place].clear();
    }
  }

  template <class IsLive>
  bool refill(IsLive&& is_live) {
    list far;
    take(num_buckets, far);
    std::erase_if(far, [&](const entry& each) { return !is_live(each); });
    if (far.empty()) return false;
    base_ = std::numeric_limits<double>::infinity();
    for (const entry& each : far) base_ = std::min(base_, each.distance);
    current_ = 0;
    // Entries beyond all buckets are examined again at each refill; wider buckets make refills rarer.
    const auto within =
        std::count_if(far.begin(), far.end(), [&](const entry& each) { return place_of(each.distance) < num_buckets; });
    if (2 * within < static_cast<std::ptrdiff_t>(far.size())) width_ *= 4;
    for (const entry& each : far) push(0, each.distance, each.vertex);
    return true;
  }

  double width_;
  double base_ = 0;
  std::size_t current_ = 0;
  std::vector<std::vector<list>> lists_;  // by thread and bucket; the last bucket is for all farther vertices
};

}  // namespace graphlode::analytics
