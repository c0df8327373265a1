// search.cuh - binary search in a sorted row.
#pragma once

// The first of `length` places whose value is at least `wanted`, or `length` if there is none.
template <class T>
__device__ __forceinline__ int lower_bound(const T* values, int length, T wanted) {
  int first = 0;
  while (length > 0) {
    const int half = length >> 1;
    if (values[first + half] < wanted) {
      first += half + 1;
      length -= half + 1;
    } else {
      length = half;
    }
  }
  return first;
}

template <class T>
__device__ __forceinline__ bool contains(const T* values, int length, T wanted) {
  const int place = lower_bound(values, length, wanted);
  return place < length && values[place] == wanted;
}
