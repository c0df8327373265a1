// store/sort.cpp - sorts a batch by key: a radix sort over the bits in which its keys differ.
//
// Keys of a graph with 2^20 vertices differ in 40 of their 64 bits, those of one row in 20. The keys are compressed to
// these bits, split by their highest bits into buckets that fit a cache, and each bucket is sorted from the lowest
// digit to the highest. All steps are stable, so of equal keys the last one in the batch comes last. The keys are
// expanded again while repetitions are dropped. Unweighted entries are one word; weighted ones also have their place in
// the batch.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "graphlode/errors.hpp"
#include "graphlode/parallel.hpp"
#include "graphlode/store/updates.hpp"

namespace graphlode::packed {
namespace {

constexpr std::size_t comparison_sort_below = 192;
constexpr std::size_t split_from = 1 << 15;  // entries that one thread sorts in its cache
constexpr int most_digit_bits = 11;
constexpr std::int64_t entries_between_checks = 1 << 20;

// For passes that do next to nothing per entry.
int pass_threads(std::size_t size, int threads) {
  return worthwhile_threads(static_cast<std::int64_t>(size) / 2, threads);
}

// Like parallel_parts, but each thread's part comes in blocks, and a stop takes effect between them.
template <class Work>
void checked_parts(std::size_t size, int wanted, const control& ctl, Work&& work) {
  const int threads = pass_threads(size, wanted);
  parallel_parts(static_cast<std::int64_t>(size), threads, [&](int thread, std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += entries_between_checks) {
      ctl.check();
      work(static_cast<std::size_t>(thread), static_cast<std::size_t>(begin),
           static_cast<std::size_t>(std::min(end, begin + entries_between_checks)));
    }
  });
}

struct plain_entry {
  key_type key;
};
struct placed_entry {
  key_type key;
  std::size_t place;
};

// The bits in which keys differ, and the conversion of keys to these bits. A squeezed key has room for two flags: bit
// 63 for deletes, bit 62 for entries that come from the array.
struct key_bits {
  int row_bits = 0, neighbor_bits = 0;
  key_type common = 0;  // the bits in which all keys agree
  static constexpr key_type stored_flag = key_type{1} << 62;
  static constexpr key_type flags = delete_flag | stored_flag;

  int total() const { return row_bits + neighbor_bits; }
  static key_type low(key_type key, int bits) { return key & ((key_type{1} << bits) - 1); }
  key_type squeeze(key_type key) const { return low(key >> 32, row_bits) << neighbor_bits | low(key, neighbor_bits); }
  key_type widen(key_type squeezed) const {
    return common | low(squeezed >> neighbor_bits, row_bits) << 32 | low(squeezed, neighbor_bits);
  }
};

void require_range(std::span<const key_type> keys, std::int64_t num_rows) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (row_of(keys[i]) >= num_rows || row_of(keys[i]) < 0)
      throw input_error("key " + std::to_string(i) + " is of row " + std::to_string(keys[i] >> 32) +
                        ", but there are " + std::to_string(num_rows) + " rows");
    if (keys[i] & present_flag) throw input_error("key " + std::to_string(i) + " has a neighbor above 2^31 - 1");
  }
}

key_bits bits_of(std::span<const key_type> keys, std::int64_t num_rows, int threads, const control& ctl) {
  struct seen {
    key_type any = 0, different = 0, highest = 0;
  };
  if (keys.empty()) return {};
  std::vector<seen> by_thread(static_cast<std::size_t>(threads));
  checked_parts(keys.size(), threads, ctl, [&](std::size_t thread, std::size_t begin, std::size_t end) {
    seen mine = by_thread[thread];
    for (auto i = begin; i < end; ++i) {
      mine.any |= keys[i];
      mine.different |= keys[i] ^ keys[0];
      mine.highest = std::max(mine.highest, keys[i]);
    }
    by_thread[thread] = mine;
  });
  seen all;
  for (const auto& one : by_thread)
    all = {all.any | one.any, all.different | one.different, std::max(all.highest, one.highest)};
  if ((all.any & present_flag) || row_of(all.highest) >= num_rows) require_range(keys, num_rows);
  key_bits bits{static_cast<int>(std::bit_width(all.different >> 32)),
                static_cast<int>(std::bit_width(all.different & 0xFFFFFFFF))};
  bits.common = keys[0] & ~bits.widen(~key_type{0});
  return bits;
}

template <class Entry>
std::size_t digit_of(const Entry& entry, int shift, int bits) {
  return static_cast<std::size_t>(key_bits::low(entry.key >> shift, bits));
}

// Partitions entries stably by the `bits` bits from `shift` on. Returns where each value begins, and the end.
template <class Entry>
std::vector<std::size_t> split(const buffer<Entry>& from, buffer<Entry>& to, int shift, int bits, int threads,
                               const control& ctl) {
  const std::size_t values = std::size_t{1} << bits;
  const auto num_parts = static_cast<std::size_t>(pass_threads(from.size(), threads));
  std::vector<std::size_t> heads(values * num_parts, 0), starts(values + 1);
  checked_parts(from.size(), threads, ctl, [&](std::size_t thread, std::size_t begin, std::size_t end) {
    auto* head = heads.data() + values * thread;
    for (auto i = begin; i < end; ++i) ++head[digit_of(from[i], shift, bits)];
  });
  std::size_t total = 0;
  for (std::size_t value = 0; value < values; ++value) {
    starts[value] = total;
    for (std::size_t part = 0; part < num_parts; ++part) total += std::exchange(heads[values * part + value], total);
  }
  starts[values] = total;
  checked_parts(from.size(), threads, ctl, [&](std::size_t thread, std::size_t begin, std::size_t end) {
    auto* head = heads.data() + values * thread;
    for (auto i = begin; i < end; ++i) {
      const Entry entry = from[i];
      to[head[digit_of(entry, shift, bits)]++] = entry;
    }
  });
  return starts;
}

// Sorts `size` entries by their lowest `bits` bits from one array into the other. Both arrays are written.
template <class Entry>
void sort_bucket(Entry* from, Entry* to, std::size_t size, int bits) {
  if (size < comparison_sort_below || bits == 0) {
    std::stable_sort(from, from + size,
                     [&](const Entry& a, const Entry& b) { return digit_of(a, 0, bits) < digit_of(b, 0, bits); });
    std::copy_n(from, size, to);
    return;
  }
  int passes = 1;  // an odd number of passes ends in the other array
  while (bits > passes * most_digit_bits) passes += 2;
  std::array<std::size_t, std::size_t{1} << most_digit_bits> heads;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = bits * pass / passes, width = bits * (pass + 1) / passes - shift;
    std::fill_n(heads.begin(), std::size_t{1} << width, std::size_t{0});
    for (std::size_t i = 0; i < size; ++i) ++heads[digit_of(from[i], shift, width)];
    std::size_t total = 0;
    for (std::size_t value = 0; value >> width == 0; ++value) total += std::exchange(heads[value], total);
    for (std::size_t i = 0; i < size; ++i) to[heads[digit_of(from[i], shift, width)]++] = from[i];
    std::swap(from, to);
  }
}

template <class Entry>
void sort_entries(buffer<Entry>& entries, int bits, int threads, const control& ctl) {
  buffer<Entry> spare(entries.size());
  if (entries.size() < split_from) {
    sort_bucket(entries.data(), spare.data(), entries.size(), bits);
    std::swap(entries, spare);
    return;
  }
  const int wanted = static_cast<int>(std::bit_width(entries.size() / split_from)) + 4;  // buckets are uneven
  const int high = std::min({wanted, most_digit_bits, bits}), low = bits - high;
  const auto starts = split(entries, spare, low, high, threads, ctl);
  parallel_chunks(0, std::int64_t{1} << high, 1, threads, ctl, [&](int, std::int64_t bucket, std::int64_t) {
    const auto begin = starts[static_cast<std::size_t>(bucket)], end = starts[static_cast<std::size_t>(bucket) + 1];
    sort_bucket(spare.data() + begin, entries.data() + begin, end - begin, low);
  });
}

// visit(from, to) for each run of equal keys that begins in begin .. end - 1.
template <class Entry, class Visit>
void each_run(const buffer<Entry>& entries, std::size_t begin, std::size_t end, Visit&& visit) {
  const auto bare = [&](std::size_t i) { return entries[i].key & ~key_bits::flags; };
  while (begin > 0 && begin < end && bare(begin) == bare(begin - 1)) ++begin;  // skip a run that begins earlier
  for (auto from = begin, to = from; from < end; from = to) {
    for (to = from + 1; to < entries.size() && bare(to) == bare(from);) ++to;
    visit(from, to);
  }
}

// Keeps at most one update of each run of equal keys: stays(to) decides, write(thread, from, to, out) writes it.
template <class Entry, class Stays, class Write>
void keep_runs(const buffer<Entry>& entries, updates& result, bool weighted, int threads, const control& ctl,
               Stays&& stays, Write&& write) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(threads), 0);
  checked_parts(entries.size(), threads, ctl, [&](std::size_t thread, std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    each_run(entries, begin, end, [&](std::size_t, std::size_t to) { count += stays(to); });
    counts[thread] += count;
  });
  for (auto& count : counts) result.size += std::exchange(count, result.size);
  result.keys = buffer<key_type>(result.size);
  if (weighted) result.weights = buffer<double>(result.size);
  checked_parts(entries.size(), threads, ctl, [&](std::size_t thread, std::size_t begin, std::size_t end) {
    std::size_t out = counts[thread];
    each_run(entries, begin, end, [&](std::size_t from, std::size_t to) {
      if (stays(to)) write(thread, from, to, out++);
    });
    counts[thread] = out;
  });
}

template <class Entry>
Entry entry_of(key_type key, std::size_t place) {
  if constexpr (sizeof(Entry) == sizeof(plain_entry))
    return {key};
  else
    return {key, place};
}

template <class Entry>
updates sort_batch_as(const batch_view& batch, std::int64_t num_rows, int threads, const control& ctl) {
  const auto bits = bits_of(batch.keys, num_rows, threads, ctl);
  buffer<Entry> entries(batch.keys.size());
  checked_parts(entries.size(), threads, ctl, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i)
      entries[i] =
          entry_of<Entry>(bits.squeeze(batch.keys[i]) | (batch.deletes && batch.deletes[i] ? delete_flag : 0), i);
  });
  sort_entries(entries, bits.total(), threads, ctl);
  updates result;
  keep_runs(
      entries, result, batch.weights != nullptr, threads, ctl, [](std::size_t) { return true; },
      [&](std::size_t, std::size_t, std::size_t to, std::size_t out) {
        const Entry& last = entries[to - 1];
        result.keys[out] = bits.widen(last.key) | (last.key & delete_flag);
        if constexpr (sizeof(Entry) > sizeof(plain_entry)) result.weights[out] = batch.weights[last.place];
      });
  return result;
}

// Existing entries come first, so that the later batch wins. The places of the batch follow those of the existing
// entries.
template <class Entry>
updates sort_together_as(const packed_rows& rows, const batch_view& batch, int threads, const control& ctl) {
  bits_of(batch.keys, rows.num_rows(), threads, ctl);  // for its checks
  auto stored = rows.all(threads, ctl);
  const auto own = stored.keys.size();
  buffer<key_type> keys(own + batch.keys.size());
  std::copy(stored.keys.begin(), stored.keys.end(), keys.begin());
  std::copy(batch.keys.begin(), batch.keys.end(), keys.begin() + own);
  const auto bits = bits_of(keys, rows.num_rows(), threads, ctl);
  buffer<Entry> entries(keys.size());
  checked_parts(keys.size(), threads, ctl, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i) {
      const key_type flag =
          i < own ? key_bits::stored_flag : (batch.deletes && batch.deletes[i - own] ? delete_flag : key_type{0});
      entries[i] = entry_of<Entry>(bits.squeeze(keys[i]) | flag, i);
    }
  });
  keys.reset();
  sort_entries(entries, bits.total(), threads, ctl);

  // The weight after several writes of a key, given the places of the first and the last.
  const auto weight_of = [&](std::size_t first, std::size_t last) {
    if (last >= own && batch.weights) return batch.weights[last - own];
    return first < own ? stored.weights[first] : 1.0;
  };
  updates result;
  struct alignas(64) counts {
    std::int64_t inserted = 0, changed = 0;
  };
  std::vector<counts> by_thread(static_cast<std::size_t>(threads));
  const auto was_there = [&](std::size_t from) { return (entries[from].key & key_bits::stored_flag) != 0; };
  keep_runs(
      entries, result, rows.weighted(), threads, ctl, [&](std::size_t to) { return !is_delete(entries[to - 1].key); },
      [&](std::size_t thread, std::size_t from, std::size_t to, std::size_t out) {
        const Entry& last = entries[to - 1];
        result.keys[out] = bits.widen(last.key);
        if constexpr (sizeof(Entry) > sizeof(plain_entry)) {
          result.weights[out] = weight_of(entries[from].place, last.place);
          if (was_there(from) && !same_bits(stored.weights[entries[from].place], result.weights[out]))
            ++by_thread[thread].changed;
        }
        by_thread[thread].inserted += !was_there(from);
      });
  for (const auto& one : by_thread) {
    result.inserted += one.inserted;
    result.changed += one.changed;
  }
  result.deleted = static_cast<std::int64_t>(own) + result.inserted - static_cast<std::int64_t>(result.size);
  return result;
}

}  // namespace

updates sort_batch(const packed_rows& rows, const batch_view& batch, int threads, const control& ctl) {
  const int used = worthwhile_threads(static_cast<std::int64_t>(batch.keys.size()), threads);
  if (batch.weights) return sort_batch_as<placed_entry>(batch, rows.num_rows(), used, ctl);
  auto result = sort_batch_as<plain_entry>(batch, rows.num_rows(), used, ctl);
  result.keep_weights = true;
  if (rows.weighted()) {
    result.weights = buffer<double>(result.size);
    checked_parts(result.size, threads, ctl, [&](std::size_t, std::size_t begin, std::size_t end) {
      std::fill(result.weights.begin() + begin, result.weights.begin() + end, 1.0);
    });
  }
  return result;
}

updates sort_together(const packed_rows& rows, const batch_view& batch, int threads, const control& ctl) {
  const auto size = rows.num_entries() + static_cast<std::int64_t>(batch.keys.size());
  const int used = worthwhile_threads(size, threads);
  return rows.weighted() ? sort_together_as<placed_entry>(rows, batch, used, ctl)
                         : sort_together_as<plain_entry>(rows, batch, used, ctl);
}

}  // namespace graphlode::packed
