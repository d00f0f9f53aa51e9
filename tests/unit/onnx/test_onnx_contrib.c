/* What com.microsoft's operators refuse, and what they say then: the node, and what to
 * do.  Their values: tests/differential.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/onnx/onnx_case.h"
#include "tests/unit/unit.h"

static Onnx__OperatorSetIdProto microsoft;

typedef struct refusal {
    const char *op, *inputs;       /* names of `given` below */
    const char *numbers, *strings; /* attributes: "name=value name=value" */
    const char *words;             /* of the message */
} refusal;

/* Graph inputs: x, r and t are floats, w and z bytes, l and k integers. */
static const struct {
    const char *name;
    int32_t type;
    uint32_t rank;
    const char *dims[4];
} given[] = {
    { "x", ONNX_F32, 2, { "2", "32" } },
    { "r", ONNX_F32, 2, { "2", "4" } },
    { "w", ONNX_U8, 3, { "4", "32", "16" } },
    { "s", ONNX_F32, 2, { "4", "32" } },
    { "t", ONNX_F32, 3, { "4", "32", "32" } },
    { "b", ONNX_U8, 1, { "64" } },
    { "m", ONNX_F32, 1, { "8" } },
    { "l", ONNX_I32, 1, { "4" } },
    { "k", ONNX_I32, 1, { "1" } },
};

static const refusal refusals[] = {
    { "QMoE", "x,r,w,s,,w,s", "", "quant_type=fp4",
      "quant_type fp4 is not supported; quantise experts to integers" },
    { "QMoE", "x,r,w,s,,w,s", "weights_prepacked=1", "", "export them with 0" },
    { "QMoE", "x,r,w,s,,w,s", "expert_weight_bits=3", "", "quantise to 2, 4 or 8" },
    { "QMoE", "x,r,t,s,,w,s", "", "", "input 2 has elements of type f32" },
    { "QMoE", "x,r,w,,,w,s", "", "", "lacks input 3, which is required" },
    { "QMoE", "x,r,w,s,,w,s,,,,,,,,,m", "", "", "input 15, for floats of few bits" },
    { "QMoE", "x,r,w,s,,w,s", "", "activation_type=swiglu", "input 8, fc3, is absent" },
    { "MoE", "x,r,t,,t,,t", "swiglu_fusion=1", "activation_type=swiglu",
      "input 6, fc3, is there" },
    { "MatMulBnb4", "x,b,m", "K=32 N=4 block_size=17 quant_type=0", "",
      "in blocks of 17, expected u8 and an even number" },
    { "MatMulBnb4", "x,m,m", "K=32 N=4 block_size=16 quant_type=0", "",
      "elements of type f32 in blocks" },
    { "MatMulBnb4", "x,b,m", "K=32 N=5 block_size=16 quant_type=0", "",
      "B must have a byte for each two weights" },
    { "MatMulBnb4", "x,b,m", "K=32 N=4 block_size=16 quant_type=2", "", "quant_type" },
    { "MurmurHash3", "b", "", "", "hashes elements of type u8" },
    { "GroupQueryAttention", "t,t,t,,,m,m", "num_heads=2 kv_num_heads=1",
      "k_quant_type=PER_TENSOR", "export it as floats" },
    { "GroupQueryAttention", "t,t,t,,,m,m",
      "num_heads=2 kv_num_heads=1 sliding_window_cache=1", "",
      "export a cache of all" },
    { "GroupQueryAttention", "t,t,t,,,m,m,,,,,,,,m", "num_heads=2 kv_num_heads=1", "",
      "go together" },
    { "GroupQueryAttention", "t,t,t,,,m,m,,,,,,m", "num_heads=2 kv_num_heads=1", "",
      "scales of a cache" },
    { "GroupQueryAttention", "t,t,t,,,m", "num_heads=2 kv_num_heads=1", "",
      "lacks input 6" },
    { "GroupQueryAttention", "t,t,t,m,m,l,k", "num_heads=2 kv_num_heads=1", "",
      "an operand has rank 1, expected 3 or more" },
    { "LinearAttention", "t,t,t", "q_num_heads=2 kv_num_heads=2 state_window=2",
      "update_rule=linear", "state_window is 2: only the state" },
    { "LinearAttention", "t,t,t", "q_num_heads=2 kv_num_heads=3", "update_rule=linear",
      "q_num_heads is not a multiple" },
    { "CausalConvWithState", "t,t", "ndim=2", "", "ndim is 2 and state_window 0" },
    { "CausalConvWithState", "x,t", "channels_last=1", "", "input 0 has rank 2" },
    { "MRotaryEmbedding", "t,t,x,x", "num_heads=1", "", "mrope_section" },
    { "SparseAttention", "t,t,t,t,t,x,x,m",
      "num_heads=2 kv_num_heads=1 sparse_block_size=16", "", "lacks input 8" },
    { "SparseAttention", "t,t,t,t,t,m,x,m,m",
      "num_heads=2 kv_num_heads=1 sparse_block_size=16", "", "input 5 has rank 1" },
    { "NGramRepeatBlock", "x,x", "ngram_size=0", "", "ngram_size" },
    { "BranchwiseRMSNorm", "m", "", "", "input 0 has rank 1 and num_branches is 0" },
    { "HyperConnectionPreMix", "t,m", "", "", "input 1 has rank 1, expected 2 or 3" },
    { "HyperConnectionPostMix", "t,t,x", "", "", "input 1 has rank 3, expected 2" },
    { "Rfft", "x", "signal_ndim=2", "", "a transform along 2 axes" },
    { "Irfft", "m", "signal_ndim=1", "", "complex numbers must be 2" },
    { "Inverse", "m", "", "", "input 0 has rank 1, expected 2 or more" },
    { "MatMulInteger16", "x,b", "", "", "elements of type f32, expected i16 or u16" },
    { "MulInteger", "b,,x", "", "", "elements of type f32, expected i8 or u8" },
    { "QLinearConv", "b,m,b,w,m,b,m,b", "channels_last=1", "", "input 0 has rank 1" },
    { "LinearAttentionGate", "t,m,m", "", "", "dt_bias and decay_scale" },
};

/* "name=value …" as attributes. */
static void set_attrs(onnx_model *m, Onnx__NodeProto *node, const char *text,
                      bool are_numbers) {
    char *next = ig_arena_strdup(&m->arena, text);
    for (char *word = strtok(next, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = 0;
        if (are_numbers) {
            onnx_attr_i(m, node, word, strtoll(value, NULL, 10));
        } else {
            onnx_attr_s(m, node, word, value);
        }
    }
}

static void check_refusal(const refusal *row) {
    onnx_model m;
    onnx_case run;
    ig_module *module = NULL;
    onnx_case_init(&run);
    onnx_model_init(&m, 17);
    onnx__operator_set_id_proto__init(&microsoft);
    microsoft.domain = ig_arena_strdup(&m.arena, "com.microsoft");
    microsoft.has_version = 1;
    microsoft.version = 1;
    m.opsets[m.model.n_opset_import++] = &microsoft;
    for (size_t i = 0; i < IG_COUNT_OF(given); i++) {
        onnx_input(&m, given[i].name, given[i].type, (int)given[i].rank,
                   given[i].dims[0], given[i].dims[1], given[i].dims[2],
                   given[i].dims[3]);
    }
    Onnx__NodeProto *node = onnx_node(&m, row->op, row->inputs, "y");
    node->domain = microsoft.domain;
    set_attrs(&m, node, row->numbers, true);
    set_attrs(&m, node, row->strings, false);
    onnx_output(&m, "y");
    ig_status status = ig_import_onnx_memory(&run.context, onnx_pack(&m), NULL, NULL,
                                             &module);
    CHECK_MSG(status == IG_INVALID || status == IG_UNSUPPORTED, "%s: status %d",
              row->op, status);
    CHECK_MSG(strstr(run.why, row->words) != NULL, "%s", run.why);
    CHECK_MSG(strstr(run.why, row->op) != NULL, "%s", run.why);
    onnx_model_fini(&m);
    onnx_case_fini(&run);
}

TEST(forms_that_are_not_supported_say_so) {
    for (size_t i = 0; i < IG_COUNT_OF(refusals); i++) {
        check_refusal(&refusals[i]);
    }
}
END_TEST

UNIT_SUITE(onnx_contrib, forms_that_are_not_supported_say_so)
