// SPDX-License-Identifier: MIT
// children COUNT fork|spawn: starts that many children, one behind the other, each of which launches one kernel of
// 2 blocks with 1 mark; every fourth ends by a signal. A child that is to be spawned is this program with `one`.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

PROF_SECTIONS(Children, Kernel, Only)

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

static int one(bool killed) {
  int *out;
  if (cudaMalloc(&out, 32 * sizeof(int)))
    return 3;
  kernel<<<2, 32>>>(out);
  if (cudaDeviceSynchronize())
    return 3;
  if (killed)
    raise(SIGTERM);
  return 0;
}

int main(int argc, char **argv) {
  const std::string how = argc == 3 ? argv[2] : "";
  const int count = argc == 3 ? atoi(argv[1]) : 0;
  if (how == "one")
    return one(count != 0);
  for (int i = 0; i < count; i++) {
    const bool killed = i % 4 == 3;
    pid_t child = 0;
    if (how == "fork") {
      child = fork();
      if (!child)
        exit(one(killed));
    } else {
      char kill_it[] = "1", let_it[] = "0", word[] = "one";
      char *command[] = {argv[0], killed ? kill_it : let_it, word, nullptr};
      if (posix_spawn(&child, argv[0], nullptr, nullptr, command, environ))
        return 3;
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child)
      return 3;
    if (killed ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM : status != 0) {
      printf("child %d ended with status %d\n", i, status);
      return 4;
    }
  }
  printf("%d children\n", count);
  return 0;
}
