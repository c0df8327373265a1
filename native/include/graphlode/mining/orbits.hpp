// orbits.hpp - raw arrays from which the orbits of all vertices or edges follow.
//
// graphlode/mining/orbits.py defines each array. Arrays are indexed by rank or by edge id, `fans` by entry. They are
// 64-bit and wrap around; the caller knows when that is possible.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "graphlode/control.hpp"
#include "graphlode/memory.hpp"
#include "graphlode/mining/supports.hpp"

namespace graphlode::mining::motifs {

// clang-format off
enum class raw : int {
  e5, e11,
  o12, o25, o34, o36, o40, o46, o48, o49, o50, o51, o52, o54, o59, o60, o61, o62, o63, o64, o65, o66, o68, o69, o70,
  o71, o72,
  e7, fans, e23, e26, e28, e30, e33, e36, e39, e42, e43, e44, e45, e47, e50, e52, e53, e54, e56, e57, e58, e59, e60,
  e61, e63, e64, e65, e66, e67,
};
inline constexpr std::array<std::string_view, 56> raw_names = {
  "e5", "e11",
  "o12", "o25", "o34", "o36", "o40", "o46", "o48", "o49", "o50", "o51", "o52", "o54", "o59", "o60", "o61", "o62",
  "o63", "o64", "o65", "o66", "o68", "o69", "o70", "o71", "o72",
  "e7", "fans", "e23", "e26", "e28", "e30", "e33", "e36", "e39", "e42", "e43", "e44", "e45", "e47", "e50", "e52",
  "e53", "e54", "e56", "e57", "e58", "e59", "e60", "e61", "e63", "e64", "e65", "e66", "e67",
};
// clang-format on

// Raw arrays of any device; null for missing ones.
using raw_pointers = std::array<const std::int64_t*, raw_names.size()>;

// Some arrays count each number several times, because its parts are found in several rows.
constexpr std::int64_t multiple_of(raw which) {
  switch (which) {
    case raw::o12:
    case raw::o34:
    case raw::o49:
    case raw::o54:
    case raw::o62:
    case raw::o64:
    case raw::o66:
    case raw::o69:
    case raw::e58:
      return 2;
    default:
      return 1;
  }
}

// Whether the array is needed for vertices or for edges, for patterns of up to `size` vertices.
bool is_raw_of(raw which, int size, bool of_edges);
// Its length: one number per vertex, edge or entry.
std::int64_t raw_length(raw which, const supported_view& graph);

// The requested arrays. The others are empty and ignore additions.
class raw_arrays {
 public:
  raw_arrays() = default;
  raw_arrays(const supported_view& graph, int size, bool of_edges);

  bool wants(raw which) const { return wanted_[static_cast<std::size_t>(which)]; }
  void want(raw which, const supported_view& graph);
  void drop(raw which);
  std::int64_t operator()(raw which, std::int64_t i) const { return at(which)[static_cast<std::size_t>(i)]; }
  // Several threads may add to the same number.
  void add(raw which, std::int64_t i, std::uint64_t value) {
    if (value && wants(which))
      std::atomic_ref(at(which)[static_cast<std::size_t>(i)])
          .fetch_add(static_cast<std::int64_t>(value), std::memory_order_relaxed);
  }
  // Divides the numbers of a pass that finds everything `times` times.
  void divide(raw which, std::int64_t times) {
    for (auto& value : at(which))
      value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) / static_cast<std::uint64_t>(times));
  }
  buffer<std::int64_t>& at(raw which) { return arrays_[static_cast<std::size_t>(which)]; }
  const buffer<std::int64_t>& at(raw which) const { return arrays_[static_cast<std::size_t>(which)]; }

 private:
  std::array<buffer<std::int64_t>, raw_names.size()> arrays_;
  std::array<bool, raw_names.size()> wanted_{};
};

// Counts ranges of rows. What a row contributes is the same on every device.
class orbit_counter {
 public:
  // The arrays of the view must stay where they are. `size` is 4 or 5.
  orbit_counter(const supported_view& graph, int size, bool of_edges);
  ~orbit_counter();

  // Progress is counted in rows.
  void count(std::int64_t begin, std::int64_t end, int threads, const control& ctl);
  // The contributions of all rows counted so far. Arrays that are sums of others are included only if all rows were
  // counted.
  raw_arrays take(int threads, const control& ctl);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Those sums, from arrays that several devices have added up: e5, e11 and, for edges, fans and e7.
raw_arrays compose_orbits(const supported_view& graph, const raw_pointers& given, bool of_edges, int threads,
                          const control& ctl);

}  // namespace graphlode::mining::motifs
