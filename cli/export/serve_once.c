/* SPDX-License-Identifier: MIT */
/* Serves one file once. Whoever can guess neither the port nor the 128 random bits of the path gets
 * nothing; a page of another origin is refused by its Origin, and one that has its own name point
 * to 127.0.0.1 (DNS rebinding) by its Host. Browsers open spare connections, so several are held.
 */
#include "serve_once.h"

#include "message.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  CONNECTIONS = 16,
  REQUEST_BYTES = 8192,
  REQUEST_MS = 10000, /* for the request to arrive whole */
  STALL_MS = 60000,   /* without a byte taken by the other side */
  SEND_BYTES = 1 << 20
};

typedef struct connection {
  int socket; /* -1: free */
  int64_t deadline_ms;
  char request[REQUEST_BYTES + 1];
  size_t received;
  char answer[1024];
  size_t answer_bytes, answer_sent;
  bool answers;   /* the request is read, the answer goes out */
  bool with_file; /* the file follows */
  bool lingers;   /* all is sent; the other side's end is waited for */
  off_t file_at;
} connection;

struct serve_once {
  serve_options options;
  int listener;
  uint64_t size;
  char path[160], host[32], url[224];
  connection connections[CONNECTIONS];
  bool loaded, failed;
};

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- listening ---- */

static bool make_names(serve_once *s, unsigned port) {
  unsigned char token[16];
  if (getrandom(token, sizeof token, 0) != (ssize_t)sizeof token) {
    message_say("no random numbers for the address: %s", message_errno(errno));
    return false;
  }
  char *to = s->path;
  *to++ = '/';
  for (size_t i = 0; i < sizeof token; i++)
    to += snprintf(to, 3, "%02x", token[i]);
  *to++ = '/';
  const char *end = s->path + sizeof s->path - 1;
  for (const char *from = s->options.name; *from && to < end; from++) {
    bool plain = isalnum((unsigned char)*from) || (*from && strchr("._-", *from));
    *to++ = plain && (unsigned char)*from < 128 ? *from : '_';
  }
  *to = 0;
  snprintf(s->host, sizeof s->host, "127.0.0.1:%u", port);
  snprintf(s->url, sizeof s->url, "http://%s%s", s->host, s->path);
  return true;
}

static bool listen_on(serve_once *s) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(s->options.port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int on = 1;
  s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s->listener >= 0)
    setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&address, length) ||
      listen(s->listener, CONNECTIONS) ||
      getsockname(s->listener, (struct sockaddr *)&address, &length)) {
    message_say(
        "cannot listen on 127.0.0.1:%u: %s%s", s->options.port, message_errno(errno),
        errno == EADDRINUSE ? " (by a 'trace_processor --httpd', or another 'inkmark open'?)" : "");
    return false;
  }
  return make_names(s, ntohs(address.sin_port));
}

bool serve_open(const serve_options *options, serve_once **out) {
  struct stat file;
  serve_once *s = calloc(1, sizeof *s);
  if (!s) {
    message_say("out of memory");
    return false;
  }
  s->options = *options;
  s->listener = -1;
  for (size_t i = 0; i < CONNECTIONS; i++)
    s->connections[i].socket = -1;
  if (fstat(options->file, &file)) {
    message_say("cannot read '%s': %s", options->name, message_errno(errno));
    serve_close(s);
    return false;
  }
  s->size = (uint64_t)file.st_size;
  if (!listen_on(s)) {
    serve_close(s);
    return false;
  }
  *out = s;
  return true;
}

const char *serve_url(const serve_once *s) {
  return s->url;
}

void serve_close(serve_once *s) {
  if (!s)
    return;
  for (size_t i = 0; i < CONNECTIONS; i++)
    if (s->connections[i].socket >= 0)
      close(s->connections[i].socket);
  if (s->listener >= 0)
    close(s->listener);
  free(s);
}

/* ---- a request ---- */

/* Puts the value of a header into `value`; returns false if the header is absent. If it occurs twice, `value` is "", and
 * callers reject that. */
static bool header(const char *request, const char *name, char *value, size_t size) {
  size_t length = strlen(name);
  bool found = false;
  for (const char *line = strstr(request, "\r\n"); line && line[2] != '\r';
       line = strstr(line + 2, "\r\n")) {
    if (strncasecmp(line + 2, name, length) || line[2 + length] != ':')
      continue;
    const char *from = line + 3 + length;
    from += strspn(from, " \t");
    size_t n = strcspn(from, "\r\n");
    while (n && (from[n - 1] == ' ' || from[n - 1] == '\t'))
      n--;
    if (found || n >= size)
      n = 0;
    memcpy(value, from, n);
    value[n] = 0;
    found = true;
  }
  return found;
}

/* Takes as long whichever character is wrong. */
static bool same_text(const char *a, const char *b) {
  size_t n = strlen(a);
  unsigned char difference = 0;
  if (n != strlen(b))
    return false;
  for (size_t i = 0; i < n; i++)
    difference |= (unsigned char)(a[i] ^ b[i]);
  return !difference;
}

__attribute__((format(printf, 4, 5))) static void answer(connection *c, const char *status,
                                                         uint64_t length, const char *format, ...) {
  va_list arguments;
  int n = snprintf(c->answer, sizeof c->answer,
                   "HTTP/1.1 %s\r\nConnection: close\r\nCache-Control: no-store\r\n"
                   "X-Content-Type-Options: nosniff\r\nContent-Length: %llu\r\n",
                   status, (unsigned long long)length);
  va_start(arguments, format);
  n += vsnprintf(c->answer + n, sizeof c->answer - (size_t)n, format, arguments);
  va_end(arguments);
  c->answer_bytes = (size_t)n;
  c->answers = true;
}

static void decide(serve_once *s, connection *c) {
  char method[16] = "", path[sizeof s->path + 8] = "", host[64] = "", origin[128] = "";
  int end = 0;
  /* the path's room is more than the longest right one */
  bool whole =
      sscanf(c->request, "%15[A-Z] %167[^ \r\n] HTTP/1.%*1[01]%n", method, path, &end) == 2 &&
      end && c->request[end] == '\r';
  if (!whole) {
    answer(c, "400 Bad Request", 0, "\r\n");
  } else if (!header(c->request, "Host", host, sizeof host) || strcmp(host, s->host)) {
    answer(c, "421 Misdirected Request", 0, "\r\n");
  } else if (header(c->request, "Origin", origin, sizeof origin) &&
             strcmp(origin, s->options.origin)) {
    answer(c, "403 Forbidden", 0, "\r\n");
  } else if (!same_text(path, s->path)) {
    answer(c, "404 Not Found", 0, "\r\n"); /* the UI asks for /status, to see who is here */
  } else if (!strcmp(method, "OPTIONS")) {
    /* asked by browsers that guard the local network before the request itself */
    answer(c, "204 No Content", 0,
           "Access-Control-Allow-Origin: %s\r\nAccess-Control-Allow-Methods: GET, HEAD\r\n"
           "Access-Control-Allow-Headers: *\r\nAccess-Control-Allow-Private-Network: true\r\n"
           "Access-Control-Allow-Local-Network: true\r\nVary: Origin\r\n\r\n",
           s->options.origin);
  } else if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
    answer(c, "405 Method Not Allowed", 0, "Allow: GET, HEAD, OPTIONS\r\n\r\n");
  } else {
    answer(c, "200 OK", s->size,
           "Content-Type: application/octet-stream\r\nAccess-Control-Allow-Origin: %s\r\n"
           "Cross-Origin-Resource-Policy: cross-origin\r\nAccept-Ranges: none\r\n"
           "Vary: Origin\r\n\r\n",
           s->options.origin);
    c->with_file = method[0] == 'G';
  }
  c->deadline_ms = now_ms() + STALL_MS;
}

/* ---- connections ---- */

static void drop(connection *c) {
  close(c->socket);
  c->socket = -1;
}

/* A free place, or that of whoever has asked for nothing for longest: silent connections keep no browser
 * out. NULL: all are being answered. */
static connection *place_for_one(serve_once *s) {
  connection *oldest = NULL;
  for (connection *c = s->connections; c < s->connections + CONNECTIONS; c++) {
    if (c->socket < 0)
      return c;
    if (!c->answers && (!oldest || c->deadline_ms < oldest->deadline_ms))
      oldest = c;
  }
  if (oldest)
    drop(oldest);
  return oldest;
}

static void accept_one(serve_once *s) {
  int socket = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0)
    return;
  connection *c = place_for_one(s);
  if (!c) {
    close(socket);
    return;
  }
  *c = (connection){.socket = socket, .deadline_ms = now_ms() + REQUEST_MS};
}

static void receive(serve_once *s, connection *c) {
  ssize_t n = recv(c->socket, c->request + c->received, REQUEST_BYTES - c->received, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n <= 0) {
    drop(c);
    return;
  }
  c->received += (size_t)n;
  c->request[c->received] = 0;
  if (strlen(c->request) != c->received)
    answer(c, "400 Bad Request", 0, "\r\n");
  else if (strstr(c->request, "\r\n\r\n"))
    decide(s, c);
  else if (c->received == REQUEST_BYTES)
    answer(c, "431 Request Header Fields Too Large", 0, "\r\n");
}

/* The end of the sending side; what the other side still sends is read, since closing with bytes
 * unread would have the kernel throw the answer away. */
static void finish(serve_once *s, connection *c) {
  if (c->with_file)
    s->loaded = true;
  shutdown(c->socket, SHUT_WR);
  c->lingers = true;
  c->deadline_ms = now_ms() + 2000;
}

static void transmit(serve_once *s, connection *c) {
  ssize_t n;
  if (c->answer_sent < c->answer_bytes) {
    n = send(c->socket, c->answer + c->answer_sent, c->answer_bytes - c->answer_sent, MSG_NOSIGNAL);
    c->answer_sent += n > 0 ? (size_t)n : 0;
  } else {
    uint64_t left = s->size - (uint64_t)c->file_at;
    n = sendfile(c->socket, s->options.file, &c->file_at, left < SEND_BYTES ? left : SEND_BYTES);
    if (!n) {
      message_say("'%s' became shorter while it was loaded", s->options.name);
      s->failed = true;
    }
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n <= 0) {
    if (n < 0 && errno == EIO) {
      message_say("cannot read '%s': %s", s->options.name, message_errno(errno));
      s->failed = true;
    }
    drop(c); /* the browser left; it may come again */
    return;
  }
  c->deadline_ms = now_ms() + STALL_MS;
  if (c->answer_sent == c->answer_bytes && (!c->with_file || (uint64_t)c->file_at == s->size))
    finish(s, c);
}

static void serve(serve_once *s, connection *c) {
  char rest[4096];
  if (c->lingers) {
    ssize_t n = recv(c->socket, rest, sizeof rest, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
      drop(c);
  } else if (c->answers) {
    transmit(s, c);
  } else {
    receive(s, c);
  }
}

static bool any_lingers(const serve_once *s) {
  for (size_t i = 0; i < CONNECTIONS; i++)
    if (s->connections[i].socket >= 0 && s->connections[i].lingers)
      return true;
  return false;
}

static bool any_loads(const serve_once *s) {
  for (size_t i = 0; i < CONNECTIONS; i++)
    if (s->connections[i].socket >= 0 && s->connections[i].with_file)
      return true;
  return false;
}

bool serve_run(serve_once *s, unsigned wait_seconds) {
  const int64_t end_ms = wait_seconds ? now_ms() + (int64_t)wait_seconds * 1000 : INT64_MAX;
  while (!s->failed && (!s->loaded || any_lingers(s))) {
    struct pollfd polled[CONNECTIONS + 1];
    polled[0] = (struct pollfd){.fd = s->loaded ? -1 : s->listener, .events = POLLIN};
    for (size_t i = 0; i < CONNECTIONS; i++) {
      const connection *c = &s->connections[i];
      polled[i + 1] =
          (struct pollfd){.fd = c->socket, .events = c->answers && !c->lingers ? POLLOUT : POLLIN};
    }
    if (poll(polled, CONNECTIONS + 1, 200) < 0 && errno != EINTR) {
      message_say("cannot wait for a browser: %s", message_errno(errno));
      return false;
    }
    for (size_t i = 0; i < CONNECTIONS && !s->failed; i++) {
      connection *c = &s->connections[i];
      if (c->socket >= 0 && polled[i + 1].revents)
        serve(s, c);
      if (c->socket >= 0 && now_ms() > c->deadline_ms)
        drop(c);
    }
    if (polled[0].revents)
      accept_one(s);
    if (!s->loaded && now_ms() > end_ms && !any_loads(s)) {
      message_say("nobody loaded '%s' within %u s", s->options.name, wait_seconds);
      return false;
    }
  }
  return !s->failed;
}
