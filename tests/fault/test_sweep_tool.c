/* The command line with a fault at each call in turn: of memory, and of files.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A process is forked for each fault and runs the tool's own main.  What must hold of
 * it: a status that fits the fault, with words; no crash; no file but whole ones; and
 * where a call was only interrupted, or moved a part, nobody may notice at all.  That
 * nothing leaks is test_sweep_library.c's.
 *
 * INGOT_STRIDE=N tries every N-th call (1 with INGOT_FULL=1).  CK_FORK=no with
 * INGOT_FAULT="run memory 31" does that one alone, in a debugger.
 */
#include "tests/fault/faults.h"

#include <stdio.h>

#ifdef FAULTS_ARE_OFF

FAULTS_SKIPPED

#else

#include "tests/unit/unit.h"
#include "tools/ingot/cli/console.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int ingot_main(int argc, char **argv); /* tools/ingot/main.c */

enum { MAX_WORDS = 24, WORDS_BYTES = 4096, PATH_BYTES = 512 };

static char scratch[PATH_BYTES];

/* ---- the scratch folder: in/, what rounds read; out/ and cache/, what they write */

static const char *scratch_path(const char *name) {
    static char paths[4][PATH_BYTES + 64];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static int remove_one(const char *path, const struct stat *facts, int kind,
                      struct FTW *where) {
    (void)facts, (void)kind;
    return where->level ? remove(path) : 0;
}

static void empty_folder(const char *name) {
    nftw(scratch_path(name), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_scratch(void) {
    snprintf(scratch, sizeof scratch, "/tmp/ingot-sweep-XXXXXX");
    CHECK(mkdtemp(scratch) != NULL);
    CHECK(mkdir(scratch_path("in"), 0700) == 0);
    CHECK(mkdir(scratch_path("out"), 0700) == 0);
    CHECK(mkdir(scratch_path("cache"), 0700) == 0);
    setenv("INGOT_CACHE_DIR", scratch_path("cache"), 1);
    setenv("TMPDIR", scratch_path("out"), 1);
}

static void drop_scratch(void) {
    empty_folder("");
    rmdir(scratch);
}

static size_t read_file(const char *path, char *to, size_t room) {
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(to, 1, room, file) : 0;
    if (file) {
        fclose(file);
    }
    return size;
}

static uint64_t hash_of(uint64_t hash, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

/* What a folder holds: names (or the name of a temporary), and the hash of it all. */
typedef struct holding {
    int files;
    uint64_t names, content;
    char temporary[64];
} holding;

static holding seen;

static int see_one(const char *path, const struct stat *facts, int kind,
                   struct FTW *where) {
    static char bytes[1 << 20];
    const char *name = path + where->base;
    if (kind == FTW_F) {
        size_t size = read_file(path, bytes, sizeof bytes);
        /* The order of names is the folder's: sums have none. */
        seen.names += hash_of(14695981039346656037u, name, strlen(name));
        seen.content += hash_of(14695981039346656037u, bytes, size) + 1;
        seen.files++;
        if (name[0] == '.' || strstr(name, "XXXXXX")) {
            snprintf(seen.temporary, sizeof seen.temporary, "%.60s", name);
        }
    }
    (void)facts;
    return 0;
}

static holding look_into(const char *folder) {
    seen = (holding){ 0 };
    nftw(scratch_path(folder), see_one, 16, FTW_PHYS);
    return seen;
}

/* ---- one process ---- */

typedef struct outcome {
    int status; /* exit status, or 256 and the signal */
    bool is_reached;
    char where[32], words[WORDS_BYTES];
    holding out, cache;
} outcome;

typedef struct round_trip {
    const char *words[MAX_WORDS]; /* of the command line */
    bool has_any_bytes;           /* in its files: the stub's code computes nothing */
} round_trip;

static void run_child(const round_trip *what, fault_kind kind, long at) {
    char *argv[MAX_WORDS + 2] = { (char *)(uintptr_t) "ingot" };
    int argc = 1;
    int words = open(scratch_path("words"), O_RDWR | O_CREAT | O_TRUNC | O_APPEND,
                     0600);
    for (; what->words[argc - 1]; argc++) {
        argv[argc] = (char *)(uintptr_t)what->words[argc - 1];
    }
    if (words < 0 || dup2(words, 1) < 0 || dup2(words, 2) < 0) {
        _exit(99);
    }
    close(words);
    faults_begin(kind, at);
    int status = ingot_main(argc, argv);
    faults_end();
    _exit(status);
}

static outcome try_fault(const round_trip *what, fault_kind kind, long at) {
    int result = 0;
    empty_folder("out");
    empty_folder("cache");
    fflush(NULL);
    faults_begin(FAULT_NONE, 0); /* clears what the last one said */
    faults_end();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run_child(what, kind, at);
    }
    CHECK(waitpid(child, &result, 0) == child);
    outcome got = { .status = WIFSIGNALED(result) ? 256 + WTERMSIG(result)
                                                  : WEXITSTATUS(result),
                    .is_reached = faults_was_reached(),
                    .out = look_into("out"),
                    .cache = look_into("cache") };
    if (what->has_any_bytes) {
        got.out.content = 0;
    }
    snprintf(got.where, sizeof got.where, "%s", faults_where());
    size_t size = read_file(scratch_path("words"), got.words, sizeof got.words - 1);
    got.words[size] = '\0';
    return got;
}

/* ---- what must hold ---- */

/* NULL, or what is wrong with the outcome of a fault. */
static const char *judge(fault_kind kind, const outcome *got, const outcome *usual) {
    int wanted = kind == FAULT_MEMORY ? 5 : 6;
    bool is_hidden = kind == FAULT_INTERRUPT || kind == FAULT_SHORT;
    if (faults_are_in("libjansson")) {
        return NULL;
    }
    if (got->status > 255) {
        return "it crashed";
    }
    if (got->out.temporary[0] || got->cache.temporary[0]) {
        return "a temporary is left";
    }
    if (got->status != 0 && is_hidden) {
        return "the call was not tried again";
    }
    if (got->status == 0) {
        bool is_same = got->out.names == usual->out.names &&
                       got->out.content == usual->out.content;
        return is_same ? NULL : "the result differs";
    }
    if (got->status != wanted) {
        return "the status does not fit";
    }
    if (got->out.files > 0) {
        return "a file is left";
    }
    return strncmp(got->words, "error: ", 7) == 0 ? NULL : "there are no words";
}

static int stride_of(int usual) {
    const char *given = getenv("INGOT_STRIDE"), *full = getenv("INGOT_FULL");
    bool is_full = full && strcmp(full, "1") == 0;
    int stride = given ? atoi(given) : is_full ? 1 : usual;
    return stride > 0 ? stride : 1;
}

/* Every call of that kind; the count of faults that were reached. */
static long sweep_kind(const round_trip *what, fault_kind kind, const outcome *usual,
                       int stride, int *bad) {
    long reached = 0;
    for (long at = 1;; at += stride) {
        outcome got = try_fault(what, kind, at);
        if (!got.is_reached) {
            return reached;
        }
        reached++;
        const char *wrong = judge(kind, &got, usual);
        if (wrong) {
            ++*bad;
            printf("%s %s: %s %ld (%s): %s: status %d, %d files %s%s: %.300s\n",
                   what->words[0], what->words[1], fault_kind_name(kind), at, got.where,
                   wrong, got.status, got.out.files, got.out.temporary,
                   got.cache.temporary, got.words);
        }
    }
}

/* INGOT_FAULT="run memory 31": the first round of that verb alone, with that fault, in
 * this process, for a debugger. */
static void debug_fault(const round_trip *what, const char *fault) {
    char name[16], kind[16];
    long at;
    if (sscanf(fault, "%15s %15s %ld", name, kind, &at) != 3) {
        return;
    }
    for (fault_kind k = FAULT_MEMORY; k < FAULT_KINDS; k++) {
        if (strcmp(name, what->words[0]) == 0 &&
            strcmp(kind, fault_kind_name(k)) == 0) {
            run_child(what, k, at);
        }
    }
}

static void sweep(const round_trip *what, int stride) {
    int bad = 0;
    if (getenv("INGOT_FAULT")) {
        debug_fault(what, getenv("INGOT_FAULT"));
        return;
    }
    outcome usual = try_fault(what, FAULT_NONE, 0);
    CHECK_MSG(usual.status == 0, "%s %s: status %d: %s", what->words[0], what->words[1],
              usual.status, usual.words);
    printf("%s %s:", what->words[0], what->words[1]);
    for (fault_kind kind = FAULT_MEMORY; kind < FAULT_KINDS; kind++) {
        int every = kind == FAULT_MEMORY ? stride_of(stride) : 1;
        printf(" %ld of %s", sweep_kind(what, kind, &usual, every, &bad),
               fault_kind_name(kind));
        fflush(stdout);
    }
    printf("\n");
    CHECK_MSG(bad == 0, "%d faults were not taken well", bad);
}

/* ---- rounds ---- */

#define CASES INGOT_SOURCE_DIR "/tests/fault/cases/"

static const struct {
    const char *model, *input; /* input: what its file does not say */
} models[] = {
    { CASES "tower.onnx", NULL },
    { CASES "tower.pt", "x=f32[B,3]" },
    { CASES "bag.pt2", NULL },
};

static void begin(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one); /* one thread: calls come in one order */
    faults_share();
    make_scratch();
}

static const char *copy_of(const char *text) {
    static char texts[8][PATH_BYTES + 64];
    static int next;
    char *copy = texts[next++ % 8];
    snprintf(copy, sizeof texts[0], "%s", text);
    return copy;
}

TEST(compiling) {
    begin();
    const char *path = copy_of(scratch_path("out/x.ingot"));
    for (size_t i = 0; i < IG_COUNT_OF(models); i++) {
        round_trip what = {
            .words = { "compile", models[i].model, "-q", "--no-cache", "-t", "cpu:v2",
                       "-o", path, models[i].input ? "--input" : NULL, models[i].input }
        };
        sweep(&what, 1);
    }
    drop_scratch();
}
END_TEST

TEST(compiling_with_a_cache) {
    begin();
    const char *path = copy_of(scratch_path("out/x.ingot"));
    round_trip what = { .words = { "compile", models[0].model, "-q", "-t", "cpu:v2,v3",
                                   "-o", path } };
    sweep(&what, 1);
    drop_scratch();
}
END_TEST

TEST(interpreting) {
    begin();
    const char *path = copy_of(scratch_path("out/y.npz"));
    for (size_t i = 0; i < IG_COUNT_OF(models); i++) {
        char inputs[PATH_BYTES];
        snprintf(inputs, sizeof inputs, "%s.npz", models[i].model);
        round_trip what = { .words = { "run", models[i].model, "-q", "-t", "interpret",
                                       "--inputs", inputs, "-o", path } };
        sweep(&what, 1);
    }
    drop_scratch();
}
END_TEST

/* The code that the stub made: it returns, and memory is as it was. */
TEST(running) {
    begin();
    const char *artifact = copy_of(scratch_path("in/x.ingot"));
    const char *folder = copy_of(scratch_path("out/y"));
    for (size_t i = 0; i < IG_COUNT_OF(models); i += 2) {
        char inputs[PATH_BYTES];
        snprintf(inputs, sizeof inputs, "%s.npz", models[i].model);
        round_trip compile = { .words = { "compile", models[i].model, "-q",
                                          "--no-cache", "-o", artifact } };
        round_trip what = { .words = { "run", artifact, "-q", "--inputs", inputs, "-o",
                                       folder },
                            .has_any_bytes = true };
        CHECK(try_fault(&compile, FAULT_NONE, 0).status == 0);
        sweep(&what, 1);
    }
    drop_scratch();
}
END_TEST

TEST(dumping) {
    begin();
    const char *path = copy_of(scratch_path("out/x.txt"));
    round_trip what = { .words = { "dump", models[0].model, "-q", "--stage", "plan",
                                   "-o", path } };
    sweep(&what, 1);
    drop_scratch();
}
END_TEST

/* Of a model with tables and products every 23rd call, and all with INGOT_FULL. */
TEST(compiling_more) {
    const char *cases = getenv("INGOT_CASES");
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/models/onnx/dlrm_dcnv2/model.onnx",
             cases ? cases : INGOT_SOURCE_DIR "/../shared");
    if (access(path, R_OK) != 0) {
        unit_skip("no %s", path);
        return;
    }
    begin();
    round_trip what = { .words = { "compile", path, "-q", "--no-cache", "-t", "cpu:v2",
                                   "-o", copy_of(scratch_path("out/x.ingot")) } };
    sweep(&what, 23);
    drop_scratch();
}
END_TEST

UNIT_SUITE(sweep_tool, compiling, compiling_with_a_cache, interpreting, running,
           dumping, compiling_more)

#endif
