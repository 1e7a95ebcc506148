# SPDX-License-Identifier: MIT
"""The real kernels: where each is in what fetch.sh brings, how it is compiled, and where its marks go, as its authors would put them.
An edit is (place, line, text): text goes behind or in front of the only line that has `line` in it, or in place of it
within that line. A number at the end says which of several, and one more how many lines further down (or up). "from" leaves that
line out, and all behind it. Stubs are headers that host code of the source includes and its kernels do not need."""

CUTLASS = "cutlass_library/source/"
GEMM = CUTLASS + "include/cutlass/gemm/"
FLASHINFER = "flashinfer/data/"

# Pingpong: a producer warp and two consumer warpgroups, bf16, tiles of 64 x 128 x 64. Marks in operator() and, by the
# context, in load() and mma() of its mainloop.
PINGPONG = {
    "name": "CUTLASS pingpong GEMM", "flags": ["-arch=sm_90a", "-std=c++17", "--expt-relaxed-constexpr", "-DNDEBUG"], "kernel": "device_kernel",
    "roots": [CUTLASS + "include"], "include": [CUTLASS + "include"],
    "sections": "PROF_SECTIONS(Pingpong, Run, Producer, Consumer, WaitStage, IssueLoad, Next, Order, WaitTile, IssueMma, WaitMma, "
                "Mma, Epilogue)",
    "source": """
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/device_kernel.h"
namespace real {
using namespace cutlass;
using Tile = cute::Shape<cute::_64, cute::_128, cute::_64>;
using One = cute::Shape<cute::_1, cute::_1, cute::_1>;
using Row = cutlass::layout::RowMajor;
using Epilogue = epilogue::collective::CollectiveBuilder<arch::Sm90, arch::OpClassTensorOp, Tile, One,
    epilogue::collective::EpilogueTileAuto, float, float, void, Row, 8, bfloat16_t, Row, 8,
    epilogue::TmaWarpSpecialized>::CollectiveOp;
using Mainloop = gemm::collective::CollectiveBuilder<arch::Sm90, arch::OpClassTensorOp, bfloat16_t, Row, 8, bfloat16_t,
    layout::ColumnMajor, 8, float, Tile, One,
    gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
    gemm::KernelTmaWarpSpecializedPingpong>::CollectiveOp;
using Kernel = gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue, gemm::PersistentScheduler>;
}
template __global__ void cutlass::device_kernel<real::Kernel>(CUTLASS_GRID_CONSTANT typename real::Kernel::Params const);
""",
    "edits": {
        GEMM + "kernel/sm90_gemm_tma_warpspecialized_pingpong.hpp": [
            ("before", "    // Kernel level shared memory storage", "PROF_OPEN(Run);", 1),
            ("behind", "      if (producer_warp_role == ProducerWarpRole::Mainloop) {", "PROF_ROLE(Producer);"),
            ("in", "collective_mainloop.load(", "collective_mainloop.load(PROF_ARGS("),
            ("in", "            shared_storage.tensors.mainloop", "            shared_storage.tensors.mainloop)", 1),
            ("before", "          // Update starting pipeline state for the next tile", "PROF_MARK(Next);", 1),
            ("before", "    } // Producer Warp Group End", "PROF_CLOSE();"),
            ("behind", "warpgroup_reg_alloc<", "PROF_ROLE(Consumer);"),
            ("in", "        return;", "        PROF_CLOSE(); return;"),
            ("behind", "math_wg_order_barrier.wait();", "PROF_MARK(Order);", 1),
            ("in", "collective_mainloop.mma(", "collective_mainloop.mma(PROF_ARGS("),
            ("in", "          params.mainloop", "          params.mainloop)", -1),
            ("before", "        // Update starting mainloop pipeline state for the next tile", "PROF_MARK(Mma);"),
            ("before", "        // Cue for next Math WG's Epilogue to start", "PROF_MARK(Epilogue);"),
            ("before", "    } // Consumer Warp Groups End", "PROF_CLOSE();"),
        ],
        GEMM + "collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp": [
            ("in", "  load(", "  load(PROF_PARAMS("),
            ("in", "      TensorStorage& shared_tensors) {", "      TensorStorage& shared_tensors)) {"),
            ("behind", "pipeline.producer_acquire(smem_pipe_write);", "PROF_MARK(WaitStage);"),
            ("behind", "        ++k_tile_iter;", "PROF_MARK(IssueLoad);"),
            ("in", "  mma(MainloopPipeline", "  mma(PROF_PARAMS(MainloopPipeline"),
            ("in", "      Params const& mainloop_params) {", "      Params const& mainloop_params)) {"),
            ("behind", "pipeline.consumer_wait(smem_pipe_read, barrier_token);", "PROF_MARK(WaitTile);", -1),
            ("behind", "warpgroup_commit_batch();", "PROF_MARK(IssueMma);", -1),
            ("behind", "warpgroup_wait<K_PIPE_MMAS>();", "PROF_MARK(WaitMma);"),
        ],
    },
}
# A loop of wgmma over tiles that one thread fetches by TMA.
TUTORIAL = {
    "name": "CuTe tutorial, wgmma and TMA", "flags": ["-arch=sm_90a", "-std=c++17", "--expt-relaxed-constexpr"], "kernel": "gemm_device",
    "roots": [CUTLASS], "include": [CUTLASS + "include", CUTLASS + "tools/util/include"],
    "sections": "PROF_SECTIONS(Tutorial, Gemm, SetUp, WaitTile, Mma, Refill, Epilogue)",
    "source": CUTLASS + "examples/cute/tutorial/hopper/wgmma_tma_sm90.cu",
    "edits": {
        CUTLASS + "examples/cute/tutorial/hopper/wgmma_tma_sm90.cu": [
            ("before", "  // Preconditions", "PROF_OPEN(Gemm);", 1),
            ("before", "  CUTE_NO_UNROLL", "PROF_MARK(SetUp);"),
            ("behind", "ProducerBarType::wait(&producer_mbar[read_pipe]", "PROF_MARK(WaitTile);"),
            ("behind", "warpgroup_wait<0>();", "PROF_MARK(Mma);"),
            ("before", "    --k_tile_count;", "PROF_MARK(Refill);", -1),
            ("behind", "  axpby(alpha, tCrC, beta, tCgC);", "PROF_MARK(Epilogue); PROF_CLOSE();"),
        ],
    },
}
# tcgen05 with its accumulators in tensor memory; the next tile is fetched when the last product is done.
TCGEN05 = {
    "name": "CuTe tutorial, tcgen05 and TMA multicast", "flags": ["-arch=sm_100a", "-std=c++17", "--expt-relaxed-constexpr"],
    "kernel": "gemm_device", "roots": [CUTLASS],
    "include": [CUTLASS + "include", CUTLASS + "tools/util/include", CUTLASS + "examples/cute/tutorial/blackwell"],
    "sections": "PROF_SECTIONS(Tcgen05, Gemm, SetUp, IssueLoad, WaitTile, IssueMma, WaitMma, Epilogue)",
    "source": CUTLASS + "examples/cute/tutorial/blackwell/03_mma_tma_multicast_sm100.cu",
    "edits": {
        CUTLASS + "examples/cute/tutorial/blackwell/03_mma_tma_multicast_sm100.cu": [
            ("before", "  // Step 1: The Prologue.", "PROF_OPEN(Gemm);"),
            ("before", "  // Step 2: The Mainloop.", "PROF_MARK(SetUp);"),
            ("before", "    // Step 2b: Execute the MMAs for this tile", "PROF_MARK(IssueLoad);"),
            ("behind", "cute::wait_barrier(shared_storage.tma_barrier", "PROF_MARK(WaitTile);"),
            ("before", "    // Wait MMAs to complete to avoid", "PROF_MARK(IssueMma);"),
            ("behind", "cute::wait_barrier(shared_storage.mma_barrier", "PROF_MARK(WaitMma);"),
            ("behind", "  copy(tDrC, tDgD);", "PROF_MARK(Epilogue); PROF_CLOSE();"),
        ],
    },
}
# Tiles of keys and values by cp.async, the products in CUDA cores.
DECODE = {
    "name": "FlashInfer decode", "flags": ["-arch=sm_80", "-std=c++17", "--expt-relaxed-constexpr"], "kernel": "SingleDecode",
    "roots": [FLASHINFER + "include", FLASHINFER + "cccl"], "include": [FLASHINFER + "include"],
    "system": [FLASHINFER + "cccl/libcudacxx/include", FLASHINFER + "cccl/cub", FLASHINFER + "cccl/thrust"],
    "sections": "PROF_SECTIONS(Decode, Run, SetUp, WaitK, Score, LoadK, WaitV, Update, LoadV, Store)",
    "source": """
#include <flashinfer/attention/decode.cuh>
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/variants.cuh>
using namespace flashinfer;
template __global__ void flashinfer::SingleDecodeWithKVCacheKernel<PosEncodingMode::kNone, 2, 4, 8, 16, 1, 8,
    DefaultAttention<false, false, false, false>, SingleDecodeParams<half, half, half>>(
    const __grid_constant__ SingleDecodeParams<half, half, half>);
""",
    "edits": {
        FLASHINFER + "include/flashinfer/attention/decode.cuh": [
            ("behind", "__global__ void SingleDecodeWithKVCacheKernel(", "PROF_OPEN(Run);"),
            ("before", "  // preload k tiles and v tiles", "PROF_MARK(SetUp);", 1),
            ("before", "    compute_qk<", "PROF_MARK(WaitK);", 1),
            ("before", "    // load k", "PROF_MARK(Score);", 1),
            ("before", "    // update m/d/o state", "PROF_MARK(LoadK);", 1),
            ("before", "    update_local_state<", "PROF_MARK(WaitV);", 1),
            ("before", "    // load v", "PROF_MARK(Update);", 1),
            ("before", "    stage_idx = (stage_idx + 1) % num_stages_smem;", "PROF_MARK(LoadV);", 1),
            ("before", "  if (lse != nullptr) {", "PROF_MARK(Store); PROF_CLOSE();", 1),
        ],
    },
}
# Attention, forward: one producer warp with TMA, three consumer warpgroups with wgmma, 128 registers of which none is free. With the
# mark Score right behind the wait for the product, ptxas keeps that mark's clock through the softmax, and spills 16 bytes for it.
ATTENTION = "ThunderKittens/kernels/attention/mha_h100/mha_h100.cu"
THUNDERKITTENS = {
    "name": "ThunderKittens attention", "flags": ["-arch=sm_90a", "-std=c++20", "--use_fast_math", "--expt-extended-lambda",
                                                  "--expt-relaxed-constexpr", "-DKITTENS_HOPPER"],
    "kernel": "fwd_attend_ker", "roots": ["ThunderKittens"], "include": ["ThunderKittens/include", "ThunderKittens/prototype"],
    "sections": "PROF_SECTIONS(Attention, Attend, Producer, Consumer, IssueLoad, WaitDone, WaitQ, WaitK, Score, Softmax, WaitV, Update, Store)",
    "source": f"""
#include "{ATTENTION}"
template __global__ void fwd_attend_ker<128, false>(const __grid_constant__ fwd_globals<128>);
""",
    "edits": {
        ATTENTION: [
            ("before", "    extern __shared__ int __shm[]; ", "PROF_OPEN(Attend);", 1),
            ("behind", "        warpgroup::decrease_registers<32>();", "PROF_ROLE(Producer);"),
            ("before", "                wait(compute_done[(kv_idx)%K::stages], (kv_idx/K::stages)%2);", "PROF_MARK(IssueLoad);"),
            ("behind", "                wait(compute_done[(kv_idx)%K::stages], (kv_idx/K::stages)%2);", "PROF_MARK(WaitDone);"),
            ("before", "        warpgroup::increase_registers<160>();", "PROF_CLOSE();", 1, -2),  # of the producer
            ("before", "        warpgroup::increase_registers<160>();", "PROF_ROLE(Consumer);"),
            ("behind", "        wait(qsmem_semaphore, 0);", "PROF_MARK(WaitQ);"),
            ("behind", "            wait(k_smem_arrived[(kv_idx)%K::stages], (kv_idx/K::stages)%2);", "PROF_MARK(WaitK);"),
            ("before", "            warp::sub_row(att_block, att_block, max_vec_scaled);", "PROF_MARK(Score);", 1),  # and its maximum
            ("before", "            wait(v_smem_arrived[(kv_idx)%K::stages], (kv_idx/K::stages)%2); ", "PROF_MARK(Softmax);"),
            ("behind", "            wait(v_smem_arrived[(kv_idx)%K::stages], (kv_idx/K::stages)%2); ", "PROF_MARK(WaitV);"),
            ("behind", "            warpgroup::mma_async_wait();", "PROF_MARK(Update);", 2),
            ("behind", "        warp::tma::store_async_wait();", "PROF_MARK(Store); PROF_CLOSE();", 1),
            ("from", "#ifdef TORCH_COMPILE", ""),
        ],
    },
}
THUNDERKITTENS_ROWS = {
    **THUNDERKITTENS, "name": "ThunderKittens attention, rows",
    "sections": THUNDERKITTENS["sections"],
    "edits": {ATTENTION: [(place, line, text.replace("PROF_OPEN(", "PROF_OPEN_ROWS("), *which)
                          for place, line, text, *which in THUNDERKITTENS["edits"][ATTENTION]]
              + [("behind", "        for (auto kv_idx = 0; kv_idx <= kv_iters; kv_idx++) {", "PROF_ITER(kv_idx);", 1)]},
}
# One warp for TMA, one for tcgen05, four for the epilogue; clusters of two blocks. Marks stand where its own profiler stands, in the
# lambdas too.
BLACKWELL = "learn-cuda/02e_matmul_sm100/"
LEARN_CUDA = {
    "name": "learn-cuda tcgen05 GEMM", "flags": ["-arch=sm_100a", "-std=c++17", "--expt-relaxed-constexpr"], "kernel": "matmul_v6_kernel",
    "roots": ["learn-cuda"], "include": ["learn-cuda/02e_matmul_sm100"], "stubs": {"torch/library.h": "#define TORCH_CHECK(...) ((void)0)"},
    "sections": "PROF_SECTIONS(Gemm, Run, SetUp, WaitMma, IssueLoad, WaitTile, IssueMma, WaitEpilogue, WaitMainloop, Epilogue)",
    "source": f"""
#include <cuda_bf16.h>
#include <tuple>
#include "{BLACKWELL}matmul_v6.cu"
template __global__ void matmul_v6_kernel<256, 64, 2, 7, false>(const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
    nv_bfloat16 *, int, int, int, int64_t *, int);
""",
    "edits": {
        BLACKWELL + "matmul_v6.cu": [
            ("from", "void matmul_v6_launch(", "", 1, -1),
            ("before", "  const int tid = threadIdx.x;", "PROF_OPEN(Run);"),
            ("behind", "  const int taddr = tmem_addr[0];", "PROF_MARK(SetUp);"),
            ("behind", "    mbarrier_wait(mma_mbar_addr + tma_stage * 8, mma_phase);", "PROF_MARK(WaitMma);"),
            ("behind", "    mbarrier_arrive_expect_tx(mbar_addr, A_size + B_size);", "PROF_MARK(IssueLoad);"),
            ("behind", "    mbarrier_wait(tma_mbar_addr + tma_stage * 8, tma_phase);", "PROF_MARK(WaitTile);"),
            ("behind", "    tcgen05_commit_mcast<CTA_GROUP>(mma_mbar_addr + tma_stage * 8, cta_mask);", "PROF_MARK(IssueMma);"),
            ("behind", "      mbarrier_wait(epilogue_mbar_addr + mainloop_stage * 8, epilogue_phase);", "PROF_MARK(WaitEpilogue);"),
            ("behind", "      mbarrier_wait(mainloop_mbar_addr + mainloop_stage * 8, mainloop_phase);", "PROF_MARK(WaitMainloop);"),
            ("behind", "      epilogue(mainloop_stage, bid_m, bid_n);", "PROF_MARK(Epilogue);"),
            ("behind", "    tcgen05_dealloc<CTA_GROUP>(taddr, BLOCK_N * 2);", "PROF_CLOSE();"),
        ],
    },
}
# Products in CUDA cores, 8 by 8 a thread, 128 registers at most.
LLM_C = {
    "name": "llm.c matmul", "flags": ["-arch=sm_80", "-std=c++17"], "kernel": "matmul_forward_kernel4", "roots": ["llm.c"], "include": ["llm.c"],
    "stubs": {"cublas_v2.h": "typedef int cublasStatus_t, cublasComputeType_t;\ntypedef void *cublasHandle_t;\n"
                             "#define CUBLAS_STATUS_SUCCESS 0"},
    "sections": "PROF_SECTIONS(Llm, Matmul, Bias, Load, Product, Store)",
    "source": "llm.c/train_gpt2_fp32.cu",
    "edits": {
        "llm.c/train_gpt2_fp32.cu": [
            ("from", "// kernel launchers", ""),
            ("before", "    int oc = 8*(blockIdx.y * blockDim.y + threadIdx.y);", "PROF_OPEN(Matmul);"),
            ("before", "    int si_start = 4*(16 * threadIdx.y + threadIdx.x);", "PROF_MARK(Bias);"),
            ("before", "        for (int si = si_start; si < si_start + 32; si += 4) {", "PROF_MARK(Load);"),
            ("before", "                    vals[ii][ji] += lhs.w * rhs[ji].w;", "PROF_MARK(Product);", 1, 4),
            ("before", "            st_vec(out + (8*threadIdx.x+i) * OC + 8*threadIdx.y + j, result);", "PROF_MARK(Store); PROF_CLOSE();", 1, 3),
        ],
    },
}
LLM_C_90 = {**LLM_C, "name": "llm.c matmul on sm_90", "flags": ["-arch=sm_90", "-std=c++17"]}
KERNELS = (DECODE, TCGEN05, TUTORIAL, PINGPONG, THUNDERKITTENS, THUNDERKITTENS_ROWS, LEARN_CUDA, LLM_C, LLM_C_90)
