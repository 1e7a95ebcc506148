/* SPDX-License-Identifier: MIT */
/* The compiled form of PTX: what the parser builds, the linker completes and the scheduler runs.
 * Register operands are rows of 32 lanes; constants are rows too, so every source of an
 * instruction is one row number (negative: constant). Shared by all devices, never written after
 * sim_program_parse. */
#ifndef INKMARK_SIM_PROGRAM_H
#define INKMARK_SIM_PROGRAM_H

#include "machine.h"

#define SIM_LANES 32
#define SIM_NO_ROW INT32_MIN
#define SIM_NO_SYMBOL (-1)
/* An entry's parameters are addressed from here in the .param space, call frames from 0. */
#define SIM_ENTRY_PARAMETERS UINT64_C(0x40000000)
/* What the address of a function looks like: never a host pointer. */
#define SIM_FUNCTION_BASE (UINT64_C(0xf1) << 56)
#define SIM_FUNCTION_STEP 16

/* What fuzzed or absurd input may not exceed. */
#define SIM_MAX_REGISTERS (1 << 18) /* a function */
#define SIM_MAX_FRAME (64u << 20)   /* bytes of .local and .param a function */
#define SIM_MAX_VARIABLE (UINT64_C(1) << 36)
#define SIM_MAX_NESTING 64
#define SIM_MAX_SHARED (227u * 1024u)

enum sim_type {
  SIM_T_NONE,
  SIM_B8, SIM_B16, SIM_B32, SIM_B64, SIM_B128,
  SIM_U8, SIM_U16, SIM_U32, SIM_U64,
  SIM_S8, SIM_S16, SIM_S32, SIM_S64,
  SIM_F16, SIM_BF16, SIM_F32, SIM_F64,
  SIM_F16X2, SIM_BF16X2, SIM_U16X2, SIM_S16X2,
  SIM_F32X2, SIM_TF32, SIM_E4M3X2, SIM_E5M2X2,
  SIM_PRED,
  SIM_TYPES
};

/* Opcodes. Whatever is not here becomes a trap that fails when it is executed. */
#define SIM_OPS(X) \
  X(mov) X(ld) X(ldu) X(st) X(cvta) X(isspacep) X(mapa) X(getctarank) X(atom) X(red) \
  X(add) X(sub) X(addc) X(subc) X(mul) X(mad) X(madc) X(mul24) X(mad24) X(div) X(rem) \
  X(abs) X(neg) X(min) X(max) X(sad) X(dp4a) X(dp2a) \
  X(vabsdiff4) X(popc) X(clz) X(bfind) X(brev) X(bfe) X(bfi) X(fns) X(bmsk) X(szext) \
  X(and) X(or) X(xor) X(not) X(cnot) X(shl) X(shr) X(shf) X(lop3) X(prmt) \
  X(fma) X(rcp) X(sqrt) X(rsqrt) X(sin) X(cos) X(lg2) X(ex2) X(tanh) X(testp) X(copysign) \
  X(set) X(setp) X(selp) X(slct) X(cvt) \
  X(bra) X(brx) X(call) X(ret) X(exit) X(trap) X(brkpt) X(nanosleep) X(pmevent) \
  X(bar) X(barrier) X(membar) X(fence) X(vote) X(match) X(activemask) X(shfl) X(redux) X(elect) \
  X(prefetch) X(prefetchu) X(discard) X(applypriority) X(cp) X(mbarrier) X(griddepcontrol) \
  X(setmaxnreg) X(createpolicy) X(stackrestore) X(stacksave) \
  X(ldmatrix) X(stmatrix) X(movmatrix) X(mma) X(wmma)

enum sim_op {
  SIM_OP_NONE,
#define X(name) SIM_OP_##name,
  SIM_OPS(X)
#undef X
  SIM_OP_unsupported, /* trap recorded for what is not simulated */
  SIM_OP_COUNT
};

enum sim_space {
  SIM_GENERIC, SIM_GLOBAL, SIM_SHARED, SIM_LOCAL, SIM_PARAM, SIM_CONST,
  SIM_CLUSTER, /* shared memory of the cluster's blocks */
  SIM_SPACES
};

enum sim_compare {
  SIM_EQ, SIM_NE, SIM_LT, SIM_LE, SIM_GT, SIM_GE,
  SIM_EQU, SIM_NEU, SIM_LTU, SIM_LEU, SIM_GTU, SIM_GEU, SIM_NUM, SIM_NAN,
  SIM_LO, SIM_LS, SIM_HI, SIM_HS
};

/* Second words: boolean joins, atomic operations, vote, shuffle and multi-purpose modes. */
enum sim_mode {
  SIM_M_NONE, SIM_M_AND, SIM_M_OR, SIM_M_XOR, SIM_M_ADD, SIM_M_INC, SIM_M_DEC, SIM_M_MIN,
  SIM_M_MAX, SIM_M_EXCH, SIM_M_CAS, SIM_M_ALL, SIM_M_ANY, SIM_M_UNI, SIM_M_BALLOT, SIM_M_UP,
  SIM_M_DOWN, SIM_M_BFLY, SIM_M_IDX, SIM_M_POPC,
  SIM_M_F4E, SIM_M_B4E, SIM_M_RC8, SIM_M_ECL, SIM_M_ECR, SIM_M_RC16,
  SIM_M_FINITE, SIM_M_INFINITE, SIM_M_NUMBER, SIM_M_NOTANUMBER, SIM_M_NORMAL, SIM_M_SUBNORMAL,
  SIM_M_LOAD, SIM_M_STORE, SIM_M_MMA
};

enum sim_rounding {
  SIM_R_NONE, SIM_RN, SIM_RZ, SIM_RM, SIM_RP, SIM_RNA, SIM_RNI, SIM_RZI, SIM_RMI, SIM_RPI
};

enum sim_flag {
  SIM_F_LO = 1 << 0, SIM_F_HI = 1 << 1, SIM_F_WIDE = 1 << 2, SIM_F_FTZ = 1 << 3,
  SIM_F_SAT = 1 << 4, SIM_F_SATFINITE = 1 << 5, SIM_F_CC = 1 << 6, SIM_F_TO = 1 << 7,
  SIM_F_UNI = 1 << 8, SIM_F_LEFT = 1 << 9, SIM_F_WRAP = 1 << 10, SIM_F_SHIFTAMT = 1 << 11,
  SIM_F_ARRIVE = 1 << 12, SIM_F_WARP = 1 << 13, SIM_F_RED = 1 << 14, SIM_F_SYNC = 1 << 15,
  SIM_F_APPROX = 1 << 16, SIM_F_FRAME = 1 << 17, /* the address is relative to the call frame */
  SIM_F_NAN = 1 << 18, SIM_F_RELU = 1 << 19, SIM_F_XORSIGN = 1 << 20, SIM_F_NOFTZ = 1 << 21,
  SIM_F_CLAMP = 1 << 22, SIM_F_BULK = 1 << 23, SIM_F_INIT = 1 << 24, SIM_F_INVAL = 1 << 25,
  SIM_F_TEST_WAIT = 1 << 26, SIM_F_TRY_WAIT = 1 << 27, SIM_F_EXPECT_TX = 1 << 28,
  SIM_F_COMMIT = 1 << 29, SIM_F_WAIT = 1 << 30
};
#define SIM_F_PARITY SIM_F_XORSIGN /* of mbarrier waits; the other is of min and max only */

/* More words, of instructions that work asynchronously or on clusters and matrices. */
enum sim_more {
  SIM_X_CLUSTER = 1 << 0, SIM_X_NOINC = 1 << 1, SIM_X_DROP = 1 << 2, SIM_X_COMPLETE_TX = 1 << 3,
  SIM_X_PENDING = 1 << 4, SIM_X_MBARRIER = 1 << 5, SIM_X_BULK_GROUP = 1 << 6,
  SIM_X_MULTICAST = 1 << 7, SIM_X_PREFETCH = 1 << 8, SIM_X_REDUCE = 1 << 9,
  SIM_X_BYTE_MASK = 1 << 10, SIM_X_TRANS = 1 << 11,
  SIM_X_LAYOUT_A = 1 << 12, /* the first layout was named; by columns; the second's */
  SIM_X_COLUMNS_A = 1 << 13, SIM_X_COLUMNS_B = 1 << 14,
  SIM_X_ASYNC = 1 << 15 /* of ld, st, red and atom */
};

/* What the scheduler must know before it runs an instruction. */
enum sim_kind {
  SIM_K_PLAIN,   /* runs, then pc + 1 */
  SIM_K_CONTROL, /* moves its lanes itself */
  SIM_K_SYNC,    /* waits until the lanes of its member mask stand at this instruction */
  SIM_K_WARPBAR  /* waits until they stand at any bar.warp.sync of the same mask */
};

typedef struct sim_warp sim_warp;
typedef struct sim_insn sim_insn;
typedef void sim_exec_fn(sim_warp *warp, const sim_insn *insn, uint32_t lanes);

struct sim_insn {
  sim_exec_fn *run;
  int64_t offset;  /* added to an address, or a small immediate */
  int32_t guard;   /* predicate row or SIM_NO_ROW */
  int32_t dst, dst2;
  int32_t src[4];
  int32_t list;    /* first of the vector's rows or of a call's arguments in sim_program.rows */
  int32_t list2;   /* second list: call results */
  int32_t target;  /* branch: instruction; call: symbol; brx: first entry in sim_program.rows */
  uint32_t window; /* call: registers of the caller; brx: entries */
  uint32_t frame;  /* call: frame bytes of the caller */
  uint32_t line, source_line, source_file;
  uint32_t text; /* opcode's words in sim_program.words */
  uint32_t flags, more;
  int32_t offsets[2]; /* of the second and third address */
  uint16_t latency;
  uint16_t special;              /* special register */
  uint8_t op, type, type2, space, space2;
  uint8_t type_a, type_b; /* of a product's factors */
  uint8_t vector, compare, mode, rounding;
  uint8_t kind, guard_negated, operands, list_count, list2_count;
  uint8_t negated; /* bit i: source i is a negated predicate */
};

enum sim_linkage { SIM_L_LOCAL, SIM_L_VISIBLE, SIM_L_WEAK, SIM_L_COMMON, SIM_L_EXTERN };

typedef struct sim_reloc {
  uint64_t offset, addend;
  int32_t symbol;
  uint8_t bytes;
  uint8_t shift; /* mask(sym) forms: which byte */
} sim_reloc;

typedef struct sim_symbol {
  char *name;
  int32_t forward; /* itself, or the symbol that it was linked to */
  int32_t function; /* index, or -1 for a variable */
  uint8_t space, linkage, defined, unsized, used, address_taken;
  uint32_t unit, line;
  uint64_t bytes, align;
  uint64_t frame_offset; /* .local and .param: in its function's frame */
  uint8_t *init;         /* NULL: zeros; init_bytes long */
  uint64_t init_bytes;
  sim_reloc *relocs;
  size_t reloc_count, reloc_capacity;
} sim_symbol;

typedef struct sim_parameter {
  uint64_t offset, bytes, align;
} sim_parameter;

typedef struct sim_function {
  char *name;
  int32_t symbol;
  bool entry, body;
  int32_t start, end;
  uint32_t registers;
  uint64_t frame_bytes;
  sim_parameter *parameters;
  size_t parameter_count, parameter_capacity;
  uint64_t parameter_bytes; /* an entry's argument block */
  sim_parameter result;     /* bytes 0: none */
  uint32_t max_threads;
  sim_dim3 cluster; /* of .reqnctapercluster; x 0: it asks for none */
  int32_t *uses; /* symbols it names: functions and shared variables */
  size_t use_count, use_capacity;
  bool indirect;    /* calls through a pointer */
  uint8_t builtin;  /* enum sim_builtin, of a function without a body */
} sim_function;

/* Functions that the device's runtime brings. */
enum sim_builtin { SIM_B_NONE, SIM_B_VPRINTF, SIM_B_ASSERTFAIL, SIM_B_MALLOC, SIM_B_FREE };

typedef struct sim_constant {
  uint64_t value;
  int32_t symbol;
  int32_t next; /* of the hash chain */
} sim_constant;

struct sim_program {
  sim_insn *code;
  size_t code_count, code_capacity;
  sim_symbol *symbols;
  size_t symbol_count, symbol_capacity;
  sim_function *functions;
  size_t function_count, function_capacity;
  sim_constant *constants;
  size_t constant_count, constant_capacity;
  uint64_t (*constant_rows)[SIM_LANES];
  int32_t constant_heads[4096];
  int32_t *rows; /* vectors, call lists and branch tables */
  size_t row_count, row_capacity;
  char **words; /* interned text of opcodes */
  size_t word_count, word_capacity;
  char **files;
  size_t file_count, file_capacity;
};

/* Memory of the program. All return false or NULL when there is none. */
bool sim_grow(void *array, size_t *capacity, size_t count, size_t item_bytes);
#define SIM_GROW(array, capacity, count) \
  sim_grow((void *)&(array), &(capacity), (count), sizeof *(array))
/* Row number of a constant, SIM_NO_ROW when out of memory. symbol: SIM_NO_SYMBOL for a number. */
int32_t sim_program_constant(sim_program *program, uint64_t value, int32_t symbol);
/* Index of a word, interned; -1 when out of memory. */
int32_t sim_program_word(sim_program *program, const char *text, size_t length);
const sim_symbol *sim_program_symbol(const sim_program *program, int32_t symbol);

/* Bytes of a value of the type; 0 for SIM_T_NONE. */
unsigned sim_type_bytes(unsigned type);
bool sim_type_signed(unsigned type);
bool sim_type_float(unsigned type);
const char *sim_type_name(unsigned type);
const char *sim_op_name(unsigned op);
const char *sim_space_name(unsigned space);

void sim_error_set(sim_error *error, enum sim_error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Chooses how an instruction is run and what it costs; NULL: this form is not simulated. One
 * function per family, tried by sim_decode in ptx_decode.c. */
sim_exec_fn *sim_select_integer(const sim_insn *insn);
sim_exec_fn *sim_select_bits(const sim_insn *insn);
sim_exec_fn *sim_select_float(const sim_insn *insn);
sim_exec_fn *sim_select_half(const sim_insn *insn);
sim_exec_fn *sim_select_compare(const sim_insn *insn);
sim_exec_fn *sim_select_convert(const sim_insn *insn);
sim_exec_fn *sim_select_move(const sim_insn *insn);
sim_exec_fn *sim_select_memory(const sim_insn *insn);
sim_exec_fn *sim_select_atomic(const sim_insn *insn);
sim_exec_fn *sim_select_control(const sim_insn *insn);
sim_exec_fn *sim_select_warp(const sim_insn *insn);
sim_exec_fn *sim_select_barrier(const sim_insn *insn);
sim_exec_fn *sim_select_async(const sim_insn *insn);
sim_exec_fn *sim_select_matrix(const sim_insn *insn);
sim_exec_fn *sim_select_mma(const sim_insn *insn);
sim_exec_fn *sim_select_cluster(const sim_insn *insn);
sim_exec_fn *sim_select_bulk(const sim_insn *insn);
sim_exec_fn *sim_select_mbarrier(const sim_insn *insn);
sim_exec_fn sim_exec_unsupported, sim_exec_nothing;

#endif
