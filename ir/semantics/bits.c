/* matmul_bits: products with a matrix of numbers of 2, 4 or 8 bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/bits.h"

#include "ir/hooks.h"
#include "ir/semantics/check.h"
#include "ir/semantics/walk.h"

enum { X, BYTES, SCALES, ZEROS };

static int64_t parts_of(int64_t bits) {
    return bits > 0 ? 8 / bits : 0;
}

ig_bits ig_bits_of(const ig_op *op) {
    const ig_type *bytes = ig_operand_type(op, BYTES);
    const ig_type *scales = ig_operand_type(op, SCALES);
    ig_bits w = { .bits = ig_attr_int(op, IG_matmul_bits_bits, 0) };
    int64_t size, blocks;
    w.parts = parts_of(w.bits);
    if (ig_dim_known(bytes->dims[1], &size) && ig_dim_known(scales->dims[1], &blocks)) {
        w.bytes = size;
        w.block = blocks > 0 && size % blocks == 0 ? size / blocks : 0;
    }
    return w;
}

/* ---- types ---- */

static ig_status check_factors(const ig_op *op) {
    int64_t bits = ig_attr_int(op, IG_matmul_bits_bits, 0);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        IG_TRY(ig_check_tensor(op, i));
        IG_TRY(ig_check_rank(op, i, 2));
        IG_TRY(ig_check_dtype(op, i, i == BYTES ? IG_DT_u8 : IG_DT_f32));
    }
    if (bits != 2 && bits != 4 && bits != 8) {
        return INFER_ERROR(op, "bits is %lld, expected 2, 4 or 8", (long long)bits);
    }
    return IG_OK;
}

ig_status ig_infer_matmul_bits(ig_op *op, const ig_type **out_types) {
    ig_module *module = ig_op_module(op);
    IG_TRY(check_factors(op));
    const ig_type *bytes = ig_operand_type(op, BYTES);
    const ig_type *scales = ig_operand_type(op, SCALES);
    ig_bits w = ig_bits_of(op);
    if (w.bytes > 0 && w.block == 0) {
        return INFER_ERROR(op,
                           "operand %d is %s, whose rows are not whole blocks of "
                           "those of operand %d, %s",
                           SCALES, ig_operand_text(op, SCALES), BYTES,
                           ig_operand_text(op, BYTES));
    }
    ig_dim depth = ig_dim_mul(module, bytes->dims[1], ig_dim_of(w.parts));
    IG_TRY(ig_check_extent(op, X, 1, depth, "the numbers of a row of operand 1", NULL));
    IG_TRY(
        ig_check_extent(op, SCALES, 0, bytes->dims[0], "the rows of operand 1", NULL));
    for (uint32_t d = 0; op->operand_count > ZEROS && d < 2; d++) {
        IG_TRY(
            ig_check_extent(op, ZEROS, d, scales->dims[d], "that of operand 2", NULL));
    }
    ig_dim dims[] = { ig_operand_type(op, X)->dims[0], bytes->dims[0] };
    out_types[0] = ig_type_tensor(module, IG_DT_f32, 2, dims);
    return IG_OK;
}

/* ---- values ---- */

/* The factors of a product whose extents fit each other. */
typedef struct product {
    const ig_tensor *x, *bytes, *scales, *zeros; /* zeros: NULL for half the numbers */
    int64_t bits, parts;
} product;

static ig_status check_extents(ig_eval *eval, const ig_op *op, const product *p) {
    const int64_t *bytes = p->bytes->dims, *scales = p->scales->dims;
    bool fits = p->x->dims[1] == bytes[1] * p->parts && scales[0] == bytes[0] &&
                (bytes[1] == 0 || (scales[1] > 0 && bytes[1] % scales[1] == 0));
    for (uint32_t d = 0; p->zeros && d < 2; d++) {
        fits &= p->zeros->dims[d] == scales[d];
    }
    return fits ? IG_OK
                : FOLD_ERROR(eval, op,
                             "matmul_bits: a product of %lld numbers with "
                             "rows of %lld bytes in %lld blocks",
                             (long long)p->x->dims[1], (long long)bytes[1],
                             (long long)scales[1]);
}

/* Number k of row n, in f32. */
static float weight_at(const product *p, int64_t n, int64_t k) {
    int64_t size = p->bytes->dims[1], blocks = p->scales->dims[1];
    int64_t byte = k / p->parts, entry = n * blocks + byte / (size / blocks);
    int64_t number = ig_tensor_get_i64(p->bytes, n * size + byte);
    number = number >> (k % p->parts * p->bits) & ((1 << p->bits) - 1);
    float zero = p->zeros ? (float)ig_tensor_get_f64(p->zeros, entry)
                          : (float)(1 << (p->bits - 1));
    return ((float)number - zero) * (float)ig_tensor_get_f64(p->scales, entry);
}

ig_status ig_fold_matmul_bits(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, ig_tensor *out) {
    product p = { .x = in[X], .bytes = in[BYTES], .scales = in[SCALES] };
    p.zeros = op->operand_count > ZEROS ? in[ZEROS] : NULL;
    p.bits = ig_attr_int(op, IG_matmul_bits_bits, 0);
    p.parts = parts_of(p.bits);
    IG_TRY(check_extents(eval, op, &p));
    int64_t dims[] = { p.x->dims[0], p.bytes->dims[0] }, depth = p.x->dims[1];
    IG_TRY(ig_tensor_alloc(eval->arena, eval->context, IG_DT_f32, 2, dims, out));
    for (int64_t i = 0; i < out->count; i++) {
        double sum = 0;
        for (int64_t k = 0; k < depth; k++) {
            sum += ig_tensor_get_f64(p.x, i / dims[1] * depth + k) *
                   (double)weight_at(&p, i % dims[1], k);
        }
        ig_tensor_set_f64(out, i, sum);
    }
    return IG_OK;
}
