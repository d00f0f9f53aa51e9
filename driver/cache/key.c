/* Keys of the caches.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A module's key is its text with long constants left out, and for each constant its
 * length and XXH3-128.  A constant's position does not matter, only its content; hashes
 * of large model files are remembered by device, inode, size and time.
 */
#include "driver/cache/key.h"

#include "driver/source.h"
#include "ingot_build_id.h"
#include "ir/text/text.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Longer constants are hashed in place of being printed. */
enum { PRINTED_BYTES = 64 };

ig_str ig_key_of_kernel(const ig_target *target, const ig_graph *kernel,
                        ig_arena *arena) {
    assert(kernel->stage == IG_STAGE_KERNEL &&
           "only kernels are compiled by themselves");
    ig_writer text, key;
    ig_writer_init(&text, arena);
    ig_print_graph(kernel, &text);
    ig_writer_init(&key, arena);
    ig_put(&key, "%s\n%s\n", INGOT_BUILD_ID, target->name);
    /* Equal kernels of different models differ in their names only. */
    ig_str printed = ig_writer_str(&text);
    const char *open = memchr(printed.data, '(', printed.size);
    size_t skipped = open ? (size_t)(open - printed.data) : 0;
    ig_put_str(&key, (ig_str){ printed.data + skipped, printed.size - skipped });
    return ig_writer_str(&key);
}

/* ---- payloads ---- */

typedef struct model_key {
    const ig_module *module;
    ig_arena *arena;
    ig_payloads *payloads;
    ig_writer out;
    uint32_t loc; /* of the op before */
} model_key;

static void put_data(model_key *k, const ig_data *data) {
    size_t size = ig_data_stored_bytes(data);
    assert((data->bytes || size == 0) && "constants have their bytes");
    ig_hash128 hash = ig_payload_hash_of(k->payloads, data->bytes, size);
    ig_put(&k->out, "%zu%s ", size, data->is_splat ? " splat" : "");
    ig_put_bytes(&k->out, hash.bytes, sizeof hash.bytes);
}

/* ---- graphs ---- */

/* Whose work an op does, by the numbers of put_nodes. */
static void put_source(model_key *k, const ig_op *op) {
    if (op->loc != k->loc || op->origins) {
        k->loc = op->loc;
        ig_put(&k->out, "%u %u\n", op->loc, op->origins);
    }
}

static void put_op_data(model_key *k, const ig_op *op) {
    const ig_op_info *info = &ig_ops[op->code];
    for (uint32_t i = 0; i < info->attr_count; i++) {
        if (op->attrs[i].kind == IG_ATTR_DATA) {
            put_data(k, op->attrs[i].as.data);
        }
    }
}

/* Every op of a block and of the bodies below, in order, without recursion. */
static void put_block_data(model_key *k, const ig_block *block) {
    IG_VEC(const ig_block *) todo = { 0 };
    IG_PUSH(k->arena, &todo, block);
    while (todo.count) {
        const ig_block *at = IG_POP(&todo);
        for (const ig_op *op = at->first; op; op = op->next) {
            put_source(k, op);
            put_op_data(k, op);
            for (uint32_t b = 0; b < op->body_count; b++) {
                IG_PUSH(k->arena, &todo, op->bodies[b]);
            }
        }
    }
}

/* Artifacts name the nodes that they were made of, so another name is another key. */
static void put_nodes(model_key *k) {
    for (uint32_t i = 1; i < k->module->locations.count; i++) {
        ig_put(&k->out, "%s\n", ig_source_of(k->arena, k->module, i));
    }
    for (size_t i = 0; i < k->module->unions.count; i++) {
        const ig_origin_union *parts = &k->module->unions.items[i];
        ig_put(&k->out, "%u %u\n", parts->first, parts->second);
    }
}

/* The text has the names of inputs and results too. */
static void put_graphs(model_key *k) {
    ig_print_options options = { .data_bytes = PRINTED_BYTES };
    ig_print_module_with(k->module, &options, &k->out);
    for (size_t i = 0; i < k->module->graphs.count; i++) {
        put_block_data(k, &k->module->graphs.items[i]->body);
    }
    put_nodes(k);
    for (size_t i = 0; i < k->module->weights.count; i++) {
        const ig_weight *weight = k->module->weights.items[i];
        ig_put(&k->out, "\n%s ", weight->name);
        if (!weight->is_recipe) {
            put_data(k, &weight->data);
        }
    }
}

/* ---- options ---- */

/* A referenced file goes into the artifact by its path as seen from there. */
static void put_references(model_key *k, const char *path) {
    char full[PATH_MAX] = "";
    if (path) {
        const char *slash = strrchr(path, '/');
        char *folder = ig_arena_copy(k->arena, path,
                                     slash ? (size_t)(slash - path) + 1 : 0);
        if (!realpath(slash ? folder : ".", full)) {
            full[0] = '\0';
        }
    }
    ig_put(&k->out, "\nbeside %s", full);
    for (size_t i = 0; i < k->module->weights.count; i++) {
        const ig_data *data = &k->module->weights.items[i]->data;
        if (data->file && !k->module->weights.items[i]->is_recipe &&
            realpath(data->file, full)) {
            ig_put(&k->out, "\n%s %lld", full, (long long)data->offset);
        }
    }
    for (size_t i = 0; i < k->module->files.count; i++) {
        const ig_file_map *file = &k->module->files.items[i];
        ig_put(&k->out, "\n%llu %llu", (unsigned long long)file->size,
               (unsigned long long)file->mtime_ns);
    }
}

static ig_status put_options(model_key *k, const ig_compile_options *options) {
    ig_target_list targets;
    IG_TRY(ig_targets_parse(k->module->context, options->target, &targets));
    ig_put(&k->out, "%s\n", INGOT_BUILD_ID);
    for (uint32_t i = 0; i < targets.count; i++) {
        ig_put(&k->out, "%s ", targets.targets[i]->name);
    }
    ig_put(&k->out, "\n%d %d %d\n", options->weights == IG_WEIGHTS_REFERENCE,
           options->torch_empty != 0, options->clamp_ids != 0);
    ig_put(&k->out, "%d %d\n", options->sanitize != 0, options->debug != 0);
    ig_put(&k->out, "%d %d\n", options->tf32 != 0, options->winograd != 0);
    ig_put_quoted(&k->out, ig_str_of(options->passes));
    ig_put_quoted(&k->out, ig_str_of(k->module->name));
    return IG_OK;
}

ig_str ig_key_of_model(const ig_module *module, const ig_compile_options *options,
                       ig_payloads *payloads, const char *path, ig_status *out_status) {
    assert(payloads->module == module &&
           "payloads are found in the files of their module");
    model_key k = { .module = module, .payloads = payloads, .arena = payloads->arena };
    ig_writer_init(&k.out, k.arena);
    *out_status = put_options(&k, options);
    if (*out_status != IG_OK) {
        return (ig_str){ 0 };
    }
    if (options->weights == IG_WEIGHTS_REFERENCE) {
        put_references(&k, path);
    }
    put_graphs(&k);
    ig_payloads_keep(payloads);
    return ig_writer_str(&k.out);
}
