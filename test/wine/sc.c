/*
 * sc.exe for the tests of the installer: that of Wine 10 has no `config` and no `sidtype`. The service control manager behind it is
 * Wine's. Reads only what the installer writes: `name=` and its value as two arguments. Ends with the error code of Windows.
 * https://learn.microsoft.com/windows-server/administration/windows-commands/sc-config
 */
#include <windows.h>

static int count;
static WCHAR **arguments;

static const WCHAR *value_of(const WCHAR *name) {
    for (int at = 3; at + 1 < count; at++)
        if (lstrcmpiW(arguments[at], name) == 0) return arguments[at + 1];
    return NULL;
}

static DWORD start_type(void) {
    const WCHAR *start = value_of(L"start=");
    if (start == NULL) return SERVICE_NO_CHANGE;
    if (lstrcmpiW(start, L"auto") == 0) return SERVICE_AUTO_START;
    return lstrcmpiW(start, L"disabled") == 0 ? SERVICE_DISABLED : SERVICE_DEMAND_START;
}

/* assumption: windows-installer-switch */
static BOOL create(SC_HANDLE manager) {
    SC_HANDLE service = CreateServiceW(manager, arguments[2], value_of(L"DisplayName="), SERVICE_ALL_ACCESS,
                                       SERVICE_WIN32_OWN_PROCESS, start_type(), SERVICE_ERROR_NORMAL, value_of(L"binPath="),
                                       NULL, NULL, NULL, value_of(L"obj="), NULL);
    return service != NULL && CloseServiceHandle(service);
}

/* As the two words `restart/5000/restart/30000` say. */
static BOOL set_failure(SC_HANDLE service) {
    SC_ACTION actions[8];
    SERVICE_FAILURE_ACTIONSW failure = {.dwResetPeriod = 86400, .lpsaActions = actions};
    const WCHAR *text = value_of(L"actions=");
    for (; text != NULL && *text != L'\0' && failure.cActions < 8; failure.cActions++) {
        while (*text != L'\0' && *text != L'/') text++;
        DWORD delay = 0;
        for (text += *text == L'/'; *text >= L'0' && *text <= L'9'; text++) delay = delay * 10 + (*text - L'0');
        actions[failure.cActions] = (SC_ACTION){.Type = SC_ACTION_RESTART, .Delay = delay};
        text += *text == L'/';
    }
    return ChangeServiceConfig2W(service, SERVICE_CONFIG_FAILURE_ACTIONS, &failure);
}

static BOOL change(SC_HANDLE service, const WCHAR *verb) {
    SERVICE_STATUS status;
    if (lstrcmpW(verb, L"config") == 0)
        return ChangeServiceConfigW(service, SERVICE_NO_CHANGE, start_type(), SERVICE_NO_CHANGE, value_of(L"binPath="), NULL,
                                    NULL, NULL, value_of(L"obj="), NULL, value_of(L"DisplayName="));
    if (lstrcmpW(verb, L"description") == 0) {
        SERVICE_DESCRIPTIONW description = {.lpDescription = arguments[3]};
        return ChangeServiceConfig2W(service, SERVICE_CONFIG_DESCRIPTION, &description);
    }
    if (lstrcmpW(verb, L"failure") == 0) return set_failure(service);
    /* Wine has no tokens with the identifier of a service. */
    if (lstrcmpW(verb, L"sidtype") == 0) return TRUE;
    if (lstrcmpW(verb, L"start") == 0) return StartServiceW(service, 0, NULL);
    if (lstrcmpW(verb, L"stop") == 0) return ControlService(service, SERVICE_CONTROL_STOP, &status);
    if (lstrcmpW(verb, L"delete") == 0) return DeleteService(service);
    SetLastError(ERROR_INVALID_COMMAND_LINE);
    return FALSE;
}

int wmain(int given, WCHAR **all) {
    count = given;
    arguments = all;
    if (count < 3) return ERROR_INVALID_COMMAND_LINE;
    SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_ALL_ACCESS);
    if (manager == NULL) return (int)GetLastError();
    if (lstrcmpW(arguments[1], L"create") == 0) return create(manager) ? 0 : (int)GetLastError();
    SC_HANDLE service = OpenServiceW(manager, arguments[2], SERVICE_ALL_ACCESS);
    if (service == NULL) return (int)GetLastError();
    return change(service, arguments[1]) ? 0 : (int)GetLastError();
}
