/* SPDX-License-Identifier: MIT */
/* Writes a trace as PyTorch's profiler does: steps of nested Python calls, operators with shapes,
 * CUDA calls, kernels with all their arguments, arrows between them, copies and counters, one kind
 * after the other, as its writer orders them. */
#include "made_trace.h"

#include <inttypes.h>
#include <stdio.h>

enum { PYTHON_DEPTH = 8, OPS = 4, PID = 6583, STEP_NS = 20000 };

typedef struct writer {
  FILE *file;
  made_trace *made;
} writer;

/* splitmix64: what a step is depends on its number only, so that each kind can be written alone. */
static uint64_t mixed(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static unsigned choice(uint64_t step, unsigned what, unsigned n) {
  return (unsigned)(mixed(step * 64 + what) % n);
}

static int64_t step_ns(uint64_t step) {
  return (int64_t)step * STEP_NS + choice(step, 0, 4000);
}

static void begin(writer *w, const char *phase, const char *category, const char *name, int pid,
                  int tid, int64_t ns, int64_t length) {
  fprintf(
      w->file,
      "%s\n  {\n    \"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d,\n"
      "    \"ts\": %" PRId64 ".%03d",
      w->made->events ? "," : "", phase, category, name, pid, tid, ns / 1000, (int)(ns % 1000));
  if (length >= 0)
    fprintf(w->file, ", \"dur\": %" PRId64 ".%03d", length / 1000, (int)(length % 1000));
  w->made->events++;
}

static void put_python(writer *w, uint64_t step) {
  static const char *const files[] = {"torch/nn/modules/module.py(1773): _wrapped_call_impl",
                                      "torch/nn/modules/linear.py(124): forward",
                                      "model/decoder_layer.py(288): forward",
                                      "torch/_ops.py(1158): __call__",
                                      "nn.Module: Qwen3MLP_17",
                                      "<built-in method linear of type object at 0x7f3b1c8f9e40>"};
  for (int d = 0; d < PYTHON_DEPTH; d++) {
    uint64_t id = step * PYTHON_DEPTH + (unsigned)d;
    int64_t ns = step_ns(step) + d * 300;
    begin(w, "X", "python_function", files[choice(step, 8 + (unsigned)d, 6)], PID, PID, ns,
          15000 - d * 700);
    fprintf(w->file,
            ",\n    \"args\": {\n      \"Python parent id\": %" PRIu64 ", \"Python id\": %" PRIu64
            ", \"Ev Idx\": %" PRIu64 "\n    }\n  }",
            id - 1, id, id * 3);
  }
}

static void put_operators(writer *w, uint64_t step) {
  static const char *const names[] = {"aten::linear", "aten::addmm",  "aten::copy_",
                                      "aten::view",   "aten::matmul", "aten::softmax",
                                      "aten::to",     "aten::empty"};
  for (int i = 0; i < OPS; i++) {
    uint64_t id = step * OPS + (unsigned)i;
    begin(w, "X", "cpu_op", names[choice(step, 20 + (unsigned)i, 8)], PID, PID + (int)(step & 1),
          step_ns(step) + 4000 + i * 500, 8000 - i * 1200);
    fprintf(
        w->file,
        ",\n    \"args\": {\n      \"External id\": %" PRIu64 ",\"Record function id\": 0, "
        "\"Concrete Inputs\": [\"\", \"\", \"1\", \"\"], \"Input type\": [\"c10::BFloat16\", "
        "\"c10::BFloat16\", \"Scalar\", \"\"], \"Input Dims\": [[%u, 4096], [4096, %u], [], []], "
        "\"Ev Idx\": %" PRIu64 "\n    }\n  }",
        id, 1 + choice(step, 30, 64), 128 << choice(step, 31, 6), id * 5);
  }
}

static const char *const kernels[] = {
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
    "segment",
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
    "cutlass::bfloat16_t> >(flash::Flash_fwd_params)",
    "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
    "void cub::CUB_200200_700_NS::DeviceReduceKernel<float>(float const*, float*, int)"};

static void put_gpu(writer *w, uint64_t step) {
  const uint64_t id = step + 1;
  const unsigned which = choice(step, 40, 6);
  const int stream = choice(step, 41, 8) ? 7 : 20;
  const int64_t launch = step_ns(step) + 6000, at = step_ns(step) + 9000 + choice(step, 42, 3000);
  begin(w, "X", "cuda_runtime", "cudaLaunchKernel", PID, PID, launch, 2200 + choice(step, 43, 900));
  fprintf(w->file,
          ",\n    \"args\": {\n      \"External id\": %" PRIu64
          ", \"cbid\": 211, \"correlation\": %" PRIu64 "\n    }\n  }",
          id, id);
  begin(w, "s", "ac2g", "ac2g", PID, PID, launch, -1);
  fprintf(w->file, ", \"id\": %" PRIu64 "\n  }", id);
  begin(w, "X", "kernel", kernels[which], 0, stream, at, 3000 + choice(step, 44, 9000));
  fprintf(
      w->file,
      ",\n    \"args\": {\n      \"External id\": %" PRIu64
      ", \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": %d, "
      "\"correlation\": %" PRIu64 ",\n      \"registers per thread\": %u, \"shared memory\": "
      "%u,\n      \"blocks per SM\": %.6f,\n      \"warps per SM\": %.6f,\n      \"grid\": [%u, "
      "%u, 1],\n      \"block\": [%u, 1, 1],\n      \"est. achieved occupancy %%\": %u\n    }\n"
      "  }",
      id, stream, id, 32 + which * 8, which * 4096, (1 + which) / 148.0, (1 + which) * 4 / 148.0,
      1 + choice(step, 45, 512), 1 + choice(step, 46, 4), 128 << (which & 1),
      choice(step, 47, 100));
  begin(w, "f", "ac2g", "ac2g", 0, stream, at, -1);
  fprintf(w->file, ", \"id\": %" PRIu64 ", \"bp\": \"e\"\n  }", id);
  w->made->kernels++;
  if (step % 5 == 0) {
    begin(w, "X", "gpu_memcpy", "Memcpy DtoD (Device -> Device)", 0, 21, at, 1500);
    fprintf(w->file,
            ",\n    \"args\": {\n      \"External id\": %" PRIu64 ", \"device\": 0, \"context\": 1,"
            "\n      \"stream\": 21, \"correlation\": %" PRIu64 ",\n      \"bytes\": %u, "
            "\"memory bandwidth (GB/s)\": %.9f\n    }\n  }",
            id, id, choice(step, 48, 1 << 20), choice(step, 49, 100000) / 77.0);
  }
}

static void put_counter(writer *w, uint64_t step) {
  if (step % 4)
    return;
  begin(w, "C", "memory", "allocated bytes", PID, PID, step_ns(step) + 500, -1);
  fprintf(w->file, ", \"args\": {\"reserved\": %u, \"used\": %u}\n  }", 1u << 30,
          choice(step, 50, 1u << 30));
}

static int put_trace(const char *path, uint64_t steps, made_trace *made) {
  static void (*const kinds[])(writer *, uint64_t) = {put_operators, put_gpu, put_python,
                                                      put_counter};
  writer w = {fopen(path, "wb"), made};
  *made = (made_trace){0};
  if (!w.file)
    return 1;
  setvbuf(w.file, NULL, _IOFBF, 1 << 20);
  fprintf(w.file, "{\n  \"schemaVersion\": 1,\n  \"displayTimeUnit\": \"ms\",\n"
                  "  \"baseTimeNanoseconds\": 1700000000000000000,\n  \"traceEvents\": [");
  begin(&w, "M", "", "process_name", PID, 0, 0, -1);
  fprintf(w.file, ", \"args\": {\"name\": \"python\"}\n  }");
  begin(&w, "M", "", "process_labels", 0, 0, 0, -1);
  fprintf(w.file, ", \"args\": {\"labels\": \"GPU 0\"}\n  }");
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (uint64_t step = 0; step < steps; step++)
      kinds[k](&w, step);
  fprintf(w.file, "\n  ],\n  \"traceName\": \"made up\"\n}\n");
  made->bytes = (uint64_t)ftello(w.file);
  int failed = ferror(w.file);
  return fclose(w.file) || failed;
}

int made_kineto(const char *path, uint64_t bytes, made_trace *made) {
  const uint64_t some = 500;
  if (put_trace(path, some, made))
    return 1;
  uint64_t steps = bytes / (made->bytes / some);
  return put_trace(path, steps ? steps : 1, made);
}
