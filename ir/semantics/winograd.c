/* conv_winograd: a 3 x 3 convolution of transformed weights, channels last.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/winograd.h"

#include "ir/hooks.h"
#include "ir/semantics/check.h"
#include "ir/semantics/panels.h"
#include "ir/semantics/window.h"

enum {
    TAPS = IG_WINOGRAD_TAPS,
    OUT = IG_WINOGRAD_OUT,
    IN = IG_WINOGRAD_IN,
    PRODUCTS = IG_WINOGRAD_PRODUCTS,
    SPACE = 2,
};

static const ig_window_slots slots = { IG_WINDOW_NO_SLOT, IG_WINDOW_NO_SLOT,
                                       IG_conv_winograd_before,
                                       IG_conv_winograd_after };

/* ---- types ---- */

static ig_status check_weights(const ig_op *op, int64_t columns) {
    ig_module *module = ig_op_module(op);
    ig_dim depth = ig_dim_mul(module, ig_operand_type(op, 0)->dims[SPACE + 1],
                              ig_dim_of(PRODUCTS));
    ig_dim panels = ig_dim_of((columns + IG_PANEL - 1) / IG_PANEL);
    IG_TRY(ig_check_dtype(op, 1, IG_DT_f32));
    IG_TRY(ig_check_rank(op, 1, 3));
    IG_TRY(ig_check_extent(op, 1, 0, panels, "panels", NULL));
    IG_TRY(ig_check_extent(op, 1, 1, depth, "16 a channel", NULL));
    return ig_check_extent(op, 1, 2, ig_dim_of(IG_PANEL), "columns of a panel", NULL);
}

ig_status ig_infer_conv_winograd(ig_op *op, const ig_type **out_types) {
    ig_module *module = ig_op_module(op);
    int64_t columns = ig_attr_int(op, IG_conv_winograd_columns, -1);
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_dtype(op, 0, IG_DT_f32));
    IG_TRY(ig_check_rank(op, 0, SPACE + 2));
    IG_TRY(ig_window_check(op, &slots, SPACE));
    if (columns < 1 || columns > INT32_MAX) {
        return INFER_ERROR(op, "columns is %lld, expected at least 1",
                           (long long)columns);
    }
    IG_TRY(check_weights(op, columns));
    const ig_type *x = ig_operand_type(op, 0);
    const ig_dim kernel[SPACE] = { ig_dim_of(TAPS), ig_dim_of(TAPS) };
    ig_dim dims[SPACE + 2] = { [SPACE + 1] = ig_dim_of(columns) };
    IG_TRY(ig_window_dims(op, &slots, kernel, dims));
    out_types[0] = ig_type_with_dims(module, x, SPACE + 2, dims);
    return IG_OK;
}

/* ---- values ---- */

typedef struct fold {
    ig_window window;
    const ig_tensor *x, *w;
    int64_t channels, columns;
    double *inputs; /* of one block, transformed: [16, C] */
} fold;

/* factor times x times its transpose: x is IN x IN, the result rows x rows. */
static void apply_factor(const int8_t (*factor)[IN], uint32_t rows, const double *x,
                         double *out) {
    double half[IN * IN];
    for (uint32_t i = 0; i < rows * IN; i++) {
        half[i] = 0;
        for (uint32_t k = 0; k < IN; k++) {
            half[i] += factor[i / IN][k] * x[k * IN + i % IN];
        }
    }
    for (uint32_t i = 0; i < rows * rows; i++) {
        out[i] = 0;
        for (uint32_t k = 0; k < IN; k++) {
            out[i] += half[i / rows * IN + k] * factor[i % rows][k];
        }
    }
}

/* The image's element, or the zero around it. */
static double element_at(const fold *f, const int64_t position[3], int64_t channel) {
    const int64_t *in = f->window.in;
    for (uint32_t d = 0; d < SPACE; d++) {
        if (position[d + 1] < 0 || position[d + 1] >= in[d]) {
            return 0;
        }
    }
    int64_t pixel = (position[0] * in[0] + position[1]) * in[1] + position[2];
    return ig_tensor_get_f64(f->x, pixel * f->channels + channel);
}

/* start: image, first row and column of the result. */
static void read_block(const fold *f, const int64_t start[3]) {
    double d[PRODUCTS], v[PRODUCTS];
    for (int64_t c = 0; c < f->channels; c++) {
        for (int64_t i = 0; i < PRODUCTS; i++) {
            const int64_t position[] = { start[0],
                                         start[1] + i / IN - f->window.before[0],
                                         start[2] + i % IN - f->window.before[1] };
            d[i] = element_at(f, position, c);
        }
        apply_factor(ig_winograd_input, IN, d, v);
        for (int64_t i = 0; i < PRODUCTS; i++) {
            f->inputs[i * f->channels + c] = v[i];
        }
    }
}

/* Channel `o` of a block's results, of which there may be fewer at the ends. */
static void write_block(const fold *f, const int64_t start[3], int64_t o,
                        ig_tensor *out) {
    double sums[PRODUCTS] = { 0 }, y[OUT * OUT];
    const int64_t *extents = f->window.out;
    int64_t depth = PRODUCTS * f->channels;
    for (int64_t k = 0; k < depth; k++) {
        int64_t at = (o / IG_PANEL * depth + k) * IG_PANEL + o % IG_PANEL;
        sums[k / f->channels] += f->inputs[k] * ig_tensor_get_f64(f->w, at);
    }
    apply_factor(ig_winograd_output, OUT, sums, y);
    for (int64_t i = 0; i < OUT * OUT; i++) {
        int64_t row = start[1] + i / OUT, column = start[2] + i % OUT;
        if (row < extents[0] && column < extents[1]) {
            int64_t pixel = (start[0] * extents[0] + row) * extents[1] + column;
            ig_tensor_set_f64(out, pixel * f->columns + o, y[i]);
        }
    }
}

static ig_status fold_blocks(ig_eval *eval, const fold *f, ig_tensor *out) {
    const int64_t *extents = f->window.out;
    for (int64_t n = 0; n < f->x->dims[0]; n++) {
        for (int64_t i = 0; i < extents[0]; i += OUT) {
            for (int64_t j = 0; j < extents[1]; j += OUT) {
                const int64_t start[] = { n, i, j };
                read_block(f, start);
                for (int64_t o = 0; o < f->columns; o++) {
                    write_block(f, start, o, out);
                }
            }
            IG_TRY(ig_context_poll(eval->context));
        }
    }
    return IG_OK;
}

ig_status ig_fold_conv_winograd(ig_eval *eval, const ig_op *op,
                                const ig_tensor *const *in, ig_tensor *out) {
    static const int64_t kernel[SPACE] = { TAPS, TAPS };
    ig_window_source from = {
        .slots = &slots, .in = in[0]->dims + 1, .kernel = kernel, .rank = SPACE
    };
    fold f = { .x = in[0],
               .w = in[1],
               .channels = in[0]->dims[SPACE + 1],
               .columns = ig_attr_int(op, IG_conv_winograd_columns, 1) };
    IG_TRY(ig_window_eval(eval, op, &from, &f.window));
    if (in[1]->dims[0] != (f.columns + IG_PANEL - 1) / IG_PANEL ||
        in[1]->dims[1] != PRODUCTS * f.channels) {
        return FOLD_ERROR(eval, op, "%s: %lld channels do not fit the panels",
                          ig_ops[op->code].name, (long long)f.channels);
    }
    const int64_t dims[] = { in[0]->dims[0], f.window.out[0], f.window.out[1],
                             f.columns };
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_f32, SPACE + 2, dims, out));
    IG_TRY(
        ig_eval_scratch(eval, op, PRODUCTS * f.channels, sizeof *f.inputs, &f.inputs));
    return out->count > 0 ? fold_blocks(eval, &f, out) : IG_OK;
}
