/* SPDX-License-Identifier: MIT */
/* The live ranges of a device's memory: what kernels may touch. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec.h"

/* Index of the first range that begins behind the address. */
static size_t behind(const sim_memory *memory, const uint8_t *address) {
  size_t low = 0, high = memory->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (memory->ranges[middle].begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const sim_range *sim_memory_range(const sim_memory *memory, const uint8_t *address) {
  size_t place = behind(memory, address);
  const sim_range *range = place == 0 ? NULL : &memory->ranges[place - 1];
  return range != NULL && (size_t)(address - range->begin) < range->bytes ? range : NULL;
}

bool sim_memory_find(const sim_memory *memory, const uint8_t *begin, size_t bytes) {
  const sim_range *range;
  size_t place;
  if (memory->last < memory->count) {
    range = &memory->ranges[memory->last];
    if (begin >= range->begin && (size_t)(begin - range->begin) < range->bytes &&
        bytes <= range->bytes - (size_t)(begin - range->begin)) {
      return true;
    }
  }
  place = behind(memory, begin);
  if (place == 0) {
    return false;
  }
  range = &memory->ranges[place - 1];
  if ((size_t)(begin - range->begin) > range->bytes ||
      bytes > range->bytes - (size_t)(begin - range->begin)) {
    return false;
  }
  ((sim_memory *)memory)->last = place - 1; /* a cache: the ranges stay as they are */
  return true;
}

static bool add(sim_memory *memory, sim_range range) {
  size_t place = behind(memory, range.begin);
  if (!SIM_GROW(memory->ranges, memory->capacity, memory->count)) {
    return false;
  }
  memmove(memory->ranges + place + 1, memory->ranges + place,
          (memory->count - place) * sizeof *memory->ranges);
  memory->ranges[place] = range;
  memory->count++;
  return true;
}

/* The kernel may give a place of its own; under valgrind that would be below 4 GiB too. */
static void *map_high(size_t bytes) {
  static _Atomic uintptr_t next = UINT64_C(1) << 36;
  const uintptr_t room = (bytes + 4095) / 4096 * 4096;
  return mmap((void *)atomic_fetch_add(&next, room), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Above 4 GiB, as the memory of GPUs is: marks take an address whose upper half is 0 for none. The heap of a program
 * that is not position-independent, as Debian's python3, lies below. */
static bool obtain(sim_range *range, size_t align) {
  void *pointer = NULL;
  if (posix_memalign(&pointer, align, range->bytes != 0 ? range->bytes : 1) != 0) {
    return false;
  }
  if ((uintptr_t)pointer >> 32 == 0) {
    free(pointer);
    range->mapping_bytes = range->bytes + align;
    range->mapping = map_high(range->mapping_bytes);
    if (range->mapping == MAP_FAILED) {
      return false;
    }
    pointer = (void *)(((uintptr_t)range->mapping + align - 1) / align * align);
  }
  range->begin = pointer;
  return true;
}

static void release(const sim_range *range) {
  if (range->mapping != NULL) {
    munmap(range->mapping, range->mapping_bytes);
  } else {
    free(range->begin);
  }
}

/* Memory of a page and less waits until SIM_FREED others were freed. */
static void give_back(sim_memory *memory, sim_range range) {
  void *now = range.begin;
  if (range.mapping != NULL) {
    release(&range);
    return;
  }
  if (range.bytes <= 4096) {
    void **slot = &memory->freed[memory->freed_count++ % SIM_FREED];
    now = *slot;
    *slot = range.begin;
  }
  free(now);
}

/* Removes the range that begins there, and its memory if it is owned. */
bool sim_memory_remove(sim_memory *memory, uint8_t *begin, bool owned) {
  size_t place = behind(memory, begin);
  while (place != 0 && memory->ranges[place - 1].begin == begin) {
    sim_range *range = &memory->ranges[place - 1];
    if (range->owned == owned) {
      if (owned) {
        give_back(memory, *range);
      }
      memory->count--;
      memmove(range, range + 1, (memory->count - (place - 1)) * sizeof *range);
      return true;
    }
    place--;
  }
  return false;
}

void sim_memory_clear(sim_memory *memory) {
  for (size_t i = 0; i < memory->count; i++) {
    if (memory->ranges[i].owned) {
      release(&memory->ranges[i]);
    }
  }
  for (size_t i = 0; i < SIM_FREED; i++) {
    free(memory->freed[i]);
  }
  free(memory->ranges);
  *memory = (sim_memory){0};
}

void *sim_memory_alloc(sim_device *device, size_t bytes, size_t align) {
  sim_range range = {.bytes = bytes, .owned = true};
  align = align < 256 ? 256 : align;
  if (bytes > SIZE_MAX / 2 || !obtain(&range, align)) {
    return NULL;
  }
  if (!add(&device->memory, range)) {
    release(&range);
    return NULL;
  }
  memset(range.begin, 0xa5, bytes);
  return range.begin;
}

bool sim_memory_free(sim_device *device, void *pointer) {
  return sim_memory_remove(&device->memory, pointer, true);
}

bool sim_memory_map(sim_device *device, void *pointer, size_t bytes) {
  return add(&device->memory, (sim_range){.begin = pointer, .bytes = bytes});
}

bool sim_memory_unmap(sim_device *device, void *pointer) {
  return sim_memory_remove(&device->memory, pointer, false);
}

bool sim_memory_has(const sim_device *device, const void *pointer, size_t bytes) {
  return sim_memory_find(&device->memory, pointer, bytes);
}

void *sim_heap_alloc(sim_device *device, size_t bytes) {
  void *pointer;
  if (bytes > SIM_HEAP_BYTES || device->heap_bytes > SIM_HEAP_BYTES - bytes) {
    return NULL;
  }
  pointer = sim_memory_alloc(device, bytes, 16);
  if (pointer != NULL) {
    device->memory.ranges[behind(&device->memory, pointer) - 1].heap = true;
    device->heap_bytes += bytes;
  }
  return pointer;
}

bool sim_heap_free(sim_device *device, void *pointer) {
  size_t place = behind(&device->memory, pointer);
  const sim_range *range = place == 0 ? NULL : &device->memory.ranges[place - 1];
  if (range == NULL || range->begin != pointer || !range->heap) {
    return false;
  }
  device->heap_bytes -= range->bytes;
  return sim_memory_remove(&device->memory, pointer, true);
}
