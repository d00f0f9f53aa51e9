/* The bits of elements seen as elements of another type.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements of one size are a bitcast.  Otherwise the last axis grows or shrinks by how
 * often the smaller size fits into the larger one, low bits first as the machine's
 * memory has them:
 *
 *     one of 32 as four of 8    cast(bits >> [0, 8, 16, 24], u8)
 *     four of 8 as one of 32    sum(cast(bits, u32) << [0, 8, 16, 24])
 */
#include "frontend/torch/aten/view.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

/* The unsigned integer of as many bits. */
static ig_dtype unsigned_of(uint32_t bits) {
    assert(bits <= 64 && "elements have at most 64 bits");
    static const ig_dtype dtypes[] = { IG_DT_u8, IG_DT_u16, IG_DT_u32, IG_DT_u64 };
    uint32_t at = 0;
    while (at < 3 && ig_dtypes[dtypes[at]].bits < bits) {
        at++;
    }
    return dtypes[at];
}

ig_value *ig_aten_bitcast(ig_ts_call *call, ig_value *x, ig_dtype to) {
    if (!x || (ig_dtype)x->type->dtype == to) {
        return x;
    }
    if (x->type->dtype == IG_DT_bool || to == IG_DT_bool) {
        return ig_aten_cast(call, x, to);
    }
    return ig_build_bitcast(call->e, x, (ig_bitcast_attrs){ .to = to });
}

/* 0, step, 2 * step … of `dtype`. */
static ig_value *shifts_of(ig_ts_call *call, ig_dtype dtype, uint32_t count,
                           uint32_t step) {
    assert(count <= 8 && "at most eight parts make an element");
    assert((count == 0 || (count - 1) * step < 64) && "shifts stay within an element");
    int64_t numbers[8] = { 0 }, extent = count;
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = (int64_t)i * step;
    }
    ig_value *all = ig_expr_constant(call->e, "constant", IG_DT_i64, 1, &extent,
                                     numbers);
    return ig_aten_cast(call, all, dtype);
}

ig_value *ig_aten_split_bits(ig_ts_call *call, ig_value *x, uint32_t parts,
                             uint32_t bits, ig_dtype part) {
    assert(parts * bits <= 64 && "the parts of one element");
    ig_value *shifts = x ? shifts_of(call, (ig_dtype)x->type->dtype, parts, bits)
                         : NULL;
    if (!shifts) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    ig_value *wide = ig_build_shr(call->e, ig_expr_unsqueeze(call->e, x, rank), shifts);
    wide = ig_aten_cast(call, wide, part);
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = ig_expr_extent(call->e, x, i);
    }
    dims[rank - 1] = ig_dim_mul(call->module, dims[rank - 1], ig_dim_of(parts));
    return ig_expr_reshape(call->e, wide, rank, dims);
}

ig_value *ig_aten_join_bits(ig_ts_call *call, ig_value *x, uint32_t parts,
                            uint32_t bits, ig_dtype whole) {
    assert(parts * bits <= ig_dtypes[whole].bits && "the parts fit into the whole");
    if (!x || x->type->rank + 1u > IG_TENSOR_RANK) {
        return NULL;
    }
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank;
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = ig_expr_extent(call->e, x, i);
    }
    dims[rank - 1] = ig_dim_exact_div(call->module, dims[rank - 1], ig_dim_of(parts));
    dims[rank] = ig_dim_of(parts);
    ig_value *wide = ig_aten_cast(call, ig_expr_reshape(call->e, x, rank + 1, dims),
                                  whole);
    wide = ig_build_shl(call->e, wide, shifts_of(call, whole, parts, bits));
    return ig_expr_reduce_axis(call->e, IG_REDUCE_sum, wide, rank, false);
}

ig_value *ig_aten_view_bits(ig_ts_call *call, ig_value *x, ig_dtype to) {
    if (!x) {
        return NULL;
    }
    uint32_t from_bits = ig_dtypes[x->type->dtype].bits, to_bits = ig_dtypes[to].bits;
    if (from_bits == to_bits) {
        return ig_aten_bitcast(call, x, to);
    }
    if (x->type->rank == 0) {
        return ig_expr_fail(call->e, IG_INVALID,
                            "a tensor of rank 0 seen as elements of another size");
    }
    ig_dtype small = unsigned_of(from_bits < to_bits ? from_bits : to_bits);
    ig_dtype large = unsigned_of(from_bits < to_bits ? to_bits : from_bits);
    uint32_t bits = ig_dtypes[small].bits, parts = ig_dtypes[large].bits / bits;
    ig_value *own = ig_aten_bitcast(call, x, unsigned_of(from_bits));
    own = from_bits > to_bits ? ig_aten_split_bits(call, own, parts, bits, small)
                              : ig_aten_join_bits(call, own, parts, bits, large);
    return ig_aten_bitcast(call, own, to);
}

/* Complex elements are stored as their two parts: as many reals along the last axis. */
static ig_value *merge_parts(ig_ts_call *call, ig_value *x) {
    uint32_t rank = x->type->rank;
    ig_dim dims[IG_TENSOR_RANK];
    if (rank < 2) {
        return ig_expr_fail(call->e, IG_UNSUPPORTED,
                            "a complex tensor of rank 0 seen as another type");
    }
    memcpy(dims, x->type->dims, rank * sizeof(*dims));
    dims[rank - 2] = ig_dim_mul(call->module, dims[rank - 2], ig_dim_of(2));
    return ig_expr_reshape(call->e, x, rank - 1, dims);
}

static ig_value *split_parts(ig_ts_call *call, ig_value *x) {
    uint32_t rank = x ? x->type->rank : 0;
    ig_dim dims[IG_TENSOR_RANK];
    if (rank == 0 || rank == IG_TENSOR_RANK) {
        return ig_expr_fail(call->e, IG_UNSUPPORTED,
                            "a tensor of rank %u seen as complex numbers", rank);
    }
    memcpy(dims, x->type->dims, rank * sizeof(*dims));
    dims[rank - 1] = ig_dim_exact_div(call->module, dims[rank - 1], ig_dim_of(2));
    dims[rank] = ig_dim_of(2);
    return ig_expr_reshape(call->e, x, rank + 1, dims);
}

/* view.dtype(self, dtype): a view where the elements are of one size, else a copy. */
ig_status ig_ts_op_view_dtype(ig_ts_call *call) {
    const ig_torch_dtype_info *to = NULL;
    ig_aten_view v;
    IG_TRY(ig_ts_torch_dtype(call, 1, NULL, &to));
    if (!ig_aten_viewed(call, &v)) {
        return call->e->status;
    }
    const ig_torch_dtype_info *from = ig_ts_peek(call, 0)->dtype;
    if (from == to) {
        return ig_ts_give_arg(call, 0, 0);
    }
    if (to->is_quantised || from->is_quantised) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "%s seen as %s", from->name, to->name);
    }
    ig_value *y = from->is_complex ? merge_parts(call, v.x) : v.x;
    y = ig_aten_view_bits(call, y, to->ir);
    y = to->is_complex ? split_parts(call, y) : y;
    IG_TRY(ig_ts_give_view(call, 0, 0, y));
    call->results[0].as.tensor->dtype = to;
    return IG_OK;
}
