/* SPDX-License-Identifier: MIT */
/* A run of the rewriter, in a process of its own: a parse that hangs or crashes costs its time
 * limit and no more. Where options->parse asks for it, that process waits for further requests. */
#include "kept_result.h"
#include "parse_result.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the child
 * ------------------------------------------------------------------------------------ */

static bool compile(regex_t *regex, const char *text, bool *has) {
  *has = text && !regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
  return *has || !text;
}

/* All that does not depend on options->guarded. */
static ink_status read_source(ink_unit *unit, bool header_less, ink_error *error) {
  const ink_instrument_options *options = unit->options;
  unit->main_path = realpath(options->source, NULL);
  if (options->root)
    unit->root = realpath(options->root, NULL);
  else
    ink_unit_guess_root(unit, unit->main_path ? unit->main_path : ".");
  if (!unit->main_path)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "cannot read '%s': %s", options->source,
                         strerror(errno));
  if (!compile(&unit->kernels, options->kernels, &unit->has_kernels) ||
      !compile(&unit->exclude, options->exclude, &unit->has_exclude) ||
      !compile(&unit->calls_like, options->calls_like, &unit->has_calls_like))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "not a regular expression");
  ink_status status = ink_unit_parse(unit, header_less, error);
  if (status)
    return status;
  if (!ink_unit_find_sources(unit) || !unit->sources.count || !ink_unit_find_functions(unit) ||
      !ink_unit_find_instances(unit))
    return ink_error_set(error, INK_ERROR_MEMORY, "cannot read the functions of '%s'",
                         options->source);
  for (size_t i = 0; i < unit->sources.count; i++)
    unit->was_marked |=
        unit->sources.items[i]->is_main && unit->sources.items[i]->is_marked_already;
  ink_unit_find_complaints(unit);
  ink_suffix_remarks(unit);
  ink_unit_find_off(unit);
  ink_unit_find_hand_marks(unit);
  ink_unit_see_hand_marks(unit);
  ink_unit_find_depths(unit);
  return INK_OK;
}

static ink_status mark(ink_unit *unit, ink_bytes *out, ink_error *error) {
  ink_unit_apply_rules(unit);
  ink_unit_give_contexts(unit);
  ink_unit_hidden_remarks(unit);
  ink_unit_unopened_remarks(unit);
  return ink_parsed_write(unit, out)
             ? INK_OK
             : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for '%s'", unit->options->source);
}

/* It ends with the process that asked, and by what ends others: the caller's handlers are not meant here. */
static void be_mortal(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (!sigaction(signals[i], NULL, &action) && action.sa_handler != SIG_IGN)
      signal(signals[i], SIG_DFL);
}

#if defined(INKMARK_FREE_ALL)
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak)); /* of gcc's and clang's leak checker, where it is linked */
#endif

/* Writes what came out, and ends: with 0, or 2 and an error, or 3. */
static void finish(ink_unit *unit, ink_status status, ink_error *error, int file, const struct timespec *begun) {
  ink_bytes block = {0};
  if (!status)
    status = mark(unit, &block, error);
  const bool fine = status ? ink_write_all(file, error, sizeof *error) : ink_write_all(file, block.at, block.count);
  if (!status && fine && unit->options->cache && !unit->header_less)
    ink_kept_result_write(unit, &block, begun);
#if defined(INKMARK_FREE_ALL) /* the process ends: only leak checkers want this */
  ink_unit_free(unit);
  ink_bytes_free(&block);
  memset(unit, 0, sizeof *unit); /* what it still points to is lost */
  if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
    _exit(4);
#endif
  _exit(!fine ? 3 : status ? 2 : 0);
}

/* A parse that takes more than a 32nd of the machine's memory is not kept while the compiler works. */
static bool is_small(void) {
  struct rusage used;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return !getrusage(RUSAGE_SELF, &used) && pages > 0 && used.ru_maxrss < pages / 32 * (page / 1024);
}

/* Lines "LEVEL REGISTERS SKIPPED NAME" in `text`, which is changed. The options point into what it gives; NULL: they cannot be read. */
static ink_guarded *read_guarded(char *text, ink_instrument_options *options) {
  size_t count = 0;
  for (const char *at = text; (at = strchr(at, '\n')); at++)
    count++;
  ink_guarded *guarded = calloc(count + 1, sizeof *guarded);
  if (!guarded)
    return NULL;
  options->guarded = guarded;
  options->guarded_count = 0;
  for (char *rest = text, *line; (line = strsep(&rest, "\n")) && rest;) {
    char *end;
    const long level = strtol(line, &end, 10);
    const unsigned long registers = strtoul(end, &end, 10);
    const bool skipped = strtol(end, &end, 10) != 0;
    if (*end != ' ') {
      free(guarded);
      return NULL;
    }
    guarded[options->guarded_count++] = (ink_guarded){end + 1, (ink_guard_level)level, (unsigned)registers, skipped};
  }
  return guarded;
}

static bool receive(int to, void *data, size_t bytes) {
  for (char *at = data; bytes;) {
    const ssize_t n = read(to, at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* Marks in a further process for each request, so that the parse stays as it was read. */
static void serve(ink_unit *unit, int file, int socket, const struct timespec *begun) {
  ink_instrument_options options = *unit->options;
  char *text = NULL; /* of the last request, and what points into it */
  ink_guarded *guarded = NULL;
  unit->options = &options;
  for (;;) {
    int code = 0;
    const pid_t pid = fork();
    if (!pid) {
      ink_error error = {0};
      be_mortal();
      finish(unit, ftruncate(file, 0) || lseek(file, 0, SEEK_SET) ? INK_ERROR_IO : INK_OK, &error, file, begun);
    }
    while (pid > 0 && waitpid(pid, &code, 0) < 0 && errno == EINTR)
      ;
    const unsigned char answer = pid > 0 && WIFEXITED(code) ? (unsigned char)WEXITSTATUS(code) : 3;
    uint64_t bytes = 0;
    free(text);
    free(guarded);
    guarded = NULL;
    text = NULL;
    if (!ink_write_all(socket, &answer, 1) || !is_small() || !receive(socket, &bytes, sizeof bytes) || bytes > (1 << 24) ||
        !(text = calloc(1, bytes + 1)) || !receive(socket, text, bytes) || !(guarded = read_guarded(text, &options)))
      _exit(0);
  }
}

static void child(const ink_instrument_options *options, bool header_less, int file, int socket) {
  be_mortal();
  ink_unit unit = {.options = options};
  ink_error error = {0};
  struct timespec begun;
  clock_gettime(CLOCK_REALTIME, &begun);
  const ink_status status = read_source(&unit, header_less, &error);
  if (!status && options->parse && !header_less)
    serve(&unit, file, socket, &begun);
  finish(&unit, status, &error, file, &begun);
}

/* ---- the parent
 * ------------------------------------------------------------------------------------ */

static double clock_seconds(clockid_t id) {
  struct timespec time;
  return clock_gettime(id, &time) ? -1 : (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Waits for the child's end, which closes `pipe`. False: it used `seconds` of the processor (on a
 * loaded machine a parse is given more time), or ten times that went by, or *stop was set. */
static bool ends_in_time(int pipe, pid_t pid, double seconds, const volatile int *stop) {
  struct pollfd poll_one = {.fd = pipe, .events = POLLIN};
  clockid_t used;
  const bool knows = !clock_getcpuclockid(pid, &used);
  const double begun = clock_seconds(CLOCK_MONOTONIC);
  for (;;) {
    const double spent = knows ? clock_seconds(used) : -1;
    const double left = seconds - (spent >= 0 ? spent : 0);
    const double wall_left = 10 * seconds - (clock_seconds(CLOCK_MONOTONIC) - begun);
    if (left <= 0 || wall_left <= 0 || (stop && *stop))
      return false;
    double wait = left < wall_left ? left : wall_left;
    if (stop && wait > 0.1) /* a signal may come right before the wait */
      wait = 0.1;
    const int code = poll(&poll_one, 1, wait > 1e6 ? 1000000000 : (int)(wait * 1000) + 1);
    if (code > 0)
      return true;
    if (code < 0 && errno != EINTR)
      return false;
  }
}

struct ink_parse {
  pid_t pid;
  int socket, file;
};

void ink_parse_end(ink_parse *parse) {
  if (!parse)
    return;
  kill(parse->pid, SIGKILL);
  while (waitpid(parse->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  close(parse->socket);
  close(parse->file);
  free(parse);
}

/* The child has ended with this code, or said that it would. */
static ink_status read_answer(int code, int file, ink_bytes *block, bool *again, ink_error *error) {
  if (!ink_bytes_read_back(block, file))
    return ink_error_set(error, INK_ERROR_IO, "its result cannot be read");
  if (code != 2 || block->count != sizeof(ink_error))
    return INK_OK;
  ink_error got;
  memcpy(&got, block->at, sizeof got);
  if (error)
    *error = got;
  *again = got.status == INK_ERROR_FORMAT;
  return got.status;
}

/* One attempt: INK_OK with the block; else *error, and *again when the other parse may do better.
 */
static ink_status attempt(const ink_instrument_options *options, bool header_less, double seconds,
                          ink_bytes *block, bool *again, ink_error *error) {
  int ends[2] = {-1, -1}, code = 0;
  unsigned char answer;
  int file = memfd_create("inkmark", MFD_CLOEXEC);
  ink_status status = INK_OK;
  *again = true;
  ink_parse *kept = options->parse && !header_less ? calloc(1, sizeof *kept) : NULL;
  if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
    status = ink_error_set(error, INK_ERROR_IO, "cannot start a parse: %s", strerror(errno));
    goto cleanup;
  }
  const pid_t pid = fork();
  if (pid < 0) {
    status = ink_error_set(error, INK_ERROR_IO, "cannot start a parse: %s", strerror(errno));
    goto cleanup;
  }
  if (!pid) {
    close(ends[0]);
    child(options, header_less, file, ends[1]);
  }
  close(ends[1]);
  ends[1] = -1;
  const bool in_time = ends_in_time(ends[0], pid, seconds, options->stop);
  if (in_time && kept && read(ends[0], &answer, 1) == 1 && answer != 3) { /* it waits for further requests */
    *kept = (ink_parse){pid, ends[0], file};
    *options->parse = kept;
    status = read_answer(answer, file, block, again, error);
    if (status)
      ink_bytes_free(block);
    return status;
  }
  if (!in_time || kept)
    kill(pid, SIGKILL);
  while (waitpid(pid, &code, 0) < 0 && errno == EINTR)
    ;
  if (options->stop && *options->stop) {
    status = ink_error_set(error, INK_ERROR_STOPPED, "the parse was stopped");
    *again = false;
  } else if (!in_time) {
    status = ink_error_set(error, INK_ERROR_LIMIT, "took longer than %.3g s", seconds);
  } else if (!WIFEXITED(code) || WEXITSTATUS(code) > 2 || WEXITSTATUS(code) == 1) {
    status = ink_error_set(error, INK_ERROR_FORMAT, "ended by %s %d",
                           WIFSIGNALED(code) ? "signal" : "code",
                           WIFSIGNALED(code) ? WTERMSIG(code) : WEXITSTATUS(code));
  } else {
    status = read_answer(WEXITSTATUS(code), file, block, again, error);
  }
cleanup:
  for (int i = 0; i < 2; i++)
    if (ends[i] >= 0)
      close(ends[i]);
  if (file >= 0)
    close(file);
  free(kept);
  if (status)
    ink_bytes_free(block);
  return status;
}

/* Has the parse that is kept mark once more. False: it cannot, or what it gave is no result. */
static bool ask(const ink_instrument_options *options, double seconds, ink_bytes *block) {
  const ink_parse *parse = *options->parse;
  ink_bytes request = {0};
  ink_error error;
  unsigned char answer = 3;
  uint64_t bytes = 0;
  bool again;
  ink_bytes_add(&request, &bytes, sizeof bytes);
  for (size_t i = 0; i < options->guarded_count; i++)
    ink_bytes_format(&request, "%d %u %d %s\n", (int)options->guarded[i].level, options->guarded[i].registers,
                     options->guarded[i].skipped, options->guarded[i].kernel);
  bytes = request.count - sizeof bytes;
  if (!request.failed)
    memcpy(request.at, &bytes, sizeof bytes);
  const bool fine = !request.failed &&
                    send(parse->socket, request.at, request.count, MSG_NOSIGNAL) == (ssize_t)request.count &&
                    ends_in_time(parse->socket, parse->pid, seconds, options->stop) && read(parse->socket, &answer, 1) == 1 &&
                    answer == 0 && !read_answer(answer, parse->file, block, &again, &error);
  ink_bytes_free(&request);
  if (!fine)
    ink_bytes_free(block);
  return fine;
}

ink_status ink_instrument_run(const ink_instrument_options *options, ink_instrumented **out,
                              ink_error *error) {
  if (!options || !options->source || !out || options->size != sizeof *options)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no source to mark");
  if (access(options->source, R_OK))
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "cannot read '%s': %s", options->source,
                         strerror(errno));
  struct stat info;
  if (!stat(options->source, &info) && S_ISDIR(info.st_mode))
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "cannot read '%s': is a directory",
                         options->source);
  ink_bytes block = {0};
  ink_error last = {0};
  ink_status status = INK_ERROR_FORMAT;
  char why[160] = "no CUDA toolkit";
  bool again = true;
  const double seconds = options->parse_seconds > 0 ? options->parse_seconds : 180;
  if (options->cuda) {
    ink_instrument_options without = *options;
    without.cache = NULL;
    if (options->cache && ink_kept_result_read(options, &block))
      return ink_parsed_read(&block, "", out, error);
    if (options->parse && *options->parse) {
      if (ask(options, seconds, &block))
        return ink_parsed_read(&block, "", out, error);
      ink_parse_end(*options->parse);
      *options->parse = NULL;
    }
    status = attempt(options, false, seconds, &block, &again, &last);
    if (options->cache && status == INK_ERROR_FORMAT && again) /* what was kept may be to blame */
      status = attempt(&without, false, seconds, &block, &again, &last);
    snprintf(why, sizeof why, "%.120s", status ? last.message : "");
  }
  if (status && again)
    status = attempt(options, true, seconds + 10, &block, &again, &last);
  if (status) {
    if (error)
      *error = last;
    return status == INK_ERROR_LIMIT || status == INK_ERROR_FORMAT
               ? ink_error_set(error, INK_ERROR_FORMAT, "cannot parse '%s': the parse %s",
                               options->source, last.message)
               : status;
  }
  return ink_parsed_read(&block, why, out, error);
}
