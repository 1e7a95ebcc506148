// SPDX-License-Identifier: MIT
// One launch, then one of the ways out of a program: argv[1] says which, argv[2] is a signal, argv[3] a file to
// count launches in. Each launch has 2 blocks, and each block passes 1 mark.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <errno.h>
#include <fcntl.h>
#include <cassert>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // sigset, which old programs call

PROF_SECTIONS(WaysOut, Kernel, Only)

__global__ void kernel(int *out) {
  PROF_KERNEL(Kernel);
  out[threadIdx.x] = (int)threadIdx.x;
  PROF_MARK(Only);
}

__global__ void hangs(volatile int *stop, volatile int *begun) {
  PROF_KERNEL(Kernel);
  begun[blockIdx.x] = 1;
  while (!*stop)
    PROF_MARK(Only);
}

static void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  _Exit(1);
}

static int *room() {
  static int *out;
  if (!out)
    check(cudaMalloc(&out, 32 * sizeof(int)), "cudaMalloc");
  return out;
}

static void launch() {
  kernel<<<2, 32>>>(room());
  check(cudaGetLastError(), "the launch");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

static int given; // the signal
static volatile unsigned *launches; // that have ended, in a file: who reads it is not killed with us
static void count_in(const char *path) {
  const int file = open(path, O_RDWR);
  void *at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  launches = at == MAP_FAILED ? nullptr : (volatile unsigned *)at;
}

static volatile sig_atomic_t seen;
static void count(int) { seen = seen + 1; }

// A kernel that never ends, in a thread that waits for it.
static volatile int *board; // 0: stop; 1, 2: its blocks have begun
static void *hang(void *) {
  hangs<<<2, 32>>>(board, board + 1);
  cudaDeviceSynchronize();
  return nullptr;
}

static void hang_in(pthread_t *thread) {
  check(cudaMallocManaged(&board, 3 * sizeof(int)), "cudaMallocManaged");
  board[0] = board[1] = board[2] = 0;
  pthread_create(thread, nullptr, hang, nullptr);
  while (!board[1] || !board[2])
    usleep(1000);
}

static void *launch_later(void *) {
  usleep(200000);
  launch();
  puts("the thread has ended");
  return nullptr;
}

static void *launch_for_ever(void *) {
  for (;;) {
    launch();
    if (launches)
      __atomic_add_fetch(launches, 1, __ATOMIC_SEQ_CST);
  }
}

static void *exits(void *code) { exit((int)(size_t)code); }
static void *leaves(void *code) { _exit((int)(size_t)code); }
static void *becomes(void *) {
  execl("/bin/sh", "sh", "-c", "exit 5", (char *)nullptr);
  return nullptr;
}

static void *launch_anyhow(void *count) { // in a process that ends, kernels go
  int *out;
  if (!cudaMalloc(&out, 32 * sizeof(int)))
    for (;;) {
      kernel<<<2, 32>>>(out);
      if (!cudaGetLastError() && !cudaDeviceSynchronize())
        __atomic_add_fetch((unsigned *)count, 1, __ATOMIC_SEQ_CST);
    }
  return nullptr;
}

// An end while other threads launch, and some of them may be at their first launch still.
static int amid(const char *how) {
  static unsigned count;
  pthread_t thread;
  for (int i = 0; i < 3; i++)
    pthread_create(&thread, nullptr, launch_anyhow, &count);
  while (__atomic_load_n(&count, __ATOMIC_SEQ_CST) < 20)
    usleep(100);
  if (!strcmp(how, "return"))
    return 4;
  if (!strcmp(how, "signal"))
    raise(SIGTERM);
  pthread_create(&thread, nullptr, exits, (void *)5);
  if (!strcmp(how, "exits"))
    exit(5);
  if (!strcmp(how, "leaves"))
    pthread_create(&thread, nullptr, leaves, (void *)5);
  if (!strcmp(how, "becomes"))
    pthread_create(&thread, nullptr, becomes, nullptr);
  pause();
  return 0;
}

static void *cancelled(void *main_thread) {
  pthread_cancel(*(pthread_t *)main_thread);
  return nullptr;
}

// Ends the program in spite of what is blocked: sigsuspend puts the mask back behind a handler of anybody.
static void suspended() {
  sigset_t one, none;
  sigemptyset(&none);
  sigemptyset(&one);
  sigaddset(&one, given);
  sigprocmask(SIG_BLOCK, &one, nullptr);
  raise(given);
  sigsuspend(&none);
  puts("sigsuspend has returned");
}

// Two signals are pending: the one that comes first ends the program.
static void two_pending() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGHUP);
  sigaddset(&both, SIGTERM);
  sigprocmask(SIG_BLOCK, &both, nullptr);
  raise(SIGTERM);
  raise(SIGHUP);
  sigprocmask(SIG_UNBLOCK, &both, nullptr);
}

// The disposition as each of the functions tells and takes it.
static int dispositions() {
  struct sigaction action, old;
  memset(&old, 0xff, sizeof old);
  sigaction(given, nullptr, &old);
  printf("sigaction %d flags %x\n", old.sa_handler == SIG_DFL, (unsigned)old.sa_flags & ~0x04000000u);
  printf("signal %d", signal(given, count) == SIG_DFL);
  printf(" %d", signal(given, SIG_DFL) == count);
  printf(" %d", signal(given, SIG_IGN) == SIG_DFL);
  printf(" %d\n", signal(given, SIG_DFL) == SIG_IGN);
  printf("sigset %d", sigset(given, count) == SIG_DFL);
  raise(given);
  printf(" %d\n", sigset(given, SIG_DFL) == count);
  printf("hold %d", sigset(given, SIG_HOLD) == SIG_DFL);
  printf(" %d\n", sigset(given, SIG_DFL) == SIG_HOLD);
  printf("sysv %d", sysv_signal(given, count) == SIG_DFL);
  raise(given);
  printf(" %d\n", sysv_signal(given, SIG_DFL) == SIG_DFL);
  action = old;
  action.sa_handler = count;
  printf("again %d", sigaction(given, &action, &old));
  printf(" %d", old.sa_handler == SIG_DFL);
  raise(given);
  printf(" %d", sigaction(given, &old, &action));
  printf(" %d seen %d\n", action.sa_handler == count, (int)seen);
  errno = 0;
  printf("refused %d", sigaction(SIGKILL, &old, nullptr));
  printf(" %d\n", errno == EINVAL);
  fflush(stdout);
  return system("exit 3") >> 8; // which sets SIGINT and SIGQUIT, and what the child gets of them
}

static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// A child that was forked, and does nothing, ends by the signal as well.
static int child_ends() {
  const pid_t child = fork();
  if (!child) {
    raise(given);
    _exit(0);
  }
  const int first = status_of(child), second = vfork();
  if (!second) {
    signal(given, SIG_DFL);
    raise(given);
    _exit(0);
  }
  const int third = status_of(second);
  signal(given, count);
  raise(given);
  return first == 128 + given && third == first && seen == 1 ? 5 : 1;
}

static void leave_in_handler(int number) {
  if (number == SIGTERM)
    exit(5);
  _exit(6);
}

// A stack for handlers: the least that may be, one that is gone, one of use. No handler of the program uses it.
static void alternate(size_t bytes, bool gone) {
  stack_t stack = {};
  stack.ss_sp = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = bytes;
  printf("sigaltstack %d\n", sigaltstack(&stack, nullptr));
  fflush(stdout);
  if (gone)
    munmap(stack.ss_sp, 65536);
}

static int deeper(volatile char *above) {
  volatile char room[4096];
  room[0] = above ? above[0] : 0;
  return deeper(room) + room[1];
}

// abort() that is caught goes on; one whose handler returns does not.
static sigjmp_buf back;
static void jump(int) { siglongjmp(back, 1); }
static void aborts(bool by_assert, void (*handler)(int)) {
  signal(SIGABRT, handler);
  if (!sigsetjmp(back, 1)) {
    if (by_assert)
      assert(seen == 4711);
    abort();
  }
  printf("caught, seen %d\n", (int)seen);
  launch();
}

static int alarms() {
  const itimerval every = {{0, 500}, {0, 500}};
  signal(SIGALRM, count);
  setitimer(ITIMER_REAL, &every, nullptr);
  for (int i = 0; i < 50; i++) {
    launch();
    if (i % 10 == 0 && system("true"))
      return 3;
  }
  return seen ? 0 : 4;
}

// A thread that may be cancelled anywhere in its first launch.
static void *launches_first(void *begun) {
  int *out = room();
  *(volatile bool *)begun = true;
  kernel<<<2, 32>>>(out);
  for (;;)
    pause();
  return nullptr;
}

static int cancelled(int after_us) {
  volatile bool begun = false;
  pthread_t thread;
  pthread_create(&thread, nullptr, launches_first, (void *)&begun);
  while (!begun)
    usleep(100);
  usleep(after_us);
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  puts("cancelled");
  return 0;
}

static void last_word() { puts("an exit handler has run"); }

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  pthread_t thread, self = pthread_self();
  given = argc > 2 ? atoi(argv[2]) : SIGTERM;
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  atexit(last_word);
  if (argc > 3)
    count_in(argv[3]);
  if (!strcmp(how, "leaves-early"))
    return 3;
  if (!strcmp(how, "amid"))
    return amid(argv[2]);
  if (!strcmp(how, "cancelled"))
    return cancelled(given), launch(), 3;
  if (!strcmp(how, "only-queued")) {
    kernel<<<2, 32>>>(room());
    raise(given);
  }
  launch();
  if (!strcmp(how, "device-fault")) {
    kernel<<<2, 32>>>(nullptr);
    return cudaDeviceSynchronize() == cudaSuccess ? 1 : 3;
  }
  if (!strcmp(how, "raise"))
    raise(given);
  if (!strcmp(how, "kill"))
    kill(getpid(), given), pause();
  if (!strcmp(how, "fault"))
    *(volatile int *)nullptr = 1;
  if (!strcmp(how, "suspended"))
    suspended();
  if (!strcmp(how, "two-pending"))
    two_pending();
  if (!strcmp(how, "dispositions"))
    return dispositions();
  if (!strcmp(how, "becomes")) // another program: what it gets of the signals
    signal(SIGUSR1, SIG_IGN), signal(SIGUSR2, count), fflush(stdout),
        execl("/bin/grep", "grep", "^Sig[^Q]", "/proc/self/status", (char *)nullptr);
  if (!strcmp(how, "child"))
    return child_ends();
  if (!strcmp(how, "again")) // set and put back, as a handler that raises its own signal does
    signal(given, count), raise(given), signal(given, SIG_DFL), raise(given);
  if (!strcmp(how, "handler"))
    signal(given, leave_in_handler), raise(given);
  if (!strcmp(how, "stops")) // by itself, as an editor does
    puts("stopping"), fflush(stdout), raise(SIGSTOP), puts("going on"), exit(9);
  if (!strcmp(how, "alternate-small"))
    alternate(2048, false), raise(given); // MINSIGSTKSZ, as programs were compiled with it
  if (!strcmp(how, "alternate-gone"))
    alternate(65536, true), raise(given);
  if (!strcmp(how, "overflow-alternate"))
    alternate(65536, false), exit(deeper(nullptr));
  if (!strcmp(how, "abort-caught") || !strcmp(how, "assert-caught"))
    aborts(*how == 'a' && how[1] == 's', jump);
  if (!strcmp(how, "abort-returns") || !strcmp(how, "assert-returns"))
    aborts(*how == 'a' && how[1] == 's', count);
  if (!strcmp(how, "abort-ignored"))
    aborts(false, SIG_IGN);
  if (!strcmp(how, "raw-exit")) // of main's thread alone, which is the only one of the program
    puts("leaving"), fflush(stdout), syscall(SYS_exit, 3);
  if (!strcmp(how, "raw-exit-group"))
    puts("leaving"), fflush(stdout), syscall(SYS_exit_group, 3);
  if (!strcmp(how, "raw-exit-forked")) {
    fflush(stdout);
    const pid_t child = fork();
    if (!child)
      syscall(SYS_exit, 3);
    printf("child %d\n", status_of(child));
  }
  if (!strcmp(how, "alarms"))
    return alarms();
  if (!strcmp(how, "hang") || !strcmp(how, "hang-exit"))
    hang_in(&thread);
  if (!strcmp(how, "hang"))
    kill(getpid(), given), pause();
  if (!strcmp(how, "hang-exit")) // which waits for the kernel, until a signal comes
    puts("waiting"), fflush(stdout), exit(7);
  if (!strcmp(how, "loop"))
    puts("looping"), fflush(stdout), launch_for_ever(nullptr);
  if (!strcmp(how, "loops")) {
    for (int i = 0; i < 3; i++)
      pthread_create(&thread, nullptr, launch_for_ever, nullptr);
    puts("looping"), fflush(stdout), pause();
  }
  if (!strcmp(how, "pthread-exit"))
    pthread_exit(nullptr);
  if (!strcmp(how, "host-call")) // of which the simulated device has a thread
    cudaLaunchHostFunc(nullptr, [](void *) { puts("the host function has run"); }, nullptr), pthread_exit(nullptr);
  if (!strcmp(how, "thread-goes-on"))
    pthread_create(&thread, nullptr, launch_later, nullptr), pthread_exit(nullptr);
  if (!strcmp(how, "cancel"))
    pthread_create(&thread, nullptr, cancelled, &self), pause();
  puts("main returns");
  return 0;
}
