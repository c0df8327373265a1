// clones.hpp - compiles one function for several instruction sets and chooses when the library is loaded.
//
// Put GRAPHLODE_CLONES on leaf functions (one row, one block of text): a lambda inside does not inherit it. x86-64-v4
// is left out on purpose: it would win over icelake-server and lose its AVX-512 popcount.
#pragma once
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define GRAPHLODE_CLONES __attribute__((target_clones("arch=icelake-server", "arch=x86-64-v3", "default")))
#else
#define GRAPHLODE_CLONES
#endif
