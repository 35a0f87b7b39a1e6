#include "access.h"

#include <aclapi.h>
#include <sddl.h>

#include "console.h"
#include "text.h"

int access_is_elevated(void) {
    BYTE room[SECURITY_MAX_SID_SIZE];
    DWORD size = sizeof room;
    BOOL is_member = FALSE;
    bool is_known = CreateWellKnownSid(WinBuiltinAdministratorsSid, NULL, room, &size) && CheckTokenMembership(NULL, room, &is_member);
    return is_known && is_member ? 0 : 1;
}

/* @returns whether this process runs as this account. */
static bool is_this_user(PSID account) {
    HANDLE token;
    union {
        TOKEN_USER user;
        BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } all;
    DWORD size;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return false;
    bool is_known = GetTokenInformation(token, TokenUser, &all, sizeof all, &size);
    CloseHandle(token);
    return is_known && EqualSid(account, all.user.User.Sid);
}

bool access_trusts(PSID owner, const WCHAR *service_sid) {
    PSID service;
    if (IsWellKnownSid(owner, WinLocalSystemSid) || IsWellKnownSid(owner, WinBuiltinAdministratorsSid) || is_this_user(owner)) return true;
    if (!ConvertStringSidToSidW(service_sid, &service)) return false;
    bool is_service = EqualSid(owner, service);
    LocalFree(service);
    return is_service;
}

static int failed(const WCHAR *what, const WCHAR *path, DWORD error) {
    WCHAR meaning[512];
    text_of_error(meaning, ARRAYSIZE(meaning), error);
    console_say(true, L"The %ls of %ls cannot be read: %ls.\n", what, path, meaning);
    return 1;
}

/* assumption: windows-installer-foreign-folder */
int access_is_trusted(const WCHAR *path, const WCHAR *service_sid) {
    /* The folder itself, where it is a link. */
    HANDLE folder = CreateFileW(path, READ_CONTROL, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                                FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    DWORD error = folder == INVALID_HANDLE_VALUE ? GetLastError() : ERROR_SUCCESS;
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return 0;
    PSID owner = NULL;
    PSECURITY_DESCRIPTOR descriptor = NULL;
    if (error == ERROR_SUCCESS) {
        error = GetSecurityInfo(folder, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL, NULL, NULL, &descriptor);
        CloseHandle(folder);
    }
    if (error != ERROR_SUCCESS || owner == NULL) return failed(L"owner", path, error);
    bool is_safe = access_trusts(owner, service_sid);
    LocalFree(descriptor);
    return is_safe ? 0 : 1;
}

int access_print_permissions(const WCHAR *path) {
    PSECURITY_DESCRIPTOR descriptor = NULL;
    WCHAR *text = NULL;
    DWORD error = GetNamedSecurityInfoW(path, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL, NULL, NULL, NULL, &descriptor);
    if (error == ERROR_SUCCESS &&
        !ConvertSecurityDescriptorToStringSecurityDescriptorW(descriptor, SDDL_REVISION_1, DACL_SECURITY_INFORMATION, &text, NULL))
        error = GetLastError();
    if (descriptor != NULL) LocalFree(descriptor);
    if (error != ERROR_SUCCESS) return failed(L"permissions", path, error);
    console_say(false, L"%ls\n", text);
    LocalFree(text);
    return 0;
}
