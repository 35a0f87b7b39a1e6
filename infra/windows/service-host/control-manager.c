#include "control-manager.h"

#include <stdbool.h>

#include "console.h"
#include "text.h"

static const WCHAR *const states[] = {L"unknown", L"stopped", L"start-pending", L"stop-pending", L"running", L"continue-pending", L"pause-pending", L"paused"};
static const WCHAR *const starts[] = {L"boot", L"system", L"automatic", L"manual", L"disabled"};

static const WCHAR *named(const WCHAR *const *names, size_t count, DWORD value) {
    return value < count ? names[value] : L"unknown";
}

static int failed(const WCHAR *what, const WCHAR *service, DWORD error) {
    WCHAR meaning[512];
    text_of_error(meaning, ARRAYSIZE(meaning), error);
    console_say(true, L"%ls of the service %ls failed: %ls.\n", what, service, meaning);
    return 1;
}

/* @returns null where it cannot be opened; `error` says why. */
static SC_HANDLE open_service(const WCHAR *service, DWORD rights, DWORD *error) {
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
    SC_HANDLE opened = manager == NULL ? NULL : OpenServiceW(manager, service, rights);
    *error = opened == NULL ? GetLastError() : ERROR_SUCCESS;
    if (manager != NULL) CloseServiceHandle(manager);
    return opened;
}

int control_manager_query(const WCHAR *service) {
    DWORD error, size;
    SC_HANDLE opened = open_service(service, SERVICE_QUERY_STATUS | SERVICE_QUERY_CONFIG, &error);
    if (error == ERROR_SERVICE_DOES_NOT_EXIST) {
        console_say(false, L"State=missing\n");
        return 0;
    }
    if (opened == NULL) return failed(L"Opening", service, error);
    SERVICE_STATUS_PROCESS status;
    /* The most that Windows needs. */
    union {
        QUERY_SERVICE_CONFIGW config;
        BYTE room[8192];
    } all;
    bool is_known = QueryServiceStatusEx(opened, SC_STATUS_PROCESS_INFO, (BYTE *)&status, sizeof status, &size) &&
                    QueryServiceConfigW(opened, &all.config, sizeof all, &size);
    error = GetLastError();
    CloseServiceHandle(opened);
    if (!is_known) return failed(L"A query", service, error);
    console_say(false, L"State=%ls\nProcessId=%lu\nWin32ExitCode=%lu\nServiceExitCode=%lu\nStartType=%ls\nAccount=%ls\nImagePath=%ls\n",
                named(states, ARRAYSIZE(states), status.dwCurrentState), status.dwProcessId, status.dwWin32ExitCode,
                status.dwServiceSpecificExitCode, named(starts, ARRAYSIZE(starts), all.config.dwStartType),
                all.config.lpServiceStartName, all.config.lpBinaryPathName);
    return 0;
}

/* assumption: windows-service-host-preshutdown */
int control_manager_set_preshutdown(const WCHAR *service, DWORD timeout_ms) {
    DWORD error;
    SERVICE_PRESHUTDOWN_INFO info = {.dwPreshutdownTimeout = timeout_ms};
    SC_HANDLE opened = open_service(service, SERVICE_CHANGE_CONFIG, &error);
    if (opened == NULL) return failed(L"Opening", service, error);
    bool is_set = ChangeServiceConfig2W(opened, SERVICE_CONFIG_PRESHUTDOWN_INFO, &info);
    error = GetLastError();
    CloseServiceHandle(opened);
    return is_set ? 0 : failed(L"The preshutdown time", service, error);
}
