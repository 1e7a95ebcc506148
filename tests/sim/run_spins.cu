/* SPDX-License-Identifier: MIT */
/* A kernel that spins until the host changes a flag in mapped memory, or for ever: the host does so
 * from another thread, from a signal handler, without any call of the runtime (INKMARK_SIM_ASYNC),
 * or kills the process. And the order in which the host sees what a thread stores. One case a run,
 * named on the command line. */
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

struct board {
  volatile int begun, stop, seen, copied;
};

enum { STORES = 200000 };

__global__ void spin(volatile int *begun, volatile int *stop, volatile int *seen)
{
  *begun = 1;
  __threadfence_system();
  while (!*stop) {
  }
  *seen = *stop;
}

/* The second word never runs ahead of the first. */
__global__ void store_in_order(volatile int *first, volatile int *second)
{
  for (int i = 1; i <= STORES; i++) {
    *first = i;
    *second = i;
  }
}

static board *shared;      /* a memfd that is mapped MAP_SHARED */
static int *on_device;
static volatile int handled, caught;

static void wait_for(volatile int *what)
{
  while (!*what) usleep(1000); /* run.sh's guard ends what never comes */
}

static void make_board(void)
{
  const int fd = memfd_create("board", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, sizeof(board))) exit(1);
  shared = (board *)mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared == MAP_FAILED) exit(1);
}

static void launch(void)
{
  board *alias;
  OK(cudaHostRegister(shared, sizeof(board), cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&alias, shared, 0));
  OK(cudaMalloc(&on_device, 4));
  OK(cudaMemset(on_device, 0x11, 4));
  OK(cudaDeviceSynchronize());
  spin<<<1, 1>>>(&alias->begun, &alias->stop, &alias->seen);
  OK(cudaGetLastError());
}

static void *set_flag(void *)
{
  wait_for(&shared->begun);
  shared->stop = 42;
  return NULL;
}

static void *signal_main(void *main_thread)
{
  wait_for(&shared->begun);
  pthread_kill(*(pthread_t *)main_thread, SIGUSR1);
  return NULL;
}

/* What a recorder's thread does: a copy in a stream of its own, while the kernel spins. */
static void *copy_when_handled(void *)
{
  int value = 0;
  cudaStream_t stream;
  wait_for(&handled);
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaMemcpyAsync(&value, on_device, 4, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK_EQUAL(value, 0x11111111);
  shared->copied = 1;
  return NULL;
}

static void exit_from_handler(int) { exit(checks_failed ? 1 : 7); }

static void wait_in_handler(int)
{
  handled = 1;
  wait_for(&shared->copied);
  caught++;
  shared->stop = 42;
}

static void flag_by_thread(void)
{
  pthread_t thread;
  launch();
  pthread_create(&thread, NULL, set_flag, NULL);
  OK(cudaDeviceSynchronize());
  CHECK_EQUAL(shared->seen, 42);
  pthread_join(thread, NULL);
}

static void by_signal(void (*handler)(int))
{
  static pthread_t main_thread;
  pthread_t thread, copier;
  main_thread = pthread_self();
  signal(SIGUSR1, handler);
  launch();
  pthread_create(&thread, NULL, signal_main, &main_thread);
  pthread_create(&copier, NULL, copy_when_handled, NULL);
  OK(cudaDeviceSynchronize());
  CHECK_EQUAL(caught, 1);
  CHECK_EQUAL(shared->seen, 42);
  pthread_join(thread, NULL);
  pthread_join(copier, NULL);
}

static void *read_in_order(void *)
{
  int second;
  do {
    second = shared->seen;
    const int first = shared->begun;
    if (first < second) CHECK_EQUAL(first, second);
  } while (second < STORES);
  return NULL;
}

static void order(void)
{
  pthread_t reader;
  board *alias;
  OK(cudaHostRegister(shared, sizeof(board), cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&alias, shared, 0));
  pthread_create(&reader, NULL, read_in_order, NULL);
  store_in_order<<<1, 1>>>(&alias->begun, &alias->seen);
  OK(cudaDeviceSynchronize());
  pthread_join(reader, NULL);
  CHECK_EQUAL(shared->begun, STORES);
}

/* The two wait for each other; the host makes no call. */
static void handshake(void)
{
  launch();
  wait_for(&shared->begun);
  shared->stop = 43;
  wait_for(&shared->seen);
  CHECK_EQUAL(shared->seen, 43);
  OK(cudaDeviceSynchronize());
}

/* What a killed process's kernel had stored is there. */
static void killed(void)
{
  const pid_t child = fork();
  if (!child) {
    launch();
    cudaDeviceSynchronize();
    _exit(1);
  }
  int status = 0;
  wait_for(&shared->begun);
  CHECK(!kill(child, SIGKILL));
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  CHECK_EQUAL(shared->begun, 1);
  CHECK_EQUAL(shared->seen, 0);
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  alarm(1800); /* a child of `killed` too ends */
  make_board();
  if (!strcmp(what, "thread")) flag_by_thread();
  else if (!strcmp(what, "exit")) by_signal(exit_from_handler);
  else if (!strcmp(what, "wait")) by_signal(wait_in_handler);
  else if (!strcmp(what, "handshake")) handshake();
  else if (!strcmp(what, "killed")) killed();
  else if (!strcmp(what, "order")) order();
  else return 2;
  return check_result();
}
