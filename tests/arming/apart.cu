// SPDX-License-Identifier: MIT
// What programs do to their descriptors, limits, user, root and memory while they are recorded. The first
// argument says what; with and without a recording it is to print and leave the same.
#include <cuda_runtime.h>
#include <inkmark/mark.cuh>

#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

PROF_SECTIONS(Apart, Kernel, Work)

__global__ void kernel(int n) {
  PROF_KERNEL(Kernel);
  for (int i = 0; i < n; i++)
    PROF_MARK(Work);
}

static void launch(int marks = 3) {
  kernel<<<4, 32>>>(marks);
  if (cudaDeviceSynchronize() != cudaSuccess)
    exit(9);
}

// Long enough for a drain, where one comes by at all.
static void pause_ms(unsigned ms) { usleep(ms * 1000); }

// Until the test has made the file.
static void wait_for(const char *file) {
  while (access(file, F_OK) != 0)
    pause_ms(20);
}

static void need(bool fine, const char *what) {
  if (!fine) {
    perror(what);
    exit(8);
  }
}

static void say(int fd, const char *text) { need(write(fd, text, strlen(text)) > 0, "write"); }

static int own_file(const char *name) {
  const int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
  need(fd >= 0, name);
  return fd;
}

static void closes() {
  launch();
  pause_ms(400);
  for (int i = 3; i < 1024; i++)
    close(i);
  int files[8];
  for (int i = 0; i < 8; i++) {
    char name[32];
    snprintf(name, sizeof name, "mine%d.txt", i);
    files[i] = own_file(name);
    say(files[i], "my own data\n");
  }
  launch();
  pause_ms(400);
  for (int i = 0; i < 8; i++)
    say(files[i], "the end\n");
}

static void dups() {
  launch();
  pause_ms(400);
  const int fd = own_file("mine.txt");
  for (int i = 3; i < 1024; i++)
    if (i != fd)
      dup2(fd, i);
  launch();
  pause_ms(400);
  say(fd, "the end\n");
}

static void daemon_() { // one that leaves nothing open, and opens a log later
  if (fork())
    _exit(0);
  setsid();
  for (int i = 0; i < 1024; i++)
    close(i);
  launch();
  wait_for("_go");
  const int log = own_file("daemon.log");
  launch();
  say(log, "one\n");
  pause_ms(400);
  say(log, "two\n");
  need(rename("daemon.log", "daemon.done") == 0, "rename");
}

static void noisy() {
  for (int i = 0; i < 6; i++) {
    launch();
    fprintf(stderr, "step %d\n", i);
    pause_ms(100);
  }
}

static void limit() { // stands for a full disk
  launch();
  pause_ms(400);
  for (int i = 3; i < 256; i++)
    close(i);
  const int fd = own_file("results.bin");
  static char data[30000];
  memset(data, 'A', sizeof data);
  need(write(fd, data, sizeof data) == (ssize_t)sizeof data, "write");
  const struct rlimit full = {32768, 32768};
  need(setrlimit(RLIMIT_FSIZE, &full) == 0, "setrlimit");
  launch(1000);
  pause_ms(400);
  _exit(0);
}

static void stays() { // a daemon that lives until it is told to end
  launch();
  if (fork())
    exit(0);
  setsid();
  const int null = open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; i++)
    dup2(null, i);
  wait_for("_end");
  launch();
  need(rename("_end", "_ended") == 0, "rename");
}

static void new_root(const char *folder, bool launches) {
  if (launches)
    launch();
  need(chroot(folder) == 0 && chdir("/") == 0, "chroot");
  launch();
}

static void nobody(bool launches) {
  if (launches)
    launch();
  need(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0, "setuid");
  launch();
}

static void descriptors() { // what stands open when main begins
  DIR *folder = opendir("/proc/self/fd");
  need(folder != NULL, "opendir");
  launch();
  while (const dirent *entry = readdir(folder)) {
    char path[300], target[300] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder) && atoi(entry->d_name) > 2 &&
        readlink(path, target, sizeof target - 1) > 0)
      printf("open: %s\n", target);
  }
}

// Calls that draining needs no more. Whatever makes one of them is killed, any thread.
static void shut_in() {
  static const int refused[] = {SYS_open,     SYS_openat,   SYS_creat,    SYS_socket,  SYS_connect, SYS_sendto,
                                SYS_sendmsg,  SYS_recvmsg,  SYS_recvfrom, SYS_memfd_create, SYS_ftruncate,
                                SYS_fallocate, SYS_fcntl,   SYS_flock,    SYS_dup,     SYS_dup2,    SYS_dup3,
                                SYS_pipe,     SYS_pipe2,    SYS_unlink,   SYS_rename,  SYS_kill,    SYS_execve,
                                SYS_clone,    SYS_fork,     SYS_vfork,    SYS_ioctl,   SYS_stat,    SYS_newfstatat};
  enum { N = sizeof refused / sizeof *refused };
  sock_filter code[N * 2 + 2];
  int n = 0;
  code[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (int call : refused) {
    code[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
    code[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  }
  code[n++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program = {(unsigned short)n, code};
  launch();
  printf("shut in\n"); // stdout asks what it is before it writes the first time
  fflush(stdout);
  need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
  need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0, "seccomp");
  launch();
  pause_ms(600);
  launch();
}

static void children(int n) {
  for (int i = 0; i < n; i++) {
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
      launch();
      exit(0);
    }
  }
  for (int i = 0; i < n; i++) {
    int status = 0;
    wait(&status);
    need(status == 0, "child");
  }
}

static void cloned() { // a child that no handler of a fork sees
  launch();
  const long child = syscall(SYS_clone, (unsigned long)SIGCHLD, 0, 0, 0, 0);
  if (child == 0)
    exit(0); // with the exit handlers that it inherited
  int status = 0;
  waitpid((pid_t)child, &status, 0);
  need(status == 0, "child");
  launch();
}

// The same, which launches itself, before its parent ever did or after it.
static void clone_launches(const char *when, const char *end) {
  if (!strcmp(when, "after"))
    launch();
  const long child = syscall(SYS_clone, (unsigned long)SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    launch();
    launch();
    !strcmp(end, "exit") ? exit(0) : _exit(0);
  }
  int status = 0;
  waitpid((pid_t)child, &status, 0);
  need(status == 0, "child");
  launch();
}

// A heap that is ruined: every page that can be written and is nobody's file, but stacks and modules.
static void ruins() {
  launch();
  wait_for("_go");
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  unsigned long ranges[256][2];
  int n = 0;
  while (fgets(line, sizeof line, maps) && n < 256)
    if (strstr(line, "memfd:inkmark") && sscanf(line, "%lx-%lx", &ranges[n][0], &ranges[n][1]) == 2)
      n++;
  unsigned seed = 1;
  for (int i = 0; i < n; i++)
    for (unsigned long at = ranges[i][0]; at < ranges[i][1]; at += 8)
      *(unsigned long *)at = (seed = seed * 1664525 + 1013904223) | (unsigned long)seed << 32;
  kill(getpid(), SIGKILL);
}

// All of malloc's heap, with what the recording has there, and then a signal.
static void ruins_heap() {
  unsigned long from = 0, to = 0;
  launch();
  wait_for("_go");
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  const unsigned long inside = (unsigned long)malloc(64);
  while (fgets(line, sizeof line, maps) && (sscanf(line, "%lx-%lx", &from, &to) != 2 || inside < from || inside >= to))
    ;
  need(inside >= from && inside < to, "heap");
  unsigned long seed = 1;
  for (unsigned long at = from; at < to; at += 8)
    *(volatile unsigned long *)at = (seed = seed * 6364136223846793005 + 1442695040888963407);
  kill(getpid(), SIGTERM);
  for (;;)
    pause();
}

// The memory that is shared with the writer, taken from under the recording.
static void unmaps() {
  launch();
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  unsigned long from[256], to[256];
  int n = 0;
  while (fgets(line, sizeof line, maps) && n < 256)
    if (strstr(line, "memfd:inkmark") && sscanf(line, "%lx-%lx", &from[n], &to[n]) == 2)
      n++;
  for (int i = 0; i < n; i++)
    munmap((void *)from[i], to[i] - from[i]);
  launch();
}

// A child in a namespace of process ids of its own, where it is number 1.
static void unshares() {
  wait_for("_go");
  need(unshare(CLONE_NEWPID) == 0, "unshare");
  const pid_t child = fork();
  if (!child) {
    launch();
    exit(0);
  }
  int status = -1;
  need(waitpid(child, &status, 0) == child && status == 0, "waitpid");
}

static void endless() { // until it is killed; says how many launches are through, and when
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 1;; i++) {
    timespec now;
    launch();
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%d %lld\n", i, (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    pause_ms(5);
  }
}

static void fills(bool waits) { // more than a ring holds; after some of it the test may have something to do
  for (int i = 0; i < 400; i++) {
    if (waits && i == 40)
      wait_for("_go");
    launch(1000);
  }
}

// Straight after a launch: by `how`, of the main thread or of another one, of a child that launched or not.
static char *self;
static void *become(void *how_) {
  const char *how = (const char *)how_;
  char path[] = "/proc/self/exe", word[] = "plain", name[] = "apart";
  char *const arguments[] = {name, word, NULL};
  if (!strcmp(how, "execl"))
    execl(path, name, word, (char *)0);
  else if (!strcmp(how, "execle"))
    execle(path, name, word, (char *)0, environ);
  else if (!strcmp(how, "execlp"))
    execlp("apart", name, word, (char *)0);
  else if (!strcmp(how, "execv"))
    execv(path, arguments);
  else if (!strcmp(how, "execve"))
    execve(path, arguments, environ);
  else if (!strcmp(how, "execvp"))
    execvp("apart", arguments);
  else if (!strcmp(how, "execvpe"))
    execvpe("apart", arguments, environ);
  else if (!strcmp(how, "fexecve"))
    fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environ);
  else if (!strcmp(how, "execveat"))
    execveat(AT_FDCWD, path, arguments, environ, 0);
  perror(how);
  exit(8);
}

static void execs(const char *how, const char *where) {
  pthread_t thread;
  setenv("PATH", dirname(strdup(self)), 1);
  if (!strcmp(where, "fails")) { // nothing is there: the program goes on
    launch();
    execl("/nowhere/at/all", "none", (char *)0);
    launch();
    return;
  }
  if (!strcmp(where, "forked") || !strcmp(where, "idle")) {
    launch();
    const pid_t child = !strcmp(where, "forked") ? fork() : vfork();
    if (child == 0) {
      if (!strcmp(where, "forked"))
        launch();
      execl("/proc/self/exe", "apart", "nothing", (char *)0);
      _exit(8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    need(status == 0, "child");
    return;
  }
  launch();
  if (!strcmp(where, "thread")) {
    pthread_create(&thread, NULL, become, (void *)how);
    pthread_join(thread, NULL);
  } else if (!strcmp(where, "shell")) { // one that records nothing
    execl("/bin/sh", "sh", "-c", "echo a shell", (char *)0);
  } else {
    become((void *)how);
  }
}

int main(int argc, char **argv) {
  self = argv[0];
  const char *how = argc > 1 ? argv[1] : "";
  const char *with = argc > 2 ? argv[2] : "";
  if (!strcmp(how, "exec"))
    execs(with, argc > 3 ? argv[3] : "");
  else if (!strcmp(how, "nothing"))
    return 0;
  else if (!strcmp(how, "closes"))
    closes();
  else if (!strcmp(how, "dups"))
    dups();
  else if (!strcmp(how, "daemon"))
    daemon_();
  else if (!strcmp(how, "noisy"))
    noisy();
  else if (!strcmp(how, "limit"))
    limit();
  else if (!strcmp(how, "stays"))
    stays();
  else if (!strcmp(how, "chroot"))
    new_root(with, true);
  else if (!strcmp(how, "chroot-first"))
    new_root(with, false);
  else if (!strcmp(how, "setuid"))
    nobody(true);
  else if (!strcmp(how, "setuid-first"))
    nobody(false);
  else if (!strcmp(how, "descriptors"))
    descriptors();
  else if (!strcmp(how, "seccomp"))
    shut_in();
  else if (!strcmp(how, "children"))
    children(atoi(with));
  else if (!strcmp(how, "cloned"))
    cloned();
  else if (!strcmp(how, "clone-launches"))
    clone_launches(with, argc > 3 ? argv[3] : "");
  else if (!strcmp(how, "ruins"))
    ruins();
  else if (!strcmp(how, "ruins-heap"))
    ruins_heap();
  else if (!strcmp(how, "unmaps"))
    unmaps();
  else if (!strcmp(how, "unshares"))
    unshares();
  else if (!strcmp(how, "ignored")) // which signals it does not get
    execl("/bin/grep", "grep", "^SigIgn", "/proc/self/status", (char *)0);
  else if (!strcmp(how, "endless"))
    endless();
  else if (!strcmp(how, "fills"))
    fills(!strcmp(with, "waits"));
  else
    launch();
  printf("end of %s\n", how);
  return 0;
}
