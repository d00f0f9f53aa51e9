/* One formula, one graph: an ONNX node and torch's call of the same function come to
 * the same ops and attributes, whichever importer read them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each pair is a model of one node (or of a few, one after another) and a program of
 * one call over the same inputs.  Both go through the clean pipeline; then every op but
 * constants, guards and `ret` is held against the other side's, by name, attributes and
 * result types.  Constants may be made in different ways.  Not here are functions that
 * differ by definition: thresholds of a NaN, and where hard_swish leaves the range.
 */
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/torch/torch_case.h"
#include "tests/unit/unit.h"

#include "frontend/onnx/import/onnx.h"
#include "frontend/torch/entry/torchscript.h"
#include "ir/text/text.h"
#include "passes/engine/pass.h"

#define PICKLE \
    "\200\002c__torch__\nM\nq\000)\201}(X\010\000\000\000trainingq\001\210ub."

enum { INPUTS_MAX = 5, OPS_MAX = 4, COUNT_MAX = 256 };

typedef struct pair {
    const char
        *inputs; /* "x=2,8,4,6 t=2:i64", else f32; only the node reads constants: "w#8"
                         * of 0.5, "z%8" of u8 3, "z^." of i8 3 ("."  a number), and
                         * "s@2,3", these integers */
    const char *node; /* "Softmax@13 x axis:i=1"; "Op …; Op a …": a is the first's */
    const char *call; /* "torch.softmax(x, 1)", or statements */
} pair;

#define X "x=2,8,4,6 "
#define QKV "q=2,3,4,8 k=2,3,5,8 v=2,3,5,6 "
#define SDPA "torch.scaled_dot_product_attention(q, k, v, "
#define STEPS "x=3,2,5 "
#define HALVES(...) "torch.full([" #__VA_ARGS__ "], 0.5)"
#define STATE "torch.zeros([1, 2, 4])"
#define LAYER(gates) \
    "[" HALVES(gates, 5) ", " HALVES(gates, 4) ", " HALVES(gates) ", " HALVES(gates) "]"
#define FORWARD ", True, 1, 0., False, False, False)\n    return y"

static const pair pairs[] = {
    { X, "Relu@14 x", "torch.relu(x)" },
    { X, "Sigmoid@13 x", "torch.sigmoid(x)" },
    { X, "Tanh@13 x", "torch.tanh(x)" },
    { X, "Gelu@20 x approximate:s=tanh", "torch.gelu(x, approximate=\"tanh\")" },
    { "x=2,8:f64", "Gelu@20 x", "torch.gelu(x)" }, /* f32: docs/decisions.md */
    { X, "Swish@24 x", "torch.silu(x)" },
    { X, "HardSigmoid@7 x alpha:f=0.16666667", "torch.hardsigmoid(x)" },
    { X, "Elu@7 x alpha:f=1", "torch.elu(x)" },
    { X, "Selu@7 x", "torch.selu(x)" },
    { X, "Celu@12 x alpha:f=1", "torch.celu(x)" },
    { X, "LeakyRelu@16 x alpha:f=0.01", "torch.leaky_relu(x)" },
    { X, "Mish@18 x", "torch.mish(x)" },
    { X, "Softplus@7 x", "torch.softplus(x)" },
    { X, "Clip@7 x min:f=0 max:f=6", "torch.hardtanh(x, 0., 6.)" },
    { X, "Softmax@13 x axis:i=1", "torch.softmax(x, 1)" },
    { X, "LogSoftmax@13 x axis:i=3", "torch.log_softmax(x, 3)" },
    { X "w=6 b=6", "LayerNormalization@17 x,w,b axis:i=-1 epsilon:f=0.001",
      "torch.layer_norm(x, [6], w, b, 0.0010000000474974513)" },
    { X "w=8 b=8", "GroupNormalization@21 x,w,b num_groups:i=2 epsilon:f=0.001",
      "torch.group_norm(x, 2, w, b, 0.0010000000474974513)" },
    { X "w=6", "RMSNormalization@23 x,w axis:i=-1 epsilon:f=0.001",
      "torch.rms_norm(x, [6], w, 0.0010000000474974513)" },
    { X "w=8 b=8 m=8 v=8", "BatchNormalization@15 x,w,b,m,v epsilon:f=0.001",
      "torch.batch_norm(x, w, b, m, v, False, 0.1, 0.0010000000474974513, False)" },
    { X "w=8 b=8", "InstanceNormalization@7 x,w,b epsilon:f=0.001",
      "torch.instance_norm(x, w, b, None, None, True, 0.1, 0.0010000000474974513, False)" },
    { QKV, "Attention@23 q,k,v", SDPA "None, 0., False)" },
    { QKV, "Attention@23 q,k,v scale:f=0.25", SDPA "None, 0., False, scale=0.25)" },
    { QKV, "Attention@23 q,k,v is_causal:i=1", SDPA "None, 0., True)" },
    { QKV "m=4,5", "Attention@24 q,k,v,m", SDPA "m, 0., False)" },
    { QKV "m=2,1,4,5:bool", "Attention@24 q,k,v,m", SDPA "m, 0., False)" },
    { "q=2,6,4,8 k=2,3,4,8 v=2,3,4,8", "Attention@23 q,k,v is_causal:i=1",
      SDPA "None, 0., True, scale=None, enable_gqa=True)" },
    { "x=4,6 t=4:i64", "SoftmaxCrossEntropyLoss@13 x,t ignore_index:i=-100",
      "torch.cross_entropy_loss(x, t, None, 1, -100, 0.)" },
    { "x=4,6,3 t=4,3:i64 w=6",
      "SoftmaxCrossEntropyLoss@13 x,t,w ignore_index:i=2 reduction:s=none",
      "torch.cross_entropy_loss(x, t, w, 0, 2, 0.)" },
    { "x=4,6 t=4:i64 w=6", "NegativeLogLikelihoodLoss@13 x,t,w ignore_index:i=2",
      "torch.nll_loss(x, t, w, 1, 2)" },
    { "x=4,6,3,2 t=4,3,2:i64",
      "NegativeLogLikelihoodLoss@13 x,t ignore_index:i=0 reduction:s=sum",
      "torch.nll_loss2d(x, t, None, 2, 0)" },
    { X "w=5,8,3,3 b=5", "Conv@11 x,w,b pads:l=1,1,1,1 strides:l=2,2",
      "torch.conv2d(x, w, b, [2, 2], [1, 1], [1, 1], 1)" },
    { X "w=8,5,2,2 b=5", "ConvTranspose@11 x,w,b strides:l=2,2",
      "torch.conv_transpose2d(x, w, b, [2, 2], [0, 0], [0, 0], 1, [1, 1])" },
    { X, "MaxPool@12 x kernel_shape:l=2,2 strides:l=2,2",
      "torch.max_pool2d(x, [2, 2], [2, 2], [0, 0], [1, 1], False)" },
    { X, "AveragePool@11 x kernel_shape:l=2,2 strides:l=2,2",
      "torch.avg_pool2d(x, [2, 2], [2, 2], [0, 0], False, False)" },
    { "x=3,8 y=8,5", "MatMul@13 x,y", "torch.matmul(x, y)" },
    { X, "ReduceMean@13 x axes:l=1 keepdims:i=1", "torch.mean(x, [1], True)" },
    { X, "ReduceSum@11 x axes:l=3 keepdims:i=0", "torch.sum(x, [3])" },
    { X, "Transpose@13 x perm:l=0,2,3,1", "torch.permute(x, [0, 2, 3, 1])" },
    { X "y=2,3,4,6", "Concat@13 x,y axis:i=1", "torch.cat([x, y], 1)" },
    { X "y=1,8,1,1", "Mul@14 x,y", "torch.mul(x, y)" },
    { X, "DepthToSpace@13 x blocksize:i=2 mode:s=CRD", "torch.pixel_shuffle(x, 2)" },
    { X "s@8,12",
      "Resize@18 x,,,s axes:l=2,3 coordinate_transformation_mode:s=asymmetric nearest_mode:s=floor",
      "torch.upsample_nearest2d(x, [8, 12], None, None)" },
    { X "s@7,9", "Resize@18 x,,,s axes:l=2,3 mode:s=linear",
      "torch.upsample_bilinear2d(x, [7, 9], False, None, None)" },
    { X "s@7,9",
      "Resize@18 x,,,s axes:l=2,3 mode:s=linear coordinate_transformation_mode:s=align_corners",
      "torch.upsample_bilinear2d(x, [7, 9], True, None, None)" },
    { X "s@7,9", "Resize@18 x,,,s axes:l=2,3 mode:s=cubic",
      "torch.upsample_bicubic2d(x, [7, 9], False, None, None)" },
    { X "s@2,3",
      "Resize@18 x,,,s axes:l=2,3 mode:s=linear antialias:i=1 exclude_outside:i=1",
      "torch._upsample_bilinear2d_aa(x, [2, 3], False, None, None)" },
    { X "s#2", "Resize@18 x,,s axes:l=2,3 mode:s=linear",
      "torch.upsample_bilinear2d(x, [2, 3], False, 0.5, 0.5)" },
    { X "g=2,5,7,2",
      "GridSample@16 x,g mode:s=bilinear padding_mode:s=border align_corners:i=1",
      "torch.grid_sampler(x, g, 0, 1, True)" },
    { STEPS "w#1,16,5 r#1,16,4 b#1,32",
      "LSTM@12 x,w,r,b hidden_size:i=4; Squeeze@12 a axes:l=1",
      "y, h, c = torch.lstm(x, [" STATE ", " STATE "], " LAYER(16) FORWARD },
    { STEPS "w#1,12,5 r#1,12,4 b#1,24",
      "GRU@12 x,w,r,b hidden_size:i=4 linear_before_reset:i=1; Squeeze@12 a axes:l=1",
      "y, h = torch.gru(x, " STATE ", " LAYER(12) FORWARD },
    { STEPS "w#1,4,5 r#1,4,4 b#1,8",
      "RNN@12 x,w,r,b hidden_size:i=4; Squeeze@12 a axes:l=1",
      "y, h = torch.rnn_tanh(x, " STATE ", " LAYER(4) FORWARD },
};

/* The same but for the rounding: ONNX divides by a scale, torch multiplies by its
 * reciprocal. */
static const pair rounded[] = {
    { "x=2,4 s#. z%.", "QuantizeLinear@13 x,s,z; DequantizeLinear@13 a,s,z",
      "torch.dequantize(torch.quantize_per_tensor(x, 0.5, 3, 13))" },
    { "x=2,4 s#. z%. w^4,5 v^.",
      "QuantizeLinear@13 x,s,z; QLinearMatMul@13 a,s,z,w,s,v,s,z; DequantizeLinear@13 b,s,z",
      "torch.dequantize(ops.quantized.linear(torch.quantize_per_tensor(x, 0.5, 3, 13), "
      "ops.quantized.linear_prepack(torch.quantize_per_tensor(" HALVES(
          5, 4) ", 0.5, 3, 12), None), 0.5, 3))" },
};

/* ---- inputs: "NAME=EXTENTS NAME=EXTENTS:TYPE NAME#EXTENTS …" ---- */

typedef struct input {
    char name[8], kind, extents[32], type[8];
} input;

static uint32_t read_inputs(const char *text, input *out) {
    uint32_t count = 0;
    int used = 0;
    while (sscanf(text, " %7[a-z]%c%31[0-9,.]%n", out[count].name, &out[count].kind,
                  out[count].extents, &used) == 3) {
        text += used;
        used = 0;
        snprintf(out[count].type, sizeof(out->type), "f32");
        if (sscanf(text, ":%7[a-z0-9]%n", out[count].type, &used) == 1) {
            text += used;
        }
        count++;
    }
    return count;
}

/* ---- the ONNX side: "Op@OPSET INPUTS NAME:KIND=VALUE …; Op@OPSET …" ---- */

static size_t read_ints(const char *text, int64_t *out) {
    size_t count = 0;
    for (char *at = (char *)(uintptr_t)text; *at; at += *at == ',') {
        out[count++] = strtoll(at, &at, 10);
    }
    return count;
}

/* A constant whose elements are all 0.5 or 3. */
static void add_constant(onnx_model *m, const input *in) {
    float halves[COUNT_MAX];
    int64_t dims[4], count = 1;
    size_t rank = in->extents[0] == '.' ? 0 : read_ints(in->extents, dims);
    for (size_t i = 0; i < rank; i++) {
        count *= dims[i];
    }
    CHECK(count <= COUNT_MAX);
    memset(halves, 3, sizeof halves);
    for (int64_t i = 0; in->kind == '#' && i < count; i++) {
        halves[i] = 0.5f;
    }
    int type = in->kind == '#' ? ONNX_F32 : in->kind == '%' ? ONNX_U8 : ONNX_I8;
    onnx_initializer(m, onnx_tensor(m, in->name, type, rank, dims, halves));
}

static int onnx_type(const char *name) {
    static const struct {
        const char *name;
        int type;
    } types[] = {
        { "f32", ONNX_F32 }, { "f64", 11 }, { "i64", ONNX_I64 }, { "bool", ONNX_BOOL }
    };
    for (size_t i = 0; i < IG_COUNT_OF(types); i++) {
        if (strcmp(name, types[i].name) == 0) {
            return types[i].type;
        }
    }
    ck_abort_msg("%s is no type of inputs", name);
}

static void add_input(onnx_model *m, const input *in) {
    char copy[32], *dims[4] = { NULL }, *state = NULL;
    int64_t ints[4];
    int rank = 0;
    if (in->kind == '@') {
        onnx_ints(m, in->name, (int)read_ints(in->extents, ints), ints);
        return;
    }
    if (in->kind != '=') {
        add_constant(m, in);
        return;
    }
    snprintf(copy, sizeof(copy), "%s", in->extents);
    for (char *d = strtok_r(copy, ",", &state); d; d = strtok_r(NULL, ",", &state)) {
        dims[rank++] = d;
    }
    onnx_input(m, in->name, onnx_type(in->type), rank, dims[0], dims[1], dims[2],
               dims[3]);
}

static void add_attribute(onnx_model *m, Onnx__NodeProto *node, const char *text) {
    char name[32], value[64], kind;
    int64_t ints[8];
    CHECK_INT(sscanf(text, "%31[a-z_]:%c=%63s", name, &kind, value), 3);
    if (kind == 'i') {
        onnx_attr_i(m, node, name, strtoll(value, NULL, 10));
    } else if (kind == 'f') {
        onnx_attr_f(m, node, name, strtof(value, NULL));
    } else if (kind == 's') {
        onnx_attr_s(m, node, name, value);
    } else {
        onnx_attr_ints(m, node, name, read_ints(value, ints), ints);
    }
}

static void add_node(onnx_model *m, char *text, const char *result) {
    char op[32], inputs[32], *state = NULL;
    int used = 0;
    CHECK_INT(sscanf(text, " %31[A-Za-z]@%*d %31s%n", op, inputs, &used), 2);
    Onnx__NodeProto *node = onnx_node(m, op, inputs, result);
    for (char *a = strtok_r(text + used, " ", &state); a;
         a = strtok_r(NULL, " ", &state)) {
        add_attribute(m, node, a);
    }
}

static ig_status import_node(torch_case *c, const pair *p, ig_module **out_module) {
    char *state = NULL, *nodes[OPS_MAX + 1] = { NULL };
    input given[INPUTS_MAX];
    onnx_model m;
    onnx_model_init(&m, atoi(strchr(p->node, '@') + 1));
    uint32_t count = read_inputs(p->inputs, given);
    for (uint32_t i = 0; i < count; i++) {
        add_input(&m, &given[i]);
    }
    nodes[0] = strtok_r(ig_arena_strdup(&c->arena, p->node), ";", &state);
    for (uint32_t i = 0; nodes[i]; i++) {
        CHECK(i + 1 < IG_COUNT_OF(nodes));
        nodes[i + 1] = strtok_r(NULL, ";", &state);
        add_node(&m, nodes[i],
                 nodes[i + 1] ? (char[]){ (char)('a' + (int)i), 0 } : "result");
    }
    onnx_output(&m, "result");
    ig_str bytes = onnx_pack(&m);
    bytes.data = ig_arena_copy(&c->arena, bytes.data, bytes.size);
    ig_status status = ig_import_onnx_memory(&c->context, bytes, "m.onnx", NULL,
                                             out_module);
    onnx_model_fini(&m);
    return status;
}

/* ---- the torch side ---- */

static ig_status import_call(torch_case *c, const pair *p, ig_module **out_module) {
    input given[INPUTS_MAX];
    ig_torchscript_argument arguments[INPUTS_MAX];
    ig_writer source;
    uint32_t count = 0, all = read_inputs(p->inputs, given);
    ig_writer_init(&source, &c->arena);
    ig_put(&source, "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                    "  training : bool\n  def forward(self: __torch__.M");
    for (uint32_t i = 0; i < all; i++) {
        if (given[i].kind != '=') {
            continue;
        }
        const char *type = ig_arena_printf(&c->arena, "%s[%s]", given[i].type,
                                           given[i].extents);
        ig_put(&source, ",\n    %s: Tensor", given[i].name);
        arguments[count++] = (ig_torchscript_argument){ given[i].name, type };
    }
    bool returns = strstr(p->call, "return") != NULL;
    ig_put(&source, ") -> Tensor:\n    %s%s\n", returns ? "" : "return ", p->call);
    torch_entry entries[] = {
        { "m/data.pkl", { PICKLE, sizeof PICKLE - 1 } },
        { "m/constants.pkl", { "\200\002).", 4 } },
        { "m/code/__torch__.py", ig_writer_str(&source) },
        { "m/version", { "3\n", 2 } },
    };
    ig_torchscript_options options = { .arguments = arguments,
                                       .argument_count = count };
    ig_str zip = torch_zip(&c->arena, entries, IG_COUNT_OF(entries));
    return ig_import_torchscript_memory(&c->context, zip, "m.pt", &options, out_module);
}

/* ---- comparing ---- */

static bool is_compared(const ig_op *op) {
    return !(ig_ops[op->code].traits & (IG_CONSTANT | IG_TERMINATOR | IG_GUARD));
}

/* "softmax {axis = 1} : f32[2, 8]": an op's line without its values' names. */
static void put_op(ig_arena *arena, const ig_op *op, ig_writer *out) {
    ig_writer line;
    ig_writer_init(&line, arena);
    ig_print_op(op, &line);
    const char *text = ig_writer_str(&line).data, *type = strstr(text, " : ");
    const char *attrs = strchr(text, '{');
    ig_put(out, "%s ", ig_ops[op->code].name);
    if (attrs && type && attrs < type) {
        ig_put_str(out, (ig_str){ attrs, (size_t)(strchr(attrs, '}') - attrs) + 1 });
    }
    for (const char *name; type && (name = strstr(type, " \"")) != NULL;) {
        ig_put(out, "%.*s", (int)(name - type), type); /* the user's names differ */
        type = strchr(name + 2, '"') + 1;
    }
    ig_put(out, "%s\n", type ? type : "");
}

static const char *describe(torch_case *c, ig_module *module) {
    ig_pass_options options = { 0 };
    ig_writer out;
    ig_writer_init(&out, &c->arena);
    CHECK_OK(ig_passes_run(module, &options, ig_pipeline_clean));
    const ig_graph *graph = ig_module_graph(module, "main");
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        if (is_compared(op)) {
            put_op(&c->arena, op, &out);
        }
    }
    return ig_writer_str(&out).data;
}

/* `text` less each `part`, of which there is one. */
static const char *without(torch_case *c, const char *text, const char *part) {
    ig_writer out;
    ig_writer_init(&out, &c->arena);
    CHECK_MSG(strstr(text, part), "%s in\n%s", part, text);
    for (const char *at; (at = strstr(text, part)) != NULL; text = at + strlen(part)) {
        ig_put(&out, "%.*s", (int)(at - text), text);
    }
    ig_put(&out, "%s", text);
    return ig_writer_str(&out).data;
}

/* `own`: an attribute that torch's graph alone has, or NULL. */
static void check_pair(const pair *p, const char *own) {
    torch_case c;
    ig_module *from_onnx = NULL, *from_torch = NULL;
    torch_case_init(&c);
    CHECK_MSG(import_node(&c, p, &from_onnx) == IG_OK, "%s: %s", p->node, c.why);
    CHECK_MSG(import_call(&c, p, &from_torch) == IG_OK, "%s: %s", p->call, c.why);
    const char *a = describe(&c, from_onnx), *b = describe(&c, from_torch);
    b = own ? without(&c, b, own) : b;
    CHECK_MSG(strlen(a) > 0, "%s comes to nothing", p->node);
    CHECK_MSG(strcmp(a, b) == 0, "%s\n%s\n%s\n%s", p->node, a, p->call, b);
    ig_module_destroy(from_onnx);
    ig_module_destroy(from_torch);
    torch_case_fini(&c);
}

START_TEST(both_importers_build_the_same) {
    check_pair(&pairs[_i], NULL);
}
END_TEST

START_TEST(quantised_forms_differ_in_rounding_alone) {
    check_pair(&rounded[_i], ", rounding = multiply");
}
END_TEST

static void add_pairs(TCase *tests) {
    tcase_add_loop_test(tests, quantised_forms_differ_in_rounding_alone, 0,
                        IG_COUNT_OF(rounded));
    tcase_add_loop_test(tests, both_importers_build_the_same, 0, IG_COUNT_OF(pairs));
}

/* The comparison sees an attribute that differs. */
TEST(another_axis_is_another_graph) {
    static const pair other = { X, "Softmax@13 x axis:i=1", "torch.softmax(x, 2)" };
    torch_case c;
    ig_module *from_onnx = NULL, *from_torch = NULL;
    torch_case_init(&c);
    CHECK_OK(import_node(&c, &other, &from_onnx));
    CHECK_OK(import_call(&c, &other, &from_torch));
    CHECK(strcmp(describe(&c, from_onnx), describe(&c, from_torch)) != 0);
    ig_module_destroy(from_onnx);
    ig_module_destroy(from_torch);
    torch_case_fini(&c);
}
END_TEST

UNIT_SUITE_WITH(compose_same, add_pairs, another_axis_is_another_graph)
