/* Every operator row under libFuzzer, with arguments of any rank, dtype and count.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     build/fuzz/fuzz/fuzz_script_rows -max_total_time=60 -max_len=96
 *
 * The input's bytes choose a row, and a value for each argument of its schema: a
 * program of one call, which is refused with words or gives a module that verifies.
 * With INGOT_FUZZ_SHOW set the program is printed.
 */
#include "frontend/torch/entry/table.h"
#include "frontend/torch/language/schema.h"
#include "tests/fuzz/reach.h"
#include "tests/fuzz/case/script_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t ig_fuzz_seed(size_t i, uint8_t *bytes, size_t room);

enum { TEXT_ROOM = 16384, MAX_INPUTS = 24, MAX_ITEMS = 4, DEPTH = 4 };

/* ---- rows ---- */

typedef struct row_table {
    ig_context context;
    ig_arena arena;
    ig_script_types types;
    ig_map names;
    ig_schema **schemas;
} row_table;

static row_table rows;

static const char *name_of_row(size_t i) {
    return ig_ts_operators.rows[i].schema;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    rows.context.limits = ig_limits_default;
    ig_arena_init(&rows.arena, &rows.context.budget);
    ig_script_types_init(&rows.types, &rows.context, &rows.arena);
    ig_map_init(&rows.names, &rows.arena);
    rows.schemas = IG_NEW_ARRAY(&rows.arena, ig_schema *, ig_ts_operators.count);
    for (size_t i = 0; i < ig_ts_operators.count; i++) {
        ig_location where = { .file = "rows", .op = ig_ts_operators.rows[i].schema };
        const char *text = ig_ts_operators.rows[i].schema;
        if (ig_schema_parse(&rows.types, &rows.names, text, &where, &rows.schemas[i]) !=
            IG_OK) {
            abort();
        }
    }
    ig_fuzz_reach_min = 77; /* of what is drawn, some is refused */
    ig_fuzz_reach_begin(ig_ts_operators.count, name_of_row);
    return 0;
}

/* ---- what the bytes choose ---- */

typedef struct script {
    const uint8_t *data;
    size_t size;
    int extents[3]; /* that most shapes are made of */
    char inputs[TEXT_ROOM], call[TEXT_ROOM], last_shape[64];
    size_t inputs_size, call_size;
    uint32_t input_count;
} script;

static uint32_t choose(script *s, uint32_t below) {
    uint32_t value = 0;
    for (uint32_t span = 1; span < below && s->size; span <<= 8, s->size--) {
        value = value << 8 | *s->data++;
    }
    return below ? value % below : 0;
}

static IG_PRINTF(3, 4) void put(char *text, size_t *size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(text + *size, TEXT_ROOM - *size, format, args);
    va_end(args);
    *size += more > 0 ? (size_t)more : 0;
    if (*size >= TEXT_ROOM) {
        *size = TEXT_ROOM - 1;
    }
}

#define PUT(s, ...) put((s)->call, &(s)->call_size, __VA_ARGS__)

static const char *pick(script *s, const char *const *words, size_t count) {
    return words[choose(s, (uint32_t)count)];
}
#define PICK(s, words) pick(s, words, IG_COUNT_OF(words))

/* ---- tensors ---- */

static void put_shape(script *s) {
    static const char *const odd[] = { "0", "1", "B", "N", "7", "4294967296" };
    size_t size = 0;
    uint32_t rank = choose(s, 7);
    if (rank == 6 && s->last_shape[0]) {
        return; /* the last one's again */
    }
    s->last_shape[0] = '\0';
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t way = choose(s, 5);
        char known[16];
        snprintf(known, sizeof known, "%d", s->extents[way % 3]);
        const char *extent = way == 4 ? PICK(s, odd) : known;
        size += (size_t)snprintf(s->last_shape + size, sizeof s->last_shape - size,
                                 "%s%s", i ? ", " : "", extent);
        if (size >= sizeof s->last_shape) {
            break;
        }
    }
}

static void put_input(script *s) {
    static const char *const dtypes[] = { "f32", "i64", "f32", "i64", "f32",  "f64",
                                          "f16", "i32", "u8",  "i8",  "bool", "bf16" };
    const char *dtype = PICK(s, dtypes);
    put_shape(s);
    put(s->inputs, &s->inputs_size, "#%u=%s[%s]\n", s->input_count, dtype,
        s->last_shape);
    PUT(s, "x%u", s->input_count++);
}

static void put_tensor(script *s) {
    static const char *const made[] = {
        "self.w",
        "torch.arange(4)",
        "torch.zeros([2, 3], dtype=4)",
        "torch.zeros([0])",
        "torch.tensor(2)",
        "torch.tensor([3, 1])",
        "torch.tensor(True)",
        "torch.quantize_per_tensor(self.w, 0.10000000000000001, 3, 13)",
        "torch.quantize_per_tensor(torch.zeros([2, 3, 4, 4]), 0.5, 0, 12)",
        "torch.quantize_per_channel(self.w, torch.ones([4]), torch.arange(4), 0, 12)",
        "torch.view_as_complex(torch.zeros([3, 2]))",
        "torch.to(torch.zeros([4, 24]), 0)",
        "torch.slice(self.w, 0, 1, 3)",
        "torch.t(self.w)",
    };
    uint32_t way = choose(s, 8);
    if (way >= 6 || s->input_count >= MAX_INPUTS) {
        PUT(s, "%s", PICK(s, made));
    } else if (way == 5 && s->input_count) {
        PUT(s, "x%u", choose(s, s->input_count));
    } else {
        put_input(s);
    }
}

/* ---- values of a type ---- */

static void put_value(script *s, const ig_script_type *type, uint32_t depth);

static void put_int(script *s) {
    static const char *const words[] = { "0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "4",
                                         "6",
                                         "7",
                                         "-2",
                                         "5",
                                         "11",
                                         "13",
                                         "torch.size(x0, 0)",
                                         "int(torch.sum(x0))",
                                         "-9223372036854775808",
                                         "9223372036854775807",
                                         "4294967296" };
    uint32_t way = choose(s, 32);
    if (way < 6) {
        PUT(s, "%d", s->extents[way % 3]);
    } else {
        const char *word = words[(way - 6) % IG_COUNT_OF(words)];
        PUT(s, "%s", strstr(word, "x0") && !s->input_count ? "8" : word);
    }
}

static void put_float(script *s) {
    static const char *const words[] = {
        "0.5", "0.", "1.", "-1.5", "2.", "1e300", "torch.Float(\"nan\")", "-0.", "0.1",
    };
    PUT(s, "%s", PICK(s, words));
}

static void put_text(script *s) {
    static const char *const words[] = {
        "mean",     "sum",      "none", "constant", "reflect",        "replicate",
        "trunc",    "floor",    "ij",   "xy",       "same",           "valid",
        "ij,jk",    "bi,bj->b", "tanh", "",         "i...,j...->...", "left",
        "circular", "aa->a",
    };
    PUT(s, "\"%s\"", PICK(s, words));
}

static void put_list(script *s, const ig_script_type *element, uint32_t depth) {
    uint32_t count = choose(s, MAX_ITEMS + 1);
    if (!count) {
        PUT(s, "annotate(List[%s], [])",
            element->has_variable ? "Tensor" : element->name);
        return;
    }
    PUT(s, "[");
    for (uint32_t i = 0; i < count; i++) {
        PUT(s, "%s", i ? ", " : "");
        put_value(s, element, depth + 1);
    }
    PUT(s, "]");
}

static void put_dict(script *s, const ig_script_type *type, uint32_t depth) {
    PUT(s, "{");
    put_value(s, type->items[0], depth + 1);
    PUT(s, ": ");
    put_value(s, type->items[1], depth + 1);
    PUT(s, "}");
}

static void put_tuple(script *s, const ig_script_type *type, uint32_t depth) {
    PUT(s, "(");
    for (size_t i = 0; i < type->count; i++) {
        put_value(s, type->items[i], depth + 1);
        PUT(s, ", ");
    }
    PUT(s, ")");
}

/* Packed weights. */
static void put_object(script *s, const ig_script_type *type) {
    static const struct {
        const char *part, *made;
    } made[] = {
        { "LinearPacked",
          "ops.quantized.linear_prepack(torch.quantize_per_tensor(self.w, 0.5, 0, 12), None)" },
        { "Conv2dPacked",
          "ops.quantized.conv2d_prepack(torch.quantize_per_tensor(torch.zeros([4, 2, 3, 3]), 0.5, 0, 12), None, [1, 1], [0, 0], [1, 1], 1)" },
        { "Conv3dPacked",
          "ops.quantized.conv3d_prepack(torch.quantize_per_tensor(torch.zeros([4, 2, 3, 3, 3]), 0.5, 0, 12), None, [1, 1, 1], [0, 0, 0], [1, 1, 1], 1)" },
        { "EmbeddingPacked",
          "ops.quantized.embedding_bag_prepack(torch.quantize_per_channel(self.w, torch.ones([4]), torch.zeros([4]), 0, 13))" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(made); i++) {
        if (strstr(type->name, made[i].part)) {
            PUT(s, "%s", made[i].made);
            return;
        }
    }
    PUT(s, "self");
}

static void put_any(script *s) {
    switch (choose(s, 4)) {
    case 0:
        put_int(s);
        break;
    case 1:
        put_text(s);
        break;
    default:
        put_tensor(s);
    }
}

static void put_value(script *s, const ig_script_type *type, uint32_t depth) {
    if (depth > DEPTH) {
        PUT(s, "None");
        return;
    }
    switch ((int)type->kind) {
    case IG_SCRIPT_TENSOR:
        put_tensor(s);
        break;
    case IG_SCRIPT_NUMBER:
        (choose(s, 2) ? put_int : put_float)(s);
        break;
    case IG_SCRIPT_INT:
        put_int(s);
        break;
    case IG_SCRIPT_FLOAT:
    case IG_SCRIPT_COMPLEX:
        put_float(s);
        break;
    case IG_SCRIPT_BOOL:
        PUT(s, "%s", choose(s, 2) ? "True" : "False");
        break;
    case IG_SCRIPT_STR:
        put_text(s);
        break;
    case IG_SCRIPT_DEVICE:
        PUT(s, "torch.device(\"cpu\")");
        break;
    case IG_SCRIPT_OPTIONAL:
        if (choose(s, 4) == 0) {
            PUT(s, "None");
        } else {
            put_value(s, type->items[0], depth + 1);
        }
        break;
    case IG_SCRIPT_LIST:
        put_list(s, type->items[0], depth);
        break;
    case IG_SCRIPT_DICT:
        put_dict(s, type, depth);
        break;
    case IG_SCRIPT_TUPLE:
        put_tuple(s, type, depth);
        break;
    case IG_SCRIPT_CLASS:
        put_object(s, type);
        break;
    case IG_SCRIPT_NONE:
    case IG_SCRIPT_GENERATOR:
    case IG_SCRIPT_STREAM:
        PUT(s, "None");
        break;
    default:
        put_any(s);
    }
}

/* ---- the call ---- */

static void put_arguments(script *s, const ig_schema *schema) {
    bool has_skipped = false, is_first = true;
    for (size_t i = 0; i < schema->argument_count; i++) {
        const ig_schema_argument *argument = &schema->arguments[i];
        if (argument->value && choose(s, 3) == 0) {
            has_skipped = true;
            continue;
        }
        PUT(s, "%s", is_first ? "" : ", ");
        is_first = false;
        if (has_skipped || argument->is_keyword_only) {
            PUT(s, "%s=", argument->name);
        }
        if (argument->list_size && choose(s, 4) == 0) {
            put_int(s);
        } else {
            put_value(s, argument->type, 0);
        }
    }
}

static void put_call(script *s, const ig_schema *schema) {
    const char *colon = strstr(schema->name, "::");
    size_t length = colon ? (size_t)(colon - schema->name) : 0;
    bool is_aten = length == 4 && memcmp(schema->name, "aten", 4) == 0;
    if (is_aten) {
        PUT(s, "torch.%s(", colon + 2);
    } else {
        PUT(s, "ops.%.*s.%s(", (int)length, schema->name, colon ? colon + 2 : "");
    }
    put_arguments(s, schema);
    PUT(s, ")");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static script s;
    static char text[3 * TEXT_ROOM];
    size_t length = 0;
    memset(&s, 0, sizeof s);
    s.data = data;
    s.size = size;
    uint32_t row = choose(&s, (uint32_t)ig_ts_operators.count);
    const ig_schema *schema = rows.schemas[row];
    for (int i = 0; i < 3; i++) {
        s.extents[i] = 1 + (int)choose(&s, 8);
    }
    put_call(&s, schema);
    length = (size_t)snprintf(
        text, sizeof text,
        "%sclass M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
        "  w : Tensor\n  n : int\n  def forward(self: __torch__.M",
        s.inputs);
    for (uint32_t i = 0; i < s.input_count; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   ",\n    x%u: Tensor", i);
    }
    length += (size_t)snprintf(text + length, sizeof text - length,
                               ") -> Tensor:\n    _0 = %s\n    return self.w\n",
                               s.call);
    if (getenv("INGOT_FUZZ_SHOW")) {
        fprintf(stderr, "%s", text);
    }
    if (ig_fuzz_import((const uint8_t *)text, length)) {
        ig_fuzz_reach(row);
    }
    return 0;
}

/* Some calls of each row, drawn: rows move when one is added, so a stored corpus would
 * soon be one of other rows. */
size_t ig_fuzz_seed(size_t i, uint8_t *bytes, size_t room) {
    enum { CALLS = 35, BYTES = 64 };
    uint64_t state = i * 0x9e3779b97f4a7c15u + 1;
    size_t row = i / CALLS;
    if (row >= ig_ts_operators.count || room < BYTES) {
        return 0;
    }
    bytes[0] = (uint8_t)(row >> 8);
    bytes[1] = (uint8_t)row;
    for (size_t b = 2; b < BYTES; b++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[b] = (uint8_t)(state >> 56);
    }
    return BYTES;
}
