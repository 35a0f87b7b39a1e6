#include "settings.h"

#include <strsafe.h>

static bool joined(WCHAR *path, const WCHAR *folder, const WCHAR *name) {
    return SUCCEEDED(StringCchPrintfW(path, LONGEST_PATH, L"%ls\\%ls", folder, name));
}

/* A value of the Parameters key. A value of 0 counts as missing. */
static DWORD parameter(const WCHAR *service, const WCHAR *name, DWORD otherwise) {
    WCHAR key[LONGEST_PATH];
    DWORD value = 0, size = sizeof value;
    if (FAILED(StringCchPrintfW(key, LONGEST_PATH, L"SYSTEM\\CurrentControlSet\\Services\\%ls\\Parameters", service)))
        return otherwise;
    LSTATUS status = RegGetValueW(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, NULL, &value, &size);
    return status == ERROR_SUCCESS && value != 0 ? value : otherwise;
}

/* assumption: windows-service-host-memory */
const WCHAR *settings_read(struct settings *settings, const WCHAR *service) {
    WCHAR folder[LONGEST_PATH], machine_data[LONGEST_PATH];
    DWORD length = GetModuleFileNameW(NULL, folder, LONGEST_PATH);
    WCHAR *name = wcsrchr(folder, L'\\');
    if (length == 0 || length >= LONGEST_PATH || name == NULL) return L"the path of this program is too long";
    *name = L'\0';
    length = GetEnvironmentVariableW(L"ProgramData", machine_data, LONGEST_PATH);
    if (length == 0 || length >= LONGEST_PATH) return L"the environment variable ProgramData is missing or too long";

    bool fits = joined(settings->node, folder, L"node.exe") &&
                joined(settings->script, folder, L"scheduled-events-bridge.cjs") &&
                joined(settings->data, machine_data, SERVICE) &&
                joined(settings->config, settings->data, L"config.json") &&
                joined(settings->cache, settings->data, L"cache") &&
                joined(settings->logs, settings->data, L"logs") &&
                joined(settings->log, settings->logs, L"bridge.log") &&
                joined(settings->state, settings->logs, L"service.state");
    if (!fits) return L"a path of the installation is too long";

    settings->restart.first = parameter(service, L"RestartSeconds", 5);
    settings->restart.longest = parameter(service, L"RestartLongestSeconds", 60);
    settings->restart.reset = parameter(service, L"RestartResetSeconds", 600);
    settings->stop_s = parameter(service, L"StopSeconds", 25);
    settings->watchdog_s = parameter(service, L"WatchdogSeconds", 60);
    settings->start_s = parameter(service, L"StartSeconds", 90);
    settings->memory_mb = parameter(service, L"MemoryMegabytes", 1024);
    settings->log_kb = parameter(service, L"LogKilobytes", 10240);
    return NULL;
}
