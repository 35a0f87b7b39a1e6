@echo off
rem Stops the service and removes it, with its state unless --keep-state is given.
"%~dp0scheduled-events-bridge.cmd" service uninstall %*
