// store/locate.cpp - finds the leaf of each update, and whether its key exists.
//
// The row index gives the leaves between which a key lies. Only rows of hubs need a search among the separators of
// their pages. Every step waits for memory whose address the previous step has found. So updates go through the steps
// in blocks: the loads of a block overlap.
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "graphlode/parallel.hpp"
#include "graphlode/prefetch.hpp"
#include "graphlode/store/updates.hpp"

namespace graphlode::packed {
namespace {

constexpr std::size_t block_size = 32;
constexpr std::size_t updates_between_checks = 1 << 14;

struct place {
  const page* at;
  std::int64_t position;
  int leaf;
};

class locator {
 public:
  explicit locator(const packed_rows& rows) : rows_(rows) {
    const auto last = rows.num_pages() - 1;
    end_ = {&rows.page_at(last), last, page_leaves - 1};
  }

  void find(const key_type* keys, std::size_t size, place* places) const {
    for (std::size_t i = 0; i < size; ++i) rows_.prefetch_index(row_of(plain(keys[i])));
    std::array<place, block_size> last;
    for (std::size_t i = 0; i < size; ++i) {
      const auto row = row_of(plain(keys[i]));
      places[i] = named(rows_.index_of(row));
      last[i] = row + 1 < rows_.num_rows() ? named(rows_.index_of(row + 1)) : end_;
      if (places[i].leaf != last[i].leaf || places[i].at != last[i].at) ask_for_separators(places[i], last[i]);
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (places[i].leaf != last[i].leaf || places[i].at != last[i].at)
        places[i] = between(plain(keys[i]), places[i], last[i]);
      ask_for_leaf(places[i]);
    }
  }

 private:
  place named(leaf_name name) const {
    const auto number = page_number_of(name);
    return {&rows_.page_numbered(number), rows_.position_of(number), leaf_of(name)};
  }
  place between(key_type key, const place& first, const place& last) const {
    if (first.position == last.position)
      return {first.at, first.position, first.at->find_leaf(key, first.leaf, last.leaf)};
    const auto position = rows_.find_page(key, first.position, last.position);
    const page& at = rows_.page_at(position);
    const int from = position == first.position ? first.leaf : 0;
    const int to = position == last.position ? last.leaf : page_leaves - 1;
    return {&at, position, at.find_leaf(key, from, to)};
  }
  static void ask_for_separators(const place& first, const place& last) {
    const int to = first.at == last.at ? last.leaf : page_leaves - 1;
    prefetch(first.at->separators.data() + (first.leaf + to + 1) / 2);
  }
  static void ask_for_leaf(const place& where) {
    constexpr int line = 64 / sizeof(key_type);
    prefetch(where.at->counts.data() + where.leaf);
    for (int slot = 0; slot < leaf_slots; slot += line) prefetch(where.at->leaf(where.leaf) + slot);
  }

  const packed_rows& rows_;
  place end_;
};

// The result of locate_part, which writes the updates of begin .. end - 1 that have an effect to the front of that
// range, with places and flags.
struct part_result {
  std::size_t kept = 0;
  std::int64_t inserted = 0, deleted = 0, changed = 0;
};

part_result locate_part(const packed_rows& rows, updates& batch, std::size_t begin, std::size_t end,
                        const control& ctl) {
  const locator find(rows);
  part_result result;
  std::size_t out = begin;
  std::array<place, block_size> places;
  for (std::size_t from = begin; from < end; from += block_size) {
    if ((from - begin) % updates_between_checks == 0) ctl.check();
    const std::size_t size = std::min(block_size, end - from);
    find.find(batch.keys.data() + from, size, places.data());
    for (std::size_t i = 0; i < size; ++i) {
      const key_type update = batch.keys[from + i], key = plain(update);
      const page& at = *places[i].at;
      const int leaf = places[i].leaf, rank = at.rank_in_leaf(leaf, key);
      const bool present = rank < at.counts[static_cast<std::size_t>(leaf)] && at.leaf(leaf)[rank] == key;
      if (is_delete(update) ? !present
                            : present && (!batch.weighted() || batch.keep_weights ||
                                          same_bits(at.weights()[leaf * leaf_slots + rank], batch.weights[from + i])))
        continue;
      result.deleted += is_delete(update);
      result.inserted += !is_delete(update) && !present;
      result.changed += !is_delete(update) && present;
      batch.keys[out] = update | (present ? present_flag : 0);
      batch.places[out] = static_cast<std::uint32_t>(places[i].position << leaf_bits | leaf);
      if (batch.weighted()) batch.weights[out] = batch.weights[from + i];
      ++out;
    }
  }
  result.kept = out - begin;
  return result;
}

}  // namespace

void locate(const packed_rows& rows, updates& batch, int wanted, const control& ctl) {
  batch.places = buffer<std::uint32_t>(batch.size);
  const auto size = static_cast<std::int64_t>(batch.size);
  const int threads = worthwhile_threads(8 * size, wanted);  // an update takes longer than a step
  std::vector<part_result> parts(static_cast<std::size_t>(threads));
  parallel_parts(size, threads, [&](int thread, std::int64_t begin, std::int64_t end) {
    parts[static_cast<std::size_t>(thread)] =
        locate_part(rows, batch, static_cast<std::size_t>(begin), static_cast<std::size_t>(end), ctl);
  });
  std::vector<std::size_t> outs;  // where what a part keeps will begin
  std::size_t out = 0;
  bool moves = false;
  for (int thread = 0; thread < threads; ++thread) {
    const auto& part = parts[static_cast<std::size_t>(thread)];
    moves |= part.kept > 0 && out != static_cast<std::size_t>(size * thread / threads);
    outs.push_back(out);
    out += part.kept;
    batch.inserted += part.inserted;
    batch.deleted += part.deleted;
    batch.changed += part.changed;
  }
  batch.size = out;
  if (!moves) return;
  const auto gather = [&](auto& from) {
    std::remove_reference_t<decltype(from)> to(out);
    parallel_parts(size, threads, [&](int thread, std::int64_t begin, std::int64_t) {
      const auto number = static_cast<std::size_t>(thread);
      std::copy_n(from.data() + begin, parts[number].kept, to.data() + outs[number]);
    });
    from = std::move(to);
  };
  gather(batch.keys);
  gather(batch.places);
  if (batch.weighted()) gather(batch.weights);
}

}  // namespace graphlode::packed
