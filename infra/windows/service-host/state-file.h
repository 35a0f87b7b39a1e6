/* logs\service.state. */
#ifndef STATE_FILE_H
#define STATE_FILE_H

#include "settings.h"
#include "state.h"

/* Replaces the file at once: a reader sees the one before or this one. */
void state_file_write(const struct settings *settings, const struct state *state);

/* Sets the time since when the bridge is ready to now. */
void state_active_now(struct state *state);

/* Another identifier for each start of the bridge. */
void state_new_invocation(struct state *state);

#endif
