// components.cpp - components over compressed rows and over the rows of a store. See components_union.hpp for the
// method.
#include <stdexcept>

#include "graphlode/store/row_view.hpp"
#include "walks/components_union.hpp"

namespace graphlode::analytics {
namespace {

// Labels as rows. For each graph, a vertex has one entry, which leads to the first vertex of its component there.
class forest_rows {
 public:
  using vertex = std::int32_t;

  explicit forest_rows(const std::vector<std::span<const vertex>>& labels)
      : num_rows_(labels.empty() ? 0 : static_cast<std::int64_t>(labels.front().size())) {
    for (const auto& of_graph : labels) {
      roots_.emplace_back(of_graph.size());
      std::vector<vertex> first;  // labels are numbered in the order of first vertices
      for (std::size_t v = 0; v < of_graph.size(); ++v) {
        const auto label = static_cast<std::size_t>(of_graph[v]);
        if (label == first.size()) first.push_back(static_cast<vertex>(v));
        if (label >= first.size()) throw std::invalid_argument("labels must count up in the order of first vertices");
        roots_.back()[v] = first[label];
      }
    }
  }

  std::int64_t num_rows() const { return num_rows_; }
  std::int64_t num_entries() const { return num_rows_ * static_cast<std::int64_t>(roots_.size()); }
  template <class Visit>
  void for_each_neighbor(std::int64_t row, Visit&& visit) const {
    for (const auto& of_graph : roots_)
      if (!visit(of_graph[static_cast<std::size_t>(row)])) return;
  }

 private:
  std::int64_t num_rows_;
  std::vector<buffer<vertex>> roots_;
};

}  // namespace

template component_labels<std::int32_t> find_components(const csr_rows<std::int32_t>&, bool, int, const control&);
template component_labels<std::int64_t> find_components(const csr_rows<std::int64_t>&, bool, int, const control&);
template component_labels<std::int32_t> find_components(const packed::row_view&, bool, int, const control&);

component_labels<std::int32_t> join_components(const std::vector<std::span<const std::int32_t>>& labels, int threads,
                                               const control& ctl) {
  return find_components(forest_rows(labels), false, threads, ctl);
}

}  // namespace graphlode::analytics
