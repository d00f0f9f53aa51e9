/* Addresses in innermost loops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The index of an access is a sum.  Its terms that do not change in the loop are added
 * to a pointer in front of the loop:
 *
 *     a[x + y * stride + i * 20 + 3]  ->  p[j + 3],  p = &a[x + y * stride] before,
 *                                         j = 20 * i carried from trip to trip
 *
 * LLVM's loop strength reduction does the same, but tries out combinations and so took
 * half of the time of large kernels; it is off.  Here every access is taken as it is.
 * Outer loops are left alone: their pointers would keep registers from inner ones.
 */
#include "codegen/cpu/emit.h"

#include <assert.h>

/* constant + fixed + (times + factor) i + rest, where i is the loop's index; a value
 * may be NULL for 0.  `fixed` and `factor` are known in front of the loop. */
typedef struct index_sum {
    int64_t constant, times;
    LLVMValueRef fixed, factor, rest;
} index_sum;

/* ---- arithmetic ---- */

static int64_t wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static LLVMValueRef add_values(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef y) {
    return !x ? y : !y ? x : LLVMBuildAdd(e->builder, x, y, L_UNNAMED);
}

static LLVMValueRef scale_value(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef by) {
    return x ? LLVMBuildMul(e->builder, x, by, L_UNNAMED) : NULL;
}

/* Builds in front of the loop from here on; gives the place to return to. */
static LLVMBasicBlockRef go_before(ig_cpu_emitter *e) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderBefore(e->builder, LLVMGetBasicBlockTerminator(e->loop->before));
    return here;
}

/* x + y or x * y in front of the loop, built once: products by equal factors are one
 * value. */
static LLVMValueRef build_before(ig_cpu_emitter *e, LLVMOpcode code, LLVMValueRef x,
                                 LLVMValueRef y) {
    ig_cpu_inner *loop = e->loop;
    for (uint32_t i = 0; i < loop->known_count; i++) {
        const ig_cpu_known *k = &loop->known[i];
        if (k->code == code && k->x == x && k->y == y) {
            return k->result;
        }
    }
    LLVMBasicBlockRef here = go_before(e);
    LLVMValueRef result = LLVMBuildBinOp(e->builder, code, x, y, L_UNNAMED);
    LLVMPositionBuilderAtEnd(e->builder, here);
    if (loop->known_count < IG_COUNT_OF(loop->known)) {
        loop->known[loop->known_count++] = (ig_cpu_known){ x, y, result, code };
    }
    return result;
}

static LLVMValueRef add_before(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef y) {
    return !x ? y : !y ? x : build_before(e, LLVMAdd, x, y);
}

static LLVMValueRef add_constant(ig_cpu_emitter *e, LLVMValueRef x, int64_t by) {
    return by == 0 && x ? x : add_before(e, x, l_i64(e->llvm, by));
}

static LLVMValueRef scale_before(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef by) {
    LLVMValueRef one = l_i64(e->llvm, 1);
    return !x || by == one ? x : x == one ? by : build_before(e, LLVMMul, x, by);
}

static index_sum add_sums(ig_cpu_emitter *e, const index_sum *a, const index_sum *b) {
    return (index_sum){ .constant = wrap_add(a->constant, b->constant),
                        .times = wrap_add(a->times, b->times),
                        .fixed = add_before(e, a->fixed, b->fixed),
                        .factor = add_before(e, a->factor, b->factor),
                        .rest = add_values(e, a->rest, b->rest) };
}

static index_sum scale_sum(ig_cpu_emitter *e, const index_sum *a, int64_t by) {
    LLVMValueRef number = l_i64(e->llvm, by);
    return (index_sum){ .constant = wrap_mul(a->constant, by),
                        .times = wrap_mul(a->times, by),
                        .fixed = scale_before(e, a->fixed, number),
                        .factor = scale_before(e, a->factor, number),
                        .rest = scale_value(e, a->rest, number) };
}

static bool is_fixed(const index_sum *a) {
    return a->times == 0 && !a->factor && !a->rest;
}

/* a * b, where b does not change in the loop. */
static index_sum multiply_sums(ig_cpu_emitter *e, const index_sum *a,
                               const index_sum *b) {
    assert(is_fixed(b) && "one of the factors does not change");
    if (!b->fixed) {
        return scale_sum(e, a, b->constant);
    }
    LLVMValueRef by = add_constant(e, b->fixed, b->constant);
    index_sum sum = { .rest = scale_value(e, a->rest, by) };
    if (a->fixed || a->constant) {
        sum.fixed = scale_before(e, add_constant(e, a->fixed, a->constant), by);
    }
    if (a->factor || a->times) {
        sum.factor = scale_before(e, add_constant(e, a->factor, a->times), by);
    }
    return sum;
}

/* ---- sums of values ---- */

enum { MAX_DEPTH = 8 }; /* of the expressions that are looked into */

static index_sum read_sum(ig_cpu_emitter *e, const ig_value *value, uint32_t depth);

/* Of add, sub and mul; false: of none of them, or of more than the index to one. */
static bool read_op(ig_cpu_emitter *e, const ig_op *op, uint32_t depth,
                    index_sum *out) {
    if (op->code != IG_OP_add && op->code != IG_OP_sub && op->code != IG_OP_mul) {
        return false;
    }
    index_sum x = read_sum(e, op->operands[0].value, depth + 1);
    index_sum y = read_sum(e, op->operands[1].value, depth + 1);
    if (op->code == IG_OP_mul) {
        if (!is_fixed(&x) && !is_fixed(&y)) {
            return false;
        }
        *out = is_fixed(&y) ? multiply_sums(e, &x, &y) : multiply_sums(e, &y, &x);
        return true;
    }
    y = op->code == IG_OP_sub ? scale_sum(e, &y, -1) : y;
    *out = add_sums(e, &x, &y);
    return true;
}

static index_sum read_sum(ig_cpu_emitter *e, const ig_value *value, uint32_t depth) {
    const ig_cpu_inner *loop = e->loop;
    LLVMValueRef llvm = ig_cpu_value(e, value);
    index_sum sum = { 0 };
    if (LLVMIsAConstantInt(llvm)) {
        sum.constant = LLVMConstIntGetSExtValue(llvm);
    } else if (value == loop->index) {
        sum.times = 1;
        sum.constant = loop->shift;
    } else if (e->depths[value->id] < e->depth) {
        sum.fixed = llvm;
    } else if (!value->def || depth == MAX_DEPTH ||
               !read_op(e, value->def, depth, &sum)) {
        sum = (index_sum){ .rest = llvm };
    }
    return sum;
}

/* ---- the loop's index times a factor ---- */

/* Is it scaled by the access itself? */
static bool is_scaled_free(const ig_cpu_emitter *e, const index_sum *sum,
                           uint32_t bytes) {
    int64_t scale = wrap_mul(sum->times, bytes);
    bool is_element = sum->times == 1;
    bool is_small = scale == 1 || scale == 2 || scale == 4 || scale == 8;
    return !sum->factor && (is_element || (is_small && !e->level->is_arm64));
}

/* The product as a value that is carried; NULL: there are too many of them. */
static LLVMValueRef carried_product(ig_cpu_emitter *e, const index_sum *sum) {
    ig_cpu_inner *loop = e->loop;
    for (uint32_t i = 0; i < loop->product_count; i++) {
        ig_cpu_product *p = &loop->products[i];
        if (p->factor == sum->factor && p->times == sum->times) {
            return p->phi;
        }
    }
    if (loop->product_count == IG_COUNT_OF(loop->products)) {
        return NULL;
    }
    ig_cpu_product *p = &loop->products[loop->product_count++];
    LLVMValueRef factor = add_constant(e, sum->factor, sum->times);
    LLVMValueRef first = scale_before(e, loop->first, factor);
    *p = (ig_cpu_product){ .factor = sum->factor, .times = sum->times };
    p->step = scale_before(e, loop->step, factor);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderBefore(e->builder, LLVMGetFirstInstruction(loop->body));
    p->phi = l_phi(e->builder, LLVMTypeOf(first), first, loop->before);
    LLVMPositionBuilderAtEnd(e->builder, here);
    return p->phi;
}

void ig_cpu_close_products(ig_cpu_emitter *e, ig_cpu_inner *loop,
                           LLVMBasicBlockRef latch) {
    assert(loop->product_count <= IG_COUNT_OF(loop->products) && "so many are kept");
    for (uint32_t i = 0; i < loop->product_count; i++) {
        ig_cpu_product *p = &loop->products[i];
        LLVMValueRef next = LLVMBuildAdd(e->builder, p->phi, p->step, L_UNNAMED);
        LLVMAddIncoming(p->phi, &next, &latch, 1);
    }
}

/* The terms that change, without the constant; NULL: none does. */
static LLVMValueRef moving_part(ig_cpu_emitter *e, const index_sum *sum,
                                uint32_t bytes) {
    LLVMValueRef moving = NULL;
    if (sum->times == 0 && !sum->factor) {
        return sum->rest;
    }
    if (!is_scaled_free(e, sum, bytes)) {
        moving = carried_product(e, sum);
    }
    if (!moving) {
        LLVMValueRef factor = add_constant(e, sum->factor, sum->times);
        moving = LLVMBuildMul(e->builder, e->loop->phi, factor, L_UNNAMED);
    }
    return add_values(e, moving, sum->rest);
}

/* ---- the address ---- */

/* The buffer that the chain of offsets in the loop begins at; adds their indices. */
static const ig_value *find_root(ig_cpu_emitter *e, const ig_value *buffer,
                                 index_sum *sum) {
    for (uint32_t i = 0; i < MAX_DEPTH; i++) {
        const ig_op *def = buffer->def;
        if (e->depths[buffer->id] < e->depth || !def || def->code != IG_OP_offset) {
            break;
        }
        index_sum more = read_sum(e, def->operands[1].value, 0);
        *sum = add_sums(e, sum, &more);
        buffer = def->operands[0].value;
    }
    return buffer;
}

/* The pointer and the fixed terms.  Where the pointer changes itself, bytes are added:
 * LLVM would multiply by their number in the loop. */
static LLVMValueRef add_fixed(ig_cpu_emitter *e, const ig_value *buffer,
                              LLVMValueRef fixed, ig_dtype dtype) {
    LLVMValueRef pointer = ig_cpu_value(e, buffer);
    if (!fixed) {
        return pointer;
    }
    bool is_outside = e->depths[buffer->id] < e->depth;
    LLVMTypeRef element = ig_cpu_memory_type(e, dtype, 1);
    if (!is_outside) {
        fixed = scale_before(e, fixed, l_i64(e->llvm, ig_cpu_bytes(dtype)));
        return ig_cpu_address(e, LLVMInt8TypeInContext(e->llvm), pointer, fixed);
    }
    LLVMBasicBlockRef here = go_before(e);
    pointer = ig_cpu_address(e, element, pointer, fixed);
    LLVMPositionBuilderAtEnd(e->builder, here);
    return pointer;
}

LLVMValueRef ig_cpu_element_address(ig_cpu_emitter *e, const ig_op *op, uint32_t at) {
    assert(at + 1 < op->operand_count && "a buffer is followed by its index");
    const ig_value *buffer = op->operands[at].value;
    ig_dtype dtype = ig_cpu_operand_dtype(op, at);
    LLVMTypeRef element = ig_cpu_memory_type(e, dtype, 1);
    if (!e->loop) {
        return ig_cpu_address(e, element, ig_cpu_value(e, buffer),
                              ig_cpu_operand(e, op, at + 1));
    }
    index_sum sum = read_sum(e, op->operands[at + 1].value, 0);
    buffer = find_root(e, buffer, &sum);
    LLVMValueRef pointer = add_fixed(e, buffer, sum.fixed, dtype);
    LLVMValueRef moving = moving_part(e, &sum, ig_cpu_bytes(dtype));
    pointer = moving ? ig_cpu_address(e, element, pointer, moving) : pointer;
    return sum.constant == 0
               ? pointer
               : ig_cpu_address(e, element, pointer, l_i64(e->llvm, sum.constant));
}
