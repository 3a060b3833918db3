/* libcupola.so: cupola's memory pool for PyTorch, CuPy, Numba and C.
 *
 * Made of capi/src by `cargo xtask header`: change it there. docs/design/capi.md of the repository says how
 * it is used. Every function may be called by any thread. None changes the context that is current on its
 * thread. An error is a status or null, and cupola_last_error() says why. */

#ifndef CUPOLA_H
#define CUPOLA_H

#include <stddef.h>
#include <stdint.h>

// What a function returned.
typedef enum CupolaStatus {
  // It was done.
  CUPOLA_OK = 0,
  // There is too little memory within the limit, or on the device.
  CUPOLA_OUT_OF_MEMORY = 1,
  // An argument cannot be.
  CUPOLA_INVALID = 2,
  // No live block begins at the address: it was freed before, or another allocator handed it out.
  CUPOLA_UNKNOWN_POINTER = 3,
  // The driver cannot be loaded, or has returned an error.
  CUPOLA_DRIVER_ERROR = 4,
  // The process is the child of a fork, in which nothing of its parent's works.
  CUPOLA_FORKED = 5,
  // Something within the library has panicked, which is a mistake in it.
  CUPOLA_PANICKED = 6,
} CupolaStatus;

// Bytes and counts of a device's pool.
typedef struct CupolaUsage {
  // The most bytes that the pool may have from the driver.
  uint64_t limit;
  // Bytes that it has.
  uint64_t mapped;
  // The most that it ever had at a time.
  uint64_t peak_mapped;
  // Bytes of blocks, as they were asked for; the `returned` ones are among them.
  uint64_t live;
  // Bytes that callers have given back by `cupola_free`, and that are not free yet.
  uint64_t returned;
  // Bytes that are free and ready for every stream.
  uint64_t cached;
  // Bytes that are free, but for work that may still use them.
  uint64_t pending;
  // Blocks that callers have.
  uint64_t blocks;
  // Blocks handed out.
  uint64_t allocations;
  // Blocks taken back.
  uint64_t frees;
  // Requests that were refused.
  uint64_t refused;
  // How often a request made its stream wait for another one.
  uint64_t device_waits;
  // How often a request waited on the host.
  uint64_t host_waits;
  // Bytes of the device that others have: other processes, libraries, and the driver.
  uint64_t foreign;
  // Bytes of the device that are free.
  uint64_t device_free;
  // Errors of this library in this process, of all devices and threads.
  uint64_t errors;
} CupolaUsage;

// The name of a private pool: PyTorch's `MempoolId_t`, a `std::pair` of two integers by value.
typedef struct CupolaPoolId {
  // The first number.
  uint64_t first;
  // The second number.
  uint64_t second;
} CupolaPoolId;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// An allocation by CuPy; null after an error. `param` is not looked at.
void *cupola_cupy_malloc(void *param, size_t size, int device);

// A free by CuPy. `param` is not looked at.
void cupola_cupy_free(void *param, void *block, int device);

// The text of the last error on this thread, or null. It is there until the next error on the thread.
const char *cupola_last_error(void);

// Writes the last 16 errors of all threads, a line each and oldest first, and a null character: as much of
// them as there is room for. Returns the bytes that all of it needs. For frameworks that free memory on
// threads of their own, and tell nothing of errors.
//
// # Safety
// `buffer` has room for `room` bytes, or `room` is 0.
size_t cupola_errors(char *buffer, size_t room);

// Says how a device's pool is to be made, before its first allocation: the most bytes that it may have from
// the driver (0 for what `CUPOLA_LIMIT` says, else all of the device but a reserve), and the longest time
// that an allocation waits for work that still uses freed memory, in milliseconds (negative for 10 s).
enum CupolaStatus cupola_configure(int device, uint64_t limit_bytes, int64_t wait_milliseconds);

// Changes the limit of a device's pool. Blocks that callers have stay theirs; what is over a lower limit
// goes back to the device when they are freed.
enum CupolaStatus cupola_set_limit(int device, uint64_t limit_bytes);

// `size` bytes of a device, at a multiple of 256, for work on any stream: as from `cudaMalloc`. Null for
// 0 bytes, and where there is too little memory: `cupola_last_error` says why. Give it back by
// `cupola_free`.
void *cupola_allocate(int device, size_t size);

// `size` bytes of a device, at a multiple of 256, for work on a stream of its primary context
// (`cudaStream_t` or `CUstream`; null for the default stream). Null for 0 bytes and after an error. Other streams may
// use it behind this one: name them by `cupola_use_on`. Give it back by `cupola_free_on`, or by
// `cupola_free`.
//
// # Safety
// The stream is of the device's primary context, and is not destroyed before the process ends or
// `cupola_release_stream` has returned `CUPOLA_OK`.
void *cupola_allocate_on(int device,
                         size_t size,
                         void *stream);

// Work on a stream uses a block: it is free only behind the work that is there when it is freed.
//
// # Safety
// As of `cupola_allocate_on`.
enum CupolaStatus cupola_use_on(void *block, void *stream);

// Gives a block back that work on any stream may still use: as `cudaFree`, but that the wait for that work
// comes later, for many blocks at once: with the 64th, with 256 MiB or a sixteenth of the limit, a request
// that finds no memory, or `cupola_trim`. Null is no block, and `CUPOLA_OK`.
enum CupolaStatus cupola_free(void *block);

// Gives a block back in the order of a stream: behind the work that is there now, on the stream that it was
// allocated on and on those named by `cupola_use_on`. Null is no block, and `CUPOLA_OK`.
//
// # Safety
// As of `cupola_allocate_on`. All work that uses the block is on these streams by now.
enum CupolaStatus cupola_free_on(void *block, void *stream);

// A stream is about to be destroyed: nothing asks it any more after this. Refused while a block that was
// allocated or used on it has not been freed.
//
// # Safety
// The stream is still alive.
enum CupolaStatus cupola_release_stream(int device, void *stream);

// Gives memory that nothing uses back to the device. Waits for all work of the device's primary context if
// blocks were given back by `cupola_free`, or a private pool released.
enum CupolaStatus cupola_trim(int device);

// Bytes that can still be allocated, and all bytes of the device.
//
// # Safety
// `free` and `total` are null or can be written.
enum CupolaStatus cupola_mem_info(int device, size_t *free, size_t *total);

// The figures of a device's pool.
//
// # Safety
// `usage` can be written.
enum CupolaStatus cupola_usage(int device, struct CupolaUsage *usage);

// An allocation by PyTorch, in the order of its current stream. PyTorch takes null for a tensor's address
// and goes on: so what the reason is goes to standard error as well.
//
// # Safety
// As of `cupola_allocate_on`: PyTorch never destroys its own streams; the owner of a
// `torch.cuda.ExternalStream` calls `cupola_release_stream` before it destroys that.
void *cupola_torch_alloc(size_t size, int device, void *stream);

// A free by PyTorch, which names the stream of the allocation.
//
// # Safety
// As of `cupola_free_on`.
void cupola_torch_free(void *block, size_t size, int device, void *stream);

// A segment for `torch.cuda.MemPool`, for work on any stream. PyTorch takes null for
// `cudaErrorMemoryAllocation`: it gives back what it keeps, tries again, and raises `OutOfMemoryError`.
void *cupola_torch_segment_alloc(size_t size, int device, void *stream);

// A segment comes back, which work on any stream may still use.
void cupola_torch_segment_free(void *block, size_t size, int device, void *stream);

// For `set_init_fn`: loads the driver, so that what is wrong with it is told at once. A pool is made with a
// device's first allocation.
void cupola_torch_init(int device_count);

// For `set_reset_fn`, which `torch.cuda.empty_cache` calls: gives memory that nothing uses back to each
// device.
void cupola_torch_reset(void);

// For `set_memory_fraction_fn`: limits a device's pool to a part of the device's memory.
void cupola_torch_memory_fraction(double fraction, int device);

// For `set_base_alloc_fn`: the block that a pointer of PyTorch's begins, and its bytes. Null for an address
// within a block, or of none.
//
// # Safety
// `size` is null or can be written.
void *cupola_torch_base_alloc(void *block, size_t *size);

// For `set_record_stream_fn`, which `Tensor.record_stream` calls.
//
// # Safety
// As of `cupola_use_on`.
void cupola_torch_record_stream(void *block, void *stream);

// For `set_begin_allocate_to_pool`: until the pool's end, requests on the streams that `filter` accepts are
// for graphs that are captured, and stay where they are until the pool's release. `filter` is a
// `std::function<bool(cudaStream_t)>` of libstdc++.
//
// # Safety
// `filter` is null or points to such a function.
void cupola_torch_begin_allocate_to_pool(int device, struct CupolaPoolId pool, const void *filter);

// For `set_end_allocate_to_pool_fn`.
void cupola_torch_end_allocate_to_pool(int device, struct CupolaPoolId pool);

// For `set_release_pool`: a graph that used the pool was destroyed, or is about to be. Its memory can be
// had again after all work of the device, which a request that finds no memory or `cupola_torch_reset`
// waits for: launches of the graph may still run.
void cupola_torch_release_pool(int device, struct CupolaPoolId pool);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CUPOLA_H */
