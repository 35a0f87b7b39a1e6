/* Splits what arrives on a pipe into lines. Pure. */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>

/* A longer line is passed on in parts of this length. */
#define LONGEST_LINE 16384

/* Begins as zeros. */
struct lines {
    char text[LONGEST_LINE + 1];
    size_t length;
};

/* `line` ends with a NUL and has no end of line. */
typedef void line_handler(void *context, const char *line, size_t length);

void lines_take(struct lines *lines, const char *bytes, size_t count, line_handler *handle, void *context);

/* The last line, if it has no end of line. */
void lines_end(struct lines *lines, line_handler *handle, void *context);

#endif
