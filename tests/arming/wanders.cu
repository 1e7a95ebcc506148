// SPDX-License-Identifier: MIT
// A program that does what its arguments say, one after the other, and writes a line on each: what it prints,
// leaves and ends with is to be the same whether it is recorded or not. check_writer.py makes the arguments.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

PROF_SECTIONS(Wanders, Kernel, Work)

__global__ void kernel(int *out, int n) {
  PROF_KERNEL(Kernel);
  int sum = 0;
  for (int i = 0; i < n; i++) {
    PROF_ITER(i);
    sum += i;
    PROF_MARK(Work, sum);
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

static void say(const char *what, long number) {
  char line[128];
  const int n = snprintf(line, sizeof line, "%s %ld\n", what, number);
  if (write(1, line, (size_t)n) != n)
    return; // standard output is a file beyond its limit, or closed
}

static long launch(int n) {
  int *out = nullptr, host[3] = {};
  if (cudaMalloc(&out, sizeof host) != cudaSuccess)
    return -1;
  kernel<<<3, 32>>>(out, n);
  const cudaError_t code = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return code == cudaSuccess ? host[0] + host[1] + host[2] : -(long)code;
}

static void *launches(void *n) { return (void *)launch((int)(size_t)n); }

static volatile sig_atomic_t seen;
static void on_signal(int number) { seen = seen * 100 + number; }

static long end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

static void walk(char **steps);

// A child that walks on by itself; the parent waits for it and goes on behind it.
static void in_child(bool by_handler, char **steps) {
  const pid_t child = by_handler ? fork() : (pid_t)syscall(SYS_clone, (unsigned long)SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    if (by_handler)
      say("child launch", launch(3));
    exit(11);
  }
  say(by_handler ? "fork" : "clone", end_of(child));
  walk(steps + 1);
}

static char *self;

static void step(const char *what, char **steps) {
  const int number = steps[0][1] ? atoi(steps[0] + 1) : 0;
  struct stat info;
  switch (*what) {
  case 'l': say("launch", launch(number)); break;
  case 'a': launch(number); break; // and nothing said
  case 't': {
    pthread_t thread;
    void *result = nullptr;
    pthread_create(&thread, nullptr, launches, (void *)(size_t)number);
    pthread_join(thread, &result);
    say("thread", (long)result);
    break;
  }
  case 'c':
    for (int fd = number; fd < 1024; fd++)
      close(fd);
    say("closed from", number);
    break;
  case 'o': {
    char name[32];
    snprintf(name, sizeof name, "file%d", number);
    const int fd = open(name, O_CREAT | O_RDWR | O_APPEND, 0644);
    say("open", fd);
    if (fd >= 0 && write(fd, "some text\n", 10) != 10)
      say("not written", fd);
    break;
  }
  case 'd': {
    const int fd = open("duplicated", O_CREAT | O_RDWR | O_APPEND, 0644);
    for (int to = 3; to < number; to++)
      if (to != fd)
        dup2(fd, to);
    say("dup", fd);
    break;
  }
  case 's':
    signal(number, on_signal);
    raise(number);
    say("signal", seen);
    break;
  case 'i':
    signal(number, SIG_IGN);
    raise(number);
    say("ignored", number);
    break;
  case 'r': {
    const struct rlimit limit = {(rlim_t)number * 1024, (rlim_t)number * 1024};
    say("limit", setrlimit(RLIMIT_FSIZE, &limit));
    break;
  }
  case 'w': usleep((useconds_t)number * 1000); break;
  case 'h':
    mkdir("folder", 0755);
    say("chdir", chdir("folder"));
    break;
  case 'b': say("size of file0", stat("file0", &info) == 0 ? (long)info.st_size : -1); break;
  case 'y': say("system", system("exit 5")); break;
  case 'e': return exit(number);
  case 'E': return _exit(number);
  case 'q': return quick_exit(number);
  case 'A': return abort();
  case 'k': raise(number); break;
  default: say("unknown", *what);
  }
}

static void walk(char **steps) {
  for (; *steps; steps++) {
    if (**steps == 'f' || **steps == 'v')
      return in_child(**steps == 'f', steps);
    if (**steps == 'x') { // another image walks on
      steps[0] = self;
      execv(self, steps);
      exit(12);
    }
    step(*steps, steps);
  }
}

int main(int argc, char **argv) {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = 0;
  self = path;
  walk(argv + 1);
  say("end", argc > 0);
  return 3;
}
