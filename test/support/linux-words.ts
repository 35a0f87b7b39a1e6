/** What no message to an operator of Windows may have in it. */
export const linuxWords =
  /systemctl|journalctl|\bsudo\b|chronyc|timedatectl|chmod|chown|\bdf -h|\bls -|\bcurl -|\bnc -|openssl|SIGSTOP|kill -CONT|\broot\b|uid|\/(etc|var|opt|dev)\/|kernel/;
