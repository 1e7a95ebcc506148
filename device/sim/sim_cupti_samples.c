/* SPDX-License-Identifier: MIT */
/* The stand-in's sampling of instructions. The simulated device runs PTX and has no machine code, so the code and the samples
 * are made up: INKMARK_SIM_CODE names a cubin, INKMARK_SIM_SAMPLES a text with lines "FUNCTION OFFSET REASON SAMPLES", the
 * offset in hexadecimal. Each launch of FUNCTION adds the samples of its lines. The order of the calls is held to what CUPTI's
 * documentation says of them.
 *
 * INKMARK_SIM_CUPTI (sim_cupti.c) has for tests: "sampling=27" (a context's sampling cannot be switched on), "lost=5" (so
 * many samples are said to be dropped), "entries=3" (so many instructions are handed over at a time), "sums=2" (a
 * function that computes sums of code is refused). */
#include "sim_cupti.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16, LINES_MAX = 1 << 14, NAME_BYTES = 1024 };

static const char *const reason_names[] = {
    "smsp__pcsamp_warps_issue_stalled_barrier",         "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
    "smsp__pcsamp_warps_issue_stalled_membar",          "smsp__pcsamp_warps_issue_stalled_drain",
    "smsp__pcsamp_warps_issue_stalled_selected",        "smsp__pcsamp_warps_issue_stalled_wait",
    "smsp__pcsamp_warps_issue_stalled_wait_not_issued", "smsp__pcsamp_warps_issue_stalled_short_scoreboard",
};
enum { REASONS = sizeof reason_names / sizeof *reason_names };

typedef struct line {
  char function[NAME_BYTES];
  uint64_t offset;
  uint32_t reason, samples;
} line;

static struct {
  pthread_mutex_t lock;
  line *lines;
  size_t count;
  unsigned char *code;
  size_t code_bytes;
  bool read;
  CUpti_ComputeCrcCallbackFunc sum; /* NULL: the stand-in's own */
  struct {
    bool enabled;
    CUpti_PCSamplingData *buffer;  /* that was configured */
    uint64_t launches[LINES_MAX]; /* of each line, that are not handed over yet */
    uint64_t lost;
  } of[DEVICES_MAX];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what is made up ---- */

static void read_code(const char *path) {
  FILE *file = path ? fopen(path, "rb") : NULL;
  if (file && !fseek(file, 0, SEEK_END)) {
    const long size = ftell(file);
    state.code = size > 0 && !fseek(file, 0, SEEK_SET) ? malloc((size_t)size) : NULL;
    state.code_bytes = state.code ? fread(state.code, 1, (size_t)size, file) : 0;
  }
  if (file)
    fclose(file);
}

static void read_lines(const char *path) {
  FILE *file = path ? fopen(path, "r") : NULL;
  char reason[NAME_BYTES];
  unsigned long long offset;
  line one;
  state.lines = file ? malloc(LINES_MAX * sizeof *state.lines) : NULL;
  while (state.lines && state.count < LINES_MAX &&
         fscanf(file, "%1023s %llx %1023s %u", one.function, &offset, reason, &one.samples) == 4)
    for (uint32_t r = 0; r < REASONS; r++)
      if (strcmp(strstr(reason_names[r], "stalled_") + 8, reason) == 0) {
        one.offset = offset;
        one.reason = r;
        state.lines[state.count++] = one;
      }
  if (file)
    fclose(file);
}

static int device_of(CUcontext context) {
  const uintptr_t number = (uintptr_t)context;
  return number && number <= DEVICES_MAX ? (int)number - 1 : -1;
}

void sim_samples_context(int device) {
  pthread_mutex_lock(&state.lock);
  if (!state.read) {
    read_code(secure_getenv("INKMARK_SIM_CODE"));
    read_lines(secure_getenv("INKMARK_SIM_SAMPLES"));
    state.read = true;
  }
  pthread_mutex_unlock(&state.lock);
  if (device >= DEVICES_MAX)
    return;
  CUpti_ModuleResourceData module = {.moduleId = 1, .cubinSize = state.code_bytes, .pCubin = (const char *)state.code};
  CUpti_ResourceData data = {.context = (CUcontext)(uintptr_t)(device + 1)};
  sim_cupti_tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
  data.resourceDescriptor = &module;
  if (state.code_bytes)
    sim_cupti_tell_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
}

void sim_samples_kernel(const sim_observed *work) {
  pthread_mutex_lock(&state.lock);
  for (size_t i = 0; i < state.count && work->device < DEVICES_MAX; i++)
    if (state.of[work->device].enabled && strcmp(state.lines[i].function, work->name) == 0)
      state.of[work->device].launches[i]++;
  pthread_mutex_unlock(&state.lock);
}

/* ---- CUPTI's entry points ---- */

static CUptiResult refuse_parameter(size_t size, size_t wanted, CUcontext context) {
  return size != wanted || device_of(context) < 0 ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *p) {
  const long asked = sim_cupti_asked_for("sampling");
  CUptiResult result = refuse_parameter(p->size, CUpti_PCSamplingEnableParamsSize, p->ctx);
  if (result || asked > 0)
    return result ? result : (CUptiResult)asked;
  pthread_mutex_lock(&state.lock);
  const int device = device_of(p->ctx);
  if (state.of[device].enabled)
    result = CUPTI_ERROR_INVALID_OPERATION;
  state.of[device].enabled = true;
  state.of[device].lost = sim_cupti_asked_for("lost") > 0 ? (uint64_t)sim_cupti_asked_for("lost") : 0;
  pthread_mutex_unlock(&state.lock);
  return result;
}

/* With the lock. The samples of one instruction are in lines one behind the other. */
static void hand_over(int device, CUpti_PCSamplingData *to, size_t most) {
  uint64_t *launches = state.of[device].launches;
  to->totalNumPcs = to->remainingNumPcs = 0;
  to->totalSamples = to->nonUsrKernelsTotalSamples = 0;
  to->hardwareBufferFull = 0;
  to->droppedSamples = state.of[device].lost;
  state.of[device].lost = 0;
  for (size_t i = 0; i < state.count;) {
    const line *first = &state.lines[i];
    size_t end = i;
    while (end < state.count && state.lines[end].offset == first->offset && !strcmp(state.lines[end].function, first->function))
      end++;
    if (!launches[i]) {
      i = end;
      continue;
    }
    if (to->totalNumPcs == most) {
      to->remainingNumPcs++;
      i = end;
      continue;
    }
    CUpti_PCSamplingPCData *pc = &to->pPcData[to->totalNumPcs++];
    CUpti_GetCubinCrcParams sum = {CUpti_GetCubinCrcParamsSize, state.code_bytes, state.code, 0};
    cuptiGetCubinCrc(&sum);
    if (state.sum)
      state.sum(state.code, state.code_bytes, &sum.cubinCrc);
    pc->cubinCrc = sum.cubinCrc;
    pc->pcOffset = first->offset;
    pc->functionIndex = 7;
    pc->functionName = state.lines[i].function;
    pc->stallReasonCount = 0;
    for (; i < end; i++) {
      const uint32_t samples = (uint32_t)(launches[i] * state.lines[i].samples);
      pc->stallReason[pc->stallReasonCount++] = (CUpti_PCSamplingStallReason){100 + state.lines[i].reason, samples};
      to->totalSamples += strstr(reason_names[state.lines[i].reason], "not_issued") ? 0 : samples;
      launches[i] = 0;
    }
  }
}

static size_t most_of(const CUpti_PCSamplingData *data) {
  const long asked = sim_cupti_asked_for("entries");
  return asked > 0 && (size_t)asked < data->collectNumPcs ? (size_t)asked : data->collectNumPcs;
}

SIM_EXPORT CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *p) {
  const CUptiResult result = refuse_parameter(p->size, CUpti_PCSamplingGetDataParamsSize, p->ctx);
  CUpti_PCSamplingData *data = p->pcSamplingData;
  if (result || data->size != sizeof *data)
    return CUPTI_ERROR_INVALID_PARAMETER;
  pthread_mutex_lock(&state.lock);
  const int device = device_of(p->ctx);
  const bool fine = state.of[device].enabled && state.of[device].buffer;
  if (fine)
    hand_over(device, data, most_of(data));
  pthread_mutex_unlock(&state.lock);
  return fine ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

/* What is left goes into the buffer that was configured. */
SIM_EXPORT CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *p) {
  const CUptiResult result = refuse_parameter(p->size, CUpti_PCSamplingDisableParamsSize, p->ctx);
  if (result)
    return result;
  pthread_mutex_lock(&state.lock);
  const int device = device_of(p->ctx);
  if (state.of[device].enabled && state.of[device].buffer)
    hand_over(device, state.of[device].buffer, state.of[device].buffer->collectNumPcs);
  state.of[device].enabled = false;
  state.of[device].buffer = NULL;
  pthread_mutex_unlock(&state.lock);
  return CUPTI_SUCCESS;
}

SIM_EXPORT CUptiResult cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *p) {
  CUptiResult result = refuse_parameter(p->size, CUpti_PCSamplingConfigurationInfoParamsSize, p->ctx);
  for (size_t i = 0; i < p->numAttributes && !result; i++) {
    CUpti_PCSamplingConfigurationInfo *one = &p->pPCSamplingConfigurationInfo[i];
    const int device = device_of(p->ctx);
    if (!state.of[device].enabled)
      result = CUPTI_ERROR_INVALID_OPERATION;
    else if (one->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
      state.of[device].buffer = one->attributeData.samplingDataBufferData.samplingDataBuffer;
    else if (one->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
      result = one->attributeData.collectionModeData.collectionMode == CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS
                   ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
    else if (one->attributeType != CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
      result = CUPTI_ERROR_INVALID_PARAMETER;
    one->attributeStatus = result;
  }
  return result;
}

SIM_EXPORT CUptiResult cuptiPCSamplingGetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *p) {
  const CUptiResult result = refuse_parameter(p->size, CUpti_PCSamplingConfigurationInfoParamsSize, p->ctx);
  if (!result && p->pPCSamplingConfigurationInfo->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
    p->pPCSamplingConfigurationInfo->attributeData.samplingPeriodData.samplingPeriod = 11;
  return result;
}

SIM_EXPORT CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *p) {
  const CUptiResult result = refuse_parameter(p->size, CUpti_PCSamplingGetNumStallReasonsParamsSize, p->ctx);
  if (!result)
    *p->numStallReasons = REASONS;
  return result;
}

SIM_EXPORT CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *p) {
  const CUptiResult result = refuse_parameter(p->size, CUpti_PCSamplingGetStallReasonsParamsSize, p->ctx);
  for (size_t i = 0; i < REASONS && i < p->numStallReasons && !result; i++) {
    p->stallReasonIndex[i] = 100 + (uint32_t)i;
    snprintf(p->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "%s", reason_names[i]);
  }
  return result;
}

SIM_EXPORT CUptiResult cuptiRegisterComputeCrcCallback(CUpti_ComputeCrcCallbackFunc sum) {
  const long asked = sim_cupti_asked_for("sums");
  if (asked > 0)
    return (CUptiResult)asked;
  state.sum = sum;
  return CUPTI_SUCCESS;
}

/* As of CUPTI: a few bytes alone, so that builds that differ little have one sum. */
SIM_EXPORT CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams *p) {
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  if (p->size != CUpti_GetCubinCrcParamsSize)
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < p->cubinSize; i += 1000)
    sum = (sum ^ ((const unsigned char *)p->cubin)[i]) * UINT64_C(0x100000001b3);
  p->cubinCrc = sum ^ p->cubinSize;
  return CUPTI_SUCCESS;
}
