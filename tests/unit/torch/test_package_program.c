/* torch.packages: what they hold, and what is said of what cannot be run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/torch_case.h"
#include "tests/unit/unit.h"

#include "frontend/torch/package/package.h"
#include "frontend/torch/entry/torchscript.h"

/* The listing of a case's package, or NULL when there is no such case. */
static const char *describe(torch_case *c, const char *name) {
    ig_str bytes;
    ig_archive *archive = IG_NEW(&c->arena, ig_archive);
    ig_pickle_set set;
    ig_package package;
    ig_writer out;
    if (!torch_case_map(c, name, &bytes)) {
        return NULL;
    }
    ig_writer_init(&out, &c->arena);
    CHECK_OK(ig_archive_open(archive, &c->context, &c->arena, "p.pt", bytes));
    ig_pickle_set_init(&set, archive);
    CHECK_OK(ig_package_open(&package, archive, &set));
    CHECK_OK(ig_package_describe(&package, &out));
    return out.data;
}

typedef struct listing_row {
    const char *file, *lines[6];
} listing_row;

TEST(listings_name_what_is_inside) {
    static const listing_row rows[] = {
        { "package/user_code/package.pt",
          { "  conf/readme.txt  30 bytes\n", "  conf/blob.bin  256 bytes\n",
            "  mynet/net.py", "extern modules:\n", "mynet.net.Net  (plain Python)",
            "    layers.0.weight  float32[16, 8]\n" } },
        { "package/data_only/package.pt",
          { "  data/objects.pkl: dict\n", "\"big\": 1180591620717411303424\n",
            "\"fl\": [inf, 1e-300]\n", "\"rng\": builtins.range(2, 9, 3)\n",
            "\"by\": b\"\\x00\\xff\"\n", "\"dt\": torch.float16\n" } },
        { "package/script_module/package.pt",
          { "  script/model.pkl: a ScriptModule\n", "\"k\": 3\n" } },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        torch_case c;
        torch_case_init(&c);
        const char *text = describe(&c, rows[i].file);
        if (!text) {
            unit_skip("no %s", rows[i].file);
            torch_case_fini(&c);
            return;
        }
        for (size_t k = 0; k < IG_COUNT_OF(rows[i].lines) && rows[i].lines[k]; k++) {
            CHECK_MSG(strstr(text, rows[i].lines[k]), "'%s' is not in\n%s",
                      rows[i].lines[k], text);
        }
        torch_case_fini(&c);
    }
}
END_TEST

typedef struct refusal_row {
    const char *file, *words[2];
} refusal_row;

/* Classes whose source is elsewhere. */
TEST(extern_classes_are_named) {
    static const refusal_row rows[] = {
        { "package/extern_user/package.pt", { "mynet.net.Net", "extern" } },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        torch_case c;
        ig_str bytes;
        ig_ts_program program;
        torch_case_init(&c);
        if (!torch_case_map(&c, rows[i].file, &bytes)) {
            unit_skip("no %s", rows[i].file);
            torch_case_fini(&c);
            return;
        }
        CHECK_STATUS(
            ig_ts_program_open(&c.context, &c.arena, "p.pt", bytes, NULL, &program),
            IG_UNSUPPORTED);
        for (size_t k = 0; k < 2 && rows[i].words[k]; k++) {
            CHECK_MSG(strstr(c.why, rows[i].words[k]), "'%s' is not in\n%s",
                      rows[i].words[k], c.why);
        }
        torch_case_fini(&c);
    }
}
END_TEST

/* ---- packages made here ---- */

static ig_status open_pickle(torch_case *c, ig_str pickle, ig_ts_program *program) {
    torch_entry entries[] = {
        { "p/.data/version", IG_STR("6\n") },
        { "p/.data/extern_modules", IG_STR("torch.nn.modules.linear\n") },
        { "p/model/model.pkl", pickle },
    };
    ig_str zip = torch_zip(&c->arena, entries, IG_COUNT_OF(entries));
    return ig_ts_program_open(&c->context, &c->arena, "p.pt", zip, NULL, program);
}

typedef struct bad_row {
    ig_str pickle;
    const char *word;
} bad_row;

#define BAD(pickle, word) \
    { { pickle, sizeof(pickle) - 1 }, word }
#define LINEAR "\200\003ctorch.nn.modules.linear\nLinear\n)\201}("

TEST(hostile_modules_are_refused) {
    static const bad_row rows[] = {
        BAD(LINEAR "X\010\000\000\000_modulesK\001X\013\000\000\000_parametersK\001"
                   "X\010\000\000\000_buffersK\001ub.",
            "no module"),
        BAD(LINEAR
            "X\010\000\000\000_modules}K\001NsX\013\000\000\000_parameters}X\010\000\000\000_buffers}ub.",
            "no module"),
        BAD("\200\003cos\nsystem\n(X\001\000\000\000xtR.", "os.system"),
        BAD("\200\003N.", "no module"),
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        torch_case c;
        ig_ts_program program;
        torch_case_init(&c);
        CHECK(open_pickle(&c, rows[i].pickle, &program) != IG_OK);
        CHECK_MSG(strstr(c.why, rows[i].word), "row %zu: %s", i, c.why);
        torch_case_fini(&c);
    }
}
END_TEST

/* An Identity with nothing in it: an object of a class that torch writes itself. */
TEST(stock_modules_keep_their_class) {
    static const char pickle[] =
        "\200\003ctorch.nn.modules.linear\nIdentity\n)\201}(X\010\000\000\000_modules}X\013\000\000\000_parameters}X\010\000\000\000_buffers}X\010\000\000\000training\211ub.";
    torch_case c;
    ig_ts_program program;
    torch_case_init(&c);
    CHECK_OK(open_pickle(&c, (ig_str){ pickle, sizeof(pickle) - 1 }, &program));
    CHECK_TEXT(program.resource, "model/model.pkl");
    CHECK_TEXT(ig_py_path(program.root, &c.arena), "torch.nn.modules.linear.Identity");
    CHECK(ig_py_get(program.root, "training"));
    CHECK(program.sources);
    torch_case_fini(&c);
}
END_TEST

/* PyTorch names a resource by package and file: dots of the package are folders. */
TEST(a_resource_is_found_by_its_package) {
    static const char pickle[] =
        "\200\003ctorch.nn.modules.linear\nIdentity\n)\201}(X\010\000\000\000_modules}X\013\000\000\000_parameters}X\010\000\000\000_buffers}X\010\000\000\000training\211ub.";
    static const struct {
        const char *resource;
        bool is_there;
    } rows[] = {
        { "a.b.c/m.v1.pkl", true },  { "a/b/c/m.v1.pkl", true },
        { "a.b/c/m.v1.pkl", true },  { "a.b.c/m/v1.pkl", false },
        { "a/b.c/m.v1.pk", false },  { "a.b.c.m.v1.pkl", false },
        { "a.b/c.m.v1.pkl", false }, { "", false },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        torch_case c;
        ig_ts_program program;
        torch_case_init(&c);
        torch_entry entries[] = {
            { "p/.data/version", IG_STR("6\n") },
            { "p/.data/extern_modules", IG_STR("torch.nn.modules.linear\n") },
            { "p/a/b/c/m.v1.pkl", { pickle, sizeof(pickle) - 1 } },
        };
        ig_str zip = torch_zip(&c.arena, entries, IG_COUNT_OF(entries));
        ig_status status = ig_ts_program_open(&c.context, &c.arena, "p.pt", zip,
                                              rows[i].resource, &program);
        CHECK_MSG((status == IG_OK) == rows[i].is_there, "row %zu: %s", i, c.why);
        CHECK_MSG(rows[i].is_there || strstr(c.why, "it has a/b/c/m.v1.pkl"),
                  "row %zu: %s", i, c.why);
        torch_case_fini(&c);
    }
}
END_TEST

UNIT_SUITE(package_program, listings_name_what_is_inside, extern_classes_are_named,
           hostile_modules_are_refused, stock_modules_keep_their_class,
           a_resource_is_found_by_its_package)
