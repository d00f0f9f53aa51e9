/* One program imported.  SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/case/script_case.h"

#include "frontend/torch/entry/torchscript.h"
#include "ir/verify/verify.h"
#include "tests/fuzz/report.h"
#include "tests/fuzz/case/stored_zip.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 32, MEMORY = 256 << 20 };

/* ---- the archive ---- */

/* M() with w = a float tensor of 4 x 4 and n = 3. */
static const char pickled[] =
    "\x80\2c__torch__\nM\n)\x81}(X\1\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0"
    "\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0cpuK\x10tQK\0(K\4K\4t(K\4K\1t\x89"
    "ccollections\nOrderedDict\n)RtRX\1\0\0\0nK\3ub.";
static const char constants[] = "\x80\2).";
static const char version[] = "10\n";

static ig_str make_archive(ig_stored_zip *zip, ig_str code) {
    static const float weights[16] = { 1, -2, 3 };
    ig_stored_zip_begin(zip);
    ig_stored_zip_add(zip, IG_STR("m/data.pkl"), pickled, sizeof(pickled) - 1);
    ig_stored_zip_add(zip, IG_STR("m/constants.pkl"), constants, sizeof(constants) - 1);
    ig_stored_zip_add(zip, IG_STR("m/version"), version, sizeof(version) - 1);
    ig_stored_zip_add(zip, IG_STR("m/data/0"), weights, sizeof(weights));
    ig_stored_zip_add(zip, IG_STR("m/code/__torch__.py"), code.data, code.size);
    return ig_stored_zip_end(zip);
}

/* M() of module m, as torch.package pickles it; see script_case.h. */
static const char packaged[] =
    "\200\2cm\nM\n)\201}(X\13\0\0\0_parameters}X\1\0\0\0wctorch._utils\n"
    "_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0"
    "cpuK\20tQK\0(K\4K\4t(K\4K\1t\211ccollections\nOrderedDict\n)Rtq\1R"
    "q\2sX\10\0\0\0_buffers}X\10\0\0\0_modules}X\3\0\0\0linc"
    "torch.nn.modules.linear\nLinear\n)\201}(X\13\0\0\0_parameters}(X\6\0\0\0weight"
    "h\2X\4\0\0\0biasNuX\10\0\0\0_buffers}X\10\0\0\0_modules}ubs"
    "X\1\0\0\0nK\3X\3\0\0\0actctorch.nn.functional\nrelu\nub.";
static const char externs[] = "torch\ncollections\n";

static ig_str make_package(ig_stored_zip *zip, ig_str code) {
    static const float weights[16] = { 1, -2, 3 };
    ig_stored_zip_begin(zip);
    ig_stored_zip_add(zip, IG_STR("p/.data/version"), "6\n", 2);
    ig_stored_zip_add(zip, IG_STR("p/.data/extern_modules"), externs,
                      sizeof(externs) - 1);
    ig_stored_zip_add(zip, IG_STR("p/.data/0.storage"), weights, sizeof(weights));
    ig_stored_zip_add(zip, IG_STR("p/model/model.pkl"), packaged, sizeof(packaged) - 1);
    ig_stored_zip_add(zip, IG_STR("p/m.py"), code.data, code.size);
    return ig_stored_zip_end(zip);
}

/* ---- one run ---- */

typedef struct fuzz_case {
    ig_context context;
    ig_torchscript_argument arguments[MAX_ARGUMENTS];
    size_t argument_count;
    ig_module *module;
    jmp_buf recovery;
} fuzz_case;

/* "#0=f32[3]" lines at the head; returns what follows them. */
static char *take_arguments(fuzz_case *c, char *text) {
    while (*text == '#' && c->argument_count < MAX_ARGUMENTS) {
        char *end = text + strcspn(text, "\n"), *equals = strchr(text, '=');
        if (!*end || !equals || equals > end) {
            break;
        }
        *end = *equals = '\0';
        c->arguments[c->argument_count++] = (ig_torchscript_argument){ text + 1,
                                                                       equals + 1 };
        text = end + 1;
    }
    return text;
}

static void import(fuzz_case *c, ig_str archive) {
    ig_torchscript_options options = { .arguments = c->arguments,
                                       .argument_count = c->argument_count };
    ig_status status = ig_import_torchscript_memory(&c->context, archive, "f.pt",
                                                    &options, &c->module);
    if (status == IG_INTERNAL || (status != IG_OK && !c->context.diag.error_count) ||
        (status == IG_OK && (!c->module || c->context.diag.error_count))) {
        fprintf(stderr, "status %d, %zu errors\n", (int)status,
                c->context.diag.error_count);
        abort();
    }
    if (status == IG_OK && ig_verify_module(c->module) != IG_OK) {
        abort();
    }
}

typedef ig_str (*archive_maker)(ig_stored_zip *zip, ig_str code);

static bool import_made(const uint8_t *data, size_t size, archive_maker make) {
    static ig_stored_zip zip;
    static fuzz_case c;
    if (size > IG_STORED_ZIP_BYTES / 2) {
        return false;
    }
    memset(&c, 0, sizeof(c));
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    c.context.limits = ig_limits_default;
    c.context.limits.script_steps = 20000;
    c.context.limits.script_bytes = MEMORY / 2;
    c.context.diag.sink = ig_fuzz_note_internal;
    c.context.budget.limit = MEMORY;
    c.context.budget.recovery = &c.recovery;
    uint64_t mark = c.context.budget.arenas;
    char *code = take_arguments(&c, text);
    ig_str archive = make(&zip, (ig_str){ code, (size_t)(text + size - code) });
    if (!setjmp(c.recovery)) {
        import(&c, archive);
    }
    bool is_imported = c.module != NULL;
    ig_module_destroy(c.module);
    ig_budget_sweep(&c.context.budget, mark);
    free(text);
    return is_imported;
}

bool ig_fuzz_import(const uint8_t *text, size_t size) {
    return import_made(text, size, make_archive);
}

bool ig_fuzz_import_plain(const uint8_t *text, size_t size) {
    return import_made(text, size, make_package);
}
