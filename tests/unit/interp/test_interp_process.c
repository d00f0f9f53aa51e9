/* Interpreters in processes of their own: the same calls, and what a crash leaves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/confine/seccomp_shim.h"
#include "tests/unit/interp/interp_case.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* NULL after a skip. */
static ig_interp_manager *make_manager(uint32_t count) {
    ig_interp_manager *manager = NULL;
    const char *paths[] = { "/nowhere/at/all" };
    /* In a child with a sanitizer, what ends others is to end it too. */
    (void)setenv("ASAN_OPTIONS",
                 "allocator_may_return_null=1:handle_segv=0:handle_abort=0", 1);
    ig_interp_options options = { .size = sizeof options,
                                  .engine = "process",
                                  .count = count,
                                  .paths = paths,
                                  .path_count = 1 };
    ig_status status = ig_interp_create(&options, &how, &manager);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return NULL;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    return manager;
}

TEST(values_cross_both_ways) {
    ig_interp_manager *manager = make_manager(1);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, -1);
    run(interp,
        "def f(*a, **k): return [a, k, {'a': None, 2: b'\\0b'}, object(), -1.5,\n"
        "                        [object(), 'h\\u00e9']]\n"
        "def same(x, y): return x is y");
    ig_interp_value inner[] = { { .kind = IG_INTERP_TRUTH, .as.truth = 1 },
                                { .kind = IG_INTERP_INTEGER,
                                  .as.integer = INT64_MIN } };
    ig_interp_value values[] = {
        { .kind = IG_INTERP_NONE },
        { .kind = IG_INTERP_BYTES, .as.text = { "a\0b", 3 } },
        { .kind = IG_INTERP_DICT, .as.list = { inner, 2 } },
        { .kind = IG_INTERP_LIST },
    };
    const char *names[] = { "key" };
    ig_interp_value named = { .kind = IG_INTERP_REAL, .as.real = 0.25 };
    ig_interp_arguments arguments = { values, 4, names, &named, 1 };
    ig_interp_result *result, *truth;
    CHECK_OK(invoke_in(interp, "__main__", "f", &arguments, &result));
    const ig_interp_value *all = ig_interp_result_value(result)->as.list.items;
    CHECK_INT(all[0].kind, IG_INTERP_TUPLE);
    CHECK_INT(all[0].as.list.items[1].as.text.size, 3);
    CHECK_INT(all[0].as.list.items[2].as.list.items[1].as.integer, INT64_MIN);
    CHECK_INT(all[0].as.list.items[3].as.list.count, 0);
    CHECK_TEXT(all[1].as.list.items[0].as.text.data, "key");
    CHECK(all[1].as.list.items[1].as.real == 0.25);
    CHECK_INT(all[2].as.list.count, 4);
    CHECK_INT(all[3].kind, IG_INTERP_OBJECT);
    CHECK(all[4].as.real == -1.5);
    CHECK_TEXT(all[5].as.list.items[1].as.text.data, "h\xc3\xa9");
    ig_interp_object *kept = NULL; /* outlives the result, and is the same */
    CHECK_OK(ig_interp_keep(interp, &how, all[3].as.object, &kept));
    ig_interp_value two[] = { { .kind = IG_INTERP_OBJECT, .as.object = kept },
                              { .kind = IG_INTERP_OBJECT,
                                .as.object = all[3].as.object } };
    CHECK_OK(invoke_in(interp, "__main__", "same",
                       &(ig_interp_arguments){ .values = two, .count = 2 }, &truth));
    CHECK_INT(ig_interp_result_value(truth)->as.truth, 1);
    ig_interp_result_free(truth);
    ig_interp_result_free(result);
    ig_interp_object_free(kept);
    CHECK_STATUS(ig_interp_run(interp, &how, "x = 1\n\nraise ValueError('no')", "m.py"),
                 IG_INVALID);
    CHECK(strstr(why, "File \"m.py\", line 3") && strstr(why, "ValueError: no"));
    CHECK_STATUS(ig_interp_run(interp, &how, "b'x' * (1 << 46)", "m.py"), IG_LIMIT);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

TEST(tensors_go_there_and_back) {
    enum { LARGE = 300000 }; /* more than the first memory */
    ig_interp_manager *manager = make_manager(1);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, -1);
    static float data[LARGE];
    ig_interp_value x = { .kind = IG_INTERP_TENSOR,
                          .as.tensor = { .data = data,
                                         .dtype = IG_F32,
                                         .rank = 2,
                                         .dims = { 3, LARGE / 3 } } };
    ig_interp_arguments arguments = { .values = &x, .count = 1 };
    ig_interp_result *result = NULL;
    run(interp, "def change(x):\n"
                "  x[1, 7] = 5\n"
                "  return x\n"
                "def keep(x): globals()['kept'] = x\n");
    CHECK_OK(invoke_in(interp, "__main__", "change", &arguments, &result));
    CHECK(data[LARGE / 3 + 7] == 5);
    const ig_view *got = &ig_interp_result_value(result)->as.tensor;
    CHECK_INT(got->dims[1], LARGE / 3);
    CHECK(got->data != data && ((float *)got->data)[LARGE / 3 + 7] == 5);
    ig_interp_result_free(result);
    CHECK_STATUS(invoke_in(interp, "__main__", "keep", &arguments, &result),
                 IG_INVALID);
    CHECK(strstr(why, "keeps a tensor of its arguments"));
    x.as.tensor.data = NULL;
    CHECK_STATUS(invoke_in(interp, "__main__", "change", &arguments, &result),
                 IG_INVALID);
    CHECK(strstr(why, "cannot be passed"));
    x.as.tensor.dims[0] = 0;
    run(interp, "def shape(x): return list(x.shape)");
    CHECK_OK(invoke_in(interp, "__main__", "shape", &arguments, &result));
    CHECK_INT(ig_interp_result_value(result)->as.list.items[0].as.integer, 0);
    ig_interp_result_free(result);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

TEST(a_crash_harms_nothing_else) {
    static const struct {
        const char *source, *words;
    } ends[] = {
        { "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal 11" },
        { "import os; os._exit(3)", "exit status 3" },
        { "import os; os.abort()", "signal 6" },
    };
    ig_interp_manager *manager = make_manager(2);
    ig_interp_object *object = NULL;
    ig_interp_result *result = NULL;
    if (!manager) {
        return;
    }
    CHECK_OK(ig_interp_register_source(manager, &how, "part", "def f(): return 7"));
    ig_interp *first = acquire(manager, 0), *second = acquire(manager, 1);
    run(second, "mark = 1");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        CHECK_OK(ig_interp_global(first, &how, "part", "f", &object));
        CHECK_STATUS(ig_interp_run(first, &how, ends[i].source, "end.py"), IG_INVALID);
        CHECK_MSG(strstr(why, ends[i].words) != NULL, "%s", why);
        CHECK_STATUS(ig_interp_invoke(first, &how, object, NULL, &result), IG_INVALID);
        CHECK_TEXT(why, "the object is gone: its process has ended");
        ig_interp_object_free(object);
        /* The next job has a new process, which knows paths and sources. */
        CHECK_OK(invoke_in(first, "part", "f", NULL, &result));
        CHECK_INT(ig_interp_result_value(result)->as.integer, 7);
        ig_interp_result_free(result);
        run(first, "import sys; assert '/nowhere/at/all' in sys.path");
        run(second, "assert mark == 1");
    }
    ig_interp_release(first);
    ig_interp_release(second);
    ig_interp_destroy(manager);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
}
END_TEST

/* A child that cuts what the host has mapped would end the host by SIGBUS. */
TEST(memory_of_both_cannot_shrink) {
    ig_interp_manager *manager = make_manager(1);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, 0);
    run(interp,
        "import os\n"
        "shared = 0\n"
        "for name in os.listdir('/proc/self/fd'):\n"
        "    try:\n"
        "        if 'memfd:' not in os.readlink('/proc/self/fd/' + name): continue\n"
        "    except OSError: continue\n"
        "    shared += 1\n"
        "    try: os.ftruncate(int(name), 0)\n"
        "    except PermissionError: continue\n"
        "    assert False, 'it shrank'\n"
        "assert shared, 'no memory is shared'\n");
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

TEST(a_deadline_ends_loops_and_processes) {
    ig_interp_manager *manager = make_manager(1);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, -1);
    run(interp, "x = 1");
    how.deadline_ns = in_ms(50);
    CHECK_STATUS(ig_interp_run(interp, &how, "while True: pass", "m.py"), IG_LIMIT);
    CHECK(strstr(why, "TimeoutError"));
    how.deadline_ns = 0;
    run(interp, "assert x == 1"); /* the same process */
    how.deadline_ns = in_ms(50);
    CHECK_STATUS(ig_interp_run(interp, &how, "import time; time.sleep(100)", "m.py"),
                 IG_LIMIT);
    CHECK(strstr(why, "its process was ended"));
    how.deadline_ns = 0;
    run(interp, "assert 'x' not in globals()");
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

/* ---- replicas ---- */

static const char holder_source[] =
    "import os, pickle\n"
    "class Holder:\n"
    "  def __init__(self, data): self.data = data\n"
    "  def __reduce_ex__(self, protocol):\n"
    "    return Holder, (pickle.PickleBuffer(self.data),)\n"
    "  def end(self): return bytes(memoryview(self.data)[-3:])\n"
    "  def is_shared(self): return memoryview(self.data).readonly\n"
    "  def leave(self): os._exit(1)\n"
    "big = Holder(bytearray(b'x' * 100000 + b'end'))\n";

static ig_interp_result *ask(ig_interp_replica *replica, const char *method) {
    ig_interp_result *result = NULL;
    ig_status status = ig_interp_replica_invoke(replica, &how, method, NULL, &result);
    CHECK_MSG(status == IG_OK, "%s", why);
    return result;
}

TEST(replicas_are_made_again_in_a_new_process) {
    ig_interp_manager *manager = make_manager(2);
    ig_interp_object *big = NULL;
    ig_interp_replica *replica = NULL;
    ig_interp_result *result = NULL;
    if (!manager) {
        return;
    }
    CHECK_OK(ig_interp_register_source(manager, &how, "holder", holder_source));
    ig_interp *interp = acquire(manager, 0);
    CHECK_OK(ig_interp_global(interp, &how, "holder", "big", &big));
    ig_status status = ig_interp_replicate(interp, &how, big, &replica);
    CHECK_MSG(status == IG_OK, "%s", why);
    ig_interp_object_free(big);
    for (int i = 0; i < 2; i++) { /* the one process, then the other */
        result = ask(replica, "end");
        CHECK_TEXT(ig_interp_result_value(result)->as.text.data, "end");
        ig_interp_result_free(result);
        result = ask(replica, "is_shared");
        CHECK_INT(ig_interp_result_value(result)->as.truth, 1);
        ig_interp_result_free(result);
        CHECK_STATUS(ig_interp_replica_invoke(replica, &how, "leave", NULL, &result),
                     IG_INVALID);
        CHECK(strstr(why, "exit status 1"));
        result = ask(replica, "end");
        ig_interp_result_free(result);
        if (i == 0) {
            ig_interp_release(interp);
        }
    }
    ig_interp_replica_free(replica);
    ig_interp_destroy(manager);
}
END_TEST

/* ---- many ---- */

TEST(processes_come_and_go) {
    int files = count_files();
    for (int i = 0; i < 20; i++) {
        ig_interp_manager *manager = make_manager(1);
        if (!manager) {
            return;
        }
        ig_interp *interp = acquire(manager, 0);
        run(interp, "import json, ingot_runtime\nassert json.loads('[1]') == [1]");
        ig_interp_release(interp);
        ig_interp_destroy(manager);
    }
    CHECK_INT(count_files(), files);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}
END_TEST

typedef struct visitor {
    ig_interp_manager *manager;
    ig_status status;
    int64_t sum;
} visitor;

static void *visit(void *opaque) {
    visitor *v = opaque;
    for (int i = 0; i < 30 && v->status == IG_OK; i++) {
        ig_interp *interp = NULL;
        ig_interp_object *function = NULL;
        ig_interp_result *result = NULL;
        ig_interp_value x = { .kind = IG_INTERP_INTEGER, .as.integer = i };
        ig_interp_arguments arguments = { .values = &x, .count = 1 };
        v->status = ig_interp_acquire(v->manager, NULL, -1, &interp);
        if (v->status == IG_OK) {
            v->status = ig_interp_global(interp, NULL, "part", "f", &function);
        }
        if (v->status == IG_OK) {
            v->status = ig_interp_invoke(interp, NULL, function, &arguments, &result);
            v->sum += result ? ig_interp_result_value(result)->as.integer : 0;
        }
        ig_interp_result_free(result);
        ig_interp_object_free(function);
        ig_interp_release(interp);
    }
    return NULL;
}

TEST(threads_share_processes) {
    enum { THREADS = 5 };
    ig_interp_manager *manager = make_manager(3);
    pthread_t threads[THREADS];
    visitor visitors[THREADS];
    if (!manager) {
        return;
    }
    CHECK_OK(
        ig_interp_register_source(manager, &how, "part", "def f(x): return 2 * x"));
    for (int i = 0; i < THREADS; i++) {
        visitors[i] = (visitor){ .manager = manager };
        CHECK_INT(pthread_create(&threads[i], NULL, visit, &visitors[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_OK(visitors[i].status);
        CHECK_INT(visitors[i].sum, 30 * 29);
    }
    ig_interp_destroy(manager);
}
END_TEST

TEST(a_child_has_one_openmp_thread_unless_given) {
    static const char *const sources[] = {
        "import os; assert os.environ['OMP_NUM_THREADS'] == '1'",
        "import os; assert os.environ['OMP_NUM_THREADS'] == '3'"
    };
    for (int i = 0; i < 2; i++) {
        (void)(i ? setenv("OMP_NUM_THREADS", "3", 1) : unsetenv("OMP_NUM_THREADS"));
        ig_interp_manager *manager = make_manager(1);
        if (manager) {
            ig_interp *interp = acquire(manager, 0);
            run(interp, sources[i]);
            ig_interp_release(interp);
            ig_interp_destroy(manager);
        }
    }
    (void)unsetenv("OMP_NUM_THREADS");
}
END_TEST

/* Standard output is a pipe while a child begins, which takes it over. */
TEST(prints_reach_a_pipe_before_the_call_ends) {
    char room[64] = "", *got = room;
    int ends[2], before = dup(1);
    (void)fflush(stdout);
    CHECK_INT(pipe(ends), 0);
    CHECK(dup2(ends[1], 1) == 1);
    ig_interp_manager *manager = make_manager(1);
    ig_interp *interp = manager ? acquire(manager, 0) : NULL;
    (void)dup2(before, 1);
    (void)close(before);
    (void)close(ends[1]);
    if (interp) {
        run(interp, "print('a line'); print('no end', end='')");
        CHECK(read(ends[0], got, sizeof room - 1) > 0);
        size_t size = strlen(got);
        size += strchr(got, 'd') ? 0 : (size_t)read(ends[0], got + size, 16);
        CHECK_MSG(strcmp(got, "a line\nno end") == 0, "%s", got);
        ig_interp_release(interp);
    }
    ig_interp_destroy(manager);
    (void)close(ends[0]);
}
END_TEST

/* What code tries, and what came of it: "" where it could. */
static const char trials[] =
    "import os, signal, socket, subprocess\n"
    "def attempt(f):\n"
    "    try:\n"
    "        f()\n"
    "    except BaseException as e:\n"
    "        return type(e).__name__\n"
    "    return ''\n"
    "def try_all(folder):\n"
    "    a, b = folder + '/a', folder + '/b'\n"
    "    refused = [lambda: socket.socket(), lambda: socket.socket(socket.AF_UNIX),\n"
    "      lambda: os.execv('/bin/true', ['true']), lambda: subprocess.run(['/bin/true']),\n"
    "      lambda: os.posix_spawn('/bin/true', ['true'], {}),\n"
    "      lambda: os.kill(os.getppid(), 0), lambda: open(b, 'w'), lambda: open(a, 'a'),\n"
    "      lambda: open(a, 'r+'), lambda: os.open(b, os.O_CREAT), lambda: os.mkdir(b),\n"
    "      lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR), lambda: os.truncate(a, 0),\n"
    "      lambda: os.unlink(a), lambda: os.rename(a, b), lambda: os.link(a, b),\n"
    "      lambda: os.symlink(a, b), lambda: os.chmod(a, 0), lambda: os.utime(a),\n"
    "      lambda: os.rmdir(folder), lambda: os.setxattr(a, 'user.a', b'a'),\n"
    "      lambda: os.open('/proc/%d/mem' % os.getppid(), os.O_RDWR)]\n"
    "    allowed = [lambda: open(a).read(), lambda: os.listdir(folder), lambda: os.pipe(),\n"
    "      lambda: os.stat(a), lambda: os.kill(os.getpid(), 0)]\n"
    "    return ([attempt(f) for f in refused], [attempt(f) for f in allowed],\n"
    "            sorted(os.environ))\n";

/* The trials in a folder that holds a file; each item of the first list is refused. */
static void check_trials(ig_interp *interp, const char *folder) {
    run(interp, trials);
    ig_interp_value position = { .kind = IG_INTERP_TEXT };
    position.as.text.data = folder;
    position.as.text.size = strlen(folder);
    ig_interp_result *result = NULL;
    CHECK_OK(invoke_in(interp, "__main__", "try_all",
                       &(ig_interp_arguments){ .values = &position, .count = 1 },
                       &result));
    const ig_interp_value *lists = ig_interp_result_value(result)->as.list.items;
    for (size_t i = 0; i < lists[0].as.list.count; i++) {
        const char *name = lists[0].as.list.items[i].as.text.data;
        CHECK_MSG(strcmp(name, "PermissionError") == 0, "trial %zu: '%s'", i, name);
    }
    for (size_t i = 0; i < lists[1].as.list.count; i++) {
        const char *name = lists[1].as.list.items[i].as.text.data;
        CHECK_MSG(*name == '\0', "trial %zu, which is allowed: '%s'", i, name);
    }
    for (size_t i = 0; i < lists[2].as.list.count; i++) {
        const char *name = lists[2].as.list.items[i].as.text.data;
        CHECK_MSG(strcmp(name, "INGOT_TEST_SECRET") != 0, "%s", name);
    }
    ig_interp_result_free(result);
}

TEST(a_confined_child_reads_and_computes_only) {
    char folder[] = "/tmp/ingot-confined-XXXXXX", path[64];
    ig_interp_manager *manager = NULL;
    (void)setenv("INGOT_TEST_SECRET", "1", 1);
    ig_interp_options options = { .size = sizeof options,
                                  .engine = "process",
                                  .count = 1,
                                  .memory = 512 << 20,
                                  .is_confined = 1 };
    ig_status status = IG_IS_SANITIZED ? IG_UNSUPPORTED
                                       : ig_interp_create(&options, &how, &manager);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s",
                  IG_IS_SANITIZED ? "builds with sanitizers do not confine" : why);
        return;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof path, "%s/a", folder);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs("a", file) >= 0 && fclose(file) == 0);
    ig_interp *interp = acquire(manager, 0);
    check_trials(interp, folder);
    CHECK_STATUS(ig_interp_run(interp, &how, "b'x' * (1 << 30)", "m.py"), IG_LIMIT);
    CHECK_STATUS(ig_interp_run(interp, &how, "import os; os._exit(3)", "m.py"),
                 IG_INVALID);
    check_trials(interp, folder); /* so is the one after it */
    ig_interp_release(interp);
    ig_interp_destroy(manager);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    (void)unsetenv("INGOT_TEST_SECRET");
}
END_TEST

TEST(what_cannot_be_confined_is_said) {
    ig_interp_manager *manager = NULL;
    const struct {
        const char *engine;
        uint64_t instructions, memory;
        int is_confined;
    } rows[] = { { "process", 1, 0, 1 },
                 { "process", 0, 1 << 20, 0 },
                 { "cpython", 0, 0, 1 } };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        ig_interp_options options = { .size = sizeof options,
                                      .engine = rows[i].engine,
                                      .count = 1,
                                      .instructions = rows[i].instructions,
                                      .memory = rows[i].memory,
                                      .is_confined = rows[i].is_confined };
        CHECK_STATUS(ig_interp_create(&options, &how, &manager), IG_UNSUPPORTED);
    }
}
END_TEST

UNIT_SUITE(interp_process, values_cross_both_ways, tensors_go_there_and_back,
           a_crash_harms_nothing_else, memory_of_both_cannot_shrink,
           a_deadline_ends_loops_and_processes,
           replicas_are_made_again_in_a_new_process, processes_come_and_go,
           threads_share_processes, a_child_has_one_openmp_thread_unless_given,
           prints_reach_a_pipe_before_the_call_ends,
           a_confined_child_reads_and_computes_only, what_cannot_be_confined_is_said)
