# SPDX-License-Identifier: MIT
"""The real kernels: where each is in the packages of packages.txt, how it is compiled, and where its marks go, as its authors would put them.
An edit is (place, line, text): text goes behind or in front of the only line that has `line` in it, or in place of it
within that line; a number at the end says which of several."""

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
KERNELS = (DECODE, TCGEN05, TUTORIAL, PINGPONG)
