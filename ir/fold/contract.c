/* matmul: numpy's.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each output is one sum over K in order, kept in double (integers: int64_t, wrapping)
 * and rounded once.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

/* An operand as a stack of [rows, columns] matrices, whatever is transposed. */
typedef struct matrix {
    const ig_tensor *tensor;
    uint32_t batch_rank;
    int64_t rows, columns, row_stride, column_stride;
} matrix;

static matrix matrix_of(const ig_tensor *tensor, bool is_left, bool is_transposed) {
    matrix m = { .tensor = tensor };
    if (tensor->rank == 1) { /* a row on the left, a column on the right */
        m.rows = is_left ? 1 : tensor->dims[0];
        m.columns = is_left ? tensor->dims[0] : 1;
        m.row_stride = is_left ? 0 : 1;
        m.column_stride = is_left ? 1 : 0;
        return m;
    }
    m.batch_rank = tensor->rank - 2;
    int64_t height = tensor->dims[m.batch_rank], width = tensor->dims[m.batch_rank + 1];
    m.rows = is_transposed ? width : height;
    m.columns = is_transposed ? height : width;
    m.row_stride = is_transposed ? 1 : width;
    m.column_stride = is_transposed ? width : 1;
    return m;
}

/* Strides of the batch axes, in elements, right-aligned in `rank`. */
static bool batch_strides(const matrix *m, uint32_t rank, int64_t *dims,
                          int64_t *strides) {
    int64_t stride = m->rows * m->columns;
    uint32_t missing = rank - m->batch_rank;
    for (uint32_t i = rank; i-- > 0;) {
        int64_t extent = i < missing ? 1 : m->tensor->dims[i - missing];
        if (extent != 1 && dims[i] != 1 && dims[i] != extent) {
            return false;
        }
        dims[i] = dims[i] == 1 ? extent : dims[i];
        strides[i] = extent == 1 ? 0 : stride;
        stride *= extent;
    }
    return true;
}

/* Elements that are read to compute with; doubles or integers, as the result is. */
typedef union line {
    double *f;
    int64_t *i;
} line;

typedef struct product {
    matrix a, b;
    bool is_float;
    line row, columns; /* one row of a; b as [columns][rows] */
    ig_tensor *out;
} product;

static ig_status take_scratch(ig_eval *eval, const ig_op *op, product *p) {
    _Static_assert(sizeof(double) == sizeof(int64_t), "one size serves both members");
    int64_t inner = p->a.columns, area;
    if (__builtin_mul_overflow(inner, p->b.columns, &area)) {
        return FOLD_FAIL(eval, op, IG_LIMIT, "matmul: the operands are too large");
    }
    IG_TRY(ig_eval_scratch(eval, op, inner, sizeof(int64_t), &p->row));
    return ig_eval_scratch(eval, op, area, sizeof(int64_t), &p->columns);
}

static void read_line(const product *p, ig_span from, line to, int64_t at) {
    if (p->is_float) {
        ig_span_read_f64(from, p->a.columns, to.f + at);
    } else {
        ig_span_read_i64(from, p->a.columns, to.i + at);
    }
}

/* Stores the product of the row with column `n`. */
static void multiply_line(const product *p, int64_t n, int64_t to) {
    int64_t inner = p->a.columns;
    double sum = 0;
    uint64_t wrapping = 0;
    if (p->is_float) {
        for (int64_t k = 0; k < inner; k++) {
            sum += p->row.f[k] * p->columns.f[n * inner + k];
        }
        ig_tensor_set_f64(p->out, to, sum);
        return;
    }
    for (int64_t k = 0; k < inner; k++) {
        wrapping += (uint64_t)p->row.i[k] * (uint64_t)p->columns.i[n * inner + k];
    }
    ig_tensor_set_i64(p->out, to, (int64_t)wrapping);
}

static void multiply_matrices(const product *p, int64_t a_at, int64_t b_at,
                              int64_t to) {
    const matrix *a = &p->a, *b = &p->b;
    for (int64_t n = 0; n < b->columns; n++) {
        ig_span column = ig_span_of(b->tensor, b_at + n * b->column_stride,
                                    b->row_stride);
        read_line(p, column, p->columns, n * a->columns);
    }
    for (int64_t m = 0; m < a->rows; m++) {
        ig_span row = ig_span_of(a->tensor, a_at + m * a->row_stride, a->column_stride);
        read_line(p, row, p->row, 0);
        for (int64_t n = 0; n < b->columns; n++) {
            multiply_line(p, n, to + m * b->columns + n);
        }
    }
}

ig_status ig_eval_product(ig_eval *eval, const ig_op *op, ig_product_of factors,
                          ig_tensor *out) {
    const ig_tensor *a = factors.a, *b = factors.b;
    product p = { .out = out };
    p.a = matrix_of(a, true, factors.transpose_a);
    p.b = matrix_of(b, false, factors.transpose_b);
    uint32_t rank = p.a.batch_rank > p.b.batch_rank ? p.a.batch_rank : p.b.batch_rank;
    uint32_t batch_rank = rank;
    int64_t dims[IG_TENSOR_RANK], strides[2][IG_TENSOR_RANK], to = 0;
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = 1;
    }
    if (p.a.columns != p.b.rows || !batch_strides(&p.a, rank, dims, strides[0]) ||
        !batch_strides(&p.b, rank, dims, strides[1])) {
        return FOLD_ERROR(
            eval, op,
            "%s: [%lld, %lld] times [%lld, %lld], or their batch extents, do not fit",
            ig_ops[op->code].name, (long long)p.a.rows, (long long)p.a.columns,
            (long long)p.b.rows, (long long)p.b.columns);
    }
    if (a->rank > 1) {
        dims[rank++] = p.a.rows;
    }
    if (b->rank > 1) {
        dims[rank++] = p.b.columns;
    }
    IG_TRY(ig_eval_alloc(eval, op, a->dtype, rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    p.is_float = ig_dtype_is_float(out->dtype);
    IG_TRY(take_scratch(eval, op, &p));
    ig_walk walk = { .operand_count = 2, .strides = { strides[0], strides[1] } };
    for (ig_walk_start(&walk, batch_rank, dims); walk.is_inside; ig_walk_next(&walk)) {
        multiply_matrices(&p, walk.at[0], walk.at[1], to);
        IG_TRY(ig_context_poll(eval->context));
        to += p.a.rows * p.b.columns;
    }
    return IG_OK;
}

ig_status ig_fold_matmul(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    ig_product_of factors = {
        .a = in[0],
        .b = in[1],
        .transpose_a = ig_attr_int(op, IG_matmul_transpose_a, 0),
        .transpose_b = ig_attr_int(op, IG_matmul_transpose_b, 0),
    };
    return ig_eval_product(eval, op, factors, out);
}
