/* The libraries with a fault at each call in turn, through their public headers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whatever fails, when all is closed nothing is left: no block, no mapping, no open
 * file.  Each fault has a process of its own, so that a crash is one finding.  What the
 * command line says of each is test_sweep_tool.c's.
 *
 * INGOT_STRIDE=N tries every N-th call.  CK_FORK=no with INGOT_FAULT="1 memory 31" does
 * that one, of model 1, alone, in a debugger.
 */
#include "tests/fault/faults.h"

#include <stdio.h>

#ifdef FAULTS_ARE_OFF

FAULTS_SKIPPED

#else

#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <ingot/ingot.h>
#include <ingot/runtime.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASES INGOT_SOURCE_DIR "/tests/fault/cases/"

static const struct {
    const char *model, *values;
    const char *input; /* what its file does not say, or NULL */
} models[] = {
    { CASES "tower.onnx", CASES "tower.onnx.npz", NULL },
    { CASES "tower.pt", CASES "tower.pt.npz", "x=f32[B,3]" },
    { CASES "bag.pt2", CASES "bag.pt2.npz", NULL },
};

/* ---- one trip ---- */

static char artifact[64], archive[64]; /* paths of what a trip writes */

enum { MAX_PORTS = 4 };

static ig_status read_values(ig_context *context, size_t model,
                             ig_arguments **out_values, ig_argument *inputs) {
    ig_status status = ig_arguments_open(context, models[model].values, out_values);
    for (size_t i = 0; status == IG_OK && i < ig_arguments_count(*out_values); i++) {
        inputs[i] = *ig_arguments_at(*out_values, i);
    }
    return status;
}

static ig_status interpret(ig_context *context, ig_module *module,
                           const ig_argument *inputs, size_t count) {
    const ig_argument *outputs = NULL;
    const char *names[MAX_PORTS] = { "a", "b", "c", "d" };
    size_t output_count = 0;
    ig_status status = ig_interpret_run(module, inputs, count, &outputs, &output_count);
    return status == IG_OK
               ? ig_arguments_write(context, archive, outputs, names, output_count)
               : status;
}

static ig_status run_program(ig_program *program, const ig_argument *inputs,
                             size_t count) {
    ig_view in[MAX_PORTS] = { 0 }, out[MAX_PORTS] = { 0 };
    ig_session *session = NULL;
    ig_session_options options = { .size = sizeof options, .threads = 1 };
    ig_status status = ig_session_create(program, &options, &session);
    for (size_t i = 0; i < count; i++) {
        in[i].data = (void *)(uintptr_t)inputs[i].data;
        in[i].dtype = ig_dtype_number(inputs[i].dtype);
        in[i].rank = inputs[i].rank;
        for (uint32_t d = 0; d < inputs[i].rank; d++) {
            in[i].dims[d] = inputs[i].dims[d];
        }
    }
    if (status == IG_OK) {
        status = ig_session_run(session, in, count, out,
                                ig_program_output_count(program));
    }
    ig_session_destroy(session);
    return status;
}

static ig_status compile_and_run(ig_module *module, const ig_argument *inputs,
                                 size_t count) {
    ig_compile_options options = { .size = sizeof options, .target = "cpu:v2" };
    ig_program *program = NULL;
    ig_status status = ig_compile_file(module, artifact, &options);
    if (status == IG_OK) {
        status = ig_compile(module, &options, &program);
    }
    if (status == IG_OK) {
        status = run_program(program, inputs, count);
    }
    ig_program_close(program);
    return status;
}

/* Import, the interpreter, the compiler, a session; all that is asked on the way. */
static ig_status make_trip(size_t model) {
    ig_context_options how = { .size = sizeof how, .cache_folder = "" };
    ig_context *context = ig_context_create(&how);
    ig_import_options import = { .size = sizeof import,
                                 .inputs = &models[model].input,
                                 .input_count = models[model].input != NULL };
    ig_module *module = NULL;
    ig_arguments *values = NULL;
    ig_argument inputs[MAX_PORTS];
    const char *text = NULL;
    size_t size = 0;
    if (!context) {
        return IG_LIMIT;
    }
    ig_status status = ig_import(context, models[model].model, &import, &module);
    if (status == IG_OK) {
        (void)ig_module_signature(module);
        (void)ig_module_input_type(module, 0);
        (void)ig_module_output_name(module, 0);
        (void)ig_module_node_count(module);
        status = ig_module_print(module, IG_FORMAT_JSON, &text, &size);
    }
    if (status == IG_OK) {
        status = read_values(context, model, &values, inputs);
    }
    size_t count = status == IG_OK ? ig_arguments_count(values) : 0;
    if (status == IG_OK) {
        status = interpret(context, module, inputs, count);
    }
    if (status == IG_OK) {
        status = compile_and_run(module, inputs, count);
    }
    ig_arguments_close(values);
    ig_module_close(module);
    ig_context_destroy(context);
    return status;
}

/* ---- one fault ---- */

typedef struct outcome {
    ig_status status;
    long blocks, files; /* that are left */
} outcome;

static outcome *shared_outcome(void) {
    static outcome *shared;
    if (!shared) {
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    }
    return shared;
}

static long count_files(void) {
    long count = 0;
    DIR *opened = opendir("/proc/self/fd");
    while (opened && readdir(opened)) {
        count++;
    }
    if (opened) {
        closedir(opened);
    }
    return count;
}

static void run_fault(size_t model, fault_kind kind, long at) {
    long files = count_files();
    faults_begin(kind, at);
    ig_status status = make_trip(model);
    faults_end();
    *shared_outcome() = (outcome){ status, faults_live(), count_files() - files };
}

static const char *judge(fault_kind kind, int ended, const outcome *got) {
    ig_status wanted = kind == FAULT_MEMORY ? IG_LIMIT : IG_IO;
    bool is_hidden = kind == FAULT_INTERRUPT || kind == FAULT_SHORT;
    long allowed = faults_are_in("libzip");
    if (faults_are_in("libjansson")) {
        return NULL;
    }
    if (ended != 0) {
        return "it crashed";
    }
    if (got->status != IG_OK && (is_hidden || got->status != wanted)) {
        return is_hidden ? "the call was not tried again" : "the status does not fit";
    }
    return got->files              ? "a file stays open"
           : got->blocks > allowed ? "memory leaks"
                                   : NULL;
}

static bool try_fault(size_t model, fault_kind kind, long at, int *bad) {
    int ended = 0;
    fflush(NULL);
    faults_begin(FAULT_NONE, 0); /* clears what the last one said */
    faults_end();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, 2);
        close(nothing);
        run_fault(model, kind, at);
        _exit(0);
    }
    CHECK(waitpid(child, &ended, 0) == child);
    const outcome *got = shared_outcome();
    const char *wrong = judge(kind, ended, got);
    if (wrong) {
        ++*bad;
        printf("model %zu: %s %ld (%s): %s: ended %d, %s, %ld blocks, %ld files\n",
               model, fault_kind_name(kind), at, faults_where(), wrong, ended,
               ig_status_name(got->status), got->blocks, got->files);
    }
    return faults_was_reached();
}

static int stride_of(int usual) {
    const char *given = getenv("INGOT_STRIDE"), *full = getenv("INGOT_FULL");
    bool is_full = full && strcmp(full, "1") == 0;
    int stride = given ? atoi(given) : is_full ? 1 : usual;
    return stride > 0 ? stride : 1;
}

/* INGOT_FAULT: that one alone, in this process. */
static bool is_debugged(size_t model) {
    size_t wanted;
    long at;
    char name[16];
    const char *given = getenv("INGOT_FAULT");
    if (!given || sscanf(given, "%zu %15s %ld", &wanted, name, &at) != 3) {
        return false;
    }
    for (fault_kind kind = FAULT_MEMORY; kind < FAULT_KINDS; kind++) {
        if (wanted == model && strcmp(name, fault_kind_name(kind)) == 0) {
            run_fault(model, kind, at);
        }
    }
    return true;
}

static void sweep(size_t model, int stride) {
    int bad = 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one); /* one thread: calls come in one order */
    faults_share();
    snprintf(artifact, sizeof artifact, "/tmp/ingot-sweep-%d.ingot", (int)getpid());
    snprintf(archive, sizeof archive, "/tmp/ingot-sweep-%d.npz", (int)getpid());
    shared_outcome();
    CHECK_OK(make_trip(model)); /* what libraries allocate once */
    if (is_debugged(model)) {
        return;
    }
    CHECK_MSG(!try_fault(model, FAULT_NONE, 0, &bad) && bad == 0, "without a fault");
    for (fault_kind kind = FAULT_MEMORY; kind < FAULT_KINDS; kind++) {
        int every = kind == FAULT_MEMORY ? stride_of(stride) : 1;
        long at = 1;
        while (try_fault(model, kind, at, &bad)) {
            at += every;
        }
        printf("model %zu: %ld calls of %s\n", model, at, fault_kind_name(kind));
    }
    unlink(artifact);
    unlink(archive);
    CHECK_MSG(bad == 0, "%d faults were not taken well", bad);
}

TEST(onnx) {
    sweep(0, 1);
}
END_TEST

TEST(torchscript) {
    sweep(1, 1);
}
END_TEST

TEST(exported) {
    sweep(2, 1);
}
END_TEST

UNIT_SUITE(sweep_library, onnx, torchscript, exported)

#endif
