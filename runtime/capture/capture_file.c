/* SPDX-License-Identifier: MIT */
/* Appends whole chunks to a capture file. The descriptor is a high one and is compared with the file
 * before each use, as the program may have closed it and opened another file under its number; a
 * write raises no signal; what is written in part is cut off again. */
#include "capture/capture_file.h"

#include "errno_words.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

struct ink_i_file {
  int fd;
  bool regular;        /* a file that can be cut back after a failed write */
  dev_t device;
  ino_t inode;
  uint32_t reopened;
  uint64_t good_bytes; /* the end of the last whole chunk */
  uint64_t sequence;
  char *absolute;      /* to open it again wherever the program is then; NULL: it cannot be */
  char path[1];        /* as it was given, for messages */
};

size_t ink_i_chunk_seal(unsigned char *chunk, uint32_t type, size_t payload_bytes, uint64_t sequence) {
  const size_t padded = (size_t)ink_pad8(payload_bytes);
  ink_chunk_header header = {
      .sync = INK_CHUNK_SYNC, .type = type, .bytes = payload_bytes, .sequence = sequence};
  memset(chunk + sizeof header + payload_bytes, 0, padded - payload_bytes);
  header.payload_crc = (uint32_t)crc32_z(0, chunk + sizeof header, padded);
  header.header_crc =
      (uint32_t)crc32_z(0, (const unsigned char *)&header, offsetof(ink_chunk_header, header_crc));
  memcpy(chunk, &header, sizeof header);
  return sizeof header + padded;
}

/* ---- signals: a write beyond a limit, or to a pipe that nobody reads, raises one in its thread ---- */

static const int raised[] = {SIGPIPE, SIGXFSZ};

typedef struct quiet {
  sigset_t blocked_before, pending_before;
} quiet;

static void quiet_begin(quiet *q) {
  sigset_t both;
  sigemptyset(&both);
  for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
    sigaddset(&both, raised[i]);
  sigpending(&q->pending_before);
  pthread_sigmask(SIG_BLOCK, &both, &q->blocked_before);
}

/* Takes back what a write of ours raised; what was pending before is the program's. */
static void quiet_end(const quiet *q) {
  const int code = errno;
  for (size_t i = 0; i < sizeof raised / sizeof *raised; i++) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, raised[i]);
    if (!sigismember(&q->pending_before, raised[i]))
      sigtimedwait(&one, NULL, &(struct timespec){0});
  }
  pthread_sigmask(SIG_SETMASK, &q->blocked_before, NULL);
  errno = code;
}

/* ---- the descriptor ---- */

/* Out of the way of the numbers that a program gets, or gives out itself. */
static int move_up(int fd) {
  static const int from[] = {512, 64, 3};
  for (size_t i = 0; fd >= 0 && i < sizeof from / sizeof *from; i++) {
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, from[i]);
    if (high >= 0) {
      close(fd);
      return high;
    }
  }
  return fd;
}

static bool is_ours(const ink_i_file *file, int fd) {
  struct stat info;
  return fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == file->device && info.st_ino == file->inode;
}

/* True when file->fd is the capture: as it was, or opened again. */
static bool have_descriptor(ink_i_file *file, ink_error *error) {
  if (is_ours(file, file->fd))
    return true;
  const int lost = file->fd;
  int fd = file->absolute ? open(file->absolute, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK) : -1;
  struct stat info; /* of another file the inode may be the same, once ours is deleted */
  if (fd >= 0 && (!is_ours(file, fd) || fstat(fd, &info) != 0 ||
                  (file->regular && (uint64_t)info.st_size < file->good_bytes))) {
    close(fd);
    fd = -1;
    errno = ENOENT;
  }
  if (fd < 0) {
    ink_error_set(error, INK_ERROR_IO,
                  "cannot write '%s': the program closed descriptor %d, the capture's, and it cannot "
                  "be opened again: %s",
                  file->path, lost, ink_i_errno_words(errno).text);
    return false;
  }
  file->fd = move_up(fd); /* the old number is the program's by now */
  fcntl(file->fd, F_SETFL, O_APPEND);
  flock(file->fd, LOCK_EX | LOCK_NB);
  file->reopened++;
  return true;
}

static ink_status write_bytes(ink_i_file *file, const unsigned char *data, size_t bytes,
                              ink_error *error) {
  size_t done = 0;
  while (done < bytes) {
    if (!have_descriptor(file, error))
      return INK_ERROR_IO;
    const ssize_t n = write(file->fd, data + done, bytes - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      const int code = n < 0 ? errno : ENOSPC;
      /* Half a chunk is no use to a reader and would be in the way of the next one. */
      if (done && file->regular &&
          (!have_descriptor(file, NULL) || ftruncate(file->fd, (off_t)file->good_bytes) != 0))
        file->regular = false;
      errno = code;
      return ink_error_set(error, INK_ERROR_IO, "cannot write '%s': %s", file->path,
                           ink_i_errno_words(code).text);
    }
    done += (size_t)n;
  }
  file->good_bytes += bytes;
  return INK_OK;
}

static ink_status write_quietly(ink_i_file *file, const unsigned char *data, size_t bytes,
                                ink_error *error) {
  quiet q;
  quiet_begin(&q);
  const ink_status status = write_bytes(file, data, bytes, error);
  quiet_end(&q);
  return status;
}

/* ---- opening and closing ---- */

static ink_status write_header(ink_i_file *file, ink_error *error) {
  ink_file_header header = {.endian = INK_FILE_ENDIAN,
                            .major = INK_FILE_MAJOR,
                            .minor = INK_FILE_MINOR,
                            .header_bytes = sizeof header};
  memcpy(header.magic, INK_FILE_MAGIC, sizeof header.magic);
  header.crc = (uint32_t)crc32_z(0, (const unsigned char *)&header, offsetof(ink_file_header, crc));
  return write_quietly(file, (const unsigned char *)&header, sizeof header, error);
}

/* A pipe that nobody reads is ENXIO, and not waited for. */
static int open_file(const char *path, bool replace, ink_error *error) {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | (replace ? 0 : O_EXCL);
  const int fd = move_up(open(path, flags, 0666));
  if (fd < 0) {
    ink_error_set(error, INK_ERROR_IO, "cannot create '%s': %s", path, ink_i_errno_words(errno).text);
    return -1;
  }
  fcntl(fd, F_SETFL, O_APPEND);
  /* Two writers would leave no file that can be read. Where there are no locks, both go on. */
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd);
    ink_error_set(error, INK_ERROR_IO, "cannot write '%s': another process is writing it", path);
    if (error)
      error->code = EWOULDBLOCK;
    return -1;
  }
  if (replace && ftruncate(fd, 0) != 0 && errno != EINVAL) { /* EINVAL: a device */
    ink_error_set(error, INK_ERROR_IO, "cannot write '%s': %s", path, ink_i_errno_words(errno).text);
    close(fd);
    return -1;
  }
  return fd;
}

ink_status ink_i_file_open(const char *path, bool replace, ink_i_file **out, ink_error *error) {
  const int fd = open_file(path, replace, error);
  if (fd < 0)
    return INK_ERROR_IO;
  struct stat info;
  ink_i_file *file = calloc(1, sizeof *file + strlen(path));
  if (!file || fstat(fd, &info) != 0) {
    close(fd);
    free(file);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a capture writer");
  }
  memcpy(file->path, path, strlen(path) + 1);
  file->absolute = realpath(path, NULL);
  file->fd = fd;
  file->regular = S_ISREG(info.st_mode);
  file->device = info.st_dev;
  file->inode = info.st_ino;
  const ink_status status = write_header(file, error);
  if (status != INK_OK) {
    if (!replace) /* so it was made here */
      unlink(path);
    ink_i_file_abandon(file);
    return status;
  }
  *out = file;
  return INK_OK;
}

ink_status ink_i_file_close(ink_i_file *file, ink_error *error) {
  ink_status status = INK_OK;
  struct stat info;
  if (!is_ours(file, file->fd)) /* written whole; the number is the program's */
    file->fd = -1;
  else if (file->regular && fstat(file->fd, &info) == 0 && info.st_nlink == 0)
    status = ink_error_set(error, INK_ERROR_IO,
                           "cannot keep '%s': it was deleted while it was written", file->path);
  if (file->fd >= 0 && close(file->fd) != 0 && status == INK_OK) /* NFS and quotas report here */
    status = ink_error_set(error, INK_ERROR_IO, "cannot write '%s': %s", file->path,
                           ink_i_errno_words(errno).text);
  file->fd = -1;
  ink_i_file_abandon(file);
  return status;
}

void ink_i_file_abandon(ink_i_file *file) {
  if (is_ours(file, file->fd))
    close(file->fd);
  free(file->absolute);
  free(file);
}

uint64_t ink_i_file_chunks(const ink_i_file *file) { return file->sequence; }
uint32_t ink_i_file_reopened(const ink_i_file *file) { return file->reopened; }

/* ---- chunks ---- */

ink_status ink_i_file_put(ink_i_file *file, unsigned char *chunk, uint32_t type, size_t payload_bytes,
                          ink_error *error) {
  const size_t bytes = ink_i_chunk_seal(chunk, type, payload_bytes, file->sequence);
  const ink_status status = write_quietly(file, chunk, bytes, error);
  if (status == INK_OK)
    file->sequence++;
  return status;
}

bool ink_i_file_is_full(const ink_error *error) {
  return error->status == INK_ERROR_IO &&
         (error->code == ENOSPC || error->code == EFBIG || error->code == EDQUOT);
}

bool ink_i_chunk_has_items(uint32_t type) {
  return type == INK_CHUNK_TRACKS || type == INK_CHUNK_PARTS; /* what is written */
}

/* A run of whole items in the payload of a chunk of them. */
typedef struct item_run {
  uint32_t type;
  unsigned char *first;
  size_t bytes;
  uint64_t count;
} item_run;

/* The size of the item at `at`, of which `left` bytes are there; 0: it contradicts its chunk. */
static size_t item_bytes(uint32_t type, const unsigned char *at, size_t left) {
  ink_file_track track;
  ink_file_part part;
  const size_t head = type == INK_CHUNK_TRACKS ? sizeof track : sizeof part;
  if (left < head)
    return 0;
  const uint64_t most = (left - head) / 8;
  uint64_t words;
  if (type == INK_CHUNK_TRACKS) {
    memcpy(&track, at, sizeof track);
    words = track.ring_words <= most && track.aux_words <= most - track.ring_words
                ? track.ring_words + track.aux_words
                : UINT64_MAX;
  } else {
    memcpy(&part, at, sizeof part);
    words = part.words;
  }
  return words <= most ? head + (size_t)words * 8 : 0;
}

/* The first `count` items of what is left; false: they contradict their chunk. */
static bool cut_run(uint32_t type, unsigned char *at, size_t left, uint64_t count, item_run *out) {
  size_t bytes = 0;
  for (uint64_t i = 0; i < count; i++) {
    const size_t one = item_bytes(type, at + bytes, left - bytes);
    if (!one)
      return false;
    bytes += one;
  }
  *out = (item_run){.type = type, .first = at, .bytes = bytes, .count = count};
  return true;
}

enum { ITEMS_HEAD = sizeof(ink_chunk_header) + sizeof(ink_file_tracks) };
INK_STATIC_ASSERT(sizeof(ink_file_tracks) == sizeof(ink_file_parts), "both begin alike");

/* Makes the run a chunk of its own: what stands before it is the head of its chunk, or items that are
 * in the file already. */
static unsigned char *head_run(const item_run *run, ink_file_tracks fixed) {
  fixed.count = run->count;
  memcpy(run->first - sizeof fixed, &fixed, sizeof fixed);
  return run->first - ITEMS_HEAD;
}

/* Puts the run, or as much of its beginning as there is room for; `run` becomes what is left. */
static ink_status put_run(ink_i_file *file, item_run *run, const ink_file_tracks *fixed,
                          ink_error *error) {
  ink_error why = {0};
  ink_status status =
      ink_i_file_put(file, head_run(run, *fixed), run->type, sizeof *fixed + run->bytes, &why);
  if (status == INK_OK) {
    *run = (item_run){.type = run->type, .first = run->first + run->bytes};
    return INK_OK;
  }
  if (error)
    *error = why;
  item_run half;
  if (run->count < 2 || !ink_i_file_is_full(&why) ||
      !cut_run(run->type, run->first, run->bytes, run->count / 2, &half))
    return status;
  const item_run asked = half;
  status = put_run(file, &half, fixed, error);
  const size_t done = asked.bytes - half.bytes;
  run->first += done;
  run->bytes -= done;
  run->count -= asked.count - half.count;
  return status == INK_OK ? put_run(file, run, fixed, error) : status;
}

ink_status ink_i_file_put_items(ink_i_file *file, unsigned char *chunk, uint32_t type,
                                size_t payload_bytes, size_t *left, ink_error *error) {
  ink_file_tracks fixed = {0};
  item_run run;
  *left = 0;
  if (payload_bytes >= sizeof fixed)
    memcpy(&fixed, chunk + sizeof(ink_chunk_header), sizeof fixed);
  if (payload_bytes < sizeof fixed ||
      !cut_run(type, chunk + ITEMS_HEAD, payload_bytes - sizeof fixed, fixed.count, &run) ||
      run.bytes != payload_bytes - sizeof fixed)
    return ink_i_file_put(file, chunk, type, payload_bytes, error); /* as it is */
  const ink_status status = put_run(file, &run, &fixed, error);
  if (status != INK_OK) {
    memmove(chunk + ITEMS_HEAD, run.first, run.bytes);
    run.first = chunk + ITEMS_HEAD;
    head_run(&run, fixed);
    *left = sizeof fixed + run.bytes;
  }
  return status;
}
