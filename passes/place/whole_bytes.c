/* whole_bytes: numbers of 2 and 4 bits become bytes, and addresses of texts i64, but
 * where the caller sees them.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     (%x: i4[3]) …  %1 = cast %y {to = i4}; ret %x, %1
 *   becomes
 *     (%x: i4[3])  %0 = cast %x {to = i8} : i8[3]
 *                  %1 = max (min (cast %y {to = i8}), 7), -8
 *     ret cast %0 {to = i4}, cast %1 {to = i4}
 *
 * Arguments, constants and the entry graph's results keep their types; in between
 * kernels see i8, u8 and f8e4m3fn that hold the same values, and i64 for texts.  The
 * casts at the ends are no kernel's: functions of the runtime do them
 * (bufferise_host.c), so no pass that merges casts may follow this one.  That of a
 * float of 4 bits gives its code as u8, which kernels make a number of:
 *
 *     f4e2m1     sign | exponent, mantissa m     0   0.5    1 …  6
 *     f8e4m3fn   sign | code                     0  0x30  (m + 12) << 2
 */
#include "passes/place/whole_bytes.h"

#include "ir/build/expr.h"
#include "ir/infer/infer.h"
#include "passes/engine/pass.h"

static bool is_narrow(const ig_value *value) {
    const ig_type *type = value->type;
    bool is_part = ig_dtypes[type->dtype].bits < 8;
    return type->kind == IG_TENSOR && (is_part || type->dtype == IG_DT_str);
}

bool ig_is_bits_cast(const ig_op *op) {
    return op->code == IG_OP_cast &&
           (is_narrow(op->operands[0].value) || is_narrow(&op->results[0]));
}

/* The type that holds the same values in kernels. */
static ig_dtype byte_of(ig_dtype dtype) {
    return dtype == IG_DT_str                  ? IG_DT_i64
           : dtype == IG_DT_f4e2m1             ? IG_DT_f8e4m3fn
           : ig_dtypes[dtype].class == IG_SINT ? IG_DT_i8
                                               : IG_DT_u8;
}

/* The type that the runtime's functions unpack it to. */
static ig_dtype unpacked_of(ig_dtype dtype) {
    return dtype == IG_DT_f4e2m1 ? IG_DT_u8 : byte_of(dtype);
}

static void retype_to_bytes(ig_module *module, ig_value *value) {
    const ig_type *type = value->type;
    ig_dtype dtype = byte_of((ig_dtype)type->dtype);
    ig_value_retype(value, ig_type_with_dtype(module, type, dtype));
}

/* Also of addresses, which no other pass casts. */
static ig_value *make_cast(ig_expr *e, ig_value *x, ig_dtype to) {
    const ig_type *type = ig_type_with_dtype(e->module, x->type, to);
    ig_op_spec spec = {
        .operands = &x, .operand_count = 1, .result_types = &type, .result_count = 1
    };
    return ig_build_cast_op(e, &spec, (ig_cast_attrs){ .to = to })->results;
}

/* ---- floats of 4 bits ---- */

/* `y` where x is `n`, else `z`. */
static ig_value *where_is(ig_expr *e, ig_value *x, int64_t n, int64_t y, ig_value *z) {
    ig_value *is_n = ig_expr_with_integer(e, IG_OP_eq, x, n);
    return ig_build_where(e, is_n, ig_expr_integer(e, IG_DT_u8, y), z);
}

static ig_value *with_sign(ig_expr *e, ig_value *bits, ig_value *from, int64_t sign,
                           ig_opcode shift) {
    ig_value *part = ig_expr_with_integer(e, IG_OP_and, from, sign);
    return ig_build_or(e, bits, ig_expr_with_integer(e, shift, part, 4));
}

static ig_value *float_of_codes(ig_expr *e, ig_value *codes) {
    ig_value *size = ig_expr_with_integer(e, IG_OP_and, codes, 7);
    ig_value *bits = ig_expr_with_integer(e, IG_OP_add, size, 12);
    bits = ig_expr_with_integer(e, IG_OP_shl, bits, 2);
    bits = where_is(e, size, 0, 0, where_is(e, size, 1, 0x30, bits));
    bits = with_sign(e, bits, codes, 8, IG_OP_shl);
    return ig_build_bitcast(e, bits, (ig_bitcast_attrs){ .to = IG_DT_f8e4m3fn });
}

static ig_value *codes_of_float(ig_expr *e, ig_value *x) {
    ig_value *bits = ig_build_bitcast(e, x, (ig_bitcast_attrs){ .to = IG_DT_u8 });
    ig_value *size = ig_expr_with_integer(e, IG_OP_and, bits, 0x7f);
    ig_value *codes = ig_expr_with_integer(e, IG_OP_shr, size, 2);
    codes = ig_expr_with_integer(e, IG_OP_sub, codes, 12);
    codes = where_is(e, size, 0, 0, where_is(e, size, 0x30, 1, codes));
    return with_sign(e, codes, bits, 0x80, IG_OP_shr);
}

/* round(x / step) * step; steps are powers of two, so that only round rounds. */
static ig_value *round_to(ig_expr *e, ig_value *x, double step) {
    x = ig_build_round(e, ig_expr_with(e, IG_OP_mul, x, 1 / step));
    return ig_expr_with(e, IG_OP_mul, x, step);
}

/* x as a float of 4 bits, rounded once: its steps are 0.5 below 2, 1 below 4 and 2 up
 * to 6, where it ends.  NaN is -0. */
static ig_value *round_to_float4(ig_expr *e, ig_value *x) {
    bool is_wide = x->type->dtype == IG_DT_f64;
    x = is_wide ? x : ig_expr_cast(e, x, IG_DT_f32);
    ig_dtype dtype = is_wide ? IG_DT_f64 : IG_DT_f32;
    ig_value *size = ig_build_abs(e, x);
    ig_value *is_nan = ig_build_ne(e, x, x);
    ig_value *large = round_to(e, x, 2);
    ig_value *middle = ig_build_round(e, x);
    ig_value *small = round_to(e, x, 0.5);
    ig_value *is_large = ig_expr_with(e, IG_OP_ge, size, 4);
    ig_value *is_small = ig_expr_with(e, IG_OP_lt, size, 2);
    ig_value *y = ig_build_where(e, is_large, large, middle);
    y = ig_build_where(e, is_small, small, y);
    y = ig_expr_with(e, IG_OP_min, y, 6);
    y = ig_expr_with(e, IG_OP_max, y, -6);
    ig_value *nothing = ig_expr_number(e, dtype, -0.0);
    return ig_expr_cast(e, ig_build_where(e, is_nan, nothing, y), IG_DT_f8e4m3fn);
}

/* ---- ends ---- */

/* All users of `value` see its elements as bytes. */
static void unpack_value(ig_builder *b, ig_value *value) {
    ig_expr e = ig_expr_of(b);
    ig_dtype dtype = (ig_dtype)value->type->dtype;
    ig_use *first = value->uses, *next;
    ig_value *bytes = make_cast(&e, value, unpacked_of(dtype));
    bytes = dtype == IG_DT_f4e2m1 ? float_of_codes(&e, bytes) : bytes;
    for (ig_use *use = first; use; use = next) {
        next = use->next;
        ig_use_set(use, bytes);
    }
}

/* The value of a cast to `dtype`, from bytes: saturated for floats, else low bits. */
static ig_value *narrow_bytes(ig_expr *e, ig_value *x, ig_dtype dtype, bool saturates) {
    int64_t bits = ig_dtypes[dtype].bits;
    bool is_signed = ig_dtypes[dtype].class == IG_SINT;
    if (!saturates) {
        x = ig_expr_with_integer(e, IG_OP_shl, x, 8 - bits);
        return ig_expr_with_integer(e, IG_OP_shr, x, 8 - bits);
    }
    int64_t low = is_signed ? -(1 << (bits - 1)) : 0;
    int64_t high = is_signed ? -low - 1 : (1 << bits) - 1;
    x = ig_expr_with_integer(e, IG_OP_min, x, high);
    return ig_expr_with_integer(e, IG_OP_max, x, low);
}

static void widen_cast(ig_module *module, ig_op *op) {
    ig_value *result = &op->results[0], *x = op->operands[0].value;
    ig_dtype to = (ig_dtype)result->type->dtype;
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    ig_value *bytes;
    if (to == IG_DT_f4e2m1) {
        bytes = round_to_float4(&e, x);
    } else {
        bytes = ig_expr_cast(&e, x, byte_of(to));
        bytes = narrow_bytes(&e, bytes, to, ig_expr_is_float(x));
    }
    retype_to_bytes(module, result);
    ig_value_replace(result, bytes);
    ig_op_erase(op);
}

static void take_origins_of(ig_builder *b, const ig_op *op) {
    if (op) {
        b->loc = op->loc;
        b->origins = op->origins;
    }
}

/* The conversion of a constant or an argument is its user's work: they are of no
 * node. */
static void take_origins(ig_builder *b, const ig_use *use) {
    take_origins_of(b, use ? use->user : NULL);
}

static void widen_op(ig_module *module, ig_op *op) {
    bool is_constant = (ig_ops[op->code].traits & IG_CONSTANT) != 0;
    if (op->code == IG_OP_cast && is_narrow(&op->results[0])) {
        widen_cast(module, op);
        return;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!is_narrow(&op->results[i])) {
            continue;
        }
        if (is_constant) {
            ig_builder b = ig_builder_before(op->next);
            take_origins(&b, op->results[i].uses);
            unpack_value(&b, &op->results[i]);
        } else {
            retype_to_bytes(module, &op->results[i]);
        }
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void widen_block(ig_module *module, ig_block *block, bool is_entry) {
    for (uint32_t i = 0; i < block->arg_count && !is_entry; i++) {
        if (is_narrow(block->args[i])) {
            retype_to_bytes(module, block->args[i]);
        }
    }
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            widen_block(module, op->bodies[i], false);
        }
        widen_op(module, op);
    }
}

static bool has_narrow(const ig_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        if (is_narrow(block->args[i])) {
            return true;
        }
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            if (is_narrow(&op->results[i])) {
                return true;
            }
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            if (has_narrow(op->bodies[i])) {
                return true;
            }
        }
    }
    return false;
}

ig_status ig_pass_whole_bytes(ig_pass_run *run, ig_graph *graph) {
    ig_block *body = &graph->body;
    ig_op *end = body->last;
    if (!run->options->target || !has_narrow(body)) {
        return IG_OK;
    }
    ig_infer_take_addresses(graph->module);
    ig_dtype *wanted = IG_NEW_ARRAY(run->scratch, ig_dtype, end->operand_count + 1u);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        bool is_packed = is_narrow(end->operands[i].value);
        wanted[i] = is_packed ? (ig_dtype)end->operands[i].value->type->dtype
                              : IG_DT_COUNT;
    }
    ig_op *first = body->first;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        if (is_narrow(body->args[i])) {
            ig_builder b = ig_builder_before(first);
            take_origins(&b, body->args[i]->uses);
            unpack_value(&b, body->args[i]);
        }
    }
    widen_block(graph->module, body, true);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        if (wanted[i] != IG_DT_COUNT) {
            ig_value *bytes = end->operands[i].value;
            ig_builder b = ig_builder_before(end);
            take_origins_of(&b, bytes->def);
            ig_expr e = ig_expr_of(&b);
            bool is_float = wanted[i] == IG_DT_f4e2m1;
            ig_value *unpacked = is_float ? codes_of_float(&e, bytes) : bytes;
            ig_value *packed = make_cast(&e, unpacked, wanted[i]);
            ig_use_set(&end->operands[i], packed);
        }
    }
    run->changed = true;
    return IG_OK;
}
