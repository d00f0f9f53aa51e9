/* bufferise, ops that functions of the runtime do: their arguments.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1, %2 = sort %x {axis = 1} : f32[B, 9], i64[B, 9]
 *   becomes
 *     host %x, %v, %i {function = "sort", outs = 2, params = [B, 9, 1, 9, 4, …]}
 *
 * Operands and results are row-major in buffers of their own.
 */
#include "ir/build/expr.h"
#include "passes/place/bufferise.h"

#include <assert.h>

typedef struct call {
    const char *function;
    ig_dim params[12];
    uint32_t param_count;
} call;

/* Bits of infinity in a float dtype; 0: it has none that order.c knows. */
static int64_t infinity_of(ig_dtype dtype) {
    switch (ig_dtypes[dtype].bits) {
    case 16:
        return dtype == IG_DT_bf16 ? 0x7f80 : 0x7c00;
    case 32:
        return 0x7f800000;
    case 64:
        return INT64_C(0x7ff0000000000000);
    default:
        return 0;
    }
}

/* outer, n, inner of `type` around `axis`. */
static void push_around(ig_buffers *s, const ig_type *type, uint32_t axis, call *c) {
    c->params[c->param_count++] = ig_dim_product(s->module, type->dims, axis);
    c->params[c->param_count++] = type->dims[axis];
    c->params[c->param_count++] = ig_dim_product(s->module, type->dims + axis + 1,
                                                 type->rank - axis - 1);
}

static ig_status sort_call(ig_buffers *s, const ig_op *op, int64_t axis, bool descends,
                           call *c) {
    const ig_type *x = op->operands[0].value->type;
    ig_dtype dtype = (ig_dtype)x->dtype;
    uint32_t at = (uint32_t)(axis < 0 ? axis + x->rank : axis);
    bool is_float = ig_dtype_is_float(dtype);
    int64_t infinity = is_float ? infinity_of(dtype) : 0;
    if (is_float && !infinity) { /* which has a kernel, where passes made one of it */
        return ig_buffers_unsupported(op, " for float8");
    }
    c->function = "sort";
    push_around(s, x, at, c);
    c->params[c->param_count++] = op->results[0].type->dims[at];
    c->params[c->param_count++] = ig_dim_of(ig_dtypes[dtype].bits / 8);
    c->params[c->param_count++] = ig_dim_const(s->module, infinity);
    c->params[c->param_count++] = ig_dim_of(ig_dtypes[dtype].class == IG_SINT);
    c->params[c->param_count++] = ig_dim_of(descends);
    return IG_OK;
}

static ig_status call_sort(ig_buffers *s, const ig_op *op, call *c) {
    return sort_call(s, op, ig_attr_int(op, IG_sort_axis, 0),
                     ig_attr_int(op, IG_sort_descending, 0) != 0, c);
}

static ig_status call_topk(ig_buffers *s, const ig_op *op, call *c) {
    return sort_call(s, op, ig_attr_int(op, IG_topk_axis, 0),
                     ig_attr_int(op, IG_topk_smallest, 0) == 0, c);
}

static ig_status call_run_number(ig_buffers *s, const ig_op *op, call *c) {
    (void)s;
    (void)op;
    c->function = "run_number";
    return IG_OK;
}

/* Between packed elements and bytes, or addresses of texts as they are. */
static ig_status call_cast(ig_buffers *s, const ig_op *op, call *c) {
    const ig_type *x = op->operands[0].value->type, *y = op->results[0].type;
    if (x->dtype == IG_DT_str || y->dtype == IG_DT_str) {
        c->function = "text_same";
        c->params[c->param_count++] = ig_type_count(s->module, x);
        return IG_OK;
    }
    bool packs = ig_dtypes[y->dtype].bits < 8;
    ig_dtype narrow = (ig_dtype)(packs ? y : x)->dtype;
    c->function = packs ? "pack_bits" : "unpack_bits";
    c->params[c->param_count++] = ig_type_count(s->module, x);
    c->params[c->param_count++] = ig_dim_of(ig_dtypes[narrow].bits);
    c->params[c->param_count++] = ig_dim_of(ig_dtypes[narrow].class == IG_SINT);
    return IG_OK;
}

/* ---- texts: how many there are, and what else the function must know ---- */

static ig_status text_call(ig_buffers *s, const ig_op *op, const char *function,
                           call *c) {
    c->function = function;
    c->params[c->param_count++] = ig_type_count(s->module, op->results[0].type);
    return IG_OK;
}

static ig_status call_text_of(ig_buffers *s, const ig_op *op, call *c) {
    return text_call(s, op, "text_of", c);
}

static ig_status call_text_eq(ig_buffers *s, const ig_op *op, call *c) {
    return text_call(s, op, "text_eq", c);
}

static ig_status call_text_join(ig_buffers *s, const ig_op *op, call *c) {
    return text_call(s, op, "text_join", c);
}

static ig_status call_text_find(ig_buffers *s, const ig_op *op, call *c) {
    return text_call(s, op, "text_find", c);
}

static ig_status call_text_order(ig_buffers *s, const ig_op *op, call *c) {
    return text_call(s, op, "text_order", c);
}

static ig_status call_text_match(ig_buffers *s, const ig_op *op, call *c) {
    return text_call(s, op, "text_match", c);
}

static ig_status call_text_parse(ig_buffers *s, const ig_op *op, call *c) {
    bool is_real = op->results[0].type->dtype == IG_DT_f64;
    return text_call(s, op, is_real ? "text_parse_real" : "text_parse", c);
}

static ig_status call_text_print(ig_buffers *s, const ig_op *op, call *c) {
    ig_dtype dtype = (ig_dtype)op->operands[0].value->type->dtype;
    IG_TRY(text_call(s, op, "text_print", c));
    c->params[c->param_count++] = ig_dim_of(ig_dtypes[dtype].onnx);
    return IG_OK;
}

static ig_status call_text_split(ig_buffers *s, const ig_op *op, call *c) {
    const ig_type *y = op->results[0].type;
    c->function = "text_split";
    c->params[c->param_count++] = ig_type_count(s->module, op->results[1].type);
    c->params[c->param_count++] = ig_dim_const(s->module,
                                               ig_attr_int(op, IG_text_split_max, -1));
    c->params[c->param_count++] = y->dims[y->rank - 1];
    return IG_OK;
}

static ig_status call_text_clean(ig_buffers *s, const ig_op *op, call *c) {
    const ig_type *x = op->operands[0].value->type;
    c->function = "text_clean";
    c->params[c->param_count++] = ig_type_count(s->module, x);
    c->params[c->param_count++] = ig_type_count(s->module, op->results[0].type);
    c->params[c->param_count++] = ig_dim_of(ig_attr_int(op, IG_text_clean_letters, 0));
    c->params[c->param_count++] =
        ig_dim_of(ig_attr_int(op, IG_text_clean_insensitive, 0));
    return IG_OK;
}

/* ---- images ---- */

static ig_status call_image_decode(ig_buffers *s, const ig_op *op, call *c) {
    const ig_type *y = op->results[0].type;
    c->function = "image_decode";
    c->params[c->param_count++] = ig_type_count(s->module, op->operands[0].value->type);
    c->params[c->param_count++] = y->dims[0];
    c->params[c->param_count++] = y->dims[1];
    c->params[c->param_count++] = ig_dim_of(ig_attr_int(op, IG_image_decode_order, 0));
    return IG_OK;
}

typedef ig_status (*call_fn)(ig_buffers *s, const ig_op *op, call *c);

static const call_fn calls[IG_OP_COUNT] = {
    [IG_OP_sort] = call_sort,
    [IG_OP_topk] = call_topk,
    [IG_OP_run_number] = call_run_number,
    [IG_OP_cast] = call_cast,
    [IG_OP_text_of] = call_text_of,
    [IG_OP_text_eq] = call_text_eq,
    [IG_OP_text_join] = call_text_join,
    [IG_OP_text_find] = call_text_find,
    [IG_OP_text_order] = call_text_order,
    [IG_OP_text_match] = call_text_match,
    [IG_OP_text_parse] = call_text_parse,
    [IG_OP_text_print] = call_text_print,
    [IG_OP_text_split] = call_text_split,
    [IG_OP_text_clean] = call_text_clean,
    [IG_OP_image_decode] = call_image_decode,
};

/* The step, with the first `ins` operands and a buffer of its own for each result. */
static void add_host(ig_buffers *s, ig_op *op, uint32_t ins, ig_host_attrs attrs) {
    ig_builder b = ig_builder_before(op);
    ig_value **operands = IG_NEW_ARRAY(s->arena, ig_value *, ins + op->result_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < ins; i++) {
        ig_place *place = ig_buffers_place(s, op->operands[i].value);
        operands[count++] = ig_buffers_whole(s, &b, place);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        ig_place *place = ig_buffers_alloc(s, &b, (ig_dtype)type->dtype, type->rank,
                                           type->dims);
        ig_buffers_set_place(s, &op->results[i], place);
        operands[count++] = place->root;
    }
    ig_expr e = ig_expr_of(&b);
    attrs.outs = op->result_count;
    (void)ig_build_host(&e, operands, count, attrs);
}

ig_status ig_bufferise_host(ig_buffers *s, ig_op *op) {
    assert(calls[op->code] && "a host function does this op");
    call c = { .param_count = 0 };
    IG_TRY(calls[op->code](s, op, &c));
    add_host(s, op, op->code == IG_OP_topk ? 1 : op->operand_count,
             (ig_host_attrs){ .function = c.function,
                              .params = { c.params, c.param_count } });
    return IG_OK;
}

/* ---- the user's own: 1 where it finds extents; then for each result and each argument
 * its dtype code, rank and extents ---- */

static uint32_t push_type(const ig_type *type, ig_dim *out) {
    out[0] = ig_dim_of(ig_dtypes[type->dtype].onnx);
    out[1] = ig_dim_of(type->rank);
    for (uint32_t k = 0; k < type->rank; k++) {
        out[2 + k] = type->dims[k];
    }
    return 2 + type->rank;
}

ig_status ig_bufferise_custom(ig_buffers *s, ig_op *op) {
    uint32_t count = 1;
    size_t room = 1 +
                  (size_t)(op->operand_count + op->result_count) * (2 + IG_TENSOR_RANK);
    ig_dim *params = IG_NEW_ARRAY(s->arena, ig_dim, room);
    params[0] = ig_dim_of(ig_attr_int(op, IG_custom_extents, 0));
    for (uint32_t i = 0; i < op->result_count; i++) {
        count += push_type(op->results[i].type, params + count);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        count += push_type(op->operands[i].value->type, params + count);
    }
    add_host(
        s, op, op->operand_count,
        (ig_host_attrs){ .function = ig_attr_str(op, IG_custom_function),
                         .params = { params, count },
                         .version = IG_SET(ig_attr_int(op, IG_custom_version, 0)) });
    return IG_OK;
}
