// SPDX-License-Identifier: MIT
// The program holds the session: a buffer handed to kernels as an argument, recording switched off
// and on between launches, a NULL buffer, and kernels that find their buffer by the symbol before
// and after arming. While recording is off, not one byte of the buffer may change.
#include "truth.cuh"

#include "inkmark/session.h"

PROF_SECTIONS(Explicit, ByArgument, BySymbol, Work, Helped)

constexpr int blocks = 4, threads = 64;

__device__ __noinline__ unsigned help(unsigned x) {
  x = x * 5 + 1;
  PROF_MARK(Helped);
  return x;
}

__global__ void argument_kernel(prof_buffer buffer, unsigned *out) {
  PROF_KERNEL(buffer, ByArgument);
  unsigned x = out[blockIdx.x * threads + threadIdx.x];
  for (int i = 0; i < 3; i++) {
    PROF_ITER(i);
    x = help(x);
    PROF_MARK(Work);
  }
  out[blockIdx.x * threads + threadIdx.x] = x;
}

__global__ void symbol_kernel(unsigned *out) {
  PROF_KERNEL(BySymbol);
  out[blockIdx.x * threads + threadIdx.x] = help(out[blockIdx.x * threads + threadIdx.x]);
  PROF_MARK(Work);
}

static ink_session *session;
static prof_buffer buffer = {nullptr};

#define INK(call)                                                                                  \
  do {                                                                                             \
    ink_error error_ = {};                                                                         \
    if ((call)(&error_) != INK_OK) {                                                               \
      fprintf(stderr, "%s\n", error_.message);                                                     \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static void open_session() {
#ifndef INKMARK_DISABLE
  ink_session_options options = {};
  options.size = sizeof options;
  options.output = getenv("INKMARK_TRUTH_OUTPUT");
  options.records_per_track = 1024;
  options.tracks = 64;
  options.drain_ms = UINT32_MAX;
  options.replace = true;
  if (!options.output)
    return;
  INK([&](ink_error *error) { return ink_session_open(&options, &session, error); });
  INK([&](ink_error *error) { return ink_session_buffer(session, 0, &buffer, error); });
#endif
}

static void switch_to(bool on) {
  if (session)
    INK([&](ink_error *error) { return ink_session_set_on(session, on, error); });
}

// Every byte of the buffer: states, header, kernel slots, tracks with both rings.
static std::vector<unsigned char> snapshot() {
  std::vector<unsigned char> bytes;
  if (!buffer.device)
    return bytes;
  ink_buffer header;
  const auto add = [&](const void *at, size_t n) {
    const size_t old = bytes.size();
    bytes.resize(old + n);
    CUDA(cudaMemcpy(bytes.data() + old, at, n, cudaMemcpyDeviceToHost));
  };
  CUDA(cudaMemcpy(&header, buffer.device, sizeof header, cudaMemcpyDeviceToHost));
  const size_t tracks = header.tracks_mask + 1;
  add(buffer.device, sizeof header + (header.kernel_mask + 1) * sizeof(ink_kernel_slot));
  add((char *)buffer.device - tracks * sizeof(ink_device_state), tracks * sizeof(ink_device_state));
  add((char *)header.rings_end - tracks * header.stride - sizeof(ink_device_track), tracks * header.stride);
  return bytes;
}

int main() {
  const size_t n = blocks * threads;
  unsigned *out = device_zeros<unsigned>(n);
  open_session();
  argument_kernel<<<blocks, threads>>>(buffer, out);
  argument_kernel<<<blocks, threads>>>(prof_buffer{nullptr}, out);
  symbol_kernel<<<blocks, threads>>>(out);
  CUDA(cudaDeviceSynchronize());
  switch_to(false);
  std::vector<unsigned char> before = snapshot();
  argument_kernel<<<blocks, threads>>>(buffer, out);
  CUDA(cudaDeviceSynchronize());
  const bool unchanged = before == snapshot();
  switch_to(true);
  argument_kernel<<<blocks, threads>>>(buffer, out);
  if (session)
    INK([&](ink_error *error) { return ink_session_arm(session, error); });
  symbol_kernel<<<blocks, threads>>>(out);
  CUDA(cudaDeviceSynchronize());
  const bool changed = !session || before != snapshot(); // or the comparison above shows nothing
  if (session)
    INK([&](ink_error *error) { return ink_session_close(session, nullptr, error); });
  symbol_kernel<<<blocks, threads>>>(out); // disarmed again
  CUDA(cudaDeviceSynchronize());

  std::vector<unsigned> values = from_device(out, n), expected(n);
  for (unsigned &x : expected)
    for (int i = 0; i < 4 * 3 + 3; i++)
      x = x * 5 + 1;
  print_bits("explicit", values);
  if (!unchanged || !changed)
    fprintf(stderr, "the buffer %s\n", unchanged ? "never changes" : "changed while off");
  return values == expected && unchanged && changed ? 0 : 1;
}
