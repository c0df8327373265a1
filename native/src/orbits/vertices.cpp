// orbits/vertices.cpp - the 15 or 73 orbits of every vertex, from its row and the small orbits of its neighbors.
#include "graphlode/mining/orbit_formulas.hpp"
#include "orbits/blocks.hpp"
#include "orbits/small.hpp"

namespace graphlode::mining::motifs {
namespace {

constexpr std::size_t num_small = 15, num_orbits = 73;

// clang-format off
constexpr correction corrections[] = {
  {15, 5, -1}, {15, 8, -2}, {15, 11, -2}, {16, 8, -2}, {16, 10, -1}, {17, 3, -1}, {17, 8, -1}, {17, 10, -1},
  {18, 7, -3}, {18, 10, -1}, {19, 9, -2}, {19, 10, -1}, {20, 10, -1}, {21, 11, -2}, {24, 10, -1}, {24, 11, -2},
  {24, 12, -2}, {25, 12, -1}, {26, 13, -2}, {27, 11, -1}, {27, 13, -2}, {28, 3, -2}, {28, 11, -2}, {28, 12, -2},
  {29, 3, -2}, {29, 10, -1}, {29, 12, -2}, {29, 13, -2}, {30, 3, -2}, {30, 10, -1}, {30, 13, -2}, {31, 3, 2},
  {31, 10, -1}, {35, 8, -2}, {35, 13, -1}, {36, 13, -1}, {37, 12, -2}, {38, 13, -1}, {39, 12, -2}, {39, 13, -1},
  {43, 3, -2}, {43, 12, -2}, {43, 13, -2}, {44, 13, -1}, {45, 13, -2}, {45, 14, -3}, {46, 14, -3}, {47, 14, -3},
  {48, 14, -6}, {51, 12, -2}, {51, 13, -2}, {52, 13, -2}, {53, 12, -2}, {53, 13, -2}, {56, 14, -3}, {59, 13, -2},
  {59, 14, -6}, {60, 14, -6}, {61, 14, -3}, {62, 13, -1}, {65, 14, -3},
};
// Main terms that are raw arrays as they are.
constexpr std::pair<int, raw> given[] = {
  {25, raw::o25}, {34, raw::o34}, {36, raw::o36}, {40, raw::o40}, {46, raw::o46}, {48, raw::o48}, {49, raw::o49},
  {50, raw::o50}, {51, raw::o51}, {52, raw::o52}, {54, raw::o54}, {59, raw::o59}, {60, raw::o60}, {61, raw::o61},
  {62, raw::o62}, {63, raw::o63}, {64, raw::o64}, {65, raw::o65}, {66, raw::o66}, {68, raw::o68}, {70, raw::o70},
  {71, raw::o71}, {72, raw::o72},
};
// clang-format on

class vertex_formulas {
 public:
  vertex_formulas(const supported_view& graph, const raw_pointers& raw, const buffer<small_orbits>& small, int size)
      : graph_(graph), raw_(raw), small_(small), size_(size) {}

  orbit_values<num_orbits> operator()(std::int64_t v) const {
    orbit_values<num_orbits> o{};
    add_small(v, o);
    if (size_ == 5) {
      for (const auto& [orbit, which] : given) o[static_cast<std::size_t>(orbit)] = raw_value(raw_, which, v);
      o[69] = raw_value(raw_, raw::o69, v) / 2;
      add_products(o);
      add_sums(v, o);
      correct(o, corrections, num_small, num_orbits);
    }
    return o;
  }

 private:
  void add_small(std::int64_t v, orbit_values<num_orbits>& o) const {
    const signed_wide d = graph_.degree(v);
    const auto& own = small_[static_cast<std::size_t>(v)];
    o[0] = d;
    o[1] = own.o1;
    o[2] = choose(d, 2);
    o[3] = own.o3;
    o[4] = own.o4;
    o[5] = own.o1 * (d - 1) - 2 * own.o3;
    o[6] = own.o6;
    o[7] = choose(d, 3);
    o[8] = own.o8;
    o[9] = own.o9;
    o[10] = own.o10;
    o[11] = own.o3 * (d - 2);
    o[12] = own.o12;
    o[13] = own.o13;
    o[14] = own.o14;
  }

  // What the vertex itself multiplies.
  static void add_products(orbit_values<num_orbits>& o) {
    const auto d = o[0];
    o[16] = (d - 1) * o[4];
    o[20] = (d - 1) * o[6];
    o[21] = o[1] * choose(d - 1, 2);
    o[23] = choose(d, 4);
    o[26] = (d - 2) * o[10];
    o[30] = o[3] * o[1];
    o[33] = o[3] * choose(d - 2, 2);
    o[38] = o[8] * (d - 2);
    o[42] = o[13] * (d - 3);
    o[44] = choose(o[3], 2);
    o[47] = o[12] * (d - 2);
    o[58] = o[14] * (d - 3);
  }

  // Sums over the neighbors w. Those of patterns with a path along all vertices fit 64 bits: see require_raw_fits.
  void add_sums(std::int64_t v, orbit_values<num_orbits>& o) const {
    std::int64_t ahead = 0, along = 0, triangles = 0, o15 = 0, o24 = 0, o27 = 0, o35 = 0, o37 = 0, o39 = 0, o41 = 0,
                 o43 = 0, o45 = 0, o53 = 0, o55 = 0, o56 = 0, o57 = 0, o67 = 0;
    signed_wide further = 0, o18 = 0, o22 = 0, o31 = 0, o32 = 0;
    for (auto entry = graph_.offsets[v]; entry < graph_.offsets[v + 1]; ++entry) {
      const auto w = graph_.neighbors[entry];
      const auto edge = graph_.edges[entry];
      const auto& its = small_[static_cast<std::size_t>(w)];
      const std::int64_t d = graph_.degree(w), t = graph_.triangles[edge];
      const auto squares = raw_value(raw_, raw::e5, edge), cliques = raw_value(raw_, raw::e11, edge);
      ahead += (d - 1) * (d - 1);
      further += static_cast<signed_wide>(d - 2) * its.o1;
      triangles += its.o3;
      o15 += its.o4;
      o18 += its.o6;
      o22 += choose(d - 1, 3);
      o24 += its.o10;
      o27 += its.o9;
      o31 += static_cast<signed_wide>(its.o3) * (d - 3);
      o35 += its.o8;
      o37 += squares * (d - 2);
      o39 += its.o13;
      o45 += its.o12;
      o56 += its.o14;
      if (t == 0) continue;
      along += t * its.o1;
      o32 += t * choose(d - 2, 2);
      o41 += t * (t - 1) / 2 * (d - 3);
      o43 += t * its.o3;
      o53 += t * squares;
      o55 += static_cast<std::int64_t>(choose(t, 3));
      o57 += cliques * (d - 3);
      o67 += cliques * (t - 2);
    }
    const auto d = o[0];
    o[15] = o15;
    o[17] = (o[1] * o[1] - ahead) >> 1;
    o[18] = o18;
    o[19] = further - (d - 1) * (o[1] - d);
    o[22] = o22;
    o[24] = o24;
    o[27] = o27;
    o[28] = (d - 1) * triangles;
    o[29] = along - (d - 1) * 2 * o[3];
    o[31] = o31;
    o[32] = o32;
    o[35] = o35;
    o[37] = o37;
    o[39] = o39;
    o[41] = o41;
    o[43] = o43;
    o[45] = o45;
    o[53] = o53;
    o[55] = o55;
    o[56] = o56;
    o[57] = o57;
    o[67] = o67;
  }

  const supported_view& graph_;
  const raw_pointers& raw_;
  const buffer<small_orbits>& small_;
  const int size_;
};

}  // namespace

bool vertex_orbits(const supported_view& graph, const raw_pointers& raw, const orbit_request& request,
                   const orbit_columns& output, int threads, const control& ctl) {
  const auto small = count_small_orbits(graph, raw, false, threads, ctl);
  if (request.size == 5) require_raw_fits(most_copies(graph, small, threads, ctl), request.limit);
  buffer<rank> ranks(static_cast<std::size_t>(graph.num_vertices));
  for (std::int64_t r = 0; r < graph.num_vertices; ++r)
    ranks[static_cast<std::size_t>(request.vertices[r])] = static_cast<rank>(r);
  const vertex_formulas formulas(graph, raw, small, request.size);
  const auto number = static_cast<int>(request.size == 4 ? num_small : num_orbits);
  return fill_columns<num_orbits>(graph.num_vertices, number, request, output, threads, ctl, [&](std::int64_t vertex) {
    return formulas(ranks[static_cast<std::size_t>(vertex)]);
  });
}

}  // namespace graphlode::mining::motifs
