/* The vocabulary that builds ops: what it leaves out, what it guards, how it fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/extent.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static ig_context context;
static ig_module *module;
static ig_graph *graph;
static ig_builder builder;
static char failure[256];
static int error_count;

static ig_status keep_failure(void *user, ig_status status, const char *text) {
    (void)user;
    snprintf(failure, sizeof(failure), "%s", text);
    return status;
}

static const char *explain(void *user, const char *what) {
    (void)user;
    return what;
}

static const ig_expr_source source = { keep_failure, explain };

static void count_error(void *user, const ig_diagnostic *diagnostic) {
    (void)user;
    error_count += diagnostic->severity == IG_ERROR;
}

static ig_expr start(void) {
    failure[0] = 0;
    error_count = 0;
    context = (ig_context){ .limits = ig_limits_default, .diag.sink = count_error };
    module = ig_module_create(&context, "test");
    graph = ig_graph_create(module, "main", IG_STAGE_TENSOR);
    graph->is_entry = true;
    builder = ig_builder_at_end(&graph->body);
    return ig_expr_for(&builder, &source, NULL);
}

static void finish(void) {
    ig_module_destroy(module);
}

/* f32 [first, 4]; `first` names a symbol, or is NULL for an extent of 3. */
static ig_value *input(const char *first) {
    ig_dim dims[] = { first ? ig_dim_named(module, ig_str_of(first)) : ig_dim_of(3),
                      ig_dim_of(4) };
    return ig_block_add_arg(&graph->body, ig_type_tensor(module, IG_DT_f32, 2, dims),
                            first ? first : "x");
}

static int count_ops(ig_opcode code) {
    int count = 0;
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        count += op->code == code;
    }
    return count;
}

TEST(a_generated_function_fills_operands_and_attributes) {
    ig_expr e = start();
    ig_value *x = input("A");
    ig_value *y = ig_build_softmax(&e, x, (ig_softmax_attrs){ .axis = 1, .log = true });
    CHECK_INT(y->def->code, IG_OP_softmax);
    CHECK_INT(ig_attr_int(y->def, IG_softmax_axis, -1), 1);
    CHECK_INT(ig_attr_int(y->def, IG_softmax_log, 0), 1);
    y = ig_build_reduce(&e, x, NULL, (ig_reduce_attrs){ .axes = IG_INTS(1) });
    CHECK_INT(y->def->operand_count, 1);
    CHECK(!ig_attr_is_set(y->def, IG_reduce_keep));
    CHECK_INT(y->type->rank, 1);
    y = ig_build_unique(&e, x, (ig_unique_attrs){ .axis = IG_SET(0) });
    CHECK(ig_attr_is_set(y->def, IG_unique_axis));
    finish();
}
END_TEST

TEST(a_generated_function_gives_the_op_with_results_and_bodies) {
    ig_expr e = start();
    ig_value *x = input("A");
    ig_op_spec sorted = { .operands = &x, .operand_count = 1, .result_count = 2 };
    ig_op *sort = ig_build_sort_op(&e, &sorted,
                                   (ig_sort_attrs){ .axis = 1, .descending = true });
    CHECK_INT(sort->result_count, 2);
    CHECK_INT(sort->results[1].type->dtype, IG_DT_i64);
    CHECK_INT(ig_attr_int(sort, IG_sort_descending, 0), 1);
    ig_value *condition = ig_expr_number(&e, IG_DT_bool, 1);
    ig_op_spec chosen = { .operands = &condition,
                          .operand_count = 1,
                          .result_types = &x->type,
                          .result_count = 1,
                          .body_count = 2 };
    ig_op *branch = ig_build_if_op(&e, &chosen);
    CHECK_INT(branch->body_count, 2);
    CHECK(branch->results[0].type == x->type);
    finish();
}
END_TEST

TEST(attributes_that_were_read_make_the_same_op) {
    ig_expr e = start();
    ig_value *x = input("A");
    ig_value *first = ig_build_reduce(
        &e, x, NULL, (ig_reduce_attrs){ .op = IG_REDUCE_max, .axes = IG_INTS(1) });
    ig_value *again = ig_build_reduce(&e, x, NULL, ig_reduce_attrs_of(first->def));
    ig_value *unique = ig_build_unique(&e, x, (ig_unique_attrs){ .axis = IG_SET(0) });
    ig_value *flat = ig_build_unique(&e, x, (ig_unique_attrs){ .order = 1 });
    ig_dim none[1];
    ig_dims_attrs empty = { .values = { none, 0 } };
    ig_value *dims = ig_build_dims(&e, empty);
    for (uint32_t slot = 0; slot < IG_reduce_attr_count; slot++) {
        CHECK(ig_attr_equal(&first->def->attrs[slot], &again->def->attrs[slot]));
    }
    CHECK(ig_unique_attrs_of(unique->def).axis.is_set); /* 0 is not absent */
    CHECK(!ig_unique_attrs_of(flat->def).axis.is_set);
    CHECK(!ig_reduce_attrs_of(ig_build_reduce(&e, x, NULL, (ig_reduce_attrs){ 0 })->def)
               .axes.items);
    CHECK(ig_dims_attrs_of(dims->def).values.items); /* none of them, but there */
    CHECK_INT(ig_dims_attrs_of(dims->def).values.count, 0);
    finish();
}
END_TEST

TEST(movement_that_changes_nothing_gives_its_operand) {
    ig_expr e = start();
    ig_value *x = input("A");
    CHECK_PTR(ig_expr_reshape(&e, x, 2, x->type->dims), x);
    CHECK_PTR(ig_expr_expand(&e, x, 2, x->type->dims), x);
    CHECK_PTR(ig_expr_transpose(&e, x, (int64_t[]){ 0, 1 }), x);
    CHECK_PTR(ig_expr_slice(&e, x, 0, ig_dim_of(0), x->type->dims[0], 1), x);
    CHECK_PTR(ig_expr_concat(&e, 0, &x, 1), x);
    CHECK_PTR(ig_expr_cast(&e, x, IG_DT_f32), x);
    CHECK_PTR(ig_expr_reduce(&e, IG_REDUCE_sum, x, (int64_t[]){ 0 }, 0, false), x);
    CHECK_PTR(graph->body.first, NULL);
    finish();
}
END_TEST

TEST(axes_are_merged_moved_and_taken_away) {
    ig_expr e = start();
    ig_value *x = input(NULL);
    CHECK_INT(ig_dim_value(ig_expr_merge_axes(&e, x, 0, 1)->type->dims[0]), 12);
    ig_value *y = ig_expr_unsqueeze(&e, x, 1);
    CHECK_INT(y->type->rank, 3);
    CHECK_INT(ig_dim_value(y->type->dims[1]), 1);
    CHECK_INT(ig_dim_value(ig_expr_move_axis(&e, y, 2, 0)->type->dims[0]), 4);
    CHECK_INT(ig_expr_select(&e, x, 1, ig_dim_of(2))->type->rank, 1);
    CHECK_PTR(ig_expr_unsqueeze(&e, x, 3), NULL);
    CHECK_INT(e.status, IG_INVALID);
    CHECK_STR(ig_str_of(failure), "axis 3 is outside of a tensor of rank 2");
    finish();
}
END_TEST

TEST(a_vector_lies_along_an_axis_that_there_is) {
    ig_expr e = start();
    ig_value *x = ig_expr_iota(&e, IG_DT_i64, ig_dim_of(3));
    CHECK_INT(ig_dim_value(ig_expr_along(&e, x, 1, 2)->type->dims[1]), 3);
    CHECK_PTR(ig_expr_along(&e, x, 0, 0), NULL);
    CHECK_INT(e.status, IG_INVALID);
    finish();
}
END_TEST

TEST(the_first_failure_sticks) {
    ig_expr e = start();
    ig_value *x = input("A");
    CHECK_PTR(ig_expr_fail(&e, IG_UNSUPPORTED, "%s", "one"), NULL);
    CHECK_PTR(ig_expr_fail(&e, IG_INVALID, "%s", "two"), NULL);
    CHECK_STR(ig_str_of(failure), "one");
    CHECK_INT(e.status, IG_UNSUPPORTED);
    CHECK_PTR(ig_build_relu(&e, x), NULL);
    CHECK_PTR(graph->body.first, NULL);
    finish();
}
END_TEST

TEST(a_null_operand_gives_null_without_a_failure) {
    ig_expr e = start();
    ig_value *x = input("A");
    CHECK_PTR(ig_build_add(&e, x, NULL), NULL);
    CHECK_PTR(ig_expr_reshape(&e, NULL, 0, NULL), NULL);
    CHECK_INT(e.status, IG_OK);
    CHECK_INT(error_count, 0);
    finish();
}
END_TEST

TEST(operands_that_may_not_broadcast_are_guarded) {
    ig_expr e = start();
    ig_value *x = input("A"), *y = input("B"), *z = input("A");
    CHECK(ig_build_add(&e, x, z) != NULL);
    CHECK_INT(count_ops(IG_OP_guard), 0);
    CHECK(ig_build_add(&e, x, y) != NULL);
    CHECK_INT(count_ops(IG_OP_guard), 1);
    finish();
}
END_TEST

TEST(code_that_is_right_by_construction_makes_no_guards_of_its_own) {
    start();
    ig_expr sure = ig_expr_of(&builder);
    CHECK(ig_build_add(&sure, input("A"), input("B")) != NULL);
    CHECK_INT(count_ops(IG_OP_guard), 0);
    finish();
}
END_TEST

TEST(extents_that_provably_differ_are_an_error_in_the_entry_block_only) {
    ig_expr e = start();
    ig_expr_guard_equal(&e, ig_dim_of(3), ig_dim_of(4), "three is four");
    CHECK_INT(e.status, IG_INVALID);
    CHECK_STR(ig_str_of(failure), "three is four");
    e = ig_expr_for(&builder, &source, NULL);
    ig_value *cond = ig_expr_number(&e, IG_DT_bool, 1);
    ig_op_spec spec = { .operands = &cond, .operand_count = 1, .body_count = 2 };
    ig_op *branch = ig_expr_op(&e, IG_OP_if, &spec);
    builder = ig_builder_at_end(branch->bodies[0]);
    ig_expr_guard_equal(&e, ig_dim_of(3), ig_dim_of(4), "three is four");
    CHECK_INT(e.status, IG_OK);
    CHECK_INT(branch->bodies[0]->first->code, IG_OP_guard);
    finish();
}
END_TEST

TEST(a_product_of_inner_extents_that_differ_is_refused) {
    ig_expr e = start();
    ig_value *x = input(NULL), *y = input(NULL);
    CHECK(ig_expr_matmul_transposed(&e, x, y) != NULL);
    CHECK_PTR(ig_expr_matmul(&e, x, y), NULL);
    CHECK_INT(e.status, IG_INVALID);
    finish();
}
END_TEST

TEST(trying_is_silent) {
    start();
    ig_expr e = ig_expr_trying(&builder);
    ig_value *x = input(NULL);
    CHECK_PTR(
        ig_build_reshape(&e, x, NULL, (ig_reshape_attrs){ .to = { x->type->dims, 1 } }),
        NULL);
    CHECK_INT(error_count, 0);
    CHECK(e.status != IG_OK);
    finish();
}
END_TEST

TEST(constants_keep_every_value) {
    ig_expr e = start();
    int64_t whole;
    double real;
    ig_value *max = ig_expr_integer(&e, IG_DT_i64, INT64_MAX);
    CHECK(ig_constant_i64(max, &whole) && whole == INT64_MAX);
    CHECK(ig_constant_i64(ig_expr_integer(&e, IG_DT_bool, 7), &whole));
    CHECK_INT(whole, 1);
    CHECK(ig_constant_f64(ig_expr_number(&e, IG_DT_f16, 0.5), &real));
    CHECK(real == 0.5);
    CHECK_INT(ig_expr_ints(&e, (int64_t[]){ 1, 2, 3 }, 3)->def->code, IG_OP_const);
    CHECK_INT(ig_expr_ints(&e, NULL, 0)->type->rank, 1);
    ig_dim a = ig_dim_named(module, IG_STR("A"));
    CHECK_INT(ig_expr_dim(&e, a, IG_DT_i64)->type->rank, 0);
    finish();
}
END_TEST

TEST(an_axis_that_is_not_there_is_a_failure_and_has_extent_1) {
    ig_expr e = start();
    ig_value *x = input(NULL);
    CHECK(ig_dim_is(ig_expr_extent(&e, x, 1), 4) && e.status == IG_OK);
    CHECK(ig_dim_is(ig_expr_extent(&e, NULL, 7), 1) && e.status == IG_OK);
    CHECK(ig_dim_is(ig_expr_extent(&e, x, UINT32_MAX), 1));
    CHECK_STATUS(e.status, IG_INVALID);
    CHECK_MSG(strstr(failure, "rank 2, expected 4294967296 or more"), "%s", failure);
    CHECK(ig_dim_is(ig_expr_extent_of(&e, x->type, 2), 1));
    finish();
}
END_TEST

UNIT_SUITE(ir_expr, an_axis_that_is_not_there_is_a_failure_and_has_extent_1,
           a_generated_function_fills_operands_and_attributes,
           a_generated_function_gives_the_op_with_results_and_bodies,
           attributes_that_were_read_make_the_same_op,
           movement_that_changes_nothing_gives_its_operand,
           axes_are_merged_moved_and_taken_away,
           a_vector_lies_along_an_axis_that_there_is, the_first_failure_sticks,
           a_null_operand_gives_null_without_a_failure,
           operands_that_may_not_broadcast_are_guarded,
           code_that_is_right_by_construction_makes_no_guards_of_its_own,
           extents_that_provably_differ_are_an_error_in_the_entry_block_only,
           a_product_of_inner_extents_that_differ_is_refused, trying_is_silent,
           constants_keep_every_value)
