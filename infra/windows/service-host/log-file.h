/* logs\bridge.log, and up to five older ones beside it: bridge.1.log is the newest of them. */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include <stddef.h>

#include "settings.h"

/* @returns ERROR_SUCCESS, or why it cannot be opened. Lines are lost until it can. */
DWORD log_file_open(const struct settings *settings);

/* One line without its end. From any thread. */
void log_file_line(const char *line, size_t length);

/* A line of the host itself, as JSON like those of the bridge. `level`: info, warn, error. */
void log_file_say(const char *level, const WCHAR *format, ...);

void log_file_close(void);

#endif
