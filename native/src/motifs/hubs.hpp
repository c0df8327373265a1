// motifs/hubs.hpp - vertices that are the middle of millions of wedges, and classes of vertices with the same hubs.
//
// Walking along every wedge u-x-v costs the square of the degree of x. On web graphs a few dozen hubs hold nearly all
// wedges, and thousands of vertices have exactly the same hubs as neighbors. What a pair u, v has in common among the
// hubs then depends on their classes alone: W hubs, E edges among them. So hubs are left out of the walks, every pair
// of classes is summed once, times the number of pairs of members, and a pair that has other common neighbors, too,
// looks up what the hubs add. Hubs are the highest ranks; they are taken as long as there are few classes.
#pragma once
#include <cstdint>
#include <vector>

#include "graphlode/mining/motifs.hpp"
#include "motifs/graph.hpp"

namespace graphlode::mining::motifs {

// What two classes have in common among the hubs: how many, and how many edges are among those.
struct common_hubs {
  std::uint32_t hubs, edges;
};

class hub_classes {
 public:
  hub_classes() = default;  // none
  hub_classes(const motif_graph& graph, int threads, const control& ctl);

  bool none() const { return num_hubs_ == 0; }
  std::int64_t num_hubs() const { return num_hubs_; }
  std::int64_t num_classes() const { return static_cast<std::int64_t>(sizes_.size()); }
  // The lowest rank that is a hub; the number of vertices if there is none.
  std::int64_t first(const supported_view& graph) const { return graph.num_vertices - num_hubs_; }
  std::int32_t class_of(std::int64_t v) const { return class_of_[v]; }
  // By the other class.
  const common_hubs* common(std::int64_t one) const { return common_.data() + one * num_classes(); }
  std::int64_t size(std::int64_t one) const { return sizes_[static_cast<std::size_t>(one)]; }

 private:
  bool worth_taking(const motif_graph& graph, std::int64_t hub, std::int64_t growth) const;
  std::int64_t classes_split_by(const motif_graph& graph, std::int64_t hub);
  void take(const motif_graph& graph, std::int64_t hub);
  void compare(const motif_graph& graph, int threads, const control& ctl);

  std::int64_t num_hubs_ = 0;
  buffer<std::int32_t> class_of_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<std::int32_t>> hubs_of_;  // of each class: n - 1 - rank, ascending
  std::vector<std::int64_t> seen_;                  // by class: the last hub that looked at it
  buffer<common_hubs> common_;
};

}  // namespace graphlode::mining::motifs
