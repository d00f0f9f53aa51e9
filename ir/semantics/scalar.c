/* Elementwise ops, expanded from scalar.def: four functions a row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements pass through a buffer of wide values: read (converted), computed, written
 * (rounded, wrapped).  So the dtypes are all in ir/tensor/span.c and the ops all in
 * scalar.def, and neither knows the other.
 */
#include "ir/semantics/scalar.h"

#include "ir/ops.h"
#include "ir/semantics/scalar_special.h"
#include "ir/tensor/tensor_float.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

/* Wide values of one chunk.  Which member is meant follows from the class; bool is held
 * as uint. */
typedef union wide {
    double f[CHUNK];
    int64_t s[CHUNK];
    uint64_t u[CHUNK];
} wide;

typedef struct chunk {
    const ig_scalar_call *call;
    bool is_single; /* f32 or narrower */
    int64_t count;
    int64_t bad; /* -1, or where an integer was divided by zero */
    wide in[3], out;
} chunk;

/* ---- words of scalar.def ---- */

#define NONE 0
#define NEG(a) ((int64_t)(0 - (uint64_t)(a)))
#define ADD(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#define SUB(a, b) ((int64_t)((uint64_t)(a) - (uint64_t)(b)))
#define MUL(a, b) ((int64_t)((uint64_t)(a) * (uint64_t)(b)))
#define SHL(a, b) ((int64_t)((uint64_t)(a) << (b)))
#define FLAG(number) (c->call->flags[number])
#define IS_SINGLE (c->is_single)
#define IS_BELOW_ZERO(y) \
    (ig_dtypes[c->call->operands[1].dtype].class == IG_SINT && (int64_t)(y) < 0)
#define TRAP(condition, value) ((condition) ? set_bad(c, i) : (value))

static inline uint8_t set_bad(chunk *c, int64_t i) {
    c->bad = c->bad < 0 ? i : c->bad;
    return 0;
}

/* Sign of the divisor; `truncate`: of the dividend. */
static inline int64_t sint_mod(int64_t x, int64_t y, bool truncate) {
    if (y == -1) {
        return 0;
    }
    int64_t rest = x % y;
    return !truncate && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static inline double float_mod(double x, double y, bool truncate) {
    double rest = fmod(x, y);
    if (truncate || rest == 0 || (rest < 0) == (y < 0)) {
        return rest;
    }
    return rest + y;
}

static inline double float_gelu(double x, bool by_tanh, bool is_finite) {
    double inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
    double gate = by_tanh ? tanh(inner) : erf(x * 0.70710678118654752440);
    double y = 0.5 * x * (1 + gate);
    return is_finite ? y + (x - x) : y;
}

static inline uint64_t uint_pow(uint64_t x, uint64_t y) {
    uint64_t power = 1;
    for (; y; y >>= 1) {
        power = y & 1 ? power * x : power;
        x *= x;
    }
    return power;
}

/* x^y for a negative y. */
static inline int64_t inverse_pow(int64_t x, int64_t y) {
    return x == 1 || (x == -1 && y % 2 == 0) ? 1 : x == -1 ? -1 : 0;
}

static inline double float_muladd(double x, double y, double z, bool is_single) {
    return is_single ? (double)fmaf((float)x, (float)y, (float)z) : fma(x, y, z);
}

static inline double float_mul_exp2(double x, double y, bool is_single) {
    double n = y - (is_single ? 0x1.8p23 : 0x1.8p52);
    return fabs(n) < 4096 ? ldexp(x, (int)n) : (double)NAN;
}

static inline double float_div_round(double x, double y, bool is_single) {
    double max = 1 << 22, q = rint(is_single ? (double)((float)x / (float)y) : x / y);
    return q > max ? max : q < -max ? -max : q;
}

static inline double float_next(double x, double y, bool is_single) {
    return is_single ? (double)nextafterf((float)x, (float)y) : nextafter(x, y);
}

static inline uint64_t uint_gcd(uint64_t x, uint64_t y) {
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

static inline uint64_t size_of(int64_t x) {
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

static inline int64_t sint_gcd(int64_t x, int64_t y) {
    return (int64_t)uint_gcd(size_of(x), size_of(y));
}

static inline uint64_t uint_lcm(uint64_t x, uint64_t y) {
    uint64_t common = uint_gcd(x, y);
    return common ? x / common * y : 0;
}

static inline int64_t sint_lcm(int64_t x, int64_t y) {
    return (int64_t)uint_lcm(size_of(x), size_of(y));
}

/* ---- one function a row and class ---- */

#define OPERANDS(letter, type)                                                         \
    const type x = c->in[0].letter[i], y = c->in[1].letter[i], z = c->in[2].letter[i]; \
    (void)x, (void)y, (void)z
#define FUNCTION(name, class, letter, type, expression) \
    static void name##_##class(chunk * c) {             \
        for (int64_t i = 0; i < c->count; i++) {        \
            OPERANDS(letter, type);                     \
            c->out.letter[i] = (type)(expression);      \
        }                                               \
    }
#define SCALAR(name, arity, on_float, on_sint, on_uint, on_bool, cuda) \
    FUNCTION(name, float, f, double, on_float)                         \
    FUNCTION(name, sint, s, int64_t, on_sint)                          \
    FUNCTION(name, uint, u, uint64_t, on_uint)                         \
    FUNCTION(name, bool, u, bool, on_bool)
#include "ir/semantics/scalar.def"
#undef SCALAR
#undef NONE

/* ---- the table ---- */

typedef struct row {
    uint32_t arity;
    void (*compute[4])(chunk *c); /* by class */
    const char *text[4];          /* of the expressions: NONE says "not defined" */
} row;

#define SCALAR(name, count, on_float, on_sint, on_uint, on_bool, cuda) \
    [IG_OP_##name] = {                                                 \
        count,                                                         \
        { name##_bool, name##_sint, name##_uint, name##_float },       \
        { #on_bool, #on_sint, #on_uint, #on_float },                   \
    },
static const row rows[IG_OP_COUNT] = {
#include "ir/semantics/scalar.def"
};
#undef SCALAR
_Static_assert(IG_BOOL == 0 && IG_SINT == 1 && IG_UINT == 2 && IG_FLOAT == 3,
               "rows are indexed by class");

bool ig_scalar_is_row(ig_opcode code) {
    return code < IG_OP_COUNT && rows[code].arity > 0;
}

bool ig_scalar_supports(ig_opcode code, ig_dtype_class class) {
    return ig_scalar_is_row(code) && class != IG_STRING &&
           strcmp(rows[code].text[class], "NONE") != 0;
}

ig_dtype_class ig_scalar_class(const ig_dtype *dtypes, uint32_t count) {
    ig_dtype_class class = IG_BOOL;
    for (uint32_t i = count; i-- > 0;) {
        ig_dtype_class of_operand = ig_dtypes[dtypes[i]].class;
        if (of_operand == IG_FLOAT) {
            return IG_FLOAT;
        }
        class = of_operand == IG_BOOL ? class : of_operand;
    }
    return class;
}

/* ---- running ---- */

static bool flag_of(const ig_op *op, uint32_t index) {
    const ig_op_info *info = &ig_ops[op->code];
    return index < info->attr_count && info->attrs[index].kind == IG_ATTR_BOOL &&
           ig_attr_int(op, index, 0);
}

void ig_scalar_call_init(ig_scalar_call *call, const ig_op *op) {
    memset(call, 0, sizeof *call);
    call->code = (ig_opcode)op->code;
    call->arity = rows[op->code].arity;
    call->flags[0] = flag_of(op, 0);
    call->flags[1] = flag_of(op, 1);
    call->saturate = op->code == IG_OP_cast && ig_attr_int(op, IG_cast_saturate, 0);
}

static void read_operand(const ig_scalar_call *call, uint32_t operand, int64_t start,
                         ig_dtype_class class, chunk *c) {
    if (operand >= call->arity) {
        memset(&c->in[operand], 0, (size_t)c->count * sizeof(uint64_t));
        return;
    }
    ig_span from = call->operands[operand];
    from.index += start * from.stride;
    if (class == IG_FLOAT) {
        ig_span_read_f64(from, c->count, c->in[operand].f);
    } else {
        ig_span_read_i64(from, c->count, c->in[operand].s);
    }
}

static void round_to_single(chunk *c) {
    for (int64_t i = 0; i < c->count; i++) {
        c->out.f[i] = (double)(float)c->out.f[i];
    }
}

static void write_result(const ig_scalar_call *call, int64_t start,
                         ig_dtype_class class, chunk *c) {
    int64_t index = call->out_index + start;
    if (class == IG_FLOAT) {
        if (c->is_single) {
            round_to_single(c);
        }
        ig_span_write_f64(call->out, index, c->count, c->out.f, call->saturate);
    } else if (class == IG_SINT) {
        ig_span_write_i64(call->out, index, c->count, c->out.s);
    } else {
        ig_span_write_u64(call->out, index, c->count, c->out.s);
    }
}

/* Narrow operands compute in f32; wide ones, and integers among floats, do not. */
static bool is_single(const ig_scalar_call *call) {
    for (uint32_t i = 0; i < call->arity; i++) {
        ig_dtype dtype = call->operands[i].dtype;
        if (dtype == IG_DT_f64 || ig_dtype_is_int(dtype)) {
            return false;
        }
    }
    return true;
}

int64_t ig_scalar_apply(const ig_scalar_call *call) {
    ig_dtype dtypes[3] = { call->operands[0].dtype };
    for (uint32_t i = 1; i < call->arity; i++) {
        dtypes[i] = call->operands[i].dtype;
    }
    ig_dtype_class class = ig_scalar_class(dtypes, call->arity);
    assert(ig_scalar_supports(call->code, class) && "infer checks the class");
    chunk c;
    c.call = call;
    c.is_single = is_single(call);
    c.bad = -1;
    for (int64_t start = 0; start < call->count; start += CHUNK) {
        c.count = call->count - start < CHUNK ? call->count - start : CHUNK;
        for (uint32_t i = 0; i < 3; i++) {
            read_operand(call, i, start, class, &c);
        }
        rows[call->code].compute[class](&c);
        if (c.bad >= 0) {
            return start + c.bad;
        }
        write_result(call, start, class, &c);
    }
    return -1;
}
