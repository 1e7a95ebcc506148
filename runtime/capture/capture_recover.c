/* SPDX-License-Identifier: MIT */
/* Makes a whole capture of what a damaged or unfinished one still has: its good chunks, one after the other, as they
 * are, also those of types that this version does not know, and a fact that says what was missing. */
#include "capture_private.h"

#include "errno_words.h"
#include "output/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ink_status copy_chunks(const ink_capture *from, ink_writer *writer, ink_error *error) {
  ink_status status = INK_OK;
  for (size_t i = 0; i < from->good.count && status == INK_OK; i++) {
    ink_chunk_header header;
    memcpy(&header, from->bytes + from->good.items[i], sizeof header);
    if (header.type != INK_CHUNK_END)
      status = ink_i_writer_chunk(writer, header.type, NULL, 0,
                                  from->bytes + from->good.items[i] + sizeof header,
                                  (size_t)header.bytes, error);
  }
  return status;
}

/* One that holds a part would pass for what there was. */
static ink_status write_file(const ink_capture *capture, const char *path, ink_error *error) {
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  ink_writer *writer = NULL;
  ink_status status = ink_writer_open(path, false, &writer, error);
  if (status != INK_OK)
    return status;
  status = copy_chunks(capture, writer, error);
  if (status == INK_OK && !facts->complete)
    status = ink_writer_fact(writer, "recovered", facts->note, error);
  if (status == INK_OK)
    status = ink_writer_close(writer, error);
  else
    ink_writer_abandon(writer);
  return status;
}

static ink_status cannot(const char *to, int code, ink_error *error) {
  errno = code;
  return ink_error_set(error, INK_ERROR_IO, "cannot %s '%s': %s", code == EEXIST ? "create" : "write", to,
                       ink_i_errno_words(code).text);
}

/* Gives the file its name unless another one has it. Where neither call is there, looking must do. */
static int give_name(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  if (link(from, to) == 0)
    return unlink(from) == 0 ? 0 : errno;
  if (errno == EEXIST)
    return errno;
  return access(to, F_OK) == 0 ? EEXIST : rename(from, to) == 0 ? 0 : errno;
}

/* Beside its name until it is whole, whatever ends this process meanwhile. */
static ink_status write_to(const ink_capture *capture, const char *to, ink_error *error) {
  char *beside = NULL;
  struct stat there;
  if (lstat(to, &there) == 0)
    return cannot(to, EEXIST, error);
  if (asprintf(&beside, "%s.%ld.tmp", to, (long)getpid()) < 0)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  ink_i_unfinished_add(beside); /* before it is there: a signal may come in between */
  unlink(beside);               /* of a process that had this id */
  ink_status status = write_file(capture, beside, error);
  const int code = status == INK_OK ? give_name(beside, to) : status == INK_ERROR_IO && error ? error->code : 0;
  if (code) /* said of the name that was asked for */
    status = cannot(to, code, error);
  if (status != INK_OK)
    unlink(beside);
  ink_i_unfinished_drop(beside);
  free(beside);
  return status;
}

ink_status ink_capture_recover(const char *from, const char *to, ink_recovered *out, ink_error *error) {
  if (!from || !to)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no capture to recover");
  ink_capture *capture = NULL;
  ink_status status = ink_i_capture_open_chunks(from, &capture, error);
  if (status != INK_OK)
    return status;
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  ink_recovered done = {.tracks = ink_capture_track_count(capture), .chunks = capture->good.count,
                        .lost_bytes = facts->file_bytes - facts->used_bytes, .open_tracks = facts->open_tracks};
  memcpy(done.missing, facts->note, sizeof done.missing);
  if (!capture->good.count)
    status = ink_error_set(error, INK_ERROR_DAMAGED, "nothing of '%s' can be read: %s", from,
                           facts->note[0] ? facts->note : "it holds no whole chunk");
  if (status == INK_OK)
    status = write_to(capture, to, error);
  ink_capture_free(capture);
  if (status == INK_OK && out)
    *out = done;
  return status;
}
