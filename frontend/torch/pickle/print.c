/* Values as text, close to how Python shows them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value that is shared is printed each time, so a small pickle could denote a huge
 * text: after so many values the rest are dots.
 */
#include "frontend/torch/pickle/pickle.h"

#include "ir/tensor/tensor.h"

#include <assert.h>
#include <string.h>

enum { VALUES_FOR_EACH = 64 }; /* printed at most: this many times `max` */

typedef struct printer {
    ig_writer *out;
    size_t max, left;
} printer;

static void print_value(printer *p, const ig_py *value);

static const char *open_of(const ig_py *value) {
    return value->kind == IG_PY_LIST ? "[" : value->kind == IG_PY_SET ? "{" : "(";
}

static const char *close_of(const ig_py *value) {
    return value->kind == IG_PY_LIST ? "]" : value->kind == IG_PY_SET ? "}" : ")";
}

/* Separates item `index`; false when the rest is only counted. */
static bool begin_item(printer *p, size_t index, size_t count) {
    if (index > 0) {
        ig_put(p->out, ", ");
    }
    if (index >= p->max) {
        ig_put(p->out, "… %zu more", count - index);
        return false;
    }
    return true;
}

static void print_items(printer *p, const ig_py *value) {
    size_t count = value->as.list.count;
    if (value->type) {
        ig_put(p->out, "%s", value->type);
    }
    ig_put(p->out, "%s", open_of(value));
    for (size_t i = 0; i < count && begin_item(p, i, count); i++) {
        print_value(p, value->as.list.items[i]);
    }
    bool is_single = value->kind == IG_PY_TUPLE && count == 1;
    ig_put(p->out, is_single ? ",%s" : "%s", close_of(value));
}

static void print_dict(printer *p, const ig_py *value) {
    size_t count = value->as.dict.count;
    if (value->type) {
        ig_put(p->out, "%s", value->type);
    }
    ig_put(p->out, "{");
    for (size_t i = 0; i < count && begin_item(p, i, count); i++) {
        print_value(p, value->as.dict.keys[i]);
        ig_put(p->out, ": ");
        print_value(p, value->as.dict.values[i]);
    }
    ig_put(p->out, "}");
}

static void print_none(printer *p, const ig_py *value) {
    (void)value;
    ig_put(p->out, "None");
}

static void print_bool(printer *p, const ig_py *value) {
    ig_put(p->out, value->as.b ? "True" : "False");
}

static void print_int(printer *p, const ig_py *value) {
    ig_put(p->out, "%lld", (long long)value->as.i);
}

static void print_float(printer *p, const ig_py *value) {
    ig_put_f64(p->out, value->as.f);
}

static void print_complex(printer *p, const ig_py *value) {
    ig_put(p->out, "complex(");
    ig_put_f64(p->out, value->as.complex.re);
    ig_put(p->out, ", ");
    ig_put_f64(p->out, value->as.complex.im);
    ig_put(p->out, ")");
}

static void print_plain(printer *p, const ig_py *value) {
    ig_put_str(p->out, value->as.text);
}

static void print_text(printer *p, const ig_py *value) {
    ig_str text = value->as.text;
    size_t max = p->max * 16;
    ig_put(p->out, value->kind == IG_PY_BYTES ? "b" : "");
    ig_put_quoted(p->out, (ig_str){ text.data, text.size < max ? text.size : max });
    if (text.size > max) {
        ig_put(p->out, "… %zu more bytes", text.size - max);
    }
}

static void print_device(printer *p, const ig_py *value) {
    ig_put(p->out, "device(");
    print_text(p, value);
    ig_put(p->out, ")");
}

static void print_dtype(printer *p, const ig_py *value) {
    ig_put(p->out, "torch.%s", value->as.dtype->name);
}

static void print_global(printer *p, const ig_py *value) {
    ig_put(p->out, "%.*s.%.*s", IG_STR_ARG(value->as.global.module),
           IG_STR_ARG(value->as.global.name));
}

static void print_object(printer *p, const ig_py *value) {
    print_value(p, value->as.object.class);
    ig_put(p->out, "(");
    if (value->as.object.args->as.list.count) {
        print_value(p, value->as.object.args);
        ig_put(p->out, value->as.object.state ? ", " : "");
    }
    if (value->as.object.state) {
        print_value(p, value->as.object.state);
    }
    ig_put(p->out, ")");
}

static void print_enum(printer *p, const ig_py *value) {
    print_value(p, value->as.enumeration.class);
    ig_put(p->out, "(");
    print_value(p, value->as.enumeration.value);
    ig_put(p->out, ")");
}

static void print_call(printer *p, const ig_py *value) {
    print_value(p, value->as.call.function);
    if (value->as.call.args->kind != IG_PY_TUPLE) {
        ig_put(p->out, " ");
    }
    print_value(p, value->as.call.args);
}

static void print_storage(printer *p, const ig_py *value) {
    const ig_py_storage *storage = value->as.storage;
    ig_put(p->out, "storage(%s, %s, %lld)", storage->key,
           storage->dtype ? storage->dtype->name : "untyped",
           (long long)storage->count);
}

/* ---- tensors ---- */

static void print_number(printer *p, ig_dtype dtype, const void *bytes, size_t size) {
    assert(size <= sizeof(uint64_t) &&
           "an element, or half of a complex one, has at most 8 bytes");
    uint64_t aligned = 0;
    memcpy(&aligned, bytes, size);
    ig_tensor one = { .kind = IG_TENSOR, .dtype = dtype, .data = &aligned, .count = 1 };
    int64_t number = ig_dtype_is_float(dtype) ? 0 : ig_tensor_get_i64(&one, 0);
    if (dtype == IG_DT_bool) {
        ig_put(p->out, number ? "True" : "False");
    } else if (dtype == IG_DT_u64) {
        ig_put(p->out, "%llu", (unsigned long long)number);
    } else if (!ig_dtype_is_float(dtype)) {
        ig_put(p->out, "%lld", (long long)number);
    } else if (dtype == IG_DT_f64) {
        ig_put_f64(p->out, ig_tensor_get_f64(&one, 0));
    } else {
        ig_put_f32(p->out, (float)ig_tensor_get_f64(&one, 0));
    }
}

/* A complex one as (real, imaginary). */
static void print_element(printer *p, const ig_py_tensor *tensor, int64_t index) {
    assert(index >= 0 && tensor->storage->bytes && "only elements with data are shown");
    bool is_complex = tensor->dtype->is_complex;
    size_t unit = tensor->dtype->bits / (is_complex ? 16u : 8u);
    const char *base = tensor->storage->bytes;
    const char *at = base + (size_t)index * (is_complex ? 2 : 1) * unit;
    if (is_complex) {
        ig_put(p->out, "(");
    }
    print_number(p, tensor->dtype->ir, at, unit);
    if (is_complex) {
        ig_put(p->out, ", ");
        print_number(p, tensor->dtype->ir, at + unit, unit);
        ig_put(p->out, ")");
    }
}

/* The offset in the storage of element `index`, counted in row-major order. */
static int64_t offset_of(const ig_py_tensor *tensor, int64_t index) {
    int64_t offset = tensor->offset;
    for (uint32_t d = tensor->rank; d-- > 0;) {
        offset += index % tensor->sizes[d] * tensor->strides[d];
        index /= tensor->sizes[d];
    }
    return offset;
}

static void print_tensor(printer *p, const ig_py *value) {
    const ig_py_tensor *tensor = value->as.tensor;
    ig_put(p->out, "%s(%s[", tensor->is_parameter ? "parameter" : "tensor",
           tensor->dtype->name);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        ig_put(p->out, i ? ", %lld" : "%lld", (long long)tensor->sizes[i]);
    }
    ig_put(p->out, "]");
    bool is_shown = !tensor->sparse && tensor->storage->bytes &&
                    tensor->dtype->ir != IG_DT_COUNT && tensor->dtype->bits >= 8;
    if (tensor->sparse) {
        ig_put(p->out, ", %s", tensor->sparse->layout);
    } else if (!tensor->storage->bytes) {
        ig_put(p->out, ", no data");
    }
    if (is_shown && tensor->count > 0) {
        ig_put(p->out, ": ");
        size_t count = (size_t)tensor->count;
        for (size_t i = 0; i < count && begin_item(p, i, count); i++) {
            print_element(p, tensor, offset_of(tensor, (int64_t)i));
        }
    }
    ig_put(p->out, ")");
}

/* ---- by kind ---- */

static void (*const prints[IG_PY_KIND_COUNT])(printer *p, const ig_py *value) = {
    [IG_PY_NONE] = print_none,     [IG_PY_BOOL] = print_bool,
    [IG_PY_INT] = print_int,       [IG_PY_BIG] = print_plain,
    [IG_PY_FLOAT] = print_float,   [IG_PY_COMPLEX] = print_complex,
    [IG_PY_STR] = print_text,      [IG_PY_BYTES] = print_text,
    [IG_PY_LIST] = print_items,    [IG_PY_TUPLE] = print_items,
    [IG_PY_SET] = print_items,     [IG_PY_DICT] = print_dict,
    [IG_PY_GLOBAL] = print_global, [IG_PY_OBJECT] = print_object,
    [IG_PY_ENUM] = print_enum,     [IG_PY_CALL] = print_call,
    [IG_PY_TENSOR] = print_tensor, [IG_PY_STORAGE] = print_storage,
    [IG_PY_DTYPE] = print_dtype,   [IG_PY_DEVICE] = print_device,
};

static void print_value(printer *p, const ig_py *value) {
    if (p->left == 0) {
        ig_put(p->out, "…");
        return;
    }
    p->left--;
    prints[value->kind](p, value);
}

void ig_py_print(ig_writer *writer, const ig_py *value, size_t max) {
    printer p = { .out = writer, .max = max, .left = max * VALUES_FOR_EACH };
    print_value(&p, value);
}
