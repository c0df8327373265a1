// mining_lists.cpp - binding of mining/clique_lists: batches go to a Python callable as arrays that own their memory.
//
// When Python releases an array, its memory returns to the search and is filled again. Pages and cache lines stay warm,
// and a listing of any length needs memory for only a few batches.
#include <memory>
#include <mutex>
#include <vector>

#include "arrays.hpp"
#include "graphlode/mining/clique_lists.hpp"

namespace graphlode::bind {
namespace {

using numbers = buffer<std::int64_t>;

// Buffers to be filled again, kept as long as the search runs.
class batch_pool {
 public:
  numbers take(std::size_t size) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        numbers found = std::move(idle_.back());
        idle_.pop_back();
        return found;
      }
    }
    return numbers(size);
  }
  void give_back(numbers&& batch) noexcept {
    const std::lock_guard lock(mutex_);
    if (open_ && idle_.size() < idle_.capacity()) idle_.push_back(std::move(batch));
  }
  void open(std::size_t most_idle) {
    idle_.reserve(most_idle);
    open_ = true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
    idle_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<numbers> idle_;
  bool open_ = false;
};

// The owner of a NumPy array's memory.
struct lent_batch {
  numbers data;
  std::shared_ptr<batch_pool> pool;

  ~lent_batch() {
    if (pool) pool->give_back(std::move(data));
  }
};

class python_sink : public mining::clique_sink {
 public:
  python_sink(const nb::object& callable, std::size_t k, std::size_t batch_size, int threads)
      : callable_(callable), k_(k), batch_size_(batch_size), pool_(std::make_shared<batch_pool>()) {
    pool_->open(static_cast<std::size_t>(threads));
  }
  ~python_sink() override { pool_->close(); }

  numbers room() override { return pool_->take(batch_size_ * k_); }

  void take(numbers&& batch, std::int64_t num_rows) override {
    const auto rows = static_cast<std::size_t>(num_rows);
    auto lent = std::make_unique<lent_batch>();
    if (2 * rows < batch_size_) {  // a caller that keeps a few rows should not keep memory for many
      lent->data = numbers(rows * k_);
      std::memcpy(lent->data.data(), batch.data(), rows * k_ * sizeof(std::int64_t));
      pool_->give_back(std::move(batch));
    } else {
      lent->data = std::move(batch);
      lent->pool = pool_;
    }
    const nb::gil_scoped_acquire gil;
    std::int64_t* const data = lent->data.data();
    nb::capsule keeper(lent.get(), [](void* p) noexcept { delete static_cast<lent_batch*>(p); });
    lent.release();
    callable_(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>(data, {rows, k_}, keeper));
  }

 private:
  const nb::object& callable_;
  const std::size_t k_, batch_size_;
  const std::shared_ptr<batch_pool> pool_;
};

template <class Vertex>
std::int64_t list_cliques(const in<std::int64_t>& offsets, const in<Vertex>& neighbors, std::int64_t begin,
                          std::int64_t end, int k, const in<std::int64_t>& names, std::int64_t batch_size,
                          const nb::object& sink, int threads, const control_words& words) {
  const auto graph = as_csr(offsets, neighbors);
  if (begin < 0 || end > graph.num_entries()) throw nb::value_error("task outside the graph");
  if (static_cast<std::int64_t>(names.size()) != graph.num_vertices) throw nb::value_error("a name per vertex");
  if (k < 3 || batch_size < 1) throw nb::value_error("k must be at least 3, batch_size at least 1");
  const auto ctl = as_control(words);
  python_sink batches(sink, static_cast<std::size_t>(k), static_cast<std::size_t>(batch_size), threads);
  const nb::gil_scoped_release nogil;
  return mining::list_cliques(graph, begin, end, k, names.data(), batch_size, batches, threads, ctl);
}

template <class Vertex>
void bind_for(nb::module_& m) {
  m.def("mining_clique_lists", &list_cliques<Vertex>, nb::arg("offsets").noconvert(), nb::arg("neighbors").noconvert(),
        nb::arg("begin"), nb::arg("end"), nb::arg("k"), nb::arg("names").noconvert(), nb::arg("batch_size"),
        nb::arg("sink"), nb::arg("threads"), nb::arg("control").noconvert());
}

}  // namespace

void bind_mining_lists(nb::module_& m) {
  bind_for<std::int32_t>(m);
  bind_for<std::int64_t>(m);
}

}  // namespace graphlode::bind
