/* Calls with nested arguments: what fits the tree, and what the errors say.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

/* ---- trees, written as the nodes are stored ---- */

enum { MAX_NODES = 160 };

typedef struct tree {
    ig_tree_node nodes[MAX_NODES];
    size_t count;
    int inputs, outputs;
    bool is_result;
} tree;

static ig_tree_node *add(tree *t, ig_tree_kind kind, const char *name) {
    ck_assert(t->count < MAX_NODES);
    ig_tree_node *node = &t->nodes[t->count++];
    *node =
        (ig_tree_node){ .kind = kind, .size = 1, .leaf = -1, .name = name, .text = "" };
    return node;
}

/* A container of the next `children` subtrees. */
static void box(tree *t, ig_tree_kind kind, const char *name, uint32_t children) {
    add(t, kind, name)->child_count = children;
}

static void leaf(tree *t, ig_tree_kind kind, const char *name) {
    add(t, kind, name)->leaf = t->is_result ? t->outputs++ : t->inputs++;
}

static void whole(tree *t, ig_tree_kind kind, const char *name, int64_t value) {
    add(t, kind, name)->integer = value;
}

static void text(tree *t, const char *value) {
    add(t, IG_TREE_STR, "")->text = value;
}

static tree start(int64_t arguments, uint32_t changed) {
    tree t = { .count = 0 };
    add(&t, IG_TREE_CALL, "forward")->child_count = (uint32_t)arguments + 1 + changed;
    t.nodes[0].integer = arguments;
    return t;
}

/* Sizes of all subtrees, from the last node back. */
static void close_tree(tree *t) {
    for (size_t i = t->count; i-- > 0;) {
        ig_tree_node *node = &t->nodes[i];
        for (uint32_t k = 0; k < node->child_count; k++) {
            node->size += t->nodes[i + node->size].size;
        }
    }
}

static ig_call *make_call(tree *t, const ig_port *ports) {
    char why[200] = "";
    ig_call_options options = { sizeof options, why, sizeof why };
    ig_call *call = NULL;
    close_tree(t);
    ig_status status = ig_call_create_from_nodes(t->nodes, t->count, ports, &options,
                                                 &call);
    CHECK_MSG(status == IG_OK, "%s", why);
    CHECK_TEXT(ig_call_error(call), "");
    return call;
}

static float memory[64];

static ig_view tensor(int32_t dtype, int64_t extent) {
    return (ig_view){ .data = memory, .dtype = dtype, .rank = 1, .dims = { extent } };
}

/* Finishing fails with these words. */
static void check_fails(ig_call *call, const char *words) {
    ig_view *inputs;
    size_t count;
    ig_status status = ig_call_finish(call, &inputs, &count);
    CHECK_TEXT(ig_call_error(call), words);
    CHECK_STATUS(status, IG_INVALID);
}

static ig_view *check_finishes(ig_call *call, size_t wanted) {
    ig_view *inputs;
    size_t count;
    ig_status status = ig_call_finish(call, &inputs, &count);
    CHECK_MSG(status == IG_OK, "%s", ig_call_error(call));
    CHECK_INT(count, wanted);
    return inputs;
}

/* ---- a call of everything ---- */

static const ig_port ports[] = {
    { .name = "x", .type = "f32[B]", .dtype = IG_F32, .rank = 1, .dims = { -1 } },
    { .name = "d.ids", .type = "i64[3]", .dtype = IG_I64, .rank = 1, .dims = { 3 } },
    { .name = "d.7", .type = "i64[]", .dtype = IG_I64 },
};

/* forward(x: tensor, d: {"ids": tensor, 7: int}, by: 2, mode: none) -> … */
static tree make_dict_tree(void) {
    tree t = start(4, 1);
    leaf(&t, IG_TREE_TENSOR, "x");
    box(&t, IG_TREE_DICT, "d", 4);
    text(&t, "ids"), leaf(&t, IG_TREE_TENSOR, "");
    whole(&t, IG_TREE_INT, "", 7), leaf(&t, IG_TREE_INT, "");
    whole(&t, IG_TREE_INT, "by", 2);
    add(&t, IG_TREE_NONE, "mode");
    t.is_result = true;
    box(&t, IG_TREE_TUPLE, "", 2);
    leaf(&t, IG_TREE_TENSOR, ""), leaf(&t, IG_TREE_FLOAT, "");
    leaf(&t, IG_TREE_TENSOR, "x");
    return t;
}

TEST(leaves_become_inputs_in_the_order_of_the_tree) {
    tree t = make_dict_tree();
    ig_call *call = make_call(&t, ports);
    ig_view x = tensor(IG_F32, 5), ids = tensor(IG_I64, 3);
    for (int again = 0; again < 3; again++) {
        ig_call_begin(call);
        ig_call_put_tensor(call, &x);
        CHECK_INT(ig_call_last_input(call), 0);
        ig_call_open(call, IG_TREE_DICT);
        CHECK_INT(ig_call_last_input(call), -1);
        ig_call_put_int(call, 7), ig_call_put_int(call, 40 + again);
        CHECK_INT(ig_call_last_input(call), 2);
        ig_call_put_str(call, "ids"), ig_call_put_tensor(call, &ids);
        CHECK_INT(ig_call_last_input(call), 1);
        ig_call_close(call);
        ig_call_put_int(call, 2);
        CHECK_INT(ig_call_last_input(call), -1);
        ig_view *inputs = check_finishes(call, 3);
        CHECK_INT(inputs[0].dims[0], 5);
        CHECK_INT(inputs[1].dims[0], 3);
        CHECK_INT(inputs[2].rank, 0);
        CHECK_INT(*(const int64_t *)inputs[2].data, 40 + again);
    }
    ig_call_destroy(call);
}

TEST(arguments_have_names) {
    tree t = make_dict_tree();
    ig_call *call = make_call(&t, ports);
    ig_view x = tensor(IG_F32, 5), ids = tensor(IG_I64, 3);
    ig_call_begin(call);
    ig_call_name(call, "d"), ig_call_open(call, IG_TREE_DICT);
    ig_call_put_str(call, "ids"), ig_call_put_tensor(call, &ids);
    ig_call_put_int(call, 7), ig_call_put_int(call, 1);
    ig_call_close(call);
    ig_call_name(call, "x"), ig_call_put_tensor(call, &x);
    CHECK_INT(check_finishes(call, 3)[0].dims[0], 5);
    ig_call_begin(call);
    CHECK_STATUS(ig_call_name(call, "z"), IG_INVALID);
    check_fails(call, "args: there is no argument 'z'");
    ig_call_begin(call);
    ig_call_name(call, "x"), ig_call_put_tensor(call, &x);
    CHECK_STATUS(ig_call_put_tensor(call, &x), IG_INVALID);
    check_fails(call, "x: expected one value, got two");
    ig_call_destroy(call);
}

/* Each in place of the dict's contents. */
TEST(errors_name_the_argument) {
    static const struct {
        ig_tree_kind kind; /* of the value with the key "ids" */
        int32_t dtype;
        int64_t extent;
        const char *words;
    } rows[] = {
        { IG_TREE_TENSOR, IG_F32, 3, "args[1]['ids']: expected i64[3], got f32[3]" },
        { IG_TREE_TENSOR, IG_I64, 4, "args[1]['ids']: expected i64[3], got i64[4]" },
        { IG_TREE_INT, 0, 0, "args[1]['ids']: expected i64[3], got the int 9" },
        { IG_TREE_FLOAT, 0, 0, "args[1]['ids']: expected i64[3], got the float 0.5" },
        { IG_TREE_BOOL, 0, 0, "args[1]['ids']: expected i64[3], got True" },
        { IG_TREE_STR, 0, 0, "args[1]['ids']: expected i64[3], got the str 's'" },
        { IG_TREE_NONE, 0, 0, "args[1]['ids']: expected i64[3], got None" },
        { IG_TREE_LIST, 0, 0, "args[1]['ids']: expected i64[3], got a list" },
        { IG_TREE_KJT, 0, 0,
          "args[1]['ids']: expected i64[3], got a KeyedJaggedTensor" },
    };
    tree t = make_dict_tree();
    ig_call *call = make_call(&t, ports);
    ig_view x = tensor(IG_F32, 5);
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        ig_view ids = tensor(rows[i].dtype, rows[i].extent);
        ig_call_begin(call);
        ig_call_put_tensor(call, &x), ig_call_open(call, IG_TREE_DICT);
        ig_call_put_str(call, "ids");
        ig_status status =
            rows[i].kind == IG_TREE_TENSOR  ? ig_call_put_tensor(call, &ids)
            : rows[i].kind == IG_TREE_INT   ? ig_call_put_int(call, 9)
            : rows[i].kind == IG_TREE_FLOAT ? ig_call_put_float(call, 0.5)
            : rows[i].kind == IG_TREE_BOOL  ? ig_call_put_bool(call, 7)
            : rows[i].kind == IG_TREE_STR   ? ig_call_put_str(call, "s")
            : rows[i].kind == IG_TREE_NONE  ? ig_call_put_none(call)
                                            : ig_call_open(call, rows[i].kind);
        CHECK_STATUS(status, IG_INVALID);
        check_fails(call, rows[i].words);
    }
    ig_call_destroy(call);
}

TEST(the_first_error_stays) {
    tree t = make_dict_tree();
    ig_call *call = make_call(&t, ports);
    ig_call_begin(call);
    ig_call_put_str(call, "first");
    CHECK_STATUS(ig_call_put_none(call), IG_INVALID);
    CHECK_STATUS(ig_call_open(call, IG_TREE_DICT), IG_INVALID);
    CHECK_STATUS(ig_call_close(call), IG_INVALID);
    CHECK_STATUS(ig_call_name(call, "x"), IG_INVALID);
    check_fails(call, "args[0]: expected f32[B], got the str 'first'");
    ig_call_begin(call);
    CHECK_TEXT(ig_call_error(call), "");
    ig_call_destroy(call);
}

/* ---- dicts ---- */

static void begin_dict(ig_call *call) {
    ig_view x = tensor(IG_F32, 5);
    ig_call_begin(call);
    ig_call_put_tensor(call, &x), ig_call_open(call, IG_TREE_DICT);
}

TEST(dicts_know_their_keys) {
    tree t = make_dict_tree();
    ig_call *call = make_call(&t, ports);
    ig_view ids = tensor(IG_I64, 3);
    begin_dict(call);
    ig_call_put_str(call, "idx");
    check_fails(call, "args[1]: expected a key that the program was compiled for, "
                      "got the str 'idx'");
    begin_dict(call);
    ig_call_put_int(call, 8);
    check_fails(call, "args[1]: expected a key that the program was compiled for, "
                      "got the int 8");
    begin_dict(call);
    ig_call_put_tensor(call, &ids);
    check_fails(call, "args[1]: expected a key, a str or an int");
    begin_dict(call);
    ig_call_put_str(call, "ids"), ig_call_put_tensor(call, &ids);
    ig_call_put_str(call, "ids"), ig_call_put_tensor(call, &ids);
    check_fails(call, "args[1]['ids']: expected one value, got two");
    begin_dict(call);
    ig_call_put_int(call, 7), ig_call_put_int(call, 1);
    ig_call_close(call);
    check_fails(call, "args[1]['ids']: expected i64[3], got nothing");
    begin_dict(call);
    ig_call_put_str(call, "ids"), ig_call_put_tensor(call, &ids);
    ig_call_put_int(call, 7), ig_call_close(call);
    check_fails(call, "args[1][7]: expected an int, got nothing");
    begin_dict(call);
    check_fails(call, "args[1]: the container is not closed");
    ig_call_destroy(call);
}

/* ---- arguments that are missing, and known values ---- */

TEST(arguments_are_complete) {
    tree t = make_dict_tree();
    ig_call *call = make_call(&t, ports);
    ig_view x = tensor(IG_F32, 5);
    ig_call_begin(call);
    check_fails(call, "x: expected f32[B], got nothing");
    ig_call_begin(call);
    ig_call_put_tensor(call, &x);
    check_fails(call, "d: expected a dict, got nothing");
    ig_call_begin(call);
    ig_call_close(call);
    check_fails(call, "args: there is no open container to close");
    ig_call_destroy(call);
}

/* forward(a: 2, b: 0.5, c: True, d: "s", e: none) -> none: nothing is an input. */
TEST(known_values_must_be_equal) {
    tree t = start(5, 0);
    whole(&t, IG_TREE_INT, "a", 2);
    add(&t, IG_TREE_FLOAT, "b")->real = 0.5;
    whole(&t, IG_TREE_BOOL, "c", 1);
    add(&t, IG_TREE_STR, "d")->text = "s";
    add(&t, IG_TREE_NONE, "e");
    add(&t, IG_TREE_NONE, "");
    ig_call *call = make_call(&t, NULL);
    ig_call_begin(call);
    ig_call_put_int(call, 2), ig_call_put_float(call, 0.5);
    ig_call_put_bool(call, 5), ig_call_put_str(call, "s"), ig_call_put_none(call);
    check_finishes(call, 0);
    CHECK_STATUS(ig_call_put_int(call, 1), IG_INVALID);
    check_fails(call, "args: expected 5 arguments, got more");
    ig_call_begin(call);
    check_finishes(call, 0); /* all may be left out */
    ig_call_put_int(call, 3);
    check_fails(call, "args[0]: expected the int 2, got the int 3");
    ig_call_begin(call);
    ig_call_name(call, "b"), ig_call_put_float(call, 0.25);
    check_fails(call, "b: expected the float 0.5, got the float 0.25");
    ig_call_begin(call);
    ig_call_name(call, "c"), ig_call_put_int(call, 1);
    check_fails(call, "c: expected True, got the int 1");
    ig_call_begin(call);
    ig_call_name(call, "d"), ig_call_put_str(call, "t");
    check_fails(call, "d: expected the str 's', got the str 't'");
    ig_call_begin(call);
    ig_call_name(call, "e"), ig_call_put_int(call, 0);
    check_fails(call, "e: expected None, got the int 0");
    ig_call_value value;
    CHECK_OK(ig_call_read(call, NULL, 0));
    CHECK_INT(ig_call_next(call, &value), 1);
    CHECK_INT(value.kind, IG_TREE_NONE);
    CHECK_INT(ig_call_next(call, &value), 0);
    ig_call_destroy(call);
}

/* ---- numbers as inputs ---- */

TEST(numbers_become_inputs_of_rank_0) {
    tree t = start(3, 0);
    leaf(&t, IG_TREE_INT, "i"), leaf(&t, IG_TREE_FLOAT, "f"),
        leaf(&t, IG_TREE_BOOL, "b");
    add(&t, IG_TREE_NONE, "");
    ig_call *call = make_call(&t, NULL);
    ig_call_begin(call);
    ig_call_put_int(call, -3), ig_call_put_float(call, 2.5), ig_call_put_bool(call, 9);
    const ig_view *inputs = check_finishes(call, 3);
    CHECK_INT(inputs[0].dtype, IG_I64);
    CHECK_INT(*(const int64_t *)inputs[0].data, -3);
    CHECK_INT(inputs[1].dtype, IG_F64);
    CHECK(*(const double *)inputs[1].data == 2.5);
    CHECK_INT(inputs[2].dtype, IG_BOOL8);
    CHECK_INT(*(const uint8_t *)inputs[2].data, 1);
    CHECK_INT(inputs[2].capacity, 1);
    ig_call_begin(call);
    ig_call_name(call, "f"), ig_call_put_int(call, 4); /* as Python does */
    CHECK(*(const double *)inputs[1].data == 4);
    CHECK_INT(inputs[1].dtype, IG_F64);
    ig_call_begin(call);
    ig_call_put_float(call, 1);
    check_fails(call, "args[0]: expected an int, got the float 1");
    ig_call_begin(call);
    ig_call_name(call, "b"), ig_call_put_int(call, 1);
    check_fails(call, "b: expected a bool, got the int 1");
    ig_call_destroy(call);
}

/* ---- lists, tuples, named tuples ---- */

/* forward(xs: [tensor, tensor], p: Point(x=tensor, y=(), z=none)) -> [] */
static tree make_list_tree(void) {
    tree t = start(2, 0);
    box(&t, IG_TREE_LIST, "xs", 2);
    leaf(&t, IG_TREE_TENSOR, ""), leaf(&t, IG_TREE_TENSOR, "");
    box(&t, IG_TREE_RECORD, "p", 3);
    t.nodes[t.count - 1].text = "Point";
    leaf(&t, IG_TREE_TENSOR, "x"), box(&t, IG_TREE_TUPLE, "y", 0);
    add(&t, IG_TREE_NONE, "z");
    t.is_result = true;
    box(&t, IG_TREE_LIST, "", 0);
    return t;
}

/* A list whose length only the caller knows must be of the tree's. */
TEST(lists_have_the_length_of_the_tree) {
    static const char *const words[] = { "args[0]: expected 2 items, got 0",
                                         "args[0]: expected 2 items, got 1", NULL,
                                         "args[0]: expected 2 items, got more" };
    tree t = make_list_tree();
    ig_call *call = make_call(&t, NULL);
    ig_view x = tensor(IG_F32, 5);
    for (size_t length = 0; length < IG_COUNT_OF(words); length++) {
        ig_call_begin(call);
        ig_call_open(call, IG_TREE_LIST);
        for (size_t i = 0; i < length; i++) {
            ig_call_put_tensor(call, &x);
        }
        CHECK_STATUS(ig_call_close(call), words[length] ? IG_INVALID : IG_OK);
        CHECK_TEXT(ig_call_error(call), words[length] ? words[length] : "");
    }
    ig_call_begin(call);
    CHECK_STATUS(ig_call_open(call, IG_TREE_TUPLE), IG_INVALID);
    check_fails(call, "args[0]: expected a list, got a tuple");
    ig_call_begin(call);
    CHECK_STATUS(ig_call_open(call, IG_TREE_INT), IG_INVALID);
    check_fails(call, "args: expected the kind of a container, got 1");
    ig_call_destroy(call);
}

TEST(named_tuples_take_fields_by_name_or_in_order) {
    tree t = make_list_tree();
    ig_call *call = make_call(&t, NULL);
    ig_view x = tensor(IG_F32, 5);
    for (int by_name = 0; by_name < 2; by_name++) {
        ig_call_begin(call);
        ig_call_open(call, IG_TREE_LIST);
        ig_call_put_tensor(call, &x), ig_call_put_tensor(call, &x);
        ig_call_close(call);
        ig_call_open(call, IG_TREE_RECORD);
        if (by_name) {
            ig_call_name(call, "y"), ig_call_open(call, IG_TREE_TUPLE);
            ig_call_close(call), ig_call_name(call, "x");
        }
        ig_call_put_tensor(call, &x);
        CHECK_INT(ig_call_last_input(call), 2);
        if (!by_name) {
            ig_call_open(call, IG_TREE_TUPLE), ig_call_close(call);
            ig_call_put_none(call);
        }
        ig_call_close(call);
        check_finishes(call, 3);
    }
    ig_call_begin(call);
    ig_call_name(call, "p"), ig_call_open(call, IG_TREE_RECORD);
    ig_call_name(call, "w");
    check_fails(call, "p: there is no field 'w'");
    ig_call_begin(call);
    ig_call_name(call, "p"), ig_call_open(call, IG_TREE_RECORD);
    ig_call_put_tensor(call, &x), ig_call_close(call);
    check_fails(call, "p.y: expected a tuple, got nothing");
    ig_call_destroy(call);
}

/* ---- keyed and jagged tensors, complex and quantized ones ---- */

static void add_features(tree *t) {
    box(t, IG_TREE_KJT, "f", 4);
    box(t, IG_TREE_LIST, "keys", 2), text(t, "a"), text(t, "b");
    leaf(t, IG_TREE_TENSOR, "values"), leaf(t, IG_TREE_TENSOR, "lengths");
    add(t, IG_TREE_NONE, "weights");
    box(t, IG_TREE_KT, "k", 3);
    box(t, IG_TREE_LIST, "keys", 1), text(t, "a");
    box(t, IG_TREE_LIST, "length_per_key", 1), whole(t, IG_TREE_INT, "", 4);
    leaf(t, IG_TREE_TENSOR, "values");
    box(t, IG_TREE_JT, "j", 3);
    leaf(t, IG_TREE_TENSOR, "values"), leaf(t, IG_TREE_TENSOR, "lengths");
    leaf(t, IG_TREE_TENSOR, "weights");
    box(t, IG_TREE_COMPLEX, "c", 1), leaf(t, IG_TREE_TENSOR, "");
    box(t, IG_TREE_QUANTIZED, "q", 3);
    leaf(t, IG_TREE_TENSOR, "values");
    add(t, IG_TREE_FLOAT, "scale")->real = 0.5;
    whole(t, IG_TREE_INT, "zero_point", 3);
    add(t, IG_TREE_NONE, "");
}

static void put_keys(ig_call *call, const char *field, const char *second) {
    ig_call_name(call, field), ig_call_open(call, IG_TREE_LIST);
    ig_call_put_str(call, "a");
    if (second) {
        ig_call_put_str(call, second);
    }
    ig_call_close(call);
}

TEST(features_are_taken_apart) {
    tree t = start(5, 0);
    add_features(&t);
    ig_call *call = make_call(&t, NULL);
    ig_view x = tensor(IG_F32, 5), last = tensor(IG_F32, 6);
    ig_call_begin(call);
    ig_call_open(call, IG_TREE_KJT);
    ig_call_name(call, "lengths"), ig_call_put_tensor(call, &x);
    CHECK_INT(ig_call_last_input(call), 1);
    put_keys(call, "keys", "b");
    ig_call_name(call, "values"), ig_call_put_tensor(call, &x);
    ig_call_close(call); /* without weights, which are None */
    ig_call_open(call, IG_TREE_KT);
    put_keys(call, "keys", NULL);
    ig_call_name(call, "length_per_key"), ig_call_open(call, IG_TREE_LIST);
    ig_call_put_int(call, 4), ig_call_close(call);
    ig_call_name(call, "values"), ig_call_put_tensor(call, &x), ig_call_close(call);
    ig_call_open(call, IG_TREE_JT);
    ig_call_put_tensor(call, &x), ig_call_put_tensor(call, &x);
    ig_call_put_tensor(call, &x), ig_call_close(call);
    ig_call_open(call, IG_TREE_COMPLEX);
    ig_call_put_tensor(call, &x), ig_call_close(call);
    ig_call_open(call, IG_TREE_QUANTIZED);
    ig_call_put_tensor(call, &last), ig_call_put_float(call, 0.5);
    ig_call_put_int(call, 3), ig_call_close(call);
    CHECK_INT(check_finishes(call, 8)[7].dims[0], 6);
    ig_call_begin(call);
    ig_call_open(call, IG_TREE_KJT), put_keys(call, "keys", "c");
    check_fails(call, "args[0].keys[1]: expected the str 'b', got the str 'c'");
    ig_call_begin(call);
    ig_call_name(call, "f"), ig_call_open(call, IG_TREE_KJT);
    put_keys(call, "keys", "b"), ig_call_close(call);
    check_fails(call, "f.values: expected a tensor, got nothing");
    ig_call_begin(call);
    ig_call_name(call, "q"), ig_call_open(call, IG_TREE_QUANTIZED);
    ig_call_put_tensor(call, &x), ig_call_put_float(call, 0.25);
    check_fails(call, "q.scale: expected the float 0.5, got the float 0.25");
    ig_call_destroy(call);
}

/* ---- optionals ---- */

/* forward(o: optional(bool, tensor), n: optional(bool, none), k: optional(true, 5)) */
TEST(optionals_say_whether_they_are_there) {
    tree t = start(3, 0);
    box(&t, IG_TREE_OPTIONAL, "o", 2);
    leaf(&t, IG_TREE_BOOL, ""), leaf(&t, IG_TREE_TENSOR, "");
    box(&t, IG_TREE_OPTIONAL, "n", 2);
    leaf(&t, IG_TREE_BOOL, ""), add(&t, IG_TREE_NONE, "");
    box(&t, IG_TREE_OPTIONAL, "k", 2);
    whole(&t, IG_TREE_BOOL, "", 1), whole(&t, IG_TREE_INT, "", 5);
    add(&t, IG_TREE_NONE, "");
    ig_call *call = make_call(&t, NULL);
    ig_view x = tensor(IG_F32, 5), *inputs;
    size_t count;
    ig_call_begin(call);
    ig_call_put_tensor(call, &x), ig_call_put_none(call), ig_call_put_int(call, 5);
    inputs = check_finishes(call, 3);
    CHECK_INT(*(const uint8_t *)inputs[0].data, 1);
    CHECK_INT(inputs[1].dims[0], 5);
    CHECK_INT(*(const uint8_t *)inputs[2].data, 0);
    ig_call_begin(call);
    ig_call_name(call, "k"), ig_call_put_none(call);
    check_fails(call, "k: expected True, got False");
    ig_call_begin(call);
    ig_call_put_none(call);
    CHECK_STATUS(ig_call_finish(call, &inputs, &count), IG_UNSUPPORTED);
    CHECK_TEXT(ig_call_error(call),
               "args[0]: None in place of tensors is not supported");
    ig_call_destroy(call);
}

/* ---- depth ---- */

/* forward(x: [[[… tensor …]]]) with so many lists. */
static tree make_deep_tree(uint32_t depth) {
    tree t = start(1, 0);
    for (uint32_t i = 0; i < depth; i++) {
        box(&t, IG_TREE_LIST, i ? "" : "x", 1);
    }
    leaf(&t, IG_TREE_TENSOR, ""), add(&t, IG_TREE_NONE, "");
    return t;
}

TEST(depth_is_limited) {
    tree t = make_deep_tree(62);
    ig_call *call = make_call(&t, NULL), *deeper = NULL;
    ig_view x = tensor(IG_F32, 5);
    ig_call_begin(call);
    for (int i = 0; i < 62; i++) {
        ig_call_open(call, IG_TREE_LIST);
    }
    ig_call_put_tensor(call, &x);
    for (int i = 0; i < 62; i++) {
        ig_call_close(call);
    }
    check_finishes(call, 1);
    ig_call_begin(call);
    for (int i = 0; i < 1000000; i++) {
        (void)ig_call_open(call, IG_TREE_LIST);
    }
    CHECK(strstr(ig_call_error(call), "expected a tensor, got a list"));
    ig_call_destroy(call);
    t = make_deep_tree(63);
    close_tree(&t);
    char why[200];
    ig_call_options options = { sizeof options, why, sizeof why };
    CHECK_STATUS(ig_call_create_from_nodes(t.nodes, t.count, NULL, &options, &deeper),
                 IG_LIMIT);
    CHECK_TEXT(why, "the tree has a depth beyond the limit of 64");
    CHECK_PTR(deeper, NULL);
}

/* ---- results ---- */

static double real = 2.5;
static float single = 0.5F;
static int64_t whole_number = -7;
static int32_t short_number = 12;
static uint8_t yes = 1, no = 0;

static ig_view scalar(void *data, int32_t dtype) {
    return (ig_view){ .data = data, .dtype = dtype };
}

/* forward() -> ({"y": tensor, 7: int}, P(f=float), optional(bool, (int,)),
 * optional(bool, tensor), bool, "s") */
static tree make_result_tree(void) {
    tree t = start(0, 0);
    t.is_result = true;
    box(&t, IG_TREE_TUPLE, "", 6);
    box(&t, IG_TREE_DICT, "", 4);
    text(&t, "y"), leaf(&t, IG_TREE_TENSOR, "");
    whole(&t, IG_TREE_INT, "", 7), leaf(&t, IG_TREE_INT, "");
    box(&t, IG_TREE_RECORD, "", 1);
    t.nodes[t.count - 1].text = "P";
    leaf(&t, IG_TREE_FLOAT, "f");
    box(&t, IG_TREE_OPTIONAL, "", 2), leaf(&t, IG_TREE_BOOL, "");
    box(&t, IG_TREE_TUPLE, "", 1), leaf(&t, IG_TREE_INT, "");
    box(&t, IG_TREE_OPTIONAL, "", 2), leaf(&t, IG_TREE_BOOL, "");
    leaf(&t, IG_TREE_TENSOR, "");
    leaf(&t, IG_TREE_BOOL, ""), text(&t, "s");
    return t;
}

TEST(results_are_read_depth_first) {
    static const struct {
        ig_tree_kind kind;
        uint32_t children;
        int output;
        const char *path;
    } rows[] = {
        { IG_TREE_TUPLE, 6, -1, "result" },
        { IG_TREE_DICT, 4, -1, "result[0]" },
        { IG_TREE_STR, 0, -1, "result[0][0]" },
        { IG_TREE_TENSOR, 0, 0, "result[0]['y']" },
        { IG_TREE_INT, 0, -1, "result[0][2]" },
        { IG_TREE_INT, 0, 1, "result[0][7]" },
        { IG_TREE_RECORD, 1, -1, "result[1]" },
        { IG_TREE_FLOAT, 0, 2, "result[1].f" },
        { IG_TREE_TUPLE, 1, -1, "result[2]" },
        { IG_TREE_INT, 0, 4, "result[2][0]" },
        { IG_TREE_NONE, 0, -1, "result[3]" },
        { IG_TREE_BOOL, 0, 7, "result[4]" },
        { IG_TREE_STR, 0, -1, "result[5]" },
    };
    tree t = make_result_tree();
    ig_call *call = make_call(&t, NULL);
    ig_view outputs[] = {
        tensor(IG_F32, 5),      scalar(&whole_number, IG_I64), scalar(&real, IG_F64),
        scalar(&yes, IG_BOOL8), scalar(&short_number, IG_I32), scalar(&no, IG_BOOL8),
        tensor(IG_F32, 1),      scalar(&yes, IG_BOOL8)
    };
    ig_call_value value;
    CHECK_INT(ig_call_next(call, &value), 0); /* nothing to read yet */
    for (int again = 0; again < 2; again++) {
        CHECK_OK(ig_call_read(call, outputs, IG_COUNT_OF(outputs)));
        for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
            char path[64];
            CHECK_INT(ig_call_next(call, &value), 1);
            ig_call_path(call, path, sizeof path);
            CHECK_TEXT(path, rows[i].path);
            CHECK_INT(value.kind, rows[i].kind);
            CHECK_INT(value.child_count, rows[i].children);
            CHECK_INT(value.output, rows[i].output);
            CHECK_PTR(value.view, rows[i].output < 0 ? NULL : &outputs[rows[i].output]);
            CHECK(i != 5 || value.integer == -7);
            CHECK(i != 7 || (value.real == 2.5 && strcmp(value.name, "f") == 0));
            CHECK(i != 9 || value.integer == 12);
            CHECK(i != 11 || value.integer == 1);
            CHECK(i != 6 || strcmp(value.text, "P") == 0);
        }
        CHECK_INT(ig_call_next(call, &value), 0);
    }
    ig_call_destroy(call);
}

TEST(containers_can_be_skipped) {
    tree t = make_result_tree();
    ig_call *call = make_call(&t, NULL);
    ig_view outputs[8];
    for (size_t i = 0; i < IG_COUNT_OF(outputs); i++) {
        outputs[i] = scalar(&yes, IG_BOOL8);
    }
    outputs[2] = scalar(&single, IG_F32);
    ig_call_value value;
    char path[8];
    CHECK_OK(ig_call_read(call, outputs, IG_COUNT_OF(outputs)));
    ig_call_next(call, &value), ig_call_next(call, &value);
    CHECK_INT(value.kind, IG_TREE_DICT);
    ig_call_skip(call), ig_call_next(call, &value);
    CHECK_INT(value.kind, IG_TREE_RECORD);
    ig_call_next(call, &value);
    CHECK(value.real == 0.5);
    ig_call_next(call, &value);
    CHECK_INT(value.kind, IG_TREE_TUPLE); /* in the optional */
    ig_call_skip(call), ig_call_next(call, &value);
    CHECK_INT(value.output, 6);
    ig_call_path(call, path, sizeof path);
    CHECK_TEXT(path, "result["); /* cut to fit */
    ig_call_destroy(call);
}

TEST(outputs_must_fit_the_tree) {
    tree t = make_result_tree();
    ig_call *call = make_call(&t, NULL);
    ig_view outputs[8];
    ig_call_value value;
    for (size_t i = 0; i < IG_COUNT_OF(outputs); i++) {
        outputs[i] = scalar(&yes, IG_BOOL8);
    }
    CHECK_STATUS(ig_call_read(call, outputs, 7), IG_INVALID);
    CHECK_TEXT(ig_call_error(call), "result: expected 8 outputs, got 7");
    CHECK_INT(ig_call_next(call, &value), 0);
    outputs[1] = tensor(IG_I64, 2);
    CHECK_STATUS(ig_call_read(call, outputs, 8), IG_INVALID);
    CHECK_TEXT(ig_call_error(call), "result[0][7]: expected an int, got i64[2]");
    outputs[1] = scalar(&real, IG_F64);
    CHECK_STATUS(ig_call_read(call, outputs, 8), IG_INVALID);
    CHECK_TEXT(ig_call_error(call), "result[0][7]: expected an int, got f64[]");
    ig_call_destroy(call);
}

TEST(changed_arguments_have_outputs) {
    tree t = make_dict_tree();
    ig_call *call = make_call(&t, ports);
    CHECK_INT(ig_call_changed(call, 0), 2);
    CHECK_INT(ig_call_changed(call, 1), -1);
    CHECK_INT(ig_call_changed(call, 99), -1);
    ig_call_destroy(call);
}

/* ---- trees that are none ---- */

TEST(damaged_trees_are_refused) {
    for (int damage = 0; damage < 9; damage++) {
        tree t = make_dict_tree();
        ig_call *call = NULL;
        close_tree(&t);
        size_t count = t.count;
        switch (damage) {
        case 0:
            count = 0;
            break;
        case 1:
            t.nodes[0].size++;
            break;
        case 2:
            t.nodes[0].integer = 6;
            break;
        case 3:
            t.nodes[2].size = 3;
            break;
        case 4:
            t.nodes[2].child_count = 3;
            break;
        case 5:
            t.nodes[4].leaf = 2;
            break;
        case 6:
            t.nodes[3].kind = IG_TREE_NONE;
            break;
        case 7:
            t.nodes[1].name = NULL;
            break;
        default:
            t.nodes[1].leaf = -1;
            break;
        }
        CHECK_STATUS(ig_call_create_from_nodes(t.nodes, count, NULL, NULL, &call),
                     IG_INVALID);
        CHECK_PTR(call, NULL);
    }
    ig_call_destroy(NULL);
}

UNIT_SUITE(runtime_tree, leaves_become_inputs_in_the_order_of_the_tree,
           arguments_have_names, errors_name_the_argument, the_first_error_stays,
           dicts_know_their_keys, arguments_are_complete, known_values_must_be_equal,
           numbers_become_inputs_of_rank_0, lists_have_the_length_of_the_tree,
           named_tuples_take_fields_by_name_or_in_order, features_are_taken_apart,
           optionals_say_whether_they_are_there, depth_is_limited,
           results_are_read_depth_first, containers_can_be_skipped,
           outputs_must_fit_the_tree, changed_arguments_have_outputs,
           damaged_trees_are_refused)
