// The work of the rows "T threads, L live blocks each": each thread frees a random one of its live
// blocks and allocates another, of 64 KiB to 4 MiB, of a size that hardly ever comes again. As
// cli/src/bench/alloc/live.rs draws them.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

// Nanoseconds of a step on one thread, the median of five rounds. `lane()` makes what a thread has
// of its own, `allocate(lane, bytes)` and `release(lane, pointer, bytes)` use it.
template <class Lane, class Allocate, class Release>
double misses(int threads, int live, int steps, Lane lane, Allocate allocate, Release release) {
  std::vector<double> rounds;
  for (int round = 0; round < 5; round++) {
    std::vector<double> times(threads);
    std::vector<std::thread> all;
    std::atomic<int> ready{0};
    for (int thread = 0; thread < threads; thread++) {
      all.emplace_back([&, thread] {
        auto own = lane();
        uint64_t random = 0x9e3779b97f4a7c15u + 977u * uint64_t(thread);
        auto next = [&] {
          random ^= random << 13;
          random ^= random >> 7;
          random ^= random << 17;
          return random;
        };
        std::vector<std::pair<void *, size_t>> blocks(live, {nullptr, 0});
        auto put = [&](size_t place) {
          size_t power = size_t(64 << 10) << (next() % 6);
          size_t bytes = power + next() % power;
          auto &block = blocks[place];
          if (block.first) release(own, block.first, block.second);
          block = {allocate(own, bytes), bytes};
        };
        for (int place = 0; place < live; place++) put(place);
        for (int step = 0; step < 8 * live; step++) put(next() % live);
        ready++;
        while (ready < threads) std::this_thread::yield();
        auto begin = std::chrono::steady_clock::now();
        for (int step = 0; step < steps; step++) put(next() % live);
        auto end = std::chrono::steady_clock::now();
        times[thread] = std::chrono::duration<double, std::nano>(end - begin).count() / steps;
        ready++;
        // All threads work until the last has measured.
        while (ready < 2 * threads) put(next() % live);
        for (auto &block : blocks) release(own, block.first, block.second);
      });
    }
    for (auto &thread : all) thread.join();
    std::sort(times.begin(), times.end());
    rounds.push_back(times[threads / 2]);
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[2];
}

inline void print_misses(const char *who, int threads, int live, double time) {
  std::printf("%s misses %d live %d free+alloc ns %.0f\n", who, threads, live, time);
  std::fflush(stdout);
}
