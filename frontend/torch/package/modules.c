/* The table of what torch.nn's classes mean, and the forwards that depend on the
 * object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/package/tree.h"

#include "base/writer.h"

#include <assert.h>
#include <string.h>

#define PREFIX "torch.nn.modules."

/* ---- looking at a module ---- */

ig_py *ig_package_member(const ig_py *module, const char *group, const char *name) {
    const ig_py *members = ig_py_get(module, group);
    ig_py *member = members ? ig_py_get(members, name) : NULL;
    return member && member->kind != IG_PY_NONE ? member : NULL;
}

static bool read_flag(const ig_py *module, const char *name) {
    const ig_py *value = ig_py_get(module, name);
    return value && value->kind == IG_PY_BOOL && value->as.b;
}

static int64_t read_int(const ig_py *module, const char *name, int64_t absent) {
    const ig_py *value = ig_py_get(module, name);
    return value && value->kind == IG_PY_INT ? value->as.i : absent;
}

static ig_str read_text(const ig_py *module, const char *name) {
    const ig_py *value = ig_py_get(module, name);
    return value && value->kind == IG_PY_STR ? value->as.text : IG_STR("");
}

/* ---- containers ---- */

static void write_chain(ig_writer *out, const ig_py *module) {
    const ig_py *members = ig_py_get(module, "_modules");
    ig_put(out, "    x = input\n");
    assert(members && members->kind == IG_PY_DICT &&
           "forwards are written of modules only");
    for (size_t i = 0; i < members->as.dict.count; i++) {
        ig_put(out, "    x = (getattr(self, ");
        ig_put_quoted(out, members->as.dict.keys[i]->as.text);
        ig_put(out, ")).forward(x)\n");
    }
    ig_put(out, "    return x\n");
}

static void write_nothing(ig_writer *out, const ig_py *module) {
    (void)module;
    ig_put(out, "    ops.prim.RaiseException(\"this container has no forward\")\n"
                "    return None\n");
}

/* ---- upsampling ---- */

/* A number or a list of them, `count` times. */
static void put_floats(ig_writer *out, const ig_py *value, size_t count) {
    bool is_list = value->kind == IG_PY_TUPLE || value->kind == IG_PY_LIST;
    ig_put(out, "[");
    for (size_t i = 0; i < count; i++) {
        const ig_py *item = !is_list                   ? value
                            : i < value->as.list.count ? value->as.list.items[i]
                                                       : NULL;
        double factor = !item                       ? 0
                        : item->kind == IG_PY_FLOAT ? item->as.f
                        : item->kind == IG_PY_INT   ? (double)item->as.i
                                                    : 0;
        ig_put(out, i ? ", float(" : "float(");
        ig_put_f64(out, factor);
        ig_put(out, ")");
    }
    ig_put(out, "]");
}

typedef struct upsample_row {
    const char *mode, *op;
    size_t dims;
    bool has_corners;
} upsample_row;

static const upsample_row upsample_rows[] = {
    { "nearest", "upsample_nearest1d", 1, false },
    { "nearest", "upsample_nearest2d", 2, false },
    { "nearest", "upsample_nearest3d", 3, false },
    { "nearest-exact", "_upsample_nearest_exact1d", 1, false },
    { "nearest-exact", "_upsample_nearest_exact2d", 2, false },
    { "nearest-exact", "_upsample_nearest_exact3d", 3, false },
    { "linear", "upsample_linear1d", 1, true },
    { "bilinear", "upsample_bilinear2d", 2, true },
    { "bicubic", "upsample_bicubic2d", 2, true },
    { "trilinear", "upsample_trilinear3d", 3, true },
};

static void put_upsample(ig_writer *out, const ig_py *module, const upsample_row *row) {
    const ig_py *size = ig_py_get(module, "size");
    const ig_py *scale = ig_py_get(module, "scale_factor");
    bool has_size = size && size->kind != IG_PY_NONE;
    ig_put(out, "    if torch.eq(torch.dim(input), %zu):\n", row->dims + 2);
    ig_put(out, "      return torch.%s(input, ", row->op);
    for (size_t i = 0; has_size && size->kind == IG_PY_INT && i < row->dims; i++) {
        ig_put(out, i ? ", %lld" : "[%lld", (long long)size->as.i);
    }
    ig_put(out, !has_size ? "None" : size->kind == IG_PY_INT ? "]" : "self.size");
    if (row->has_corners) {
        ig_put(out, read_flag(module, "align_corners") ? ", True" : ", False");
    }
    ig_put(out, ", ");
    if (has_size || !scale) {
        ig_put(out, "None");
    } else {
        put_floats(out, scale, row->dims);
    }
    ig_put(out, ")\n");
}

static void write_upsample(ig_writer *out, const ig_py *module) {
    if (read_flag(module, "recompute_scale_factor")) {
        ig_put(out, "    ops.prim.RaiseException(\"recompute_scale_factor\")\n");
    }
    for (size_t i = 0; i < IG_COUNT_OF(upsample_rows); i++) {
        if (ig_str_is(read_text(module, "mode"), upsample_rows[i].mode)) {
            put_upsample(out, module, &upsample_rows[i]);
        }
    }
    ig_put(out, "    ops.prim.RaiseException(\"this mode for this rank\")\n"
                "    return input\n");
}

/* ---- adaptive pooling ---- */

/* The size along axis `axis`, where None means that of the input. */
static void put_extent(ig_writer *out, const ig_py *size, int64_t axis, int64_t dims) {
    bool is_list = size->kind == IG_PY_TUPLE || size->kind == IG_PY_LIST;
    if (is_list && axis < (int64_t)size->as.list.count) {
        size = size->as.list.items[axis];
    }
    if (size->kind == IG_PY_INT) {
        ig_put(out, "%lld", (long long)size->as.i);
    } else {
        ig_put(out, "torch.size(input, %lld)", (long long)(axis - dims));
    }
}

/* Adaptive{Avg,Max}Pool{1,2,3}d. */
static void write_adaptive(ig_writer *out, const ig_py *module) {
    ig_str name = module->as.object.class->as.global.name;
    const ig_py *size = ig_py_get(module, "output_size");
    int64_t dims = name.data[name.size - 2] - '0';
    assert(dims >= 1 && dims <= 3 &&
           "modules.def writes pools of 1 to 3 dimensions so");
    bool is_max = ig_str_starts(name, "AdaptiveMax");
    ig_put(out,
           is_max ? "    result, indices = torch.adaptive_max_pool%lldd(input, ["
                  : "    result = torch.adaptive_avg_pool%lldd(input, [",
           (long long)dims);
    for (int64_t i = 0; size && i < dims; i++) {
        put_extent(out, size, i, dims);
        if (i + 1 < dims) {
            ig_put(out, ", ");
        }
    }
    ig_put(out, is_max && read_flag(module, "return_indices")
                    ? "])\n    return (result, indices)\n"
                    : "])\n    return result\n");
}

/* ---- recurrent ---- */

static void put_layer(ig_writer *out, const ig_py *module, long long layer,
                      const char *direction) {
    static const char *const names[] = { "weight_ih", "weight_hh", "bias_ih", "bias_hh",
                                         "weight_hr" };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        bool is_bias = i == 2 || i == 3;
        if ((is_bias && !read_flag(module, "bias")) ||
            (i == 4 && read_int(module, "proj_size", 0) == 0)) {
            continue;
        }
        ig_put(out, "self.%s_l%lld%s, ", names[i], layer, direction);
    }
}

/* The call of the operator: weights layer by layer, forward before backward. */
static void put_recurrent(ig_writer *out, const ig_py *module, const char *op,
                          const char *state) {
    /* The count of the object is not trusted: there are no more layers than weights. */
    long long most = (long long)ig_py_get(module, "_parameters")->as.dict.count;
    long long count = read_int(module, "num_layers", 1);
    ig_put(out, "torch.%s(x, %s, [", op, state);
    for (long long layer = 0; layer < count && layer < most; layer++) {
        put_layer(out, module, layer, "");
        if (read_flag(module, "bidirectional")) {
            put_layer(out, module, layer, "_reverse");
        }
    }
    ig_put(
        out,
        "], self.bias, self.num_layers, float(self.dropout), self.training, self.bidirectional, self.batch_first)\n");
}

/* `x` with a batch, and the count of it: `n`. */
static void put_batch(ig_writer *out, const ig_py *module) {
    int axis = read_flag(module, "batch_first") ? 0 : 1;
    ig_put(out,
           "    is_batched = torch.eq(torch.dim(input), 3)\n"
           "    if is_batched:\n"
           "      x = input\n"
           "    else:\n"
           "      x = torch.unsqueeze(input, %d)\n"
           "    n = torch.size(x, %d)\n",
           axis, axis);
}

static void put_zeros(ig_writer *out, const ig_py *module, const char *name,
                      int64_t width) {
    ig_put(
        out,
        "      %s = torch.zeros([torch.mul(self.num_layers, %d), n, %lld], dtype=ops.prim.dtype(x))\n",
        name, read_flag(module, "bidirectional") ? 2 : 1, (long long)width);
}

/* The state given without a batch gets one. */
static void put_state(ig_writer *out, const char *name) {
    ig_put(out,
           "      if torch.eq(torch.dim(%s), 2):\n"
           "        %s = torch.unsqueeze(%s, 1)\n",
           name, name, name);
}

static void put_results(ig_writer *out, const ig_py *module, const char *some,
                        const char *all) {
    int axis = read_flag(module, "batch_first") ? 0 : 1;
    ig_put(out,
           "    if is_batched:\n"
           "      return %s\n"
           "    y = torch.squeeze(output, %d)\n"
           "    return %s\n",
           all, axis, some);
}

static void write_lstm(ig_writer *out, const ig_py *module) {
    int64_t hidden = read_int(module, "hidden_size", 0);
    int64_t proj = read_int(module, "proj_size", 0);
    put_batch(out, module);
    ig_put(out, "    if torch.__is__(hx, None):\n");
    put_zeros(out, module, "h", proj ? proj : hidden);
    put_zeros(out, module, "c", hidden);
    ig_put(out, "    else:\n"
                "      h, c, = unchecked_cast(Tuple[Tensor, Tensor], hx)\n");
    put_state(out, "h");
    put_state(out, "c");
    ig_put(out, "    output, hn, cn = ");
    put_recurrent(out, module, "lstm", "[h, c]");
    put_results(out, module, "(y, (torch.squeeze(hn, 1), torch.squeeze(cn, 1)))",
                "(output, (hn, cn))");
}

static void write_rnn(ig_writer *out, const ig_py *module) {
    ig_str mode = read_text(module, "mode");
    const char *op = ig_str_is(mode, "GRU")        ? "gru"
                     : ig_str_is(mode, "RNN_RELU") ? "rnn_relu"
                                                   : "rnn_tanh";
    put_batch(out, module);
    ig_put(out, "    if torch.__is__(hx, None):\n");
    put_zeros(out, module, "h", read_int(module, "hidden_size", 0));
    ig_put(out, "    else:\n"
                "      h = unchecked_cast(Tensor, hx)\n");
    put_state(out, "h");
    ig_put(out, "    output, hn = ");
    put_recurrent(out, module, op, "h");
    put_results(out, module, "(y, torch.squeeze(hn, 1))", "(output, hn)");
}

/* ---- transformers ---- */

/* The activation: a module, or the function relu or gelu. */
static void put_activation(ig_writer *out, const ig_py *module, const char *value) {
    const ig_py *function = ig_py_get(module, "activation");
    if (ig_package_member(module, "_modules", "activation")) {
        ig_put(out, "(self.activation).forward(%s)", value);
        return;
    }
    bool is_gelu = function && function->kind == IG_PY_GLOBAL &&
                   ig_str_is(function->as.global.name, "gelu");
    ig_put(out, "torch.%s(%s)", is_gelu ? "gelu" : "relu", value);
}

static void put_feed_forward(ig_writer *out, const ig_py *module, int number_of) {
    assert((number_of == 2 || number_of == 3) &&
           "the layers of an encoder and a decoder");
    bool is_first = read_flag(module, "norm_first");
    const char *dropout = number_of == 2 ? "dropout2" : "dropout3";
    ig_put(out, is_first ? "    z = (self.norm%d).forward(x)\n" : "    z = x\n",
           number_of);
    ig_put(out, "    z = (self.linear1).forward(z)\n    z = ");
    put_activation(out, module, "z");
    ig_put(out,
           "\n    z = (self.linear2).forward((self.dropout).forward(z))\n"
           "    x = torch.add(x, (self.%s).forward(z))\n",
           dropout);
    if (!is_first) {
        ig_put(out, "    x = (self.norm%d).forward(x)\n", number_of);
    }
}

/* x plus attention over `memory` (NULL: x itself). */
static void put_attention(ig_writer *out, const ig_py *module, const char *attention,
                          int number_of, const char *masks) {
    bool is_first = read_flag(module, "norm_first");
    const char *memory = strcmp(attention, "self_attn") == 0 ? "z" : "memory";
    ig_put(out, is_first ? "    z = (self.norm%d).forward(x)\n" : "    z = x\n",
           number_of);
    ig_put(out, "    a%d, _w%d, = (self.%s).forward(z, %s, %s, %s)\n", number_of,
           number_of, attention, memory, memory, masks);
    ig_put(out, "    x = torch.add(x, (self.dropout%d).forward(a%d))\n", number_of,
           number_of);
    if (!is_first) {
        ig_put(out, "    x = (self.norm%d).forward(x)\n", number_of);
    }
}

static void write_encoder_layer(ig_writer *out, const ig_py *module) {
    ig_put(out, "    x = src\n");
    put_attention(out, module, "self_attn", 1, "src_key_padding_mask, False, src_mask");
    put_feed_forward(out, module, 2);
    ig_put(out, "    return x\n");
}

static void write_decoder_layer(ig_writer *out, const ig_py *module) {
    ig_put(out, "    x = tgt\n");
    put_attention(out, module, "self_attn", 1, "tgt_key_padding_mask, False, tgt_mask");
    put_attention(out, module, "multihead_attn", 2,
                  "memory_key_padding_mask, False, memory_mask");
    put_feed_forward(out, module, 3);
    ig_put(out, "    return x\n");
}

/* x through all layers, then the last norm if there is one. */
static void put_stack(ig_writer *out, const ig_py *module, const char *args) {
    const ig_py *list = ig_package_member(module, "_modules", "layers");
    const ig_py *layers = list ? ig_py_get(list, "_modules") : NULL;
    for (size_t i = 0; layers && i < layers->as.dict.count; i++) {
        ig_put(out, "    x = (getattr(self.layers, \"%zu\")).forward(x, %s)\n", i,
               args);
    }
    if (ig_package_member(module, "_modules", "norm")) {
        ig_put(out, "    x = (self.norm).forward(x)\n");
    }
    ig_put(out, "    return x\n");
}

static void write_encoder(ig_writer *out, const ig_py *module) {
    ig_put(out, "    x = src\n");
    put_stack(out, module, "mask, src_key_padding_mask, False");
}

static void write_decoder(ig_writer *out, const ig_py *module) {
    ig_put(out, "    x = tgt\n");
    put_stack(
        out, module,
        "memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask");
}

static void write_transformer(ig_writer *out, const ig_py *module) {
    (void)module;
    ig_put(
        out,
        "    memory = (self.encoder).forward(src, src_mask, src_key_padding_mask)\n"
        "    return (self.decoder).forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)\n");
}

/* ---- the table ---- */

#define ABSENT(modules, classes, attribute, value)
static const ig_package_class classes[] = {
#define MODULE(modules, names, parameters, body) \
    { modules, names, parameters, body, NULL },
#define WRITTEN(modules, names, parameters, write) \
    { modules, names, parameters, NULL, write_##write },
#include "frontend/torch/package/modules.def"
#undef WRITTEN
#undef MODULE
};
#undef ABSENT

typedef struct absent_row {
    const char *modules, *names, *attribute;
    ig_py value;
} absent_row;

#define VALUE_NONE \
    { .kind = IG_PY_NONE }
#define VALUE_FALSE \
    { .kind = IG_PY_BOOL }
#define VALUE_TEXT_NONE                             \
    {                                               \
        .kind = IG_PY_STR, .as.text = { "none", 4 } \
    }
#define MODULE(modules, names, parameters, body)
#define WRITTEN(modules, names, parameters, write)
static const absent_row absents[] = {
#define ABSENT(modules, names, attribute, value) \
    { modules, names, attribute, VALUE_##value },
#include "frontend/torch/package/modules.def"
#undef ABSENT
};
#undef WRITTEN
#undef MODULE

/* "torch.nn.modules.linear" "Linear" against "linear" "Linear|Identity". */
static bool is_class(const ig_py *class, const char *modules, const char *names) {
    assert(class->kind == IG_PY_GLOBAL && "the class of an object is a name");
    ig_str module = class->as.global.module;
    size_t prefix = sizeof(PREFIX) - 1;
    return ig_str_starts(module, PREFIX) &&
           ig_py_name_is_one_of((ig_str){ module.data + prefix, module.size - prefix },
                                modules) &&
           ig_py_name_is_one_of(class->as.global.name, names);
}

const ig_package_class *ig_package_find_class(const ig_py *class) {
    for (size_t i = 0; i < IG_COUNT_OF(classes); i++) {
        if (is_class(class, classes[i].modules, classes[i].names)) {
            return &classes[i];
        }
    }
    return NULL;
}

const ig_package_class *ig_package_find_named(ig_str name) {
    for (size_t i = 0; i < IG_COUNT_OF(classes); i++) {
        if (ig_py_name_is_one_of(name, classes[i].names)) {
            return &classes[i];
        }
    }
    return NULL;
}

bool ig_package_absent(const ig_py *class, size_t index, const char **out_attribute,
                       ig_py *out_value) {
    for (size_t i = 0; i < IG_COUNT_OF(absents); i++) {
        if (!is_class(class, absents[i].modules, absents[i].names) || index-- > 0) {
            continue;
        }
        *out_attribute = absents[i].attribute;
        *out_value = absents[i].value;
        return true;
    }
    return false;
}
