// fiber.hpp - one stack per CUDA thread and the switch between stacks.
//
// A switch saves what is live, exchanges stack pointers and jumps: a few nanoseconds on x86-64.
// Other processors take the portable (and several times slower) ucontext functions. The lowest page of each stack
// is not accessible, so that a kernel that overflows its stack stops with a segmentation fault at the guilty
// instruction instead of writing into its neighbor's stack.
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
    if (mprotect(memory, guard_bytes, PROT_NONE) != 0) {
      munmap(memory, guard_bytes + stack_bytes);
      throw std::bad_alloc();
    }
    memory_ = static_cast<char*>(memory);
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

// A suspended computation. A fresh one starts `entry`, which must never return. `color` shifts the start of the stack:
// stacks lie a whole number of pages apart, and without the shift all of them would compete for the same cache lines.
class context {
 public:
  void start(const stack& on, unsigned color, void (*entry)()) {
    auto** pointer = reinterpret_cast<void**>(on.top() - color % 32 * 128);
    *--pointer = nullptr;  // keeps the stack aligned as the ABI wants it on entry
    *--pointer = reinterpret_cast<void*>(entry);
    stack_pointer_ = pointer;
  }

  // Inlined, so that the compiler saves no more than what is live, and ended by a jump: a `ret` to another stack would
  // be mispredicted every time. Needs -mno-red-zone, since it pushes onto the stack of the function it is inlined into.
  [[gnu::always_inline]] void switch_to(context& other) {
    void** save = &stack_pointer_;
    void* load = other.stack_pointer_;
    asm volatile(
        "pushq %%rbp\n\t"
        "pushq %%rbx\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "movq %%rsp, (%%rdi)\n\t"
        "movq %%rsi, %%rsp\n\t"
        "popq %%rax\n\t"
        "jmp *%%rax\n"
        "1:\n\t"
        "popq %%rbx\n\t"
        "popq %%rbp"
        : "+D"(save), "+S"(load)
        :
        : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
          "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
          "memory");
  }

 private:
  void* stack_pointer_ = nullptr;
};

#else

class context {
 public:
  void start(const stack& on, unsigned, void (*entry)()) {
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
