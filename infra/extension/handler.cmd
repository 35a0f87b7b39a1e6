@echo off
setlocal
rem handler.cmd COMMAND: runs a command of the guest agent of Azure with the package beside this script
for %%v in (install enable disable update uninstall) do if "%~1"=="%%v" goto run
>&2 echo Usage: handler.cmd install^|enable^|disable^|update^|uninstall. The guest agent of Azure runs this; people run scheduled-events-bridge service.
exit /b 2
:run
for %%F in ("%~dp0..") do set "folder=%%~fF"
call "%folder%\package\scheduled-events-bridge.cmd" extension %1 --folder "%folder%"
exit /b %ERRORLEVEL%
