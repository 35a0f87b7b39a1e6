/* Conversions between UTF-16 of Windows and UTF-8 of the bridge, and texts of errors. */
#ifndef TEXT_H
#define TEXT_H

#include <windows.h>

/* Both cut what does not fit. `wide` and `utf8` always end with a NUL. */
void text_wide(WCHAR *wide, size_t capacity, const char *utf8);
void text_utf8(char *utf8, size_t capacity, const WCHAR *wide);

/* What an error of Windows means, in one line, with its number. */
void text_of_error(WCHAR *text, size_t capacity, DWORD error);

#endif
