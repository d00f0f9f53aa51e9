/* The op table: everything known about each op, expanded from ops.def.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_OPS_H
#define IG_IR_OPS_H

#include "ir/families.h"
#include "ir/graph.h"
#include "ir/tensor/tensor.h"

#define IG_MANY 65535

typedef enum ig_trait {
    IG_PURE = 0,
    IG_MAP = 1 << 0,        /* elementwise with broadcasting */
    IG_COMMUTE = 1 << 1,    /* the first two operands may be exchanged */
    IG_TERMINATOR = 1 << 2, /* ends a block */
    IG_MAY_TRAP = 1 << 3,   /* removable, never hoisted out of a branch */
    IG_GUARD = 1 << 4,      /* removed only when proved */
    IG_STATE = 1 << 5,      /* reads or writes state, or is ordered by effects */
    IG_CONSTANT = 1 << 6,   /* const, weight, table, dims */
    IG_VIEW = 1 << 7,       /* result can alias the operand's memory with strides */
    IG_HOST = 1 << 8,       /* host value op */
    IG_COLLECTIVE = 1 << 9, /* every rank of the world runs it, in the same order */
} ig_trait;

#define IG_SYMBOL_UNBOUND INT64_MIN /* among ig_eval.symbols: has no value yet */

/* What fold hooks may ask of whoever evaluates. */
typedef struct ig_eval {
    ig_arena *arena;        /* results' memory */
    ig_arena *scratch;      /* given back after the op */
    ig_context *context;    /* limits, diagnostics */
    const int64_t *symbols; /* by index; NULL when no symbol has a value */
    uint32_t symbol_count;
} ig_eval;

/* Computes result types from operand types and attributes, and *is* the check of the
 * operands: reports through the module's context with the op's location. */
typedef ig_status (*ig_infer_hook)(ig_op *op, const ig_type **out_types);
/* Evaluates on concrete tensors.  out[i] is filled by the hook (ig_tensor_alloc). */
typedef ig_status (*ig_fold_hook)(ig_eval *eval, const ig_op *op,
                                  const ig_tensor *const *in, ig_tensor *out);
/* Evaluates small integer tensors (rank <= 1) symbolically; false: not known. */
typedef struct ig_dims_value {
    uint32_t rank, count;
    ig_dim dims[32];
} ig_dims_value;
typedef bool (*ig_dims_hook)(const ig_op *op, const ig_dims_value *const *in,
                             ig_dims_value *out);

typedef struct ig_op_info {
    const char *name;
    uint16_t operand_min, operand_max; /* IG_MANY: no bound */
    uint16_t result_count;             /* IG_MANY: given when made */
    uint16_t body_count;
    uint16_t attr_count;
    uint32_t stages; /* ig_stage bits */
    uint32_t traits;
    const ig_attr_info *attrs;
    ig_infer_hook infer;     /* NULL: types are given by the maker */
    ig_fold_hook fold;       /* NULL: not foldable */
    ig_dims_hook dims;       /* NULL: never a shape value */
    const char *expand;      /* ig_expand_<name> makes it of others; or NULL */
    ig_kernel_family family; /* of the kernel that it starts */
} ig_op_info;

extern const ig_op_info ig_ops[IG_OP_COUNT];

/* What kernel form adds: the columns of KERNEL in ops.def. */
struct ig_verifier;
struct ig_kernel_thread;
typedef void (*ig_kernel_check_hook)(struct ig_verifier *verifier, const ig_op *op);
typedef ig_status (*ig_kernel_run_hook)(struct ig_kernel_thread *thread,
                                        const ig_op *op);
typedef struct ig_kernel_info {
    const char *operands, *results; /* NULL: not typed by letters */
    ig_kernel_check_hook check;     /* NULL: the letters say it all */
    ig_kernel_run_hook run;         /* NULL: a row of scalar.def, or no op of kernels */
} ig_kernel_info;

extern const ig_kernel_info ig_kernel_infos[IG_OP_COUNT];

bool ig_opcode_parse(ig_str name, ig_opcode *out_code);

/* Enumerations of attributes; ops.c holds their text names in the same order. */
/* The role of a port along the batch; as ig_port_role of ingot/program.h. */
typedef enum ig_role {
    IG_ROLE_OF_none,
    IG_ROLE_OF_rows,
    IG_ROLE_OF_key_lengths,
    IG_ROLE_OF_key_values,
    IG_ROLE_OF_offsets,
    IG_ROLE_OF_shared
} ig_role;
typedef enum ig_pool { IG_POOL_sum, IG_POOL_mean, IG_POOL_max, IG_POOL_none } ig_pool;
typedef enum ig_reduce {
    IG_REDUCE_sum,
    IG_REDUCE_mean,
    IG_REDUCE_max,
    IG_REDUCE_min,
    IG_REDUCE_prod,
    IG_REDUCE_sumsq,
    IG_REDUCE_l1,
    IG_REDUCE_l2,
    IG_REDUCE_logsum,
    IG_REDUCE_logsumexp
} ig_reduce;
typedef enum ig_extreme { IG_EXTREME_max, IG_EXTREME_min } ig_extreme;
typedef enum ig_scatter {
    IG_SCATTER_none,
    IG_SCATTER_add,
    IG_SCATTER_mul,
    IG_SCATTER_min,
    IG_SCATTER_max
} ig_scatter;
typedef enum ig_cumulate {
    IG_CUMULATE_prod,
    IG_CUMULATE_max,
    IG_CUMULATE_min,
    IG_CUMULATE_logsumexp
} ig_cumulate;
typedef enum ig_random {
    IG_RANDOM_uniform,
    IG_RANDOM_normal,
    IG_RANDOM_bits
} ig_random;
typedef enum ig_letters {
    IG_LETTERS_keep,
    IG_LETTERS_lower,
    IG_LETTERS_upper
} ig_letters;
typedef enum ig_unique_order {
    IG_UNIQUE_sorted,
    IG_UNIQUE_first,
    IG_UNIQUE_runs
} ig_unique_order;
typedef enum ig_negative {
    IG_NEGATIVE_wrap,
    IG_NEGATIVE_error,
    IG_NEGATIVE_skip
} ig_negative;
typedef enum ig_range_rule {
    IG_RANGE_error,
    IG_RANGE_clamp,
    IG_RANGE_first
} ig_range_rule;
typedef enum ig_offsets_rule {
    IG_OFFSETS_error,
    IG_OFFSETS_clamp,
    IG_OFFSETS_slice
} ig_offsets_rule;
typedef enum ig_empty { IG_EMPTY_zero, IG_EMPTY_neg_inf, IG_EMPTY_nan } ig_empty;
/* Where the last bag of a feature ends that has begins and no ends. */
typedef enum ig_bag_last {
    IG_LAST_ids,    /* with the ids */
    IG_LAST_offset, /* at one offset more */
    IG_LAST_mean, /* there, but its mean divides by the ids from its begin to the end */
    IG_LAST_rest  /* with the ids, but where that offset equals its begin it is empty */
} ig_bag_last;
typedef enum ig_pad_mode {
    IG_PAD_constant,
    IG_PAD_edge,
    IG_PAD_reflect,
    IG_PAD_wrap
} ig_pad_mode;
typedef enum ig_pool_op { IG_WINDOW_max, IG_WINDOW_sum, IG_WINDOW_average } ig_pool_op;
typedef enum ig_adaptive { IG_ADAPTIVE_average, IG_ADAPTIVE_max } ig_adaptive;
typedef enum ig_rnn_cell {
    IG_CELL_lstm,
    IG_CELL_gru,
    IG_CELL_tanh,
    IG_CELL_relu
} ig_rnn_cell;
/* Bits of rnn.given, in the order of the operands. */
enum { IG_RNN_lengths = 1, IG_RNN_peepholes = 2, IG_RNN_projection = 4 };
/* How quantize rounds; the row in ops.def has the formulas: ONNX's, torch's, torch's
 * with zero points of floats, and that of sums of products. */
typedef enum ig_rounding {
    IG_ROUNDING_divide,
    IG_ROUNDING_multiply,
    IG_ROUNDING_offset,
    IG_ROUNDING_factor
} ig_rounding;
typedef enum ig_guard_test { IG_GUARD_eq, IG_GUARD_le } ig_guard_test;
typedef enum ig_resize_mode {
    IG_RESIZE_nearest,
    IG_RESIZE_linear,
    IG_RESIZE_cubic
} ig_resize_mode;
typedef enum ig_coordinates {
    IG_COORD_half_pixel,
    IG_COORD_half_pixel_symmetric,
    IG_COORD_pytorch_half_pixel,
    IG_COORD_align_corners,
    IG_COORD_asymmetric,
    IG_COORD_crop,
    IG_COORD_half_pixel_corner,  /* no half taken away at the end */
    IG_COORD_clamped_half_pixel, /* never below 0 */
} ig_coordinates;
typedef enum ig_nearest {
    IG_NEAREST_round_prefer_floor,
    IG_NEAREST_round_prefer_ceil,
    IG_NEAREST_floor,
    IG_NEAREST_ceil
} ig_nearest;
typedef enum ig_outside {
    IG_OUTSIDE_zeros,
    IG_OUTSIDE_border,
    IG_OUTSIDE_reflection
} ig_outside;

/* Attribute slots: IG_<op>_<attr>. */
#define A(op, kind, name) IG_##op##_##name,
#define R(op, kind, name) IG_##op##_##name,
#define E(op, names, name) IG_##op##_##name,
#define L(op, need, names, name) IG_##op##_##name,
#define NO_ATTRS
#define OP(name, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                      \
    enum { attrs IG_##name##_attr_count };
#include "ir/ops.def"
#undef OP
#undef A
#undef R
#undef E
#undef L
#undef NO_ATTRS

#endif
