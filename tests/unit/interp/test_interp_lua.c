/* Lua: values, tensors, modules, and what scripts cannot do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/interp/interp_case.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL after a skip. */
static ig_interp_manager *make_manager(const ig_interp_options *wanted) {
    ig_interp_options options = wanted ? *wanted : (ig_interp_options){ .count = 1 };
    ig_interp_manager *manager = NULL;
    options.size = sizeof options;
    options.engine = "lua";
    ig_status status = ig_interp_create(&options, &how, &manager);
    if (status == IG_UNSUPPORTED) {
        unit_skip("%s", why);
        return NULL;
    }
    CHECK_MSG(status == IG_OK, "%s", why);
    return manager;
}

/* Calls f of a script with the arguments. */
static ig_interp_result *call(ig_interp *interp, const char *source,
                              const ig_interp_arguments *arguments) {
    ig_interp_result *result = NULL;
    run(interp, source);
    ig_status status = invoke_in(interp, "__main__", "f", arguments, &result);
    CHECK_MSG(status == IG_OK, "%s", why);
    return result;
}

static int64_t integer_of(ig_interp *interp, const char *source) {
    ig_interp_result *result = call(interp, source, NULL);
    int64_t integer = ig_interp_result_value(result)->as.integer;
    CHECK_INT(ig_interp_result_value(result)->kind, IG_INTERP_INTEGER);
    ig_interp_result_free(result);
    return integer;
}

TEST(values_go_there_and_back) {
    ig_interp_manager *manager = make_manager(NULL);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, 0);
    ig_interp_value inner[] = { { .kind = IG_INTERP_REAL, .as.real = 0.5 },
                                { .kind = IG_INTERP_TRUTH, .as.truth = 1 } };
    ig_interp_value values[] = { { .kind = IG_INTERP_TEXT,
                                   .as.text = { "h\xc3\xa9", 3 } },
                                 { .kind = IG_INTERP_LIST, .as.list = { inner, 2 } },
                                 { .kind = IG_INTERP_NONE } };
    const char *names[] = { "by" };
    ig_interp_value by = { .kind = IG_INTERP_INTEGER, .as.integer = 7 };
    ig_interp_arguments arguments = { values, 3, names, &by, 1 };
    ig_interp_result *result =
        call(interp, "function f(a, b, c, named) return a, b, c, named, '\\255', f end",
             &arguments);
    const ig_interp_value *all = ig_interp_result_value(result);
    CHECK_INT(all->kind, IG_INTERP_TUPLE);
    CHECK_INT(all->as.list.count, 6);
    all = all->as.list.items;
    CHECK_INT(all[0].kind, IG_INTERP_TEXT);
    CHECK_TEXT(all[0].as.text.data, "h\xc3\xa9");
    CHECK_INT(all[1].kind, IG_INTERP_LIST);
    CHECK(all[1].as.list.items[0].as.real == 0.5);
    CHECK_INT(all[1].as.list.items[1].as.truth, 1);
    CHECK_INT(all[2].kind, IG_INTERP_NONE);
    CHECK_INT(all[3].kind, IG_INTERP_DICT);
    CHECK_TEXT(all[3].as.list.items[0].as.text.data, "by");
    CHECK_INT(all[3].as.list.items[1].as.integer, 7);
    CHECK_INT(all[4].kind, IG_INTERP_BYTES);
    CHECK_INT(all[5].kind, IG_INTERP_OBJECT);
    ig_interp_result *again = NULL;
    CHECK_OK(ig_interp_invoke(interp, &how, all[5].as.object, &arguments, &again));
    ig_interp_result_free(again);
    ig_interp_result_free(result);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

TEST(tensors_are_used_where_they_lie) {
    ig_interp_manager *manager = make_manager(NULL);
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, 0);
    float data[] = { 1, 2, 3, 4, 5, 6 };
    ig_interp_value x = {
        .kind = IG_INTERP_TENSOR,
        .as.tensor = { .data = data, .dtype = IG_F32, .rank = 2, .dims = { 2, 3 } }
    };
    ig_interp_arguments arguments = { .values = &x, .count = 1 };
    ig_interp_result *result =
        call(interp,
             "local ingot = require 'ingot'\n"
             "function f(x)\n"
             "  kept = x\n"
             "  local d, y = x:dims(), ingot.tensor('f64', {3, 2}, x:totable())\n"
             "  for i = 1, #x do x[i] = x[i] * 10 end\n"
             "  return y, x, d[2], x:dtype(), x:reshape({6})\n"
             "end\n"
             "function late() return kept[1] end",
             &arguments);
    const ig_interp_value *all = ig_interp_result_value(result)->as.list.items;
    CHECK(data[5] == 60);
    CHECK_INT(all[0].as.tensor.dtype, IG_F64);
    CHECK_INT(all[0].as.tensor.dims[0], 3);
    CHECK(((const double *)all[0].as.tensor.data)[5] == 6);
    CHECK(all[1].as.tensor.data != (void *)data);
    CHECK(((const float *)all[1].as.tensor.data)[0] == 10);
    CHECK_INT(all[2].as.integer, 3);
    CHECK_TEXT(all[3].as.text.data, "f32");
    CHECK_INT(all[4].as.tensor.rank, 1);
    ig_interp_result *late = NULL;
    CHECK_STATUS(invoke_in(interp, "__main__", "late", NULL, &late), IG_INVALID);
    CHECK_MSG(strstr(why, "call that this tensor was given to has ended"), "%s", why);
    CHECK_STATUS(ig_interp_run(interp, &how,
                               "require('ingot').tensor('i8', {1}, {200})", "t.lua"),
                 IG_INVALID);
    CHECK_MSG(strstr(why, "200 does not fit"), "%s", why);
    /* Held by the result, whatever the script does then. */
    run(interp, "for i = 1, 100 do require('ingot').tensor('f64', {1000}) end");
    CHECK(((const double *)all[0].as.tensor.data)[0] == 1);
    ig_interp_result_free(result);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

TEST(modules_are_registered_or_files) {
    char folder[] = "/tmp/ig-lua-XXXXXX", path[64];
    CHECK(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/of", folder);
    CHECK_INT(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/of/file.lua", folder);
    FILE *file = fopen(path, "w");
    CHECK(file);
    (void)fputs("return { three = function() return 3 end }", file);
    (void)fclose(file);
    const char *const paths[] = { folder };
    ig_interp_manager *manager = make_manager(
        &(ig_interp_options){ .count = 2, .paths = paths, .path_count = 1 });
    if (!manager) {
        return;
    }
    CHECK_OK(ig_interp_register_source(manager, &how, "mine", "return { n = 4 }"));
    ig_interp *interp = acquire(manager, 1);
    CHECK_INT(integer_of(interp, "function f() return require('of.file').three() + "
                                 "require('mine').n end"),
              7);
    ig_interp_result *result = NULL;
    CHECK_OK(invoke_in(interp, "of.file", "three", NULL, &result));
    ig_interp_result_free(result);
    CHECK_STATUS(ig_interp_run(interp, &how, "require 'of/file'", "t"), IG_INVALID);
    CHECK_MSG(strstr(why, "module 'of/file' is not found"), "%s", why);
    CHECK_STATUS(ig_interp_run(interp, &how, "\n\nerror('wrong')", "mine.lua"),
                 IG_INVALID);
    CHECK_MSG(strstr(why, "mine.lua:3: wrong"), "%s", why);
    CHECK_MSG(strstr(why, "stack traceback"), "%s", why);
    ig_interp_replica *package = NULL;
    CHECK_STATUS(ig_interp_load_package(manager, &how, path, &package), IG_UNSUPPORTED);
    CHECK_TEXT(why, "interpreters of 'lua' have no packages and pickles");
    ig_interp_release(interp);
    ig_interp_destroy(manager);
    (void)unlink(path);
    *strrchr(path, '/') = '\0';
    (void)rmdir(path);
    (void)rmdir(folder);
}
END_TEST

/* Each of these would do harm, or go on for years. */
static const char *const harms[] = {
    "io.write('x')",
    "os.execute('true')",
    "debug.sethook()",
    "coroutine.wrap(print)()",
    "collectgarbage('stop')",
    "dofile('/etc/passwd')",
    "loadfile('/etc/passwd')",
    "string.dump(function() end)()",
    "require '/etc/passwd'",
    "require '..secret'",
    "setmetatable({}, {__gc = function() end})",
    "assert(load('\\27Lua'))",
    "getmetatable(require('ingot').tensor('f32', {1})).__index = 1",
};
static const char *const bombs[] = {
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "local function g() return pcall(g) end while true do g() end",
    "local t = {} while true do t[#t + 1] = ('x'):rep(1 << 16) end",
    "local s = 'x' while true do s = s .. s end",
    "while true do local t = ('aaaaaaaaaaaaaaaa'):rep(999):upper() end",
    "while true do ('a'):rep(1000):find('a-b') end",
    "while true do for m in ('a'):rep(1000):gmatch('a-b') do end end",
    "local t = {} while true do t = {t} end",
    "goto a ::a:: ::b:: goto b",
    "local f = load('while true do end') pcall(f)",
    "require('ingot').tensor('f32', {1 << 40})",
};
static const char *const refused[] = {
    /* Of each, one call goes over the text again and again. */
    "return ('('):rep(20000):find('%b()')",
    "return ('ab'):rep(10000):find('(a)%1%1')",
    "local s = ('x'):rep(1 << 40)",
    "('a'):rep(30000):find('a*a*a*a*a*a*b')",
    "('a'):rep(30000):gsub('.-.-.-.-b', '')",
    "table.move({}, 1, math.maxinteger - 1, 2)",
    "table.insert(setmetatable({}, {__len = function() return 1 << 60 end}), 1, 1)",
};

TEST(scripts_keep_to_their_sandbox) {
    ig_interp_manager *manager = make_manager(
        &(ig_interp_options){ .count = 2, .instructions = 3000000, .memory = 4 << 20 });
    if (!manager) {
        return;
    }
    for (size_t i = 0; i < sizeof harms / sizeof harms[0]; i++) {
        ig_interp *interp = acquire(manager, 0);
        ig_status status = ig_interp_run(interp, &how, harms[i], "harm");
        CHECK_MSG(status == IG_INVALID, "%s: %d", harms[i], (int)status);
        ig_interp_release(interp);
    }
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        ig_interp *interp = acquire(manager, 0);
        ig_status status = ig_interp_run(interp, &how, bombs[i], "bomb");
        CHECK_MSG(status == IG_LIMIT, "%s: %d, %s", bombs[i], (int)status, why);
        CHECK_INT(integer_of(interp, "function f() return 5 end"), 5);
        ig_interp_release(interp);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ig_interp *interp = acquire(manager, 1);
        ig_status status = ig_interp_run(interp, &how, refused[i], "refused");
        CHECK_MSG(status != IG_OK, "%s", refused[i]);
        ig_interp_release(interp);
    }
    ig_interp *interp = acquire(manager, 1);
    CHECK_INT(integer_of(interp, "function f() return #('k = v'):gsub('%s*=%s*', ':') "
                                 "+ #('x'):rep(0) + #(''):rep(1 << 60) end"),
              3);
    how.deadline_ns = in_ms(20);
    CHECK_STATUS(
        ig_interp_run(interp, &how, "local t = {} while #t < 1 do end", "late"),
        IG_LIMIT);
    how.deadline_ns = 0;
    ig_interp_release(interp);
    ig_interp_destroy(manager);
    ig_interp_options budgets = { .size = sizeof budgets, .instructions = 5 };
    CHECK(ig_interp_create(&budgets, &how, &manager) != IG_OK);
}
END_TEST

TEST(nothing_grows) {
    ig_interp_manager *manager =
        make_manager(&(ig_interp_options){ .count = 1, .memory = 1 << 20 });
    if (!manager) {
        return;
    }
    ig_interp *interp = acquire(manager, 0);
    run(interp, "function f() return {1, {'text', f}, require('ingot').tensor('f32', "
                "{2})} end");
    int files = count_files();
    for (int i = 0; i < 20000; i++) {
        ig_interp_object *f = NULL;
        ig_interp_result *result = NULL;
        CHECK_OK(ig_interp_global(interp, &how, "__main__", "f", &f));
        CHECK_OK(ig_interp_invoke(interp, &how, f, NULL, &result));
        ig_interp_result_free(result);
        CHECK_STATUS(ig_interp_run(interp, &how, "error({})", "e"), IG_INVALID);
        ig_interp_object_free(f);
    }
    CHECK_INT(count_files(), files);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
}
END_TEST

UNIT_SUITE(interp_lua, values_go_there_and_back, tensors_are_used_where_they_lie,
           modules_are_registered_or_files, scripts_keep_to_their_sandbox,
           nothing_grows)
