/* Writing artifacts: texts, expressions and constants of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/artifact/write.h"

#include "base/checked.h"
#include "ingot/runtime.h"
#include "ir/dim/dim.h"

#define XXH_INLINE_ALL
#include <assert.h>
#include <string.h>
#include <xxhash.h>

/* The runtime must not include ir/, so it repeats two numberings; here they meet. */
#define SAME_OPCODE(name)                                                   \
    _Static_assert((int)IG_DIM_##name == (int)IG_CODE_##name, "opcodes of " \
                                                              "expressions")
SAME_OPCODE(CONST);
SAME_OPCODE(SYMBOL);
SAME_OPCODE(ADD);
SAME_OPCODE(MUL);
SAME_OPCODE(MIN);
SAME_OPCODE(MAX);
SAME_OPCODE(FLOOR);
SAME_OPCODE(CEIL);
SAME_OPCODE(BCAST);
SAME_OPCODE(EXACT);
_Static_assert(sizeof(ig_dim_code) == sizeof(ig_plan_code),
               "codes are copied as they are");

enum onnx_code {
#define DTYPE(name, bits, class, onnx, what) onnx_##name = onnx,
#include "ir/tensor/dtype.def"
#undef DTYPE
};
#define SAME_DTYPE(name, code) \
    _Static_assert((int)onnx_##name == (int)(code), "dtype codes of the runtime")
SAME_DTYPE(bool, IG_BOOL8);
SAME_DTYPE(f32, IG_F32);
SAME_DTYPE(f64, IG_F64);
SAME_DTYPE(f16, IG_F16);
SAME_DTYPE(bf16, IG_BF16);
SAME_DTYPE(i8, IG_I8);
SAME_DTYPE(i32, IG_I32);
SAME_DTYPE(i64, IG_I64);
SAME_DTYPE(u8, IG_U8);
SAME_DTYPE(i4, IG_I4);
SAME_DTYPE(u4, IG_U4);

void ig_artifact_init(ig_artifact_writer *writer, ig_arena *arena, const char *build_id,
                      const char *model) {
    memset(writer, 0, sizeof *writer);
    writer->arena = arena;
    writer->arena_bytes = -1;
    writer->family = IG_FAMILY_NAME_CPU;
    writer->weights = IG_NEW(arena, ig_artifact_weights);
    ig_map_init(&writer->weights->known, arena);
    ig_writer_init(&writer->strings, arena);
    ig_map_init(&writer->text_of, arena);
    ig_map_init(&writer->expr_of, arena);
    writer->build_id = ig_artifact_text(writer, ig_str_of(build_id));
    writer->model = ig_artifact_text(writer, ig_str_of(model));
}

static ig_hash128 hash_of(XXH128_hash_t value) {
    ig_hash128 hash;
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, value);
    memcpy(hash.bytes, canonical.digest, sizeof hash.bytes);
    return hash;
}

ig_hash128 ig_artifact_hash(const void *data, size_t size) {
    return hash_of(XXH3_128bits(data, size));
}

ig_hash128 ig_artifact_hash_parts(const ig_file_part *parts, size_t count) {
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    for (size_t i = 0; i < count; i++) {
        XXH3_128bits_update(&state, parts[i].data, parts[i].size);
    }
    return hash_of(XXH3_128bits_digest(&state));
}

/* ---- texts and expressions ---- */

/* Numbers in maps are kept as number + 1, because NULL means absent. */
static void *to_entry(size_t index) {
    return (void *)(uintptr_t)(index + 1);
}

static bool from_entry(const void *entry, size_t *out_index) {
    *out_index = (size_t)(uintptr_t)entry - 1;
    return entry != NULL;
}

ig_plan_text ig_artifact_text(ig_artifact_writer *writer, ig_str text) {
    const char *end = text.size ? memchr(text.data, 0, text.size) : NULL;
    if (end) {
        text.size =
            (size_t)(end - text.data); /* names of the runtime's are C strings */
    }
    size_t offset;
    if (!from_entry(ig_map_get(&writer->text_of, text), &offset)) {
        offset = writer->strings.size;
        ig_put_str(&writer->strings, text);
        ig_put_char(&writer->strings, 0);
        ig_map_set(&writer->text_of, text, to_entry(offset));
    }
    return (ig_plan_text){ (uint32_t)offset, (uint32_t)text.size };
}

uint32_t ig_artifact_expr(ig_artifact_writer *writer, const ig_plan_code *code,
                          uint32_t count) {
    assert(count > 0 && "an expression has code");
    ig_str key = { (const char *)code, count * sizeof *code };
    size_t index;
    if (!from_entry(ig_map_get(&writer->expr_of, key), &index)) {
        index = writer->exprs.count;
        IG_PUSH(writer->arena, &writer->exprs,
                (ig_plan_range){ (uint32_t)writer->codes.count, count });
        for (uint32_t i = 0; i < count; i++) {
            IG_PUSH(writer->arena, &writer->codes, code[i]);
        }
        ig_map_set(&writer->expr_of, key, to_entry(index));
    }
    return (uint32_t)index;
}

uint32_t ig_artifact_int(ig_artifact_writer *writer, int64_t value) {
    return ig_artifact_expr(writer, &(ig_plan_code){ IG_CODE_CONST, value }, 1);
}

ig_plan_range ig_artifact_list(ig_artifact_writer *writer, const uint32_t *exprs,
                               uint32_t count) {
    ig_plan_range range = { (uint32_t)writer->lists.count, count };
    for (uint32_t i = 0; i < count; i++) {
        IG_PUSH(writer->arena, &writer->lists, exprs[i]);
    }
    return range;
}

/* ---- host functions ---- */

/* An operator of the user's own is called domain::Op. */
static const char *library_of(const char *function) {
    static const struct {
        const char *prefix, *library;
    } libraries[] = { { "text_", "text" },
                      { "image_", "image" },
                      { "rank_", "group" } };
    for (size_t i = 0; i < IG_COUNT_OF(libraries); i++) {
        if (strncmp(function, libraries[i].prefix, strlen(libraries[i].prefix)) == 0) {
            return libraries[i].library;
        }
    }
    return strstr(function, "::") ? "custom" : "";
}

uint32_t ig_artifact_host(ig_artifact_writer *writer, const char *name,
                          uint32_t version) {
    ig_plan_text text = ig_artifact_text(writer, ig_str_of(name));
    for (uint32_t i = 0; i < writer->hosts.count; i++) {
        const ig_plan_host *host = &writer->hosts.items[i];
        if (host->name.offset == text.offset && host->version == version) {
            return i;
        }
    }
    ig_plan_host host = { .name = text,
                          .library = ig_artifact_text(writer,
                                                      ig_str_of(library_of(name))),
                          .version = version };
    IG_PUSH(writer->arena, &writer->hosts, host);
    return (uint32_t)writer->hosts.count - 1;
}

/* ---- constants ---- */

/* The position of the bytes in the entry of weights. */
static uint64_t place_bytes(ig_artifact_writer *writer, const void *data, uint64_t size,
                            const ig_hash128 *hash) {
    ig_artifact_weights *weights = writer->weights;
    ig_str key = { (const char *)hash->bytes, sizeof hash->bytes };
    size_t index;
    if (from_entry(ig_map_get(&weights->known, key), &index) &&
        weights->spans.items[index].size == size) {
        return weights->spans.items[index].offset;
    }
    key.data = ig_arena_copy(writer->arena, key.data, key.size);
    ig_map_set(&weights->known, key, to_entry(weights->spans.count));
    uint64_t offset = ig_align_up(weights->bytes, IG_ENTRY_ALIGN);
    IG_PUSH(writer->arena, &weights->spans, (ig_artifact_span){ data, offset, size });
    weights->bytes = offset + size;
    return offset;
}

uint32_t ig_artifact_constant(ig_artifact_writer *writer, ig_str name, const void *data,
                              uint64_t size) {
    assert((data || size == 0) && "constants have their bytes");
    ig_plan_constant constant = {
        .name = ig_artifact_text(writer, name),
        .source = IG_CONSTANT_WEIGHTS,
        .file = IG_NONE,
        .bytes = size,
        .hash = ig_artifact_hash(data, size),
    };
    constant.offset = place_bytes(writer, data, size, &constant.hash);
    IG_PUSH(writer->arena, &writer->constants, constant);
    return (uint32_t)writer->constants.count - 1;
}

uint32_t ig_artifact_reference(ig_artifact_writer *writer, ig_str name, uint32_t file,
                               uint64_t offset, uint64_t size, const void *data) {
    ig_plan_constant constant = {
        .name = ig_artifact_text(writer, name),
        .source = IG_CONSTANT_FILE,
        .file = file,
        .offset = offset,
        .bytes = size,
    };
    if (data) {
        constant.hash = ig_artifact_hash(data, size);
    }
    IG_PUSH(writer->arena, &writer->constants, constant);
    return (uint32_t)writer->constants.count - 1;
}

/* ---- the plan entry ---- */

static void add_leaf(ig_artifact_writer *writer, const ig_plan_port *port) {
    ig_plan_node node = { .is_leaf = 1,
                          .name = port->name,
                          .text = ig_artifact_text(writer, IG_STR("")) };
    IG_PUSH(writer->arena, &writer->nodes, node);
}

/* A plan without a tree: its inputs by their names, and a tuple of its outputs. */
static void add_flat_tree(ig_artifact_writer *writer) {
    assert(writer->inputs.count >= writer->states.count &&
           writer->outputs.count >= writer->states.count &&
           "every state is an input and an output");
    uint32_t inputs = (uint32_t)(writer->inputs.count - writer->states.count);
    uint32_t outputs = (uint32_t)(writer->outputs.count - writer->states.count);
    ig_plan_text none = ig_artifact_text(writer, IG_STR(""));
    ig_plan_node call = { .kind = IG_TREE_CALL,
                          .count = inputs + 1,
                          .name = none,
                          .text = none,
                          .value = inputs };
    ig_plan_node result = {
        .kind = IG_TREE_TUPLE, .count = outputs, .name = none, .text = none
    };
    IG_PUSH(writer->arena, &writer->nodes, call);
    for (uint32_t i = 0; i < inputs; i++) {
        add_leaf(writer, &writer->inputs.items[i]);
    }
    IG_PUSH(writer->arena, &writer->nodes, result);
    for (uint32_t i = 0; i < outputs; i++) {
        add_leaf(writer, &writer->outputs.items[i]);
    }
}

ig_str ig_artifact_plan(ig_artifact_writer *writer) {
    ig_plan_header header = {
        .magic = IG_PLAN_MAGIC,
        .version = IG_FORMAT_VERSION,
        .header_bytes = sizeof header,
        .build_id = writer->build_id,
        .model = writer->model,
        .family = ig_artifact_text(writer, ig_str_of(writer->family)),
        .section_count = IG_SECTION_COUNT,
        .arena_bytes = writer->arena_bytes,
    };
    ig_writer plan;
    if (writer->nodes.count == 0) {
        add_flat_tree(writer);
    }
    ig_writer_init(&plan, writer->arena);
    ig_put_bytes(&plan, &header, sizeof header);
    writer->text.items = writer->strings.data;
    writer->text.count = writer->strings.size;
#define PUT_SECTION(name, record)                                     \
    ig_put_align(&plan, 8);                                           \
    header.sections[IG_SECTION_##name].offset = plan.size;            \
    header.sections[IG_SECTION_##name].count = writer->name.count;    \
    header.sections[IG_SECTION_##name].record_bytes = sizeof(record); \
    ig_put_bytes(&plan, writer->name.items, writer->name.count * sizeof(record));
    IG_PLAN_SECTIONS(PUT_SECTION)
#undef PUT_SECTION
    header.plan_bytes = plan.size;
    memcpy(plan.data, &header, sizeof header);
    size_t hashed = offsetof(ig_plan_header, build_id);
    header.hash = ig_artifact_hash(plan.data + hashed, plan.size - hashed);
    memcpy(plan.data, &header, sizeof header);
    return ig_writer_str(&plan);
}
