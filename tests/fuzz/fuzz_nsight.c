/* SPDX-License-Identifier: MIT */
/* Fuzzes the readers of Nsight Systems exports. The first byte chooses: odd, the rest changes bytes
 * of a good database; even, it says in which encoding texts are, and the rest which tables and
 * columns there are and what the rows hold: any type, any size, in any column. */
#include "fuzz_input.h"

#include <dlfcn.h>
#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct source {
  const uint8_t *at, *end;
} source;

static struct {
  int (*open)(const char *, void **);
  int (*close)(void *);
  int (*exec)(void *, const char *, void *, void *, char **);
  unsigned char *(*serialize)(void *, const char *, long long *, unsigned);
  void (*free)(void *);
  void *(*malloc)(int);
} sql;
static char path[64];

static const struct {
  const char *name, *columns[16];
} tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName",
      "shortName", "mangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
      "gridId"}},
    {"StringIds", {"id", "value"}},
    {"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "copyKind", "bytes"}},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"}},
    {"NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid"}},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {"start", "end", "deviceId", "streamId"}},
    {"PROCESSES", {"pid", "name"}},
    {"ThreadNames", {"globalTid", "nameId"}},
    {"SCHED_EVENTS", {"start", "cpu"}}};
enum { TABLES = sizeof tables / sizeof *tables, COLUMNS = 16 };

static unsigned take(source *s) {
  return s->at < s->end ? *s->at++ : 0;
}

/* A value as SQL has it: mostly small numbers, so that rows fit together. */
static size_t put_value(char *p, size_t room, source *s) {
  static const char *const odd[] = {"NULL",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "1700000000000000000",
                                    "1.5e300",
                                    "'text'",
                                    "''",
                                    "x'00ff00'",
                                    "zeroblob(70000)",
                                    "4611686018427387904",
                                    "-1",
                                    "'5'",
                                    "CAST(x'ff80fec0' AS TEXT)", /* no UTF-8 */
                                    "CAST(x'00d8' AS TEXT)",     /* half a pair, in UTF-16 */
                                    "'a' || char(0) || 'b'",
                                    "char(0x1f600, 0xe4, 10, 9)",
                                    "hex(zeroblob(20000))",
                                    "9e999"};
  unsigned kind = take(s);
  if (kind >= 256 - sizeof odd / sizeof *odd)
    return (size_t)snprintf(p, room, "%s", odd[255 - kind]);
  return (size_t)snprintf(p, room, "%u", kind & 15);
}

/* Each table with the columns that a mask leaves, and up to seven rows. */
static void make_database(void *db, source *s) {
  static char text[4096];
  for (size_t t = 0; t < TABLES; t++) {
    unsigned rows = take(s), mask = take(s), used = 0;
    mask = mask < 200 ? 0 : (mask - 200) * 1187;
    size_t n = (size_t)snprintf(text, sizeof text, "CREATE TABLE %s (", tables[t].name);
    for (int c = 0; c < COLUMNS && tables[t].columns[c]; c++)
      if (!(mask >> c & 1))
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\"%s\"", used++ ? "," : "",
                              tables[t].columns[c]);
    snprintf(text + n, sizeof text - n, ")");
    if (!used || (rows & 0xf8) == 0xf8)
      continue;
    sql.exec(db, text, NULL, NULL, NULL);
    for (unsigned row = 0; row < (rows & 7); row++) {
      n = (size_t)snprintf(text, sizeof text, "INSERT INTO %s VALUES (", tables[t].name);
      for (unsigned c = 0; c < used; c++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", c ? "," : "");
        n += put_value(text + n, sizeof text - n, s);
      }
      snprintf(text + n, sizeof text - n, ")");
      sql.exec(db, text, NULL, NULL, NULL);
    }
  }
}

static unsigned char *database(source *s, unsigned encoding, size_t *size) {
  static const char *const starts[] = {
      "PRAGMA page_size = 512; BEGIN",
      "PRAGMA page_size = 512; PRAGMA encoding = 'UTF-16le'; BEGIN",
      "PRAGMA page_size = 512; PRAGMA encoding = 'UTF-16be'; BEGIN"};
  void *db = NULL;
  long long bytes = 0;
  FUZZ_CHECK(!sql.open(":memory:", &db));
  sql.exec(db, starts[encoding % (sizeof starts / sizeof *starts)], NULL, NULL, NULL);
  make_database(db, s);
  sql.exec(db, "COMMIT", NULL, NULL, NULL);
  unsigned char *out = sql.serialize(db, "main", &bytes, 0);
  sql.close(db);
  *size = (size_t)bytes;
  return out;
}

/* Three rows a table, of small numbers. */
static unsigned char *good_database(size_t *size) {
  static unsigned char *good;
  static size_t good_size;
  if (!good) {
    uint8_t plain[TABLES * 40];
    for (size_t i = 0; i < sizeof plain; i++)
      plain[i] = (uint8_t)(i % 5 == 0 ? 3 : i % 7);
    source s = {plain, plain + sizeof plain};
    good = database(&s, 0, &good_size);
    FUZZ_CHECK(good && good_size);
  }
  unsigned char *copy = sql.malloc((int)good_size);
  FUZZ_CHECK(copy);
  *size = good_size;
  return memcpy(copy, good, good_size);
}

static void forget(void) {
  unlink(path);
}

static bool load(void) {
  static const char *const names[] = {"sqlite3_open",      "sqlite3_close", "sqlite3_exec",
                                      "sqlite3_serialize", "sqlite3_free",  "sqlite3_malloc"};
  void *const at[] = {&sql.open, &sql.close, &sql.exec, &sql.serialize, &sql.free, &sql.malloc};
  void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
    void *entry = dlsym(library, names[i]);
    if (!entry)
      return false;
    memcpy(at[i], &entry, sizeof entry);
  }
  snprintf(path, sizeof path, "/dev/shm/inkmark-fuzz-%ld.sqlite", (long)getpid());
  atexit(forget);
  return library != NULL;
}

static void put_file(const unsigned char *bytes, size_t size) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !close(fd));
}

static ink_status second_pass(convert *c, void *user) {
  const convert_progress progress = {0};
  ink_error error = {0};
  ink_status status = convert_nsight(c, path, 0, true, &progress, user, &error);
  fuzz_failed(status, &error);
  return status;
}

static void read_all(void) {
  const convert_progress progress = {0};
  ink_error error = {0};
  ink_foreign *foreign = NULL;
  convert_report report = {0};
  convert c = {0};
  ink_file file = {.fd = -1};
  perfetto out = {.file = &file};
  fuzz_failed(ink_foreign_open(path, &foreign, &error), &error);
  ink_foreign_free(foreign);
  error = (ink_error){0};
  c.out = &out;
  ink_status status = convert_nsight(&c, path, 0, false, &progress, &report, &error);
  fuzz_failed(status, &error);
  if (status == INK_OK)
    fuzz_convert(&c, "/dev/null", second_pass, &report);
  convert_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool there, tried;
  if (!tried)
    there = load();
  tried = true;
  if (!there) {
    fprintf(stderr, "fuzz_nsight: no libsqlite3 with sqlite3_serialize\n");
    exit(77);
  }
  if (!size)
    return 0;
  size_t bytes;
  source rest = {data + 1, data + size};
  unsigned char *file = data[0] & 1 ? good_database(&bytes) : database(&rest, data[0] >> 1, &bytes);
  if (!file)
    return 0; /* without a table there is no byte */
  for (; (data[0] & 1) && rest.end - rest.at >= 3; rest.at += 3)
    file[(rest.at[0] | (size_t)rest.at[1] << 8) % bytes] = rest.at[2];
  put_file(file, bytes);
  sql.free(file);
  read_all();
  return 0;
}
