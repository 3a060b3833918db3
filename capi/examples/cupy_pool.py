"""CuPy on libcupola.so: the same arrays, made on two streams, by CuPy's pool, by the library in the order of streams
(cupy.cuda.set_allocator), and by the library without streams (CFunctionAllocator).

    python3 cupy_pool.py ./libcupola.so
"""

import ctypes
import os
import sys
import time

import cupy

STEPS = 20


class Cupola:
    """The library's functions, with their types."""

    def __init__(self, path):
        self.library = library = ctypes.CDLL(path)
        pointer = ctypes.c_void_p
        library.cupola_allocate_on.restype = pointer
        library.cupola_allocate_on.argtypes = [ctypes.c_int, ctypes.c_size_t, pointer]
        library.cupola_free_on.argtypes = [pointer, pointer]
        library.cupola_last_error.restype = ctypes.c_char_p
        library.cupola_errors.argtypes = [pointer, ctypes.c_size_t]
        # The pool asks a stream how far it is long after the call: so a stream that has allocated stays.
        self.streams = {}

    def allocate(self, size):
        """For cupy.cuda.set_allocator."""
        stream = cupy.cuda.get_current_stream()
        self.streams.setdefault(stream.ptr, stream)
        device = cupy.cuda.Device().id
        address = self.library.cupola_allocate_on(device, size, stream.ptr)
        if address is None and size > 0:
            raise MemoryError(self.library.cupola_last_error().decode())
        owner = Owner(self.library, address, stream.ptr)
        memory = cupy.cuda.UnownedMemory(address or 0, size, owner, device)
        return cupy.cuda.MemoryPointer(memory, 0)

    def functions(self):
        """For cupy.cuda.set_allocator: without a stream, and without Python at each allocation."""
        address = lambda name: ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value
        return cupy.cuda.CFunctionAllocator(
            0, address("cupola_cupy_malloc"), address("cupola_cupy_free"), self.library
        ).malloc

    def errors(self):
        text = ctypes.create_string_buffer(1 << 16)
        self.library.cupola_errors(text, len(text))
        return text.value.decode()


class Owner:
    """A block, which is freed in the order of the stream that it was allocated on."""

    def __init__(self, library, address, stream):
        self.library, self.address, self.stream = library, address, stream

    def __del__(self):
        self.library.cupola_free_on(self.address, self.stream)


def work():
    """Sums of arrays that are made and dropped on two streams, and the time of a step."""
    scale = cupy.RawKernel(
        'extern "C" __global__ void scale(float* x, float by, int n)'
        "{ int i = blockDim.x * blockIdx.x + threadIdx.x; if (i < n) x[i] *= by; }",
        "scale",
    )
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    sums, times = [], []
    for step in range(STEPS):
        start = time.perf_counter()
        for stream in streams:
            with stream:
                x = cupy.arange(1 << 20, dtype=cupy.float32)
                scale((4096,), (256,), (x, cupy.float32(step + 1), cupy.int32(x.size)))
                y = (x.reshape(1024, 1024) @ cupy.ones((1024, 1024), dtype=cupy.float32)).sum()
                sums.append(y)
        for stream in streams:
            stream.synchronize()
        times.append(time.perf_counter() - start)
    return [float(value) for value in sums], sorted(times[3:])[len(times[3:]) // 2] * 1e3


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cupola = Cupola(os.path.abspath(sys.argv[1]))
    work()
    expected, step = work()
    print(f"CuPy's pool              step {step:8.3f} ms")
    failed = False
    for name, allocator in (("in order of streams", cupola.allocate), ("CFunctionAllocator", cupola.functions())):
        cupy.cuda.set_allocator(allocator)
        sums, step = work()
        same = sums == expected
        failed |= not same
        print(f"cupola, {name:20} step {step:8.3f} ms, results are {'equal' if same else 'NOT EQUAL'}")
    cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)
    print(cupola.errors(), end="")
    return 1 if failed or cupola.errors() else 0


if __name__ == "__main__":
    sys.exit(main())
