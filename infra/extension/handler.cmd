@echo off
rem handler.cmd COMMAND: runs a command of the guest agent of Azure with the package beside this script
setlocal
rem They are meant for other Nodes of this machine.
set "NODE_OPTIONS="
set "NODE_PATH="
for %%F in ("%~dp0..") do set "folder=%%~fF"
if exist "%folder%\package\node.exe" goto run
echo The extension in %folder% is not whole: package\node.exe is missing. Remove the extension and deploy it again.>&2
exit /b 52
:run
"%folder%\package\node.exe" "%folder%\package\scheduled-events-bridge.cjs" extension %1 --folder "%folder%"
exit /b %ERRORLEVEL%
