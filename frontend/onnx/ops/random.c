/* Random numbers: drawn by Philox from the seed, the place of the node, and the run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

#include <string.h>

/* The attribute is a float; every float is a seed of its own. */
static int64_t seed_of(const ig_onnx_node *node) {
    float seed = (float)ig_onnx_attr_float(node, "seed", 0);
    uint32_t bits;
    memcpy(&bits, &seed, sizeof bits);
    return bits;
}

static ig_status draw(const ig_onnx_node *node, ig_random kind, ig_dtype dtype,
                      const ig_attr *shape, ig_value **out_value) {
    ig_value *run;
    IG_TRY(ig_onnx_build(node, IG_OP_run_number, 0, NULL, NULL, &run));
    ig_attr attrs[IG_random_attr_count] = {
        [IG_random_dtype] = ig_attr_of_dtype(dtype),
        [IG_random_shape] = *shape,
        [IG_random_kind] = ig_attr_of_enum(kind),
        [IG_random_seed] = ig_attr_of_int(seed_of(node)),
        [IG_random_number] = ig_attr_of_int(node->builder->graph->op_count),
    };
    return ig_onnx_build(node, IG_OP_random, 1, &run, attrs, out_value);
}

static ig_status dtype_of(const ig_onnx_node *node, ig_dtype absent,
                          ig_dtype *out_dtype) {
    int64_t code = ig_onnx_attr_int(node, "dtype", 0);
    *out_dtype = absent;
    if (code != 0 && !ig_dtype_from_onnx(code, out_dtype)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED, "element type %lld is not supported",
                            (long long)code);
    }
    return IG_OK;
}

/* mean + scale * normal, or low + (high - low) * uniform. */
static ig_status scaled(const ig_onnx_node *node, ig_dtype dtype, const ig_attr *shape,
                        ig_value **out_value) {
    bool is_normal = node->row->variant == IG_RANDOM_normal;
    double base = ig_onnx_attr_float(node, is_normal ? "mean" : "low", 0);
    double end = ig_onnx_attr_float(node, is_normal ? "scale" : "high", 1);
    ig_value *x;
    IG_TRY(draw(node, (ig_random)node->row->variant, dtype, shape, &x));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, is_normal ? end : end - base, &x));
    return ig_onnx_build_scalar(node, IG_OP_add, x, base, out_value);
}

ig_status ig_onnx_import_random(ig_onnx_node *node) {
    ig_dtype dtype;
    uint32_t count;
    const int64_t *ints = ig_onnx_attr_ints(node, "shape", &count);
    ig_dim *dims = IG_NEW_ARRAY(node->import->arena, ig_dim, count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        if (ints[i] < 0) {
            return ig_onnx_fail(node, IG_INVALID, "an extent is %lld",
                                (long long)ints[i]);
        }
        dims[i] = ig_dim_const(node->import->module, ints[i]);
    }
    ig_attr shape = ig_attr_of_dims(node->import->module, dims, count);
    IG_TRY(dtype_of(node, IG_DT_f32, &dtype));
    return scaled(node, dtype, &shape, &node->outputs[0]);
}

static ig_attr shape_of(const ig_onnx_node *node, const ig_type *type) {
    return ig_attr_of_dims(node->import->module, type->dims, type->rank);
}

ig_status ig_onnx_import_random_like(ig_onnx_node *node) {
    ig_dtype dtype;
    IG_TRY(ig_onnx_tensor(node, 0));
    const ig_type *type = node->inputs[0]->type;
    ig_attr shape = shape_of(node, type);
    IG_TRY(dtype_of(node, (ig_dtype)type->dtype, &dtype));
    return scaled(node, dtype, &shape, &node->outputs[0]);
}

ig_status ig_onnx_import_bernoulli(ig_onnx_node *node) {
    ig_dtype dtype;
    ig_value *x, *is_drawn;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    const ig_type *type = node->inputs[0]->type;
    ig_attr shape = shape_of(node, type);
    IG_TRY(dtype_of(node, (ig_dtype)type->dtype, &dtype));
    IG_TRY(draw(node, IG_RANDOM_uniform, (ig_dtype)type->dtype, &shape, &x));
    IG_TRY(ig_onnx_build(node, IG_OP_lt, 2, (ig_value *[]){ x, node->inputs[0] }, NULL,
                         &is_drawn));
    node->outputs[0] = ig_make_cast(node->builder, is_drawn, dtype);
    return IG_OK;
}

/* Where a number between 0 and the sum of all weights falls among their running
 * sums. */
ig_status ig_onnx_import_multinomial(ig_onnx_node *node) {
    int64_t count = ig_onnx_attr_int(node, "sample_size", 1);
    ig_dtype dtype;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    IG_TRY(dtype_of(node, IG_DT_i32, &dtype));
    const ig_type *type = node->inputs[0]->type;
    if (type->rank != 2 || count < 0) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 must have rank 2");
    }
    ig_dim dims[] = { type->dims[0], ig_dim_const(node->import->module, count) };
    ig_attr shape = ig_attr_of_dims(node->import->module, dims, 2);
    ig_attr last[IG_reduce_attr_count] = { [IG_reduce_keep] = ig_attr_of_bool(true) };
    ig_attr along[IG_cumsum_attr_count] = { [IG_cumsum_axis] = ig_attr_of_int(1) };
    ig_attr right[IG_bucketize_attr_count] = { [IG_bucketize_right] =
                                                   ig_attr_of_bool(true) };
    int64_t axis = 1;
    ig_value *most, *p, *total, *x;
    last[IG_reduce_axes] = ig_attr_of_ints(node->import->module, &axis, 1);
    last[IG_reduce_op] = ig_attr_of_enum(IG_REDUCE_max);
    IG_TRY(ig_onnx_build(node, IG_OP_reduce, 1, node->inputs, last, &most));
    IG_TRY(ig_onnx_build2(node, IG_OP_sub, node->inputs[0], most, &p));
    IG_TRY(ig_onnx_build1(node, IG_OP_exp, p, &p));
    last[IG_reduce_op] = ig_attr_of_enum(IG_REDUCE_sum);
    IG_TRY(ig_onnx_build(node, IG_OP_reduce, 1, &p, last, &total));
    IG_TRY(ig_onnx_build(node, IG_OP_cumsum, 1, &p, along, &p));
    IG_TRY(draw(node, IG_RANDOM_uniform, (ig_dtype)type->dtype, &shape, &x));
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, total, &x));
    IG_TRY(ig_onnx_build(node, IG_OP_bucketize, 2, (ig_value *[]){ x, p }, right, &x));
    ig_value *classes = ig_make_dims(node->builder, &type->dims[1], 1);
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_sub, classes, 1, &classes));
    IG_TRY(ig_onnx_build2(node, IG_OP_min, x, classes, &x));
    node->outputs[0] = ig_make_cast(node->builder, x, dtype);
    return IG_OK;
}
