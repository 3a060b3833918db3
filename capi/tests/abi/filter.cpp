// Calls the hooks of private pools as PyTorch does: through pointers to functions that take C++ types by value.
#include "cupola.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

using Stream = void *;
using PoolId = std::pair<unsigned long long, unsigned long long>;
using Begin = void(int, PoolId, std::function<bool(Stream)>);
using Named = void(int, PoolId);

#define DEMAND(condition)                                                                   \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            const char *said = cupola_last_error();                                         \
            std::fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition,                \
                         said ? said : "no error");                                         \
            return 1;                                                                       \
        }                                                                                   \
    } while (0)

// As a number, which is how PyTorch's setters take a function.
template <typename Function>
std::uintptr_t address(Function *function) {
    return reinterpret_cast<std::uintptr_t>(function);
}

int main() {
    std::function<Begin> begin = reinterpret_cast<Begin *>(address(cupola_torch_begin_allocate_to_pool));
    std::function<Named> end = reinterpret_cast<Named *>(address(cupola_torch_end_allocate_to_pool));
    std::function<Named> release = reinterpret_cast<Named *>(address(cupola_torch_release_pool));
    auto asked = std::make_shared<int>(0);
    std::array<long, 20> large{};
    large[19] = 1;
    // One that fits into the object, one that is behind a pointer, and a function.
    int *count = asked.get();
    std::function<bool(Stream)> filters[] = {
        [count](Stream stream) { ++*count; return stream == nullptr; },
        [asked, large](Stream stream) { *asked += large[19]; return stream == nullptr; },
    };
    unsigned long long number = 0;
    for (auto &filter : filters) {
        *asked = 0;
        PoolId id{0xfedcba9876543210ull, ++number};
        long owners = asked.use_count();
        begin(0, id, filter);
        DEMAND(cupola_last_error() == nullptr);
        DEMAND(asked.use_count() >= owners);
        void *block = cupola_torch_alloc(1 << 20, 0, nullptr);
        DEMAND(block != nullptr && *asked == 1);
        cupola_torch_free(block, 1 << 20, 0, nullptr);
        // Its stream's requests go there already.
        DEMAND(*asked == 1);
        end(0, id);
        DEMAND(asked.use_count() == owners);
        void *other = cupola_torch_alloc(1 << 20, 0, nullptr);
        DEMAND(other != nullptr && other != block && *asked == 1);
        cupola_torch_free(other, 1 << 20, 0, nullptr);
        release(0, id);
    }
    DEMAND(cupola_last_error() == nullptr);
    DEMAND(cupola_trim(0) == CUPOLA_OK);
    std::puts("the program is done");
    return 0;
}
