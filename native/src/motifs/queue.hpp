// motifs/queue.hpp - hands out a range of rows to threads: heavy rows first and in parts, then the others in runs.
//
// A pass estimates the work of each row. A row that would keep one thread busy while the others have nothing left is
// split. The pass defines what a part of a row is; it gets the number of the part and the number of parts.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "graphlode/control.hpp"
#include "graphlode/parallel.hpp"
#include "motifs/passes.hpp"

namespace graphlode::mining::motifs {

struct row_part {
  std::int64_t row;
  int part, parts;
};

class row_queue {
 public:
  // work(u) is in steps of about a nanosecond.
  template <class Work>
  row_queue(row_range rows, int threads, const control& ctl, const Work& work) {
    buffer<std::int64_t> steps(static_cast<std::size_t>(rows.end - rows.begin));
    parallel_chunks(rows.begin, rows.end, 1024, threads, ctl, [&](int, std::int64_t begin, std::int64_t end) {
      for (auto u = begin; u < end; ++u) steps[u - rows.begin] = work(u);
    });
    double total = 0;
    for (const auto some : steps) {
      total += static_cast<double>(some);
      most_work_ = std::max(most_work_, some);
    }
    const auto limit = std::max(least_part, total / (parts_per_thread * threads));
    const auto run_work = std::min(limit, least_part);
    struct heavy {
      double work;
      std::int64_t row;
    };
    std::vector<heavy> found;
    cuts_.push_back(rows.end);
    double since = 0;
    for (auto u = rows.end - 1; u >= rows.begin; --u) {
      const auto mine = static_cast<double>(steps[u - rows.begin]);
      if (mine > limit && threads > 1)
        found.push_back({mine, u});
      else
        since += mine;
      if (since > run_work || cuts_.back() - u >= longest_run) {
        cuts_.push_back(u);
        since = 0;
      }
    }
    if (cuts_.back() != rows.begin) cuts_.push_back(rows.begin);
    std::stable_sort(found.begin(), found.end(), [](const heavy& a, const heavy& b) { return a.work > b.work; });
    for (const auto& one : found) {
      const auto parts = static_cast<int>(std::min(one.work / limit + 1, static_cast<double>(most_parts)));
      for (int part = 0; part < parts; ++part) heavy_.push_back({one.row, part, parts});
      is_heavy_.push_back(one.row);
    }
    std::sort(is_heavy_.begin(), is_heavy_.end());
  }

  std::int64_t most_work() const { return most_work_; }  // of one row

  // Calls search(row_part) for one part of a heavy row or for each row of a run. Returns false when none are left. A
  // row counts as one unit of progress when it, or its last part, is finished.
  template <class Search>
  bool take(const control& ctl, const Search& search) {
    if (const auto at = next_heavy_.fetch_add(1, std::memory_order_relaxed); at < heavy_.size()) {
      search(heavy_[at]);
      ctl.advance(heavy_[at].part + 1 == heavy_[at].parts);
      return true;
    }
    const auto at = next_run_.fetch_add(1, std::memory_order_relaxed);
    if (at + 1 >= cuts_.size()) return false;
    std::int64_t done = 0;
    for (auto u = cuts_[at] - 1; u >= cuts_[at + 1]; --u) {
      if (std::binary_search(is_heavy_.begin(), is_heavy_.end(), u)) continue;
      ctl.check();
      search(row_part{u, 0, 1});
      ++done;
    }
    ctl.advance(done);
    return true;
  }

 private:
  static constexpr double least_part = 1 << 18;
  static constexpr double parts_per_thread = 16;
  static constexpr int most_parts = 1 << 10;
  static constexpr std::int64_t longest_run = 1 << 10;

  std::int64_t most_work_ = 0;
  std::vector<row_part> heavy_;
  std::vector<std::int64_t> is_heavy_;
  std::vector<std::int64_t> cuts_;  // descending: the bounds of the runs of rows
  std::atomic<std::size_t> next_heavy_{0}, next_run_{0};
};

}  // namespace graphlode::mining::motifs
