/* The artifact: the content of a .ingot file, byte for byte.
 * SPDX-License-Identifier: Apache-2.0
 *
 * docs/artifact.md tells it in prose.  Numbers are little-endian, sections begin at
 * multiples of 8 bytes, records are used in place.  The runtime checks each offset,
 * index and count once, when an artifact is opened; the driver writes by these structs.
 *
 * Format 6 is the first that is promised: later runtimes read it too.  A record grows
 * at its end only, and the header says how many bytes each record of this file has.
 */
#ifndef IG_RUNTIME_FORMAT_H
#define IG_RUNTIME_FORMAT_H

#include "runtime/format_entry.h"

#define IG_NONE UINT32_MAX /* no such expression, symbol or buffer */
enum {
    IG_EXPR_DEPTH = 128, /* stack that an expression may need */
    IG_STEP_DEPTH = 160, /* nested steps */
    IG_PLAN_RANK = 8,    /* dimensions of an input or output */
};

/* ---- the plan ---- */

/*  SECTION(name, record): arrays of records, in the order of the file  */
#define IG_PLAN_SECTIONS(SECTION)                                                \
    SECTION(text, char)            /* strings, each followed by a zero byte */   \
    SECTION(levels, ig_plan_text)  /* names; the order of variants */            \
    SECTION(kernels, ig_plan_text) /* names; a code entry has as many kernels */ \
    SECTION(hosts, ig_plan_host)   /* host functions */                          \
    SECTION(codes, ig_plan_code)   /* of expressions */                          \
    SECTION(exprs, ig_plan_range)  /* runs of codes */                           \
    SECTION(lists, uint32_t)       /* runs of expression numbers */              \
    SECTION(symbols, ig_plan_symbol)                                             \
    SECTION(inputs, ig_plan_port)                                                \
    SECTION(outputs, ig_plan_port)                                               \
    SECTION(states, ig_plan_state)                                               \
    SECTION(nodes, ig_plan_node) /* the signature tree, depth first */           \
    SECTION(guards, ig_plan_guard)                                               \
    SECTION(files, ig_plan_file)                                                 \
    SECTION(constants, ig_plan_constant)                                         \
    SECTION(buffers, ig_plan_buffer)                                             \
    SECTION(operands, ig_plan_operand)                                           \
    SECTION(variants, ig_plan_variant)                                           \
    SECTION(steps, ig_plan_step)

typedef enum ig_plan_section {
#define IG_PLAN_SECTION_ENUM(name, record) IG_SECTION_##name,
    IG_PLAN_SECTIONS(IG_PLAN_SECTION_ENUM)
#undef IG_PLAN_SECTION_ENUM
        IG_SECTION_COUNT
} ig_plan_section;

typedef struct ig_plan_text { /* bytes of the section `text`, without the zero byte */
    uint32_t offset, size;
} ig_plan_text;

typedef struct ig_plan_range { /* `count` records of another section */
    uint32_t first, count;
} ig_plan_range;

typedef struct ig_plan_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;  /* sizeof(ig_plan_header) */
    uint64_t plan_bytes;    /* of the whole entry */
    ig_hash128 hash;        /* of all bytes after this field */
    ig_plan_text build_id;  /* of the compiler */
    ig_plan_text model;     /* the module's name */
    ig_plan_text family;    /* "cpu": whose plan it is */
    int64_t arena_bytes;    /* >= 0: arena buffers have fixed offsets; else -1 */
    uint32_t section_count; /* IG_SECTION_COUNT: later formats have more at the end */
    uint32_t reserved;      /* 0 */
    struct {
        uint64_t offset, count; /* bytes from the plan's start, a multiple of 8 */
        uint32_t record_bytes;  /* of one record: later formats have longer ones */
        uint32_t reserved;      /* 0 */
    } sections[IG_SECTION_COUNT];
} ig_plan_header;

/* A function that a host step calls.  The runtime's own are of no library; "group" are
 * the session's ranks; others are in libingot-<library>.so.  A version changes with a
 * function's arguments, results or meaning, so that none is called as another. */
typedef struct ig_plan_host {
    ig_plan_text name, library;
    uint32_t version;  /* IG_HOST_VERSION */
    uint32_t reserved; /* 0 */
} ig_plan_host;

enum { IG_HOST_VERSION = 1 }; /* of all functions so far */

/* Expressions are postfix code over a small stack of int64; the numbering is that of
 * ig_dim_opcode in ir/dim/dim.h.  CONST pushes `value`, SYMBOL the symbol of that
 * number; the others pop b, then a, and push f(a, b).  One over "late" symbols, which
 * steps set, is evaluated by each step that uses it; others when shapes are bound. */
typedef enum ig_code_op {
    IG_CODE_CONST,
    IG_CODE_SYMBOL,
    IG_CODE_ADD,
    IG_CODE_MUL,
    IG_CODE_MIN,
    IG_CODE_MAX,
    IG_CODE_FLOOR,
    IG_CODE_CEIL,
    IG_CODE_BCAST,
    IG_CODE_EXACT,
    IG_CODE_COUNT
} ig_code_op;

typedef struct ig_plan_code {
    int64_t opcode, value;
} ig_plan_code;

typedef enum ig_symbol_kind {
    IG_SYMBOL_INPUT,   /* a dim of an input: bound from the call's shapes */
    IG_SYMBOL_DEFINED, /* value `expr`, which uses only symbols of lower number */
    IG_SYMBOL_LATE,    /* set by a set, read or loop step */
    IG_SYMBOL_ROWS,    /* rows of the current block of a rows step */
} ig_symbol_kind;

typedef struct ig_plan_symbol {
    ig_plan_text name, origin; /* origin: "dim 0 of input 'x'" */
    int64_t min, max, multiple;
    uint32_t kind;        /* ig_symbol_kind */
    uint32_t expr;        /* DEFINED, else IG_NONE */
    uint32_t input, axis; /* INPUT: the first one that binds it, else IG_NONE */
} ig_plan_symbol;

/* An input or output.  Every extent that the caller gives must equal its expression, so
 * a symbol of several extents must be the same in all of them.
 *
 * An output with `in_place_of` is in the memory of that input, whose type it has:
 * its buffer is the input's, the caller gives one memory for both, and nothing is
 * written there before the plan's commit step.  Neither is a state's.
 *
 * An input with IG_PORT_WEIGHT is an opened weight: its extents are numbers, and its
 * content stays the same from run to run unless the caller says that it changed.
 *
 * The role describes the port along the batch, for callers that join calls. */
typedef struct ig_plan_port {
    ig_plan_text name, type; /* type: "f32[B, 13]" */
    uint32_t kind;           /* 0: tensor */
    uint32_t dtype;          /* ig_dtype_code of ingot/runtime.h (the ONNX number) */
    uint32_t rank;
    uint32_t dims; /* first of `rank` entries of lists */
    uint32_t
        buffer; /* of an output: copied to its own after the run, if it is another */
    uint32_t in_place_of; /* output: number of an input, or IG_NONE */
    uint32_t role;        /* ig_port_role of ingot/runtime.h */
    uint32_t keys;        /* KEY_LENGTHS, OFFSETS: the first extent is so many times
                           * the batch; else, and where that is not known, 0 */
    uint32_t partner;     /* KEY_VALUES: the input with their lengths or offsets;
                           * OFFSETS: the input that they are positions in; or
                           * IG_NONE */
    uint32_t flags;       /* IG_PORT_WEIGHT */
} ig_plan_port;

enum { IG_PORT_WEIGHT = 1 }; /* input: an opened weight */

/* State number i is the i-th of the last inputs, which holds its value before a run,
 * and of the last outputs, where the run puts the next value.  Neither is the caller's:
 * the session owns both and makes the output the next input when the run was good. */
typedef struct ig_plan_state {
    uint32_t constant; /* its first value */
    uint32_t rank;
    int64_t dims[IG_PLAN_RANK]; /* of that; the rest 0 */
} ig_plan_state;

/* A node of the signature tree (ingot/tree.h).  Node 0 is the call; children follow
 * their parent, depth first. */
typedef struct ig_plan_node {
    uint32_t kind;     /* ig_tree_kind */
    uint32_t count;    /* children */
    uint32_t is_leaf;  /* 1: the next input; after the arguments, output */
    uint32_t reserved; /* 0 */
    ig_plan_text name, text;
    int64_t value; /* INT, BOOL: the number; FLOAT: the double's bits; CALL:
                         * how many children are arguments */
} ig_plan_node;

typedef struct ig_plan_guard {
    uint32_t left, right; /* expressions */
    uint32_t test;        /* 0: left = right; 1: left <= right */
    uint32_t at_bind;     /* 1: checked when shapes are bound; 0: by a guard step */
    ig_plan_text message;
} ig_plan_guard;

/* A file that holds constants beside the artifact.  The path is relative to the folder
 * of the artifact (and beneath it), or absolute. */
typedef struct ig_plan_file {
    ig_plan_text path;
    uint64_t bytes;    /* size of the file */
    uint64_t mtime_ns; /* equal: taken as unchanged; else constants are hashed */
} ig_plan_file;

typedef enum ig_constant_source {
    IG_CONSTANT_WEIGHTS, /* the entry `weights` */
    IG_CONSTANT_LEVEL,   /* the entry `weights-<level>` of the level that runs */
    IG_CONSTANT_FILE,    /* file number `file` */
} ig_constant_source;

typedef struct ig_plan_constant {
    ig_plan_text name;
    uint32_t source;        /* ig_constant_source */
    uint32_t file;          /* or IG_NONE */
    uint64_t offset, bytes; /* in the entry (offset a multiple of 64) or file */
    ig_hash128 hash;        /* of its bytes; all zero for IG_CONSTANT_LEVEL */
} ig_plan_constant;

typedef enum ig_space {
    IG_SPACE_INPUT,    /* input number `index` */
    IG_SPACE_OUTPUT,   /* output number `index`: the caller's memory itself */
    IG_SPACE_CONSTANT, /* constant number `index` */
    IG_SPACE_ARENA,    /* the run's, shared by buffers that do not live together */
    IG_SPACE_WORKER,   /* inside one rows step: each worker has its own */
    IG_SPACE_KEPT,     /* the session's from run to run: written by prepare steps */
} ig_space;

typedef struct ig_plan_buffer {
    ig_plan_text name;    /* of the value, as the user knows it */
    uint32_t space;       /* ig_space */
    uint32_t index;       /* input, output or constant; else IG_NONE */
    uint32_t bytes;       /* expression: its size (worker: for a block of rows) */
    uint32_t dtype;       /* for people and reports */
    uint32_t first, last; /* first and last step of its life; kept: of the plan */
    int64_t offset;       /* arena with fixed offsets: a multiple of 64; else -1 */
} ig_plan_buffer;

/* A buffer argument of a step, seen from byte `offset` on.  In the body of a rows step
 * `row_stride` bytes are added for each row before the block (IG_NONE: 0). */
typedef struct ig_plan_operand {
    uint32_t buffer;
    uint32_t offset;     /* expression, or IG_NONE for 0 */
    uint32_t row_stride; /* expression, or IG_NONE */
    uint32_t low, high;  /* elements must be low <= x < high: for error messages */
    uint32_t reserved;   /* 0 */
} ig_plan_operand;

/* Work: a multiply-add is two FLOPs; bytes in order; cache lines fetched at random. */
enum { IG_WORK_FLOPS, IG_WORK_BYTES, IG_WORK_LINES, IG_WORK_COUNT };
/* How a launch is done on one level.  A host step has one, with params only. */
typedef struct ig_plan_variant {
    uint32_t kernel;      /* number of the kernel, or IG_NONE for a host step */
    uint32_t grid;        /* expression: tiles; IG_NONE: 1 */
    ig_plan_range params; /* of lists: one expression per i64 argument */
    uint32_t cost;        /* expression: rough ns on one core; IG_NONE: unknown */
    uint32_t scratch;     /* bytes per worker */
    ig_plan_range work; /* of lists, for profiles: IG_WORK_COUNT expressions, or none */
    uint32_t threads;   /* that do a tile together: 1 on a CPU; host step: 0 */
    uint32_t shared;    /* bytes of memory that they share */
} ig_plan_variant;

/*  STEP(name, meaning of the fields beyond operands)  */
#define IG_PLAN_STEPS(STEP)                                                            \
    STEP(launch, "variants: one, or one a level")                                      \
    STEP(rows, "body of launches; value: rows; block: rows a block; symbol")           \
    STEP(if, "operand 0: one byte; body, then else_count steps")                       \
    STEP(loop, "operands: trips (i64; < 0: any), cond (one byte); body; symbol: trip") \
    STEP(host, "index: host function; one variant: its params")                        \
    STEP(copy, "operands: to, from; value: bytes")                                     \
    STEP(store, "operand 0: i64 elements; values: what is stored there, in order")     \
    STEP(set, "symbol; value")                                                         \
    STEP(read, "symbol; operand 0: one i64 element")                                   \
    STEP(guard, "index: the guard of this step")                                       \
    STEP(commit, "after it inputs are written in place, and nothing fails")            \
    STEP(prepare, "operands: opened weights; body: done when one of them has changed")

typedef enum ig_step_kind {
#define IG_PLAN_STEP_ENUM(name, meaning) IG_STEP_##name,
    IG_PLAN_STEPS(IG_PLAN_STEP_ENUM)
#undef IG_PLAN_STEP_ENUM
        IG_STEP_COUNT
} ig_step_kind;

enum { IG_STEP_JOINS = 1 }; /* launch: no barrier between it and the launch before it */
enum { IG_STEP_CHECKS = 2 }; /* launch: its kernel checks its accesses */

/* Depth first: a step's body follows it.  An absent operand has buffer IG_NONE. */
typedef struct ig_plan_step {
    ig_plan_text name;   /* for people: "gemm_relu_3" */
    ig_plan_text source; /* "node 12 'conv1' (Conv)" of the model, or empty */
    uint32_t kind, flags, body_count, else_count; /* steps, with those nested in them */
    ig_plan_range operands;                       /* of operands */
    ig_plan_range variants;                       /* of variants */
    ig_plan_range values;                         /* of lists */
    uint32_t symbol, index;                       /* or IG_NONE */
    uint32_t value, block;                        /* expressions, or IG_NONE */
    uint32_t outs; /* operands that it writes: a launch the last ones, a host step the
                    * first ones */
    uint32_t reserved; /* 0 */
} ig_plan_step;

#endif
