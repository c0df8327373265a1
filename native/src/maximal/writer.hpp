// maximal/writer.hpp - collects the cliques of one thread into batches for the sink.
//
// The first batch is small, so that a caller who wants only a few cliques gets them at once. Later batches grow.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "graphlode/mining/maximal_cliques.hpp"
#include "maximal/problem.hpp"

namespace graphlode::mining::maximal {

class clique_writer {
 public:
  clique_writer(const clique_sink& sink, std::int64_t batch_size)
      : sink_(sink), batch_size_(batch_size), limit_(std::min(batch_size, first_batch)) {}

  void write(std::span<const std::int64_t> clique) {
    const auto size = static_cast<std::int64_t>(clique.size());
    members_.reserve(num_members_ + size);
    offsets_.reserve(num_cliques_ + 2);
    if (num_cliques_ == 0) offsets_[0] = 0;
    auto* out = members_.data() + num_members_;
    copy_sorted(clique, out);
    num_members_ += size;
    offsets_[++num_cliques_] = num_members_;
    if (num_cliques_ >= limit_ || num_members_ >= most_members) flush();
  }

  void flush() {
    if (num_cliques_ == 0) return;
    clique_batch batch{buffer<std::int64_t>(static_cast<std::size_t>(num_cliques_) + 1),
                       buffer<std::int64_t>(static_cast<std::size_t>(num_members_))};
    std::copy_n(offsets_.data(), num_cliques_ + 1, batch.offsets.data());
    std::copy_n(members_.data(), num_members_, batch.members.data());
    num_cliques_ = num_members_ = 0;
    limit_ = std::min(batch_size_, 2 * limit_);
    sink_(std::move(batch));
  }

 private:
  static constexpr std::int64_t first_batch = 64;
  static constexpr std::int64_t most_members = 1 << 20;  // 8 MiB, for cliques of any size

  static void copy_sorted(std::span<const std::int64_t> clique, std::int64_t* out) {
    if (clique.size() > 24) {
      std::copy(clique.begin(), clique.end(), out);
      std::sort(out, out + clique.size());
      return;
    }
    std::int64_t size = 0;
    for (const auto v : clique) {  // insertion sort: cliques are short and partly sorted
      auto i = size++;
      for (; i > 0 && out[i - 1] > v; --i) out[i] = out[i - 1];
      out[i] = v;
    }
  }

  const clique_sink& sink_;
  std::int64_t batch_size_;
  std::int64_t limit_;
  growing<std::int64_t> members_;
  growing<std::int64_t> offsets_;
  std::int64_t num_cliques_ = 0;
  std::int64_t num_members_ = 0;
};

}  // namespace graphlode::mining::maximal
