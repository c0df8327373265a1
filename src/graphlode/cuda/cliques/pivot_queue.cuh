// cliques/pivot_queue.cuh - branches of a search that go from warps with work to warps without, over a list of places.
//
// A warp without work draws a place and looks there until a record has come; a warp that gives work away draws a place,
// too, and leaves a record there. Places are drawn from two counters, so the n-th taker meets the n-th giver, and each
// taker looks at an address of its own. Nobody has to wait: a taker may cancel its place and leave, whoever gives then
// finds it cancelled and draws another. A giver looks for work itself when its own is done, so every record is taken,
// or is still in the list when the launch ends. The last warp to run out of work cancels the places of all who wait:
// nobody has to look at anything but its own place. A list that is used up refuses records, and their owners keep the
// work.
#pragma once
#include "warp.cuh"

struct queue_state {
  unsigned takers, givers;  // places drawn
  unsigned busy, unused;    // warps that have work
};

constexpr unsigned place_empty = 0, place_filled = 1, place_cancelled = 2;

// What other warps change is never taken from a cache.
__device__ __forceinline__ unsigned load_fresh(const unsigned* address) {
  return *static_cast<const volatile unsigned*>(address);
}

enum task_outcome { nothing_came, task_taken, task_interrupted };

struct drawn_places {
  unsigned takers, givers;

  // How many warps wait for work that nobody has given yet; less than 0: how many records wait for a warp.
  __device__ __forceinline__ int hungry() const { return static_cast<int>(takers - givers); }
};

struct task_queue {
  queue_state* state;
  unsigned* flags;    // by place
  unsigned* records;  // by place, `stride` words each
  unsigned capacity;
  int stride;

  // The places drawn so far, by one look.
  __device__ __forceinline__ drawn_places drawn() const {
    const unsigned long long both = *reinterpret_cast<const volatile unsigned long long*>(&state->takers);
    return {static_cast<unsigned>(both), static_cast<unsigned>(both >> 32)};
  }

  // All lanes of a warp store a record: word i of it is word(i). False if the list is used up.
  template <class Word>
  __device__ __forceinline__ bool give(Word word) const {
    for (;;) {
      unsigned place = 0;
      if (lane_id() == 0) place = atomicAdd(&state->givers, 1u);
      place = __shfl_sync(full_mask, place, 0);
      if (place >= capacity) {
        if (lane_id() == 0) atomicSub(&state->givers, 1u);
        return false;
      }
      unsigned* record = records + static_cast<long long>(place) * stride;
      for (int i = lane_id(); i < stride; i += 32) record[i] = word(i);
      __threadfence();  // the record must be in sight before its flag is
      __syncwarp();
      unsigned before = 0;
      if (lane_id() == 0) before = atomicCAS(&flags[place], place_empty, place_filled);
      if (__shfl_sync(full_mask, before, 0) == place_empty) return true;
    }
  }

  // All lanes of a warp take a record: take_word(i, word) is called for each word, by lane i modulo 32. Without one it
  // looks again, up to `patience` times, as long as some warp is busy, and until interrupt() is true.
  template <class Interrupt, class Take>
  __device__ __forceinline__ task_outcome take(unsigned patience, Interrupt interrupt, Take take_word) const {
    unsigned place = 0, flag = 0;
    int interrupted = 0;
    if (lane_id() == 0) {
      place = atomicAdd(&state->takers, 1u);
      flag = place < capacity ? load_fresh(&flags[place]) : place_cancelled;
    }
    place = __shfl_sync(full_mask, place, 0);
    flag = __shfl_sync(full_mask, flag, 0);
    if (flag != place_filled) {
      stop_work();
      if (lane_id() == 0) {
        if (flag == place_empty) flag = wait_at(place, patience, interrupt);
        interrupted = flag != place_filled && patience != 0 && interrupt() ? 1 : 0;
        if (flag == place_filled || interrupted) atomicAdd(&state->busy, 1u);
      }
      flag = __shfl_sync(full_mask, flag, 0);
    }
    if (__shfl_sync(full_mask, interrupted, 0)) return task_interrupted;
    if (flag != place_filled) return nothing_came;
    __threadfence();
    const unsigned* record = records + static_cast<long long>(place) * stride;
    for (int i = lane_id(); i < stride; i += 32) take_word(i, load_fresh(record + i));
    return task_taken;
  }

  // A warp has no work any more. If it was the last one, nobody else will get any.
  __device__ __forceinline__ void stop_work() const {
    unsigned busy = 0;
    if (lane_id() == 0) busy = atomicSub(&state->busy, 1u);
    if (__shfl_sync(full_mask, busy, 0) != 1) return;
    const unsigned end = min(load_fresh(&state->takers), capacity);
    for (unsigned place = load_fresh(&state->givers) + static_cast<unsigned>(lane_id()); place < end; place += 32) {
      atomicCAS(&flags[place], place_empty, place_cancelled);
    }
    __syncwarp();
  }

 private:
  // By one lane: what becomes of a place.
  template <class Interrupt>
  __device__ __forceinline__ unsigned wait_at(unsigned place, unsigned patience, Interrupt interrupt) const {
    unsigned pause = 200;
    for (unsigned look = 0; look < patience; ++look) {
      const unsigned flag = load_fresh(&flags[place]);
      if (flag != place_empty) return flag;
      if (interrupt()) break;
      pause_thread(pause);
      if (pause < 1000) pause += 200;
    }
    return atomicCAS(&flags[place], place_empty, place_cancelled) == place_filled ? place_filled : place_cancelled;
  }
};
