/*
 * Serves one client of a pipe: status-pipe.exe PIPE RIGHTS ANSWER. RIGHTS is a security descriptor in SDDL, or - for the default. Says
 * whether it was asked, before it answers. Without an answer it stays silent until it is ended.
 */
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#include <sddl.h>

int wmain(int count, WCHAR **arguments) {
    SECURITY_ATTRIBUTES security = {.nLength = sizeof security};
    char question = 0, answer[256] = "";
    DWORD bytes;
    if (count < 3) return 2;
    if (wcscmp(arguments[2], L"-") != 0 &&
        !ConvertStringSecurityDescriptorToSecurityDescriptorW(arguments[2], SDDL_REVISION_1, &security.lpSecurityDescriptor, NULL))
        return 3;
    HANDLE pipe = CreateNamedPipeW(arguments[1], PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 4096, 4096, 0,
                                   security.lpSecurityDescriptor == NULL ? NULL : &security);
    if (pipe == INVALID_HANDLE_VALUE) return 4;
    ConnectNamedPipe(pipe, NULL);
    printf("asked: %s\n", ReadFile(pipe, &question, 1, &bytes, NULL) && question == '\n' ? "yes" : "no");
    fflush(stdout);
    if (count == 3) Sleep(INFINITE);
    if (count > 3) snprintf(answer, sizeof answer, "%ls", arguments[3]);
    WriteFile(pipe, answer, (DWORD)strlen(answer), &bytes, NULL);
    FlushFileBuffers(pipe);
    return 0;
}
