// maximal/search.hpp - the search for maximal cliques below one root, on rows of bits.
//
// Bron and Kerbosch's search with Tomita's pivot: at every node there are the vertices held, the candidates joined to
// all of them, and the excluded vertices that are joined to all of them but whose cliques were found before. With the
// pivot, the vertex joined to most candidates, only candidates that are not joined to it need a branch. Three things
// make it short: an excluded vertex joined to all candidates ends a node, one joined to none is forgotten; candidates
// joined to all others are held at once, so that a clique among the candidates is one node; and when few candidates are
// left the problem is written anew in narrower rows. The stacks are arrays, since a search may be as deep as the
// degeneracy, and a search is one function per width, compiled for several instruction sets.
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

  // All maximal cliques of a built problem, each with `root`.
  void from_root(const std::shared_ptr<const problem>& in, std::int64_t root);
  void from_branch(const maximal_branch& given);

  struct frame {
    std::int64_t held;      // vertices held at this node
    std::int64_t bits;      // where its candidates lie in `bits`, followed by those that still need a branch
    std::int64_t excluded;  // where its excluded rows lie in `excluded`
    std::int64_t excluded_end;
  };

  // Searches below the node whose candidates lie at bits[at ..] and whose excluded rows at excluded[from .. to).
  void descend(const std::shared_ptr<const problem>& in, std::int64_t at, std::int64_t from, std::int64_t to);
  void give_away(const std::shared_ptr<const problem>& in, std::int64_t at, std::int64_t from, std::int64_t to);
  void descend_narrower(const problem& in, std::int64_t at, std::int64_t size, std::int64_t from, std::int64_t to);
  // Looks for a stop after every few milliseconds of work, in words that were looked at.
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
