/* N interpreters in one process, as torch::deploy's own tests ask, and further.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/interp/interp_case.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/single_threaded.h>
#include <unistd.h>

/* NULL after a skip. */
static ig_interp_manager *make_manager(uint32_t count, bool use_numpy) {
    ig_interp_manager *manager = NULL;
    ig_interp_options options = { .size = sizeof options,
                                  .count = count,
                                  .use_numpy = use_numpy };
    ig_status status = ig_interp_create(&options, &how, &manager);
    if (status == IG_UNSUPPORTED || (use_numpy && strstr(why, "No module named"))) {
        unit_skip("%s", why);
        return NULL;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    return manager;
}

/* Calls a function of __main__. */
static ig_status invoke(ig_interp *interp, const char *name,
                        const ig_interp_value *values, size_t count,
                        ig_interp_result **out_result) {
    ig_interp_arguments arguments = { .values = values, .count = count };
    return invoke_in(interp, "__main__", name, &arguments, out_result);
}

static int64_t integer_of(ig_interp *interp, const char *name) {
    ig_interp_result *result;
    ig_status status = invoke(interp, name, NULL, 0, &result);
    CHECK_MSG(status == IG_OK, "%s", why);
    const ig_interp_value *value = ig_interp_result_value(result);
    CHECK_INT(value->kind, IG_INTERP_INTEGER);
    int64_t integer = value->as.integer;
    ig_interp_result_free(result);
    return integer;
}

/* ---- values ---- */

TEST(values_cross_both_ways) {
    ig_interp_manager *manager = make_manager(1, false);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, -1);
    run(interp, "def f(*args): return [args, {'a': None, 2: b'\\0b'}, object(), -1.5]");
    ig_interp_value inner[] = { { .kind = IG_INTERP_TRUTH, .as.truth = 1 },
                                { .kind = IG_INTERP_INTEGER,
                                  .as.integer = INT64_MIN } };
    ig_interp_value arguments[] = {
        { .kind = IG_INTERP_NONE },
        { .kind = IG_INTERP_TEXT, .as.text = { "h\xc3\xa9", 3 } },
        { .kind = IG_INTERP_LIST, .as.list = { inner, 2 } },
        { .kind = IG_INTERP_DICT, .as.list = { inner, 2 } },
        { .kind = IG_INTERP_LIST },
    };
    ig_interp_result *result;
    CHECK_OK(invoke(interp, "f", arguments, 5, &result));
    const ig_interp_value *all = ig_interp_result_value(result);
    CHECK_INT(all->kind, IG_INTERP_LIST);
    CHECK_INT(all->as.list.count, 4);
    const ig_interp_value *tuple = all->as.list.items;
    CHECK_INT(tuple->kind, IG_INTERP_TUPLE);
    CHECK_INT(tuple->as.list.items[0].kind, IG_INTERP_NONE);
    CHECK_TEXT(tuple->as.list.items[1].as.text.data, "h\xc3\xa9");
    CHECK_INT(tuple->as.list.items[2].as.list.items[0].kind, IG_INTERP_TRUTH);
    CHECK_INT(tuple->as.list.items[2].as.list.items[1].as.integer, INT64_MIN);
    CHECK_INT(tuple->as.list.items[3].kind, IG_INTERP_DICT);
    CHECK_INT(tuple->as.list.items[4].as.list.count, 0);
    const ig_interp_value *dict = all->as.list.items + 1;
    CHECK_INT(dict->as.list.count, 4);
    CHECK_INT(dict->as.list.items[3].as.text.size, 2);
    CHECK_INT(all->as.list.items[2].kind, IG_INTERP_OBJECT);
    CHECK(all->as.list.items[3].as.real == -1.5);
    ig_interp_result_free(result);
    run(interp, "def f(): return 1 << 64");
    CHECK_STATUS(invoke(interp, "f", NULL, 0, &result), IG_INVALID);
    CHECK(strstr(why, "OverflowError"));
    run(interp, "def f():\n  x = []\n  x.append(x)\n  return x");
    CHECK_STATUS(invoke(interp, "f", NULL, 0, &result), IG_INVALID);
    CHECK(strstr(why, "RecursionError"));
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

static ig_interp_value tensor_of(float *data, int64_t rows, int64_t columns) {
    return (ig_interp_value){ .kind = IG_INTERP_TENSOR,
                              .as.tensor = { .data = data,
                                             .dtype = IG_F32,
                                             .rank = 2,
                                             .dims = { rows, columns } } };
}

TEST(tensors_are_used_where_they_lie) {
    ig_interp_manager *manager = make_manager(1, false);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, -1);
    float data[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    ig_interp_value x = tensor_of(&data[0][0], 2, 3);
    ig_interp_result *result;
    run(interp, "kept = []\n"
                "def twice(x):\n"
                "  assert x.shape == (2, 3) and x.format == 'f'\n"
                "  x[1, 2] = 60\n"
                "  return x\n"
                "def keep(x): kept.append(x.cast('B'))\n");
    CHECK_OK(invoke(interp, "twice", &x, 1, &result));
    CHECK(data[1][2] == 60);
    const ig_view *got = &ig_interp_result_value(result)->as.tensor;
    CHECK_INT(ig_interp_result_value(result)->kind, IG_INTERP_TENSOR);
    CHECK_INT(got->dtype, IG_F32);
    CHECK_INT(got->dims[1], 3);
    CHECK(got->data != data &&
          ((float *)got->data)[5] == 60); /* a copy: it outlives x */
    ig_interp_result_free(result);
    CHECK_STATUS(invoke(interp, "keep", &x, 1, &result), IG_INVALID);
    CHECK(strstr(why, "keeps a tensor of its arguments"));
    x.as.tensor.dtype = IG_BF16;
    CHECK_STATUS(invoke(interp, "twice", &x, 1, &result), IG_INVALID);
    CHECK(strstr(why, "element type 16"));
    x = tensor_of(NULL, 2, 3);
    CHECK_STATUS(invoke(interp, "twice", &x, 1, &result), IG_INVALID);
    CHECK(strstr(why, "no data"));
    x = tensor_of(&data[0][0], -2, 3);
    CHECK_STATUS(invoke(interp, "twice", &x, 1, &result), IG_INVALID);
    x = tensor_of(NULL, 0, 3);
    run(interp, "def shape(x): return list(x.shape)");
    CHECK_OK(invoke(interp, "shape", &x, 1, &result));
    CHECK_INT(ig_interp_result_value(result)->as.list.items[0].as.integer, 0);
    ig_interp_result_free(result);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

/* ---- failures ---- */

TEST(exceptions_are_statuses_with_tracebacks) {
    ig_interp_manager *manager = make_manager(1, false);
    ig_interp_object *object = NULL;
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, -1);
    CHECK_STATUS(ig_interp_run(interp, &how, "x = 1\n\nraise ValueError('no')", "m.py"),
                 IG_INVALID);
    CHECK(strstr(why, "File \"m.py\", line 3") && strstr(why, "ValueError: no"));
    CHECK_STATUS(ig_interp_run(interp, &how, "def", "m.py"), IG_INVALID);
    CHECK(strstr(why, "SyntaxError"));
    CHECK_STATUS(ig_interp_run(interp, &how, "import sys; sys.exit(3)", "m.py"),
                 IG_INVALID);
    CHECK(strstr(why, "SystemExit: 3"));
    CHECK_STATUS(ig_interp_run(interp, &how, "def f(): f()\nf()", "m.py"), IG_INVALID);
    CHECK(strstr(why, "RecursionError"));
    CHECK_STATUS(ig_interp_run(interp, &how, "b'x' * (1 << 46)", "m.py"), IG_LIMIT);
    CHECK_STATUS(ig_interp_global(interp, &how, "no_such_module", "f", &object),
                 IG_INVALID);
    CHECK_PTR(object, NULL);
    CHECK(strstr(why, "No module named 'no_such_module'"));
    CHECK_STATUS(ig_interp_global(interp, &how, "math", "nothing", &object),
                 IG_INVALID);
    CHECK_OK(ig_interp_global(interp, &how, "math", "pi", &object));
    ig_interp_object *missing = NULL;
    CHECK_STATUS(ig_interp_attribute(interp, &how, object, "nothing", &missing),
                 IG_UNSUPPORTED);
    CHECK_STATUS(
        ig_interp_invoke(interp, &how, object, NULL, &(ig_interp_result *){ 0 }),
        IG_INVALID);
    CHECK(strstr(why, "not callable"));
    ig_interp_object_free(object);
    ig_interp_object_free(NULL);
    ig_interp_result_free(NULL);
    run(interp, "y = x + 1\nassert y == 2");
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

TEST(a_deadline_ends_a_loop) {
    ig_interp_manager *manager = make_manager(1, false);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, -1), *none = NULL;
    how.deadline_ns = in_ms(50);
    CHECK_STATUS(ig_interp_run(interp, &how, "while True: pass", "m.py"), IG_LIMIT);
    CHECK(strstr(why, "TimeoutError"));
    how.deadline_ns = in_ms(50);
    CHECK_STATUS(ig_interp_run(interp, &how,
                               "n = 0\n"
                               "while n < 3:\n"
                               "  try:\n"
                               "    while True: pass\n"
                               "  except TimeoutError: n += 1\n"
                               "raise OSError('at last')",
                               "m.py"),
                 IG_LIMIT);
    how.deadline_ns = 0;
    for (int i = 0; i < 300; i++) { /* no late interrupt hits what comes then */
        how.deadline_ns = in_ms(0) + 100000 + i * 1000;
        ig_status status = ig_interp_run(interp, &how, "for _ in range(10000): pass",
                                         "m.py");
        CHECK(status == IG_OK || status == IG_LIMIT);
        how.deadline_ns = 0;
        run(interp, "z = sum(range(1000))");
    }
    how.deadline_ns = in_ms(30);
    CHECK_STATUS(ig_interp_acquire(manager, &how, -1, &none), IG_LIMIT);
    CHECK_STATUS(ig_interp_acquire(manager, &how, 0, &none), IG_LIMIT);
    CHECK_STATUS(ig_interp_acquire(manager, &how, 1, &none), IG_INVALID);
    CHECK_TEXT(why, "there is no interpreter 1 of 1");
    how.deadline_ns = 0;
    ig_interp_release(interp);
    ig_interp_release(NULL);
    CHECK_INT(ig_interp_describe(manager).waited, 2);
    ig_interp_destroy(manager);
    ig_interp_destroy(NULL);
}
END_TEST

/* ---- many ---- */

/* The loader's lock is the first libc's: it counts nobody until this is false. */
TEST(the_first_libc_knows_of_threads) {
    ig_interp_manager *manager = make_manager(1, false);
    if (!manager) {
        return;
    }
    CHECK(!__libc_single_threaded);
    ig_interp_destroy(manager);
}
END_TEST

TEST(interpreters_share_nothing) {
    enum { COUNT = 4 };
    ig_interp_manager *manager = make_manager(COUNT, false);
    int64_t nones[COUNT];
    if (!manager) {
        return;
    }
    CHECK_INT(ig_interp_count(manager), COUNT);
    for (int i = 0; i < COUNT; i++) { /* one thread enters every one */
        ig_interp *interp = acquire(manager, i);
        CHECK_INT(ig_interp_index(interp), i);
        run(interp, i == 0 ? "secret = 1\ndef none(): return id(None)"
                           : "assert 'secret' not in globals()\n"
                             "def none(): return id(None)");
        nones[i] = integer_of(interp, "none");
        for (int j = 0; j < i; j++) {
            CHECK(nones[i] != nones[j]);
        }
        ig_interp_release(interp);
    }
    ig_interp_object *object = NULL;
    ig_interp *first = acquire(manager, 0), *second = acquire(manager, 1);
    CHECK_OK(ig_interp_global(first, &how, "__main__", "none", &object));
    ig_interp_result *result = NULL;
    CHECK_STATUS(ig_interp_invoke(second, &how, object, NULL, &result), IG_INVALID);
    CHECK_TEXT(why, "the object belongs to interpreter 0, not to 1");
    ig_interp_value foreign = { .kind = IG_INTERP_OBJECT, .as.object = object };
    CHECK_STATUS(invoke(second, "none", &foreign, 1, &result), IG_INVALID);
    ig_interp_release(first); /* an object may outlive the turn that made it */
    ig_interp_object_free(object);
    ig_interp_release(second);
    ig_interp_destroy(manager);
}
END_TEST

TEST(sources_are_imported_everywhere) {
    ig_interp_manager *manager = make_manager(2, false);
    if (!manager) {
        return;
    }
    CHECK_OK(
        ig_interp_register_source(manager, &how, "pack", "from pack.part import x"));
    CHECK_OK(ig_interp_register_source(manager, &how, "pack.part", "x = 7"));
    for (int i = 0; i < 2; i++) {
        ig_interp *interp = acquire(manager, i);
        run(interp, "import pack\nassert pack.x == 7");
        ig_interp_release(interp);
    }
    CHECK_OK(ig_interp_register_source(manager, &how, "pack.bad", "1 / 0"));
    ig_interp *interp = acquire(manager, -1);
    CHECK_STATUS(ig_interp_run(interp, &how, "import pack.bad", "m.py"), IG_INVALID);
    CHECK(strstr(why, "<ingot pack.bad>\", line 1"));
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

typedef struct visitor {
    ig_interp_manager *manager;
    int64_t sum;
    ig_status status;
} visitor;

static void *visit(void *opaque) {
    visitor *v = opaque;
    for (int i = 0; i < 40 && v->status == IG_OK; i++) {
        ig_interp *interp = NULL;
        float data[4] = { (float)i, 1, 2, 3 };
        ig_interp_value x = tensor_of(data, 1, 4);
        ig_interp_object *function = NULL;
        ig_interp_result *result = NULL;
        ig_interp_arguments arguments = { .values = &x, .count = 1 };
        v->status = ig_interp_acquire(v->manager, NULL, -1, &interp);
        if (v->status == IG_OK) {
            v->status = ig_interp_global(interp, NULL, "work", "total", &function);
        }
        if (v->status == IG_OK) {
            v->status = ig_interp_invoke(interp, NULL, function, &arguments, &result);
            v->sum += result ? (int64_t)ig_interp_result_value(result)->as.real : 0;
        }
        ig_interp_result_free(result);
        ig_interp_object_free(function);
        ig_interp_release(interp);
    }
    return NULL;
}

/* What the loader allocates for a thread is of the first libc's heap, here of its main
 * part alone.  The other libc must not take it over with the stack of a thread that
 * ended (runtime/interp/cpython/threads.c), and give it to its own callers. */
TEST(threads_of_python_come_and_go) {
    ig_interp_manager *manager = make_manager(1, false);
    if (!manager) {
        return;
    }
    CHECK_INT(mallopt(M_ARENA_MAX, 1), 1);
    ig_interp *interp = acquire(manager, -1);
    run(interp,
        "import ctypes, threading\n"
        "library = ctypes.CDLL('" INGOT_BINARY_DIR "/unit/libtest_thread_local.so')\n"
        "def wave(count, size):\n"
        "    threading.stack_size(size)\n"
        "    threads = [threading.Thread(target=library.touch, args=(0,))\n"
        "               for _ in range(count)]\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join()\n"
        "for count in range(40):\n"
        "    wave(count % 7, [0, 1 << 16, 1 << 25][count % 3])\n"
        "heap = next(l for l in open('/proc/self/maps') if '[heap]' in l).split()[0]\n"
        "start, end = (int(part, 16) for part in heap.split('-'))\n"
        "malloc = ctypes.CDLL('libc.so.6').malloc\n"
        "malloc.restype = ctypes.c_void_p\n"
        "given = [malloc(size) for size in range(24, 200, 8) for _ in range(20)]\n"
        "strange = [hex(place) for place in given if start <= place < end]\n"
        "assert not strange, strange\n");
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

/* Twelve threads over eight interpreters, each with a numpy of its own. */
TEST(threads_share_interpreters_with_numpy) {
    enum { THREADS = 12 };
    ig_interp_manager *manager = make_manager(8, true);
    pthread_t threads[THREADS];
    visitor visitors[THREADS];
    if (!manager) {
        return;
    }
    CHECK_OK(ig_interp_register_source(
        manager, &how, "work",
        "import numpy\n"
        "def total(x):\n"
        "  assert type(x) is numpy.ndarray and x.dtype == 'float32'\n"
        "  return float((x @ numpy.ones((4, 3), 'f'))[:, 0].sum())\n"));
    for (int i = 0; i < THREADS; i++) {
        visitors[i] = (visitor){ .manager = manager };
        CHECK_INT(pthread_create(&threads[i], NULL, visit, &visitors[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_OK(visitors[i].status);
        CHECK_INT(visitors[i].sum, 40 * 39 / 2 + 40 * 6);
    }
    CHECK_INT(ig_interp_describe(manager).calls, THREADS * 40);
    CHECK_INT(ig_interp_describe(manager).acquired, THREADS * 40);
    ig_interp_destroy(manager);
}
END_TEST

TEST(a_later_manager_takes_them_over) {
    for (int i = 0; i < 20; i++) { /* more than there are namespaces */
        ig_interp_manager *manager = make_manager(2, false);
        if (!manager) {
            return;
        }
        ig_interp *interp = acquire(manager, 1);
        run(interp, "import json\nassert json.loads('[1]') == [1]");
        ig_interp_release(interp);
        ig_interp_destroy(manager);
    }
}
END_TEST

TEST(what_is_not_there_is_said) {
    ig_interp_manager *manager = NULL;
    ig_interp_options options = { .size = sizeof options, .engine = "ruby" };
    CHECK_STATUS(ig_interp_create(&options, &how, &manager), IG_UNSUPPORTED);
    CHECK(strstr(why, "interpreters of 'ruby' cannot be had"));
    options.engine = "../x";
    CHECK_STATUS(ig_interp_create(&options, &how, &manager), IG_UNSUPPORTED);
    options.engine = NULL;
    options.count = 65;
    CHECK_STATUS(ig_interp_create(&options, &how, &manager), IG_LIMIT);
}
END_TEST

/* Beyond the namespaces that there are, interpreters have processes. */
TEST(more_than_there_are_namespaces) {
    enum { COUNT = 17 };
    ig_interp_manager *manager = make_manager(COUNT, false);
    int64_t ids[2];
    if (!manager) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        ig_interp *interp = acquire(manager, i * (COUNT - 1));
        run(interp, "import os\ndef process(): return os.getpid()");
        ids[i] = integer_of(interp, "process");
        ig_interp_release(interp);
    }
    CHECK_INT(ids[0], getpid());
    CHECK(ids[1] != ids[0]);
    ig_interp_destroy(manager);
}
END_TEST

/* As PyTorch's lies there: its extension would end the process. */
TEST(torch_lives_in_processes) {
    char folder[] = "/tmp/ig-torch-XXXXXX", path[64], command[128];
    CHECK(mkdtemp(folder));
    (void)snprintf(command, sizeof command, "mkdir %s/torch", folder);
    CHECK_INT(system(command), 0);
    (void)snprintf(path, sizeof path, "%s/torch/__init__.py", folder);
    FILE *file = fopen(path, "w");
    CHECK(file);
    (void)fputs("from . import _C\n", file);
    (void)fclose(file);
    const char *const paths[] = { folder };
    ig_interp_options options = {
        .size = sizeof options, .count = 1, .paths = paths, .path_count = 1
    };
    ig_interp_manager *manager = NULL;
    ig_status status = ig_interp_create(&options, &how, &manager);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return;
    }
    ig_interp *interp = acquire(manager, 0);
    CHECK_STATUS(ig_interp_run(interp, &how, "import torch", "t"), IG_INVALID);
    CHECK_MSG(strstr(why, "torch._C cannot live in a link namespace"), "%s", why);
    run(interp,
        "import sys; sys.path.remove(next(p for p in sys.path if 'ig-torch' in p))");
    ig_interp_release(interp);
    ig_interp_destroy(manager);
    (void)snprintf(command, sizeof command, "touch %s/torch/_C.x.so", folder);
    CHECK_INT(system(command), 0);
    CHECK_OK(ig_interp_create(&options, &how, &manager));
    interp = acquire(manager, 0);
    (void)snprintf(command, sizeof command, "import os; assert os.getppid() == %d",
                   (int)getpid());
    run(interp, command);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
}
END_TEST

UNIT_SUITE(interp_cpython, the_first_libc_knows_of_threads, values_cross_both_ways,
           tensors_are_used_where_they_lie, exceptions_are_statuses_with_tracebacks,
           a_deadline_ends_a_loop, interpreters_share_nothing,
           sources_are_imported_everywhere, threads_of_python_come_and_go,
           threads_share_interpreters_with_numpy, a_later_manager_takes_them_over,
           what_is_not_there_is_said, more_than_there_are_namespaces,
           torch_lives_in_processes)
