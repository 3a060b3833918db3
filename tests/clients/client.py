"""A client of the driver API in another language: ctypes, and nothing else.

It calls the unsuffixed names' newer forms by name, as programs in C do through cuda.h's
macros, loads the PTX that it is given, and checks every result.
"""

import ctypes as c
import sys


class CudaError(Exception):
    def __init__(self, call, code):
        super().__init__(f"{call} returned {code}")
        self.code = code


cuda = c.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code != 0:
        raise CudaError(name, code)


def size(value):
    return c.c_size_t(value)


def fails(code, name, *arguments):
    try:
        call(name, *arguments)
    except CudaError as error:
        assert error.code == code, error
    else:
        raise AssertionError(f"{name} should return {code}")


def main(ptx):
    count, version = c.c_int(), c.c_int()
    fails(3, "cuDeviceGetCount", c.byref(count))  # before cuInit
    call("cuInit", 0)
    call("cuDriverGetVersion", c.byref(version))
    call("cuDeviceGetCount", c.byref(count))
    assert version.value >= 11030 and count.value >= 1

    # A function by cuGetProcAddress is the exported one, for the version asked for.
    found, status = c.c_void_p(), c.c_int()
    call("cuGetProcAddress_v2", b"cuMemAlloc", c.byref(found), 3020, c.c_uint64(0), c.byref(status))
    exported = c.cast(cuda.cuMemAlloc_v2, c.c_void_p)
    assert found.value == exported.value and status.value == 0
    call("cuGetProcAddress_v2", b"cuNoSuch", c.byref(found), 13000, c.c_uint64(0), c.byref(status))
    assert found.value is None and status.value == 1
    # So is one that is not built here; what it does it says when it is called.
    call("cuGetProcAddress_v2", b"cuDestroyExternalMemory", c.byref(found), 10000, c.c_uint64(0), c.byref(status))
    exported = c.cast(cuda.cuDestroyExternalMemory, c.c_void_p)
    assert found.value == exported.value and status.value == 0

    # The undocumented tables are an error, and null.
    table = c.c_void_p(1)
    fails(500, "cuGetExportTable", c.byref(table), (c.c_ubyte * 16)())
    assert table.value is None

    name = c.create_string_buffer(100)
    call("cuDeviceGetName", name, 100, 0)
    context = c.c_void_p()
    call("cuDevicePrimaryCtxRetain", c.byref(context), 0)
    call("cuCtxSetCurrent", context)
    stream, start, end = c.c_void_p(), c.c_void_p(), c.c_void_p()
    call("cuStreamCreate", c.byref(stream), 1)
    call("cuEventCreate", c.byref(start), 0)
    call("cuEventCreate", c.byref(end), 0)

    module, function = c.c_void_p(), c.c_void_p()
    call("cuModuleLoadData", c.byref(module), ptx)
    call("cuModuleGetFunction", c.byref(function), module, b"cupola_saxpy")
    fails(500, "cuModuleGetFunction", c.byref(c.c_void_p()), module, b"none")

    n = 10_000
    floats = c.c_float * n
    x_host, y_host = floats(*range(n)), floats(*([1.0] * n))
    x, y = c.c_uint64(), c.c_uint64()
    call("cuMemAllocAsync", c.byref(x), size(4 * n), stream)
    call("cuMemAlloc_v2", c.byref(y), size(4 * n))
    call("cuEventRecord", start, stream)
    call("cuMemcpyHtoDAsync_v2", x, x_host, size(4 * n), stream)
    call("cuMemcpyHtoDAsync_v2", y, y_host, size(4 * n), stream)
    length, a = c.c_uint64(n), c.c_float(3.0)
    values = [length, a, x, y]
    arguments = (c.c_void_p * 4)(*(c.cast(c.pointer(value), c.c_void_p) for value in values))
    call("cuLaunchKernel", function, (n + 255) // 256, 1, 1, 256, 1, 1, 0, stream, arguments, None)
    call("cuMemFreeAsync", x, stream)
    call("cuEventRecord", end, stream)
    back = floats()
    call("cuMemcpyDtoHAsync_v2", back, y, size(4 * n), stream)
    call("cuStreamSynchronize", stream)
    assert all(back[i] == 3.0 * i + 1.0 for i in range(n))
    elapsed = c.c_float(-1)
    call("cuEventElapsedTime", c.byref(elapsed), start, end)
    assert elapsed.value >= 0

    # A Python function in a stream.
    seen = []
    callback = c.CFUNCTYPE(None, c.c_void_p)(lambda data: seen.append(data))
    call("cuLaunchHostFunc", stream, callback, c.c_void_p(42))
    call("cuStreamSynchronize", stream)
    assert seen == [42]

    # Pinned memory is at one address for both sides.
    pinned, device = c.c_void_p(), c.c_uint64()
    call("cuMemHostAlloc", c.byref(pinned), size(4096), 0)
    call("cuMemHostGetDevicePointer_v2", c.byref(device), pinned, 0)
    call("cuMemsetD8_v2", device, c.c_ubyte(7), size(4096))
    call("cuCtxSynchronize")
    assert bytes(c.string_at(pinned, 4096)) == bytes([7]) * 4096
    call("cuMemFreeHost", pinned)

    # Errors are codes, each with a name.
    fails(1, "cuMemFree_v2", c.c_uint64(12345))
    text = c.c_char_p()
    call("cuGetErrorName", 1, c.byref(text))
    assert text.value == b"CUDA_ERROR_INVALID_VALUE"

    call("cuMemFree_v2", y)
    call("cuModuleUnload", module)
    for event in (start, end):
        call("cuEventDestroy_v2", event)
    call("cuStreamDestroy_v2", stream)
    call("cuDevicePrimaryCtxRelease_v2", 0)
    print("the client is done on", name.value.decode())


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        main(file.read())
