@echo off
setlocal EnableExtensions DisableDelayedExpansion
rem Runs the program beside it with the runtime beside it. Nothing here depends on the working directory, which cannot be a network folder.
rem assumption: windows-package-network-folder
set "here=%~dp0"

rem They are meant for other Nodes of this machine: what they load may not even fit this one.
set "NODE_OPTIONS="
set "NODE_PATH="
rem Started by a 32-bit program, it would look into the folders of 32-bit programs.
rem assumption: windows-package-32-bit-host
if defined ProgramW6432 set "ProgramFiles=%ProgramW6432%"
if defined CommonProgramW6432 set "CommonProgramFiles=%CommonProgramW6432%"

set "again=Unpack the archive again"
set "fetch=Fetch it again"
if /i "%~1"=="extension" set "again=Remove the extension and deploy it again"
if /i "%~1"=="extension" set "fetch=%again%"
for %%v in ("service install" "service update" "extension install" "extension enable" "extension update") do if /i "%~1 %~2"==%%v goto verify
:run
"%here%node.exe" "%here%scheduled-events-bridge.cjs" %*
exit /b %ERRORLEVEL%

rem The program refuses a machine that does not fit by itself; here is what it cannot say because it would not run.
:verify
set "lacking="
for %%f in (node.exe scheduled-events-bridge.cjs manifest.json) do if not exist "%here%%%f" set "lacking=%%f"
if defined lacking goto incomplete
set "processor=%PROCESSOR_ARCHITECTURE%"
if defined PROCESSOR_ARCHITEW6432 set "processor=%PROCESSOR_ARCHITEW6432%"
if /i not "%processor%"=="AMD64" goto unsupported
for %%f in ("%here%node.exe") do set "bytes=%%~zf"
"%SystemRoot%\System32\findstr.exe" /c:": %bytes%," "%here%manifest.json" >nul || goto damaged
rem assumption: windows-package-blocked
"%here%node.exe" --version >nul 2>nul && goto run
"%SystemRoot%\System32\reg.exe" query "HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion" /v CurrentMajorVersionNumber >nul 2>nul || goto old
goto blocked

rem Delayed expansion, because a path may have characters that are special in a command line.
:incomplete
setlocal EnableDelayedExpansion
>&2 echo The package in !here! is not complete: !lacking! is missing. !again!.
exit /b 52
:unsupported
setlocal EnableDelayedExpansion
>&2 echo The package is for x64 ^(AMD64^), and this machine is !processor!: there is no package for it.
exit /b 51
:damaged
setlocal EnableDelayedExpansion
>&2 echo The package in !here! is damaged: node.exe has !bytes! bytes, which is another size than in manifest.json. !fetch!.
exit /b 52
:old
setlocal EnableDelayedExpansion
>&2 echo The runtime of the package needs Windows Server 2016, Windows 10 or newer.
exit /b 51
:blocked
setlocal EnableDelayedExpansion
>&2 echo Windows does not start !here!node.exe: allow it where AppLocker, App Control or a virus scanner blocks it. It is signed by the OpenJS Foundation.
exit /b 52
