// cliques/pivot_queue.cuh - passes branches of a search from warps with work to warps without, over a list of places.
//
// A warp without work draws a place and reads it until a record arrives. A warp that gives work away also draws a place
// and stores a record there. Two counters number the places, so the n-th taker meets the n-th giver, and each taker
// reads an address of its own. No warp has to wait: a taker may cancel its place and leave, and the giver then finds it
// cancelled and draws another. A giver looks for work itself when its own is done, so every record is either taken or
// still in the list when the launch ends. The last warp that runs out of work cancels the places of all waiting warps,
// so a warp needs to read only its own place. A full list refuses records, and their owners keep the work.
#pragma once
#include "warp.cuh"

struct queue_state {
  unsigned takers, givers;  // places drawn so far
  unsigned busy, unused;    // number of warps that have work
};

constexpr unsigned place_empty = 0, place_filled = 1, place_cancelled = 2;

// Reads memory that other warps change, past all caches.
__device__ __forceinline__ unsigned load_fresh(const unsigned* address) {
  return *static_cast<const volatile unsigned*>(address);
}

enum task_outcome { nothing_came, task_taken, task_interrupted };

struct drawn_places {
  unsigned takers, givers;

  // The number of warps that wait for work. If negative: the number of records that wait for a warp.
  __device__ __forceinline__ int hungry() const { return static_cast<int>(takers - givers); }
};

struct task_queue {
  queue_state* state;
  unsigned* flags;    // by place
  unsigned* records;  // by place, `stride` words each
  unsigned capacity;
  int stride;

  // The places drawn so far, in one read.
  __device__ __forceinline__ drawn_places drawn() const {
    const unsigned long long both = *reinterpret_cast<const volatile unsigned long long*>(&state->takers);
    return {static_cast<unsigned>(both), static_cast<unsigned>(both >> 32)};
  }

  // Stores a record; word i of it is word(i). Returns false if the list is full. Called by all lanes of a warp.
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
      __threadfence();  // the record must be visible before its flag
      __syncwarp();
      unsigned before = 0;
      if (lane_id() == 0) before = atomicCAS(&flags[place], place_empty, place_filled);
      if (__shfl_sync(full_mask, before, 0) == place_empty) return true;
    }
  }

  // Takes a record: calls take_word(i, word) for each word, in lane i modulo 32. If there is none, reads again up to
  // `patience` times, while some warp is busy and interrupt() is false. Called by all lanes of a warp.
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

  // Reports that a warp has no work any more. If it was the last one, no other warp will get any.
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
  // Waits at a place and returns its final flag. Called by one lane.
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
