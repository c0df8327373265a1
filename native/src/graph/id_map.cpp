// id_map.cpp - a batch is located in three passes. The first looks every id up. If insertions name unknown ids, the
// second gathers these and ranks them, and the third gives them positions after those that are there.
#include "graphlode/graph/id_map.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "graphlode/graph/id_set.hpp"
#include "graphlode/parallel.hpp"
#include "id_table.hpp"

namespace graphlode::graph {
namespace {

// In place of a position, between the passes.
constexpr std::int32_t arriving = -1;  // unknown, and named by an insertion
constexpr std::int32_t unknown = -2;   // unknown, and named by a deletion

constexpr std::int64_t ids_between_checks = 1 << 16;
constexpr std::int64_t fewest_slots = 1024;
constexpr std::int64_t small_id = 1 << 16;       // below it a direct table is always affordable
constexpr std::int64_t direct_slots_per_id = 4;  // which take as much as a hashed table that was just made

int lookup_threads(std::int64_t ids, int threads) {
  return worthwhile_threads(4 * ids, threads);  // a lookup takes longer than a step
}

struct part_counts {
  std::int64_t arriving = 0, unknown = 0;
};

part_counts operator+(part_counts a, part_counts b) { return {a.arriving + b.arriving, a.unknown + b.unknown}; }

// What the passes share.
template <class Id>
struct batch_pass {
  const named_edges<Id>& edges;
  id_admission& found;
  std::vector<part_counts> parts;
  const control& ctl;

  std::int64_t size() const { return static_cast<std::int64_t>(edges.src.size()); }
  int threads() const { return static_cast<int>(parts.size()); }

  // work(part, begin, end) for blocks of each part in ascending order, every part on a thread of its own.
  template <class Work>
  void each_block(Work&& work) {
    parallel_parts(size(), threads(), [&](int thread, std::int64_t begin, std::int64_t end) {
      for (; begin < end; begin += ids_between_checks) {
        ctl.check();
        work(static_cast<std::size_t>(thread), static_cast<std::size_t>(begin),
             static_cast<std::size_t>(std::min(end, begin + ids_between_checks)));
      }
    });
  }

  void look_up(const id_table& table, std::int64_t limit) {
    each_block([&](std::size_t part, std::size_t begin, std::size_t end) {
      std::int32_t *const src = found.src.data(), *const dst = found.dst.data();
      table.find(edges.src.data() + begin, end - begin, limit, src + begin);
      table.find(edges.dst.data() + begin, end - begin, limit, dst + begin);
      part_counts counts;
      for (auto i = begin; i < end; ++i) {
        if ((src[i] | dst[i]) >= 0) continue;
        const bool is_deleted = edges.is_deleted(i);
        for (auto* end_of_edge : {src + i, dst + i}) {
          if (*end_of_edge >= 0) continue;
          *end_of_edge = is_deleted ? unknown : arriving;
          ++(is_deleted ? counts.unknown : counts.arriving);
        }
      }
      parts[part] = parts[part] + counts;
    });
  }

  // Where the arriving ids of each part begin in a list of all.
  std::vector<std::int64_t> begins() const {
    std::vector<std::int64_t> result;
    std::transform_exclusive_scan(parts.begin(), parts.end(), std::back_inserter(result), std::int64_t{0}, std::plus{},
                                  [](const part_counts& part) { return part.arriving; });
    return result;
  }

  void gather(std::int64_t* missing) {
    auto next = begins();
    each_block([&](std::size_t part, std::size_t begin, std::size_t end) {
      auto at = next[part];
      for (auto i = begin; i < end; ++i) {
        if (found.src[i] == arriving) missing[at++] = static_cast<std::int64_t>(edges.src[i]);
        if (found.dst[i] == arriving) missing[at++] = static_cast<std::int64_t>(edges.dst[i]);
      }
      next[part] = at;
    });
  }

  // What a deletion names may arrive with an insertion of the same batch.
  std::int32_t position_if_arriving(Id id) const {
    const auto& ids = found.arrival.ids;
    const auto wanted = static_cast<std::int64_t>(id);
    const auto* const at = std::lower_bound(ids.begin(), ids.end(), wanted);
    return at != ids.end() && *at == wanted ? static_cast<std::int32_t>(found.arrival.first + (at - ids.begin()))
                                            : unknown;
  }

  void fill(const std::int32_t* ranks) {
    auto next = begins();
    std::vector<std::int64_t> dropped(parts.size(), 0);
    each_block([&](std::size_t part, std::size_t begin, std::size_t end) {
      const auto first = static_cast<std::int32_t>(found.arrival.first);
      auto at = next[part];
      auto drops = dropped[part];
      for (auto i = begin; i < end; ++i) {
        auto &tail = found.src[i], &head = found.dst[i];
        if ((tail | head) >= 0) continue;
        if (tail == arriving) tail = first + ranks[at++];
        if (head == arriving) head = first + ranks[at++];
        if (tail == unknown) tail = position_if_arriving(edges.src[i]);
        if (head == unknown) head = position_if_arriving(edges.dst[i]);
        if ((tail | head) >= 0) continue;
        drops += edges.src[i] != edges.dst[i];
        tail = head = 0;
      }
      next[part] = at;
      dropped[part] = drops;
    });
    found.dropped = std::accumulate(dropped.begin(), dropped.end(), std::int64_t{0});
  }
};

std::int64_t with_slack(std::int64_t needed) { return std::max<std::int64_t>(fewest_slots, needed + needed / 4); }

std::shared_ptr<buffer<id_table::word>> vacant_slots(std::size_t size, int threads) {
  auto slots = std::make_shared<buffer<id_table::word>>(size);
  parallel_parts(static_cast<std::int64_t>(size), worthwhile_threads(static_cast<std::int64_t>(size) / 8, threads),
                 [&](int, std::int64_t begin, std::int64_t end) {
                   std::fill(slots->data() + begin, slots->data() + end, id_table::vacant);
                 });
  return slots;
}

// At most two thirds full when it is made; see `has_room`.
std::size_t hashed_slots_for(std::int64_t count) {
  return std::bit_ceil(static_cast<std::size_t>(std::max(fewest_slots, count + count / 2)));
}

bool has_room(const id_table& table, std::int64_t count, std::int64_t lowest, std::int64_t highest) {
  const auto num_slots = static_cast<std::int64_t>(table.num_slots());
  switch (table.kind()) {
    case id_table::form::plain:
      return false;
    case id_table::form::direct:
      return lowest >= 0 && highest < num_slots;
    case id_table::form::hashed:
      return count <= num_slots / 4 * 3;
  }
  return false;
}

}  // namespace

id_map::id_map() : table_(std::make_shared<const id_table>()) {}
id_map::~id_map() = default;

std::shared_ptr<const id_table> id_map::table() const {
  const std::lock_guard lock(table_lock_);
  return table_;
}

void id_map::find(std::span<const std::int64_t> ids, std::int64_t below, std::int64_t* positions) const {
  const auto limit = std::min(below, count());  // before the table: what it counts is in every table from then on
  table()->find(ids.data(), ids.size(), limit, positions);
}

std::shared_ptr<const buffer<std::int64_t>> id_map::names() const { return table()->names(); }

std::int64_t id_map::bytes() const {
  const auto present = table();
  return static_cast<std::int64_t>(present->num_slots() * sizeof(id_table::word) +
                                   present->num_names() * sizeof(std::int64_t));
}

template <class Id>
id_admission id_map::admit(const named_edges<Id>& edges, std::int64_t most, int threads, const control& ctl) const {
  const auto size = edges.src.size();
  const auto present = table();
  id_admission result{buffer<std::int32_t>(size), buffer<std::int32_t>(size), 0, count(), {}};
  result.arrival.first = count();
  const auto num_parts = lookup_threads(2 * static_cast<std::int64_t>(size), threads);
  batch_pass<Id> pass{edges, result, std::vector<part_counts>(static_cast<std::size_t>(num_parts)), ctl};
  pass.look_up(*present, count());
  const auto all = std::accumulate(pass.parts.begin(), pass.parts.end(), part_counts{});
  if (all.arriving == 0 && all.unknown == 0) return result;

  buffer<std::int64_t> missing(static_cast<std::size_t>(all.arriving));
  buffer<std::int32_t> ranks(missing.size());
  if (all.arriving > 0) {
    pass.gather(missing.data());
    result.arrival.ids = rank_ids({missing.data(), missing.size()}, ranks.data(), num_parts, ctl);
    result.num_vertices += static_cast<std::int64_t>(result.arrival.ids.size());
    if (result.num_vertices > most) return result;
  }
  missing.reset();
  pass.fill(ranks.data());
  ranks.reset();
  if (all.arriving > 0) take_memory_for(result.arrival, threads);
  return result;
}

template id_admission id_map::admit(const named_edges<std::int32_t>&, std::int64_t, int, const control&) const;
template id_admission id_map::admit(const named_edges<std::int64_t>&, std::int64_t, int, const control&) const;

// Makes the table that takes the place of the present one, if the new ids do not fit there.
void id_map::take_memory_for(id_arrival& arrival, int threads) const {
  const auto& ids = arrival.ids;
  const auto present = table();
  const auto first = arrival.first, last = first + static_cast<std::int64_t>(ids.size());
  if (present->kind() == id_table::form::plain && ids[0] == first && ids[ids.size() - 1] == last - 1) return;

  const auto lowest = first ? std::min(lowest_, ids[0]) : ids[0];
  const auto highest = first ? std::max(highest_, ids[ids.size() - 1]) : ids[ids.size() - 1];
  const bool slots_suffice = has_room(*present, last, lowest, highest);
  auto names = present->names();
  if (static_cast<std::int64_t>(present->num_names()) < last) {
    names = std::make_shared<buffer<std::int64_t>>(static_cast<std::size_t>(with_slack(last)));
    if (present->names())
      std::copy_n(present->names()->begin(), first, names->begin());
    else
      std::iota(names->begin(), names->begin() + first, std::int64_t{0});
  } else if (slots_suffice) {
    return;
  }
  std::copy(ids.begin(), ids.end(), names->begin() + first);  // where no reader looks
  if (slots_suffice) {
    arrival.larger = std::make_shared<const id_table>(present->kind(), present->slots(), std::move(names));
    return;
  }

  using form = id_table::form;
  const bool direct = lowest >= 0 && highest < std::max(small_id, direct_slots_per_id * last);
  const auto num_slots = direct ? static_cast<std::size_t>(with_slack(highest + 1)) : hashed_slots_for(last);
  auto larger = std::make_shared<const id_table>(direct ? form::direct : form::hashed, vacant_slots(num_slots, threads),
                                                 std::move(names));
  parallel_parts(last, lookup_threads(last, threads),
                 [&](int, std::int64_t begin, std::int64_t end) { larger->add<true>(begin, end); });
  arrival.larger = std::move(larger);
}

void id_map::keep(id_arrival& arrival) noexcept {
  const auto& ids = arrival.ids;
  if (ids.size() == 0) return;
  const auto present = table();
  const auto first = arrival.first, last = first + static_cast<std::int64_t>(ids.size());
  const auto& target = arrival.larger ? *arrival.larger : *present;
  if (target.kind() != id_table::form::plain) {
    std::copy(ids.begin(), ids.end(), target.names()->begin() + first);
    // Slots of its own are full already.
    if (target.slots() == present->slots()) target.add<false>(first, last);
  }
  lowest_ = first ? std::min(lowest_, ids[0]) : ids[0];
  highest_ = first ? std::max(highest_, ids[ids.size() - 1]) : ids[ids.size() - 1];
  if (arrival.larger) {
    const std::lock_guard lock(table_lock_);
    table_ = std::move(arrival.larger);  // `present` keeps the one before until the lock is given up
  }
  count_.store(last, std::memory_order_release);
}

}  // namespace graphlode::graph
