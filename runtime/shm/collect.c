/* SPDX-License-Identifier: MIT */
/* The writer process: hands rings and areas to processes that ask, takes chunks out of every ring some
 * fifty times a second, and goes when the launcher and the last recorded process are gone. */
#include "shm/collect_private.h"
#include "options_take.h"

#include "errno_words.h"
#include "options_take.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_MS = 20, BACKLOG = 256, REQUEST_MS = 2000,
       STATUS_MS = 5000 /* nothing but the end of a file waits for that, and not if the launcher asks */ };

/* ---- opening ---- */

/* An output that will not do is told before anything runs; an old file is left as it is. */
static ink_status check_output(const char *output, ink_error *error) {
  struct stat info;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const ink_i_names example = {.pid = getpid(), .host = host, .rank = "0"};
  const bool many = strstr(output, "%p") || strstr(output, "%h") || strstr(output, "%r");
  char *path = ink_i_capture_name(output, &example, error);
  if (!path)
    return INK_ERROR_IO;
  ink_status status = INK_OK;
  if (stat(path, &info) != 0) {
    if (errno == ENAMETOOLONG)
      status = ink_error_set(error, INK_ERROR_IO, "cannot create '%s': %s", path, ink_i_errno_words(errno).text);
  } else if (!many && !S_ISFIFO(info.st_mode)) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
      status = ink_error_set(error, INK_ERROR_IO, "cannot write '%s': %s", path,
                             ink_i_errno_words(errno).text);
    else
      close(fd);
  }
  free(path);
  return status;
}

/* A launcher that was started without standard descriptors is not given one of ours for them. */
static int above_standard(int fd) {
  const int above = fd >= 0 && fd < 3 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
  if (above < 0)
    return fd;
  close(fd);
  return above;
}

static int listen_at(const ink_i_address *address) {
  struct sockaddr_un name;
  const socklen_t length = ink_i_address_socket(address, &name);
  const int fd = above_standard(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd < 0)
    return -1;
  if (bind(fd, (const struct sockaddr *)&name, length) == 0 && listen(fd, BACKLOG) == 0)
    return fd;
  const int code = errno;
  close(fd);
  errno = code;
  return -1;
}

ink_status ink_collector_open(const ink_collector_options *options, ink_collector **out,
                              ink_error *error) {
  ink_collector_options own = {.control = -1};
  const ink_status taken = INK_I_OPTIONS_TAKE(&own, ink_collector_options, control, options, error);
  if (taken != INK_OK)
    return taken;
  options = &own;
  if (!options->output || !out)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "ink_collector_options is not filled in");
  ink_status status = check_output(options->output, error);
  if (status != INK_OK)
    return status;
  ink_collector *c = calloc(1, sizeof *c);
  char *output = strdup(options->output), *folder = options->source_folder ? strdup(options->source_folder) : NULL;
  if (!c || !output || !folder != !options->source_folder) {
    free(c);
    free(output);
    free(folder);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the writer");
  }
  c->output = output;
  c->source_folder = folder;
  c->began_ns = options->began_ns;
  c->says_at_once = options->says_at_once;
  c->control = above_standard(options->control);
  c->memory = ink_i_memory_budget(options->memory_bytes);
  c->area_memory.most = c->memory.most * INK_I_AREAS_TIMES;
  c->listening = -1;
  if (getrandom(&c->address, sizeof c->address, 0) == (ssize_t)sizeof c->address)
    c->listening = listen_at(&c->address);
  ink_i_address_print(&c->address, c->address_text);
  if (c->listening < 0) {
    status = ink_error_set(error, INK_ERROR_UNSUPPORTED, "cannot listen for recorded processes: %s",
                           ink_i_errno_words(errno).text);
    ink_collector_free(c);
    return status;
  }
  *out = c;
  return INK_OK;
}

const char *ink_collector_address(const ink_collector *c) { return c->address_text; }

static void drop_pending(ink_collector *c, size_t i) {
  close(c->pending[i].fd);
  c->pending[i] = c->pending[--c->pending_count];
}

void ink_collector_free(ink_collector *c) {
  if (!c)
    return;
  for (size_t i = 0; i < c->member_count; i++) {
    free(c->members[i]->path);
    free(c->members[i]);
  }
  for (size_t i = 0; i < c->line_count; i++)
    free(c->lines[i]);
  for (size_t i = 0; i < c->child_count; i++)
    ink_i_watch_end(&c->children[i]);
  while (c->pending_count)
    drop_pending(c, 0);
  if (c->listening >= 0)
    close(c->listening);
  if (c->control >= 0)
    close(c->control);
  free(c->members);
  free(c->children);
  free(c->lines);
  free(c->output);
  ink_i_collector_free_texts(c);
  free(c->source_folder);
  free(c);
}

/* ---- requests ---- */

/* Hands over the reply and, with it, the memory; the descriptor is closed. */
static void send_reply(int connection, const ink_i_reply *reply, int fd) {
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {.iov_base = (void *)(uintptr_t)reply, .iov_len = sizeof *reply};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (fd >= 0)
    close(fd);
}

/* The process of that pid ran another program before: its ring holds all that it will ever hold. */
static void replace_members(ink_collector *c, pid_t pid) {
  for (size_t i = 0; i < c->member_count; i++)
    if (c->members[i]->watch.pid == pid && !c->members[i]->closed) {
      c->members[i]->replaced = true;
      ink_i_member_close(c, c->members[i]);
    }
}

/* A ring for a process; an errno. */
static int new_member(ink_collector *c, const ink_i_request *request, pid_t pid, ink_i_reply *reply,
                      int *fd) {
  replace_members(c, pid);
  const uint64_t data_bytes = ink_i_memory_grant(&c->memory, request->bytes, request->least);
  ink_i_member *m = data_bytes ? calloc(1, sizeof *m) : NULL;
  if (!m || getrandom(reply->ring, sizeof reply->ring, 0) != (ssize_t)sizeof reply->ring ||
      !ink_list_room((void **)&c->members, &c->member_room, c->member_count,
                            sizeof *c->members)) {
    free(m);
    return ENOMEM;
  }
  const int code = ink_i_shared_make(&c->memory, data_bytes + INK_I_RING_DATA_AT, &m->shared, fd);
  if (code) {
    free(m);
    return code;
  }
  ink_i_ring_prepare(m->shared.map, data_bytes, reply->ring);
  ink_i_ring_read_from(&m->reader, m->shared.map, data_bytes);
  m->watch = ink_i_watch_begin(pid);
  m->request = *request;
  memcpy(m->request.ring, reply->ring, sizeof m->request.ring);
  c->members[c->member_count++] = m;
  reply->bytes = data_bytes;
  return 0;
}

/* An area beside a ring that the same process has. */
static int new_area(ink_collector *c, const ink_i_request *request, pid_t pid, ink_i_reply *reply,
                    int *fd) {
  ink_i_member *m = NULL;
  for (size_t i = 0; i < c->member_count; i++)
    if (!c->members[i]->closed && c->members[i]->watch.pid == pid &&
        !memcmp(c->members[i]->request.ring, request->ring, sizeof request->ring))
      m = c->members[i];
  if (!m || m->area_count == INK_I_AREAS_MAX)
    return m ? ENOMEM : ENOENT;
  if (!request->bytes || request->bytes > c->area_memory.most - c->area_memory.used)
    return ENOMEM;
  ink_i_area *area = &m->areas[m->area_count];
  const int code = ink_i_shared_make(&c->area_memory, request->bytes, &area->shared, fd);
  if (code)
    return code;
  area->kind = request->area_kind;
  m->area_count++;
  reply->bytes = request->bytes;
  return 0;
}

/* Answers what has come through a connection; false: nothing has yet. */
static bool serve(ink_collector *c, int connection) {
  struct {
    ink_i_request request;
    char text[INK_I_REPORT_BYTES];
  } message = {0};
  ink_i_request *request = &message.request;
  struct ucred peer = {0};
  socklen_t length = sizeof peer;
  int fd = -1;
  const ssize_t n = recv(connection, &message, sizeof message, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  if (n < (ssize_t)sizeof *request || request->token != c->address.of_client ||
      getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return true;
  request->host[sizeof request->host - 1] = request->rank[sizeof request->rank - 1] = 0;
  if (request->kind == INK_I_REQUEST_REPORT) {
    ink_i_collector_report(c, request->pid, message.text, (size_t)n - sizeof *request);
    return true;
  }
  ink_i_reply reply = {.version = INK_I_RING_VERSION, .token = c->address.of_writer};
  if (request->version != INK_I_RING_VERSION)
    reply.code = EPROTO;
  else if (peer.pid <= 0) /* of a pid namespace that is not below ours: its end could not be seen */
    reply.code = ESRCH;
  else if (request->kind == INK_I_REQUEST_RING)
    reply.code = (uint32_t)new_member(c, request, peer.pid, &reply, &fd);
  else if (request->kind == INK_I_REQUEST_AREA)
    reply.code = (uint32_t)new_area(c, request, peer.pid, &reply, &fd);
  else
    reply.code = EINVAL;
  send_reply(connection, &reply, fd);
  return true;
}

/* Nobody is waited for: who connects and says nothing is dropped after a while, or when others come. */
static void serve_all(ink_collector *c) {
  const int64_t now_ms = ink_i_monotonic_ms();
  for (size_t i = 0; i < c->pending_count;) {
    if (serve(c, c->pending[i].fd) || now_ms - c->pending[i].since_ms > REQUEST_MS)
      drop_pending(c, i);
    else
      i++;
  }
  for (int n = 0; n < BACKLOG; n++) {
    const int connection = accept4(c->listening, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0)
      return;
    if (serve(c, connection)) {
      close(connection);
      continue;
    }
    if (c->pending_count == INK_I_PENDING_MAX)
      drop_pending(c, 0);
    c->pending[c->pending_count++] = (ink_i_pending){.fd = connection, .since_ms = now_ms};
  }
}

/* ---- the loop ---- */

/* Closes what a process left. One that did not end its recording: the launcher may be about to tell
 * why, if it was its child. */
static void take_last(ink_collector *c, ink_i_member *m, bool at_once) {
  if (!m->gone_at_ms)
    m->gone_at_ms = ink_i_monotonic_ms();
  if (at_once || m->ended || m->has_status || c->control < 0 ||
      ink_i_monotonic_ms() - m->gone_at_ms > STATUS_MS)
    ink_i_member_close(c, m);
  else
    ink_i_member_take(c, m, false);
}

static void forget_gone(ink_collector *c) {
  size_t kept = 0;
  for (size_t i = 0; i < c->member_count; i++) {
    if (!c->members[i]->closed) {
      c->members[kept++] = c->members[i];
      continue;
    }
    free(c->members[i]->path);
    free(c->members[i]);
  }
  c->member_count = kept;
}

/* One round over all rings; true: more is there already. `at_once`: how a process ended is not waited
 * for. */
static bool take_all(ink_collector *c, bool at_once) {
  bool more = false;
  for (size_t i = 0; i < c->member_count; i++) {
    ink_i_member *m = c->members[i];
    if (m->closed)
      continue;
    if (m->gone_at_ms || ink_i_watch_is_gone(&m->watch))
      take_last(c, m, at_once);
    else
      more = ink_i_member_take(c, m, false) || more;
  }
  forget_gone(c);
  for (size_t i = 0; i < c->child_count;) {
    if (ink_i_watch_is_gone(&c->children[i])) {
      ink_i_watch_end(&c->children[i]);
      c->children[i] = c->children[--c->child_count];
    } else {
      i++;
    }
  }
  return more;
}

void ink_i_collector_settle(ink_collector *c) {
  serve_all(c); /* who asked before the launcher did */
  for (int rounds = 0; take_all(c, true) && rounds < 100; rounds++)
    continue;
}

/* Nothing of whoever started it is held: no terminal, no pipe, no folder. */
static void let_go(const ink_collector *c) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  prctl(PR_SET_NAME, "inkmark-writer");
  setsid();
  for (int fd = 0; fd < 3 && null >= 0; fd++)
    dup2(null, fd);
  const long most = sysconf(_SC_OPEN_MAX);
  const int kept[] = {c->listening, c->control};
  const int low = kept[0] < kept[1] ? kept[0] : kept[1], high = kept[0] < kept[1] ? kept[1] : kept[0];
  for (int fd = 3; fd < low; fd++)
    close(fd);
  for (int fd = low < 3 ? 3 : low + 1; fd < high; fd++)
    close(fd);
  if (close_range((unsigned)high + 1, ~0u, 0) != 0)
    for (int fd = high + 1; fd < most; fd++)
      close(fd);
  if (chdir("/") != 0)
    return;
}

static void prepare_process(void) {
  static const int passing[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ, SIGTSTP, SIGTTOU};
  struct rlimit files, bytes;
  for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
    signal(passing[i], SIG_IGN);
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  if (getrlimit(RLIMIT_FSIZE, &bytes) == 0) {
    bytes.rlim_cur = bytes.rlim_max;
    setrlimit(RLIMIT_FSIZE, &bytes);
  }
}

void ink_collector_run(ink_collector *c) {
  bool more = false;
  let_go(c);
  prepare_process();
  while (c->control >= 0 || c->member_count || c->child_count) {
    struct pollfd wait[2 + INK_I_PENDING_MAX] = {{.fd = c->listening, .events = POLLIN},
                                                 {.fd = c->control, .events = POLLIN}};
    for (size_t i = 0; i < c->pending_count; i++)
      wait[2 + i] = (struct pollfd){.fd = c->pending[i].fd, .events = POLLIN};
    const bool busy = c->member_count || c->child_count || c->pending_count;
    if (poll(wait, 2 + c->pending_count, more ? 0 : busy ? ROUND_MS : -1) < 0 && errno != EINTR)
      return;
    serve_all(c);
    more = take_all(c, false);
    if (c->says_at_once)
      ink_i_collector_say_lines(c);
    if (wait[1].revents && c->control >= 0)
      ink_i_collector_control(c);
  }
}
