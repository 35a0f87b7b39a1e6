import type { BootedMachine } from '../host-install/booted-machine.ts';

/** Turns off what only a machine of Azure has: provisioning, a temporary disk, a hypervisor. Else it is Debian's. */
const settings = {
  'Provisioning.Agent': 'disabled',
  'Provisioning.MonitorHostName': 'n',
  'ResourceDisk.Format': 'n',
  'Logs.Collect': 'n',
  'AutoUpdate.UpdateToLatestVersion': 'n',
  // In seconds; 6 by default.
  'Extensions.GoalStatePeriod': '1',
  'Extensions.InitialGoalStatePeriod': '1',
};

const anyHypervisor = '[Unit]\nConditionVirtualization=\n';

/** Starts the agent of Azure in a machine. */
export async function startAgent({ ok }: BootedMachine): Promise<void> {
  const names = Object.keys(settings).map((name) => `-e '/^${name}=/d'`);
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  await ok(`sed -i ${names.join(' ')} /etc/waagent.conf && cat >>/etc/waagent.conf`, {
    input: `${lines.join('\n')}\n`,
  });
  await ok(
    'mkdir -p /run/systemd/system/walinuxagent.service.d && cat >/run/systemd/system/walinuxagent.service.d/test.conf',
    {
      input: anyHypervisor,
    },
  );
  await ok('systemctl daemon-reload && systemctl start walinuxagent');
}
