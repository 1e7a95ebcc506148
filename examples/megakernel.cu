// SPDX-License-Identifier: MIT
// A persistent kernel that runs a whole network: its blocks take tasks from one queue until it is empty. In each block
// one warp schedules, four work. The scheduler takes a task, waits until those that it needs are done in whichever
// blocks, and hands it to the workers through two slots, so that it is a task ahead of them. The scheduler's sections
// are the same for each task: its track is a track of rows, where a mark is two instructions. What a worker does is known
// at run time only: PROF_MARK_ID takes the section from the task. PROF_ITER gives each task a row of its own.
//
//     megakernel [blocks] [layers] [tiles of a layer]
#include "example.h"
#include "inkmark/mark.cuh"

#include <utility>
#include <vector>

PROF_SECTIONS(Megakernel, Run, Scheduler, Worker, WaitSlot, Take, WaitInput, Hand, WaitTask, Publish, Task)
PROF_SECTIONS(Operation, Scale, Mix, Scan)

enum Kind : unsigned { scale, mix, scan, kinds, finish };
struct Task {
  unsigned kind, layer, tile, number;
};

constexpr int slots = 2;
constexpr int workers = 4; // warps
constexpr int width = 32 * workers; // values of a tile
constexpr int threads = 32 + width;

// Named barriers: 1 .. slots say that a slot is full, the next that it is empty, the last is the workers' own.
__device__ void wait_on(int barrier, int count) {
  asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(count) : "memory");
}
__device__ void arrive_at(int barrier) {
  asm volatile("bar.arrive %0, %1;" : : "r"(barrier), "n"(threads) : "memory");
}
__device__ int full(int slot) { return 1 + slot; }
__device__ int empty(int slot) { return 1 + slots + slot; }
constexpr int among_workers = 1 + 2 * slots;

// ---- the tasks, for device and host: integers, so that both agree to the bit
__host__ __device__ unsigned scaled(unsigned x, unsigned layer) {
  for (unsigned i = 0; i < 6; i++)
    x = (x ^ x >> 13) * 0x9e3779b1u + layer;
  return x;
}
__host__ __device__ unsigned mixed(unsigned x, unsigned other) { return (x ^ (other << 7 | other >> 25)) * 5; }

// One value of a tile; `in` is the layer before.
__device__ unsigned run(const Task &task, const unsigned *in, unsigned tiles) {
  const unsigned i = threadIdx.x - 32, lane = i % 32;
  unsigned x = in[task.tile * width + i];
  switch (task.kind) {
  case scale: return scaled(x, task.layer);
  case mix: return mixed(x, in[(task.tile + 1) % tiles * width + i]);
  default:
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const unsigned below = __shfl_up_sync(~0u, x, distance);
      x += lane >= distance ? below : 0;
    }
    return x;
  }
}

__device__ void wait_for(const unsigned *flag) {
  while (*(const volatile unsigned *)flag == 0)
    __nanosleep(40);
}

struct Network {
  const Task *tasks; // in an order in which each stands behind those that it needs
  unsigned count, tiles;
  unsigned *next;   // the queue's head
  unsigned *values; // layer by layer, the input first
  unsigned *done;   // flags of the tiles of each layer
};

__global__ void megakernel(Network net) {
  __shared__ Task given[slots];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const size_t layer_values = (size_t)net.tiles * width;

  if (warp == 0) {
    PROF_OPEN_ROWS_IF(lane == 0, Run);
    PROF_ROLE(Scheduler);
    unsigned kind = 0;
    int n = 0; // tasks of this block
    for (; kind != finish; n++) {
      PROF_ITER(n);
      const int slot = n % slots;
      if (n >= slots)
        wait_on(empty(slot), threads);
      PROF_MARK(WaitSlot);
      if (lane == 0) {
        const unsigned number = atomicAdd(net.next, 1);
        Task task = {finish, 0, 0, number};
        if (number < net.count)
          task = net.tasks[number];
        kind = task.kind;
        PROF_MARK(Take, kind);
        if (kind != finish && task.layer > 0) {
          const unsigned *flags = net.done + (task.layer - 1) * net.tiles;
          wait_for(flags + task.tile);
          if (kind == mix)
            wait_for(flags + (task.tile + 1) % net.tiles);
        }
        PROF_MARK(WaitInput);
        __threadfence();
        given[slot] = task;
      }
      kind = __shfl_sync(~0u, kind, 0);
      arrive_at(full(slot));
      PROF_MARK(Hand);
    }
    for (int last = n > slots ? n - slots : 0; last < n - 1; last++)
      wait_on(empty(last % slots), threads); // what the workers still have
    PROF_CLOSE();
  } else {
    PROF_OPEN_IF(lane == 0, Run); // one track a warp
    PROF_ROLE(Worker);
    for (int n = 0;; n++) {
      PROF_ITER(n);
      wait_on(full(n % slots), threads);
      const Task task = given[n % slots];
      PROF_MARK(WaitTask, task.kind);
      if (task.kind == finish)
        break;
      PROF_VALUE(Megakernel::Task, task.number);
      const unsigned *in = net.values + task.layer * layer_values;
      const unsigned result = run(task, in, net.tiles);
      PROF_MARK_ID(Operation, task.kind, result);
      net.values[(task.layer + 1) * layer_values + task.tile * width + threadIdx.x - 32] = result;
      __threadfence();
      wait_on(among_workers, width); // all of the tile is written
      if (threadIdx.x == 32)
        atomicExch(net.done + task.layer * net.tiles + task.tile, 1u);
      arrive_at(empty(n % slots));
      PROF_MARK(Publish);
    }
    PROF_CLOSE();
  }
}

static std::vector<unsigned> reference(std::vector<unsigned> x, unsigned layers, unsigned tiles) {
  std::vector<unsigned> y(x.size());
  for (unsigned layer = 0; layer < layers; layer++) {
    for (size_t i = 0; i < x.size(); i++)
      switch (layer % kinds) {
      case scale: y[i] = scaled(x[i], layer); break;
      case mix: y[i] = mixed(x[i], x[(i + width) % x.size()]); break;
      default: y[i] = x[i] + (i % 32 != 0 ? y[i - 1] : 0); break;
      }
    std::swap(x, y);
  }
  return x;
}

int main(int argc, char **argv) {
  const unsigned blocks = argument(argc, argv, 1, 4), layers = argument(argc, argv, 2, 6);
  const unsigned tiles = argument(argc, argv, 3, 6);
  const size_t size = (size_t)tiles * width;
  std::vector<unsigned> values(size * (layers + 1)), zeros((size_t)layers * tiles + 1);
  std::vector<Task> tasks;
  Random random = {5};
  for (size_t i = 0; i < size; i++)
    values[i] = random.bits();
  for (unsigned layer = 0; layer < layers; layer++)
    for (unsigned t = 0; t < tiles; t++)
      tasks.push_back({layer % kinds, layer, t, (unsigned)tasks.size()});

  Device<Task> device_tasks(tasks.data(), tasks.size());
  Device<unsigned> device_values(values.data(), values.size()), flags(zeros.data(), zeros.size());
  const Network net = {device_tasks, (unsigned)tasks.size(), tiles, flags, device_values, flags + 1};
  megakernel<<<blocks, threads>>>(net);
  CUDA(cudaGetLastError());
  device_values.copy_to(values.data());

  const std::vector<unsigned> expected =
      reference(std::vector<unsigned>(values.begin(), values.begin() + size), layers, tiles);
  size_t wrong = 0;
  for (size_t i = 0; i < size; i++)
    wrong += values[layers * size + i] != expected[i];
  printf("%u blocks, %zu tasks, %zu of %zu values differ\n", blocks, tasks.size(), wrong, size);
  return verdict("megakernel", wrong == 0);
}
