// motifs.hpp - raw sums from which the counts of all connected patterns of three to five vertices follow.
//
// graphlode/mining/motifs.py defines each sum and the row it belongs to. Sums of ranges of rows add up over any
// partition of the rows. They are 128-bit: a star of a million leaves has 4e22 4-stars.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "graphlode/control.hpp"
#include "graphlode/mining/supports.hpp"

namespace graphlode::mining::motifs {

using wide = unsigned __int128;

// In the order of the sizes that need them: the first two for 3 vertices, the first eight for 4.
// clang-format off
enum class sum : int {
  wedges, triangles,
  stars3, paths3, tailed, diamonds, squares, cliques4,
  stars4, prongs, paths4, forks, longtails, bulls, tailed_squares, five_cycles, five_cycle_corrections, hourglasses,
  cobras, stingrays, houses, k23, books3, gems, tailed_cliques, wedge_diamonds, wheels, hatted, almost_cliques, cliques5,
};
inline constexpr std::array<std::string_view, 30> sum_names = {
  "wedges", "triangles",
  "stars3", "paths3", "tailed", "diamonds", "squares", "cliques4",
  "stars4", "prongs", "paths4", "forks", "longtails", "bulls", "tailed_squares", "five_cycles",
  "five_cycle_corrections", "hourglasses", "cobras", "stingrays", "houses", "k23", "books3", "gems", "tailed_cliques",
  "wedge_diamonds", "wheels", "hatted", "almost_cliques", "cliques5",
};
// clang-format on
constexpr int num_sums(int size) { return size == 3 ? 2 : size == 4 ? 8 : 30; }

struct motif_sums {
  std::array<wide, sum_names.size()> values{};

  wide& operator[](sum which) { return values[static_cast<std::size_t>(which)]; }
  void add(const motif_sums& other) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
  }
};

// A pass over some rows: its time and its result.
struct pass {
  std::string_view name;
  double seconds;
  motif_sums found;
};

// Tables that are built once and used for any number of row ranges of one graph.
class motif_counter {
 public:
  // The arrays of the view must stay where they are.
  motif_counter(const supported_view& graph, int size);
  ~motif_counter();

  // The sums of the rows begin .. end. Sums that patterns of `size` vertices do not need are 0. Progress is counted in
  // rows.
  motif_sums count(std::int64_t begin, std::int64_t end, int threads, const control& ctl);

  // The passes of all counts so far, in order.
  const std::vector<pass>& passes() const;

 private:
  struct tables;
  std::unique_ptr<tables> tables_;
};

}  // namespace graphlode::mining::motifs
