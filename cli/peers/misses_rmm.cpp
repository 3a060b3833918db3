// RMM's resources. Built with its wheels:
//   pip download --no-deps librmm-cu13 rapids-logger nvidia-cuda-runtime, unpacked into X
//   g++ -O2 -std=c++20 -DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE -IX/librmm/include
//     -IX/librmm/include/rapids -IX/rapids_logger/include -IX/nvidia/cu13/include misses_rmm.cpp
//     with librmm.so, librapids_logger.so, libcudart.so.13
#include <rmm/cuda_stream.hpp>
#include <rmm/mr/arena_memory_resource.hpp>
#include <rmm/mr/cuda_async_memory_resource.hpp>
#include <rmm/mr/cuda_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp>

#include <memory>

#include "misses.hpp"

template <class Resource>
void run(const char *who, Resource &resource) {
  auto lane = [] { return std::make_unique<rmm::cuda_stream>(); };
  auto on = [](auto &lane) { return cuda::stream_ref{*lane}; };
  auto allocate = [&](auto &lane, size_t bytes) { return resource.allocate(on(lane), bytes, 256); };
  auto release = [&](auto &lane, void *block, size_t bytes) {
    resource.deallocate(on(lane), block, bytes, 256);
  };
  for (int threads : {4, 16}) {
    print_misses(who, threads, 1000, misses(threads, 1000, 2000, lane, allocate, release));
  }
}

int main() {
  rmm::mr::cuda_memory_resource driver;
  {
    rmm::mr::arena_memory_resource arena(driver);
    run("rmm arena", arena);
  }
  {
    rmm::mr::pool_memory_resource pool(driver, size_t(48) << 30);
    run("rmm pool", pool);
  }
  rmm::mr::cuda_async_memory_resource async;
  run("rmm async", async);
}
