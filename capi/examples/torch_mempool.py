"""PyTorch's allocator on segments of libcupola.so (torch.cuda.MemPool): 20 steps of a small transformer beside
PyTorch's own segments, and an out-of-memory error at the limit.

    python3 torch_mempool.py ./libcupola.so [--limit 8GiB]
"""

import argparse
import contextlib
import ctypes
import os
import statistics
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch

STEPS = 20


class Usage(ctypes.Structure):
    """CupolaUsage of cupola.h."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "limit mapped peak_mapped live returned cached pending blocks allocations frees refused "
            "device_waits host_waits foreign device_free errors"
        ).split()
    ]


def train(where):
    torch.manual_seed(0)
    torch.cuda.reset_peak_memory_stats()
    losses, times = [], []
    with where:
        layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
        model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        inputs = torch.randn(16, 256, 512, device="cuda")
        target = torch.randn(16, 256, 512, device="cuda")
        for _ in range(STEPS):
            torch.cuda.synchronize()
            start = time.perf_counter()
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.mse_loss(model(inputs), target)
            loss.backward()
            optimizer.step()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
            losses.append(loss.item())
    peak = torch.cuda.max_memory_allocated()
    return losses, statistics.median(times[3:]) * 1e3, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="the path of libcupola.so")
    parser.add_argument("--limit", default="8GiB", help="CUPOLA_LIMIT of the library")
    args = parser.parse_args()
    path = os.path.abspath(args.library)
    # Read when the first segment is allocated, by this process's copy of the environment.
    os.environ["CUPOLA_LIMIT"] = args.limit
    library = ctypes.CDLL(path)
    library.cupola_usage.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.cupola_last_error.restype = ctypes.c_char_p
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)

    # What only the first run does is done before both.
    train(contextlib.nullcontext())
    stock = train(contextlib.nullcontext())
    allocator = torch.cuda.memory.CUDAPluggableAllocator(
        path, "cupola_torch_segment_alloc", "cupola_torch_segment_free"
    )
    pool = torch.cuda.MemPool(allocator.allocator())
    ours = train(torch.cuda.use_mem_pool(pool))
    usage = Usage()
    library.cupola_usage(0, ctypes.byref(usage))
    for name, (losses, step, peak) in (("stock", stock), ("cupola", ours)):
        print(f"{name:7} step {step:8.3f} ms, peak {peak / 2**20:8.1f} MiB, last loss {losses[-1]:.9f}")
    print(f"segments from the library: {usage.allocations}, peak {usage.peak_mapped / 2**20:.1f} MiB")
    same = stock[0] == ours[0] and usage.allocations > 0
    print(f"results are {'equal' if same else 'NOT EQUAL'}")

    refused = False
    try:
        with torch.cuda.use_mem_pool(pool):
            torch.empty(usage.limit + 1, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError:
        refused = True
        print(f"past the limit: OutOfMemoryError; {library.cupola_last_error().decode()}")
    return 0 if same and refused else 1


if __name__ == "__main__":
    sys.exit(main())
