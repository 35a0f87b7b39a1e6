/* Asks the bridge for its status on its pipe. Node would let whoever made the pipe act as the user who asks. */
#ifndef STATUS_PIPE_H
#define STATUS_PIPE_H

#include <windows.h>

enum status_pipe {
    STATUS_PIPE_ANSWERED = 0,
    STATUS_PIPE_NOBODY = 1,
    STATUS_PIPE_SILENT = 3,
    STATUS_PIPE_FOREIGN = 4,
    STATUS_PIPE_DENIED = 5,
};

/* Prints the answer as it comes. `service_sid`: the account of the service. @returns one of the above as an exit code. */
int status_pipe_ask(const WCHAR *name, const WCHAR *service_sid);

#endif
