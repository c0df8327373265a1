// orbits.hpp - the raw arrays from which the orbits of all vertices or edges follow.
//
// What each array holds is said in the operation (graphlode/mining/orbits.py); arrays are in the order of ranks or of
// edge ids, `fans` of entries. They are 64-bit and wrap around: the caller knows when they may have.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
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

// The arrays that were asked for; the others are empty and take nothing.
class raw_arrays {
 public:
  raw_arrays(const supported_view& graph, int size, bool of_edges);

  bool wants(raw which) const { return wanted_[static_cast<std::size_t>(which)]; }
  void want(raw which, const supported_view& graph);
  void drop(raw which);
  std::int64_t operator()(raw which, std::int64_t i) const { return at(which)[static_cast<std::size_t>(i)]; }
  // Threads may add to the same number.
  void add(raw which, std::int64_t i, std::uint64_t value) {
    if (value && wants(which))
      std::atomic_ref(at(which)[static_cast<std::size_t>(i)])
          .fetch_add(static_cast<std::int64_t>(value), std::memory_order_relaxed);
  }
  // What a pass has met several times each.
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

// Size 4 or 5. Counts rows as units.
raw_arrays count_orbits(const supported_view& graph, int size, bool of_edges, int threads, const control& ctl);

}  // namespace graphlode::mining::motifs
