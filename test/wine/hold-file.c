/* Holds a file open as PowerShell's Get-Content -Wait does, so that it cannot be renamed: hold-file.exe FILE, until it is ended. */
#include <windows.h>

int wmain(int count, WCHAR **arguments) {
    if (count != 2) return 2;
    HANDLE file = CreateFileW(arguments[1], GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) return 3;
    CreateDirectoryW(L"C:\\held", NULL);
    Sleep(INFINITE);
    return 0;
}
