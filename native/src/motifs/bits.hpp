// motifs/bits.hpp - loops over columns of bits and arrays of counts, compiled for several instruction sets.
#pragma once
#include <cstdint>

namespace graphlode::mining::motifs {

// counts[i] = or += the number of common bits of words[i] and mask.
void set_common_bits(const std::uint64_t* words, std::uint64_t mask, std::uint64_t* counts, std::int64_t size);
void add_common_bits(const std::uint64_t* words, std::uint64_t mask, std::uint64_t* counts, std::int64_t size);

// The sum of C(count, 2). The caller must know whether it may overflow 64 bits.
std::uint64_t sum_choose2(const std::uint64_t* counts, std::int64_t size);

// The number of common bits of two rows of words.
std::int64_t count_common(const std::uint64_t* a, const std::uint64_t* b, std::int64_t num_words);

// The sum of the weights whose bits are set in a row of words. weights[64 i + b] belongs to bit b of word i.
std::uint64_t sum_masked(const std::uint64_t* masks, std::int64_t num_words, const std::uint64_t* weights);

}  // namespace graphlode::mining::motifs
