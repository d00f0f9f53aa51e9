/* Building typed ops, constants, weights, guards; copies of graphs and modules; hashes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build.h"

#include "tests/unit/unit.h"

static int error_count;

static void count_error(void *user, const ig_diagnostic *diagnostic) {
    (void)user;
    error_count += diagnostic->severity == IG_ERROR;
}

static ig_context context;
static ig_module *module;
static ig_graph *graph;
static ig_builder builder;
static const ig_type *matrix; /* f32[B, 4] */

static void start(void) {
    error_count = 0;
    context = (ig_context){ .limits = ig_limits_default, .diag.sink = count_error };
    module = ig_module_create(&context, "test");
    graph = ig_graph_create(module, "main", IG_STAGE_TENSOR);
    graph->is_entry = true;
    builder = ig_builder_at_end(&graph->body);
    ig_dim b = ig_dim_named(module, IG_STR("B"));
    matrix = ig_type_tensor(module, IG_DT_f32, 2, (ig_dim[]){ b, ig_dim_of(4) });
}

static void finish(void) {
    ig_module_destroy(module);
}

static ig_value *arg(void) {
    return ig_block_add_arg(&graph->body, matrix, "x");
}

static ig_weight *weight(const char *name) {
    static const float bytes[4] = { 1, 2, 3, 4 };
    const ig_type *type = ig_type_tensor(module, IG_DT_f32, 1,
                                         (ig_dim[]){ ig_dim_of(4) });
    ig_data data = { .type = type, .bytes = bytes, .size = sizeof(bytes) };
    return ig_module_add_weight(module, name, &data);
}

/* ---- building ---- */

TEST(types_are_inferred_at_once) {
    start();
    ig_value *x = arg();
    CHECK_PTR(ig_make1(&builder, IG_OP_relu, x)->type, matrix);
    ig_value *w = ig_make_weight(&builder, weight("w"));
    CHECK_PTR(ig_make2(&builder, IG_OP_add, x, w)->type, matrix);
    CHECK_PTR(ig_make_cast(&builder, x, IG_DT_f32), x);
    CHECK_INT(ig_make_cast(&builder, x, IG_DT_f16)->type->dtype, IG_DT_f16);
    ig_dim count = ig_type_count(module, matrix);
    CHECK_INT(ig_make_reshape(&builder, x, 1, &count)->type->rank, 1);
    finish();
}

TEST(failing_leaves_nothing_after) {
    start();
    ig_value *x = arg();
    const ig_type *odd = ig_type_tensor(module, IG_DT_f32, 1,
                                        (ig_dim[]){ ig_dim_of(3) });
    ig_value *y = ig_block_add_arg(&graph->body, odd, "y");
    ig_op *op = NULL;
    ig_op_spec spec = { .operands = (ig_value *[]){ x, y }, .operand_count = 2 };
    CHECK(ig_build(&builder, IG_OP_add, &spec, &op) == IG_INVALID);
    CHECK_INT(error_count, 1);
    CHECK_PTR(graph->body.first, NULL);
    CHECK_PTR(x->uses, NULL);
    CHECK_PTR(op, NULL);
    finish();
}

TEST(counts_are_those_of_the_row) {
    start();
    ig_value *x = arg();
    ig_op *op = NULL;
    ig_op_spec spec = { .operands = (ig_value *[]){ x, x, x }, .operand_count = 3 };
    CHECK_STATUS(ig_build(&builder, IG_OP_add, &spec, &op), IG_INVALID);
    spec.operand_count = 1;
    CHECK_STATUS(ig_build(&builder, IG_OP_add, &spec, &op), IG_INVALID);
    ig_value **many = IG_NEW_ARRAY(&module->arena, ig_value *, 65536);
    for (int i = 0; i < 65536; i++) {
        many[i] = x;
    }
    spec = (ig_op_spec){ .operands = many, .operand_count = 65536 };
    CHECK_STATUS(ig_build(&builder, IG_OP_concat, &spec, &op), IG_LIMIT);
    CHECK_PTR(graph->body.first, NULL);
    finish();
}

TEST(builders_place_before_and_take_locations) {
    start();
    ig_value *x = arg();
    builder.loc = ig_module_location(module, &(ig_location){ .node = "first" });
    ig_value *a = ig_make1(&builder, IG_OP_relu, x);
    ig_builder before = ig_builder_before(a->def);
    ig_value *b = ig_make1(&before, IG_OP_neg, x);
    CHECK_PTR(graph->body.first, b->def);
    CHECK_PTR(b->def->next, a->def);
    CHECK_TEXT(ig_op_location(b->def)->node, "first");
    finish();
}

TEST(constants_read_back) {
    start();
    int64_t i;
    double f;
    CHECK(ig_constant_i64(ig_make_i64(&builder, -5), &i) && i == -5);
    CHECK(!ig_constant_i64(ig_make_float(&builder, IG_DT_f32, 1.5), &i));
    CHECK(ig_constant_f64(ig_make_float(&builder, IG_DT_f16, 1.5), &f) && f == 1.5);
    CHECK(ig_constant_f64(ig_make_float(&builder, IG_DT_bf16, -2), &f) && f == -2);
    CHECK(ig_constant_f64(ig_make_i64(&builder, 7), &f) && f == 7);
    ig_value *w = ig_make_weight(&builder, weight("w"));
    CHECK(!ig_constant_f64(w, &f)); /* four elements */
    CHECK(ig_constant_of(w)->size == 16);
    CHECK(!ig_constant_of(arg()));
    CHECK(!ig_constant_of(NULL));
    finish();
}

TEST(kernel_scalars_are_scalars) {
    start();
    ig_graph *kernel = ig_graph_create(module, "k", IG_STAGE_KERNEL);
    ig_builder b = ig_builder_at_end(&kernel->body);
    CHECK_PTR(ig_make_i64(&b, 3)->type, ig_type_vector(module, IG_DT_i64, 1));
    int64_t i;
    CHECK(ig_constant_i64(&kernel->body.first->results[0], &i) && i == 3);
    finish();
}

TEST(one_op_for_each_weight_at_the_head) {
    start();
    ig_value *x = arg();
    (void)ig_make1(&builder, IG_OP_relu, x);
    ig_weight *a = weight("a"), *b = weight("b");
    ig_value *first = ig_make_weight(&builder, a);
    ig_value *second = ig_make_weight(&builder, b);
    CHECK_PTR(ig_make_weight(&builder, a), first);
    CHECK_PTR(graph->body.first, first->def);
    CHECK_PTR(first->def->next, second->def);
    ig_op_erase(second->def);
    second = ig_make_weight(&builder, b);
    CHECK_PTR(first->def->next, second->def);
    ig_op_erase(first->def);
    first = ig_make_weight(&builder, a);
    CHECK_PTR(graph->body.first, second->def);
    CHECK_PTR(second->def->next, first->def);
    finish();
}

TEST(guards_that_are_proved_are_not_made) {
    start();
    ig_dim b = ig_dim_named(module, IG_STR("B")), l = ig_dim_named(module, IG_STR("L"));
    ig_make_guard_equal(&builder, ig_dim_add(module, b, l), ig_dim_add(module, l, b),
                        NULL);
    CHECK_PTR(graph->body.first, NULL);
    ig_make_guard_equal(&builder, b, l, "batch");
    ig_op *guard = graph->body.first;
    CHECK_INT(guard->code, IG_OP_guard);
    CHECK(ig_dim_same(guard->attrs[IG_guard_left].as.dim, b));
    CHECK_TEXT(ig_attr_str(guard, IG_guard_message), "batch");
    finish();
}

/* ---- shapes as dims ---- */

static ig_value *concat(ig_value **values, uint32_t count) {
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(0) };
    return ig_make(&builder, IG_OP_concat, count, values, attrs);
}

TEST(shape_arithmetic_becomes_dims) {
    start();
    ig_value *shape = ig_make1(&builder, IG_OP_shape, arg());
    ig_dims_value out;
    CHECK(ig_value_dims(shape, &out));
    CHECK_INT(out.count, 2);
    CHECK(ig_dim_same(out.dims[0], matrix->dims[0]));
    CHECK(ig_dim_is(out.dims[1], 4));
    ig_value *twice = ig_make2(&builder, IG_OP_mul, shape, ig_make_i64(&builder, 2));
    CHECK(ig_value_dims(twice, &out));
    CHECK(ig_dim_same(out.dims[0], ig_dim_mul(module, ig_dim_of(2), matrix->dims[0])));
    ig_value *both[] = { twice, ig_make_dims(&builder, matrix->dims, 1) };
    CHECK(ig_value_dims(concat(both, 2), &out));
    CHECK_INT(out.count, 3);
    CHECK(ig_dim_same(out.dims[2], matrix->dims[0]));
    CHECK(!ig_value_dims(arg(), &out));
    CHECK(!ig_value_dims(NULL, &out));
    finish();
}

/* Every step uses the one before twice: 2^60 paths. */
TEST(shape_queries_are_never_exponential) {
    start();
    ig_value *v = ig_make1(&builder, IG_OP_size, arg());
    for (int i = 0; i < 60; i++) {
        v = ig_make2(&builder, IG_OP_add, v, v);
    }
    ig_dims_value out;
    CHECK(!ig_value_dims(v, &out));
    finish();
}

TEST(shape_queries_are_never_deep) {
    start();
    ig_value *v = ig_make1(&builder, IG_OP_size, arg());
    for (int i = 0; i < 100000; i++) {
        v = ig_make1(&builder, IG_OP_neg, v);
    }
    ig_dims_value out;
    CHECK(!ig_value_dims(v, &out));
    finish();
}

/* ---- copies ---- */

/* relu(x + w) inside an if, and the other branch x */
static void build_branch(ig_value *x, ig_value *w) {
    ig_value *condition = ig_block_add_arg(
        &graph->body, ig_type_tensor(module, IG_DT_bool, 0, NULL), "c");
    ig_op_spec spec = { .operands = &condition,
                        .operand_count = 1,
                        .result_types = &matrix,
                        .result_count = 1 };
    ig_op *branch = ig_make_op(&builder, IG_OP_if, &spec);
    ig_builder then = ig_builder_at_end(branch->bodies[0]);
    ig_value *sum = ig_make2(&then, IG_OP_add, x, w);
    ig_value *relu = ig_make1(&then, IG_OP_relu, sum);
    ig_make_yield(&then, &relu, 1);
    ig_builder other = ig_builder_at_end(branch->bodies[1]);
    ig_make_yield(&other, &x, 1);
    ig_make_ret(&builder, (ig_value *[]){ &branch->results[0] }, 1);
}

TEST(cloned_ops_map_their_results) {
    start();
    ig_value *x = arg(), *y = arg();
    build_branch(x, ig_make_weight(&builder, weight("w")));
    ig_op *branch = graph->body.last->prev;
    ig_map map;
    ig_map_init(&map, &module->arena);
    ig_map_set_id(&map, IG_MAP_PTR(x), y);
    ig_op *copy = ig_op_clone(branch, &graph->body, graph->body.last, &map);
    CHECK_PTR(copy->next, graph->body.last);
    CHECK_PTR(ig_map_get_id(&map, IG_MAP_PTR(&branch->results[0])), &copy->results[0]);
    CHECK_PTR(copy->bodies[1]->last->operands[0].value, y);
    CHECK_PTR(copy->bodies[0]->first->operands[0].value, y);
    CHECK_PTR(copy->bodies[0]->first->operands[1].value,
              branch->bodies[0]->first->operands[1].value);
    CHECK_PTR(copy->bodies[0]->last->operands[0].value,
              &copy->bodies[0]->first->next->results[0]);
    CHECK_PTR(copy->bodies[0]->parent, copy);
    finish();
}

TEST(inlining_gives_what_the_block_returned) {
    start();
    ig_value *x = arg();
    build_branch(x, ig_make_weight(&builder, weight("w")));
    ig_op *branch = graph->body.last->prev;
    ig_value *result;
    ig_block_inline(branch->bodies[0], &graph->body, branch, NULL, &result);
    CHECK_INT(result->def->code, IG_OP_relu);
    CHECK_PTR(result->def->next, branch);
    CHECK_PTR(result->def->block, &graph->body);
    ig_block_inline(branch->bodies[1], &graph->body, branch, NULL, &result);
    CHECK_PTR(result, x);
    ig_value_replace(&branch->results[0], x);
    ig_op_erase(branch);
    finish();
}

/* A graph's ops inlined into another: weights become that graph's own heads. */
TEST(inlining_between_graphs_keeps_use_chains_apart) {
    start();
    ig_value *x = arg();
    ig_value *sum = ig_make2(&builder, IG_OP_add, x,
                             ig_make_weight(&builder, weight("w")));
    ig_make_ret(&builder, &sum, 1);
    ig_graph *other = ig_graph_create(module, "other", IG_STAGE_TENSOR);
    ig_value *y = ig_block_add_arg(&other->body, matrix, "y"), *result;
    ig_op *add = sum->def;
    ig_map map;
    ig_map_init(&map, &module->arena);
    ig_map_set_id(&map, IG_MAP_PTR(x), y);
    ig_op *copy = ig_op_clone(add, &other->body, NULL, &map);
    result = copy->operands[1].value;
    CHECK_PTR(result->def->block, &other->body);
    CHECK_INT(result->def->code, IG_OP_weight);
    CHECK_PTR(other->body.first, result->def);
    CHECK_PTR(copy->operands[0].value, y);
    finish();
}

TEST(cloned_modules_are_alike_and_dense) {
    start();
    ig_value *x = arg();
    x->name = ig_module_string(module, IG_STR("input"));
    (void)ig_make1(&builder, IG_OP_relu, x); /* erased below: leaves holes */
    ig_value *w = ig_make_weight(&builder, weight("w"));
    ig_op_erase(graph->body.last);
    builder.loc = ig_module_location(module, &(ig_location){ .node = "branch" });
    build_branch(x, w);
    ig_symbol_at(module, 0)->min = 2;
    ig_module *copy = ig_module_clone(module);
    ig_graph *twin = ig_module_graph(copy, "main");
    CHECK(twin->is_entry && twin != graph);
    CHECK(ig_graph_hash(twin) == ig_graph_hash(graph));
    CHECK(twin->value_count < graph->value_count);
    CHECK_TEXT(twin->body.args[0]->name, "input");
    CHECK_TEXT(ig_op_location(twin->body.last)->node, "branch");
    CHECK_INT(ig_symbol_at(copy, 0)->min, 2);
    CHECK(ig_module_weight(copy, "w") != ig_module_weight(module, "w"));
    CHECK_INT(ig_module_weight(copy, "w")->data.size, 16);
    ig_module *old = module;
    module = copy;
    ig_module_destroy(old);
    CHECK_INT(ig_graph_hash(twin) == 0, 0); /* nothing of the old one is needed */
    ig_builder b = { .graph = twin, .block = &twin->body, .before = twin->body.last };
    CHECK_PTR(ig_make_weight(&b, ig_module_weight(copy, "w"))->def, twin->body.first);
    finish();
}

/* ---- hashes ---- */

static uint64_t hash_with(ig_opcode code, const char *name, bool is_swapped) {
    start();
    ig_value *x = arg(), *y = arg();
    x->name = name;
    (void)ig_make2(&builder, IG_OP_add, x, y);
    ig_op_erase(graph->body.last); /* ids move on */
    ig_value *v = ig_make2(&builder, code, is_swapped ? y : x, is_swapped ? x : y);
    builder.loc = ig_module_location(module, &(ig_location){ .node = name });
    ig_make_ret(&builder, &v, 1);
    uint64_t hash = ig_graph_hash(graph);
    finish();
    return hash;
}

TEST(hashes_see_structure_only) {
    uint64_t hash = hash_with(IG_OP_sub, "a", false);
    CHECK(hash == hash_with(IG_OP_sub, "b", false));
    CHECK(hash != hash_with(IG_OP_add, "a", false));
    CHECK(hash != hash_with(IG_OP_sub, "a", true));
}

static uint64_t hash_with_constant(float value, double axis) {
    start();
    ig_value *x = arg();
    ig_value *c = ig_make_float(&builder, IG_DT_f32, value);
    ig_value *v = ig_make2(&builder, IG_OP_add, x, c);
    ig_attr attrs[IG_softmax_attr_count] = { [IG_softmax_axis] =
                                                 ig_attr_of_int((int64_t)axis) };
    v = ig_make(&builder, IG_OP_softmax, 1, &v, attrs);
    ig_make_ret(&builder, &v, 1);
    uint64_t hash = ig_graph_hash(graph);
    finish();
    return hash;
}

TEST(hashes_see_constants_and_attributes) {
    uint64_t hash = hash_with_constant(1, 1);
    CHECK(hash == hash_with_constant(1, 1));
    CHECK(hash != hash_with_constant(2, 1));
    CHECK(hash != hash_with_constant(1, 0));
}

/* Text says `guard eq(…)` of both. */
TEST(what_is_absent_hashes_as_the_first_name) {
    uint64_t hashes[2];
    for (int is_given = 0; is_given < 2; is_given++) {
        start();
        ig_attr attrs[IG_guard_attr_count] = {
            [IG_guard_left] = ig_attr_of_dim(ig_dim_symbol(module, "B")),
            [IG_guard_right] = ig_attr_of_dim(ig_dim_symbol(module, "L")),
        };
        if (is_given) {
            attrs[IG_guard_test] = ig_attr_of_enum(0);
        }
        ig_op_spec spec = { .attrs = attrs };
        ig_make_op(&builder, IG_OP_guard, &spec);
        ig_make_ret(&builder, NULL, 0);
        hashes[is_given] = ig_graph_hash(graph);
        finish();
    }
    CHECK(hashes[0] == hashes[1]);
}

/* Heads have no place in the text, so their order does not count. */
static uint64_t hash_with_heads(bool is_swapped) {
    start();
    ig_weight *a = weight("a"), *b = weight("b");
    ig_value *first = ig_make_weight(&builder, is_swapped ? b : a);
    ig_value *second = ig_make_weight(&builder, is_swapped ? a : b);
    ig_value *v = ig_make2(&builder, IG_OP_sub, is_swapped ? second : first,
                           is_swapped ? first : second);
    ig_make_ret(&builder, &v, 1);
    uint64_t hash = ig_graph_hash(graph);
    finish();
    return hash;
}

TEST(hashes_know_weights_by_name) {
    CHECK(hash_with_heads(false) == hash_with_heads(true));
}

/* The jump crosses no frame but those of the builder. */
TEST(a_result_beyond_counting_unwinds_as_exhausted_memory) {
    jmp_buf recovery;
    start();
    ig_dim far = ig_dim_const(module, (int64_t)1 << 40);
    const ig_type *row = ig_type_tensor(module, IG_DT_f32, 2,
                                        (ig_dim[]){ ig_dim_of(1), far });
    const ig_type *column = ig_type_tensor(module, IG_DT_f32, 2,
                                           (ig_dim[]){ far, ig_dim_of(1) });
    ig_value *x = ig_block_add_arg(&graph->body, row, "x");
    ig_value *y = ig_block_add_arg(&graph->body, column, "y");
    volatile bool has_unwound = false;
    context.budget.recovery = &recovery;
    if (setjmp(recovery) == 0) {
        ig_make2(&builder, IG_OP_matmul, y, x);
    } else {
        has_unwound = true;
    }
    CHECK(has_unwound);
    CHECK_INT(error_count, 1);
    CHECK(!graph->body.first);
    context.budget.recovery = NULL;
    finish();
}
END_TEST

UNIT_SUITE(ir_build, a_result_beyond_counting_unwinds_as_exhausted_memory,
           types_are_inferred_at_once, failing_leaves_nothing_after,
           counts_are_those_of_the_row, builders_place_before_and_take_locations,
           constants_read_back, kernel_scalars_are_scalars,
           one_op_for_each_weight_at_the_head, guards_that_are_proved_are_not_made,
           shape_arithmetic_becomes_dims, shape_queries_are_never_exponential,
           shape_queries_are_never_deep, cloned_ops_map_their_results,
           inlining_gives_what_the_block_returned,
           inlining_between_graphs_keeps_use_chains_apart,
           cloned_modules_are_alike_and_dense, hashes_see_structure_only,
           hashes_see_constants_and_attributes, what_is_absent_hashes_as_the_first_name,
           hashes_know_weights_by_name)
