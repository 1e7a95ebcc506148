/* SPDX-License-Identifier: MIT */
/* Theoretical occupancy against NVIDIA's own calculator (cuda_occupancy.h), over random kernels of every
 * architecture that it knows from 7.5 on. */
#define __inline__ inline
#include <cuda_occupancy.h>

#include "check.h"

#include "inkmark/activity.h"

static uint64_t state = 88172645463325252u;
static uint32_t draw(uint32_t below) { /* xorshift64 */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state % below);
}

/* Warps, blocks and shared memory of an SM: CUDA C++ Programming Guide, technical specifications per
 * compute capability. */
static const struct {
  uint32_t capability, warps, blocks, shared_kib;
} devices[] = {{75, 32, 16, 64},  {80, 64, 32, 164},  {86, 48, 16, 100}, {87, 48, 16, 164},
               {89, 48, 24, 100}, {90, 64, 32, 228}, {100, 64, 32, 228}, {120, 48, 24, 100}};

static int nvidias(const ink_activity *k, const ink_activity_device *d, int *blocks) {
  const cudaOccDeviceProp properties = {
      .computeMajor = (int)d->capability / 10, .computeMinor = (int)d->capability % 10,
      .maxThreadsPerBlock = 1024, .maxThreadsPerMultiprocessor = (int)d->warps_per_sm * 32,
      .regsPerBlock = 65536, .regsPerMultiprocessor = 65536, .warpSize = 32,
      .sharedMemPerBlock = 49152, .sharedMemPerMultiprocessor = d->shared_per_sm_bytes,
      .numSms = 16,
      .sharedMemPerBlockOptin = d->shared_per_sm_bytes - (d->capability >= 80 ? 1024 : 0),
      .reservedSharedMemPerBlock = d->capability >= 80 ? 1024 : 0};
  const cudaOccFuncAttributes attributes = {
      .maxThreadsPerBlock = 1024, .numRegs = (int)k->registers,
      .sharedSizeBytes = k->static_shared_bytes, .partitionedGCConfig = PARTITIONED_GC_OFF,
      .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
      .maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin - k->static_shared_bytes};
  const cudaOccDeviceState device_state = {.cacheConfig = CACHE_PREFER_SHARED,
                                           .carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &device_state, (int)k->block_dim[0],
      k->dynamic_shared_bytes);
  *blocks = result.activeBlocksPerMultiprocessor;
  return error == CUDA_OCC_SUCCESS;
}

int main(void) {
  unsigned compared = 0, limits[8] = {0};
  for (int i = 0; i < 200000; i++) {
    const size_t which = draw(sizeof devices / sizeof *devices);
    const ink_activity_device d = {
        .capability = devices[which].capability, .sm_count = 16,
        .warps_per_sm = devices[which].warps, .blocks_per_sm = devices[which].blocks,
        .registers_per_sm = 65536, .shared_per_sm_bytes = devices[which].shared_kib * 1024,
        .threads_per_warp = 32};
    const ink_activity k = {.kind = INK_ACTIVITY_KERNEL, .grid_dim = {1 + draw(5000), 1, 1},
                            .block_dim = {1 + draw(1024), 1, 1}, .registers = 16 + draw(240),
                            .static_shared_bytes = draw(3) ? draw(20000) : 0,
                            .dynamic_shared_bytes = draw(3) ? draw(28000) : 0};
    int blocks;
    if (!nvidias(&k, &d, &blocks) || !blocks) /* too large to run at all: no kernel is seen so */
      continue;
    const ink_occupancy o = ink_activity_occupancy(&k, &d);
    CHECK(o.blocks_per_sm == (uint32_t)blocks,
          "%u: %u threads, %u registers, %u + %u bytes: %u blocks, the calculator says %d",
          d.capability, k.block_dim[0], k.registers, k.static_shared_bytes, k.dynamic_shared_bytes,
          o.blocks_per_sm, blocks);
    const uint32_t warps = (k.block_dim[0] + 31) / 32 * o.blocks_per_sm;
    CHECK(o.warps_per_sm == warps && o.share == (double)warps / d.warps_per_sm, "share");
    CHECK(o.waves == (double)k.grid_dim[0] / (o.blocks_per_sm * 16), "waves");
    limits[o.limit]++;
    compared++;
  }
  CHECK(compared > 100000, "%u compared", compared);
  for (int limit = INK_LIMIT_WARPS; limit <= INK_LIMIT_SHARED; limit++)
    CHECK(limits[limit] > 100, "limit %d: %u", limit, limits[limit]);
  const ink_activity k = {.grid_dim = {1, 1, 1}, .block_dim = {32, 1, 1}};
  CHECK(ink_activity_occupancy(&k, NULL).limit == INK_LIMIT_UNKNOWN, "no device");
  CHECK(ink_activity_occupancy(&k, &(ink_activity_device){.warps_per_sm = 1}).limit ==
            INK_LIMIT_UNKNOWN, "half a device");
  return check_result("activity_occupancy");
}
