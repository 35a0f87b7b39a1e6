#include "state.h"

#include <stdio.h>

void state_set_status(struct state *state, const char *text) {
    size_t length = 0;
    for (; text[length] != '\0' && length < LONGEST_STATUS; length++)
        state->status[length] = (unsigned char)text[length] < ' ' ? ' ' : text[length];
    /* Not within a character of UTF-8. */
    if (text[length] != '\0')
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    state->status[length] = '\0';
}

size_t state_text(const struct state *state, char text[STATE_TEXT]) {
    int length = snprintf(text, STATE_TEXT,
                          "ActiveState=%s\nSubState=%s\nInvocationID=%s\nMainPID=%lu\nNRestarts=%lu\nStatusText=%s\n"
                          "ExecMainStatus=%lu\nResult=%s\nActiveEnterTimestamp=%s\nHostPID=%lu\n",
                          state->active, state->sub, state->invocation, (unsigned long)state->child_pid,
                          (unsigned long)state->restarts, state->status, (unsigned long)state->exit_status,
                          state->result, state->active_since, (unsigned long)state->host_pid);
    return length < 0 ? 0 : (size_t)length;
}
