// maximal/search.hpp - the search for maximal cliques below one root, on bit rows.
//
// The search of Bron and Kerbosch with Tomita's pivot. A node has the held vertices, the candidates adjacent to all of
// them, and the excluded vertices, which are adjacent to all of them but whose cliques have been found before. The
// pivot is the vertex adjacent to most candidates; only candidates that are not adjacent to it need a branch. Three
// things keep the search short. An excluded vertex adjacent to all candidates ends a node, and one adjacent to none is
// dropped. Candidates adjacent to all others are held at once, so a clique among the candidates is one node. And when
// few candidates are left, the problem is copied into narrower rows. The stacks are arrays, because a search may be as
// deep as the degeneracy. Each width is one function, compiled for several instruction sets.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "graphlode/control.hpp"
#include "maximal/pool.hpp"
#include "maximal/problem.hpp"
#include "maximal/writer.hpp"

namespace graphlode::mining::maximal {

// A node of the search that another thread may take.
struct maximal_branch {
  std::shared_ptr<const problem> in;
  std::vector<std::int64_t> held;
  std::vector<word> candidates;
  std::vector<std::uint32_t> excluded;
};

class maximal_search {
 public:
  maximal_search(const clique_sink& sink, const maximal_options& options, branch_pool<maximal_branch>& shared,
                 const control& stop)
      : writer(sink, options.batch_size), pool(shared), ctl(stop), min_size(options.min_size) {}

  // Finds all maximal cliques of a problem that contain `root`.
  void from_root(const std::shared_ptr<const problem>& in, std::int64_t root);
  void from_branch(const maximal_branch& given);

  struct frame {
    std::int64_t held;      // number of vertices held at this node
    std::int64_t bits;      // where its candidates lie in `bits`, followed by those that still need a branch
    std::int64_t excluded;  // where its excluded rows lie in `excluded`
    std::int64_t excluded_end;
  };

  // Searches below the node whose candidates are at bits[at ..] and whose excluded rows are excluded[from .. to).
  void descend(const std::shared_ptr<const problem>& in, std::int64_t at, std::int64_t from, std::int64_t to);
  void give_away(const std::shared_ptr<const problem>& in, std::int64_t at, std::int64_t from, std::int64_t to);
  void descend_narrower(const problem& in, std::int64_t at, std::int64_t size, std::int64_t from, std::int64_t to);
  // Checks for a stop every few milliseconds of work, measured in words read.
  void tick(std::int64_t work) {
    if ((work_left_ -= work) > 0) return;
    work_left_ = std::int64_t{1} << 20;
    ctl.check();
    if (pool.abandoned()) throw cancelled();
  }

  clique_writer writer;
  branch_pool<maximal_branch>& pool;
  control ctl;
  std::int64_t min_size;
  std::vector<std::int64_t> held;
  std::vector<frame> frames;
  growing<word> bits;
  growing<std::uint32_t> excluded;
  std::exception_ptr failure;  // of a cloned search
  problem_slots slots;

 private:
  growing<std::uint32_t> numbers_;
  std::vector<std::uint32_t> kept_;
  std::int64_t work_left_ = 0;
};

}  // namespace graphlode::mining::maximal
