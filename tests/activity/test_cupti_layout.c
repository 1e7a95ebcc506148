/* SPDX-License-Identifier: MIT */
/* The records as cupti_api.h declares them against CUPTI's own headers, every version of them. */
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>

#include "check.h"

#include "cuda/cupti_api.h"

#define SAME(ours, field, theirs, member)                                                          \
  CHECK(offsetof(ours, field) == offsetof(theirs, member) &&                                       \
            sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->member),                           \
        #theirs "." #member)

#define KERNEL(theirs)                                                                             \
  do {                                                                                             \
    SAME(ink_i_cupti_kernel, registers, theirs, registersPerThread);                               \
    SAME(ink_i_cupti_kernel, start, theirs, start);                                                \
    SAME(ink_i_cupti_kernel, end, theirs, end);                                                    \
    SAME(ink_i_cupti_kernel, device, theirs, deviceId);                                            \
    SAME(ink_i_cupti_kernel, context, theirs, contextId);                                          \
    SAME(ink_i_cupti_kernel, stream, theirs, streamId);                                            \
    SAME(ink_i_cupti_kernel, grid[0], theirs, gridX);                                              \
    SAME(ink_i_cupti_kernel, grid[2], theirs, gridZ);                                              \
    SAME(ink_i_cupti_kernel, block[0], theirs, blockX);                                            \
    SAME(ink_i_cupti_kernel, block[2], theirs, blockZ);                                            \
    SAME(ink_i_cupti_kernel, static_shared, theirs, staticSharedMemory);                           \
    SAME(ink_i_cupti_kernel, dynamic_shared, theirs, dynamicSharedMemory);                         \
    SAME(ink_i_cupti_kernel, local_per_thread, theirs, localMemoryPerThread);                      \
    SAME(ink_i_cupti_kernel, correlation, theirs, correlationId);                                  \
    SAME(ink_i_cupti_kernel, grid_id, theirs, gridId);                                             \
    SAME(ink_i_cupti_kernel, name, theirs, name);                                                  \
    SAME(ink_i_cupti_kernel, launch_type, theirs, launchType);                                     \
    SAME(ink_i_cupti_kernel, shared_executed, theirs, sharedMemoryExecuted);                       \
    SAME(ink_i_cupti_kernel, graph_node, theirs, graphNodeId);                                     \
    SAME(ink_i_cupti_kernel, graph, theirs, graphId);                                              \
  } while (0)

/* Of copies, copies between devices and sets: what stands at the same place in all. */
#define TIMED(ours, theirs)                                                                        \
  do {                                                                                             \
    SAME(ours, bytes, theirs, bytes);                                                              \
    SAME(ours, start, theirs, start);                                                              \
    SAME(ours, end, theirs, end);                                                                  \
    SAME(ours, device, theirs, deviceId);                                                          \
    SAME(ours, context, theirs, contextId);                                                        \
    SAME(ours, stream, theirs, streamId);                                                          \
    SAME(ours, correlation, theirs, correlationId);                                                \
    SAME(ours, graph_node, theirs, graphNodeId);                                                   \
    SAME(ours, graph, theirs, graphId);                                                            \
  } while (0)

#define DEVICE(theirs)                                                                             \
  do {                                                                                             \
    SAME(ink_i_cupti_device, threads_per_warp, theirs, numThreadsPerWarp);                         \
    SAME(ink_i_cupti_device, sm_count, theirs, numMultiprocessors);                                \
    SAME(ink_i_cupti_device, warps_per_sm, theirs, maxWarpsPerMultiprocessor);                     \
    SAME(ink_i_cupti_device, blocks_per_sm, theirs, maxBlocksPerMultiprocessor);                   \
    SAME(ink_i_cupti_device, shared_per_sm, theirs, maxSharedMemoryPerMultiprocessor);             \
    SAME(ink_i_cupti_device, registers_per_sm, theirs, maxRegistersPerMultiprocessor);             \
    SAME(ink_i_cupti_device, registers_per_block, theirs, maxRegistersPerBlock);                   \
    SAME(ink_i_cupti_device, shared_per_block, theirs, maxSharedMemoryPerBlock);                   \
    SAME(ink_i_cupti_device, threads_per_block, theirs, maxThreadsPerBlock);                       \
    SAME(ink_i_cupti_device, capability_major, theirs, computeCapabilityMajor);                    \
    SAME(ink_i_cupti_device, capability_minor, theirs, computeCapabilityMinor);                    \
    SAME(ink_i_cupti_device, index, theirs, id);                                                   \
  } while (0)

static void check_records(void) {
  KERNEL(CUpti_ActivityKernel5);
  KERNEL(CUpti_ActivityKernel6);
  KERNEL(CUpti_ActivityKernel7);
  KERNEL(CUpti_ActivityKernel8);
  KERNEL(CUpti_ActivityKernel9);
  KERNEL(CUpti_ActivityKernel10);
  TIMED(ink_i_cupti_copy, CUpti_ActivityMemcpy4);
  TIMED(ink_i_cupti_copy, CUpti_ActivityMemcpy5);
  TIMED(ink_i_cupti_copy, CUpti_ActivityMemcpy6);
  SAME(ink_i_cupti_copy, copy, CUpti_ActivityMemcpy6, copyKind);
  TIMED(ink_i_cupti_peer_copy, CUpti_ActivityMemcpyPtoP3);
  TIMED(ink_i_cupti_peer_copy, CUpti_ActivityMemcpyPtoP4);
  SAME(ink_i_cupti_peer_copy, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
  SAME(ink_i_cupti_peer_copy, to_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
  TIMED(ink_i_cupti_set, CUpti_ActivityMemset3);
  TIMED(ink_i_cupti_set, CUpti_ActivityMemset4);
  SAME(ink_i_cupti_set, value, CUpti_ActivityMemset4, value);
  SAME(ink_i_cupti_call, id, CUpti_ActivityAPI, cbid);
  SAME(ink_i_cupti_call, start, CUpti_ActivityAPI, start);
  SAME(ink_i_cupti_call, end, CUpti_ActivityAPI, end);
  SAME(ink_i_cupti_call, process, CUpti_ActivityAPI, processId);
  SAME(ink_i_cupti_call, thread, CUpti_ActivityAPI, threadId);
  SAME(ink_i_cupti_call, correlation, CUpti_ActivityAPI, correlationId);
  SAME(ink_i_cupti_call, result, CUpti_ActivityAPI, returnValue);
  DEVICE(CUpti_ActivityDevice2);
  DEVICE(CUpti_ActivityDevice3);
  DEVICE(CUpti_ActivityDevice4);
  DEVICE(CUpti_ActivityDevice5);
  SAME(ink_i_cupti_external, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
  SAME(ink_i_cupti_external, external_id, CUpti_ActivityExternalCorrelation, externalId);
  SAME(ink_i_cupti_external, correlation, CUpti_ActivityExternalCorrelation, correlationId);
}

static void check_callbacks(void) {
  SAME(ink_i_cupti_call_data, site, CUpti_CallbackData, callbackSite);
  SAME(ink_i_cupti_call_data, name, CUpti_CallbackData, functionName);
  SAME(ink_i_cupti_call_data, parameters, CUpti_CallbackData, functionParams);
  SAME(ink_i_cupti_call_data, result, CUpti_CallbackData, functionReturnValue);
#if CUPTI_API_VERSION >= 130000
  SAME(ink_i_cupti_subscriber, bytes, CUpti_SubscriberParams, structSize);
  SAME(ink_i_cupti_subscriber, name, CUpti_SubscriberParams, subscriberName);
  SAME(ink_i_cupti_subscriber, old_name, CUpti_SubscriberParams, oldSubscriberName);
  SAME(ink_i_cupti_subscriber, old_name_bytes, CUpti_SubscriberParams, oldSubscriberSize);
#endif
#if CUPTI_API_VERSION >= 130200
  SAME(ink_i_cupti_subscriber, shares, CUpti_SubscriberParams, allowMultipleSubscribers);
#endif
#define CALL(name) CHECK((int)CUPTI_##name == (int)CUPTI_DRIVER_TRACE_CBID_##name, #name)
  CALL(cuModuleLoad);
  CALL(cuModuleLoadData);
  CALL(cuModuleLoadDataEx);
  CALL(cuModuleLoadFatBinary);
  CALL(cuModuleUnload);
  CALL(cuCtxCreate_v2);
  CALL(cuCtxCreate_v3);
  CALL(cuCtxCreate_v4);
  CALL(cuCtxDestroy_v2);
  CALL(cuLaunchKernel);
  CALL(cuLaunchKernel_ptsz);
  CALL(cuLaunchCooperativeKernel);
  CALL(cuLaunchCooperativeKernel_ptsz);
  CALL(cuLaunchKernelEx);
  CALL(cuLaunchKernelEx_ptsz);
  CALL(cuLibraryLoadData);
  CALL(cuLibraryLoadFromFile);
  CALL(cuLibraryUnload);
#undef CALL
}

static void check_pairs(const char *what, const int pairs[][2], size_t n) {
  for (size_t i = 0; i < n; i++)
    CHECK(pairs[i][0] == pairs[i][1], "number %zu of %s: %d, %d in CUPTI's headers", i, what, pairs[i][0], pairs[i][1]);
}

/* The calls of sampling take one structure of ours, as far as each uses it. */
#define TAKEN(theirs, last, bytes_used)                                                            \
  CHECK(theirs##Size == (bytes_used) && offsetof(theirs, size) == 0 && offsetof(theirs, ctx) == offsetof(ink_i_cupti_sampled, context), #theirs)

static void check_sampling(void) {
  SAME(ink_i_cupti_resource, context, CUpti_ResourceData, context);
  SAME(ink_i_cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);
  SAME(ink_i_cupti_module, bytes, CUpti_ModuleResourceData, cubinSize);
  SAME(ink_i_cupti_module, code, CUpti_ModuleResourceData, pCubin);
  SAME(ink_i_cupti_reason_samples, reason, CUpti_PCSamplingStallReason, pcSamplingStallReasonIndex);
  SAME(ink_i_cupti_reason_samples, samples, CUpti_PCSamplingStallReason, samples);
  SAME(ink_i_cupti_pc, bytes, CUpti_PCSamplingPCData, size);
  SAME(ink_i_cupti_pc, code, CUpti_PCSamplingPCData, cubinCrc);
  SAME(ink_i_cupti_pc, offset, CUpti_PCSamplingPCData, pcOffset);
  SAME(ink_i_cupti_pc, function, CUpti_PCSamplingPCData, functionName);
  SAME(ink_i_cupti_pc, reason_count, CUpti_PCSamplingPCData, stallReasonCount);
  SAME(ink_i_cupti_pc, reasons, CUpti_PCSamplingPCData, stallReason);
#if CUPTI_API_VERSION >= 22
  SAME(ink_i_cupti_pc, correlation, CUpti_PCSamplingPCData, correlationId);
#endif
  CHECK(sizeof(CUpti_PCSamplingPCData) == (CUPTI_API_VERSION < 22 ? offsetof(ink_i_cupti_pc, correlation) : sizeof(ink_i_cupti_pc)), "the step of an array");
  SAME(ink_i_cupti_samples, bytes, CUpti_PCSamplingData, size);
  SAME(ink_i_cupti_samples, most, CUpti_PCSamplingData, collectNumPcs);
  SAME(ink_i_cupti_samples, total, CUpti_PCSamplingData, totalSamples);
  SAME(ink_i_cupti_samples, dropped, CUpti_PCSamplingData, droppedSamples);
  SAME(ink_i_cupti_samples, count, CUpti_PCSamplingData, totalNumPcs);
  SAME(ink_i_cupti_samples, remaining, CUpti_PCSamplingData, remainingNumPcs);
  SAME(ink_i_cupti_samples, pcs, CUpti_PCSamplingData, pPcData);
  SAME(ink_i_cupti_samples, elsewhere, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
  SAME(ink_i_cupti_samples, full, CUpti_PCSamplingData, hardwareBufferFull);
  CHECK(sizeof(ink_i_cupti_samples) == sizeof(CUpti_PCSamplingData), "CUpti_PCSamplingData");
  SAME(ink_i_cupti_attribute, type, CUpti_PCSamplingConfigurationInfo, attributeType);
  SAME(ink_i_cupti_attribute, value, CUpti_PCSamplingConfigurationInfo, attributeData);
  CHECK(sizeof(ink_i_cupti_attribute) == sizeof(CUpti_PCSamplingConfigurationInfo), "CUpti_PCSamplingConfigurationInfo");
  TAKEN(CUpti_PCSamplingEnableParams, ctx, offsetof(ink_i_cupti_sampled, what));
  TAKEN(CUpti_PCSamplingDisableParams, ctx, offsetof(ink_i_cupti_sampled, what));
  TAKEN(CUpti_PCSamplingGetDataParams, pcSamplingData, offsetof(ink_i_cupti_sampled, of));
  TAKEN(CUpti_PCSamplingGetNumStallReasonsParams, numStallReasons, offsetof(ink_i_cupti_sampled, of));
  TAKEN(CUpti_PCSamplingConfigurationInfoParams, pPCSamplingConfigurationInfo, offsetof(ink_i_cupti_sampled, names));
  TAKEN(CUpti_PCSamplingGetStallReasonsParams, stallReasons, sizeof(ink_i_cupti_sampled));
  SAME(ink_i_cupti_sampled, of, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);
  SAME(ink_i_cupti_sampled, of, CUpti_PCSamplingConfigurationInfoParams, pPCSamplingConfigurationInfo);
  SAME(ink_i_cupti_sampled, what, CUpti_PCSamplingGetDataParams, pcSamplingData);
  CHECK(CUpti_GetCubinCrcParamsSize == sizeof(ink_i_cupti_checksum), "CUpti_GetCubinCrcParams");
  SAME(ink_i_cupti_checksum, code, CUpti_GetCubinCrcParams, cubin);
  SAME(ink_i_cupti_checksum, checksum, CUpti_GetCubinCrcParams, cubinCrc);
  const int pairs[][2] = {
      {CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE},
      {CUPTI_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
      {CUPTI_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
      {CUPTI_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED},
      {CUPTI_SAMPLING_PERIOD, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD},
      {CUPTI_SAMPLING_DEVICE_BUFFER_BYTES, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE},
      {CUPTI_SAMPLING_MODE, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE},
      {CUPTI_SAMPLING_BUFFER, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER},
      {CUPTI_SAMPLING_CONTINUOUS, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS},
      {CUPTI_REASON_BYTES, CUPTI_STALL_REASON_STRING_SIZE},
  };
  check_pairs("sampling", pairs, sizeof pairs / sizeof *pairs);
}

static void check_numbers(void) {
  const int pairs[][2] = {
      {CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY},
      {CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET},
      {CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER},
      {CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME},
      {CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE},
      {CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
      {CUPTI_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2},
      {CUPTI_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION},
      {CUPTI_OK, CUPTI_SUCCESS},
      {CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED},
      {CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES},
      {CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED},
      {CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API},
      {CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API},
      {CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED},
      {CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM},
      {CUPTI_EXTERNAL_CUSTOM2, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2},
  };
  check_pairs("activity", pairs, sizeof pairs / sizeof *pairs);
}

int main(void) {
  check_records();
  check_callbacks();
  check_sampling();
  check_numbers();
  printf("the headers are CUPTI API version %d\n", CUPTI_API_VERSION);
  return check_result("cupti_layout");
}
