#include <stdbool.h>
#include <wchar.h>
#include <windows.h>

#include "access.h"
#include "console.h"
#include "control-manager.h"
#include "service.h"
#include "settings.h"
#include "status-pipe.h"

/* Longer than the bridge may take to stop, by default. */
#define PRESHUTDOWN_MS 40000

static const WCHAR usage[] =
    L"The service host of scheduled-events-bridge. Windows starts it as the service " SERVICE L".\n\n"
    L"  --console              run the bridge here instead, with everything that the service does, until Ctrl+C\n"
    L"  --query [SERVICE]      the state of the service, the same in every language of Windows\n"
    L"  --set-preshutdown      give the service 40 s to stop when the machine shuts down (as an administrator)\n"
    L"  --is-elevated          exit code 0 with the rights of an administrator, else 1\n"
    L"  --is-trusted PATH SID  exit code 0 if nobody but administrators and the account SID owns the folder, else 1\n"
    L"  --permissions PATH     the access control list of a file or folder, as SDDL\n"
    L"  --ask PIPE SID         what the bridge answers on its status pipe, if nobody but administrators and the account SID owns it\n"
    L"  --version\n";

int wmain(int count, WCHAR **arguments) {
    const WCHAR *verb = count > 1 ? arguments[1] : L"";
    const WCHAR *service = count > 2 ? arguments[2] : SERVICE;
    /* Libraries that are loaded from now on are those of Windows only. */
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (count == 1) {
        if (service_run()) return 0;
        if (GetLastError() != ERROR_FAILED_SERVICE_CONTROLLER_CONNECT) return 1;
        console_say(true, L"Only Windows can start this program without arguments, as a service: sc.exe start " SERVICE L"\n\n%ls", usage);
        return 2;
    }
    if (wcscmp(verb, L"--console") == 0 && count == 2) return service_run_in_console();
    if (wcscmp(verb, L"--query") == 0 && count <= 3) return control_manager_query(service);
    if (wcscmp(verb, L"--set-preshutdown") == 0 && count <= 3) return control_manager_set_preshutdown(service, PRESHUTDOWN_MS);
    if (wcscmp(verb, L"--is-elevated") == 0 && count == 2) return access_is_elevated();
    if (wcscmp(verb, L"--is-trusted") == 0 && count == 4) return access_is_trusted(arguments[2], arguments[3]);
    if (wcscmp(verb, L"--permissions") == 0 && count == 3) return access_print_permissions(arguments[2]);
    if (wcscmp(verb, L"--ask") == 0 && count == 4) return status_pipe_ask(arguments[2], arguments[3]);
    if (wcscmp(verb, L"--version") == 0 && count == 2) {
        console_say(false, L"%ls\n", console_version());
        return 0;
    }
    bool is_help = wcscmp(verb, L"--help") == 0;
    if (!is_help) console_say(true, L"%ls is unknown here.\n\n", verb);
    console_say(!is_help, L"%ls", usage);
    return is_help ? 0 : 2;
}
