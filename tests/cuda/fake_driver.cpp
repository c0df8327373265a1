// fake_driver.cpp - answers like NVIDIA's driver library, without a GPU: device memory is the host's, and a stream is a
// list of copies that are done only when somebody waits, so that memory which is reused too early shows.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

struct launch {
  std::uint64_t function;
  unsigned grid, block, shared_bytes;
  std::vector<unsigned char> bytes;
};

std::recursive_mutex all;
std::deque<std::function<void()>> queued;
std::size_t num_queued = 0, num_done = 0;
std::map<void*, std::size_t> recorded;  // how many were queued before the event
std::map<std::uint64_t, std::vector<std::size_t>> declared;
std::map<std::uint64_t, int> allowed;
std::vector<launch> launches;
std::vector<std::pair<void*, std::size_t>> waits;  // for a stream, when there were so many launches
std::string failing;
int failing_with = 0;
std::size_t host_bytes = 0, event_waits = 0;

void finish(std::size_t until) {
  for (; num_done < until; ++num_done) {
    queued.front()();
    queued.pop_front();
  }
}

void enqueue(std::function<void()> work) {
  queued.push_back(std::move(work));
  ++num_queued;
}

int answer(const char* call) { return failing == call ? failing_with : 0; }

}  // namespace

using lock = std::lock_guard<std::recursive_mutex>;

extern "C" {

thread_local void* current = nullptr;

int cuCtxGetCurrent(void** context) {
  *context = current;
  return 0;
}
int cuCtxSetCurrent(void* context) {
  current = context;
  return 0;
}
int cuLaunchKernel(std::uint64_t function, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned,
                   unsigned shared_bytes, void*, void** parameters, void**) {
  const lock guard(all);
  if (!current) return 201;
  if (static_cast<int>(shared_bytes) > allowed[function]) return 1;
  launch made{function, grid, block, shared_bytes, {}};
  for (std::size_t i = 0; i < declared[function].size(); ++i) {
    const auto* value = static_cast<unsigned char*>(parameters[i]);
    made.bytes.insert(made.bytes.end(), value, value + declared[function][i]);
  }
  launches.push_back(made);
  return answer("cuLaunchKernel");
}
int cuFuncGetAttribute(int* value, int, std::uint64_t function) {
  const lock guard(all);
  *value = allowed.emplace(function, 48 * 1024).first->second;
  return 0;
}
int cuFuncSetAttribute(std::uint64_t function, int, int value) {
  const lock guard(all);
  allowed[function] = value;
  return answer("cuFuncSetAttribute");
}
int cuFuncGetParamInfo(std::uint64_t function, std::size_t index, std::size_t*, std::size_t* bytes) {
  const lock guard(all);
  if (index >= declared[function].size()) return 1;
  *bytes = declared[function][index];
  return 0;
}
int cuStreamSynchronize(void* stream) {
  const lock guard(all);
  waits.emplace_back(stream, launches.size());
  finish(num_queued);
  return answer("cuStreamSynchronize");
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void*) {
  const lock guard(all);
  if (!current) return 201;
  enqueue([=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
  return answer("cuMemcpyHtoDAsync");
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void*) {
  const lock guard(all);
  enqueue([=] { std::memcpy(to, reinterpret_cast<void*>(from), bytes); });
  return answer("cuMemcpyDtoHAsync");
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  const lock guard(all);
  if (const int code = answer("cuMemHostAlloc")) return code;
  *memory = std::malloc(bytes);
  host_bytes += bytes;
  return 0;
}
int cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  *event = std::malloc(1);
  return 0;
}
int cuEventRecord(void* event, void*) {
  const lock guard(all);
  recorded[event] = num_queued;
  return answer("cuEventRecord");
}
int cuEventSynchronize(void* event) {
  const lock guard(all);
  ++event_waits;
  finish(recorded[event]);
  return answer("cuEventSynchronize");
}
int cuEventDestroy_v2(void* event) {
  const lock guard(all);
  recorded.erase(event);
  std::free(event);
  return 0;
}
int cuGetErrorString(int code, const char** text) {
  *text = code == 2 ? "out of memory" : code == 700 ? "an illegal memory access was encountered" : nullptr;
  return 0;
}

// For the tests alone.

void fake_declare(std::uint64_t function, const std::size_t* bytes, std::size_t count) {
  const lock guard(all);
  declared[function].assign(bytes, bytes + count);
}
void fake_fail(const char* call, int code) {
  const lock guard(all);
  failing = call, failing_with = code;
}
// The oldest launch not yet taken: its numbers, its bytes; how many bytes, or -1.
int fake_take_launch(unsigned* shape, unsigned char* bytes) {
  const lock guard(all);
  if (launches.empty()) return -1;
  const launch made = launches.front();
  launches.erase(launches.begin());
  shape[0] = made.grid, shape[1] = made.block, shape[2] = made.shared_bytes;
  std::memcpy(bytes, made.bytes.data(), made.bytes.size());
  return static_cast<int>(made.bytes.size());
}
// The latest wait for a stream: which one, and how many launches there were that nobody has taken.
void fake_last_wait(std::uint64_t* found) {
  const lock guard(all);
  found[0] = reinterpret_cast<std::uint64_t>(waits.back().first), found[1] = waits.back().second;
}
std::size_t fake_num_waits() { return waits.size(); }
std::size_t fake_event_waits() { return event_waits; }
}
