/* ingot-serve: serves compiled models.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/server.h"

int main(int argc, char **argv) {
    serve_settings settings;
    int exit_status;
    if (settings_read(argc, argv, &settings, &exit_status)) {
        exit_status = server_run(&settings);
    }
    settings_free(&settings);
    return exit_status;
}
