/* Writes the example: a small DLRM as PyTorch exports it, and a batch of input.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     make_dlrm model.onnx inputs/
 *
 * The model scores ads for users: 13 counts go through an MLP, each of 8 lists of ids
 * is summed up from a table of embeddings, all pairs of these vectors are multiplied,
 * and a second MLP makes a click probability of it.
 *
 *     dense ── MLP ───────────────────┬──────────────┐
 *     ids_0, offsets_0 ── bag ── t0 ──┤ dot products ├── concat ── MLP ── sigmoid
 *       …                             │              │
 *     ids_7, offsets_7 ── bag ── t7 ──┘              │
 *
 * nn.EmbeddingBag has no operator in ONNX; the exporter writes a Loop over bags, each
 * with Slice, Gather and ReduceSum.  Weights are seeded random numbers, scaled so that
 * scores are spread.  A protobuf message is a run of (field number, type, value); the
 * few field numbers that are needed stand in the code that writes them.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DENSE = 13, TABLES = 8, DIM = 16, FEATURES = TABLES + 1, BATCH = 8 };
enum { PAIRS = FEATURES * (FEATURES - 1) / 2 };

typedef struct table {
    const char *name;
    int rows, max; /* ids of one bag, at most */
} table;

static const table tables[TABLES] = {
    { "user", 1000, 1 },      { "history", 800, 12 }, { "ad", 500, 1 },
    { "advertiser", 120, 1 }, { "topic", 64, 4 },     { "query", 600, 5 },
    { "device", 24, 1 },      { "city", 200, 2 },
};

/* ---- bytes ---- */

typedef struct bytes {
    char *data;
    size_t size, capacity;
} bytes;

static void put(bytes *to, const void *from, size_t size) {
    if (to->size + size > to->capacity) {
        to->capacity = 2 * (to->size + size);
        to->data = realloc(to->data, to->capacity);
        if (!to->data) {
            fputs("make_dlrm: memory ran out\n", stderr);
            exit(1);
        }
    }
    if (size) {
        memcpy(to->data + to->size, from, size);
    }
    to->size += size;
}

static void put_varint(bytes *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        put(to, &(uint8_t){ (uint8_t)(value | 0x80) }, 1);
    }
    put(to, &(uint8_t){ (uint8_t)value }, 1);
}

static void put_number(bytes *to, unsigned field, int64_t value) {
    put_varint(to, field << 3);
    put_varint(to, (uint64_t)value);
}

static void put_content(bytes *to, unsigned field, const void *from, size_t size) {
    put_varint(to, field << 3 | 2);
    put_varint(to, size);
    put(to, from, size);
}

static void put_text(bytes *to, unsigned field, const char *text) {
    put_content(to, field, text, strlen(text));
}

/* A finished message becomes a field of another. */
static void put_message(bytes *to, unsigned field, bytes *message) {
    put_content(to, field, message->data, message->size);
    free(message->data);
    *message = (bytes){ 0 };
}

/* ---- pieces of a model ---- */

enum { FLOAT = 1, INT64 = 7 };

static void put_tensor(bytes *graph, const char *name, int type, int rank,
                       const int64_t *dims, const void *data) {
    bytes tensor = { 0 };
    size_t size = type == FLOAT ? 4 : 8;
    for (int i = 0; i < rank; i++) {
        put_number(&tensor, 1, dims[i]);
        size *= (size_t)dims[i];
    }
    put_number(&tensor, 2, type);
    put_text(&tensor, 8, name);
    put_content(&tensor, 9, data, size);
    put_message(graph, 5, &tensor);
}

static void put_ints(bytes *graph, const char *name, int count, const int64_t *values) {
    put_tensor(graph, name, INT64, 1, &(int64_t){ count }, values);
}

/* "batch" or a number for each extent. */
static void put_port(bytes *graph, unsigned field, const char *name, int type, int rank,
                     const char *const *dims) {
    bytes shape = { 0 }, tensor = { 0 }, value = { 0 }, port = { 0 };
    for (int i = 0; i < rank; i++) {
        bytes dim = { 0 };
        if (dims[i][0] >= '0' && dims[i][0] <= '9') {
            put_number(&dim, 1, atoi(dims[i]));
        } else {
            put_text(&dim, 2, dims[i]);
        }
        put_message(&shape, 1, &dim);
    }
    put_number(&tensor, 1, type);
    put_message(&tensor, 2, &shape);
    put_message(&value, 1, &tensor);
    put_text(&port, 1, name);
    put_message(&port, 2, &value);
    put_message(graph, field, &port);
}

static void put_int_attribute(bytes *node, const char *name, int64_t value) {
    bytes attribute = { 0 };
    put_text(&attribute, 1, name);
    put_number(&attribute, 3, value);
    put_number(&attribute, 20, 2);
    put_message(node, 5, &attribute);
}

static void put_ints_attribute(bytes *node, const char *name, int count,
                               const int64_t *values) {
    bytes attribute = { 0 };
    put_text(&attribute, 1, name);
    for (int i = 0; i < count; i++) {
        put_number(&attribute, 8, values[i]);
    }
    put_number(&attribute, 20, 7);
    put_message(node, 5, &attribute);
}

static void put_graph_attribute(bytes *node, const char *name, bytes *graph) {
    bytes attribute = { 0 };
    put_text(&attribute, 1, name);
    put_message(&attribute, 6, graph);
    put_number(&attribute, 20, 5);
    put_message(node, 5, &attribute);
}

/* `names` are blank-separated: inputs, then "->", then outputs. */
static bytes begin_node(const char *op, const char *names) {
    bytes node = { 0 };
    unsigned field = 1;
    char copy[512];
    snprintf(copy, sizeof copy, "%s", names);
    for (char *at = strtok(copy, " "); at; at = strtok(NULL, " ")) {
        if (strcmp(at, "->") == 0) {
            field = 2;
        } else {
            put_text(&node, field, at);
        }
    }
    put_text(&node, 4, op);
    return node;
}

static void put_node(bytes *graph, const char *op, const char *names) {
    bytes node = begin_node(op, names);
    put_message(graph, 1, &node);
}

/* The same for the nodes of one table: every # in names is its number. */
static void put_nodes_of(bytes *graph, int index, const char *op, const char *names) {
    char text[512];
    size_t size = 0;
    for (const char *at = names; *at && size < sizeof text - 4; at++) {
        text[size++] = *at == '#' ? (char)('0' + index) : *at;
    }
    text[size] = '\0';
    put_node(graph, op, text);
}

/* ---- weights ---- */

static uint64_t state = 2026;

static double uniform(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void put_random(bytes *graph, const char *name, int rank, const int64_t *dims,
                       double scale) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        count *= dims[i];
    }
    float *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; values && i < count; i++) {
        values[i] = (float)(scale * (2 * uniform() - 1));
    }
    if (values) {
        put_tensor(graph, name, FLOAT, rank, dims, values);
    }
    free(values);
}

/* ---- the model ---- */

/* A Gemm, and a Relu behind it unless `to` is "logit"; extents: outputs, inputs. */
static void put_linear(bytes *graph, const char *layer, const char *from,
                       const char *to, const int64_t *extents) {
    char weight[40], bias[40], sum[40], names[160];
    int has_relu = strcmp(to, "logit") != 0;
    snprintf(weight, sizeof weight, "%s.weight", layer);
    snprintf(bias, sizeof bias, "%s.bias", layer);
    snprintf(sum, sizeof sum, "%s%s", to, has_relu ? "_sum" : "");
    put_random(graph, weight, 2, extents, sqrt(6.0 / (double)extents[1]));
    put_random(graph, bias, 1, extents, 0.1);
    snprintf(names, sizeof names, "%s %s %s -> %s", from, weight, bias, sum);
    bytes gemm = begin_node("Gemm", names);
    put_int_attribute(&gemm, "transB", 1);
    put_message(graph, 1, &gemm);
    if (has_relu) {
        snprintf(names, sizeof names, "%s -> %s", sum, to);
        put_node(graph, "Relu", names);
    }
}

/* The body of a bag's Loop: (i, go) -> (go, sum of the rows of bag i). */
static bytes make_bag_body(int index) {
    bytes body = { 0 };
    put_nodes_of(&body, index, "Gather", "ends_ext_# i -> from");
    put_nodes_of(&body, index, "Gather", "ends_# i -> to");
    put_nodes_of(&body, index, "Unsqueeze", "from zero -> from1");
    put_nodes_of(&body, index, "Unsqueeze", "to zero -> to1");
    put_nodes_of(&body, index, "Slice", "ids_# from1 to1 zero -> bag");
    put_nodes_of(&body, index, "Gather", "table_#.weight bag -> rows");
    bytes sum = begin_node("ReduceSum", "rows zero -> sum");
    put_int_attribute(&sum, "keepdims", 0);
    put_message(&body, 1, &sum);
    put_node(&body, "Identity", "go -> again");
    put_text(&body, 2, "bag");
    put_port(&body, 11, "i", INT64, 0, NULL);
    put_port(&body, 11, "go", 9, 0, NULL);
    put_port(&body, 12, "again", 9, 0, NULL);
    put_port(&body, 12, "sum", FLOAT, 1, (const char *[]){ "16" });
    return body;
}

/* nn.EmbeddingBag(mode="sum") of one table, as the exporter writes it. */
static void put_bag(bytes *graph, int index) {
    char name[40];
    snprintf(name, sizeof name, "table_%d.weight", index);
    put_random(graph, name, 2, (int64_t[]){ tables[index].rows, DIM }, 0.6);
    put_nodes_of(graph, index, "Shape", "ids_# -> ids_shape_#");
    put_nodes_of(graph, index, "Gather", "ids_shape_# zero_scalar -> ids_count_#");
    put_nodes_of(graph, index, "Unsqueeze", "ids_count_# zero -> ids_end_#");
    bytes concat = { 0 };
    char names[80];
    snprintf(names, sizeof names, "offsets_%d ids_end_%d -> ends_ext_%d", index, index,
             index);
    concat = begin_node("Concat", names);
    put_int_attribute(&concat, "axis", 0);
    put_message(graph, 1, &concat);
    put_nodes_of(graph, index, "Slice", "ends_ext_# one last zero one -> ends_#");
    put_nodes_of(graph, index, "Shape", "ends_# -> ends_shape_#");
    put_nodes_of(graph, index, "Gather", "ends_shape_# zero_scalar -> bags_#");
    snprintf(names, sizeof names, "bags_%d yes -> sums_%d", index, index);
    bytes loop = begin_node("Loop", names), body = make_bag_body(index);
    put_graph_attribute(&loop, "body", &body);
    put_message(graph, 1, &loop);
}

/* Dot products of all pairs: features x features', its lower triangle. */
static void put_interaction(bytes *graph) {
    int64_t pairs[PAIRS][2];
    for (int row = 1, at = 0; row < FEATURES; row++) {
        for (int column = 0; column < row; column++, at++) {
            pairs[at][0] = row;
            pairs[at][1] = column;
        }
    }
    put_tensor(graph, "pairs", INT64, 2, (int64_t[]){ PAIRS, 2 }, pairs);
    put_ints(graph, "features_shape", 3, (int64_t[]){ -1, FEATURES, DIM });
    bytes concat = begin_node(
        "Concat", "x2 sums_0 sums_1 sums_2 sums_3 sums_4 sums_5 sums_6 sums_7 -> all");
    put_int_attribute(&concat, "axis", 1);
    put_message(graph, 1, &concat);
    put_node(graph, "Reshape", "all features_shape -> features");
    bytes turned = begin_node("Transpose", "features -> turned");
    put_ints_attribute(&turned, "perm", 3, (int64_t[]){ 0, 2, 1 });
    put_message(graph, 1, &turned);
    put_node(graph, "MatMul", "features turned -> products");
    turned = begin_node("Transpose", "products -> by_pair");
    put_ints_attribute(&turned, "perm", 3, (int64_t[]){ 1, 2, 0 });
    put_message(graph, 1, &turned);
    put_node(graph, "GatherND", "by_pair pairs -> chosen");
    turned = begin_node("Transpose", "chosen -> dots");
    put_ints_attribute(&turned, "perm", 2, (int64_t[]){ 1, 0 });
    put_message(graph, 1, &turned);
    concat = begin_node("Concat", "x2 dots -> z");
    put_int_attribute(&concat, "axis", 1);
    put_message(graph, 1, &concat);
}

static void put_constants(bytes *graph) {
    put_ints(graph, "zero", 1, (int64_t[]){ 0 });
    put_ints(graph, "one", 1, (int64_t[]){ 1 });
    put_ints(graph, "last", 1, (int64_t[]){ INT64_MAX });
    put_tensor(graph, "zero_scalar", INT64, 0, NULL, (int64_t[]){ 0 });
    bytes yes = { 0 };
    put_number(&yes, 2, 9);
    put_text(&yes, 8, "yes");
    put_content(&yes, 9, "\1", 1);
    put_message(graph, 5, &yes);
}

static bytes make_model(void) {
    bytes graph = { 0 }, opset = { 0 }, model = { 0 };
    put_constants(&graph);
    put_linear(&graph, "bottom.0", "dense", "x1", (int64_t[]){ 64, DENSE });
    put_linear(&graph, "bottom.1", "x1", "x2", (int64_t[]){ DIM, 64 });
    for (int i = 0; i < TABLES; i++) {
        put_bag(&graph, i);
    }
    put_interaction(&graph);
    put_linear(&graph, "top.0", "z", "y1", (int64_t[]){ 64, DIM + PAIRS });
    put_linear(&graph, "top.1", "y1", "y2", (int64_t[]){ 32, 64 });
    put_linear(&graph, "top.2", "y2", "logit", (int64_t[]){ 1, 32 });
    put_node(&graph, "Sigmoid", "logit -> score");
    put_text(&graph, 2, "dlrm");
    put_port(&graph, 11, "dense", FLOAT, 2, (const char *[]){ "batch", "13" });
    for (int i = 0; i < TABLES; i++) {
        char ids[24], count[24], offsets[24];
        snprintf(ids, sizeof ids, "ids_%d", i);
        snprintf(count, sizeof count, "nnz_%d", i);
        snprintf(offsets, sizeof offsets, "offsets_%d", i);
        put_port(&graph, 11, ids, INT64, 1, (const char *[]){ count });
        put_port(&graph, 11, offsets, INT64, 1, (const char *[]){ "batch" });
    }
    put_port(&graph, 12, "score", FLOAT, 2, (const char *[]){ "batch", "1" });
    put_text(&opset, 1, "");
    put_number(&opset, 2, 17);
    put_number(&model, 1, 8);
    put_text(&model, 2, "make_dlrm");
    put_message(&model, 7, &graph);
    put_message(&model, 8, &opset);
    return model;
}

/* ---- files ---- */

static void write_file(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    int is_good = file && fwrite(data, 1, size, file) == size;
    if ((file && fclose(file) != 0) || !is_good) {
        fprintf(stderr, "make_dlrm: %s: %s\n", path, strerror(errno));
        exit(1);
    }
}

/* numpy's format: a header padded to a multiple of 64, then the elements. */
static void write_array(const char *folder, const char *name, const char *type,
                        int count, int columns, const void *data) {
    char path[4096], text[128], tail[24] = "";
    if (columns) {
        snprintf(tail, sizeof tail, " %d", columns);
    }
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    int length = snprintf(text, sizeof text,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%d,%s), }",
                          type, count, tail);
    bytes file = { 0 };
    put(&file, "\x93NUMPY\1\0\166\0", 10);
    put(&file, text, (size_t)length);
    while (file.size < 127) {
        put(&file, " ", 1);
    }
    put(&file, "\n", 1);
    size_t width = (size_t)(type[2] - '0');
    put(&file, data, (size_t)count * (size_t)(columns ? columns : 1) * width);
    write_file(path, file.data, file.size);
    free(file.data);
}

/* Counts as logs of clicks hide them: most are small, some large. */
static void write_dense(const char *folder) {
    float dense[BATCH][DENSE];
    for (int i = 0; i < BATCH; i++) {
        for (int k = 0; k < DENSE; k++) {
            dense[i][k] = (float)log1p(floor(20 * pow(uniform(), 4)));
        }
    }
    write_array(folder, "dense", "<f4", BATCH, DENSE, dense);
}

/* Bags of 0 to `max` ids (always one where only one fits), popular ids more often. */
static void write_ids(const char *folder, int index) {
    int64_t ids[BATCH * 16], offsets[BATCH];
    int count = 0;
    char name[24];
    const table *of = &tables[index];
    for (int i = 0; i < BATCH; i++) {
        int wanted = of->max == 1 ? 1 : (int)(uniform() * (of->max + 1));
        offsets[i] = count;
        for (int k = 0; k < wanted; k++) {
            ids[count++] = (int64_t)(pow(uniform(), 3) * of->rows);
        }
    }
    snprintf(name, sizeof name, "ids_%d", index);
    write_array(folder, name, "<i8", count, 0, ids);
    snprintf(name, sizeof name, "offsets_%d", index);
    write_array(folder, name, "<i8", BATCH, 0, offsets);
    printf("  %-10s %4d rows of %d, %2d ids in %d bags\n", of->name, of->rows, DIM,
           count, BATCH);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: make_dlrm MODEL.onnx INPUT_DIR\n", stderr);
        return 2;
    }
    bytes model = make_model();
    write_file(argv[1], model.data, model.size);
    printf("%s: %.0f KB; a batch of %d in %s:\n", argv[1], (double)model.size / 1e3,
           BATCH, argv[2]);
    free(model.data);
    if (mkdir(argv[2], 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "make_dlrm: %s: %s\n", argv[2], strerror(errno));
        return 1;
    }
    write_dense(argv[2]);
    for (int i = 0; i < TABLES; i++) {
        write_ids(argv[2], i);
    }
    return 0;
}
