#include "graphlode/cuda/driver.hpp"

#include <dlfcn.h>

#include <utility>

namespace graphlode::cuda {
namespace {

constexpr int error_out_of_memory = 2;

}  // namespace

driver::driver(const std::string& library, std::string device)
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)), device_(std::move(device)) {
  if (!library_) {
    const char* why = dlerror();
    throw driver_missing(device_ + ": the NVIDIA driver cannot be opened: " + (why ? why : library));
  }
  const auto find = [&]<class Function>(const char* symbol, Function& found) {
    found = reinterpret_cast<Function>(dlsym(library_, symbol));
    if (!found) throw driver_missing(device_ + ": " + library + " has no function " + symbol);
  };
  try {
    find("cuCtxGetCurrent", get_current);
    find("cuCtxSetCurrent", set_current);
    find("cuLaunchKernel", launch_kernel);
    find("cuFuncGetAttribute", get_attribute);
    find("cuFuncSetAttribute", set_attribute);
    find("cuStreamSynchronize", synchronize);
    find("cuMemcpyHtoDAsync_v2", copy_to_device);
    find("cuMemcpyDtoHAsync_v2", copy_to_host);
    find("cuMemHostAlloc", allocate_host);
    find("cuMemFreeHost", free_host);
    find("cuEventCreate", create_event);
    find("cuEventRecord", record_event);
    find("cuEventSynchronize", wait_for_event);
    find("cuEventDestroy_v2", destroy_event);
    find("cuGetErrorString", error_string_);
  } catch (...) {
    dlclose(library_);
    throw;
  }
  parameter_info = reinterpret_cast<decltype(parameter_info)>(dlsym(library_, "cuFuncGetParamInfo"));
}

driver::~driver() { dlclose(library_); }

void driver::fail(int code, const char* call) const {
  const char* text = nullptr;
  error_string_(code, &text);
  const std::string message =
      device_ + ": " + call + ": " + (text ? text : "unknown error") + " (CUDA error " + std::to_string(code) + ")";
  if (code == error_out_of_memory) throw out_of_memory(message);
  throw driver_fault(message);
}

}  // namespace graphlode::cuda
