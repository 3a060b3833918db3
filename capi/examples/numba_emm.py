"""Numba on libcupola.so, by its interface for external memory management (EMM): a kernel on arrays of the library, beside
Numba's own.

    python3 numba_emm.py ./libcupola.so
"""

import ctypes
import os
import subprocess
import sys
import time

STEPS = 20


def manager(path):
    """Numba's memory manager, which takes device memory from the library. Host memory stays Numba's."""
    from numba import cuda

    library = ctypes.CDLL(path)
    library.cupola_allocate.restype = ctypes.c_void_p
    library.cupola_allocate.argtypes = [ctypes.c_int, ctypes.c_size_t]
    library.cupola_free.argtypes = [ctypes.c_void_p]
    library.cupola_mem_info.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    library.cupola_last_error.restype = ctypes.c_char_p

    def typed(address):
        """The address, as Numba's binding of the driver wants it: its own was by ctypes."""
        from numba.cuda.cudadrv import driver

        if not getattr(driver, "USE_NV_BINDING", True):
            return ctypes.c_uint64(address)
        from cuda.bindings.driver import CUdeviceptr

        return CUdeviceptr(address)

    class Manager(cuda.HostOnlyCUDAMemoryManager):
        def initialize(self):
            """The library makes its pool at the first allocation."""

        def memalloc(self, size):
            address = library.cupola_allocate(self.context.device.id, max(size, 1))
            if address is None:
                raise MemoryError(library.cupola_last_error().decode())

            def free():
                library.cupola_free(address)

            return cuda.MemoryPointer(self.context, typed(address), size, finalizer=free)

        def get_memory_info(self):
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            if library.cupola_mem_info(self.context.device.id, ctypes.byref(free), ctypes.byref(total)):
                raise RuntimeError(library.cupola_last_error().decode())
            return cuda.MemoryInfo(free=free.value, total=total.value)

        def get_ipc_handle(self, memory):
            raise NotImplementedError("CUDA IPC does not take memory of virtual memory management")

        @property
        def interface_version(self):
            return 1

    return Manager


def work():
    import numpy
    from numba import cuda

    @cuda.jit
    def scale(x, by):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= by

    sums, times = [], []
    stream = cuda.stream()
    for step in range(STEPS):
        start = time.perf_counter()
        for to in (0, stream):
            x = cuda.to_device(numpy.arange(1 << 20, dtype=numpy.float32), stream=to)
            scale[4096, 256, to](x, numpy.float32(step + 1))
            sums.append(float(x.copy_to_host(stream=to).sum() if to == 0 else copied(x, to)))
            del x
        times.append(time.perf_counter() - start)
    free, total = cuda.current_context().get_memory_info()
    return sums, sorted(times[3:])[len(times[3:]) // 2] * 1e3, total - free


def copied(x, stream):
    host = x.copy_to_host(stream=stream)
    stream.synchronize()
    return host.sum()


def main():
    if len(sys.argv) == 3 and sys.argv[2] in ("stock", "cupola"):
        from numba import cuda

        if sys.argv[2] == "cupola":
            cuda.set_memory_manager(manager(sys.argv[1]))
        sums, step, used = work()
        print(f"{sys.argv[2]:7} step {step:8.3f} ms, in use {used / 2**20:8.1f} MiB", file=sys.stderr)
        print(sums)
        return 0
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    results = []
    for name in ("stock", "cupola"):
        command = [sys.executable, __file__, os.path.abspath(sys.argv[1]), name]
        results.append(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    same = results[0] == results[1]
    print(f"results are {'equal' if same else 'NOT EQUAL'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
