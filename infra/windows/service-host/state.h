/* What the host says of the service in logs\service.state: the properties of `systemctl show`, so that one reader serves both. Pure. */
#ifndef STATE_H
#define STATE_H

#include <stddef.h>
#include <stdint.h>

#define LONGEST_STATUS 1024

/* Texts are constants, but for the arrays. */
struct state {
    const char *active; /* ActiveState: activating, active, deactivating, inactive, failed */
    const char *sub;    /* SubState: start, running, auto-restart, stop-sigterm, dead, failed */
    const char *result; /* Result: success, exit-code, watchdog, timeout, resources */
    char invocation[33];
    char active_since[32]; /* UTC, as systemd prints it; empty before the first READY=1 */
    char status[LONGEST_STATUS + 1];
    uint32_t child_pid; /* 0: none runs */
    uint32_t host_pid;
    uint32_t restarts;
    uint32_t exit_status;
};

/* Sets the status sentence; a control character becomes a space. */
void state_set_status(struct state *state, const char *text);

/* @returns the length of what it wrote, which always fits in STATE_TEXT. */
#define STATE_TEXT (LONGEST_STATUS + 512)
size_t state_text(const struct state *state, char text[STATE_TEXT]);

#endif
