/* SPDX-License-Identifier: MIT */
/* The recorded process's side of the rendezvous: asks the writer process for a ring or an area, maps
 * it, and keeps no descriptor. */
#include "shm/link.h"

#include "errno_words.h"
#include "monotonic.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- addresses ---- */

void ink_i_address_print(const ink_i_address *address, char text[INK_I_ADDRESS_BYTES]) {
  snprintf(text, INK_I_ADDRESS_BYTES, "%016" PRIx64 ".%016" PRIx64 ".%016" PRIx64, address->name,
           address->of_client, address->of_writer);
}

bool ink_i_address_parse(const char *text, ink_i_address *out) {
  ink_i_address a;
  char again[INK_I_ADDRESS_BYTES];
  if (!text || sscanf(text, "%16" SCNx64 ".%16" SCNx64 ".%16" SCNx64, &a.name, &a.of_client,
                      &a.of_writer) != 3)
    return false;
  ink_i_address_print(&a, again);
  *out = a;
  return strcmp(text, again) == 0;
}

unsigned ink_i_address_socket(const ink_i_address *address, struct sockaddr_un *out) {
  memset(out, 0, sizeof *out);
  out->sun_family = AF_UNIX; /* sun_path begins with a zero byte: no file */
  const int n = snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "inkmark-%016" PRIx64,
                         address->name);
  return (unsigned)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* ---- one request ---- */

/* What a process waits for a writer that does not answer, in all its requests; and the least in one. */
enum { PATIENCE_MS = 4000, LEAST_PATIENCE_MS = 20 };
static _Atomic int64_t waited_ms;

static int64_t patience_left_ms(void) {
  const int64_t left = PATIENCE_MS - atomic_load(&waited_ms);
  return left > LEAST_PATIENCE_MS ? left : LEAST_PATIENCE_MS;
}

/* A writer that is stopped lets its queue of connections fill up: nobody waits for it. */
static int connect_to(const ink_i_address *address) {
  struct sockaddr_un name;
  const socklen_t length = ink_i_address_socket(address, &name);
  const int64_t left_ms = patience_left_ms();
  const struct timeval patience = {.tv_sec = left_ms / 1000, .tv_usec = left_ms % 1000 * 1000};
  const int64_t until = ink_i_monotonic_ms() + left_ms;
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return -1;
  int code;
  while ((code = connect(fd, (const struct sockaddr *)&name, length)) != 0 &&
         (errno == EAGAIN || errno == EINTR) && ink_i_monotonic_ms() < until)
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  if (code != 0 && errno == EAGAIN)
    atomic_fetch_add(&waited_ms, left_ms);
  if (code != 0 || fcntl(fd, F_SETFL, 0) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
    code = errno;
    close(fd);
    errno = code;
    return -1;
  }
  return fd;
}

/* The descriptor that came with the reply, -1 for none. */
static int take_reply(int fd, ink_i_reply *reply) {
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {.iov_base = reply, .iov_len = sizeof *reply};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  ssize_t n;
  int got = -1;
  const int64_t began_ms = ink_i_monotonic_ms();
  do
    n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    atomic_fetch_add(&waited_ms, ink_i_monotonic_ms() - began_ms);
  else
    atomic_store(&waited_ms, 0);
  const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof got))
    memcpy(&got, CMSG_DATA(head), sizeof got);
  if (n != (ssize_t)sizeof *reply)
    reply->code = EPROTO;
  return got;
}

/* The writer cannot make it shorter later, so no access of ours can fault. */
static bool is_sealed(int fd, uint64_t bytes) {
  const int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  struct stat info;
  return (fcntl(fd, F_GET_SEALS) & wanted) == wanted && fstat(fd, &info) == 0 && info.st_size >= 0 &&
         (uint64_t)info.st_size == bytes;
}

/* A connection, and what each request begins with; -1 and errno. */
static int begin_request(ink_i_request *request, ink_i_address *address) {
  if (!ink_i_address_parse(secure_getenv("INKMARK_WRITER"), address)) {
    errno = ENOENT;
    return -1;
  }
  request->version = INK_I_RING_VERSION;
  request->token = address->of_client;
  request->pid = getpid();
  return connect_to(address);
}

/* A descriptor of memory with `extra` bytes more than reply->bytes, or -1 and errno. */
static int ask(ink_i_request *request, uint64_t extra, ink_i_reply *reply) {
  ink_i_address address;
  const int fd = begin_request(request, &address);
  if (fd < 0)
    return -1;
  int got = -1;
  if (send(fd, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request)
    got = take_reply(fd, reply);
  else
    reply->code = EPROTO;
  close(fd);
  if (!reply->code && (reply->version != INK_I_RING_VERSION || reply->token != address.of_writer ||
                       got < 0 || !is_sealed(got, reply->bytes + extra)))
    reply->code = EPROTO;
  if (reply->code && got >= 0)
    close(got);
  errno = (int)reply->code;
  return reply->code ? -1 : got;
}

static ink_status refused(int code, ink_error *error) {
  if (code == ENOMEM)
    return ink_error_set(error, INK_ERROR_LIMIT, "the writer has no memory left for another process");
  return ink_error_set(error, INK_ERROR_NOT_FOUND, "the writer cannot be reached: %s",
                       ink_i_errno_words(code).text);
}

/* ---- the ring of this process ---- */

/* In a page that a child finds zeroed, whichever system call made it: the ring is the parent's. */
static ink_i_ring *held;
static ink_i_ring_family *family; /* a mapping that children inherit */
static pid_t owner;               /* where the kernel cannot wipe a page */
static uint64_t id[2];
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

ink_i_ring *ink_i_link_current(void) {
  return held && held->header && (!owner || owner == getpid()) ? held : NULL;
}

static bool make_held(void) {
  if (held)
    return true;
  void *page = mmap(NULL, INK_I_RING_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return false;
  held = page;
  if (madvise(page, INK_I_RING_PAGE, MADV_WIPEONFORK) != 0)
    owner = getpid();
  return true;
}

static ink_status take_ring(uint64_t bytes, uint64_t least, bool forked, const char *rank,
                            ink_error *error) {
  ink_i_request request = {
      .kind = INK_I_REQUEST_RING, .bytes = bytes, .least = least, .forked = forked};
  ink_i_reply reply = {0};
  if (ink_i_link_current())
    return INK_OK;
  gethostname(request.host, sizeof request.host - 1);
  snprintf(request.rank, sizeof request.rank, "%s", rank ? rank : "0");
  const int fd = ask(&request, INK_I_RING_DATA_AT, &reply);
  if (fd < 0)
    return refused(errno, error);
  const size_t whole = (size_t)reply.bytes + INK_I_RING_DATA_AT;
  void *map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  void *second = mmap(NULL, INK_I_RING_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, INK_I_RING_PAGE);
  close(fd);
  const ink_i_ring_header *header = map;
  if (map == MAP_FAILED || second == MAP_FAILED || !make_held() ||
      header->magic != INK_I_RING_MAGIC || header->version != INK_I_RING_VERSION ||
      memcmp(header->id, reply.ring, sizeof header->id) != 0 || madvise(map, whole, MADV_DONTFORK) != 0) {
    if (map != MAP_FAILED)
      munmap(map, whole);
    if (second != MAP_FAILED)
      munmap(second, INK_I_RING_PAGE);
    return refused(EPROTO, error);
  }
  if (owner)
    owner = getpid();
  if (family)
    munmap(family, INK_I_RING_PAGE); /* of the parent, who has this child in its list */
  family = second;
  memcpy(id, reply.ring, sizeof id);
  ink_i_ring_attach(held, map, reply.bytes);
  return INK_OK;
}

ink_status ink_i_link_ring(uint64_t bytes, uint64_t least, bool forked, const char *rank,
                           ink_error *error) {
  pthread_mutex_lock(&asking);
  const ink_status status = take_ring(bytes, least, forked, rank, error);
  pthread_mutex_unlock(&asking);
  return status;
}

void ink_i_link_child(void) {
  pthread_mutex_init(&asking, NULL);
  atomic_store(&waited_ms, 0);
  if (!family || getppid() == 0) /* in a pid namespace of its own, whose numbers are others' elsewhere */
    return;
  const uint32_t at = atomic_fetch_add(&family->count, 1);
  atomic_store(&family->pids[at % INK_I_FAMILY_MAX], getpid());
}

void *ink_i_link_area(size_t bytes, uint32_t area_kind, ink_error *error) {
  ink_i_request request = {.kind = INK_I_REQUEST_AREA,
                           .bytes = ((uint64_t)bytes + INK_I_RING_PAGE - 1) & ~(uint64_t)(INK_I_RING_PAGE - 1),
                           .area_kind = area_kind};
  ink_i_reply reply = {0};
  if (!ink_i_link_current() || !bytes) {
    refused(ENOENT, error);
    return NULL;
  }
  request.least = request.bytes;
  memcpy(request.ring, id, sizeof request.ring);
  const int fd = ask(&request, 0, &reply);
  if (fd < 0) {
    refused(errno, error);
    return NULL;
  }
  void *map = mmap(NULL, (size_t)reply.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map != MAP_FAILED && reply.bytes >= bytes && madvise(map, (size_t)reply.bytes, MADV_DONTFORK) == 0)
    return map;
  if (map != MAP_FAILED)
    munmap(map, (size_t)reply.bytes);
  refused(EPROTO, error);
  return NULL;
}

/* ---- reports ---- */

static void send_report(const unsigned char *text, size_t bytes) {
  struct {
    ink_i_request request;
    unsigned char text[INK_I_REPORT_BYTES];
  } message = {.request = {.kind = INK_I_REQUEST_REPORT}};
  ink_i_address address;
  memcpy(message.text, text, bytes);
  const int fd = begin_request(&message.request, &address);
  if (fd < 0)
    return;
  if (send(fd, &message, sizeof message.request + bytes, MSG_NOSIGNAL) < 0)
    errno = 0; /* nobody to tell */
  close(fd);
}

void ink_i_link_report(const char *word, const char *text) {
  unsigned char chunk[sizeof(ink_chunk_header) + INK_I_REPORT_BYTES + 8];
  unsigned char *payload = chunk + sizeof(ink_chunk_header);
  ink_i_ring *ring = ink_i_link_current();
  const int n = snprintf((char *)payload, INK_I_REPORT_BYTES, "%s%c%s", word, 0, text);
  if (n < 0)
    return;
  const size_t bytes = n < INK_I_REPORT_BYTES ? (size_t)n + 1 : INK_I_REPORT_BYTES;
  if (ring)
    ink_i_ring_put(ring, chunk, INK_CHUNK_REPORT, bytes);
  else
    send_report(payload, bytes);
}
