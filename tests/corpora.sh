#!/bin/bash
# SPDX-License-Identifier: MIT
# corpora.sh DIR BUILD [--sample] [FAMILY...]: tests/corpus.sh --bounds over each family of public repositories below DIR, as
# tests/corpus_fetch.sh brings them there, with its own flags. --sample takes two small sources of HeCBench, drawn with a seed,
# and holds them against the bounds that two sources can be held against: not against medians and percentiles.
# A line for each family, then the bounds over all of their sources together; exit code 1 when one of these does not hold, 77 when
# nothing was there to be measured. What is missing is counted. CORPUS_EXTRA: a folder with the headers of cuRAND, cuBLAS, cuSPARSE and cuSOLVER and of apache-tvm-ffi, as PyPI has
# them (CUTLASS's examples, some of HeCBench, FlashInfer's csrc, PyTorch). torch's wheel is unpacked into DIR/torch, so that
# DIR/torch/torch/include is there (PyTorch, FlashAttention's csrc). CORPUS_LOGS names a folder for the whole outputs, CORPUS_CACHE one that keeps results (see corpus.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { echo "usage: corpora.sh DIR BUILD [--sample] [FAMILY...]" >&2; exit 2; }
[ -n "$1" ] && [ -d "$1" ] || { echo "skipped: no corpus in '$1' (tests/corpus_fetch.sh brings it)"; exit 77; }
dir=$(cd "$1" && pwd) build=$(cd "$2" && pwd) || exit 2
shift 2
sample=
[ "${1:-}" != --sample ] || { sample=1; shift; }
wanted=" $* "
logs=${CORPUS_LOGS:-$(mktemp -d)}
mkdir -p "$logs"
[ -n "${CORPUS_LOGS:-}" ] || trap 'rm -rf "$logs"' EXIT
measured=0 missing=0 over=0
export CORPUS_ROWS=$logs/rows
rm -f "$CORPUS_ROWS"

# family NAME FOLDER FILES MOST FLAGS: MOST of the sources, drawn with a seed; 0: all
family() {
  [ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]] || return
  if [ ! -d "$dir/$2" ] || ! (cd "$dir/$2" && find . -name '*.cu' | cut -c3- | grep -qE "$3"); then
    echo "skipped: $1: not in '$dir/$2'"
    missing=$((missing + 1))
    return
  fi
  CORPUS_FILES=$3 CORPUS_MAX=$4 CORPUS_SEED=${CORPUS_SEED:-13} CORPUS_FLAGS=$5 "$here/corpus.sh" --bounds "$dir/$2" \
    "$build/cli/inkmark" >"$logs/$1" 2>&1
  local code=$?
  measured=$((measured + 1))
  [ $code = 0 ] || over=$((over + 1))
  printf '%s: %s; %s\n' "$1" "$(grep -m1 'sources compiled' "$logs/$1" || tail -n 1 "$logs/$1")" \
    "$(grep -o '^bound [a-z_0-9]* .*DOES NOT HOLD' "$logs/$1" | awk '{ printf "%s%s %s", n++ ? ", " : "over: ", $2, $3 } END { if (!n) printf "all bounds hold" }')"
  [ -z "${CORPUS_LOGS:-}" ] || return
  grep -E '^lost|^unstamped|^spills|^C75xx|LOST|not counted' "$logs/$1"
}

relaxed=--expt-relaxed-constexpr
extra=${CORPUS_EXTRA:+ -isystem $CORPUS_EXTRA}
cutlass="$relaxed -I$dir/cutlass/include -I$dir/cutlass/tools/util/include -I$dir/cutlass/examples/common$extra"
torch=" -isystem $dir/torch/torch/include -isystem $dir/torch/torch/include/torch/csrc/api/include"
# FlashAttention's own switches: 3 instances of the kernel
few_instances="-DFLASHATTENTION_DISABLE_DROPOUT -DFLASHATTENTION_DISABLE_ALIBI -DFLASHATTENTION_DISABLE_UNEVEN_K -DFLASHATTENTION_DISABLE_SOFTCAP -DFLASHATTENTION_DISABLE_LOCAL"
sm_80="-arch=sm_80" sm_90="-gencode arch=compute_90a,code=sm_90a" sm_100="-gencode arch=compute_100a,code=sm_100a"
if [ -n "$sample" ]; then
  export CORPUS_BOUNDS=${CORPUS_BOUNDS:-registers_p90=32 off_median=9 off_worst=9 cold_median=20 cold_worst=20 warm_median=9}
  family hecbench-sample HeCBench/src '^(relu|dpid|reverse|lif|zoom|romberg)-cuda/main\.cu$' 2 "-std=c++17 $sm_80 -I$dir/HeCBench/src/include"
else
  family hecbench HeCBench/src '^[^/]+-cuda/main\.cu$' 60 "-std=c++17 $sm_80 -I$dir/HeCBench/src/include$extra"
  family deepgemm DeepGEMM '^gemm_driver\.cu$' 0 "-std=c++20 $sm_90 $relaxed -I$dir/DeepGEMM/deep_gemm/include -I$dir/cutlass/include"
  # of its csrc those that nvcc 13.0 compiles in less than a minute with no file made by its build
  family flashinfer flashinfer '^csrc/(cascade|concat_mla|norm|quantization|renorm)\.cu$' 0 "-std=c++17 $sm_80 $relaxed -I$dir/flashinfer/include -I$dir/flashinfer/csrc$extra"
  # NCCL: nccl.h from nccl.h.in, and python3 src/device/generate.py src/device/gensrc "AllReduce Sum f32 RING *"
  family nccl nccl 'gensrc/all_reduce_sum_f32\.cu$' 0 "-std=c++17 $sm_80 $relaxed --extended-lambda -rdc=true -I$dir/nccl/src/include -I$dir/nccl/src/device -I$dir/nccl/src/include/plugin"
  family cutlass-80 cutlass '^examples/(00_basic_gemm/basic_gemm|cute/tutorial/(sgemm_1|sgemm_2|sgemm_sm80|tiled_copy)|14_ampere.*|13_.*/fused_two_gemms_f16_sm80_rf)\.cu$' 0 "-std=c++17 $sm_80 $cutlass -I$dir/cutlass/examples/13_two_tensor_op_fusion"
  family cutlass-90 cutlass '^examples/(cute/tutorial/hopper/.*|48_hopper.*)\.cu$' 0 "-std=c++17 $sm_90 $cutlass"
  family cutlass-100 cutlass '^examples/cute/tutorial/blackwell/0[123].*\.cu$' 0 "-std=c++17 $sm_100 $cutlass"
  family flash-hopper flash-attention/hopper '^(flash_prepare_scheduler|flash_fwd_combine|instantiations/flash_fwd_hdim64_bf16_sm90)\.cu$' 0 "-std=c++17 $sm_90 $cutlass -I$dir/flash-attention/hopper"
  family pytorch torch '^aten/src/ATen/native/cuda/.*\.cu$' 0 "-std=c++20 $sm_80 $relaxed --expt-extended-lambda -I$dir/torch/torch/include -I$dir/torch/torch/include/torch/csrc/api/include$extra"
  family flash-csrc flash-attention/csrc/flash_attn/src '^flash_fwd_hdim32_bf16_sm80\.cu$' 0 "-std=c++17 $sm_80 $cutlass$torch $few_instances"
  # its kernels/rotary does not compile with nvcc 13.0 (harness.impl); layernorm was not tried
  family thunderkittens ThunderKittens '^kernels/gemm/educational_h100/level_04\.cu$' 0 "-std=c++20 $sm_90 -DKITTENS_HOPPER -DKITTENS_SM90 $relaxed --expt-extended-lambda -I$dir/ThunderKittens/include -I$dir/ThunderKittens/prototype -lcuda"
fi
echo "$measured families measured, $over over a bound, $missing skipped"
[ $measured -gt 0 ] || exit 77
python3 "$here/instrument/corpus_bounds.py" "$CORPUS_ROWS" >"$logs/together"
together=$?
grep -vE '^(in no section|no marks in loops)' "$logs/together"
exit $together
