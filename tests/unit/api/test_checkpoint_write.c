/* Checkpoints of torch.distributed, written and read back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct workspace {
    char folder[64], path[96];
    ig_context *context;
} workspace;

static workspace workspace_open(void) {
    workspace p = { .folder = "/tmp/ingot-checkpoint-XXXXXX" };
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    CHECK(mkdtemp(p.folder) != NULL);
    snprintf(p.path, sizeof p.path, "%s/a/one", p.folder);
    p.context = ig_context_create(&options);
    return p;
}

static void workspace_close(workspace *p) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", p->folder);
    CHECK_INT(system(command), 0);
    ig_context_destroy(p->context);
}

static size_t count_entries(const char *folder) {
    DIR *all = opendir(folder);
    size_t count = 0;
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (all) {
        closedir(all);
    }
    return count;
}

static void check_same(const ig_argument *got, const ig_argument *want) {
    CHECK_TEXT(got->dtype, want->dtype);
    CHECK_INT(got->rank, want->rank);
    CHECK_INT(got->size, want->size);
    CHECK(want->size == 0 || memcmp(got->data, want->data, want->size) == 0);
    for (uint32_t i = 0; i < want->rank; i++) {
        CHECK_INT(got->dims[i], want->dims[i]);
    }
}

TEST(every_bit_comes_back) {
    static const char *const dtypes[] = { "i8",  "i16",  "i32", "i64", "u8",
                                          "f16", "bf16", "f32", "f64", "bool" };
    enum { COUNT = IG_COUNT_OF(dtypes) };
    workspace p = workspace_open();
    int64_t dims[2] = { 2, 2 };
    char bytes[COUNT][32];
    ig_argument values[COUNT];
    char texts[COUNT][32];
    const char *names[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        int32_t size = i == 9 || i == 0 || i == 4   ? 1
                       : i == 1 || i == 5 || i == 6 ? 2
                       : i == 2 || i == 7           ? 4
                                                    : 8;
        for (size_t k = 0; k < sizeof bytes[i];
             k++) { /* NaNs, -0 and ends among them */
            bytes[i][k] = (char)(i == 9 ? k % 2 : 255 - 7 * k * (k > 8));
        }
        values[i] = (ig_argument){ .dtype = dtypes[i],
                                   .rank = 2,
                                   .dims = dims,
                                   .data = bytes[i],
                                   .size = 4 * (size_t)size };
        snprintf(texts[i], sizeof texts[i], "model/x.%s", dtypes[i]);
        names[i] = texts[i];
    }
    CHECK_OK(ig_checkpoint_write(p.context, p.path, values, names, COUNT));
    ig_arguments *got = NULL;
    CHECK_OK(ig_checkpoint_open(p.context, p.path, &got));
    CHECK_INT(ig_arguments_count(got), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "model.x.%s", dtypes[i]);
        CHECK_TEXT(ig_arguments_name(got, i), name);
        check_same(ig_arguments_at(got, i), &values[i]);
    }
    ig_arguments_close(got);
    workspace_close(&p);
}

TEST(scalars_and_tensors_of_nothing_come_back) {
    workspace p = workspace_open();
    int64_t step = INT64_MIN, empty[3] = { 4, 0, 3 };
    double number = -0.0;
    const ig_argument values[] = {
        { .dtype = "i64", .data = &step, .size = 8 },
        { .dtype = "f64", .data = &number, .size = 8 },
        { .dtype = "f32", .rank = 3, .dims = empty, .data = &step, .size = 0 },
    };
    static const char *const names[] = { "step", "a/b/c", "none" };
    CHECK_OK(ig_checkpoint_write(p.context, p.path, values, names, 3));
    ig_arguments *got = NULL;
    CHECK_OK(ig_checkpoint_open(p.context, p.path, &got));
    CHECK_INT(ig_arguments_count(got), 3);
    for (size_t i = 0; i < 3; i++) {
        check_same(ig_arguments_at(got, i), &values[i]);
    }
    CHECK_TEXT(ig_arguments_name(got, 1), "a.b.c");
    ig_arguments_close(got);
    workspace_close(&p);
}

TEST(no_tensor_at_all_is_a_checkpoint) {
    workspace p = workspace_open();
    ig_arguments *got = NULL;
    CHECK_OK(ig_checkpoint_write(p.context, p.path, NULL, NULL, 0));
    CHECK_OK(ig_checkpoint_open(p.context, p.path, &got));
    CHECK_INT(ig_arguments_count(got), 0);
    ig_arguments_close(got);
    workspace_close(&p);
}

static void check_refused(const workspace *p, const ig_argument *value,
                          ig_status status, const char *words) {
    static const char *const names[] = { "x" };
    CHECK_STATUS(ig_checkpoint_write(p->context, p->path, value, names, 1), status);
    CHECK_MSG(strstr(ig_context_messages(p->context), words), "%s",
              ig_context_messages(p->context));
}

TEST(what_cannot_be_written_leaves_nothing) {
    workspace p = workspace_open();
    char parent[96];
    static char bytes[1 << 16];
    int64_t dims[1] = { sizeof bytes };
    ig_argument plain = {
        .dtype = "u8", .rank = 1, .dims = dims, .data = bytes, .size = sizeof bytes
    };
    ig_argument other = plain;
    snprintf(parent, sizeof parent, "%s/a", p.folder);
    other.dtype = "f8e5m2";
    check_refused(&p, &other, IG_UNSUPPORTED, "'x' is not a tensor of a type");
    other = (ig_argument){ .kind = IG_ARGUMENT_LIST };
    check_refused(&p, &other, IG_UNSUPPORTED, "'x' is not a tensor of a type");
    CHECK_INT(count_entries(parent), 0);

    struct rlimit room = { 4096, 4096 };
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &room), 0);
    check_refused(&p, &plain, IG_IO, "cannot write");
    CHECK_INT(count_entries(parent), 0);
    workspace_close(&p);
}

TEST(a_folder_that_is_there_stays) {
    workspace p = workspace_open();
    float number = 1;
    const ig_argument value = { .dtype = "f32", .data = &number, .size = 4 };
    static const char *const names[] = { "x" };
    CHECK_OK(ig_checkpoint_write(p.context, p.path, &value, names, 1));
    number = 2;
    check_refused(&p, &value, IG_INVALID, "there is something of that name");
    ig_arguments *got = NULL;
    CHECK_OK(ig_checkpoint_open(p.context, p.path, &got));
    CHECK(ig_argument_number(ig_arguments_at(got, 0), 0) == 1);
    ig_arguments_close(got);
    workspace_close(&p);
}

TEST(what_dead_writers_left_is_removed) {
    workspace p = workspace_open();
    char parent[96], left[128], file[160];
    float number = 1;
    const ig_argument value = { .dtype = "f32", .data = &number, .size = 4 };
    static const char *const names[] = { "x" };
    snprintf(parent, sizeof parent, "%s/a", p.folder);
    snprintf(left, sizeof left, "%s/zero.partial-1", parent);
    snprintf(file, sizeof file, "%s/__0_0.distcp", left);
    CHECK_INT(mkdir(parent, 0755), 0);
    CHECK_INT(mkdir(left, 0755), 0);
    fclose(fopen(file, "w"));
    CHECK_OK(ig_checkpoint_write(p.context, p.path, &value, names, 1));
    CHECK_INT(count_entries(parent), 1);
    workspace_close(&p);
}

UNIT_SUITE(checkpoint_write, every_bit_comes_back,
           scalars_and_tensors_of_nothing_come_back, no_tensor_at_all_is_a_checkpoint,
           what_cannot_be_written_leaves_nothing, a_folder_that_is_there_stays,
           what_dead_writers_left_is_removed)
