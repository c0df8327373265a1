// cliques/batch.hpp - the batch that one thread fills, with bulk writing of cliques that share all but one vertex.
//
// Writing is most of the work of listing. `write` is compiled for each small k, so that the k - 1 shared names stay in
// vector registers and a clique costs one or two stores besides its own name.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cliques/rows.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/mining/clique_lists.hpp"

namespace graphlode::mining {

class clique_batch {
 public:
  clique_batch(clique_sink& sink, int k, std::int64_t batch_size) : sink_(sink), k_(k), batch_size_(batch_size) {}

  // Appends a clique for each bit of `members`: the names in `head`, then the name of the bit. K is k, or 0 for any k.
  template <int K>
  void write(const std::int64_t* head, word members, const std::int64_t* names) {
    if (batch_size_ - rows_ >= word_bits && batch_.size()) {
      write_all<K>(head, members, names);
    } else {
      write_carefully(head, members, names);
    }
  }

  // Passes on the last batch. Returns the total number of cliques written.
  std::int64_t finish() {
    hand_over();
    return total_;
  }

 private:
  template <int K>
  void write_all(const std::int64_t* head, word members, const std::int64_t* names) {
    const int k = K ? K : k_;
    std::int64_t* const first = batch_.data() + rows_ * k;
    std::int64_t* to = first;
    if constexpr (K != 0) {
      std::int64_t shared[K - 1];  // a copy that cannot alias, so that it is loaded only once
      std::memcpy(shared, head, sizeof shared);
      for (; members; members &= members - 1, to += K) {
        std::memcpy(to, shared, sizeof shared);
        to[K - 1] = names[std::countr_zero(members)];
      }
    } else {
      for (; members; members &= members - 1, to += k) {
        std::memcpy(to, head, sizeof(std::int64_t) * static_cast<std::size_t>(k - 1));
        to[k - 1] = names[std::countr_zero(members)];
      }
    }
    rows_ += (to - first) / k;
  }

  // Near the end of a batch, or without a batch: one clique at a time.
  void write_carefully(const std::int64_t* head, word members, const std::int64_t* names) {
    for (; members; members &= members - 1) {
      if (rows_ == batch_size_) hand_over();
      if (!batch_.size()) batch_ = sink_.room();
      std::int64_t* const to = batch_.data() + rows_++ * k_;
      std::memcpy(to, head, sizeof(std::int64_t) * static_cast<std::size_t>(k_ - 1));
      to[k_ - 1] = names[std::countr_zero(members)];
    }
  }

  void hand_over() {
    if (rows_ == 0) return;
    total_ += rows_;
    sink_.take(std::move(batch_), std::exchange(rows_, 0));
  }

  clique_sink& sink_;
  const int k_;
  const std::int64_t batch_size_;
  buffer<std::int64_t> batch_;
  std::int64_t rows_ = 0, total_ = 0;
};

}  // namespace graphlode::mining
