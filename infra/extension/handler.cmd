@echo off
setlocal
rem handler.cmd COMMAND: runs a command of the guest agent of Azure with the package beside this script
for %%F in ("%~dp0..") do set "folder=%%~fF"
call "%folder%\package\scheduled-events-bridge.cmd" extension %1 --folder "%folder%"
exit /b %ERRORLEVEL%
