/* SPDX-License-Identifier: MIT */
/* The memory that the writer shares with recorded processes: made, filled and sealed before anyone
 * else sees it, within a budget. And watching processes, whose memory it is. */
#include "shm/collect_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <poll.h>

enum { MIB = 1 << 20 };

ink_i_memory ink_i_memory_budget(uint64_t asked) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t most = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 16 : 0;
  if (most > 1024 * (uint64_t)MIB)
    most = 1024 * (uint64_t)MIB;
  if (most < 64 * (uint64_t)MIB)
    most = 64 * (uint64_t)MIB;
  return (ink_i_memory){.most = asked ? asked : most};
}

/* What is asked for while there is plenty, then less and less, so that many processes get some. */
uint64_t ink_i_memory_grant(const ink_i_memory *memory, uint64_t wanted, uint64_t least) {
  const uint64_t left = memory->used < memory->most ? memory->most - memory->used : 0;
  uint64_t grant = 4096;
  while (grant < wanted && grant < (uint64_t)1 << 40)
    grant *= 2;
  while (grant > left / 8 && grant / 2 >= least && grant > 4096)
    grant /= 2;
  return grant + INK_I_RING_DATA_AT <= left && grant >= least ? grant : 0;
}

/* Faults come here, in this process, and not when the program touches a page. */
static int fill(int fd, uint64_t bytes) {
  int code;
  if (ftruncate(fd, (off_t)bytes) != 0)
    return errno;
  do
    code = fallocate(fd, 0, 0, (off_t)bytes) ? errno : 0;
  while (code == EINTR);
  if (!code && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    code = errno;
  return code;
}

int ink_i_shared_make(ink_i_memory *memory, uint64_t bytes, ink_i_shared *out, int *fd) {
  *fd = memfd_create("inkmark", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (*fd < 0)
    return errno;
  int code = fill(*fd, bytes);
  void *map = code ? MAP_FAILED : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  if (!code && map == MAP_FAILED)
    code = errno;
  if (code) {
    close(*fd);
    *fd = -1;
    return code == ENOSPC ? ENOMEM : code;
  }
  *out = (ink_i_shared){.map = map, .bytes = (size_t)bytes};
  memory->used += bytes;
  return 0;
}

void ink_i_shared_free(ink_i_memory *memory, ink_i_shared *shared) {
  if (!shared->map)
    return;
  munmap(shared->map, shared->bytes);
  memory->used -= shared->bytes;
  *shared = (ink_i_shared){0};
}

/* ---- processes ---- */

ink_i_watch ink_i_watch_begin(pid_t pid) {
  return (ink_i_watch){.pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
}

bool ink_i_watch_is_gone(const ink_i_watch *watch) {
  if (watch->pidfd < 0)
    return kill(watch->pid, 0) != 0 && errno == ESRCH;
  struct pollfd one = {.fd = watch->pidfd, .events = POLLIN};
  return poll(&one, 1, 0) == 1;
}

void ink_i_watch_end(ink_i_watch *watch) {
  if (watch->pidfd >= 0)
    close(watch->pidfd);
  watch->pidfd = -1;
}
