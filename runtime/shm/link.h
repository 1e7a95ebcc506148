/* SPDX-License-Identifier: MIT */
/* Private: the way from a recorded process to the writer process of its `inkmark record`. Nothing
 * here keeps a descriptor: what the writer hands over is mapped, and the descriptor closed at once. */
#ifndef INK_SHM_LINK_H
#define INK_SHM_LINK_H

#include "shm/ring.h"

/* Of INKMARK_WRITER: where the writer listens (an abstract unix socket), and what each side says to
 * prove that it was told so. */
typedef struct ink_i_address {
  uint64_t name, of_client, of_writer;
} ink_i_address;

enum { INK_I_ADDRESS_BYTES = 64, INK_I_REPORT_BYTES = 1024 };
void ink_i_address_print(const ink_i_address *address, char text[INK_I_ADDRESS_BYTES]);
bool ink_i_address_parse(const char *text, ink_i_address *out);
struct sockaddr_un;
/* Fills in the socket's name; the length for bind and connect. */
unsigned ink_i_address_socket(const ink_i_address *address, struct sockaddr_un *out);

enum ink_i_request_kind {
  INK_I_REQUEST_RING = 1,
  INK_I_REQUEST_AREA = 2,
  INK_I_REQUEST_REPORT = 3 /* of a process without a ring: word NUL text NUL follows; no reply */
};

typedef struct ink_i_request {
  uint32_t version;         /* INK_I_RING_VERSION */
  uint32_t kind;            /* enum ink_i_request_kind */
  uint64_t token;           /* of_client */
  uint64_t bytes, least;    /* of the data: wanted, and the least that is of use */
  uint64_t ring[2];         /* AREA: the id of the process's ring */
  uint32_t area_kind;       /* AREA: enum ink_i_area_kind */
  int32_t pid;              /* as the process sees itself */
  uint32_t forked;          /* a child whose parent has a capture of that name */
  char host[256], rank[64];
} ink_i_request;

typedef struct ink_i_reply {
  uint32_t version, code;   /* code: 0, or an errno; a descriptor of `bytes` comes along with 0 */
  uint64_t token;           /* of_writer */
  uint64_t bytes;           /* of the data; the descriptor of a ring has two pages more */
  uint64_t ring[2];
} ink_i_reply;

/* What an area is for; the writer's salvage() gets it. */
enum ink_i_area_kind { INK_I_AREA_FLIGHT = 1 };

/* ---- in the recorded process ---- */

/* Asks for a ring once. INK_ERROR_NOT_FOUND: there is no writer to ask (INKMARK_WRITER is not set, or
 * nobody answers from there: another network namespace or node, or the writer is gone);
 * INK_ERROR_LIMIT: it has no memory left for another ring. In both cases the process writes by itself. */
ink_status ink_i_link_ring(uint64_t bytes, uint64_t least, bool forked, const char *rank,
                           ink_error *error);
/* The ring of this process; NULL: it has none, or is a child of the one that has it. */
ink_i_ring *ink_i_link_current(void);
/* In a forked child, before it has a ring: the writer stays for it. No system call but getpid. */
void ink_i_link_child(void);
/* `bytes` of memory that the writer holds as well and hands to salvage() when this process is gone,
 * however it ended; zeroed, page-aligned, not inherited by children. After ink_i_link_ring. NULL after
 * *error (which may be NULL). Valid until the process ends. */
void *ink_i_link_area(size_t bytes, uint32_t area_kind, ink_error *error);
/* A line for `inkmark record` to say: word is "failed", "remark", "activity", "sections", "modules", "wrote" or "hang"; for the
 * writer "exec", in front of it, and "none", where a recording ends that wrote nothing.
 * Through the ring, or where there is none through a connection; without a writer nobody hears it. */
void ink_i_link_report(const char *word, const char *text);

#endif
