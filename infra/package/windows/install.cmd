@echo off
setlocal EnableExtensions DisableDelayedExpansion
rem Installs this package as a service, or updates to it: install.cmd [CONFIGURATION] [OPTION...], with at most eight words after the first.
rem update.cmd is the same file, and its name decides what it does: update.cmd leaves a disabled service disabled.
rem assumption: windows-package-lifecycle, windows-package-network-folder
set "verb=install"
if /i "%~n0"=="update" set "verb=update"
set "first=%~1"
if not defined first goto without
if "%first:~0,1%"=="-" goto without
"%~dp0scheduled-events-bridge.cmd" service %verb% --from "%~dp0." --config "%~1" %2 %3 %4 %5 %6 %7 %8 %9
:without
"%~dp0scheduled-events-bridge.cmd" service %verb% --from "%~dp0." %*
