// id_table.hpp - one table of an id_map, in one of three forms.
//
//   plain    ids are the positions; nothing is stored
//   direct   slots[id] is the position, for ids that are small and not negative
//   hashed   open addressing with linear probing, a 32-bit word per slot
//
// A word of the hashed form holds a position in its low bits and a tag in the others: a table of 2^k slots needs k bits
// for a position, so 32 - k bits of the hash are left to reject most other ids without reading their names. A
// lookup reads a line of slots and the name at the position; ids go through in blocks, so that these reads overlap.
//
// Names and slots are held separately: the names of a store grow while its slots still have room, and the other way
// round. Readers see entries that arrive in a shared table. They pass over positions from their limit on.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "graphlode/graph/id_set.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/prefetch.hpp"

namespace graphlode::graph {

class id_table {
 public:
  using word = std::uint32_t;
  enum class form { plain, direct, hashed };
  static constexpr word vacant = ~word{0};
  static constexpr std::size_t block_size = 64;

  id_table() = default;
  id_table(form kind, std::shared_ptr<buffer<word>> slots, std::shared_ptr<buffer<std::int64_t>> names)
      : kind_(kind),
        position_bits_(kind == form::hashed ? std::countr_zero(slots->size()) : 32),
        slots_(std::move(slots)),
        names_(std::move(names)) {}

  form kind() const noexcept { return kind_; }
  const std::shared_ptr<buffer<word>>& slots() const noexcept { return slots_; }
  const std::shared_ptr<buffer<std::int64_t>>& names() const noexcept { return names_; }
  std::size_t num_slots() const noexcept { return slots_ ? slots_->size() : 0; }
  std::size_t num_names() const noexcept { return names_ ? names_->size() : 0; }

  // The position of each id among the first `limit`, -1 for others.
  template <class Id, class Position>
  void find(const Id* ids, std::size_t size, std::int64_t limit, Position* positions) const {
    switch (kind_) {
      case form::plain:
        for (std::size_t i = 0; i < size; ++i) {
          const auto id = static_cast<std::int64_t>(ids[i]);
          positions[i] = static_cast<Position>(id >= 0 && id < limit ? id : -1);
        }
        return;
      case form::direct:
        for (std::size_t i = 0; i < size; ++i) {
          const auto id = static_cast<std::uint64_t>(static_cast<std::int64_t>(ids[i]));
          const std::int64_t found = id < slots_->size() ? load((*slots_)[id]) : vacant;
          positions[i] = static_cast<Position>(found < limit ? found : -1);
        }
        return;
      case form::hashed:
        for (std::size_t from = 0; from < size; from += block_size)
          find_block(ids + from, std::min(block_size, size - from), limit, positions + from);
    }
  }

  // Ids first .. last - 1 of the names enter the slots, where they are not yet. With `shared`, other threads add others
  // at the same time.
  template <bool shared>
  void add(std::int64_t first, std::int64_t last) const noexcept {
    const std::int64_t* const names = names_->data();
    if (kind_ == form::direct) {
      for (auto at = first; at < last; ++at)
        store((*slots_)[static_cast<std::size_t>(names[at])], static_cast<word>(at));
      return;
    }
    constexpr auto step = static_cast<std::int64_t>(block_size);
    std::array<std::uint64_t, block_size> hashes;
    for (auto from = first; from < last; from += step) {
      const auto size = static_cast<std::size_t>(std::min(step, last - from));
      for (std::size_t i = 0; i < size; ++i) {
        hashes[i] = mixed(static_cast<std::uint64_t>(names[from + static_cast<std::int64_t>(i)]));
        prefetch_to_write(slots_->data() + home(hashes[i]));
      }
      for (std::size_t i = 0; i < size; ++i)
        enter<shared>(home(hashes[i]), tag(hashes[i]) | static_cast<word>(from + static_cast<std::int64_t>(i)));
    }
  }

 private:
  static word load(word& slot) noexcept { return std::atomic_ref(slot).load(std::memory_order_acquire); }
  static void store(word& slot, word value) noexcept { std::atomic_ref(slot).store(value, std::memory_order_release); }

  std::size_t home(std::uint64_t hash) const noexcept { return hash >> (64 - position_bits_); }
  std::size_t after(std::size_t slot) const noexcept { return (slot + 1) & (slots_->size() - 1); }
  word tag(std::uint64_t hash) const noexcept { return static_cast<word>(hash << position_bits_); }
  bool has_tag(word found, word tag) const noexcept {
    return static_cast<std::uint64_t>(found ^ tag) >> position_bits_ == 0;
  }
  std::int64_t position(word found) const noexcept {
    return static_cast<std::int64_t>(found & ((std::uint64_t{1} << position_bits_) - 1));
  }

  // From `slot` on, the first position below the limit that has the tag; -1 at a vacant slot.
  std::int64_t next_candidate(std::size_t& slot, word tag, std::int64_t limit) const noexcept {
    for (;; slot = after(slot)) {
      const word found = load((*slots_)[slot]);
      if (found == vacant) return -1;
      if (has_tag(found, tag) && position(found) < limit) return position(found);
    }
  }

  template <class Id, class Position>
  void find_block(const Id* ids, std::size_t size, std::int64_t limit, Position* positions) const {
    const std::int64_t* const names = names_->data();
    std::array<std::size_t, block_size> slots;
    std::array<word, block_size> tags;
    std::array<std::int64_t, block_size> names_wanted, candidates;
    for (std::size_t i = 0; i < size; ++i) {
      names_wanted[i] = static_cast<std::int64_t>(ids[i]);
      const auto hash = mixed(static_cast<std::uint64_t>(names_wanted[i]));
      slots[i] = home(hash);
      tags[i] = tag(hash);
      prefetch(slots_->data() + slots[i]);
    }
    for (std::size_t i = 0; i < size; ++i) {
      candidates[i] = next_candidate(slots[i], tags[i], limit);
      if (candidates[i] >= 0) prefetch(names + candidates[i]);
    }
    for (std::size_t i = 0; i < size; ++i) {
      auto candidate = candidates[i];
      while (candidate >= 0 && names[candidate] != names_wanted[i]) {
        slots[i] = after(slots[i]);
        candidate = next_candidate(slots[i], tags[i], limit);
      }
      positions[i] = static_cast<Position>(candidate);
    }
  }

  template <bool shared>
  void enter(std::size_t slot, word value) const noexcept {
    for (;; slot = after(slot)) {
      word& place = (*slots_)[slot];
      word found = std::atomic_ref(place).load(std::memory_order_relaxed);
      if (found != vacant) continue;
      if constexpr (!shared) return store(place, value);
      if (std::atomic_ref(place).compare_exchange_strong(found, value, std::memory_order_release)) return;
    }
  }

  form kind_ = form::plain;
  int position_bits_ = 32;
  std::shared_ptr<buffer<word>> slots_;
  std::shared_ptr<buffer<std::int64_t>> names_;  // in order of arrival
};

}  // namespace graphlode::graph
