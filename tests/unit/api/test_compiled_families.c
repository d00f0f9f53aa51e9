/* Artifacts for a CPU and for GPUs at once, through the stand-in for NVRTC.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/zip_format.h"
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "runtime/format.h"
#include "tests/unit/unit.h"

#include <unistd.h>

UNIT_WITH_LLVM

enum { ROWS = 40, DIM = 16, N = 64, B = 3 };

/* The table is read as it is on both, the matrix is packed for the CPU alone. */
static const char model[] = "module @m {\n"
                            "  weight @t : f32[40, 16] = splat(0.5)\n"
                            "  weight @w : f32[16, 64] = splat(0.25)\n"
                            "  weight @b : f32[64] = splat(-1)\n"
                            "  graph @main(%i: i64[B]) -> (f32[B, 64] \"y\") {\n"
                            "    %0 = gather @t, %i {axis = 0} : f32[B, 16]\n"
                            "    %1 = matmul %0, @w : f32[B, 64]\n"
                            "    %2 = add %1, @b : f32[B, 64]\n"
                            "    %3 = tanh %2 : f32[B, 64]\n"
                            "    ret %3\n"
                            "  }\n"
                            "}\n";

static const char both[] = "cpu:v2,cuda:sm_80,sm_90a+ptx";

/* ---- making ---- */

static char folder[32];

static void begin(void) {
    strcpy(folder, "/tmp/ingot-families-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    setenv("INGOT_CUDA_DIR", INGOT_BINARY_DIR "/unit/cuda", 1);
    setenv("INGOT_STAND_IN_CACHE", folder, 1); /* a text is the same for each level */
}

static void end(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
}

static const char *path_of(const char *name) {
    static char paths[2][64];
    static int turn;
    char *path = paths[turn ^= 1];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static ig_status compile(const char *name, const char *target, char words[400]) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_compile_options how = { .size = sizeof how, .target = target };
    ig_context *context = ig_context_create(&options);
    ig_module *module = NULL;
    CHECK_OK(ig_import_memory(context, model, strlen(model), NULL, NULL, &module));
    ig_status status = ig_compile_file(module, path_of(name), &how);
    snprintf(words, 400, "%s", ig_context_messages(context));
    ig_module_close(module);
    ig_context_destroy(context);
    return status;
}

static void make(const char *name, const char *target) {
    char words[400];
    CHECK_MSG(compile(name, target, words) == IG_OK, "%s: %s", target, words);
}

/* ---- reading ---- */

typedef struct file {
    char *bytes;
    size_t size;
} file;

static file read_file(const char *name) {
    file f = { NULL, 0 };
    FILE *from = fopen(path_of(name), "rb");
    CHECK(from != NULL);
    CHECK_INT(fseek(from, 0, SEEK_END), 0);
    f.size = (size_t)ftell(from);
    rewind(from);
    f.bytes = malloc(f.size);
    CHECK(fread(f.bytes, 1, f.size, from) == f.size);
    fclose(from);
    return f;
}

static uint32_t number_at(const char *at, size_t bytes) {
    uint32_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

/* The bytes of an entry; size 0: there is none. */
static file find(const file *f, const char *name) {
    const char *at = f->bytes, *stop = f->bytes + f->size;
    while (stop - at > IG_ZIP_LOCAL_BYTES && number_at(at, 4) == IG_ZIP_LOCAL) {
        size_t length = number_at(at + 26, 2);
        char *data = (char *)at + IG_ZIP_LOCAL_BYTES + length + number_at(at + 28, 2);
        if (length == strlen(name) && !memcmp(at + IG_ZIP_LOCAL_BYTES, name, length)) {
            return (file){ data, number_at(at + 18, 4) };
        }
        at = data + number_at(at + 18, 4);
    }
    return (file){ NULL, 0 };
}

static void check_same(const file *a, const file *b, const char *name) {
    file x = find(a, name), y = find(b, name);
    CHECK_MSG(x.size > 0 && x.size == y.size && !memcmp(x.bytes, y.bytes, x.size),
              "'%s' differs", name);
}

static const void *section(file plan, ig_plan_section which, uint64_t *out_count) {
    const ig_plan_header *header = (const void *)plan.bytes;
    CHECK(plan.size > sizeof *header);
    *out_count = header->sections[which].count;
    return plan.bytes + header->sections[which].offset;
}

static const char *text_of(file plan, ig_plan_text text) {
    uint64_t count;
    return (const char *)section(plan, IG_SECTION_text, &count) + text.offset;
}

/* ---- tests ---- */

TEST(the_part_of_the_cpu_is_that_of_a_cpu_alone) {
    begin();
    make("cpu.ingot", "cpu:v2");
    make("both.ingot", both);
    file cpu = read_file("cpu.ingot"), all = read_file("both.ingot");
    check_same(&cpu, &all, "plan");
    check_same(&cpu, &all, "code/cpu-v2");
    check_same(&cpu, &all, "sources.json");
    file few = find(&cpu, "weights"), more = find(&all, "weights");
    CHECK(few.size > 0 && more.size >= few.size &&
          memcmp(few.bytes, more.bytes, few.size) == 0);
    free(cpu.bytes);
    free(all.bytes);
    end();
}
END_TEST

TEST(equal_constants_of_two_plans_stand_once) {
    begin();
    make("both.ingot", both);
    file all = read_file("both.ingot");
    file plans[2] = { find(&all, "plan"), find(&all, "plan-cuda") };
    uint64_t counts[2], shared = 0, bytes = 0;
    const ig_plan_constant *c[2];
    for (int p = 0; p < 2; p++) {
        c[p] = section(plans[p], IG_SECTION_constants, &counts[p]);
    }
    for (uint64_t i = 0; i < counts[0]; i++) {
        for (uint64_t j = 0; j < counts[1]; j++) {
            if (memcmp(&c[0][i].hash, &c[1][j].hash, sizeof c[0][i].hash) == 0) {
                CHECK(c[0][i].offset == c[1][j].offset);
                bytes += c[0][i].bytes;
                shared++;
            }
        }
    }
    CHECK(shared >= 2 && bytes >= ROWS * DIM * sizeof(float));
    free(all.bytes);
    end();
}
END_TEST

/* What the stand-in for NVRTC makes holds the architecture and its kernels' names. */
static void check_code(file code, file plan, const char *beginning,
                       const char *architecture) {
    uint64_t names;
    const ig_code_header *header = (const void *)code.bytes;
    const ig_code_kernel *kernels = (const void *)(header + 1);
    const ig_plan_text *name = section(plan, IG_SECTION_kernels, &names);
    CHECK_INT(header->kernel_count, names);
    CHECK(header->image_offset % IG_CODE_ALIGN == 0);
    for (uint64_t i = 0; i < names; i++) {
        const char *image = code.bytes + header->image_offset + kernels[i].entry;
        char function[200];
        CHECK_INT(kernels[i].entry, 0); /* one module holds them all */
        CHECK_INT(kernels[i].bytes, header->image_bytes);
        snprintf(function, sizeof function, "%s", text_of(plan, name[i]));
        CHECK(memcmp(image, beginning, strlen(beginning)) == 0);
        CHECK(memmem(image, kernels[i].bytes, architecture, strlen(architecture)));
        CHECK_MSG(memmem(image, kernels[i].bytes, function, strlen(function)) != NULL,
                  "no '%s'", function);
    }
}

TEST(gpu_kernels_are_found_by_the_names_of_the_plan) {
    begin();
    make("both.ingot", both);
    file all = read_file("both.ingot"), plan = find(&all, "plan-cuda");
    static const char *const levels[] = { "sm_80", "sm_90a", "compute_90" };
    uint64_t count;
    const ig_plan_text *named = section(plan, IG_SECTION_levels, &count);
    CHECK_INT(count, 3);
    for (int i = 0; i < 3; i++) {
        char entry[40];
        snprintf(entry, sizeof entry, "code/cuda-%s", levels[i]);
        file code = find(&all, entry);
        CHECK_MSG((code.bytes - all.bytes) % IG_CODE_ALIGN == 0, "'%s'", entry);
        CHECK(strcmp(text_of(plan, named[i]), levels[i]) == 0);
        check_code(code, plan, i == 2 ? "//" : "\177ELF", i == 2 ? "sm_90" : levels[i]);
    }
    CHECK(strcmp(
              text_of(plan, ((const ig_plan_header *)(const void *)plan.bytes)->family),
              "cuda") == 0);
    free(all.bytes);
    end();
}
END_TEST

TEST(variants_tell_threads_and_shared_bytes) {
    begin();
    make("both.ingot", both);
    file all = read_file("both.ingot");
    uint64_t count, threads = 0, shared = 0;
    const ig_plan_variant *v = section(find(&all, "plan-cuda"), IG_SECTION_variants,
                                       &count);
    for (uint64_t i = 0; i < count; i++) {
        threads = v[i].threads > threads ? v[i].threads : threads;
        shared = v[i].shared > shared ? v[i].shared : shared;
    }
    CHECK_INT(threads, 256);
    CHECK_INT(shared, 2 * 2 * 16 * 65 * 4); /* two slices of both factors */
    v = section(find(&all, "plan"), IG_SECTION_variants, &count);
    for (uint64_t i = 0; i < count; i++) {
        CHECK(v[i].threads == 1 && v[i].shared == 0);
    }
    free(all.bytes);
    end();
}
END_TEST

static void run(const char *name, float y[B * N]) {
    int64_t ids[B] = { 0, ROWS - 1, 7 };
    char words[200] = "";
    ig_program_options how = { .size = sizeof how,
                               .message = words,
                               .message_size = sizeof words };
    ig_view in = { .data = ids, .dtype = IG_I64, .rank = 1, .dims = { B } };
    ig_view out = { .data = y, .capacity = B * N * sizeof *y };
    ig_program *program = NULL;
    ig_session *session = NULL;
    CHECK_MSG(ig_program_open(path_of(name), &how, &program) == IG_OK, "%s", words);
    CHECK_OK(ig_session_create(program, NULL, &session));
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    ig_session_destroy(session);
    ig_program_close(program);
}

TEST(both_run_on_the_cpu_with_the_same_bits) {
    float y[3][B * N];
    begin();
    make("cpu.ingot", "cpu:v2");
    make("both.ingot", both);
    make("turned.ingot", "cuda:sm_80,cpu:v2,cuda:sm_90a");
    run("cpu.ingot", y[0]);
    run("both.ingot", y[1]);
    run("turned.ingot", y[2]);
    CHECK(y[0][0] > 0.76f && y[0][0] < 0.77f); /* tanh(16 * 0.5 * 0.25 - 1) */
    CHECK(memcmp(y[0], y[1], sizeof y[0]) == 0 && memcmp(y[0], y[2], sizeof y[0]) == 0);
    ig_program *program = NULL;
    ig_program_facts facts = { .size = sizeof facts };
    CHECK_OK(ig_program_open(path_of("both.ingot"), NULL, &program));
    ig_program_get_facts(program, &facts);
    CHECK_MSG(strcmp(facts.levels, "v2, cuda-sm_80, cuda-sm_90a, cuda-compute_90") == 0,
              "%s", facts.levels);
    ig_program_close(program);
    end();
}
END_TEST

TEST(stripped_artifacts_keep_all_plans) {
    begin();
    make("both.ingot", both);
    ig_context *context = ig_context_create(NULL);
    char to[64];
    snprintf(to, sizeof to, "%s", path_of("small.ingot"));
    CHECK_OK(ig_artifact_strip(context, path_of("both.ingot"), to));
    ig_context_destroy(context);
    file all = read_file("both.ingot"), small = read_file("small.ingot");
    static const char *const kept[] = { "plan", "plan-cuda", "code/cpu-v2",
                                        "code/cuda-sm_80", "weights" };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        check_same(&all, &small, kept[i]);
    }
    CHECK(find(&small, "sources.json").size == 0);
    free(all.bytes);
    free(small.bytes);
    end();
}
END_TEST

TEST(what_cannot_be_is_said) {
    static const struct {
        const char *target, *words;
    } refused[] = {
        { "cpu:v2+ptx", "'cpu:v2' has no form that newer machines compile" },
        { "cuda:sm_80,v2", "there is no target 'cuda:v2'" },
        { "cpu:v2,sm_80", "there is no target 'sm_80'" },
        { "cpu:v2,,v3", "there is no target ''" },
        { "cuda:sm_80+ptx+ptx", "there is no target 'cuda:sm_80+ptx'" },
    };
    char words[400];
    begin();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK_STATUS(compile("x.ingot", refused[i].target, words), IG_INVALID);
        CHECK_MSG(strstr(words, refused[i].words) != NULL, "%s", words);
    }
    make("gpu.ingot", "cuda:sm_80");
    ig_program *program = NULL;
    ig_program_options how = { .size = sizeof how,
                               .message = words,
                               .message_size = 400 };
    how.device = "cpu";
    CHECK_STATUS(ig_program_open(path_of("gpu.ingot"), &how, &program), IG_UNSUPPORTED);
    CHECK_MSG(strstr(words, "no plan for cpu, but 'plan-cuda'") != NULL, "%s", words);
    how.device = "vulkan";
    CHECK_STATUS(ig_program_open(path_of("gpu.ingot"), &how, &program), IG_UNSUPPORTED);
    CHECK_MSG(strstr(words, "no plan for 'vulkan'") != NULL, "%s", words);
    end();
}
END_TEST

/* The folder is looked in alone; a library without the functions is not taken for
 * it. */
TEST(nvrtc_that_is_absent_or_lacks_functions_is_given) {
    char words[400], command[200];
    begin();
    setenv("INGOT_CUDA_DIR", folder, 1);
    CHECK_STATUS(compile("x.ingot", both, words), IG_UNSUPPORTED);
    CHECK_MSG(strstr(words, "not found in INGOT_CUDA_DIR=") != NULL, "%s", words);
    snprintf(command, sizeof command,
             "cp %s/unit/libtest_store_v1.so %s/libnvrtc.so.13", INGOT_BINARY_DIR,
             folder);
    CHECK_INT(system(command), 0);
    CHECK_STATUS(compile("x.ingot", both, words), IG_UNSUPPORTED);
    CHECK_MSG(strstr(words, "this NVRTC has no nvrtc") != NULL, "%s", words);
    end();
}
END_TEST

UNIT_SUITE(compiled_families, the_part_of_the_cpu_is_that_of_a_cpu_alone,
           equal_constants_of_two_plans_stand_once,
           gpu_kernels_are_found_by_the_names_of_the_plan,
           variants_tell_threads_and_shared_bytes,
           both_run_on_the_cpu_with_the_same_bits, stripped_artifacts_keep_all_plans,
           what_cannot_be_is_said, nvrtc_that_is_absent_or_lacks_functions_is_given)
