/* A packaged PyTorch model in Python interpreters: torch::deploy's program in C.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cc -O2 deploy.c $(pkg-config --cflags --libs ingot-runtime) -lingot-interp \
 *         -o deploy
 *     ./deploy my_package.pt [FOLDER OF FURTHER PYTHON PACKAGES]
 */
#include <ingot/interp.h>
#include <stdio.h>

static void print_tensor(const ig_view *tensor, int64_t count) {
    const float *data = tensor->data;
    int64_t size = ig_view_bytes(tensor) / (int64_t)sizeof *data;
    printf("f32[");
    for (uint32_t i = 0; i < tensor->rank; i++) {
        printf(i > 0 ? ", %lld" : "%lld", (long long)tensor->dims[i]);
    }
    printf("]:");
    for (int64_t i = 0; i < size && i < count; i++) {
        printf(" %g", (double)data[i]);
    }
    printf(size > count ? " ...\n" : "\n");
}

/* Calls the model with ones, in any interpreter that is free. */
static ig_status run_model(ig_interp_replica *model, const ig_interp_call *how) {
    float ones[10 * 10];
    for (int i = 0; i < 10 * 10; i++) {
        ones[i] = 1;
    }
    ig_interp_value x = { .kind = IG_INTERP_TENSOR,
                          .as.tensor = { .data = ones,
                                         .dtype = IG_F32,
                                         .rank = 4,
                                         .dims = { 1, 1, 10, 10 } } };
    ig_interp_arguments inputs = { .values = &x, .count = 1 };
    ig_interp_result *result = NULL;
    ig_status status = ig_interp_replica_invoke(model, how, NULL, &inputs, &result);
    if (status == IG_OK) {
        const ig_interp_value *output = ig_interp_result_value(result);
        if (output->kind == IG_INTERP_TENSOR && output->as.tensor.dtype == IG_F32) {
            print_tensor(&output->as.tensor, 40);
        }
    }
    ig_interp_result_free(result);
    return status;
}

int main(int count, char **arguments) {
    if (count != 2 && count != 3) {
        fprintf(stderr, "usage: deploy PACKAGE [FOLDER]\n");
        return 2;
    }
    char why[4096];
    ig_interp_call how = { .size = sizeof how,
                           .message = why,
                           .message_size = sizeof why };
    const char *const paths[] = { count == 3 ? arguments[2] : NULL };
    ig_interp_options options = { .size = sizeof options,
                                  .count = 4,
                                  .paths = paths,
                                  .path_count = count == 3,
                                  .use_torch = 1 };
    ig_interp_manager *manager = NULL;
    ig_interp_replica *package = NULL, *model = NULL;
    ig_status status = ig_interp_create(&options, &how, &manager);
    if (status == IG_OK) {
        status = ig_interp_load_package(manager, &how, arguments[1], &package);
    }
    if (status == IG_OK) {
        status = ig_interp_load_pickle(package, &how, "model", "model.pkl", &model);
    }
    if (status == IG_OK) {
        status = run_model(model, &how);
    }
    if (status != IG_OK) {
        fprintf(stderr, "error loading the model\n%s\n", why);
    }
    ig_interp_replica_free(model);
    ig_interp_replica_free(package);
    ig_interp_destroy(manager);
    return status != IG_OK;
}
