"""PyTorch's caching allocator, called from C++. The first call compiles for about a minute."""

import os
import pathlib

import torch
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include "misses.hpp"

namespace allocator = c10::cuda::CUDACachingAllocator;

double measure(int threads, int live, int steps) {
  auto lane = [] { return c10::cuda::CUDAStreamGuard(c10::cuda::getStreamFromPool()); };
  auto allocate = [](auto &, size_t bytes) { return allocator::raw_alloc(bytes); };
  auto release = [](auto &, void *block, size_t) { allocator::raw_delete(block); };
  return misses(threads, live, steps, lane, allocate, release);
}
"""

here = str(pathlib.Path(__file__).parent.resolve())
built = load_inline(
    "cupola_misses", source, functions=["measure"], with_cuda=True, extra_cflags=["-O2", "-I" + here]
)
torch.cuda.init()
torch.empty(1, device="cuda")
who = "torch " + os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "native")
for threads in (4, 16):
    time = built.measure(threads, 1000, 2000)
    print(who, "misses", threads, "live", 1000, "free+alloc ns %.0f" % time, flush=True)
