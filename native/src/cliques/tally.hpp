// cliques/tally.hpp - cliques per vertex or per edge below one root, without visiting every clique.
//
// The search reports the vertices on its path, held or passed as pivots, and its leaves. Three sums run over the
// leaves: the cliques of a leaf (with r needed and p pivots: C(p, r)), those that contain a given pivot of its path
// (C(p - 1, r - 1)), and those that contain two given pivots (C(p - 2, r - 2)). A held vertex is in all cliques of the
// leaves below it, so it is credited with the growth of the first sum while it was on the path. A pivot is credited
// with the growth of the second sum, and pairs on the path likewise. So a node costs O(1), or O(length of the path) for
// edges. Numbers have any fixed number of 64-bit limbs. They wrap around, which cancels in the differences.
#pragma once
#include <algorithm>
#include <cstdint>

#include "graphlode/mining/cliques.hpp"

namespace graphlode::mining {

enum class path_role : std::int8_t { held, pivot };

struct path_step {
  std::int32_t name;  // place in the root's row; the root itself comes after all of them
  path_role role;
};

class local_tally {
 public:
  local_tally(const local_counts& local, std::int64_t longest)
      : local_(local),
        limbs_(local.limbs),
        steps_(static_cast<std::size_t>(longest + 2)),
        snapshots_(static_cast<std::size_t>((longest + 2) * num_sums * local.limbs)),
        sums_(static_cast<std::size_t>(num_sums * local.limbs)),
        cells_(static_cast<std::size_t>(cells_for(longest) * local.limbs)) {
    sums_.zero();
  }

  bool by_edge() const { return local_.what == clique_counts::by_edge; }
  int limbs() const { return limbs_; }
  int length() const { return length_; }
  const path_step* steps() const { return steps_.data(); }

  // Clears everything and puts the root on the path, above a row of `size` candidates.
  void start(int size) {
    size_ = size;
    length_ = 0;
    std::fill_n(cells_.data(), cells_for(size) * limbs_, std::uint64_t{0});
    push(size, path_role::held);
  }

  void push(int name, path_role role) {
    std::copy_n(sums_.data(), num_sums * limbs_, snapshot(length_));
    steps_[static_cast<std::size_t>(length_++)] = {name, role};
  }

  // Removes steps from the path until `length` are left, and credits each with the counts below it.
  void restore(int length) {
    while (length_ > length) {
      const auto step = steps_[static_cast<std::size_t>(--length_)];
      const auto* before = snapshot(length_);
      if (!by_edge()) {
        add_growth(vertex(step.name), before, sum_for(step.role));
        continue;
      }
      for (int a = 0; a < length_; ++a) {
        const auto other = steps_[static_cast<std::size_t>(a)];
        add_growth(pair(step.name, other.name), before, sum_for(step.role) + sum_for(other.role));
      }
    }
  }

  // A leaf: `needed` more vertices are chosen from `passed` pivots.
  void leaf(int needed, int passed) {
    for (int sum = 0; sum < num_sums; ++sum) add_binomial(sum, passed - sum, needed - sum);
  }
  // Adds cliques that contain no pivots of the path.
  void add(std::uint64_t cliques) { add_small(sums_.data(), cliques); }

  // Credits cliques that contain `name` and everything held on the path, and no pivots. The sums do not grow.
  void credit(int name, std::uint64_t cliques) {
    if (!by_edge()) return add_small(vertex(name), cliques);
    for (int a = 0; a < length_; ++a)
      if (const auto other = steps_[static_cast<std::size_t>(a)]; other.role == path_role::held)
        add_small(pair(name, other.name), cliques);
  }
  void credit_pair(int a, int b, std::uint64_t cliques) { add_small(pair(a, b), cliques); }

  std::uint64_t* vertex(int name) { return cells_.data() + std::int64_t{name} * limbs_; }
  std::uint64_t* pair(int a, int b) {
    const std::int64_t low = std::min(a, b), high = std::max(a, b);
    return cells_.data() + (low * (size_ + 1) + high) * limbs_;
  }

 private:
  static constexpr int num_sums = 3;  // no pivot, one pivot, two pivots given

  static int sum_for(path_role role) { return role == path_role::held ? 0 : 1; }
  std::int64_t cells_for(std::int64_t size) const { return by_edge() ? (size + 1) * (size + 1) : size + 1; }
  std::uint64_t* snapshot(int step) { return snapshots_.data() + std::int64_t{step} * num_sums * limbs_; }

  void add_binomial(int sum, int n, int r) {
    if (r < 0 || n < r) return;
    const auto* term = local_.binomials + (n * local_.binomial_columns + r) * limbs_;
    auto* to = sums_.data() + sum * limbs_;
    unsigned char carry = 0;
    for (int i = 0; i < limbs_; ++i) to[i] = add_with_carry(to[i], term[i], carry);
  }
  void add_growth(std::uint64_t* to, const std::uint64_t* before, int sum) {
    const auto* now = sums_.data() + sum * limbs_;
    before += sum * limbs_;
    unsigned char carry = 0, borrow = 0;
    for (int i = 0; i < limbs_; ++i) {
      const auto less = now[i] - before[i];
      const auto grown = less - borrow;
      borrow = static_cast<unsigned char>((now[i] < before[i]) | (less < borrow));
      to[i] = add_with_carry(to[i], grown, carry);
    }
  }
  void add_small(std::uint64_t* to, std::uint64_t value) {
    unsigned char carry = 0;
    to[0] = add_with_carry(to[0], value, carry);
    for (int i = 1; carry && i < limbs_; ++i) to[i] = add_with_carry(to[i], 0, carry);
  }
  static std::uint64_t add_with_carry(std::uint64_t a, std::uint64_t b, unsigned char& carry) {
    const auto sum = a + b;
    const auto total = sum + carry;
    carry = static_cast<unsigned char>((sum < a) | (total < sum));
    return total;
  }

  local_counts local_;
  int limbs_;
  int size_ = 0;
  int length_ = 0;
  buffer<path_step> steps_;
  buffer<std::uint64_t> snapshots_, sums_, cells_;
};

}  // namespace graphlode::mining
