/* ingot-serve: serves compiled models.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/guest/guest.h"
#include "tools/serve/load/load.h"
#include "tools/serve/profile/engine.h"
#include "tools/serve/profile/remote.h"
#include "tools/serve/server.h"

#include <string.h>

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "backend") == 0) {
        return engine_main(argc, argv); /* which the profiler starts */
    }
    if (argc > 1 && strcmp(argv[1], "guest") == 0) {
        return guest_main(); /* the process of a model, with --isolate */
    }
    if (argc > 1 && strcmp(argv[1], "remote") == 0) {
        return remote_main(argc, argv); /* which ingot profile --remote starts */
    }
    if (strcmp(argv[0], "load") == 0) {
        return load_main(argc, argv);
    }
    serve_settings settings;
    int exit_status;
    if (settings_read(argc, argv, &settings, &exit_status)) {
        exit_status = server_run(&settings);
    }
    settings_free(&settings);
    return exit_status;
}
