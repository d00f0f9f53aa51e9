/* Structs of options without their size are refused by every function that takes one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/defect.h"
#include "ingot/dlpack.h"
#include "ingot/dynamic.h"
#include "ingot/grad.h"
#include "ingot/group.h"
#include "ingot/id_map.h"
#include "ingot/ingot.h"
#include "ingot/interp.h"
#include "ingot/lookahead.h"
#include "ingot/page.h"
#include "ingot/quantize.h"
#include "ingot/runtime.h"
#include "ingot/shard.h"
#include "ingot/store.h"
#include "ingot/stored.h"
#include "ingot/train.h"
#include "ingot/tree.h"
#include "tests/unit/unit.h"

static const char text[] = "module @m {\n"
                           "  graph @main(%x: f32[B]) -> (f32[B] \"y\") {\n"
                           "    %0 = relu %x : f32[B]\n"
                           "    ret %0\n"
                           "  }\n"
                           "}\n";

static char words[512];

static void check_named(const char *call, ig_status status, const char *said) {
    CHECK_MSG(status == IG_INVALID, "%s: %s", call, ig_status_name(status));
    CHECK_MSG(strstr(said, "has no size"), "%s says: %s", call, said);
    words[0] = 0;
}

#define REFUSED_IN_WORDS(call) check_named(#call, call, words)

TEST(the_compiler_refuses_them) {
    ig_context_options bare = { .cache_folder = "" };
    CHECK_PTR(ig_context_create(&bare), NULL);
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    ig_import_options import = { 0 };
    ig_compile_options compile = { 0 };
    ig_page_options page = { 0 }, paged = { .size = sizeof paged, .compile = &compile };
    ig_quantize_options quantize = { 0 };
    ig_isolated_dump isolated = { .stage = "plan" };
    ig_answer_judge judge = { 0 };
    ig_reduction reduction = { 0 };
    ig_wanted_values wanted = { 0 };
    ig_guilty_pass guilty = { 0 };
    ig_module *module = NULL, *ids = NULL;
    ig_program *program = NULL;
    ig_quantized *made = NULL;
    const ig_stored *stored = NULL;
    const ig_quantize_table *tables = NULL;
    const char *out = NULL;
    const void *bytes = NULL;
    size_t size = 0;
#define REFUSED(call)                                             \
    do {                                                          \
        ig_status status = (call);                                \
        check_named(#call, status, ig_context_messages(context)); \
    } while (0)
    REFUSED(ig_import_memory(context, text, sizeof text - 1, NULL, &import, &module));
    REFUSED(ig_import(context, "x.onnx", &import, &module));
    CHECK_OK(ig_import_memory(context, text, sizeof text - 1, NULL, NULL, &module));
    REFUSED(ig_module_inspect(module, &compile, &out));
    REFUSED(ig_compile_options_check(context, &compile));
    REFUSED(ig_compile(module, &compile, &program));
    REFUSED(ig_compile_file(module, "x.ingot", &compile));
    REFUSED(ig_compile_model(context, "x.ig", NULL, &compile, &program));
    REFUSED(ig_compile_model(context, "x.ig", &import, NULL, &program));
    REFUSED(ig_compile_model_file(context, "x.ig", NULL, "x.ingot", &compile));
    REFUSED(ig_dump(module, "plan", &compile, IG_FORMAT_TEXT, &out, &size));
    REFUSED(ig_dump_isolated(context, "x.ig", &isolated, &out, &size));
    REFUSED(ig_module_page(module, &page, &out, &size));
    REFUSED(ig_module_page(module, &paged, &out, &size));
    REFUSED(ig_quantize(module, NULL, 0, &quantize, &made));
    quantize = (ig_quantize_options){ .size = sizeof quantize, .compile = &compile };
    REFUSED(ig_quantize(module, NULL, 0, &quantize, &made));
    REFUSED(ig_module_quantize_tables(module, NULL, 0, &compile, &tables, &size));
    REFUSED(ig_module_tables(module, &compile, &out));
    REFUSED(ig_module_shard(module, "plan", "{}", 0, &compile));
    REFUSED(ig_module_store(module, NULL, 0, &compile, &ids, &stored));
    REFUSED(ig_module_expose_file(module, "x.onnx", &wanted, &bytes, &size));
    REFUSED(ig_module_reduce(module, "x.onnx", NULL, 0, &reduction));
    REFUSED(ig_module_bisect(module, NULL, NULL, 0, &judge, &guilty));
    judge.size = sizeof judge;
    REFUSED(ig_module_bisect(module, NULL, NULL, 0, &judge, &guilty));
    ig_train_options bare_train = { .loss = "sum:y" };
    ig_train_options train = { .size = sizeof train, .loss = "sum:y" };
    REFUSED(ig_module_train(module, &bare_train, NULL));
    REFUSED(ig_compile_train(module, &train, &compile, IG_TRAIN_STEP, &program));
    REFUSED(ig_compile_train_file(module, &bare_train, "x.ingot", NULL));
    REFUSED(ig_train_describe(module, &bare_train, NULL, &out));
    ig_grad_options bare_grad = { .has_seed = 1 };
    REFUSED(ig_module_grad(module, &bare_grad, NULL));
    /* What is refused once leaves nothing for the next call. */
    compile.size = sizeof compile;
    CHECK_OK(ig_compile_options_check(context, &compile));
    ig_module_close(module);
    ig_context_destroy(context);
}
END_TEST

/* DLManagedTensorVersioned begins with its version, the owner and the deleter. */
static void release_tensor(void *managed) {
    struct tensor {
        uint32_t major, minor;
        void *owner;
        void (*deleter)(struct tensor *self);
    } *tensor = managed;
    tensor->deleter(tensor);
}

TEST(the_runtime_refuses_them) {
    ig_program_options open = { .message = words, .message_size = sizeof words };
    ig_session_options session = { .message = words, .message_size = sizeof words };
    ig_thread_pool_options pool = { .message = words, .message_size = sizeof words };
    ig_call_options call = { .message = words, .message_size = sizeof words };
    ig_dlpack_options dlpack = { .device_type = 1 };
    ig_program *program = NULL;
    ig_session *made = NULL;
    ig_thread_pool *threads = NULL;
    ig_call *begun = NULL;
    void *managed = NULL;
    ig_view view = { .rank = 0 };
    REFUSED_IN_WORDS(ig_program_open("x.ingot", &open, &program));
    REFUSED_IN_WORDS(ig_program_open_memory(text, 64, &open, &program));
    REFUSED_IN_WORDS(ig_session_create(NULL, &session, &made));
    REFUSED_IN_WORDS(ig_thread_pool_create(&pool, &threads));
    REFUSED_IN_WORDS(ig_call_create_from_nodes(NULL, 1, NULL, &call, &begun));
    CHECK_STATUS(ig_view_to_dlpack_versioned(&view, &dlpack, &managed), IG_INVALID);
    float one = 1;
    ig_view there = { .data = &one, .capacity = sizeof one, .dtype = 1 };
    ig_dlpack_options sized = { .size = sizeof sized };
    ig_dlpack_facts facts = { 0 };
    CHECK_OK(ig_view_to_dlpack_versioned(&there, &sized, &managed));
    CHECK_STATUS(ig_view_from_dlpack_versioned(managed, &view, &facts), IG_INVALID);
    facts.size = sizeof facts;
    CHECK_OK(ig_view_from_dlpack_versioned(managed, &view, &facts));
    release_tensor(managed);
}
END_TEST

TEST(trainers_refuse_them) {
    ig_trainer_options options = { .message = words, .message_size = sizeof words };
    ig_trainer *trainer = NULL;
    REFUSED_IN_WORDS(ig_trainer_open("x.ingot", &options, &trainer));
    REFUSED_IN_WORDS(ig_trainer_create(NULL, &options, &trainer));
}
END_TEST

TEST(stores_refuse_them) {
    ig_store_call bare = { .message = words, .message_size = sizeof words };
    ig_store_call call = bare;
    call.size = sizeof call;
    ig_store_cells cells = { .table = "t" };
    ig_dynamic_options dynamic = { .name = "t" };
    ig_lookahead_options ahead = { .message = words, .message_size = sizeof words };
    ig_store *store = NULL;
    ig_dynamic *table = NULL;
    ig_lookahead *opened = NULL;
    REFUSED_IN_WORDS(ig_store_open("memory://", &bare, &store));
    CHECK_OK(ig_store_open("memory://", &call, &store));
    REFUSED_IN_WORDS(ig_store_ping(store, &bare));
    REFUSED_IN_WORDS(ig_store_flush(store, &bare));
    REFUSED_IN_WORDS(ig_store_scan(store, &bare, NULL, NULL, NULL));
    REFUSED_IN_WORDS(ig_store_pull(store, &call, &cells, NULL, NULL));
    REFUSED_IN_WORDS(ig_store_push(store, &call, &cells, NULL, NULL));
    REFUSED_IN_WORDS(ig_store_erase(store, &call, &cells));
    REFUSED_IN_WORDS(ig_store_register("x.so", &bare));
    REFUSED_IN_WORDS(ig_dynamic_create(store, &dynamic, &call, &table));
    ig_id_map *map = NULL;
    ig_id_batch batch = { .count = 0 };
    REFUSED_IN_WORDS(ig_id_map_create(IG_ID_MAP_NAIVE, 4, 5, &bare, &map));
    CHECK_OK(ig_id_map_create(IG_ID_MAP_NAIVE, 4, 5, &call, &map));
    CHECK_STATUS(ig_id_map_transform(map, &batch), IG_INVALID);
    CHECK_STATUS(ig_id_map_find(map, &batch), IG_INVALID);
    ig_id_map_destroy(map);
    REFUSED_IN_WORDS(ig_lookahead_open("x.ingot", &ahead, &opened));
    ig_store_close(store);
}
END_TEST

TEST(interpreters_and_groups_refuse_them) {
    ig_interp_call how = { .message = words, .message_size = sizeof words };
    ig_interp_options options = { .engine = "lua" };
    ig_group_options group = { .message = words, .message_size = sizeof words };
    ig_interp_manager *manager = NULL;
    ig_group *opened = NULL;
    REFUSED_IN_WORDS(ig_interp_create(NULL, &how, &manager));
    how.size = sizeof how;
    REFUSED_IN_WORDS(ig_interp_create(&options, &how, &manager));
    REFUSED_IN_WORDS(ig_group_open("self", &group, &opened));
}
END_TEST

UNIT_SUITE(sizes, the_compiler_refuses_them, the_runtime_refuses_them,
           trainers_refuse_them, stores_refuse_them,
           interpreters_and_groups_refuse_them)
