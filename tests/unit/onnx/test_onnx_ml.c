/* Operators of ai.onnx.ml, by values worked out by hand; hostile ensembles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

#include <math.h>

static onnx_model model;
static onnx_case run;

#define LIST(type, ...) \
    (const type[]) {    \
        __VA_ARGS__     \
    }
#define INTS(...) LIST(int64_t, __VA_ARGS__)
#define FLOATS(...) LIST(float, __VA_ARGS__)

/* A node of the domain over an f32 input x [A, B]. */
static Onnx__NodeProto *begin(int64_t version, const char *op, const char *outs) {
    onnx_case_init(&run);
    onnx_model_init(&model, version);
    model.opset.domain = ig_arena_strdup(&model.arena, "ai.onnx.ml");
    onnx_input(&model, "x", ONNX_F32, 2, "A", "B");
    Onnx__NodeProto *node = onnx_node(&model, op, "x", outs);
    node->domain = model.opset.domain;
    return node;
}

static void end(void) {
    onnx_model_fini(&model);
    onnx_case_fini(&run);
}

static void set_floats(Onnx__NodeProto *node, const char *name, size_t count,
                       const float *values) {
    Onnx__AttributeProto *attr = onnx_attr(&model, node, name, 6);
    attr->n_floats = count;
    attr->floats = (float *)(void *)ig_arena_copy(&model.arena, values,
                                                  count * sizeof *values);
}

static void set_strings(Onnx__NodeProto *node, const char *name, const char *list) {
    Onnx__AttributeProto *attr = onnx_attr(&model, node, name, 8);
    char **items = onnx_names(&model, list, &attr->n_strings);
    attr->strings = ig_arena_alloc(&model.arena,
                                   attr->n_strings * sizeof *attr->strings);
    for (size_t i = 0; i < attr->n_strings; i++) {
        attr->strings[i] = (ProtobufCBinaryData){ strlen(items[i]),
                                                  (uint8_t *)items[i] };
    }
}

static void set_tensor(Onnx__NodeProto *node, const char *name, int type, int64_t count,
                       const void *values) {
    onnx_attr(&model, node, name, 4)->t = onnx_tensor(&model, name, type, 1, &count,
                                                      values);
}

static ig_status import_all(const char *outs, ig_module **out_module) {
    size_t count;
    char **names = onnx_names(&model, outs, &count);
    for (size_t i = 0; i < count; i++) {
        onnx_output(&model, names[i]);
    }
    return ig_import_onnx_memory(&run.context, onnx_pack(&model), NULL, NULL,
                                 out_module);
}

typedef struct features {
    int64_t rows, columns;
    const float *x;
} features;

#define X(rows, columns, ...)              \
    (features) {                           \
        rows, columns, FLOATS(__VA_ARGS__) \
    }

/* Runs on rows of features and compares output `index`, [rows, width] or [rows]. */
static void expect(const char *outs, uint32_t index, features given, int64_t width,
                   const float *values) {
    ig_module *module;
    ig_tensor in, out[2];
    int64_t shape[2] = { given.rows, given.columns };
    CHECK_MSG(import_all(outs, &module) == IG_OK, "%s", run.why);
    CHECK_OK(ig_verify_module(module));
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, shape, &in));
    memcpy(in.data, given.x, (size_t)in.count * sizeof *given.x);
    CHECK_MSG(ig_interpret(ig_module_graph(module, "main"), &in, &run.arena, out) ==
                  IG_OK,
              "%s", run.why);
    CHECK_INT(out[index].count, given.rows * width);
    for (int64_t i = 0; i < out[index].count; i++) {
        double got = ig_tensor_get_f64(&out[index], i), wanted = (double)values[i];
        CHECK_MSG(fabs(got - wanted) < 1e-5, "element %lld is %g, expected %g",
                  (long long)i, got, wanted);
    }
    ig_module_destroy(module);
}

/* The model runs, but not on these. */
static void expect_error(const char *outs, features given, const char *words) {
    ig_module *module;
    ig_tensor in, out[2];
    int64_t shape[2] = { given.rows, given.columns };
    CHECK_MSG(import_all(outs, &module) == IG_OK, "%s", run.why);
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, shape, &in));
    memcpy(in.data, given.x, (size_t)in.count * sizeof *given.x);
    CHECK(ig_interpret(ig_module_graph(module, "main"), &in, &run.arena, out) != IG_OK);
    CHECK_MSG(strstr(run.why, words), "'%s' lacks '%s'", run.why, words);
    ig_module_destroy(module);
}

static void expect_refusal(const char *outs, const char *words) {
    ig_module *module = NULL;
    CHECK(import_all(outs, &module) != IG_OK);
    CHECK_MSG(strstr(run.why, words), "'%s' lacks '%s'", run.why, words);
    end();
}

/* ---- trees ---- */

/* Tree 4: x0 <= 1 ? (x1 > 5 ? 10 : 20) : 30; tree 7: x2 < 0 ? 1 : 2. */
static Onnx__NodeProto *add_trees(Onnx__NodeProto *node, const char *kind) {
    char name[32];
    onnx_attr_ints(&model, node, "nodes_treeids", 8, INTS(4, 4, 4, 4, 4, 7, 7, 7));
    onnx_attr_ints(&model, node, "nodes_nodeids", 8, INTS(0, 1, 2, 3, 4, 0, 1, 2));
    onnx_attr_ints(&model, node, "nodes_featureids", 8, INTS(0, 1, 0, 0, 0, 2, 0, 0));
    onnx_attr_ints(&model, node, "nodes_truenodeids", 8, INTS(1, 2, 0, 0, 0, 1, 0, 0));
    onnx_attr_ints(&model, node, "nodes_falsenodeids", 8, INTS(4, 3, 0, 0, 0, 2, 0, 0));
    set_floats(node, "nodes_values", 8, FLOATS(1, 5, 0, 0, 0, 0, 0, 0));
    set_strings(node, "nodes_modes",
                "BRANCH_LEQ,BRANCH_GT,LEAF,LEAF,LEAF,BRANCH_LT,LEAF,LEAF");
    (void)snprintf(name, sizeof name, "%s_treeids", kind);
    onnx_attr_ints(&model, node, name, 5, INTS(4, 4, 4, 7, 7));
    (void)snprintf(name, sizeof name, "%s_nodeids", kind);
    onnx_attr_ints(&model, node, name, 5, INTS(2, 3, 4, 1, 2));
    return node;
}

static const float numbers[] = { 1, 6, -1, /**/ 0, 5, 0, /**/ 2, 0, NAN };
static const features three = { 3, 3, numbers };

static void give_weights(Onnx__NodeProto *node, const char *kind, const int64_t *ids,
                         const float *weights) {
    char name[32];
    (void)snprintf(name, sizeof name, "%s_ids", kind);
    onnx_attr_ints(&model, node, name, 5, ids);
    (void)snprintf(name, sizeof name, "%s_weights", kind);
    set_floats(node, name, 5, weights);
}

TEST(trees_of_one_target_are_summed) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleRegressor", "y"), "target");
    give_weights(node, "target", INTS(0, 0, 0, 0, 0), FLOATS(10, 20, 30, 1, 2));
    set_floats(node, "base_values", 1, FLOATS(0.5F));
    expect("y", 0, three, 1, FLOATS(11.5F, 22.5F, 32.5F));
    end();
}
END_TEST

TEST(trees_track_missing_values) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleRegressor", "y"), "target");
    give_weights(node, "target", INTS(0, 0, 0, 0, 0), FLOATS(10, 20, 30, 1, 2));
    onnx_attr_ints(&model, node, "nodes_missing_value_tracks_true", 8,
                   INTS(0, 0, 0, 0, 0, 1, 0, 0));
    onnx_attr_s(&model, node, "aggregate_function", "AVERAGE");
    expect("y", 0, three, 1, FLOATS(5.5F, 11, 15.5F));
    end();
}
END_TEST

TEST(leaves_of_several_targets_are_min_and_greatest) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleRegressor", "y"), "target");
    give_weights(node, "target", INTS(0, 1, 0, 1, 0), FLOATS(10, 20, 30, 1, 2));
    onnx_attr_i(&model, node, "n_targets", 2);
    onnx_attr_s(&model, node, "aggregate_function", "MAX");
    expect("y", 0, three, 2, FLOATS(10, 1, 2, 20, 30, 0));
    node->attribute[node->n_attribute - 1]->s.data[1] = 'I';
    node->attribute[node->n_attribute - 1]->s.data[2] = 'N';
    model.graph->n_output = 0;
    expect("y", 0, three, 2, FLOATS(10, 1, 2, 20, 2, 0));
    end();
}
END_TEST

TEST(classes_have_labels_and_scores) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleClassifier", "l,s"),
                                      "class");
    give_weights(node, "class", INTS(0, 1, 2, 1, 1), FLOATS(2, 3, 4, 1, 5));
    onnx_attr_ints(&model, node, "classlabels_int64s", 3, INTS(7, 8, 9));
    expect("l,s", 0, three, 1, FLOATS(7, 8, 8));
    model.graph->n_output = 0;
    expect("l,s", 1, three, 3, FLOATS(2, 1, 0, 0, 8, 0, 0, 5, 4));
    end();
}
END_TEST

/* Weights of either sign are held against 0, others against one half. */
TEST(one_class_of_two_makes_the_other_up) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleClassifier", "l,s"),
                                      "class");
    give_weights(node, "class", INTS(1, 1, 1, 1, 1), FLOATS(-2, 1, 0, 1, 0));
    onnx_attr_ints(&model, node, "classlabels_int64s", 2, INTS(3, 5));
    expect("l,s", 0, three, 1, FLOATS(3, 5, 3));
    model.graph->n_output = 0;
    onnx_attr_s(&model, node, "post_transform", "LOGISTIC");
    expect("l,s", 1, three, 2,
           FLOATS(0.7310586F, 0.2689414F, 0.2689414F, 0.7310586F, 0.5F, 0.5F));
    end();
}
END_TEST

/* The logistic function is of the sum and its negative, whatever the weights' signs. */
TEST(one_class_of_two_is_logistic_without_a_negative_weight) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleClassifier", "l,s"),
                                      "class");
    give_weights(node, "class", INTS(0, 0, 0, 0, 0), FLOATS(0.5F, 1, 0, 0.5F, 0));
    onnx_attr_ints(&model, node, "classlabels_int64s", 2, INTS(3, 5));
    onnx_attr_s(&model, node, "post_transform", "LOGISTIC");
    expect("l,s", 1, three, 2,
           FLOATS(0.2689414F, 0.7310586F, 0.2689414F, 0.7310586F, 0.5F, 0.5F));
    end();
}
END_TEST

/* x0 in {3, 4} ? leaf 0 : (x1 >= 2 ? leaf 1 : leaf 0) */
static Onnx__NodeProto *begin_numbered(void) {
    Onnx__NodeProto *node = begin(5, "TreeEnsemble", "y");
    set_tensor(node, "nodes_modes", 2, 2, LIST(uint8_t, 6, 2));
    set_tensor(node, "nodes_splits", ONNX_F32, 2, FLOATS(0, 2));
    set_tensor(node, "membership_values", ONNX_F32, 3, FLOATS(3, 4, NAN));
    set_tensor(node, "leaf_weights", ONNX_F32, 2, FLOATS(0.5F, 8));
    onnx_attr_ints(&model, node, "leaf_targetids", 2, INTS(0, 1));
    onnx_attr_ints(&model, node, "nodes_featureids", 2, INTS(0, 1));
    onnx_attr_ints(&model, node, "nodes_truenodeids", 2, INTS(0, 1));
    onnx_attr_ints(&model, node, "nodes_trueleafs", 2, INTS(1, 1));
    onnx_attr_ints(&model, node, "nodes_falsenodeids", 2, INTS(1, 0));
    onnx_attr_ints(&model, node, "nodes_falseleafs", 2, INTS(0, 1));
    onnx_attr_ints(&model, node, "tree_roots", 1, INTS(0));
    onnx_attr_i(&model, node, "n_targets", 2);
    return node;
}

TEST(numbered_trees_test_for_members) {
    begin_numbered();
    expect("y", 0, X(3, 2, 4, 9, 5, 2, 5, 1), 2, FLOATS(0.5F, 0, 0, 8, 0.5F, 0));
    end();
}
END_TEST

/* ---- hostile ones ---- */

static Onnx__AttributeProto *find_attr(Onnx__NodeProto *node, const char *name) {
    size_t i = 0;
    while (strcmp(node->attribute[i]->name, name) != 0) {
        i++;
    }
    return node->attribute[i];
}

TEST(circles_of_nodes_are_refused) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleRegressor", "y"), "target");
    give_weights(node, "target", INTS(0, 0, 0, 0, 0), FLOATS(10, 20, 30, 1, 2));
    find_attr(node, "nodes_truenodeids")->ints[1] = 0;
    expect_refusal("y", "circle");
}
END_TEST

TEST(children_that_are_not_there_are_refused) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleRegressor", "y"), "target");
    give_weights(node, "target", INTS(0, 0, 0, 0, 0), FLOATS(10, 20, 30, 1, 2));
    find_attr(node, "nodes_falsenodeids")->ints[1] = 9;
    expect_refusal("y", "tree 4 has no node 2 or no node 9");
}
END_TEST

TEST(targets_that_are_not_there_are_refused) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleRegressor", "y"), "target");
    give_weights(node, "target", INTS(0, 0, 0, 0, 1), FLOATS(10, 20, 30, 1, 2));
    expect_refusal("y", "expected a leaf and less than 1");
}
END_TEST

TEST(features_that_no_row_has_are_refused) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleRegressor", "y"), "target");
    give_weights(node, "target", INTS(0, 0, 0, 0, 0), FLOATS(10, 20, 30, 1, 2));
    find_attr(node, "nodes_featureids")->ints[0] = INT32_MAX;
    model.graph->input[0]->type->tensor_type->shape->dim[1]->value_case =
        ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    model.graph->input[0]->type->tensor_type->shape->dim[1]->dim_value = 3;
    expect_refusal("y", "more features than rows have");
}
END_TEST

TEST(numbered_children_that_are_not_there_are_refused) {
    find_attr(begin_numbered(), "nodes_truenodeids")->ints[0] = -1;
    expect_refusal("y", "node 0 leads to leaf -1");
}
END_TEST

TEST(labels_may_be_strings) {
    Onnx__NodeProto *node = add_trees(begin(1, "TreeEnsembleClassifier", "l,s"),
                                      "class");
    give_weights(node, "class", INTS(0, 1, 1, 1, 1), FLOATS(2, 3, 4, 1, 5));
    set_strings(node, "classlabels_strings", "no,yes");
    ig_module *module;
    ig_tensor in, out[2];
    CHECK_MSG(import_all("l,s", &module) == IG_OK, "%s", run.why);
    CHECK_OK(ig_tensor_alloc(&run.arena, NULL, IG_DT_f32, 2, (int64_t[]){ 3, 3 }, &in));
    memcpy(in.data, numbers, sizeof numbers);
    CHECK_OK(ig_interpret(ig_module_graph(module, "main"), &in, &run.arena, out));
    for (int64_t i = 0; i < 3; i++) {
        bool is_second = ig_tensor_get_f64(&out[1], 2 * i + 1) >
                         ig_tensor_get_f64(&out[1], 2 * i);
        CHECK_TEXT(((const char *const *)out[0].data)[i], is_second ? "yes" : "no");
    }
    ig_module_destroy(module);
    end();
}
END_TEST

/* ---- the others ---- */

TEST(binarizer_holds_elements_against_a_threshold) {
    onnx_attr_f(&model, begin(1, "Binarizer", "y"), "threshold", 1);
    expect("y", 0, X(1, 3, 1, 1.5F, -2), 3, FLOATS(0, 1, 0));
    end();
}
END_TEST

TEST(scaler_takes_the_offset_first) {
    Onnx__NodeProto *node = begin(1, "Scaler", "y");
    set_floats(node, "offset", 2, FLOATS(1, 2));
    set_floats(node, "scale", 1, FLOATS(10));
    expect("y", 0, X(1, 2, 3, 1), 2, FLOATS(20, -10));
    end();
}
END_TEST

TEST(normalizer_leaves_rows_of_zeros) {
    Onnx__NodeProto *node = begin(1, "Normalizer", "y");
    onnx_attr_s(&model, node, "norm", "L2");
    expect("y", 0, X(2, 2, 3, -4, 0, 0), 2, FLOATS(0.6F, -0.8F, 0, 0));
    end();
}
END_TEST

TEST(imputer_replaces_nan) {
    Onnx__NodeProto *node = begin(1, "Imputer", "y");
    set_floats(node, "imputed_value_floats", 2, FLOATS(7, 8));
    onnx_attr_f(&model, node, "replaced_value_float", NAN);
    expect("y", 0, X(2, 2, NAN, 1, 2, NAN), 2, FLOATS(7, 1, 2, 8));
    end();
}
END_TEST

TEST(features_are_picked_and_put_side_by_side) {
    Onnx__NodeProto *node = begin(1, "ArrayFeatureExtractor", "p");
    int64_t two = 2;
    node->input = onnx_names(&model, "x,at", &node->n_input);
    onnx_initializer(&model, onnx_tensor(&model, "at", ONNX_I64, 1, &two, INTS(2, 0)));
    node = onnx_node(&model, "FeatureVectorizer", "p,x", "y");
    node->domain = model.opset.domain;
    onnx_attr_ints(&model, node, "inputdimensions", 2, INTS(2, 3));
    expect("y", 0, X(1, 3, 1, 2, 3), 5, FLOATS(3, 1, 1, 2, 3));
    end();
}
END_TEST

TEST(one_hot_encoder_adds_an_axis) {
    onnx_attr_ints(&model, begin(1, "OneHotEncoder", "y"), "cats_int64s", 2,
                   INTS(5, 6));
    expect("y", 0, X(1, 2, 6, 4), 4, FLOATS(0, 1, 0, 0));
    end();
}
END_TEST

TEST(one_hot_encoder_without_zeros_knows_each_element) {
    Onnx__NodeProto *node = begin(1, "OneHotEncoder", "y");
    onnx_attr_ints(&model, node, "cats_int64s", 4, INTS(0, -1, 6, 6));
    onnx_attr_i(&model, node, "zeros", 0);
    expect("y", 0, X(1, 3, 6, 0, -1), 12,
           FLOATS(0, 0, 0, 1, /**/ 1, 0, 0, 0, /**/ 0, 1, 0, 0));
    expect("y", 0, X(0, 3, 0), 12, FLOATS(0));
    expect_error("y", X(1, 3, 6, 5, -1), "index -1 at position 1");
    end();
}
END_TEST

TEST(zip_map_stays_a_matrix_of_the_labels) {
    set_strings(begin(1, "ZipMap", "y"), "classlabels_strings", "no,yes");
    expect("y", 0, X(2, 2, 0.25F, 0.75F, 1, 0), 2, FLOATS(0.25F, 0.75F, 1, 0));
    end();
    (void)begin(1, "ZipMap", "y");
    expect_refusal("y", "has 0 labels");
}
END_TEST

/* The tree of the call is the text; "": it has none. */
static void expect_tree(const char *outs, const char *wanted) {
    ig_module *module;
    CHECK_MSG(import_all(outs, &module) == IG_OK, "%s", run.why);
    CHECK_OK(ig_verify_module(module));
    const ig_signature *got = ig_module_graph(module, "main")->signature;
    ig_writer text;
    ig_writer_init(&text, &run.arena);
    if (got) {
        ig_signature_print(got, NULL, &text);
    }
    CHECK_TEXT(text.size ? text.data : "", wanted);
    ig_module_destroy(module);
}

/* A node of ONNX's own domain. */
static void add_plain(const char *op, const char *ins, const char *outs) {
    Onnx__OperatorSetIdProto *set = ig_arena_alloc(&model.arena, sizeof *set);
    onnx__operator_set_id_proto__init(set);
    set->has_version = 1;
    set->version = 17;
    model.opsets[1] = set;
    model.model.n_opset_import = 2;
    (void)onnx_node(&model, op, ins, outs);
}

TEST(zip_map_tells_its_keys_in_the_tree) {
    set_strings(begin(1, "ZipMap", "y"), "classlabels_strings", "no,\"yes");
    expect_tree("y,x", "\"\"(x: tensor) -> "
                       "(ai.onnx.ml.ZipMap(keys=[\"no\", \"\\\"yes\"], values=tensor), "
                       "tensor)");
    end();
    Onnx__NodeProto *node = begin(1, "ZipMap", "y");
    onnx_attr_ints(&model, node, "classlabels_int64s", 2, INTS(INT64_MIN, INT64_MAX));
    add_plain("Identity", "y", "z");
    expect_tree("z",
                "\"\"(x: tensor) -> (ai.onnx.ml.ZipMap(keys=[-9223372036854775808, "
                "9223372036854775807], values=tensor),)");
    end();
}
END_TEST

TEST(keys_of_zip_map_are_of_text) {
    Onnx__NodeProto *node = begin(1, "ZipMap", "y");
    set_strings(node, "classlabels_strings", "no,yes");
    node->attribute[0]->strings[1].data = (uint8_t *)ig_arena_copy(&model.arena, "y\0s",
                                                                   3);
    expect_refusal("y", "a string with a zero byte");
    end();
}
END_TEST

TEST(functions_give_lists_of_dicts_too) {
    Onnx__NodeProto *node = begin(1, "Zip", "a,y");
    node->domain = ig_arena_strdup(&model.arena, "local");
    Onnx__GraphProto *graph = model.graph;
    model.graph = onnx_graph(&model, "body");
    node = onnx_node(&model, "ZipMap", "in", "out");
    node->domain = model.opset.domain;
    set_strings(node, "classlabels_strings", "no,yes");
    add_plain("Neg", "in", "other");
    (void)onnx_function(&model, "Zip", "in", "other,out", model.graph);
    model.functions[0]->n_opset_import = 2;
    model.graph = graph;
    expect_tree("a,y", "\"\"(x: tensor) -> (tensor, "
                       "ai.onnx.ml.ZipMap(keys=[\"no\", \"yes\"], values=tensor))");
    end();
}
END_TEST

TEST(lists_of_dicts_beside_sequences_stay_matrices) {
    set_strings(begin(1, "ZipMap", "y"), "classlabels_strings", "no,yes");
    add_plain("SequenceConstruct", "x,x", "s");
    expect_tree("y,s", "");
    end();
    set_strings(begin(1, "ZipMap", "y"), "classlabels_strings", "no,yes");
    add_plain("Neg", "y", "z");
    expect_tree("z", "");
    end();
}
END_TEST

TEST(linear_regressor_has_a_row_a_target) {
    Onnx__NodeProto *node = begin(1, "LinearRegressor", "y");
    set_floats(node, "coefficients", 4, FLOATS(1, 2, 3, 4));
    set_floats(node, "intercepts", 2, FLOATS(10, 20));
    onnx_attr_i(&model, node, "targets", 2);
    expect("y", 0, X(1, 2, 1, -1), 2, FLOATS(9, 19));
    end();
}
END_TEST

/* The softmax of one score would be 1 everywhere. */
TEST(linear_classifier_of_one_row_keeps_its_share) {
    Onnx__NodeProto *node = begin(1, "LinearClassifier", "l,s");
    set_floats(node, "coefficients", 2, FLOATS(1, 1));
    set_floats(node, "intercepts", 1, FLOATS(-1));
    onnx_attr_ints(&model, node, "classlabels_ints", 2, INTS(4, 6));
    onnx_attr_s(&model, node, "post_transform", "SOFTMAX");
    expect("l,s", 1, X(1, 2, 1, 0.25F), 2, FLOATS(0.75F, 0.25F));
    end();
}
END_TEST

TEST(linear_classifier_of_one_row_is_of_two_classes) {
    Onnx__NodeProto *node = begin(1, "LinearClassifier", "l,s");
    set_floats(node, "coefficients", 2, FLOATS(1, 1));
    set_floats(node, "intercepts", 1, FLOATS(-1));
    onnx_attr_ints(&model, node, "classlabels_ints", 2, INTS(4, 6));
    expect("l,s", 0, X(2, 2, 1, 1, 0, 0), 1, FLOATS(6, 4));
    model.graph->n_output = 0;
    onnx_attr_s(&model, node, "post_transform", "LOGISTIC");
    expect("l,s", 1, X(2, 2, 1, 1, 0, 0), 2,
           FLOATS(0.2689414F, 0.7310586F, 0.7310586F, 0.2689414F));
    end();
}
END_TEST

UNIT_SUITE(onnx_ml, trees_of_one_target_are_summed, trees_track_missing_values,
           leaves_of_several_targets_are_min_and_greatest,
           classes_have_labels_and_scores, one_class_of_two_makes_the_other_up,
           one_class_of_two_is_logistic_without_a_negative_weight,
           numbered_trees_test_for_members, features_that_no_row_has_are_refused,
           circles_of_nodes_are_refused, children_that_are_not_there_are_refused,
           targets_that_are_not_there_are_refused,
           numbered_children_that_are_not_there_are_refused, labels_may_be_strings,
           binarizer_holds_elements_against_a_threshold, scaler_takes_the_offset_first,
           normalizer_leaves_rows_of_zeros, imputer_replaces_nan,
           features_are_picked_and_put_side_by_side, one_hot_encoder_adds_an_axis,
           one_hot_encoder_without_zeros_knows_each_element,
           zip_map_stays_a_matrix_of_the_labels, zip_map_tells_its_keys_in_the_tree,
           keys_of_zip_map_are_of_text, functions_give_lists_of_dicts_too,
           lists_of_dicts_beside_sequences_stay_matrices,
           linear_regressor_has_a_row_a_target,
           linear_classifier_of_one_row_keeps_its_share,
           linear_classifier_of_one_row_is_of_two_classes)
