"""PyTorch on libcupola.so, for the whole process: 20 steps of a small transformer as they are, as a captured
CUDA graph, and compiled with CUDA graphs; each beside PyTorch's own allocator, in a process of its own.

    python3 torch_whole.py ./libcupola.so [--limit 8GiB]

The losses of both must be equal to the bit.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time

STEPS = 20
MODES = ["eager", "graph", "compile"]


class Usage(ctypes.Structure):
    """CupolaUsage of cupola.h."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "limit mapped peak_mapped live returned cached pending blocks allocations frees refused "
            "device_waits host_waits foreign device_free errors"
        ).split()
    ]


def install(path):
    """Has PyTorch allocate from the library: before anything else uses CUDA."""
    import torch

    library = ctypes.CDLL(path)

    def address(name):
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value

    allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "cupola_torch_alloc", "cupola_torch_free")
    hooks = allocator.allocator()
    hooks.set_init_fn(address("cupola_torch_init"))
    hooks.set_reset_fn(address("cupola_torch_reset"))
    hooks.set_memory_fraction_fn(address("cupola_torch_memory_fraction"))
    hooks.set_base_alloc_fn(address("cupola_torch_base_alloc"))
    hooks.set_record_stream_fn(address("cupola_torch_record_stream"))
    hooks.set_begin_allocate_to_pool(address("cupola_torch_begin_allocate_to_pool"))
    hooks.set_end_allocate_to_pool_fn(address("cupola_torch_end_allocate_to_pool"))
    hooks.set_release_pool(address("cupola_torch_release_pool"))
    torch.cuda.memory.change_current_allocator(allocator)
    return library


def worker(args):
    """Trains, and prints what came of it."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    library = install(args.library) if args.worker == "cupola" else None
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # The kernels of the other ways add up in any order.
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    if args.mode == "compile":
        import torch._inductor.config as inductor

        # CUDA graph trees need checkpoints of the allocator's pools, which no other allocator has.
        inductor.triton.cudagraph_trees = False

    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, capturable=args.mode == "graph")
    inputs = torch.randn(16, 256, 512, device="cuda")
    target = torch.randn(16, 256, 512, device="cuda")
    forward = torch.compile(model, mode="reduce-overhead") if args.mode == "compile" else model

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(forward(inputs), target)
        loss.backward()
        optimizer.step()
        return loss

    if args.mode == "graph":
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = step()

        def step():
            graph.replay()
            return captured

    losses, times = [], []
    for _ in range(STEPS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        loss = step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
        losses.append(loss.item())
    checksum = sum(parameter.double().sum().item() for parameter in model.parameters())
    result = {
        "losses": losses,
        "checksum": checksum,
        "step_ms": statistics.median(times[3:]) * 1e3,
    }
    if library is None:
        result["peak_mib"] = torch.cuda.max_memory_reserved() / 2**20
    else:
        library.cupola_usage.argtypes = [ctypes.c_int, ctypes.c_void_p]
        usage = Usage()
        library.cupola_usage(0, ctypes.byref(usage))
        text = ctypes.create_string_buffer(1 << 16)
        library.cupola_errors(text, ctypes.c_size_t(len(text)))
        result["peak_mib"] = usage.peak_mapped / 2**20
        result["errors"] = text.value.decode()
    print("RESULT " + json.dumps(result))


def run(args, mode, allocator):
    command = [sys.executable, __file__, args.library, "--worker", allocator, "--mode", mode]
    environment = dict(os.environ)
    if args.limit:
        environment["CUPOLA_LIMIT"] = args.limit
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line.removeprefix("RESULT "))
    print(f"{mode}, {allocator}: failed ({done.returncode})\n{done.stderr[-3000:]}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="the path of libcupola.so")
    parser.add_argument("--limit", help="CUPOLA_LIMIT of the library, such as 8GiB")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--worker", choices=["stock", "cupola"], help=argparse.SUPPRESS)
    parser.add_argument("--mode", choices=MODES, default="eager", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.library = os.path.abspath(args.library)
    if args.worker:
        return worker(args)
    failed = False
    for mode in args.modes:
        results = {allocator: run(args, mode, allocator) for allocator in ("stock", "cupola")}
        for allocator, result in results.items():
            if result is not None:
                print(
                    f"{mode:8} {allocator:7} step {result['step_ms']:8.3f} ms, peak {result['peak_mib']:8.1f} MiB, "
                    f"last loss {result['losses'][-1]:.9f}"
                )
        stock, cupola = results["stock"], results["cupola"]
        if stock is None:
            # Nothing to compare with: this PyTorch cannot do it.
            continue
        same = cupola is not None and all(stock[key] == cupola[key] for key in ("losses", "checksum"))
        failed |= not same or bool(cupola["errors"])
        print(f"{mode:8} results are {'equal' if same else 'NOT EQUAL'}")
        if cupola is not None and cupola["errors"]:
            print(cupola["errors"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
