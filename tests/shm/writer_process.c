/* SPDX-License-Identifier: MIT */
/* The writer process without any CUDA: processes that take a ring and an area, put chunks of which each
 * tells its number, and are killed, fork, run on or lie. writer_process [KILLS] */
#include "capture/capture_write.h"
#include "inkmark/collect.h"
#include "shm/collect_private.h"

#include "../unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RING = 1 << 20 };

static char folder[] = "/tmp/inkmark-writer-XXXXXX", template_[64];

/* ---- a launcher ---- */

typedef struct launcher {
  int control;
  pid_t writer;
  int lines, failed, runs;
  char last[512];
} launcher;

static launcher start_writer(uint64_t memory_bytes, bool says_at_once) {
  int pair[2];
  ink_collector *collector = NULL;
  ink_error error = {0};
  launcher l = {0};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
    exit(1);
  const ink_collector_options options = {.size = sizeof options,
                                         .output = template_,
                                         .control = pair[1],
                                         .began_ns = 1,
                                         .memory_bytes = memory_bytes,
                                         .says_at_once = says_at_once};
  NEED(ink_collector_open(&options, &collector, &error), error);
  setenv("INKMARK_WRITER", ink_collector_address(collector), 1);
  l.writer = fork();
  if (!l.writer) {
    close(pair[0]);
    ink_collector_run(collector);
    _exit(0);
  }
  ink_collector_free(collector);
  l.control = pair[0];
  return l;
}

static void take_line(void *user, const char *text) {
  launcher *l = user;
  l->lines++;
  l->failed += strstr(text, " failed ") != NULL;
  l->runs += strstr(text, " runs ") != NULL;
  snprintf(l->last, sizeof l->last, "%s", text);
}

static void ask(launcher *l) {
  ink_error error = {0};
  l->lines = l->failed = l->runs = 0;
  CHECK(ink_collector_ask(l->control, 60000, take_line, l, &error) == INK_OK, "%s", error.message);
}

/* Returns once the writer is gone, as it is to be when nobody is left. */
static void stop(launcher *l) {
  close(l->control);
  CHECK(waitpid(l->writer, NULL, 0) == l->writer, "the writer");
}

/* Waits for a child and hands on how it ended, as `inkmark record` does. */
static void end_of(launcher *l, pid_t child) {
  int status;
  CHECK(waitpid(child, &status, 0) == child, "the child");
  ink_collector_tell_end(l->control, child, status, NULL);
}

/* ---- recorded processes ---- */

/* Chunk k of a process is a fact "n" of text k. */
static void put_number(ink_writer *writer, uint64_t k) {
  char number[32];
  snprintf(number, sizeof number, "%" PRIu64, k);
  if (ink_writer_fact(writer, "n", number, NULL))
    _exit(3);
}

static ink_writer *have_writer(void) {
  ink_error error = {0};
  ink_writer *writer = NULL;
  if (ink_i_link_ring(RING, RING, false, NULL, &error) ||
      ink_i_writer_open_ring(4096, &writer, &error)) {
    fprintf(stderr, "%s\n", error.message);
    _exit(2);
  }
  return writer;
}

static void path_of(pid_t pid, char path[128]) {
  snprintf(path, 128, "%s/%ld.ink", folder, (long)pid);
}

/* The facts of a capture are those that were put, from the first on; how many. */
static uint64_t numbers_in(const char *path, const char **unfinished, bool *complete) {
  static char why[512];
  ink_capture *capture;
  ink_error error = {0};
  if (ink_capture_open(path, &capture, &error)) {
    CHECK(error.code == ENOENT || error.status == INK_ERROR_EMPTY, "%s", error.message);
    return 0;
  }
  const char *last = ink_capture_fact(capture, "n"), *how = ink_capture_fact(capture, "unfinished");
  const uint64_t n = last ? strtoull(last, NULL, 10) + 1 : 0;
  CHECK(!ink_capture_get_facts(capture)->damaged_chunks, "%s", ink_capture_get_facts(capture)->note);
  snprintf(why, sizeof why, "%s", how ? how : "");
  if (unfinished)
    *unfinished = how ? why : NULL;
  if (complete)
    *complete = ink_capture_get_facts(capture)->complete;
  ink_capture_free(capture);
  return n;
}

/* Killed at any moment, with or without a pause before it: all that was put is there. */
static void killed(launcher *l, unsigned kills) {
  uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  unsigned seed = 1;
  for (unsigned i = 0; i < kills; i++) {
    char path[128];
    const char *why = NULL;
    bool complete = true;
    *shared = 0;
    const pid_t child = fork();
    if (!child) {
      ink_writer *writer = have_writer();
      for (uint64_t k = 0; k < 5000; k++) { /* fits the ring: none is lost */
        put_number(writer, k);
        __atomic_store_n(shared, k + 1, __ATOMIC_SEQ_CST);
      }
      for (;;)
        pause();
    }
    seed = seed * 1664525 + 1013904223;
    const uint64_t wanted = seed >> 8 & 1 ? seed % 5000 : 1;
    while (__atomic_load_n(shared, __ATOMIC_SEQ_CST) < wanted)
      nanosleep(&(struct timespec){.tv_nsec = seed % 50000}, NULL);
    kill(child, SIGKILL);
    end_of(l, child);
    ask(l);
    const uint64_t there = (path_of(child, path), numbers_in(path, &why, &complete));
    CHECK(there == *shared || there == *shared + 1, "%" PRIu64 " of %" PRIu64, there, *shared);
    CHECK(why && strstr(why, "killed by signal 9") && !complete, "%s", why ? why : "no word");
    remove(path);
  }
  munmap(shared, 4096);
}

/* An end of its own; words for the launcher; a process that goes on is told. */
static void ends(launcher *l) {
  char path[128];
  const char *why;
  bool complete;
  int hold[2];
  char byte;
  CHECK(pipe(hold) == 0, "pipe");
  const pid_t child = fork();
  if (!child) {
    ink_writer *writer = have_writer();
    put_number(writer, 0);
    ink_i_link_report("remark", "one\ntwo");
    ink_i_link_report("unknown", "word");
    close(hold[1]);
    if (read(hold[0], &byte, 1) < 0)
      _exit(4);
    ink_writer_close(writer, NULL);
    _exit(0);
  }
  path_of(child, path);
  while (!numbers_in(path, NULL, NULL))
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  ask(l);
  CHECK(l->lines == 2 && l->runs == 1 && strstr(l->last, path), "%d lines, '%s'", l->lines, l->last);
  close(hold[0]);
  close(hold[1]);
  end_of(l, child);
  ask(l);
  CHECK(numbers_in(path, &why, &complete) == 1 && !why && complete, "%s", why ? why : "");
  CHECK(l->lines == 1 && strstr(l->last, " wrote "), "'%s'", l->last);
  remove(path);
}

/* Children have no ring until they ask, however they were made, and nothing of ours stays open. */
static void inherited(launcher *l) {
  const pid_t child = fork();
  if (!child) {
    const int low = dup(0);
    close(low);
    ink_writer *writer = have_writer();
    put_number(writer, 0);
    const int again = dup(0);
    int status, bad = low != again;
    close(again);
    pid_t forked = fork();
    if (!forked)
      _exit(ink_i_link_current() != NULL || ink_writer_fact(writer, "n", "7", NULL) == INK_OK);
    waitpid(forked, &status, 0);
    bad += status != 0;
    forked = (pid_t)syscall(SYS_clone, (unsigned long)SIGCHLD, 0, 0, 0, 0);
    if (!forked)
      syscall(SYS_exit_group, ink_i_link_current() != NULL || ink_writer_fact(writer, "n", "8", NULL) == INK_OK);
    waitpid(forked, &status, 0);
    bad += status != 0;
    forked = fork();
    if (!forked) {
      put_number(have_writer(), 0); /* of its own */
      _exit(0);
    }
    waitpid(forked, &status, 0);
    bad += status != 0;
    put_number(writer, 1);
    ink_writer_close(writer, NULL);
    _exit(bad);
  }
  int status;
  char path[128];
  bool complete;
  waitpid(child, &status, 0);
  CHECK(status == 0, "status %x", (unsigned)status);
  ask(l);
  path_of(child, path);
  CHECK(numbers_in(path, NULL, &complete) == 2 && complete, "the parent's");
  remove(path);
}

/* The writer stays for a child that has no ring yet and takes one when its parent is long gone. */
static void orphan(launcher *l) {
  int hold[2], told[2];
  char byte = 0, path[128];
  CHECK(pipe(hold) == 0 && pipe(told) == 0, "pipe");
  const pid_t child = fork();
  if (!child) {
    put_number(have_writer(), 0);
    const pid_t grandchild = fork();
    if (grandchild)
      _exit(write(told[1], &grandchild, sizeof grandchild) < 0);
    ink_i_link_child();
    close(hold[1]);
    if (write(told[1], "r", 1) < 0 || read(hold[0], &byte, 1) < 0)
      _exit(4);
    ink_writer *writer = have_writer();
    put_number(writer, 0);
    put_number(writer, 1);
    ink_writer_close(writer, NULL);
    _exit(0);
  }
  char both[sizeof(pid_t) + 1];
  pid_t grandchild;
  size_t got = 0;
  waitpid(child, NULL, 0);
  while (got < sizeof both) {
    const ssize_t n = read(told[0], both + got, sizeof both - got);
    if (n <= 0)
      exit(1);
    got += (size_t)n;
  }
  memcpy(&grandchild, both[0] == 'r' ? both + 1 : both, sizeof grandchild);
  ask(l);
  CHECK(l->runs == 1, "%d processes go on: '%s'", l->runs, l->last);
  close(l->control); /* the launcher is gone */
  close(hold[0]);
  close(hold[1]);
  CHECK(waitpid(l->writer, NULL, 0) == l->writer, "the writer");
  path_of(grandchild, path);
  CHECK(numbers_in(path, NULL, NULL) == 2, "the grandchild's");
  remove(path);
  path_of(child, path);
  remove(path);
}

/* What a process says is heard without a question, which would close it before the launcher has told how it ended. */
static void listened(void) {
  launcher l = start_writer(0, true);
  char path[128];
  const char *why;
  bool complete;
  const pid_t child = fork();
  if (!child) {
    put_number(have_writer(), 0);
    ink_i_link_report("hang", "it waits");
    kill(getpid(), SIGKILL);
  }
  while (!l.lines) {
    ink_collector_listen(l.control, take_line, &l);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  CHECK(strstr(l.last, " hang it waits"), "'%s'", l.last);
  ink_collector_listen(l.control, take_line, &l);
  end_of(&l, child);
  ask(&l);
  path_of(child, path);
  CHECK(numbers_in(path, &why, &complete) == 1 && why && strstr(why, "killed by signal 9"), "%s", why ? why : "no word");
  remove(path);
  kill(l.writer, SIGSTOP); /* nothing is waited for */
  ink_collector_listen(l.control, take_line, &l);
  kill(l.writer, SIGCONT);
  stop(&l);
}

/* Areas are the writer's too, and the process's until it is gone. */
static void areas(launcher *l) {
  const pid_t child = fork();
  if (!child) {
    ink_error error = {0};
    if (ink_i_link_area(4096, INK_I_AREA_FLIGHT, &error)) /* without a ring */
      _exit(2);
    put_number(have_writer(), 0);
    unsigned char *area = ink_i_link_area(100000, INK_I_AREA_FLIGHT, &error);
    if (!area || area[0] || area[99999])
      _exit(3);
    memset(area, 7, 100000);
    if (ink_i_link_area((size_t)1 << 50, INK_I_AREA_FLIGHT, &error)) /* more than there is */
      _exit(4);
    kill(getpid(), SIGKILL);
  }
  int status;
  char path[128];
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "status %x", (unsigned)status);
  ask(l);
  path_of(child, path);
  CHECK(numbers_in(path, NULL, NULL) == 1, "the ring beside it");
  ink_capture *capture = NULL;
  CHECK(ink_capture_open(path, &capture, NULL) == INK_OK, "the capture");
  const char *failure = ink_capture_fact(capture, "write_failure");
  CHECK(failure && strstr(failure, "was ruined by the program"), "'%s'", failure ? failure : "nothing");
  ink_capture_free(capture);
  remove(path);
}

/* Who does not know the words gets nothing, whatever is sent; the writer goes on. */
static void strangers(launcher *l) {
  ink_i_address address;
  struct sockaddr_un name;
  CHECK(ink_i_address_parse(getenv("INKMARK_WRITER"), &address), "address");
  const socklen_t length = ink_i_address_socket(&address, &name);
  for (int kind = 0; kind < 40; kind++) {
    ink_i_request request = {.version = INK_I_RING_VERSION, .kind = (uint32_t)kind % 5, .pid = 1, .bytes = RING};
    ink_i_reply reply;
    request.token = kind % 2 ? address.of_client + 1 : address.of_client;
    request.least = kind > 20 ? UINT64_MAX : 0;
    request.version += kind > 30;
    memset(request.host, 'x', sizeof request.host);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const size_t bytes = kind == 8 ? 3 : sizeof request;
    CHECK(connect(fd, (struct sockaddr *)&name, length) == 0, "connect");
    CHECK(send(fd, &request, bytes, MSG_NOSIGNAL) >= 0, "send");
    const ssize_t n = recv(fd, &reply, sizeof reply, 0);
    CHECK(n <= 0 || !(kind % 2), "answered a stranger");
    CHECK(n <= 0 || kind <= 20 || reply.code, "what cannot be was handed over");
    close(fd);
  }
  int idle[200]; /* who connect and say nothing keep nobody waiting */
  for (int i = 0; i < 200; i++) {
    idle[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(connect(idle[i], (struct sockaddr *)&name, length) == 0, "connect %d", i);
  }
  const pid_t child = fork();
  if (!child) {
    put_number(have_writer(), 0);
    _exit(0);
  }
  int status;
  char path[128];
  waitpid(child, &status, 0);
  CHECK(status == 0, "among idle ones: %x", (unsigned)status);
  ask(l);
  path_of(child, path);
  CHECK(numbers_in(path, NULL, NULL) == 1, "among idle ones");
  remove(path);
  for (int i = 0; i < 200; i++)
    close(idle[i]);
}

/* ---- writers that lie ---- */

enum lie { TRUE, UNSEALED, MAY_SHRINK, MAY_GROW, SHORT, LONG, OTHER_TOKEN, OTHER_VERSION, OTHER_ID, OTHER_MAGIC, NO_MEMORY, LIES };

/* Memory for a ring of RING bytes, as it is to be but for the lie. */
static int false_memory(enum lie lie, const uint64_t ring[2]) {
  const off_t bytes = RING + INK_I_RING_DATA_AT + (lie == SHORT ? -INK_I_RING_PAGE : lie == LONG ? INK_I_RING_PAGE : 0);
  const int fd = memfd_create("inkmark", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ink_i_ring_header header = {.magic = INK_I_RING_MAGIC + (lie == OTHER_MAGIC), .version = INK_I_RING_VERSION};
  memcpy(header.id, ring, sizeof header.id);
  header.id[1] += lie == OTHER_ID;
  CHECK(fd >= 0 && ftruncate(fd, bytes) == 0 && pwrite(fd, &header, sizeof header, 0) == (ssize_t)sizeof header, "memory");
  const int seals = (lie == MAY_SHRINK ? 0 : F_SEAL_SHRINK) | (lie == MAY_GROW ? 0 : F_SEAL_GROW) | F_SEAL_SEAL;
  CHECK(lie == UNSEALED || fcntl(fd, F_ADD_SEALS, seals) == 0, "seals");
  return fd;
}

static void answer(int fd, const ink_i_address *address, enum lie lie) {
  ink_i_request request;
  ink_i_reply reply = {.version = INK_I_RING_VERSION + (lie == OTHER_VERSION), .token = address->of_writer ^ (lie == OTHER_TOKEN),
                       .bytes = RING, .ring = {11, 12}};
  CHECK(recv(fd, &request, sizeof request, 0) == (ssize_t)sizeof request, "the request");
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {&reply, sizeof reply};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  const int memory = false_memory(lie, reply.ring);
  if (lie != NO_MEMORY) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.header), &memory, sizeof memory);
  }
  CHECK(sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof reply, "the reply");
  close(memory);
}

/* Memory that its maker could take away from under the program, or of another size, is not mapped. */
static void lies(void) {
  const ink_i_address address = {.name = (uint64_t)getpid(), .of_client = 1, .of_writer = 2};
  char text[INK_I_ADDRESS_BYTES];
  struct sockaddr_un name;
  ink_i_address_print(&address, text);
  const socklen_t length = ink_i_address_socket(&address, &name);
  const int listens = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  CHECK(bind(listens, (struct sockaddr *)&name, length) == 0 && listen(listens, 4) == 0, "a socket");
  setenv("INKMARK_WRITER", text, 1);
  for (int lie = TRUE; lie < LIES; lie++) {
    const pid_t child = fork();
    if (!child) {
      const ink_status status = ink_i_link_ring(RING, RING, false, NULL, NULL);
      const bool has = ink_i_link_current() != NULL;
      _exit(lie == TRUE ? status || !has : status != INK_ERROR_NOT_FOUND || has);
    }
    const int fd = accept4(listens, NULL, NULL, SOCK_CLOEXEC);
    int status;
    answer(fd, &address, (enum lie)lie);
    waitpid(child, &status, 0);
    CHECK(status == 0, "lie %d: %x", lie, (unsigned)status);
    close(fd);
  }
  close(listens);
}

/* A budget bounds what is shared, and what is gone is given back. */
static void budget(void) {
  ink_i_memory memory = {.most = 64 << 20};
  unsigned rings = 0;
  for (uint64_t grant; (grant = ink_i_memory_grant(&memory, 4 << 20, 1 << 20)); rings++)
    memory.used += grant + INK_I_RING_DATA_AT;
  CHECK(memory.used <= memory.most && rings > 24, "%u rings of %" PRIu64 " bytes", rings, memory.used);
  CHECK(!ink_i_memory_grant(&memory, 1 << 30, 1 << 30), "more than there is");
  launcher l = start_writer(8 << 20, false);
  for (int i = 0; i < 30; i++) { /* one after the other: each has the whole */
    const pid_t child = fork();
    if (!child) {
      put_number(have_writer(), 0);
      _exit(0);
    }
    int status;
    char path[128];
    waitpid(child, &status, 0);
    CHECK(status == 0, "ring %d: %x", i, (unsigned)status);
    ask(&l);
    path_of(child, path);
    CHECK(numbers_in(path, NULL, NULL) == 1, "ring %d", i);
    remove(path);
  }
  stop(&l);
  l = start_writer(3 << 20, false); /* and where one has it, the next is refused and may write by itself */
  int hold[2], told[2];
  char byte = 0, path[128];
  CHECK(pipe(hold) == 0 && pipe(told) == 0, "pipe");
  const pid_t first = fork();
  if (!first) {
    close(hold[1]);
    put_number(have_writer(), 0);
    _exit(write(told[1], "r", 1) < 0 || read(hold[0], &byte, 1) < 0);
  }
  CHECK(read(told[0], &byte, 1) == 1, "the first");
  const pid_t second = fork();
  if (!second) {
    ink_error error = {0};
    const ink_status status = ink_i_link_ring(4 << 20, 3 << 19, false, NULL, &error);
    ink_i_link_report("failed", "by itself");
    _exit(status != INK_ERROR_LIMIT || ink_i_link_current());
  }
  int status;
  waitpid(second, &status, 0);
  CHECK(status == 0, "the second: %x", (unsigned)status);
  ask(&l);
  CHECK(l.failed == 1, "what a process without a ring says");
  close(hold[0]);
  close(hold[1]);
  waitpid(first, NULL, 0);
  stop(&l);
  path_of(first, path);
  CHECK(numbers_in(path, NULL, NULL) == 1, "the first");
  remove(path);
}

int main(int argc, char **argv) {
  const unsigned kills = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 40;
  if (!mkdtemp(folder))
    return 1;
  snprintf(template_, sizeof template_, "%s/%%p.ink", folder);
  launcher l = start_writer(0, false);
  ends(&l);
  killed(&l, kills);
  inherited(&l);
  areas(&l);
  strangers(&l);
  stop(&l);
  listened();
  l = start_writer(0, false);
  orphan(&l);
  lies();
  budget();
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) || check_result("writer_process");
}
