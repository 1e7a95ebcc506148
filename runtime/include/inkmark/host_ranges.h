/* SPDX-License-Identifier: MIT */
/* Reads the host's ranges in a capture: NVTX ranges and marks, scopes of ink_scope_begin, and the calls that launched
 * kernels (`inkmark record --nvtx`). docs/host-ranges.md says what is recorded and how. docs/format.md has the bytes.
 * Nothing here needs CUDA.
 *
 * Experimental: it may change with any version.
 *
 * Threads: as in capture.h.
 * Lifetime: returned arrays and texts belong to the capture and are valid until ink_capture_free.
 *
 * @code{.c}
 * #include <inkmark/host_ranges.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_clock_map *map;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error) || ink_clock_map_make(capture, &map, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   const ink_host_range *ranges; // they belong to the capture
 *   const size_t count = ink_capture_host_ranges(capture, &ranges);
 *   for (size_t i = 0; i < count; i++)
 *     printf("%s: %.0f ns\n", ranges[i].name, (double)(ranges[i].end_ns - ranges[i].begin_ns));
 *   printf("%u ranges of the host\n", (unsigned)count);
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_HOST_RANGES_H
#define INKMARK_HOST_RANGES_H

#include "inkmark/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ink_host_kind {
  INK_HOST_PUSH = 1,     /* a range of this thread begins; in each domain they nest */
  INK_HOST_POP = 2,      /* the innermost one of this thread and domain ends */
  INK_HOST_START = 3,    /* a range of the process begins: `id` */
  INK_HOST_END = 4,      /* it ends, in any thread */
  INK_HOST_MARK = 5,     /* a moment */
  INK_HOST_LAUNCH = 6,   /* a call launched a kernel or a graph */
  INK_HOST_CATEGORY = 7, /* `category` of `domain` is called `name` */
  INK_HOST_THREAD = 8    /* thread `id` is called `name` */
};

enum ink_host_flags {
  INK_HOST_SCOPE = 1,    /* by ink_scope_begin */
  INK_HOST_GRAPH = 2,    /* a launch of a graph: no grid, no name */
  INK_HOST_OUTSIDE = 4   /* a launch outside of the windows, which was not recorded */
};

enum ink_host_payload { /* NVTX's numbers */
  INK_PAYLOAD_NONE = 0, INK_PAYLOAD_U64 = 1, INK_PAYLOAD_I64 = 2, INK_PAYLOAD_F64 = 3,
  INK_PAYLOAD_U32 = 4, INK_PAYLOAD_I32 = 5, INK_PAYLOAD_F32 = 6
};

/* One event, as it is stored: 88 bytes. What a kind does not use is 0. */
typedef struct ink_host_event {
  int64_t ns;              /* CLOCK_MONOTONIC; of a launch when it was called */
  uint32_t kind;           /* enum ink_host_kind */
  uint32_t flags;          /* enum ink_host_flags */
  uint32_t thread;         /* gettid */
  uint32_t name, domain;   /* ids of texts; 0: none, the default domain. Of a launch: the kernel's mangled function */
  uint32_t category;
  uint32_t color;          /* 0xAARRGGBB; 0: none */
  uint32_t payload_type;   /* enum ink_host_payload */
  uint64_t payload;        /* its bits, the low ones of narrow types */
  uint64_t id;             /* of START and END; of a launch: CLOCK_MONOTONIC when the call had come back */
  int32_t device;          /* of a launch: as tracks have it */
  uint32_t grid_dim[3], block_dim[3];
  uint32_t reserved;
} ink_host_event;
INK_STATIC_ASSERT(sizeof(ink_host_event) == 88, "ink_host_event is part of the file format");

/* ---- writing: after ink_writer_open, one thread at a time ---- */

/* Ids count from 1 and come before what bears them; an id that comes again replaces the text.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_host_name(ink_writer *writer, uint32_t id, const char *name, ink_error *error);
/* `lost`: how many were lost until the last of these; the clocks were read one after the other.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_host_events(ink_writer *writer, const ink_host_event *events, size_t n, uint64_t lost,
                                          int64_t monotonic_ns, int64_t realtime_ns, ink_error *error);

/* ---- reading ---- */

/* A range of the host, or a mark. Texts are the capture's, as the program wrote them. */
typedef struct ink_host_range {
  const char *name, *domain, *category_name; /* "" where there is none */
  int64_t begin_ns, end_ns;  /* Unix time; of a mark the same */
  uint32_t kind;             /* INK_HOST_PUSH, _START or _MARK */
  uint32_t flags;            /* enum ink_host_flags */
  uint32_t thread;           /* that began it */
  uint32_t depth;            /* INK_HOST_PUSH: how many of its thread and domain it is inside of */
  uint32_t category, color, payload_type;
  uint8_t open;              /* no end was seen: end_ns is when the host was last heard of */
  uint8_t reserved[3];
  uint64_t payload;
  uint64_t launches;         /* calls while it was open: of its thread, for INK_HOST_START of any */
  uint64_t kernels;          /* launches of the capture that these made */
  int64_t kernels_ns;        /* the sum of their times, each from its first block's begin to its last one's end */
} ink_host_range;

typedef struct ink_host_launch { /* a call that launched something */
  const char *function;      /* mangled, "" where it is not known */
  int64_t begin_ns, end_ns;  /* of the call, Unix time */
  uint32_t thread, flags;
  int32_t device;
  uint32_t grid_dim[3], block_dim[3];
  uint32_t kernels;          /* launches of the capture that it made */
} ink_host_launch;

typedef struct ink_host_facts {
  uint64_t events, lost;         /* lost: no room in memory */
  uint64_t ends_without_begin;
  uint64_t open;
  uint64_t launches_joined;      /* launches of the capture whose call is known */
} ink_host_facts;

/* The ranges by begin, outer ones first.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_host_ranges(const ink_capture *capture, const ink_host_range **out);
/* The calls that launched kernels.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_host_launches(const ink_capture *capture, const ink_host_launch **out);
/* What is known of all of it.
 * Returns: the capture's own facts; never NULL. */
INK_API const ink_host_facts *ink_capture_host_facts(const ink_capture *capture);
/* The call that made a launch of the capture, by device, function, dimensions and order.
 * Returns: an index into ink_capture_host_launches; UINT32_MAX: not known. */
INK_API uint32_t ink_launch_call(const ink_capture *capture, uint32_t launch);
/* What a thread of the host is called.
 * Returns: the name; "": nothing said so. */
INK_API const char *ink_capture_host_thread(const ink_capture *capture, uint32_t thread);

/* The payload as text: "12", "-3", "0.5"; "" for none. */
INK_API void ink_host_payload_text(uint32_t type, uint64_t payload, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
