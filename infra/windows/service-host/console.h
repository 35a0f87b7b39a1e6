/* What the program prints when somebody runs it. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdbool.h>
#include <windows.h>

/* To stdout, or stderr. In UTF-8, as other programs read it. */
void console_say(bool is_error, const WCHAR *format, ...);

void console_format(WCHAR *text, size_t capacity, const WCHAR *format, ...);

/* Of the product. */
const WCHAR *console_version(void);

#endif
