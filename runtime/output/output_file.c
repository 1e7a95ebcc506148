/* SPDX-License-Identifier: MIT */
/* Writes beside the wanted name and renames when whole; gzip by zlib where the name asks for it.
 * Where the file system has unnamed files (O_TMPFILE), nothing is left behind even after SIGKILL.
 */
#include "output_file.h"

#include "errno_words.h"
#include "gzip_write.h"
#include "number_text.h"
#include "text_scan.h"
#include "unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_BYTES = 256 * 1024 };

/* "cannot write 'x': no space left on device": strerror in lower case, as all our messages are. */
static ink_status say(const char *doing, const ink_file *file, int code, ink_error *error) {
  if (code == ENOMEM)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  const ink_i_words words = ink_i_errno_words(code);
  errno = code;
  return ink_error_set(error, INK_ERROR_IO, "cannot %s '%s': %s", doing,
                       file->path ? file->path : "stdout", words.text);
}

static void write_fd(ink_file *file, const unsigned char *bytes, size_t size) {
  while (size && !file->failed) {
    ssize_t n = write(file->fd, bytes, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      file->failed = n < 0 ? errno : EIO;
      return;
    }
    bytes += n;
    size -= (size_t)n;
  }
}

static void take_packed(void *user, const unsigned char *bytes, size_t size) { write_fd(user, bytes, size); }

static void write_packed(ink_file *file, const void *bytes, size_t size, bool last) {
  const bool fine = last ? ink_i_gzip_end(file->gzip, take_packed, file)
                         : ink_i_gzip_put(file->gzip, bytes, size, take_packed, file);
  if (!fine && !file->failed)
    file->failed = ENOMEM;
}

static void emit(ink_file *file, const void *bytes, size_t size) {
  if (file->failed || !size)
    return;
  if (file->sums)
    file->crc = (uint32_t)crc32(file->crc, bytes, (uInt)size);
  if (file->gzip)
    write_packed(file, bytes, size, false);
  else
    write_fd(file, bytes, size);
}

/* Writes the buffer with U+FFFD for what is no UTF-8. A character that is not whole at the end waits in the
 * buffer for what comes, unless nothing does. */
static void emit_utf8(ink_file *file, bool last) {
  const char *text = (const char *)file->buffer;
  const size_t waits = last ? 0 : ink_i_text_open_end(text, file->used), size = file->used - waits;
  size_t from = 0, at = 0;
  while (at < size) {
    uint32_t code;
    at += ink_i_text_ascii(text + at, size - at);
    if (at == size)
      break;
    const size_t n = ink_i_text_next(text + at, size - at, &code);
    if (code == INK_I_NO_CHARACTER) {
      emit(file, text + from, at - from);
      emit(file, "\xef\xbf\xbd", 3);
      file->written += 3 - n;
      from = at + n;
    }
    at += n;
  }
  emit(file, text + from, size - from);
  memmove(file->buffer, file->buffer + size, waits);
  file->used = waits;
}

static void flush(ink_file *file, bool last) {
  if (file->utf8 && file->used) {
    emit_utf8(file, last);
    return;
  }
  emit(file, file->buffer, file->used);
  file->used = 0;
}

void ink_file_flush(ink_file *file) {
  flush(file, false);
}

void ink_file_utf8(ink_file *file, bool on) {
  flush(file, true);
  file->utf8 = on;
}

void ink_file_patch(ink_file *file, uint64_t at, const void *bytes, size_t size) {
  if (!file->failed && pwrite(file->fd, bytes, size, (off_t)at) != (ssize_t)size)
    file->failed = errno ? errno : EIO;
}

void ink_file_write_slow(ink_file *file, const void *bytes, size_t size) {
  const unsigned char *from = bytes;
  while (size) {
    if (file->used == file->room)
      ink_file_flush(file);
    size_t n = file->room - file->used < size ? file->room - file->used : size;
    memcpy(file->buffer + file->used, from, n);
    file->used += n;
    file->written += n;
    from += n;
    size -= n;
  }
}

void ink_file_print(ink_file *file, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  int n = ink_i_vprint(text, sizeof text, format, arguments);
  va_end(arguments);
  if (n < 0 || (size_t)n >= sizeof text) {
    file->failed = file->failed ? file->failed : EOVERFLOW;
    return;
  }
  ink_file_write(file, text, (size_t)n);
}

/* A file of this directory without a name, or, where there is no such thing, one with a name of
 * ours. Returns the descriptor or -1 with errno. */
static int open_beside(ink_file *file) {
  const char *slash = strrchr(file->path, '/');
  size_t length = slash ? (size_t)(slash - file->path) + 1 : 0;
  char *directory = malloc(length + 2);
  size_t size = strlen(file->path) + 48;
  char *beside = malloc(size);
  int fd = -1;
  if (!directory || !beside) {
    errno = ENOMEM;
    goto cleanup;
  }
  memcpy(directory, file->path, length);
  memcpy(directory + length, ".", 2);
#ifdef O_TMPFILE
  if (access("/proc/self/fd", X_OK) == 0) /* it gets its name through there */
    fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  else
    errno = EOPNOTSUPP;
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT))
    goto cleanup;
#endif
  for (unsigned i = 0; i < 100; i++) {
    snprintf(beside, size, "%s.%ld-%u.tmp", file->path, (long)getpid(), i);
    ink_i_unfinished_add(beside); /* before it is there: a signal may come in between */
    fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      file->beside = beside;
      beside = NULL;
      goto cleanup;
    }
    ink_i_unfinished_drop(beside);
    if (errno != EEXIST)
      goto cleanup;
  }
cleanup:;
  int code = errno;
  free(directory);
  free(beside);
  errno = code;
  return fd;
}

/* A link is followed, one to nothing too: what it points to is replaced, not the link. NULL with errno: a circle of links. */
static char *target_of(const char *path) {
  enum { LINKS_MAX = 40 }; /* as the kernel has it */
  char link[PATH_MAX], *target = strdup(path);
  for (int i = 0; target && i < LINKS_MAX; i++) {
    const ssize_t n = readlink(target, link, sizeof link - 1);
    if (n < 0)
      return target;
    link[n] = 0;
    const char *slash = strrchr(target, '/');
    const int folder = link[0] != '/' && slash ? (int)(slash + 1 - target) : 0;
    char *next = NULL;
    if (asprintf(&next, "%.*s%s", folder, target, link) < 0)
      next = NULL;
    free(target);
    target = next;
  }
  const bool circle = target != NULL;
  free(target);
  errno = circle ? ELOOP : ENOMEM;
  return NULL;
}

static ink_status open_descriptor(ink_file *file, const char *path, ink_error *error) {
  struct stat st;
  if (!strcmp(path, "-")) {
    file->fd = STDOUT_FILENO;
    file->direct = true;
    return INK_OK;
  }
  bool there = stat(path, &st) == 0;
  file->path = target_of(path);
  if (!file->path && errno == ELOOP)
    return ink_error_set(error, INK_ERROR_IO, "cannot write '%s': %s", path, ink_i_errno_words(ELOOP).text);
  if (!file->path)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  if (there && S_ISDIR(st.st_mode))
    return say("write", file, EISDIR, error);
  if (there && S_ISREG(st.st_mode) && access(path, W_OK) != 0)
    return say("write", file, errno, error);
  file->direct = there && !S_ISREG(st.st_mode);
  file->fd = file->direct ? open(path, O_WRONLY | O_CLOEXEC) : open_beside(file);
  if (file->fd < 0)
    return say("write", file, errno, error);
  if (there && !file->direct)
    (void)!fchmod(file->fd, st.st_mode & 0777); /* the new file keeps the old one's mode */
  return INK_OK;
}

static ink_status start_gzip(ink_file *file, ink_error *error) {
  file->gzip = ink_i_gzip_new(0);
  return file->gzip ? INK_OK : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

ink_status ink_file_open(ink_file *file, const char *path, ink_error *error) {
  *file = (ink_file){.fd = -1};
  size_t length = strlen(path);
  ink_status status = open_descriptor(file, path, error);
  if (status == INK_OK && length > 3 && !strcmp(path + length - 3, ".gz"))
    status = start_gzip(file, error);
  if (status == INK_OK) {
    file->buffer = malloc(BUFFER_BYTES);
    file->room = BUFFER_BYTES;
    if (!file->buffer)
      status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  }
  if (status != INK_OK)
    ink_file_abandon(file);
  return status;
}

ink_status ink_file_open_utf8(ink_file *file, const char *path, ink_error *error) {
  const ink_status status = ink_file_open(file, path, error);
  file->utf8 = status == INK_OK;
  return status;
}

ink_status ink_file_check(const ink_file *file, ink_error *error) {
  return file->failed ? say("write", file, file->failed, error) : INK_OK;
}

ink_status ink_file_finish(ink_file *file, ink_error *error) {
  flush(file, true);
  if (file->gzip && !file->failed)
    write_packed(file, NULL, 0, true);
  free(file->buffer);
  file->buffer = NULL;
  file->room = 0;
  return ink_file_check(file, error);
}

/* Links the unnamed file to a name of ours first: linkat cannot replace, rename can. */
static int name_beside(ink_file *file) {
  size_t size = strlen(file->path) + 48;
  char from[64];
  char *beside = malloc(size);
  if (!beside) {
    errno = ENOMEM;
    return -1;
  }
  snprintf(from, sizeof from, "/proc/self/fd/%d", file->fd);
  for (unsigned i = 0; i < 100; i++) {
    snprintf(beside, size, "%s.%ld-%u.tmp", file->path, (long)getpid(), i);
    ink_i_unfinished_add(beside);
    if (linkat(AT_FDCWD, from, AT_FDCWD, beside, AT_SYMLINK_FOLLOW) == 0) {
      file->beside = beside;
      return 0;
    }
    ink_i_unfinished_drop(beside);
    if (errno != EEXIST)
      break;
  }
  int code = errno;
  free(beside);
  errno = code;
  return -1;
}

ink_status ink_file_commit(ink_file *file, ink_error *error) {
  ink_status status = INK_OK;
  if (!file->direct && !file->beside && name_beside(file) != 0)
    status = say("write", file, errno, error);
  if (status == INK_OK && file->fd != STDOUT_FILENO) {
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) != 0 && errno != EINTR) /* a network file system may tell only now */
      status = say("write", file, errno, error);
  }
  if (status == INK_OK && file->beside) {
    if (rename(file->beside, file->path) != 0) {
      status = say("write", file, errno, error);
    } else {
      ink_i_unfinished_drop(file->beside);
      free(file->beside);
      file->beside = NULL;
    }
  }
  ink_file_abandon(file);
  return status;
}

ink_status ink_file_close(ink_file *file, ink_error *error) {
  ink_status status = ink_file_finish(file, error);
  if (status == INK_OK)
    return ink_file_commit(file, error);
  ink_file_abandon(file);
  return status;
}

void ink_file_abandon(ink_file *file) {
  if (file->beside) {
    unlink(file->beside);
    ink_i_unfinished_drop(file->beside);
  }
  if (file->fd > STDERR_FILENO) /* a zeroed file has descriptor 0, stdout stays open */
    close(file->fd);
  ink_i_gzip_free(file->gzip);
  free(file->beside);
  free(file->path);
  free(file->buffer);
  *file = (ink_file){.fd = -1};
}
