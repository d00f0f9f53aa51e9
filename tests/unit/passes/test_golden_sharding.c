/* What TorchRec's sharded EmbeddingBagCollections gave, rank by rank.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Cases lie in models/torchrec/sharding below INGOT_CASES (or ../shared): tables, plan,
 * and of each rank ids, lengths and pooled rows.  The collection is written as a graph
 * here, made the program of each rank by the case's plan, and all are interpreted.
 */
#include "driver/host.h"
#include "frontend/pt2/json.h"
#include "ingot/shard.h"
#include "ir/interpret/interpret.h"
#include "tests/unit/unit.h"

#include <glob.h>
#include <math.h>
#include <string.h>

enum { RANKS = 8, NPY_HEAD = 10 };

typedef struct collection {
    ig_context *context;
    ig_arena arena;
    const char *folder;
    const ig_json *json;
    int64_t world, batch;
} collection;

/* ---- files ---- */

static char *read_bytes(collection *c, const char *name, size_t *out_size) {
    const char *path = ig_arena_printf(&c->arena, "%s/%s", c->folder, name);
    FILE *file = fopen(path, "rb");
    CHECK_MSG(file, "%s", path);
    size_t room = (size_t)1 << 20;
    char *bytes = ig_arena_alloc(&c->arena, room);
    *out_size = fread(bytes, 1, room - 1, file);
    bytes[*out_size] = '\0';
    fclose(file);
    return bytes;
}

/* Where the numbers of an .npy file of version 1 begin. */
static size_t skip_head(const char *bytes, size_t size) {
    CHECK(size > NPY_HEAD && memcmp(bytes, "\x93NUMPY\x01", 7) == 0);
    return NPY_HEAD + (uint8_t)bytes[8] + ((size_t)(uint8_t)bytes[9] << 8);
}

static void read_array(collection *c, const char *name, ig_dtype dtype,
                       ig_tensor *out) {
    size_t size, bits = ig_dtypes[dtype].bits;
    char *bytes = read_bytes(c, name, &size);
    size_t at = skip_head(bytes, size);
    int64_t count = (int64_t)((size - at) * 8 / bits);
    CHECK_OK(ig_tensor_alloc(&c->arena, NULL, dtype, 1, &count, out));
    memcpy(out->data, bytes + at, size - at);
}

/* ---- the collection as a graph ---- */

static int64_t int_of(const ig_json *json, const char *key) {
    int64_t value = -1;
    CHECK(ig_json_int(ig_json_get(json, key), &value));
    return value;
}

static const ig_json *list_of(const ig_json *json, const char *key) {
    const ig_json *list = ig_json_get(json, key);
    CHECK(ig_json_count(list) > 0);
    return list;
}

static void put_weights(collection *c, ig_writer *out) {
    const ig_json *tables = list_of(c->json, "tables");
    for (size_t i = 0; i < ig_json_count(tables); i++) {
        const ig_json *table = &tables->as.list.items[i];
        const char *name = ig_json_text(ig_json_get(table, "name"));
        const char *file = ig_arena_printf(&c->arena, "weights_before_%s.npy", name);
        size_t size;
        char *bytes = read_bytes(c, file, &size);
        size_t at = skip_head(bytes, size);
        ig_put(out, "weight @ebc.%s.weight : f32[%lld, %lld] = inline(0x", name,
               (long long)int_of(table, "rows"), (long long)int_of(table, "dim"));
        for (size_t k = at; k < size; k++) {
            ig_put(out, "%02x", (uint8_t)bytes[k]);
        }
        ig_put(out, ")\n");
    }
}

static void put_times(ig_writer *out, int64_t count, const char *word) {
    for (int64_t i = 0; i < count; i++) {
        ig_put(out, "%s%s", i ? ", " : "", word);
    }
}

static void put_results(ig_writer *out, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        ig_put(out, "%s%%r%lld", i ? ", " : "", (long long)i);
    }
}

/* One bag of all features; their lengths lie one behind the other. */
static const char *collection_text(collection *c) {
    ig_writer out, operands;
    int64_t features = 0, batch = c->batch;
    const ig_json *tables = list_of(c->json, "tables");
    ig_writer_init(&out, &c->arena);
    ig_writer_init(&operands, &c->arena);
    ig_put(&out, "module @ebc {\n");
    put_weights(c, &out);
    ig_put(&out, "graph @main(%%values: i64[V], %%lengths: i64[L]) {\n"
                 "%%off = cumsum %%lengths {axis = 0, complete}\n");
    const char *pool = "sum";
    for (size_t i = 0; i < ig_json_count(tables); i++) {
        const ig_json *table = &tables->as.list.items[i];
        const ig_json *names = list_of(table, "features");
        bool is_mean = strcmp(ig_json_text(ig_json_get(table, "pooling")), "MEAN") == 0;
        pool = is_mean ? "mean" : "sum";
        for (size_t k = 0; k < ig_json_count(names); k++, features++) {
            ig_put(&out, "%%o%lld = slice %%off {starts = [%lld], sizes = [%lld]}\n",
                   (long long)features, (long long)(features * batch),
                   (long long)batch + 1);
            ig_put(&operands, "%s@ebc.%s.weight, %%values, %%o%lld",
                   features ? ", " : "", ig_json_text(ig_json_get(table, "name")),
                   (long long)features);
        }
    }
    put_results(&out, features);
    ig_put(&out, " = bag %s {operands = [", operands.data);
    put_times(&out, features, "1");
    ig_put(&out, "], pool = [");
    put_times(&out, features, pool);
    ig_put(&out, "], last = [");
    put_times(&out, features, "offset");
    ig_put(&out, "]}\nret ");
    put_results(&out, features);
    ig_put(&out, "\n}\n}\n");
    return out.data;
}

/* TorchRec's plan in our form: placements are "rank:1/cpu". */
static const char *plan_text(collection *c) {
    const ig_json *plan = list_of(c->json, "plan");
    ig_writer out;
    ig_writer_init(&out, &c->arena);
    ig_put(&out, "{\"world_size\": %lld, \"tables\": [", (long long)c->world);
    for (size_t i = 0; i < ig_json_count(plan); i++) {
        const ig_json *entry = &plan->as.list.items[i];
        const ig_json *shards = ig_json_get(entry, "shards");
        ig_str name = plan->as.list.keys[i];
        ig_put(&out, "%s{\"name\": \"%.*s\", \"sharding_type\": \"%s\", \"shards\": [",
               i ? ", " : "", IG_STR_ARG(name),
               ig_json_text(ig_json_get(entry, "sharding_type")));
        for (size_t k = 0; k < ig_json_count(shards); k++) {
            const ig_json *shard = &shards->as.list.items[k];
            const ig_json *size = list_of(shard, "sizes"),
                          *offset = list_of(shard, "offsets");
            int rank = -1;
            CHECK(sscanf(ig_json_text(ig_json_get(shard, "placement")), "rank:%d",
                         &rank) == 1);
            ig_put(&out,
                   "%s{\"rank\": %d, \"size\": [%lld, %lld], \"offset\": [%lld, %lld]}",
                   k ? ", " : "", rank, (long long)size->as.list.items[0].as.i,
                   (long long)size->as.list.items[1].as.i,
                   (long long)offset->as.list.items[0].as.i,
                   (long long)offset->as.list.items[1].as.i);
        }
        ig_put(&out, "]}");
    }
    ig_put(&out, "]}");
    return out.data;
}

/* ---- one case ---- */

/* The feature's number in the graph. */
static size_t feature_of(const collection *c, const char *name) {
    const ig_json *tables = list_of(c->json, "tables");
    size_t index = 0;
    for (size_t i = 0; i < ig_json_count(tables); i++) {
        const ig_json *names = list_of(&tables->as.list.items[i], "features");
        for (size_t k = 0; k < ig_json_count(names); k++, index++) {
            if (strcmp(ig_json_text(&names->as.list.items[k]), name) == 0) {
                return index;
            }
        }
    }
    CHECK_MSG(false, "%s: no feature %s", c->folder, name);
    return 0;
}

/* [batch, all columns] in the order of the rank's output keys. */
static void check_rank(collection *c, int64_t rank, const ig_tensor *got) {
    size_t size;
    ig_location where = { .file = c->folder };
    const ig_json *json;
    char *text = read_bytes(
        c, ig_arena_printf(&c->arena, "rank%lld.json", (long long)rank), &size);
    CHECK_OK(
        ig_json_read(c->context, &c->arena, &where, (ig_str){ text, size }, &json));
    const ig_json *keys = list_of(json, "output_keys");
    ig_tensor want;
    read_array(c, ig_arena_printf(&c->arena, "rank%lld_output.npy", (long long)rank),
               IG_DT_f32, &want);
    int64_t width = want.count / c->batch, column = 0;
    for (size_t i = 0; i < ig_json_count(keys); i++) {
        const ig_tensor *x = &got[feature_of(c, ig_json_text(&keys->as.list.items[i]))];
        CHECK_INT(x->dims[0], c->batch);
        for (int64_t k = 0; k < x->count; k++) {
            int64_t b = k / x->dims[1], d = k % x->dims[1];
            double a = ig_tensor_get_f64(&want, b * width + column + d);
            double y = ig_tensor_get_f64(x, k);
            CHECK_MSG(fabs(a - y) <= 1e-6 + 1e-6 * fabs(a),
                      "%s: rank %lld, %s, element %lld: %.9g, expected %.9g", c->folder,
                      (long long)rank, ig_json_text(&keys->as.list.items[i]),
                      (long long)k, y, a);
        }
        column += x->dims[1];
    }
    CHECK_INT(column, width);
}

static void run_ranks(collection *c) {
    const char *text = collection_text(c), *plan = plan_text(c);
    ig_module *modules[RANKS];
    const ig_graph *graphs[RANKS];
    ig_tensor in[RANKS][2], out[RANKS][16];
    const ig_tensor *inputs[RANKS];
    ig_tensor *outputs[RANKS];
    CHECK(c->world <= RANKS);
    for (int64_t r = 0; r < c->world; r++) {
        CHECK_OK(ig_import_memory(c->context, text, strlen(text), "case.ig", NULL,
                                  &modules[r]));
        ig_status status = ig_module_shard(modules[r], "plan.json", plan, (size_t)r,
                                           NULL);
        CHECK_MSG(status == IG_OK, "%s", ig_context_messages(c->context));
        graphs[r] = ig_entry_of(modules[r]);
        read_array(
            c, ig_arena_printf(&c->arena, "rank%lld_input_values.npy", (long long)r),
            IG_DT_i64, &in[r][0]);
        read_array(
            c, ig_arena_printf(&c->arena, "rank%lld_input_lengths.npy", (long long)r),
            IG_DT_i64, &in[r][1]);
        inputs[r] = in[r];
        outputs[r] = out[r];
    }
    ig_status status = ig_interpret_ranks(graphs, (uint32_t)c->world, inputs, &c->arena,
                                          outputs);
    CHECK_MSG(status == IG_OK, "%s: %s", c->folder, ig_context_messages(c->context));
    for (int64_t r = 0; r < c->world; r++) {
        check_rank(c, r, out[r]);
        ig_module_close(modules[r]);
    }
}

static void check_case(const char *path) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    collection c = { .context = ig_context_create(&options) };
    ig_location where = { .file = path };
    size_t size;
    ig_arena_init(&c.arena, NULL);
    c.folder = ig_arena_printf(&c.arena, "%.*s", (int)(strrchr(path, '/') - path),
                               path);
    char *text = read_bytes(&c, "case.json", &size);
    CHECK_OK(
        ig_json_read(c.context, &c.arena, &where, (ig_str){ text, size }, &c.json));
    c.world = int_of(c.json, "world_size");
    c.batch = int_of(c.json, "batch_per_rank");
    run_ranks(&c);
    ig_arena_fini(&c.arena);
    ig_context_destroy(c.context);
}

TEST(ranks_give_what_torchrec_gave) {
    static const char *const patterns[] = { "*", "mean/*" };
    const char *cases = getenv("INGOT_CASES");
    size_t count = 0;
    for (size_t i = 0; i < IG_COUNT_OF(patterns); i++) {
        char pattern[1024];
        glob_t found = { 0 };
        snprintf(pattern, sizeof pattern, "%s/models/torchrec/sharding/%s/case.json",
                 cases ? cases : INGOT_SOURCE_DIR "/../shared", patterns[i]);
        size_t paths = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
        for (size_t k = 0; k < paths; k++) {
            check_case(found.gl_pathv[k]);
        }
        globfree(&found);
        count += paths;
    }
    if (!count) {
        unit_skip("no models/torchrec/sharding");
        return;
    }
    printf("%zu cases of TorchRec\n", count);
}

UNIT_SUITE(golden_sharding, ranks_give_what_torchrec_gave)
