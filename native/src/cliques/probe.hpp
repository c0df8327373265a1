// cliques/probe.hpp - estimates the size of a search tree by random descents.
//
// A descent follows one random branch at each node. The work at a node, times the product of the numbers of branches
// above it (or of the inverse probabilities), is on average the work of all nodes of its level. Single descents vary
// widely, so several are averaged. The estimate only has to distinguish methods that differ by factors.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cliques/pool.hpp"
#include "cliques/rows.hpp"

namespace graphlode::mining {

int count_common(const word* a, const word* b, int words);

// `SearchWhole` is called as search_whole(set, size, node). It returns the work below a node, or -1 if it is too much.
template <class SearchWhole>
class tree_probe {
 public:
  // `rows` are those that the search uses: symmetric for pivoting, upwards for enumeration.
  tree_probe(const row_block& rows, int k, std::uint64_t seed, SearchWhole search_whole)
      : rows_(rows), k_(k), random_(seed), search_whole_(search_whole) {}

  // The number of words that a pivoting search reads. The branch on the pivot keeps most candidates and often most of
  // the tree, so it is always followed. At a few nodes on the way, one of the other branches is drawn as well.
  double by_pivot() { return below_pivot(everything(), 1, 0, rows_.size); }

  // The number of words that an enumeration reads.
  double by_enumeration() {
    auto set = everything();
    double branches = 1, work = 0;
    for (int needed = k_ - 1;; --needed) {
      const int size = count(set);
      if (size < needed) return work;
      if (branches > 1)
        if (const double below = search_whole_(set.data(), size, node_state{k_ - needed, 0, -1}); below >= 0)
          return work + branches * below;
      work += branches * work_at(size);
      if (needed <= 2) return work;
      weights_.clear();
      std::vector<int> members;
      std::vector<word> left = set;
      each(set, [&](int v) {
        remove(left, v);
        members.push_back(v);
        weights_.push_back(common(left, rows_.row(v)) + 1);
      });
      raise_weights(needed - 2);
      const auto choice = draw(branches);
      for (std::size_t i = 0; i <= choice; ++i) remove(set, members[i]);
      intersect(set, rows_.row(members[choice]), set);
    }
  }

 private:
  using bit_set = std::vector<word>;
  static constexpr double most_branches = 1e200;  // infinity would make all later results meaningless
  static constexpr double draws_per_chain = 4;    // a chain of pivots is about as long as its set is large

  double below_pivot(std::vector<word> set, int held, int passed, int whole_below) {
    double work = 0;
    for (;;) {
      const int size = count(set), needed = k_ - held;
      if (size == 0 || needed <= 1 || size + passed < needed) return work;
      if (size < whole_below) {
        const double below = search_whole_(set.data(), size, node_state{held, passed, -1});
        if (below >= 0) return work + below;
        whole_below = size * 3 / 4;
      }
      work += work_at(size);
      int universal = 0, all_but_one = 0, best = -1, best_degree = -1;
      std::vector<word> rest = set;
      each(set, [&](int v) {
        const int degree = common(set, rows_.row(v));
        all_but_one += degree == size - 2;
        if (degree == size - 1) {
          ++universal;
          remove(rest, v);
        } else if (degree > best_degree) {
          best = v;
          best_degree = degree;
        }
      });
      passed += universal;
      best_degree -= universal;
      if (universal + all_but_one == size || needed == 2 || best_degree == 0 || passed + best_degree + 1 < needed)
        return work;
      std::vector<int> todo;
      each(rest, [&](int v) {
        if (v != best && !adjacent(best, v)) todo.push_back(v);
      });
      const double chance = std::min(1.0, draws_per_chain / size);
      if (uniform() < chance) work += below_drawn(rest, todo, held, passed) / chance;
      for (const int v : todo) remove(rest, v);
      intersect(rest, rows_.row(best), set);
      ++passed;
    }
  }

  // Estimates the work of all branches in `todo` from one of them. Larger ones are drawn more often and weigh less.
  double below_drawn(std::vector<word> rest, const std::vector<int>& todo, int held, int passed) {
    std::vector<word> left = rest;
    weights_.clear();
    for (const int v : todo) {
      remove(left, v);
      weights_.push_back(common(left, rows_.row(v)) + 1);
    }
    raise_weights(2);
    double branches = 1;
    const auto choice = draw(branches);
    for (std::size_t i = 0; i <= choice; ++i) remove(rest, todo[i]);
    intersect(rest, rows_.row(todo[choice]), rest);
    return branches * below_pivot(std::move(rest), held + 1, passed, rows_.size + 1);
  }

  static double work_at(int size) { return double(size) * width_for(size, false).words; }
  bit_set everything() const {
    bit_set set(static_cast<std::size_t>(rows_.words));
    fill_set(set.data(), rows_.size, rows_.words);
    return set;
  }
  static int count(const bit_set& set) {
    int size = 0;
    for (const auto bits : set) size += count_bits(bits);
    return size;
  }
  static int common(const bit_set& set, const word* row) {
    return count_common(set.data(), row, static_cast<int>(set.size()));
  }
  static void intersect(const bit_set& set, const word* row, bit_set& into) {
    for (std::size_t w = 0; w < set.size(); ++w) into[w] = set[w] & row[w];
  }
  bool adjacent(int a, int b) const { return rows_.row(a)[b / word_bits] >> (b % word_bits) & 1; }
  template <class Visit>
  static void each(const bit_set& set, Visit visit) {
    for (std::size_t w = 0; w < set.size(); ++w)
      for (word left = set[w]; left; left &= left - 1) visit(static_cast<int>(w) * word_bits + lowest_bit(left));
  }
  static void remove(bit_set& set, int v) {
    set[static_cast<std::size_t>(v / word_bits)] &= ~(word{1} << (v % word_bits));
  }
  // Raises the weights to `exponent`, relative to the largest: with many vertices needed the powers themselves
  // overflow.
  void raise_weights(int exponent) {
    const double largest = *std::max_element(weights_.begin(), weights_.end());
    for (double& weight : weights_) weight = std::pow(weight / largest, exponent);
  }
  double uniform() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(random_ >> 11) * 0x1p-53;
  }
  // Draws one of the weights with proportional probability. Multiplies `branches` by the inverse of the probability.
  std::size_t draw(double& branches) {
    double sum = 0;
    for (const double weight : weights_) sum += weight;
    double left = uniform() * sum;
    std::size_t choice = 0;
    while (choice + 1 < weights_.size() && left >= weights_[choice]) left -= weights_[choice++];
    branches = std::min(branches * sum / weights_[choice], most_branches);
    return choice;
  }

  const row_block& rows_;
  int k_;
  std::uint64_t random_;
  SearchWhole search_whole_;
  std::vector<double> weights_;  // of the branches of a node
};

}  // namespace graphlode::mining
