/* Roles of ports.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/info/inspect_roles.h"

#include "tools/ingot/cli/console.h"

static const char *role_name(ig_port_role role) {
    static const char *const names[IG_ROLE_COUNT] = {
        [IG_ROLE_NONE] = "none",
        [IG_ROLE_ROWS] = "rows",
        [IG_ROLE_KEY_LENGTHS] = "key_lengths",
        [IG_ROLE_KEY_VALUES] = "key_values",
        [IG_ROLE_OFFSETS] = "offsets",
        [IG_ROLE_SHARED] = "shared",
    };
    return (unsigned)role < IG_ROLE_COUNT && names[role] ? names[role] : "unknown";
}

/* The pass states roles of all ports or of none. */
static bool has_roles(const ig_program *of) {
    return ig_program_output_count(of) > 0 &&
           ig_program_output(of, 0).role != IG_ROLE_NONE;
}

static const char *partner_name(const ig_program *of, const ig_port *port) {
    size_t partner = port->partner < 0 ? SIZE_MAX : (size_t)port->partner;
    return partner < ig_program_input_count(of) ? ig_program_input(of, partner).name
                                                : "";
}

static void print_port(const ig_program *of, const ig_port *port) {
    const char *partner = partner_name(of, port);
    fputs("  ", stdout);
    put_plain(stdout, port->name);
    printf(": %s", role_name(port->role));
    if (*partner) {
        fputs(port->role == IG_ROLE_KEY_VALUES ? ", as " : ", of ", stdout);
        put_plain(stdout, partner);
        fputs(port->role == IG_ROLE_KEY_VALUES ? " says" : "", stdout);
    }
    if (port->keys) {
        printf(", %d a row", (int)port->keys);
    }
    putchar('\n');
}

void roles_print(const ig_program *of) {
    if (!has_roles(of)) {
        puts("along the batch: not known, so calls are not put together");
        return;
    }
    puts("along the batch:");
    for (size_t i = 0; i < ig_program_input_count(of); i++) {
        ig_port port = ig_program_input(of, i);
        print_port(of, &port);
    }
    for (size_t i = 0; i < ig_program_output_count(of); i++) {
        ig_port port = ig_program_output(of, i);
        print_port(of, &port);
    }
}

static void put_role(const ig_program *of, const ig_port *port, const char *comma) {
    printf("%s\n  {\"name\": ", comma);
    put_json_text(stdout, port->name);
    printf(", \"role\": \"%s\"", role_name(port->role));
    if (*partner_name(of, port)) {
        fputs(", \"partner\": ", stdout);
        put_json_text(stdout, partner_name(of, port));
    }
    if (port->keys) {
        printf(", \"keys\": %d", (int)port->keys);
    }
    putchar('}');
}

void roles_put_json(const ig_program *of) {
    const char *comma = "";
    fputs(",\n \"batch\": [", stdout);
    for (size_t i = 0; has_roles(of) && i < ig_program_input_count(of); i++) {
        ig_port port = ig_program_input(of, i);
        put_role(of, &port, comma);
        comma = ",";
    }
    for (size_t i = 0; has_roles(of) && i < ig_program_output_count(of); i++) {
        ig_port port = ig_program_output(of, i);
        put_role(of, &port, comma);
        comma = ",";
    }
    putchar(']');
}
