// rmat.hpp - edges of the recursive matrix model (Chakrabarti, Zhan and Faloutsos, SDM 2004).
#pragma once
#include <cstdint>

#include "graphlode/control.hpp"
#include "graphlode/generate/edges.hpp"

namespace graphlode::generate {

struct rmat_model {
  int scale;  // the graph has 2^scale vertices
  double a, b, c;
  std::uint64_t seed;
  bool relabel;  // permute the vertices, so that labels do not reveal degrees
};

// Edges begin .. end of the model's infinite sequence. Vertex must be able to hold 2^scale - 1.
template <class Vertex>
edges<Vertex> rmat(const rmat_model& model, std::int64_t begin, std::int64_t end, int threads, const control& ctl);

extern template edges<std::int32_t> rmat(const rmat_model&, std::int64_t, std::int64_t, int, const control&);
extern template edges<std::int64_t> rmat(const rmat_model&, std::int64_t, std::int64_t, int, const control&);

}  // namespace graphlode::generate
