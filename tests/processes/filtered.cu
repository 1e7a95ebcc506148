// SPDX-License-Identifier: MIT
// filtered WAY: after it is armed, allows itself and all its threads only the system calls that it needs when it
// is not recorded, then launches kernels over several drains and ends by WAY (return, exit, _exit, quick_exit,
// abort). Any other call, whoever makes it, ends it with code 99 and a word on which one.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

PROF_SECTIONS(Filtered, Kernel, Only)

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

// Of memory, of locks and time, of signals, of output, and the ways out. No file is opened, no thread or process
// is started, nothing is connected.
static const int allowed[] = {
    SYS_mmap,         SYS_munmap,         SYS_mprotect,      SYS_madvise,     SYS_brk,
    SYS_futex,        SYS_nanosleep,      SYS_clock_nanosleep, SYS_clock_gettime, SYS_sched_yield,
    SYS_restart_syscall, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_tgkill,
    SYS_getpid,       SYS_gettid,         SYS_read,          SYS_write,       SYS_exit,
    SYS_exit_group,
};

static void refused(int, siginfo_t *info, void *) {
  char text[100];
  const int n = snprintf(text, sizeof text, "system call %d in thread %ld of %ld\n", info->si_syscall,
                         syscall(SYS_gettid), (long)getpid());
  if (write(2, text, (size_t)n) < 0)
    syscall(SYS_exit_group, 98);
  syscall(SYS_exit_group, 99);
}

static bool filter() {
  enum { N = sizeof allowed / sizeof *allowed };
  sock_filter code[N + 4];
  unsigned at = 0;
  code[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (unsigned i = 0; i < N; i++)
    code[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], (unsigned char)(N - i), 0);
  code[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  code[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program = {(unsigned short)at, code};
  return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
         !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void launch(int *out) {
  kernel<<<2, 32>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess)
    _exit(3);
}

int main(int argc, char **argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  struct sigaction action = {};
  action.sa_sigaction = refused;
  action.sa_flags = SA_SIGINFO;
  int *out;
  if (cudaMalloc(&out, 32 * sizeof(int)) || sigaction(SIGSYS, &action, nullptr))
    return 2;
  launch(out);
  fputs("begun\n", stdout);
  fflush(stdout);
  if (!filter()) {
    perror("this machine has no seccomp filters");
    return 77;
  }
  for (int i = 0; i < 19; i++) {
    launch(out);
    usleep(60000);
  }
  fputs("done\n", stdout);
  fflush(stdout);
  if (way == "exit")
    exit(5);
  if (way == "_exit")
    _exit(5);
  if (way == "quick_exit")
    quick_exit(5);
  if (way == "abort")
    abort();
  return 5;
}
