// cliques/run.hpp - processes all roots of a task on all threads: builds rows, searches, exchanges branches, sums up.
#pragma once
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>

#include "cliques/build.hpp"
#include "cliques/roots.hpp"
#include "cliques/search.hpp"
#include "cliques/sets.hpp"
#include "graphlode/parallel.hpp"

namespace graphlode::mining {

template <class Vertex>
class clique_run {
 public:
  clique_run(const roots_view<Vertex>& view, entry_range task, search_goal goal, clique_method method,
             const local_counts& local)
      : graph_(view.graph),
        roots_(view, task, goal.single ? goal.largest - 1 : 2),
        goal_(goal),
        method_(method),
        local_(local),
        longest_(roots_.longest()),
        held_(most_held(longest_, goal)) {}

  leaf_counts on(int threads, const control& ctl) {
    leaf_table total(longest_, held_);
    if (longest_ + 1 >= goal_.smallest())
      with_helpers(threads, [&](int) {
        try {
          worker mine(*this, ctl);
          mine.work();
          const std::lock_guard lock(merging_);
          total.merge(mine.thread.leaves);
        } catch (...) {
          pool_.abort();
          throw;
        }
      });
    return total.take();
  }

 private:
  struct worker {
    clique_run& run;
    search_thread thread;
    row_builder<Vertex> builder;
    buffer<word> candidates;  // of the search that begins
    std::optional<set_search<Vertex>> sets;

    worker(clique_run& given, const control& ctl)
        : run(given),
          thread(given.goal_, given.pool_, ctl, given.longest_, given.held_, given.local_),
          builder(given.graph_),
          candidates(static_cast<std::size_t>(width_for(static_cast<int>(given.longest_), false).words)) {
      if (run.method_ == clique_method::set) sets.emplace(run.graph_, builder, thread);
      run.pool_.join();
    }

    void work() {
      while (run.roots_.take([&](std::int64_t u) { search_root(u); })) {
        if (thread.ctl.stop_requested() || run.pool_.aborted()) throw cancelled();
      }
      for (branch given; run.pool_.take(given);) resume(given);
    }

    void search_root(std::int64_t u) {
      const auto [begin, end] = run.roots_.part(u);
      const int size = static_cast<int>(run.graph_.degree(u));
      thread.root = u;
      if (thread.local()) thread.tally->start(size);
      if (run.method_ == clique_method::set)
        sets->search(u, begin, end);
      else
        search_rows(u, size, begin, end);
      finish();
      thread.ctl.advance(end - begin);
    }

    // Searches the whole row at once, or only the branches of some of its entries.
    void search_rows(std::int64_t u, int size, int begin, int end) {
      const bool pivot = run.method_ == clique_method::pivot;
      const auto width = width_for(size, thread.local());
      auto& rows = thread.slots.fresh(width.width_class);
      builder.build(u, pivot ? row_direction::both : row_direction::upwards, width, thread.local(), *rows);
      word* const set = candidates.data();
      if (end - begin == size) {
        fill_set(set, size, width.words);
        return search({rows, width.width_class, {1, 0, -1}, set, false});
      }
      for (int i = begin; i < end; ++i) {
        above(rows->row(i), i, width.words, set);
        if (thread.local()) thread.tally->push(i, path_role::held);
        search({rows, width.width_class, {2, 0, -1}, set, false});
        if (thread.local()) thread.tally->restore(1);
      }
    }

    static void above(const word* row, int i, int words, word* set) {
      for (int w = 0; w < words; ++w) set[w] = w < i / word_bits ? 0 : row[w];
      set[i / word_bits] &= ~((word{2} << (i % word_bits)) - 1);
    }

    void resume(const branch& given) {
      thread.root = given.root;
      if (thread.local()) {
        thread.tally->start(static_cast<int>(run.graph_.degree(given.root)));
        for (std::size_t i = 1; i < given.path.size(); ++i) thread.tally->push(given.path[i].name, given.path[i].role);
      }
      search({given.rows, given.width_class, given.node, given.sets.data(), true});
      finish();
    }

    void search(const search_start& start) {
      if (run.method_ == clique_method::pivot)
        search_by_pivot(thread, start);
      else
        search_by_enumeration(thread, start);
    }

    void finish() {
      if (!thread.local()) return;
      thread.tally->restore(0);
      builder.flush(thread.root, *thread.tally, run.local_.counts);
    }
  };

  csr_view<Vertex> graph_;
  root_queue<Vertex> roots_;
  search_goal goal_;
  clique_method method_;
  local_counts local_;
  std::int64_t longest_, held_;
  branch_pool pool_;
  std::mutex merging_;
};

}  // namespace graphlode::mining
