/* The verifier: kernels - buffers, scalars and vectors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kernel ops have no infer hook; letters in ops.def give the kinds of operands and
 * results:
 *
 *     b  buffer         i  i64           I  i64s, any number of lanes
 *     s  scalar         v  scalar or vector           ?  the rest may be absent
 */
#include "ir/hooks.h"
#include "ir/verify/verifier.h"

/* ---- signatures ---- */

static bool letter_fits(char letter, const ig_type *type) {
    bool is_vector = type->kind == IG_VECTOR;
    bool is_scalar = is_vector && type->lanes == 1;
    switch (letter) {
    case 'b':
        return type->kind == IG_BUFFER && type->rank == 0;
    case 'i':
        return is_scalar && type->dtype == IG_DT_i64;
    case 'I':
        return is_vector && type->dtype == IG_DT_i64;
    case 's':
        return is_scalar;
    default:
        return is_vector;
    }
}

static const char *letter_meaning(char letter) {
    switch (letter) {
    case 'b':
        return "a buffer";
    case 'i':
        return "an i64";
    case 'I':
        return "i64s";
    case 's':
        return "a scalar";
    default:
        return "a scalar or vector";
    }
}

static void check_operands(ig_verifier *v, const ig_op *op, const char *letters) {
    for (uint32_t i = 0; i < op->operand_count; i++, letters++) {
        letters += *letters == '?';
        const ig_type *type = ig_verify_operand(op, i);
        if (*letters && !letter_fits(*letters, type)) {
            ig_verify_defect(v, op, "operand %u must be %s, not %s", i,
                             letter_meaning(*letters), ig_verify_type(v, type));
        }
    }
}

static void check_results(ig_verifier *v, const ig_op *op, const char *letters) {
    for (uint32_t i = 0; i < op->result_count && letters[i]; i++) {
        const ig_type *type = op->results[i].type;
        if (!letter_fits(letters[i], type)) {
            ig_verify_defect(v, op, "result %u must be %s, not %s", i,
                             letter_meaning(letters[i]), ig_verify_type(v, type));
        }
    }
}

/* ---- what letters cannot say ---- */

static void expect_claim(ig_verifier *v, const ig_op *op, bool claim,
                         const char *problem) {
    if (!claim) {
        ig_verify_defect(v, op, "%s", problem);
    }
}

static const ig_type *result_type(const ig_op *op) {
    return op->results[0].type;
}

void ig_verify_kernel_load(ig_verifier *v, const ig_op *op) {
    expect_claim(v, op, result_type(op)->dtype == ig_verify_operand(op, 0)->dtype,
                 "the result is not of the buffer's elements");
}

void ig_verify_kernel_load_at(ig_verifier *v, const ig_op *op) {
    ig_verify_kernel_load(v, op);
    expect_claim(v, op, result_type(op)->lanes == ig_verify_operand(op, 1)->lanes,
                 "as many lanes as indices");
}

void ig_verify_kernel_store(ig_verifier *v, const ig_op *op) {
    expect_claim(v, op,
                 ig_verify_operand(op, 0)->dtype == ig_verify_operand(op, 1)->dtype,
                 "the value is not of the buffer's elements");
}

void ig_verify_kernel_same_type(ig_verifier *v, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        expect_claim(v, op, ig_verify_operand(op, i) == result_type(op),
                     "operands and result are of one type");
    }
}

void ig_verify_kernel_offset(ig_verifier *v, const ig_op *op) {
    expect_claim(v, op, ig_verify_operand(op, 0) == result_type(op),
                 "the result is a buffer of the same elements");
}

void ig_verify_kernel_same_dtype(ig_verifier *v, const ig_op *op) {
    expect_claim(v, op, ig_verify_operand(op, 0)->dtype == result_type(op)->dtype,
                 "operand and result are of one element type");
}

void ig_verify_kernel_reinterpret(ig_verifier *v, const ig_op *op) {
    const ig_type *from = ig_verify_operand(op, 0), *to = result_type(op);
    if (from->kind == IG_BUFFER || to->kind == IG_BUFFER) {
        expect_claim(v, op, from->kind == to->kind && !from->rank && !to->rank,
                     "a buffer stays a buffer");
        return;
    }
    uint32_t bits = (uint32_t)ig_dtypes[from->dtype].bits * from->lanes;
    expect_claim(v, op, bits == (uint32_t)ig_dtypes[to->dtype].bits * to->lanes,
                 "operand and result have as many bits");
}

void ig_verify_kernel_top_level(ig_verifier *v, const ig_op *op) {
    expect_claim(v, op, !op->block->parent,
                 "this op is allowed at the kernel's top level only");
}

/* Operand 0 is identified by its index: only a kernel's argument has one. */
void ig_verify_kernel_argument_array(ig_verifier *v, const ig_op *op) {
    const ig_value *first = op->operands[0].value;
    bool is_argument = !first->def && !first->block->parent;
    expect_claim(v, op, is_argument, "operand 0 is not an argument of the kernel");
}

void ig_verify_kernel_array(ig_verifier *v, const ig_op *op) {
    ig_verify_kernel_top_level(v, op);
    expect_claim(v, op, op->attrs[0].as.i >= 1, "an array has at least one element");
}

_Static_assert((int)IG_local_count == 0 && (int)IG_shared_count == 0 &&
                   (int)IG_scratch_offset == 0,
               "one check serves these rows");

void ig_verify_kernel_scratch(ig_verifier *v, const ig_op *op) {
    expect_claim(v, op, op->attrs[0].as.i >= 0, "an offset is not negative");
}

void ig_verify_kernel_iota(ig_verifier *v, const ig_op *op) {
    expect_claim(v, op, ig_dtype_is_int((ig_dtype)result_type(op)->dtype),
                 "iota counts in integers");
}

void ig_verify_kernel_shuffle(ig_verifier *v, const ig_op *op) {
    const ig_type *type = ig_verify_operand(op, 0);
    const ig_attr *lanes = &op->attrs[IG_shuffle_lanes];
    expect_claim(v, op, type == ig_verify_operand(op, 1),
                 "both vectors are of one type");
    ig_verify_kernel_same_dtype(v, op);
    expect_claim(v, op, result_type(op)->lanes == lanes->count,
                 "as many lanes as are named");
    for (uint32_t i = 0; i < lanes->count; i++) {
        expect_claim(v, op,
                     lanes->as.ints[i] >= 0 && lanes->as.ints[i] < 2 * type->lanes,
                     "a lane beyond both vectors");
    }
}

void ig_verify_kernel_dot4(ig_verifier *v, const ig_op *op) {
    const ig_type *a = ig_verify_operand(op, 0), *b = ig_verify_operand(op, 1);
    const ig_type *c = ig_verify_operand(op, 2);
    expect_claim(v, op, c == result_type(op) && c->dtype == IG_DT_i32,
                 "the sums are i32, and of the result's type");
    expect_claim(v, op, a->dtype == IG_DT_u8 && b->dtype == IG_DT_i8,
                 "the factors are u8 and i8");
    expect_claim(v, op, a->lanes == 4 * c->lanes && b->lanes == 4 * c->lanes,
                 "the factors have four lanes for each sum");
}

void ig_verify_kernel_dot2(ig_verifier *v, const ig_op *op) {
    const ig_type *a = ig_verify_operand(op, 0), *b = ig_verify_operand(op, 1);
    const ig_type *c = ig_verify_operand(op, 2);
    expect_claim(v, op, c == result_type(op) && c->dtype == IG_DT_i16,
                 "the sums are i16, and of the result's type");
    expect_claim(v, op, a->dtype == IG_DT_u8 && b->dtype == IG_DT_i8,
                 "the factors are u8 and i8");
    expect_claim(v, op, a->lanes == 2 * c->lanes && b->lanes == 2 * c->lanes,
                 "the factors have two lanes for each sum");
}

/* A register of a fragment has 32 bits. */
void ig_verify_kernel_mma(ig_verifier *v, const ig_op *op) {
    const ig_type *a = ig_verify_operand(op, 0), *c = ig_verify_operand(op, 6);
    for (uint32_t i = 1; i < 6; i++) {
        expect_claim(v, op, ig_verify_operand(op, i) == a,
                     "all registers of both fragments are of one type");
    }
    bool is_narrow = a->dtype == IG_DT_f16 || a->dtype == IG_DT_bf16;
    expect_claim(v, op,
                 is_narrow ? a->lanes == 2 : a->dtype == IG_DT_f32 && a->lanes == 1,
                 "a register is two of f16 or bf16, or an f32");
    expect_claim(v, op, c == result_type(op) && c->dtype == IG_DT_f32 && c->lanes == 4,
                 "the sums are four of f32, and of the result's type");
}

void ig_verify_kernel_swap(ig_verifier *v, const ig_op *op) {
    const ig_attr *bit = &op->attrs[IG_swap_bit];
    ig_verify_kernel_same_dtype(v, op);
    expect_claim(v, op, ig_dtypes[result_type(op)->dtype].bits >= 32,
                 "elements of 32 or 64 bits");
    expect_claim(v, op,
                 bit->as.i > 0 && bit->as.i < 32 && !(bit->as.i & (bit->as.i - 1)),
                 "one bit of a number below 32");
}

void ig_verify_kernel_add_pairs(ig_verifier *v, const ig_op *op) {
    const ig_type *a = ig_verify_operand(op, 0), *c = ig_verify_operand(op, 1);
    expect_claim(v, op, c == result_type(op) && c->dtype == IG_DT_i32,
                 "the sums are i32, and of the result's type");
    expect_claim(v, op, a->dtype == IG_DT_i16 && a->lanes == 2 * c->lanes,
                 "i16, two lanes for each sum");
}

void ig_verify_kernel_dot4_block(ig_verifier *v, const ig_op *op) {
    int64_t panels = op->attrs[IG_dot4_block_panels].as.i;
    expect_claim(v, op,
                 ig_verify_operand(op, 0)->dtype == IG_DT_u8 &&
                     ig_verify_operand(op, 2)->dtype == IG_DT_i8 &&
                     ig_verify_operand(op, 4)->dtype == IG_DT_i32,
                 "the factors are u8 and i8, the sums i32");
    expect_claim(v, op, panels >= 1 && panels <= 4, "a block has 1 to 4 panels");
}

/* ---- one op, and the arguments ---- */

void ig_verify_kernel_op(ig_verifier *verifier, const ig_op *op) {
    const ig_kernel_info *row = &ig_kernel_infos[op->code];
    size_t before = verifier->defects.count;
    if (!row->operands) {
        return;
    }
    check_operands(verifier, op, row->operands);
    check_results(verifier, op, row->results);
    if (row->check && verifier->defects.count == before) {
        row->check(verifier, op);
    }
}

/* Buffers, then i64 params. */
void ig_verify_kernel_args(ig_verifier *verifier) {
    const ig_block *body = &verifier->graph->body;
    bool has_param = false;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        const ig_type *type = body->args[i]->type;
        bool is_buffer = type && letter_fits('b', type);
        has_param |= !is_buffer;
        if (!type || (is_buffer && has_param) ||
            (!is_buffer && !letter_fits('i', type))) {
            ig_verify_defect(verifier, NULL,
                             "argument %u: a kernel takes buffers, then i64 params", i);
        }
    }
}
