// orbits/edges.cpp - the 12 or 68 orbits of every edge, from raw arrays and the small orbits of its ends.
#include <algorithm>

#include "graphlode/mining/orbit_formulas.hpp"
#include "orbits/blocks.hpp"
#include "orbits/small.hpp"

namespace graphlode::mining::motifs {
namespace {

constexpr std::size_t num_small = 12, num_orbits = 68;
constexpr std::int64_t rows_at_a_time = 256;

// clang-format off
constexpr correction corrections[] = {
  {2, 0, -1}, {2, 1, -2}, {3, 1, -1}, {6, 1, -2},
  {12, 2, -1}, {12, 5, -2}, {12, 8, -1}, {13, 1, -2}, {13, 5, -2}, {13, 7, -2}, {13, 8, -1}, {14, 4, -1},
  {14, 7, -2}, {15, 6, -2}, {15, 8, -1}, {16, 8, -1}, {18, 7, -2}, {18, 8, -1}, {18, 9, -1}, {19, 9, -1},
  {20, 10, -2}, {21, 6, -1}, {21, 9, -1}, {22, 9, -1}, {23, 1, -2}, {23, 8, -1}, {23, 9, -1}, {24, 1, -4},
  {24, 7, -2}, {24, 8, -1}, {24, 9, -1}, {24, 10, -4}, {29, 5, -2}, {29, 10, -2}, {30, 9, -1}, {31, 9, -1},
  {32, 9, -1}, {32, 10, -2}, {36, 1, -1}, {36, 9, -1}, {37, 1, -2}, {37, 9, -1}, {37, 10, -4}, {38, 9, -1},
  {38, 11, -2}, {39, 8, -1}, {39, 11, -4}, {40, 11, -4}, {41, 11, -2}, {43, 9, -1}, {44, 9, -2}, {45, 9, -1},
  {45, 10, -4}, {46, 9, -1}, {49, 11, -2}, {52, 9, -1}, {52, 11, -4}, {53, 10, -4}, {53, 11, -4}, {54, 11, -2},
  {55, 11, -4}, {56, 9, -1}, {59, 11, -4},
};
// Main terms that are raw arrays, unchanged.
constexpr std::pair<int, raw> given[] = {
  {23, raw::e23}, {26, raw::e26}, {28, raw::e28}, {30, raw::e30}, {33, raw::e33}, {36, raw::e36}, {39, raw::e39},
  {42, raw::e42}, {43, raw::e43}, {44, raw::e44}, {45, raw::e45}, {47, raw::e47}, {50, raw::e50}, {52, raw::e52},
  {53, raw::e53}, {54, raw::e54}, {56, raw::e56}, {57, raw::e57}, {58, raw::e58}, {59, raw::e59}, {60, raw::e60},
  {61, raw::e61}, {63, raw::e63}, {64, raw::e64}, {65, raw::e65}, {66, raw::e66}, {67, raw::e67},
};
// clang-format on

// An edge in output order: its id and its ends u > v, by rank.
struct placed_edge {
  std::int32_t edge;
  rank u, v;
};

// The edges in the order of the graph: by their lower vertex, then by the other. Also the fans, by edge id.
class edge_table {
 public:
  buffer<placed_edge> placed;
  buffer<std::int64_t> above, below;  // `fans` at the entries in the rows of the higher and of the lower rank

  edge_table(const supported_view& graph, const std::int64_t* fans, const rank* vertices, int threads,
             const control& ctl)
      : placed(static_cast<std::size_t>(graph.num_edges())), above(placed.size()), below(placed.size()) {
    const auto n = static_cast<std::size_t>(graph.num_vertices);
    buffer<rank> ranks(n);
    for (std::size_t r = 0; r < n; ++r) ranks[static_cast<std::size_t>(vertices[r])] = static_cast<rank>(r);
    threads = worthwhile_threads(graph.num_entries(), threads);
    buffer<std::int64_t> begins(n + 1, 0);
    on_vertices(graph, threads, ctl, [&](std::int64_t vertex) {
      const auto row = graph.row(ranks[static_cast<std::size_t>(vertex)]);
      begins[static_cast<std::size_t>(vertex) + 1] =
          std::count_if(row.begin(), row.end(), [&](rank w) { return vertices[w] > vertex; });
    });
    for (std::size_t v = 0; v < n; ++v) begins[v + 1] += begins[v];
    on_vertices(graph, threads, ctl, [&](std::int64_t vertex) {
      const auto own = ranks[static_cast<std::size_t>(vertex)];
      auto* to = placed.data() + begins[static_cast<std::size_t>(vertex)];
      auto* const first = to;
      for (auto entry = graph.offsets[own]; entry < graph.offsets[own + 1]; ++entry) {
        const auto other = graph.neighbors[entry];
        const auto edge = graph.edges[entry];
        (other < own ? above : below)[static_cast<std::size_t>(edge)] = fans[entry];
        if (vertices[other] > vertex) *to++ = {edge, std::max(own, other), std::min(own, other)};
      }
      const auto far_end = [&](const placed_edge& one) { return vertices[one.u == own ? one.v : one.u]; };
      std::sort(first, to, [&](const placed_edge& one, const placed_edge& two) { return far_end(one) < far_end(two); });
    });
  }

 private:
  template <class Work>
  static void on_vertices(const supported_view& graph, int threads, const control& ctl, const Work& work) {
    parallel_chunks(0, graph.num_vertices, rows_at_a_time, threads, ctl,
                    [&](int, std::int64_t begin, std::int64_t end) {
                      for (auto vertex = begin; vertex < end; ++vertex) work(vertex);
                    });
  }
};

class edge_formulas {
 public:
  edge_formulas(const supported_view& graph, const raw_pointers& raw, const buffer<small_orbits>& small,
                const edge_table& table, int size)
      : graph_(graph), raw_(raw), small_(small), table_(table), size_(size) {}

  orbit_values<num_orbits> operator()(std::int64_t place) const {
    const auto [edge, u, v] = table_.placed[static_cast<std::size_t>(place)];
    const ends at{small_[static_cast<std::size_t>(u)],
                  small_[static_cast<std::size_t>(v)],
                  graph_.degree(u),
                  graph_.degree(v),
                  graph_.triangles[edge],
                  table_.above[static_cast<std::size_t>(edge)],
                  table_.below[static_cast<std::size_t>(edge)]};
    orbit_values<num_orbits> e{};
    add_small(edge, at, e);
    correct(e, corrections, 0, num_small);
    if (size_ == 5) {
      for (const auto& [orbit, which] : given) e[static_cast<std::size_t>(orbit)] = raw_value(raw_, which, edge);
      add_ends(at, e);
      add_products(at, e);
      correct(e, corrections, num_small, num_orbits);
    }
    return e;
  }

 private:
  // The ends u > v, their degrees, the triangles at the edge, and `fans` at its two entries.
  struct ends {
    const small_orbits &at_u, &at_v;
    signed_wide du, dv, t, above, below;
  };

  void add_small(std::int64_t edge, const ends& at, orbit_values<num_orbits>& e) const {
    const auto& [u, v, du, dv, t, above, below] = at;
    e[0] = du + dv - 2;
    e[1] = t;
    e[2] = u.o1 + v.o1;
    e[3] = (du - 1) * (dv - 1);
    e[4] = choose(du - 1, 2) + choose(dv - 1, 2);
    e[5] = raw_value(raw_, raw::e5, edge);
    e[6] = u.o3 + v.o3;
    e[7] = raw_value(raw_, raw::e7, edge);
    e[8] = t * (du + dv - 4);
    e[9] = above + below;
    e[10] = choose(t, 2);
    e[11] = raw_value(raw_, raw::e11, edge);
  }

  // Orbits of both ends.
  static void add_ends(const ends& at, orbit_values<num_orbits>& e) {
    const auto& u = at.at_u;
    const auto& v = at.at_v;
    const auto both = [](std::int64_t one, std::int64_t other) { return static_cast<signed_wide>(one) + other; };
    e[12] = both(u.o4, v.o4);
    e[14] = both(u.o6, v.o6);
    e[18] = both(u.o10, v.o10);
    e[21] = both(u.o9, v.o9);
    e[29] = both(u.o8, v.o8);
    e[32] = both(u.o13, v.o13);
    e[38] = both(u.o12, v.o12);
    e[49] = both(u.o14, v.o14);
  }

  // `e` has the orbits of 3 and 4 vertices.
  static void add_products(const ends& at, orbit_values<num_orbits>& e) {
    const auto& [u, v, du, dv, t, above, below] = at;
    const signed_wide pu = u.o1, pv = v.o1, tu = u.o3, tv = v.o3;
    e[13] = (du - 1) * (pv - du + 1) + (dv - 1) * (pu - dv + 1);
    e[15] = (du - 2) * (pu - dv + 1) + (dv - 2) * (pv - du + 1);
    e[16] = choose(du - 1, 2) * (dv - 1) + choose(dv - 1, 2) * (du - 1);
    e[17] = choose(du - 1, 3) + choose(dv - 1, 3);
    e[19] = (du + dv - 4) * e[7];
    e[20] = t * (du - 2) * (dv - 2);
    e[22] = (tu - t) * (dv - 1) + (tv - t) * (du - 1);
    e[24] = t * (pu + pv);
    e[25] = (tu - t) * (du - 3) + (tv - t) * (dv - 3);
    e[27] = t * (choose(du - 2, 2) + choose(dv - 2, 2));
    e[31] = e[5] * (du + dv - 4);
    e[34] = (du - 3) * above + (dv - 3) * below;
    e[35] = e[10] * (du + dv - 6);
    e[37] = t * (tu + tv);
    e[40] = (dv - 2) * above + (du - 2) * below;
    e[41] = e[7] * (t - 1);
    e[46] = t * e[5];
    e[48] = choose(t, 3);
    e[51] = e[11] * (du + dv - 6);
    e[55] = (t - 1) * e[9];
    e[62] = e[11] * (t - 2);
  }

  const supported_view& graph_;
  const raw_pointers& raw_;
  const buffer<small_orbits>& small_;
  const edge_table& table_;
  const int size_;
};

}  // namespace

bool edge_orbits(const supported_view& graph, const raw_pointers& raw, const orbit_request& request,
                 const orbit_columns& output, int threads, const control& ctl) {
  const auto small = count_small_orbits(graph, raw, true, threads, ctl);
  if (request.size == 5) require_raw_fits(most_copies(graph, small, threads, ctl), request.limit);
  const edge_table table(graph, raw[static_cast<std::size_t>(raw::fans)], request.vertices, threads, ctl);
  const edge_formulas formulas(graph, raw, small, table, request.size);
  const auto number = static_cast<int>(request.size == 4 ? num_small : num_orbits);
  return fill_columns<num_orbits>(graph.num_edges(), number, request, output, threads, ctl,
                                  [&](std::int64_t place) { return formulas(place); });
}

}  // namespace graphlode::mining::motifs
