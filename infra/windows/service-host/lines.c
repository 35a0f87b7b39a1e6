#include "lines.h"

static void finish(struct lines *lines, line_handler *handle, void *context) {
    size_t length = lines->length;
    if (length > 0 && lines->text[length - 1] == '\r') length--;
    lines->text[length] = '\0';
    lines->length = 0;
    if (length > 0) handle(context, lines->text, length);
}

void lines_take(struct lines *lines, const char *bytes, size_t count, line_handler *handle, void *context) {
    for (size_t at = 0; at < count; at++) {
        if (bytes[at] == '\n') {
            finish(lines, handle, context);
            continue;
        }
        lines->text[lines->length++] = bytes[at];
        if (lines->length == LONGEST_LINE) finish(lines, handle, context);
    }
}

void lines_end(struct lines *lines, line_handler *handle, void *context) {
    finish(lines, handle, context);
}
