// orbits/blocks.hpp - columns of some vertices or edges at a time, converted from all copies to the requested orbits.
#pragma once
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "graphlode/mining/orbit_formulas.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::mining::motifs {

__extension__ using signed_wide = __int128;

// A correction of a main term: adds `times` the orbit `lower`, which comes before it.
struct correction {
  int orbit, lower, times;
};

// C(x, k), also for x < 0. In 64 bits where that suffices, because a 128-bit division takes ten times as long.
inline signed_wide choose(signed_wide x, int k) {
  constexpr std::int64_t small = 1 << 15;
  if (k == 2) return x * (x - 1) >> 1;
  if (x < small && x > -small) {
    const auto y = static_cast<std::int64_t>(x);
    return k == 3 ? y * (y - 1) * (y - 2) / 6 : y * (y - 1) * (y - 2) * (y - 3) / 24;
  }
  const auto triples = (x * (x - 1) >> 1) * (x - 2) / 3;
  return k == 3 ? triples : triples * (x - 3) / 4;
}

// All orbits of one vertex or edge.
template <std::size_t Most>
using orbit_values = std::array<signed_wide, Most>;

template <std::size_t Most, class Corrections>
void correct(orbit_values<Most>& values, const Corrections& corrections, int begin, int end) {
  for (const auto& [orbit, lower, times] : corrections)
    if (orbit >= begin && orbit < end)
      values[static_cast<std::size_t>(orbit)] += times * values[static_cast<std::size_t>(lower)];
}

// The number of vertices or edges whose columns are processed together. A column is a sum of multiples of orbits.
inline constexpr std::int64_t block_size = 64;
using orbit_terms = std::vector<std::pair<int, std::int64_t>>;

// Adds multiples of columns, which may wrap around.
void add_terms(const orbit_terms& terms, const std::array<std::int64_t, block_size>* columns,
               std::array<std::uint64_t, block_size>& sums);

// Up to `capacity` vertices or edges, column by column, so that the matrix is applied to many at once.
template <std::size_t Most>
class orbit_block {
 public:
  static constexpr std::int64_t capacity = block_size;

  explicit orbit_block(int number) : number_(static_cast<std::size_t>(number)) {}

  void put(std::size_t i, const orbit_values<Most>& values) {
    for (std::size_t orbit = 0; orbit < number_; ++orbit) {
      low_[orbit][i] = static_cast<std::int64_t>(values[orbit]);
      high_[orbit][i] = static_cast<std::int64_t>(values[orbit] >> 64);
      narrow_ &= low_[orbit][i] >> 63 == high_[orbit][i];
    }
  }

  // Writes the requested columns from place `at` on. Returns false if upper halves are needed and there is no place for
  // them.
  bool write(const std::vector<orbit_terms>& terms, const orbit_columns& output, std::int64_t units, std::int64_t at,
             std::size_t count) const {
    bool fits = true;
    for (std::size_t column = 0; column < terms.size(); ++column) {
      const auto to = static_cast<std::int64_t>(column) * units + at;
      if (narrow_)
        write_narrow(terms[column], output, to, count);
      else
        fits &= write_wide(terms[column], output, to, count);
    }
    return fits;
  }

 private:
  // In 64 bits: terms may wrap around, but induced copies are at most all copies, which fit.
  void write_narrow(const orbit_terms& terms, const orbit_columns& output, std::int64_t to, std::size_t count) const {
    std::array<std::uint64_t, capacity> sums{};
    add_terms(terms, low_.data(), sums);
    for (std::size_t i = 0; i < count; ++i)
      output.low[to + static_cast<std::int64_t>(i)] = static_cast<std::int64_t>(sums[i]);
    if (!output.high) return;
    for (std::size_t i = 0; i < count; ++i)
      output.high[to + static_cast<std::int64_t>(i)] = static_cast<std::int64_t>(sums[i]) >> 63;
  }
  bool write_wide(const orbit_terms& terms, const orbit_columns& output, std::int64_t to, std::size_t count) const {
    bool fits = true;
    for (std::size_t i = 0; i < count; ++i) {
      signed_wide sum = 0;
      for (const auto& [orbit, factor] : terms) {
        const auto which = static_cast<std::size_t>(orbit);
        sum +=
            factor * ((static_cast<signed_wide>(high_[which][i]) << 64) | static_cast<std::uint64_t>(low_[which][i]));
      }
      const auto place = to + static_cast<std::int64_t>(i);
      output.low[place] = static_cast<std::int64_t>(sum);
      if (output.high)
        output.high[place] = static_cast<std::int64_t>(sum >> 64);
      else
        fits &= static_cast<std::int64_t>(sum) == sum;
    }
    return fits;
  }

  std::size_t number_;
  bool narrow_ = true;  // whether all of them fit 64 bits
  std::array<std::array<std::int64_t, capacity>, Most> low_, high_;
};

// Fills all columns. values(unit) returns all orbits of the vertex or edge at that place of the output.
template <std::size_t Most, class Values>
bool fill_columns(std::int64_t units, int number, const orbit_request& request, const orbit_columns& output,
                  int threads, const control& ctl, const Values& values) {
  std::vector<orbit_terms> terms;
  for (const auto column : request.columns) {
    auto& own = terms.emplace_back();
    if (request.matrix.empty()) own.emplace_back(column, 1);
    for (int orbit = 0; orbit < number && !request.matrix.empty(); ++orbit)
      if (const auto factor = request.matrix[static_cast<std::size_t>(column * number + orbit)])
        own.emplace_back(orbit, factor);
  }
  constexpr auto capacity = orbit_block<Most>::capacity;
  std::atomic<bool> fits{true};
  parallel_chunks(0, units, capacity, worthwhile_threads(units * number, threads), ctl,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    if (!fits.load(std::memory_order_relaxed)) return;
                    orbit_block<Most> block(number);
                    for (auto unit = begin; unit < end; ++unit)
                      block.put(static_cast<std::size_t>(unit - begin), values(unit));
                    if (!block.write(terms, output, units, begin, static_cast<std::size_t>(end - begin))) fits = false;
                  });
  return fits;
}

}  // namespace graphlode::mining::motifs
