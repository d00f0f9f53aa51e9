/* Shared by the emitters of this folder: the function being built, and its values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CPU_EMIT_H
#define IG_CODEGEN_CPU_EMIT_H

#include "codegen/cpu/debug.h"
#include "codegen/cpu/level.h"
#include "codegen/cpu/llvm_shim.h"
#include "ir/ops.h"

/* Constants in memory (emit_table.c). */
typedef struct ig_cpu_table {
    LLVMValueRef global, address; /* the words; a place of the stack that has theirs */
    LLVMValueRef *words;          /* the first `count` of `room` are set */
    uint32_t count, room;
    LLVMBasicBlockRef block; /* where `base` was read */
    LLVMValueRef base;
} ig_cpu_table;

/* The index of a loop times a factor, carried from trip to trip (emit_address.c). */
typedef struct ig_cpu_product {
    LLVMValueRef factor, phi, step; /* factor: NULL for 0 */
    int64_t times;                  /* more */
} ig_cpu_product;

/* A sum or a product that was built in front of a loop. */
typedef struct ig_cpu_known {
    LLVMValueRef x, y, result;
    LLVMOpcode code;
} ig_cpu_known;

/* The innermost loop whose body is being emitted. */
typedef struct ig_cpu_inner {
    const ig_value *index;         /* of the body's copy being emitted, `shift` after */
    LLVMValueRef phi, first, step; /* the index of a trip; before the loop; a trip's */
    int64_t shift;
    LLVMBasicBlockRef before, body; /* whose terminator is built; the loop's first */
    ig_cpu_product products[8];
    ig_cpu_known known[64]; /* those built first */
    uint32_t product_count, known_count;
} ig_cpu_inner;

/* One kernel on its way into one LLVM module.  LLVM objects are the machine's. */
struct ig_cpu_emitter {
    ig_context *context;
    ig_arena *arena; /* for the time of this emission */
    const ig_cpu_level *level;
    const ig_graph *kernel;
    LLVMContextRef llvm;
    LLVMModuleRef module;
    LLVMBuilderRef builder; /* where ops are appended */
    LLVMValueRef function;
    LLVMValueRef call;            /* the one parameter: const ig_kernel_call_v0 * */
    LLVMValueRef buffers, params; /* its arrays, loaded on entry */
    LLVMValueRef zeros, waste;    /* stack memory for accesses that are not done */
    LLVMValueRef tiles;           /* stack memory: how tiles are set; NULL: never */
    LLVMValueRef *values;         /* by ig_value id */
    uint32_t *depths, depth;      /* loops around each value; around what is emitted */
    ig_cpu_inner *loop;           /* NULL: loops in this one, or none around it */
    ig_cpu_table *table;          /* or NULL: constants are left to LLVM */
    ig_cpu_debug *debug;          /* or NULL */
};

/* How an op is emitted: a function and its parameters, from emit.def. */
typedef struct ig_cpu_row {
    ig_status (*emit)(ig_cpu_emitter *e, const ig_op *op);
    int real, sint, uint; /* LLVM opcodes or predicates; 0: not for it */
    const char *name;     /* an intrinsic, for floats */
    const char *sint_name, *uint_name;
} ig_cpu_row;

extern const ig_cpu_row ig_cpu_rows[IG_OP_COUNT];

/* Builds the function of `e->kernel` in `e->module`: `k`, or the debug name. */
ig_status ig_cpu_emit_kernel(ig_cpu_emitter *e);
/* emit_block.c: at the end of a kernel. */
void ig_cpu_release_tiles(ig_cpu_emitter *e);
/* Emits the ops of `block` up to its terminator; values of the block's arguments must
 * be set.  The operands of the terminator are read with ig_cpu_value. */
ig_status ig_cpu_emit_block(ig_cpu_emitter *e, const ig_block *block);

/* emit_table.c: in the entry block; after the kernel. */
void ig_cpu_open_table(ig_cpu_emitter *e);
void ig_cpu_close_table(ig_cpu_emitter *e);
/* Lanes of a constant, and of 32 bits that `op` needs as elements of its result: from
 * the table, or NULL where they are left to LLVM. */
LLVMValueRef ig_cpu_table_constant(ig_cpu_emitter *e, const ig_op *op);
LLVMValueRef ig_cpu_table_word(ig_cpu_emitter *e, const ig_op *op, uint32_t bits);

/* ---- types and values ---- */

LLVMTypeRef ig_cpu_scalar_type(const ig_cpu_emitter *e,
                               ig_dtype dtype); /* bool is i1 */
/* The LLVM type of a scalar or vector as a value; of a buffer: a pointer. */
LLVMTypeRef ig_cpu_type(const ig_cpu_emitter *e, const ig_type *type);
/* Its type in memory: bool is a byte. */
LLVMTypeRef ig_cpu_memory_type(const ig_cpu_emitter *e, ig_dtype dtype, uint32_t lanes);
uint32_t ig_cpu_bytes(ig_dtype dtype); /* of an element in memory */

LLVMValueRef ig_cpu_value(const ig_cpu_emitter *e, const ig_value *value);
LLVMValueRef ig_cpu_operand(const ig_cpu_emitter *e, const ig_op *op, uint32_t index);
/* Operand with its scalar in every lane when the op works on vectors of `lanes`. */
LLVMValueRef ig_cpu_operand_lanes(const ig_cpu_emitter *e, const ig_op *op,
                                  uint32_t index, uint32_t lanes);
void ig_cpu_set(ig_cpu_emitter *e, const ig_value *value, LLVMValueRef llvm);
ig_status ig_cpu_set_result(ig_cpu_emitter *e, const ig_op *op, LLVMValueRef llvm);

ig_dtype ig_cpu_operand_dtype(const ig_op *op, uint32_t index);
uint32_t ig_cpu_result_lanes(const ig_op *op);
/* Is the operand a constant, perhaps in every lane?  *out: its value, of floats and
 * i32. */
bool ig_cpu_constant(const ig_op *op, uint32_t index, double *out);
/* Is it one that is not NaN? */
bool ig_cpu_is_number(const ig_op *op, uint32_t index);

/* "kernel 'k3': add: …" with the op's location; returns `status`. */
ig_status ig_cpu_fail(const ig_cpu_emitter *e, ig_status status, const ig_op *op,
                      const char *what);

/* ---- memory, by more than one file ---- */

/* Marks a load whose memory nobody writes while the kernel runs. */
void ig_cpu_mark_invariant(const ig_cpu_emitter *e, LLVMValueRef load);
/* A loop for i in [0, count): `begin` leaves the builder in the body and returns i. */
typedef struct ig_cpu_loop {
    LLVMBasicBlockRef before, body, after;
    LLVMValueRef index, count;
} ig_cpu_loop;
ig_cpu_loop ig_cpu_loop_begin(ig_cpu_emitter *e, LLVMValueRef count);
void ig_cpu_loop_end(ig_cpu_emitter *e, const ig_cpu_loop *loop);
/* Stack memory of the whole call, reserved in the entry block. */
LLVMValueRef ig_cpu_alloca(ig_cpu_emitter *e, LLVMTypeRef type, uint64_t count,
                           uint32_t alignment);
LLVMValueRef ig_cpu_address(ig_cpu_emitter *e, LLVMTypeRef element, LLVMValueRef base,
                            LLVMValueRef index);
/* emit_address.c: address of element `index` (operands `at`, `at + 1`) of a buffer. */
LLVMValueRef ig_cpu_element_address(ig_cpu_emitter *e, const ig_op *op, uint32_t at);
/* At the end of a trip: the products of the next one. */
void ig_cpu_close_products(ig_cpu_emitter *e, ig_cpu_inner *loop,
                           LLVMBasicBlockRef latch);
/* The lanes of `count` elements from `address`, the others zero; and the reverse. */
LLVMValueRef ig_cpu_load_tail(ig_cpu_emitter *e, LLVMTypeRef type, LLVMValueRef address,
                              LLVMValueRef count);
void ig_cpu_store_tail(ig_cpu_emitter *e, LLVMValueRef value, LLVMValueRef address,
                       LLVMValueRef count);

/* Where an access of all lanes or of none goes: the count of load or store `op` (its
 * operand `operand`) is all of them or 0 by a condition.  NULL: it is not such. */
LLVMValueRef ig_cpu_all_or_nothing(ig_cpu_emitter *e, const ig_op *op, uint32_t operand,
                                   LLVMTypeRef type, LLVMValueRef address);

/* ---- arithmetic, by more than one file ---- */

LLVMValueRef ig_cpu_combine(ig_cpu_emitter *e, const ig_cpu_row *row, ig_dtype dtype,
                            LLVMValueRef x, LLVMValueRef y);
/* max(x, y) or min(x, y) of floats, NaN wins; `x_is_number` saves a comparison. */
LLVMValueRef ig_cpu_extreme(ig_cpu_emitter *e, LLVMRealPredicate wins, LLVMValueRef x,
                            LLVMValueRef y, bool x_is_number);
LLVMValueRef ig_cpu_select(ig_cpu_emitter *e, LLVMValueRef when, LLVMValueRef then,
                           LLVMValueRef otherwise);

/* The rows' emitters. */
#define EMIT(name, function, ...) \
    ig_status ig_cpu_emit_##function(ig_cpu_emitter *e, const ig_op *op);
#include "codegen/cpu/emit.def"

#endif
