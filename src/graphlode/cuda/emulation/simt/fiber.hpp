// fiber.hpp - one stack per CUDA thread and the switch between stacks.
//
// A switch saves the registers that a C++ function must preserve and exchanges stack pointers: about 3 ns on x86-64.
// Other processors take the portable (and several times slower) ucontext functions. The lowest page of each stack
// is not accessible, so that a kernel that overflows its stack stops with a segmentation fault at the guilty
// instruction instead of writing into its neighbour's stack.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace simt {

constexpr std::size_t stack_bytes = 64 << 10;
constexpr std::size_t guard_bytes = 4 << 10;

class stack {
 public:
  stack() {
    void* memory = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<char*>(memory);
    mprotect(memory_, guard_bytes, PROT_NONE);
  }
  stack(stack&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  stack& operator=(stack&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~stack() {
    if (memory_) munmap(memory_, guard_bytes + stack_bytes);
  }
  char* bottom() const { return memory_ + guard_bytes; }
  char* top() const { return memory_ + guard_bytes + stack_bytes; }

 private:
  char* memory_ = nullptr;
};

#if defined(__x86_64__)

extern "C" void graphlode_simt_switch(void** save, void* load);
asm(R"(
.text
.hidden graphlode_simt_switch
.globl graphlode_simt_switch
.type graphlode_simt_switch,@function
graphlode_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size graphlode_simt_switch,.-graphlode_simt_switch
)");

// A suspended computation. A fresh one starts `entry`, which must never return.
class context {
 public:
  void start(const stack& on, void (*entry)()) {
    auto** pointer = reinterpret_cast<void**>(on.top());
    *--pointer = nullptr;  // keeps the stack aligned as the ABI wants it on entry
    *--pointer = reinterpret_cast<void*>(entry);
    for (int saved = 0; saved < 6; ++saved) *--pointer = nullptr;
    stack_pointer_ = pointer;
  }
  void switch_to(context& other) { graphlode_simt_switch(&stack_pointer_, other.stack_pointer_); }

 private:
  void* stack_pointer_ = nullptr;
};

#else

class context {
 public:
  void start(const stack& on, void (*entry)()) {
    getcontext(&saved_);
    saved_.uc_stack.ss_sp = on.bottom();
    saved_.uc_stack.ss_size = stack_bytes;
    saved_.uc_link = nullptr;
    makecontext(&saved_, entry, 0);
  }
  void switch_to(context& other) { swapcontext(&saved_, &other.saved_); }

 private:
  ucontext_t saved_;
};

#endif

}  // namespace simt
