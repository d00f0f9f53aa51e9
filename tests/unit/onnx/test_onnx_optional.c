/* Items of any rank; optionals: made, given by the caller, read, and carried by
 * branches and loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_expect.h"

/* ---- types as files hold them ---- */

static Onnx__TypeProto *new_type(Onnx__TypeProto__ValueCase kind) {
    Onnx__TypeProto *type = ig_arena_alloc(&model.arena, sizeof *type);
    onnx__type_proto__init(type);
    type->value_case = kind;
    return type;
}

/* Of f32, of any rank. */
static Onnx__TypeProto *tensor_type(void) {
    Onnx__TypeProto *type = new_type(ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE);
    Onnx__TypeProto__Tensor *tensor = ig_arena_alloc(&model.arena, sizeof *tensor);
    onnx__type_proto__tensor__init(tensor);
    tensor->has_elem_type = true;
    tensor->elem_type = ONNX_F32;
    type->tensor_type = tensor;
    return type;
}

static Onnx__TypeProto *sequence_of(Onnx__TypeProto *item) {
    Onnx__TypeProto *type = new_type(ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE);
    Onnx__TypeProto__Sequence *sequence = ig_arena_alloc(&model.arena,
                                                         sizeof *sequence);
    onnx__type_proto__sequence__init(sequence);
    sequence->elem_type = item;
    type->sequence_type = sequence;
    return type;
}

static Onnx__TypeProto *optional_of(Onnx__TypeProto *held) {
    Onnx__TypeProto *type = new_type(ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE);
    Onnx__TypeProto__Optional *optional = ig_arena_alloc(&model.arena,
                                                         sizeof *optional);
    onnx__type_proto__optional__init(optional);
    optional->elem_type = held;
    type->optional_type = optional;
    return type;
}

static void set_type(Onnx__NodeProto *node, Onnx__TypeProto *type) {
    Onnx__AttributeProto *attr = onnx_attr(
        &model, node, "type", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO);
    attr->tp = type;
}

/* ---- running ---- */

/* A tensor of 2 x 3, filled with 0, 1, 2 … */
static ig_tensor numbers(void) {
    ig_tensor x;
    int64_t shape[2] = { 2, 3 };
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, shape, &x));
    for (int64_t i = 0; i < x.count; i++) {
        ig_tensor_set_f64(&x, i, (double)i);
    }
    return x;
}

static ig_tensor truth(bool value) {
    ig_tensor x;
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_bool, 0, NULL, &x));
    ig_tensor_set_i64(&x, 0, value);
    return x;
}

static ig_status run_on(const ig_tensor *inputs, ig_tensor *out) {
    ig_module *module;
    ig_status status = ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL,
                                             NULL, &module);
    if (status != IG_OK) {
        return status;
    }
    CHECK_OK(ig_verify_module(module));
    status = ig_interpret(ig_module_graph(module, "main"), inputs, &run.arena, out);
    ig_module_destroy(module);
    return status;
}

/* ---- the tests ---- */

TEST(an_optional_is_made_of_a_tensor) {
    begin(18, "Optional", "x", "o");
    onnx_node(&model, "OptionalHasElement", "o", "h");
    onnx_node(&model, "OptionalGetElement", "o", "y");
    onnx_output(&model, "o");
    onnx_output(&model, "h");
    onnx_output(&model, "y");
    ig_tensor x = numbers(), out[3];
    CHECK_OK(run_on(&x, out));
    CHECK_INT(out[0].kind, IG_OPTIONAL);
    CHECK_INT(out[0].count, 1);
    CHECK_MSG(onnx_case_equal(&run, out[0].items, &x), "%s", run.why);
    CHECK_INT(ig_tensor_get_i64(&out[1], 0), 1);
    CHECK_MSG(onnx_case_equal(&run, &out[2], &x), "%s", run.why);
    end();
}
END_TEST

/* If(go) { absent, or only said to be of f32 } else { a sequence of x }; absent first,
 * or last. */
static void begin_choice(bool absent_first) {
    Onnx__NodeProto *choice = begin(18, "If", "go", "o");
    onnx_input(&model, "go", ONNX_BOOL, 0);
    Onnx__GraphProto *main = model.graph, *none = onnx_graph(&model, "none"),
                     *some = onnx_graph(&model, "some");
    model.graph = none;
    set_type(onnx_node(&model, "Optional", "", "n"), sequence_of(tensor_type()));
    model.graph->node[0]->n_input = 0;
    onnx_output(&model, "n");
    model.graph = some;
    onnx_node(&model, "SequenceConstruct", "x", "q");
    onnx_node(&model, "Optional", "q", "s");
    onnx_output(&model, "s");
    model.graph = main;
    onnx_attr_g(&model, choice, "then_branch", absent_first ? none : some);
    onnx_attr_g(&model, choice, "else_branch", absent_first ? some : none);
}

TEST(what_is_absent_is_of_the_other_branches_type) {
    for (int k = 0; k < 4; k++) {
        bool absent_first = k % 2, go = k / 2;
        begin_choice(absent_first);
        onnx_node(&model, "OptionalHasElement", "o", "h");
        onnx_output(&model, "o");
        onnx_output(&model, "h");
        ig_tensor in[] = { numbers(), truth(go) }, out[2];
        CHECK_OK(run_on(in, out));
        int64_t there = absent_first != go;
        CHECK_INT(out[0].kind, IG_OPTIONAL);
        CHECK_INT(out[0].count, there);
        CHECK_INT(ig_tensor_get_i64(&out[1], 0), there);
        CHECK(!there || out[0].items->kind == IG_SEQUENCE);
        CHECK(!there || onnx_case_equal(&run, out[0].items->items, in));
        end();
    }
}
END_TEST

/* Of a tensor nothing but its dtype is said: x tells its rank. */
TEST(an_absent_tensor_has_the_other_branches_rank) {
    for (int k = 0; k < 4; k++) {
        bool absent_first = k % 2, go = k / 2;
        Onnx__NodeProto *choice = begin(18, "If", "go", "o");
        onnx_input(&model, "go", ONNX_BOOL, 0);
        Onnx__GraphProto *main = model.graph, *none = onnx_graph(&model, "none"),
                         *some = onnx_graph(&model, "some");
        model.graph = none;
        set_type(onnx_node(&model, "Optional", "", "n"), tensor_type());
        model.graph->node[0]->n_input = 0;
        onnx_output(&model, "n");
        model.graph = some;
        onnx_node(&model, "Optional", "x", "s");
        onnx_output(&model, "s");
        model.graph = main;
        onnx_attr_g(&model, choice, "then_branch", absent_first ? none : some);
        onnx_attr_g(&model, choice, "else_branch", absent_first ? some : none);
        onnx_output(&model, "o");
        ig_tensor in[] = { numbers(), truth(go) }, out;
        CHECK_MSG(run_on(in, &out) == IG_OK, "%s", run.why);
        CHECK_INT(out.count, absent_first != go);
        CHECK(!out.count || onnx_case_equal(&run, out.items, in));
        end();
    }
}
END_TEST

TEST(the_value_of_what_is_absent_is_an_error) {
    for (int64_t k = 0; k < 2; k++) {
        begin_choice(true);
        onnx_node(&model, "OptionalGetElement", "o", "q");
        onnx_node(&model, "SequenceLength", "q", "n");
        onnx_output(&model, "n");
        ig_tensor in[] = { numbers(), truth(k == 0) }, out;
        CHECK_STATUS(run_on(in, &out), k == 0 ? IG_INVALID : IG_OK);
        CHECK(k == 0 || ig_tensor_get_i64(&out, 0) == 1);
        end();
    }
}
END_TEST

/* Loop(trips) on an optional sequence of x: each trip puts x in once more. */
static void begin_loop(const int64_t *trips) {
    Onnx__NodeProto *node = begin(18, "Loop", "trips,,x", "y");
    onnx_ints(&model, "trips", -1, trips);
    Onnx__ValueInfoProto *x = model.graph->input[0];
    x->type = optional_of(sequence_of(x->type));
    onnx_input(&model, "z", ONNX_F32, 2, "A", "B");
    Onnx__GraphProto *main = model.graph, *body = onnx_graph(&model, "body");
    model.graph = body;
    onnx_formal(&model, "i");
    onnx_formal(&model, "go");
    onnx_formal(&model, "o");
    onnx_node(&model, "OptionalGetElement", "o", "q");
    onnx_node(&model, "SequenceInsert", "q,z", "r");
    onnx_node(&model, "Identity", "go", "next");
    onnx_output(&model, "next");
    onnx_output(&model, "r");
    model.graph = main;
    onnx_attr_g(&model, node, "body", body);
    onnx_output(&model, "y");
}

TEST(a_loop_takes_the_value_of_an_optional) {
    for (int64_t k = 0; k < 4; k++) {
        int64_t trips = k % 2, there = k / 2;
        begin_loop(&trips);
        ig_tensor z = numbers(), out;
        ig_tensor list = { .kind = IG_SEQUENCE, .items = &z, .count = 1 };
        ig_tensor in[] = { { .kind = IG_OPTIONAL, .items = &list, .count = there }, z };
        CHECK_STATUS(run_on(in, &out), there ? IG_OK : IG_INVALID);
        CHECK(!there || (out.kind == IG_SEQUENCE && out.count == 1 + trips));
        end();
    }
}
END_TEST

/* x is 2 x 3, and its sum a scalar: a sequence of both, counted, cut and given out. */
static void begin_ranks(void) {
    Onnx__NodeProto *sum = begin(13, "ReduceSum", "x", "n");
    onnx_attr_i(&model, sum, "keepdims", 0);
    onnx_node(&model, "SequenceConstruct", "x,n", "s");
    onnx_node(&model, "SequenceInsert", "s,x", "t");
}

TEST(items_may_differ_in_rank) {
    begin_ranks();
    onnx_node(&model, "SequenceLength", "t", "l");
    onnx_node(&model, "SequenceErase", "t", "u");
    onnx_output(&model, "u");
    onnx_output(&model, "l");
    ig_tensor x = numbers(), out[2];
    CHECK_OK(run_on(&x, out));
    CHECK_INT(ig_tensor_get_i64(&out[1], 0), 3);
    CHECK_INT(out[0].count, 2);
    CHECK_MSG(onnx_case_equal(&run, out[0].items, &x), "%s", run.why);
    CHECK_INT(out[0].items[1].rank, 0);
    CHECK(ig_tensor_get_f64(&out[0].items[1], 0) == 15);
    end();
}
END_TEST

TEST(an_item_of_an_unknown_rank_is_taken_out) {
    const int64_t zero = 0;
    begin_ranks();
    onnx_ints(&model, "zero", -1, &zero);
    onnx_node(&model, "SequenceAt", "t,zero", "y");
    onnx_output(&model, "y");
    ig_tensor x = numbers(), out;
    CHECK_OK(run_on(&x, &out));
    CHECK_MSG(onnx_case_equal(&run, &out, &x), "%s", run.why);
    end();
}
END_TEST

TEST(items_of_unknown_ranks_are_not_joined) {
    begin_ranks();
    Onnx__NodeProto *node = onnx_node(&model, "ConcatFromSequence", "t", "y");
    onnx_attr_i(&model, node, "axis", 1);
    onnx_output(&model, "y");
    ig_tensor x = numbers(), out;
    CHECK_STATUS(run_on(&x, &out), IG_UNSUPPORTED);
    CHECK_MSG(strstr(run.why, "of different ranks"), "%s", run.why);
    end();
}
END_TEST

TEST(an_optional_of_nothing_is_refused) {
    static const char *const wanted[] = { "neither an input nor the attribute 'type'",
                                          "holds none",
                                          "neither a tensor nor a sequence" };
    for (size_t k = 0; k < IG_COUNT_OF(wanted); k++) {
        Onnx__NodeProto *node = begin(18, "Optional", "", "o");
        node->n_input = 0;
        if (k > 0) {
            set_type(node, k == 2 ? optional_of(tensor_type()) : NULL);
        }
        onnx_output(&model, "o");
        ig_tensor x = numbers(), out;
        CHECK(run_on(&x, &out) != IG_OK);
        CHECK_MSG(strstr(run.why, wanted[k]), "%s", run.why);
        end();
    }
}
END_TEST

UNIT_SUITE(onnx_optional, an_optional_is_made_of_a_tensor,
           what_is_absent_is_of_the_other_branches_type,
           an_absent_tensor_has_the_other_branches_rank,
           the_value_of_what_is_absent_is_an_error,
           a_loop_takes_the_value_of_an_optional, items_may_differ_in_rank,
           an_item_of_an_unknown_rank_is_taken_out,
           items_of_unknown_ranks_are_not_joined, an_optional_of_nothing_is_refused)
