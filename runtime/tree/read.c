/* Reading a nested result from the flat outputs of a run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/tree/call.h"

#include <assert.h>
#include <string.h>

/* ---- numbers ---- */

/* How an element is read as a whole number; NULL: it is none. */
#define READ_WHOLE(name, type)                   \
    static int64_t read_##name(const void *at) { \
        type value;                              \
        memcpy(&value, at, sizeof value);        \
        return (int64_t)value;                   \
    }
READ_WHOLE(i64, int64_t)
READ_WHOLE(i32, int32_t)
READ_WHOLE(u8, uint8_t)
#undef READ_WHOLE

static double read_f64(const void *at) {
    double value;
    memcpy(&value, at, sizeof value);
    return value;
}

static double read_f32(const void *at) {
    float value;
    memcpy(&value, at, sizeof value);
    return (double)value;
}

typedef struct number_reader {
    int32_t dtype;
    int64_t (*whole)(const void *at);
    double (*real)(const void *at);
} number_reader;

static const number_reader *find_reader(int32_t dtype) {
    static const number_reader readers[] = {
        { IG_I64, read_i64, NULL },  { IG_I32, read_i32, NULL },
        { IG_BOOL8, read_u8, NULL }, { IG_F64, NULL, read_f64 },
        { IG_F32, NULL, read_f32 },
    };
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (readers[i].dtype == dtype) {
            return &readers[i];
        }
    }
    return NULL;
}

static void read_number(ig_call_value *value) {
    const number_reader *reader = find_reader(value->view->dtype);
    assert(reader && "ig_call_read has checked it");
    const void *data = value->view->data;
    value->integer = reader->whole ? reader->whole(data) : 0;
    value->real = reader->real ? reader->real(data) : (double)value->integer;
}

/* A leaf that is a number must be one element of a type that can be read. */
static ig_status check_number(ig_call *call, uint32_t node, const ig_view *view) {
    const number_reader *reader = find_reader(view->dtype);
    bool is_real = call->nodes[node].kind == IG_TREE_FLOAT;
    bool is_good = view->rank == 0 && view->data && reader &&
                   (is_real || reader->whole);
    if (is_good) {
        return IG_OK;
    }
    char expected[IG_CALL_WORDS], got[IG_CALL_WORDS];
    ig_call_value value = { .kind = IG_TREE_TENSOR,
                            .view = (ig_view *)(uintptr_t)view };
    ig_call_put_expected(call, node, expected, sizeof expected);
    ig_call_put_value(&value, got, sizeof got);
    return ig_call_fail(call, node, IG_INVALID, "expected %s, got %s", expected, got);
}

/* ---- the walk ---- */

ig_status ig_call_read(ig_call *call, ig_view *outputs, size_t count) {
    call->outputs = outputs;
    call->at = call->result;
    call->last = call->result;
    call->status = IG_OK;
    call->error[0] = '\0';
    if (count != call->output_count) {
        return ig_call_fail(call, call->result, IG_INVALID,
                            "expected %u outputs, got %zu",
                            (unsigned)call->output_count, count);
    }
    for (uint32_t i = call->result; i < call->count; i++) {
        const ig_tree_node *node = &call->nodes[i];
        if (node->leaf >= 0 && node->kind != IG_TREE_TENSOR) {
            IG_TRY(check_number(call, i, &outputs[node->leaf]));
        }
    }
    return IG_OK;
}

static void fill_value(const ig_call *call, uint32_t at, ig_call_value *out) {
    const ig_tree_node *node = &call->nodes[at];
    *out = (ig_call_value){ .kind = node->kind,
                            .child_count = node->child_count,
                            .name = node->name,
                            .text = node->text,
                            .integer = node->integer,
                            .real = node->real,
                            .output = node->leaf };
    out->view = node->leaf >= 0 ? &call->outputs[node->leaf] : NULL;
    if (out->view && node->kind != IG_TREE_TENSOR) {
        read_number(out);
    }
}

int ig_call_next(ig_call *call, ig_call_value *out_value) {
    uint32_t end = call->result + call->nodes[call->result].size;
    if (call->status != IG_OK || call->at >= end) {
        return 0;
    }
    uint32_t at = call->at;
    const char *name = call->nodes[at].name;
    bool is_absent = false;
    while (call->nodes[at].kind == IG_TREE_OPTIONAL && !is_absent) {
        ig_call_value present;
        fill_value(call, at + 1, &present);
        is_absent = !present.integer;
        at += is_absent ? 0 : 2;
    }
    call->last = at;
    if (is_absent) {
        *out_value = (ig_call_value){ .kind = IG_TREE_NONE, .text = "", .output = -1 };
        call->at = at + call->nodes[at].size;
    } else {
        fill_value(call, at, out_value);
        call->at = at + 1;
    }
    out_value->name = name;
    return 1;
}

void ig_call_skip(ig_call *call) {
    call->at = call->last + call->nodes[call->last].size;
}

void ig_call_path(const ig_call *call, char *out_text, size_t size) {
    ig_call_put_path(call, call->last, out_text, size);
}

int ig_call_changed(const ig_call *call, size_t input) {
    const char *name = call->ports && input < call->input_count
                           ? call->ports[input].name
                           : NULL;
    uint32_t at = call->result + call->nodes[call->result].size;
    while (name && at < call->count) {
        if (strcmp(call->nodes[at].name, name) == 0) {
            return call->nodes[at].leaf;
        }
        at += call->nodes[at].size;
    }
    return -1;
}
