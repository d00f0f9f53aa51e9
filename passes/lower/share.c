/* Which launches have one kernel.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model of many equal layers says the same many times.  A schedule reads no more of a
 * compute than its key holds, so a compute whose key is known takes the launch that was
 * made for it, and no kernel is built to be thrown away.
 */
#include "passes/lower/share.h"

#include "ir/text/text.h"

#include <assert.h>
#include <string.h>

typedef struct known_kernel {
    ig_graph *kernel;
    struct known_kernel *next; /* of the same hash */
} known_kernel;

/* ---- the description of a compute ---- */

typedef struct key_writer {
    ig_writer out;
    ig_map ids; /* value -> its number, in order of appearance from 1 */
} key_writer;

static void put_number(key_writer *w, uint64_t number) {
    ig_put_bytes(&w->out, &number, sizeof number);
}

static void put_text(key_writer *w, const char *text) {
    put_number(w, strlen(text));
    ig_put_bytes(&w->out, text, strlen(text));
}

static void put_data(key_writer *w, const ig_data *data) {
    size_t size = data->bytes ? ig_data_stored_bytes(data) : 0;
    put_number(w, IG_MAP_PTR(data->type));
    put_number(w, (uint64_t)data->size);
    put_number(w, (uint64_t)data->is_splat << 1 | (data->bytes != NULL));
    ig_put_bytes(&w->out, size ? data->bytes : "", size);
    if (!data->bytes) {
        put_text(w, data->file ? data->file : "");
        put_number(w, (uint64_t)data->offset);
    }
}

static void put_attr(key_writer *w, const ig_attr *attr) {
    put_number(w, (uint64_t)attr->kind << 32 | attr->count);
    switch ((ig_attr_kind)attr->kind) {
    case IG_ATTR_NONE:
        return;
    case IG_ATTR_STR:
    case IG_ATTR_SYM:
        put_text(w, attr->as.str);
        return;
    case IG_ATTR_INTS:
    case IG_ATTR_DIMS:
        ig_put_bytes(&w->out, attr->count ? (const void *)attr->as.ints : "",
                     attr->count * sizeof(int64_t));
        return;
    case IG_ATTR_DATA:
        put_data(w, attr->as.data);
        return;
    case IG_ATTR_INT:
    case IG_ATTR_FLOAT:
    case IG_ATTR_BOOL:
    case IG_ATTR_ENUM:
    case IG_ATTR_DTYPE:
    case IG_ATTR_DIM:
        put_number(w, (uint64_t)attr->as.i);
        return;
    }
}

static void put_attrs(key_writer *w, const ig_op *op) {
    for (uint32_t i = 0; i < ig_ops[op->code].attr_count; i++) {
        put_attr(w, &op->attrs[i]);
    }
}

/* A value that is met first.  Types are interned. */
static void put_value(key_writer *w, const ig_value *value) {
    uintptr_t index = w->ids.count + 1;
    ig_map_set_id(&w->ids, IG_MAP_PTR(value), (void *)index);
    put_number(w, IG_MAP_PTR(value->type));
}

static void put_block(key_writer *w, const ig_block *block);

static void put_op(key_writer *w, const ig_op *op) {
    put_number(w, (uint64_t)op->code << 48 | (uint64_t)op->operand_count << 32 |
                      (uint64_t)op->result_count << 16 | op->body_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *value = op->operands[i].value;
        void *number = ig_map_get_id(&w->ids, IG_MAP_PTR(value));
        put_number(w, number ? (uintptr_t)number : IG_MAP_PTR(value));
    }
    put_attrs(w, op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        put_value(w, &op->results[i]);
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        put_block(w, op->bodies[i]);
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void put_block(key_writer *w, const ig_block *block) {
    put_number(w, block->arg_count);
    for (uint32_t i = 0; i < block->arg_count; i++) {
        put_value(w, block->args[i]);
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        put_op(w, op);
    }
}

ig_str ig_compute_key(const ig_op *compute, ig_arena *arena) {
    assert(compute->code == IG_OP_compute && compute->body_count == 1 &&
           "a compute has one body");
    key_writer w;
    ig_writer_init(&w.out, arena);
    ig_map_init(&w.ids, arena);
    put_number(&w, compute->operand_count);
    put_attrs(&w, compute);
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        const ig_value *value = compute->operands[i].value;
        const ig_dim *strides = ig_lower_strides(arena, value);
        ig_lower_start start = ig_lower_start_of(value);
        put_number(&w, (uint64_t)start.root << 32 | (uint64_t)start.even);
        put_number(&w, IG_MAP_PTR(value->type));
        for (uint32_t d = 0; d < value->type->rank; d++) {
            put_number(&w, ig_dim_key(strides[d]));
        }
    }
    put_block(&w, compute->bodies[0]);
    return ig_writer_str(&w.out);
}

/* ---- equal kernels ---- */

static ig_str body_text(const ig_graph *kernel, ig_arena *arena) {
    ig_writer writer;
    ig_writer_init(&writer, arena);
    ig_print_graph(kernel, &writer);
    ig_str text = ig_writer_str(&writer);
    const char *open = memchr(text.data, '(', text.size);
    size_t skipped = open ? (size_t)(open - text.data) : 0;
    return (ig_str){ text.data + skipped, text.size - skipped };
}

static bool is_equal(const ig_graph *a, const ig_graph *b) {
    ig_arena arena;
    ig_arena_init(&arena, &a->module->context->budget);
    bool is_same = a->op_count == b->op_count &&
                   ig_str_equal(body_text(a, &arena), body_text(b, &arena));
    ig_arena_fini(&arena);
    return is_same;
}

static void know_kernel(ig_kernel_share *share, uint64_t hash, ig_graph *kernel) {
    known_kernel *entry = IG_NEW(share->arena, known_kernel);
    *entry = (known_kernel){ kernel, ig_map_get_id(&share->kernels, hash) };
    ig_map_set_id(&share->kernels, hash, entry);
}

ig_graph *ig_kernel_share_find(ig_kernel_share *share, ig_graph *kernel) {
    uint64_t hash = ig_graph_hash(kernel);
    const known_kernel *entry = ig_map_get_id(&share->kernels, hash);
    for (; entry; entry = entry->next) {
        assert(entry->kernel != kernel && "a kernel is asked for once");
        if (is_equal(entry->kernel, kernel)) {
            return entry->kernel;
        }
    }
    know_kernel(share, hash, kernel);
    return NULL;
}

void ig_kernel_share_init(ig_kernel_share *share, const ig_module *module,
                          ig_arena *arena) {
    share->arena = arena;
    ig_map_init(&share->launches, arena);
    ig_map_init(&share->kernels, arena);
    for (size_t i = 0; i < module->graphs.count; i++) {
        ig_graph *graph = module->graphs.items[i];
        if (graph->stage == IG_STAGE_KERNEL) {
            know_kernel(share, ig_graph_hash(graph), graph);
        }
    }
}

/* ---- launches ---- */

const ig_launch_attrs *ig_kernel_share_launch(const ig_kernel_share *share,
                                              ig_str key) {
    return ig_map_get(&share->launches, key);
}

/* Absent stays absent. */
static void own_dims(ig_arena *arena, ig_dims *dims) {
    if (dims->items) {
        size_t size = dims->count * sizeof *dims->items;
        dims->items = (const ig_dim *)ig_arena_copy(arena, dims->items, size);
    }
}

void ig_kernel_share_keep(ig_kernel_share *share, ig_str key,
                          const ig_launch_attrs *launch) {
    ig_launch_attrs *own = IG_NEW(share->arena, ig_launch_attrs);
    *own = *launch;
    own_dims(share->arena, &own->params);
    own_dims(share->arena, &own->ranges);
    own_dims(share->arena, &own->offsets);
    ig_map_set(&share->launches, key, own);
}
