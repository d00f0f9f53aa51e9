/* Graph editing: use chains, placing, erasing, order, attributes, types, modules.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/ops.h"
#include "ir/semantics/scalar.h"
#include "ir/target.h"

#include "tests/unit/unit.h"

static ig_context context;
static ig_module *module;
static ig_graph *graph;
static const ig_type *vector;

static void start(void) {
    context = (ig_context){ .limits = ig_limits_default };
    module = ig_module_create(&context, "test");
    graph = ig_graph_create(module, "main", IG_STAGE_TENSOR);
    vector = ig_type_tensor(module, IG_DT_f32, 1, (ig_dim[]){ ig_dim_of(4) });
}

static void finish(void) {
    ig_module_destroy(module);
}

static ig_op *make_in(ig_block *block, ig_opcode code, ig_value *x, ig_value *y) {
    ig_value *operands[] = { x, y };
    const ig_type *types[] = { vector };
    ig_op_spec spec = { .operands = operands,
                        .operand_count = y   ? 2
                                         : x ? 1
                                             : 0,
                        .result_types = types,
                        .result_count = 1 };
    ig_op *op = ig_op_create(graph, code, &spec);
    ig_op_insert(op, block, NULL);
    return op;
}

static ig_op *make(ig_opcode code, ig_value *x, ig_value *y) {
    return make_in(&graph->body, code, x, y);
}

static void end_block(ig_block *block, ig_opcode code, ig_value *value) {
    ig_op_spec spec = { .operands = &value, .operand_count = value != NULL };
    ig_op_insert(ig_op_create(graph, code, &spec), block, NULL);
}

static int use_count(const ig_value *value) {
    int count = 0;
    for (const ig_use *use = value->uses; use; use = use->next) {
        CHECK_PTR(use->value, value);
        CHECK_PTR(*use->link, use);
        count++;
    }
    return count;
}

static ig_value *arg(void) {
    return ig_block_add_arg(&graph->body, vector, "x");
}

/* ---- edits ---- */

TEST(uses_are_chained) {
    start();
    ig_value *x = arg();
    ig_op *a = make(IG_OP_add, x, x);
    ig_op *r = make(IG_OP_relu, x, NULL);
    CHECK_INT(use_count(x), 3);
    ig_use_set(&a->operands[1], &r->results[0]);
    CHECK_INT(use_count(x), 2);
    CHECK(ig_value_has_one_use(&r->results[0]));
    CHECK(!ig_value_has_one_use(x));
    finish();
}

TEST(replacing_moves_every_use) {
    start();
    ig_value *x = arg(), *y = arg();
    ig_op *a = make(IG_OP_add, x, x);
    ig_op *m = make(IG_OP_mul, x, y);
    ig_value_replace(x, y);
    CHECK_INT(use_count(x), 0);
    CHECK_INT(use_count(y), 4);
    CHECK_PTR(a->operands[1].value, y);
    CHECK_PTR(m->operands[0].value, y);
    ig_value_replace(y, y);
    CHECK_INT(use_count(y), 4);
    finish();
}

TEST(replacing_asserts_equal_types) {
    start();
    ig_value *x = arg();
    ig_value *y = ig_block_add_arg(&graph->body,
                                   ig_type_with_dtype(module, vector, IG_DT_f64), "y");
    ig_value_replace(x, y);
    finish();
}

TEST(erasing_a_live_op_asserts) {
    start();
    ig_op *r = make(IG_OP_relu, arg(), NULL);
    (void)make(IG_OP_relu, &r->results[0], NULL);
    ig_op_erase(r);
    finish();
}

TEST(erasing_unlinks_bodies_too) {
    start();
    ig_value *x = arg();
    ig_value *condition = ig_block_add_arg(
        &graph->body, ig_type_tensor(module, IG_DT_bool, 0, NULL), "c");
    ig_op *branch = make(IG_OP_if, condition, NULL);
    CHECK_INT(branch->body_count, 2);
    ig_op *inner = make_in(branch->bodies[0], IG_OP_relu, x, NULL);
    end_block(branch->bodies[0], IG_OP_yield, &inner->results[0]);
    end_block(branch->bodies[1], IG_OP_yield, x);
    CHECK_INT(use_count(x), 2);
    ig_op_erase(branch);
    CHECK_INT(use_count(x), 0);
    CHECK_INT(use_count(condition), 0);
    CHECK_INT(branch->code, IG_OP_ERASED);
    CHECK_INT(inner->code, IG_OP_ERASED);
    CHECK_PTR(graph->body.first, NULL);
    finish();
}

TEST(placing_keeps_the_list_whole) {
    start();
    ig_value *x = arg();
    ig_op *a = make(IG_OP_relu, x, NULL), *b = make(IG_OP_neg, x, NULL);
    ig_op *c = make(IG_OP_abs, x, NULL);
    CHECK(ig_op_is_before(a, b) && ig_op_is_before(a, c) && ig_op_is_before(b, c));
    CHECK(!ig_op_is_before(b, a) && !ig_op_is_before(c, a) && !ig_op_is_before(b, b));
    ig_op_move(c, &graph->body, a);
    CHECK_PTR(graph->body.first, c);
    CHECK_PTR(graph->body.last, b);
    CHECK(ig_op_is_before(c, a) && !ig_op_is_before(b, c));
    ig_op_move(c, &graph->body, NULL);
    CHECK_PTR(graph->body.last, c);
    CHECK_PTR(c->prev, b);
    ig_op_move(b, &graph->body, b);
    CHECK_PTR(a->next, b);
    ig_op_erase(b);
    CHECK_PTR(a->next, c);
    CHECK_PTR(c->prev, a);
    finish();
}

TEST(order_is_right_at_every_distance) {
    start();
    enum { COUNT = 9 };
    ig_op *ops[COUNT];
    ig_value *x = arg();
    for (int i = 0; i < COUNT; i++) {
        ops[i] = make(IG_OP_relu, x, NULL);
    }
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            CHECK_INT(ig_op_is_before(ops[i], ops[k]), i < k);
        }
    }
    finish();
}

TEST(arguments_are_numbered) {
    start();
    ig_value *args[9];
    for (int i = 0; i < 9; i++) {
        args[i] = arg();
    }
    ig_block_remove_arg(&graph->body, 3);
    ig_block_remove_arg(&graph->body, 0);
    CHECK_INT(graph->body.arg_count, 7);
    CHECK_PTR(graph->body.args[2], args[4]);
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        CHECK_INT(graph->body.args[i]->index, i);
    }
    ig_value *last = arg();
    CHECK_INT(last->index, 7);
    CHECK_PTR(graph->body.args[7], last);
    CHECK_PTR(graph->body.args[6], args[8]);
    finish();
}

TEST(ids_are_dense) {
    start();
    ig_value *x = arg();
    CHECK_INT(x->id, 0);
    ig_op *a = make(IG_OP_relu, x, NULL), *b = make(IG_OP_relu, x, NULL);
    CHECK_INT(a->results[0].id, 1);
    CHECK_INT(b->results[0].id, 2);
    CHECK_INT(b->id, a->id + 1);
    CHECK_INT(graph->value_count, 3);
    finish();
}

TEST(outside_means_visible_at_the_start) {
    start();
    ig_value *x = arg();
    ig_value *condition = ig_block_add_arg(
        &graph->body, ig_type_tensor(module, IG_DT_bool, 0, NULL), "c");
    ig_op *before = make(IG_OP_relu, x, NULL);
    ig_op *branch = make(IG_OP_if, condition, NULL);
    ig_op *after = make(IG_OP_relu, x, NULL);
    ig_op *inner = make_in(branch->bodies[0], IG_OP_relu, x, NULL);
    const ig_block *body = branch->bodies[0];
    CHECK(ig_value_is_outside(x, body));
    CHECK(ig_value_is_outside(&before->results[0], body));
    CHECK(!ig_value_is_outside(&after->results[0], body));
    CHECK(!ig_value_is_outside(&branch->results[0], body));
    CHECK(!ig_value_is_outside(&inner->results[0], body));
    CHECK(!ig_value_is_outside(&inner->results[0], branch->bodies[1]));
    CHECK(!ig_value_is_outside(x, &graph->body));
    finish();
}

/* ---- attributes and types ---- */

TEST(equal_payloads_share_a_pointer) {
    start();
    int64_t ints[] = { 1, 2, 3 };
    ig_attr a = ig_attr_of_ints(module, ints, 3);
    ig_attr b = ig_attr_of_ints(module, (int64_t[]){ 1, 2, 3 }, 3);
    CHECK_PTR(a.as.ints, b.as.ints);
    CHECK(ig_attr_equal(&a, &b));
    b = ig_attr_of_ints(module, ints, 2);
    CHECK(!ig_attr_equal(&a, &b));
    b = ig_attr_of_dims(module, (ig_dim[]){ ig_dim_of(1), ig_dim_of(2), ig_dim_of(3) },
                        3);
    CHECK(!ig_attr_equal(&a, &b));
    a = ig_attr_of_ints(module, NULL, 0);
    CHECK(a.as.ints && a.count == 0);
    a = ig_attr_of_str(module, IG_STR("gemm"));
    b = ig_attr_of_sym(module, "gemm");
    CHECK_PTR(a.as.str, b.as.str);
    CHECK(!ig_attr_equal(&a, &b));
    a = ig_attr_of_float(0.0);
    b = ig_attr_of_float(-0.0);
    CHECK(!ig_attr_equal(&a, &b));
    finish();
}

TEST(constants_are_equal_by_content) {
    start();
    float one[] = { 1, 2, 3, 4 }, two[] = { 1, 2, 3, 4 };
    ig_data data = { .type = vector, .bytes = one, .size = sizeof(one) };
    ig_attr a = ig_attr_of_data(module, &data);
    data.bytes = two;
    ig_attr b = ig_attr_of_data(module, &data);
    CHECK(ig_attr_equal(&a, &b));
    two[3] = 5;
    CHECK(!ig_attr_equal(&a, &b));
    data.is_splat = true; /* only the first element lies there */
    a = ig_attr_of_data(module, &data);
    data.bytes = &one[0];
    b = ig_attr_of_data(module, &data);
    CHECK(ig_attr_equal(&a, &b));
    finish();
}

TEST(attributes_by_slot) {
    start();
    ig_value *x = arg();
    ig_op *cast = make(IG_OP_cast, x, NULL);
    CHECK(!ig_attr_is_set(cast, IG_cast_saturate));
    CHECK_INT(ig_attr_int(cast, IG_cast_saturate, 7), 7);
    ig_attr_set(cast, IG_cast_saturate, ig_attr_of_bool(true));
    CHECK_INT(ig_attr_int(cast, IG_cast_saturate, 7), 1);
    ig_attr_set(cast, IG_cast_to, ig_attr_of_dtype(IG_DT_f16));
    CHECK_INT(ig_attr_int(cast, IG_cast_to, 0), IG_DT_f16);
    ig_op *norm = make(IG_OP_layer_norm, x, NULL);
    CHECK(ig_attr_float(norm, IG_layer_norm_epsilon, 0.5) == 0.5);
    finish();
}

TEST(types_are_interned) {
    start();
    ig_dim b = ig_dim_named(module, IG_STR("B"));
    const ig_type *one = ig_type_tensor(module, IG_DT_f32, 2,
                                        (ig_dim[]){ b, ig_dim_of(3) });
    CHECK_PTR(ig_type_tensor(module, IG_DT_f32, 2, (ig_dim[]){ b, ig_dim_of(3) }), one);
    CHECK(ig_type_tensor(module, IG_DT_f32, 2, (ig_dim[]){ ig_dim_of(3), b }) != one);
    CHECK(ig_type_buffer(module, IG_DT_f32, 2, (ig_dim[]){ b, ig_dim_of(3) }) != one);
    CHECK(!ig_type_is_static(one) && ig_type_is_static(vector));
    CHECK(ig_dim_same(ig_type_count(module, one), ig_dim_mul(module, ig_dim_of(3), b)));
    CHECK(ig_dim_is(ig_type_count(module, ig_type_tensor(module, IG_DT_i64, 0, NULL)),
                    1));
    CHECK_PTR(ig_type_with_dims(module, one, 1, (ig_dim[]){ ig_dim_of(4) }), vector);
    CHECK_PTR(ig_type_with_dtype(module, one, IG_DT_f32), one);
    const ig_type *list = ig_type_host(module, IG_SEQUENCE, one);
    CHECK_PTR(ig_type_host(module, IG_SEQUENCE, one), list);
    CHECK(ig_type_host(module, IG_OPTIONAL, one) != list);
    CHECK_PTR(ig_type_vector(module, IG_DT_f32, 16),
              ig_type_vector(module, IG_DT_f32, 16));
    ig_rows halves = { .format = IG_ROW_F16 }, singles = { .format = IG_ROW_F32 };
    CHECK(ig_type_table(module, IG_DT_i8, halves, ig_dim_of(10), ig_dim_of(4)) !=
          ig_type_table(module, IG_DT_i8, singles, ig_dim_of(10), ig_dim_of(4)));
    CHECK(ig_type_table(module, IG_DT_i8, halves, ig_dim_of(10), ig_dim_of(4)) ==
          ig_type_table(module, IG_DT_i8, halves, ig_dim_of(10), ig_dim_of(4)));
    finish();
}

TEST(types_of_any_rank) {
    start();
    ig_dim dims[100] = { 0 };
    const ig_type *wide = ig_type_tensor(module, IG_DT_f32, 100, dims);
    CHECK_PTR(ig_type_tensor(module, IG_DT_f32, 100, dims), wide);
    CHECK(ig_type_tensor(module, IG_DT_f32, 99, dims) != wide);
    finish();
}

TEST(element_types) {
    ig_dtype dtype;
    CHECK(ig_dtype_parse(IG_STR("f8e4m3fn"), &dtype) && dtype == IG_DT_f8e4m3fn);
    CHECK(!ig_dtype_parse(IG_STR("f33"), &dtype));
    CHECK(ig_dtype_from_onnx(7, &dtype) && dtype == IG_DT_i64);
    CHECK(!ig_dtype_from_onnx(14, &dtype)); /* complex64 */
    CHECK(ig_dtype_is_float(IG_DT_bf16) && !ig_dtype_is_float(IG_DT_bool));
    CHECK(ig_dtype_is_int(IG_DT_u2) && !ig_dtype_is_int(IG_DT_bool));
    int64_t bytes;
    CHECK(ig_dtype_bytes(IG_DT_i4, 3, &bytes) && bytes == 2);
    CHECK(ig_dtype_bytes(IG_DT_u2, 5, &bytes) && bytes == 2);
    CHECK(ig_dtype_bytes(IG_DT_f64, 3, &bytes) && bytes == 24);
    CHECK(!ig_dtype_bytes(IG_DT_f64, INT64_MAX / 4, &bytes));
    CHECK(ig_dtype_bytes(IG_DT_str, 3, &bytes) && bytes == 24); /* addresses */
    CHECK(!ig_dtype_bytes(IG_DT_f32, -1, &bytes));
}

/* ---- table and module ---- */

TEST(op_table) {
    ig_opcode code;
    CHECK(ig_opcode_parse(IG_STR("matmul"), &code) && code == IG_OP_matmul);
    CHECK(!ig_opcode_parse(IG_STR("matmult"), &code));
    CHECK_INT(ig_ops[IG_OP_matmul].attr_count, 2);
    CHECK_TEXT(ig_ops[IG_OP_softmax].expand, "softmax");
    CHECK(!ig_ops[IG_OP_matmul].expand);
    CHECK_TEXT(ig_ops[IG_OP_reduce].attrs[IG_reduce_op].names[IG_REDUCE_logsumexp],
               "logsumexp");
    CHECK(ig_ops[IG_OP_add].traits & IG_COMMUTE);
    CHECK(!(ig_ops[IG_OP_sub].traits & IG_COMMUTE));
    for (int i = 0; i < IG_OP_COUNT; i++) {
        const ig_op_info *info = &ig_ops[i];
        CHECK(info->name && info->stages && info->operand_min <= info->operand_max);
        for (int k = 0; k < info->attr_count; k++) {
            CHECK(info->attrs[k].name);
            bool has_names = info->attrs[k].names != NULL;
            CHECK(info->attrs[k].kind != IG_ATTR_ENUM || has_names);
            CHECK(info->attrs[k].kind == IG_ATTR_ENUM ||
                  info->attrs[k].kind == IG_ATTR_INTS || !has_names);
        }
        CHECK(!info->attrs[info->attr_count].name);
    }
}

/* Whoever adds an op of kernels says how a thread runs it. */
TEST(kernel_ops_have_their_columns) {
    for (int code = 0; code < IG_OP_COUNT; code++) {
        const ig_kernel_info *kernel = &ig_kernel_infos[code];
        bool is_of_kernels = (ig_ops[code].stages & IG_STAGE_KERNEL) != 0;
        bool is_run = kernel->run || ig_scalar_is_row((ig_opcode)code);
        CHECK(!is_of_kernels || is_run);
        CHECK(is_of_kernels || (!kernel->run && !kernel->check && !kernel->operands));
        CHECK(!kernel->operands == !kernel->results);
        CHECK(kernel->operands || !kernel->check);
    }
}

TEST(targets_by_name) {
    const ig_target *v3 = ig_target_find(IG_STR("cpu:v3"));
    CHECK_PTR(ig_target_find(IG_STR("v3")), v3);
    CHECK_INT(v3->vector_bytes, 32);
    CHECK(v3->has_fma && !v3->has_vnni);
    CHECK(!ig_target_find(IG_STR("v2"))->has_fma);
    CHECK(ig_target_find(IG_STR("v4-vnni"))->has_vnni);
    CHECK_INT(ig_target_find(IG_STR("cuda:sm_90a"))->family, IG_FAMILY_GPU);
    CHECK(!ig_target_find(IG_STR("sm_90a")));
    CHECK(!ig_target_find(IG_STR("cpu:v5")) && !ig_target_find(IG_STR("")));
    for (size_t i = 0; ig_targets[i]; i++) {
        CHECK_PTR(ig_target_find(ig_str_of(ig_targets[i]->name)), ig_targets[i]);
        CHECK(ig_str_ends(ig_str_of(ig_targets[i]->name), ig_targets[i]->level));
    }
}

TEST(names_of_graphs_and_weights_are_unique) {
    start();
    ig_data data = { .type = vector, .bytes = "0123456789abcdef", .size = 16 };
    ig_weight *one = ig_module_add_weight(module, "w", &data);
    ig_weight *two = ig_module_add_weight(module, "w", &data);
    CHECK(strcmp(one->name, two->name) != 0);
    CHECK_PTR(ig_module_weight(module, "w"), one);
    CHECK_PTR(ig_module_weight(module, two->name), two);
    CHECK(!ig_module_weight(module, "v"));
    ig_graph *other = ig_graph_create(module, "main", IG_STAGE_KERNEL);
    CHECK(strcmp(other->name, "main") != 0);
    CHECK_PTR(ig_module_graph(module, "main"), graph);
    ig_graph_destroy(graph);
    CHECK(!ig_module_graph(module, "main"));
    CHECK_INT(module->graphs.count, 1);
    graph = ig_graph_create(module, "main", IG_STAGE_TENSOR);
    CHECK_TEXT(graph->name, "main");
    CHECK_PTR(ig_module_graph(module, "main"), graph);
    finish();
}

TEST(locations_own_their_text) {
    start();
    char name[] = "conv1";
    uint32_t loc = ig_module_location(module,
                                      &(ig_location){ .node = name, .node_id = 12 });
    name[0] = 'X';
    ig_op *op = make(IG_OP_relu, arg(), NULL);
    CHECK(!ig_op_location(op)->node);
    op->loc = loc;
    CHECK_TEXT(ig_op_location(op)->node, "conv1");
    CHECK_INT(ig_op_location(op)->node_id, 12);
    op->loc = 99;
    CHECK(!ig_op_location(op)->node);
    finish();
}

static void add_asserting(TCase *tcase) {
#ifndef NDEBUG
    tcase_add_test_raise_signal(tcase, replacing_asserts_equal_types, 6);
    tcase_add_test_raise_signal(tcase, erasing_a_live_op_asserts, 6);
#else
    (void)tcase;
    (void)replacing_asserts_equal_types;
    (void)erasing_a_live_op_asserts;
#endif
}

UNIT_SUITE_WITH(ir_graph, add_asserting, uses_are_chained, replacing_moves_every_use,
                erasing_unlinks_bodies_too, placing_keeps_the_list_whole,
                order_is_right_at_every_distance, arguments_are_numbered, ids_are_dense,
                outside_means_visible_at_the_start, equal_payloads_share_a_pointer,
                constants_are_equal_by_content, attributes_by_slot, types_are_interned,
                types_of_any_rank, element_types, op_table,
                kernel_ops_have_their_columns, targets_by_name,
                names_of_graphs_and_weights_are_unique, locations_own_their_text)
