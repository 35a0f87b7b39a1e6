import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { AzError } from '../../../../infra/acceptance/az.ts';
import type { AzureTools } from '../../../../infra/acceptance/azure/tools.ts';
import { runNamed } from '../../../../infra/acceptance/begin.ts';
import type { Finding, OutsideGroups, StepContext } from '../../../../infra/acceptance/step.ts';

/** What Azure answers to a call whose words contain `to`: a value, or what a function returns or throws. The first that fits answers. */
export interface Reply {
  readonly to: string | RegExp;
  readonly with: unknown;
}

export const subscriptionId = '11111111-1111-4111-8111-111111111111';

/** A step's context over written-down replies, and everything that the step did with it. */
export function createContext(replies: readonly Reply[], found: Readonly<Record<string, unknown>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'acceptance-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const calls: string[] = [];
  const findings: Finding[] = [];
  const outside: OutsideGroups[] = [];
  const said: string[] = [];
  const saved = new Map<string, string>();
  const measured: [string, number][] = [];
  const abort = new AbortController();
  const context = {
    run: { ...runNamed('k3x2ab', { subscription: subscriptionId, location: 'westeurope', folder }), folder },
    az: {
      async call(args: readonly string[]) {
        const line = args.join(' ');
        calls.push(line);
        const reply = replies.find(({ to }) => (typeof to === 'string' ? line.includes(to) : to.test(line)));
        if (reply === undefined) throw new Error(`no reply is written down for: ${line}`);
        return typeof reply.with === 'function' ? reply.with(args) : reply.with;
      },
    },
    get target(): never {
      throw new Error('steps of these phases use no target');
    },
    signal: abort.signal,
    found: new Map(Object.entries(found)),
    report: (finding: Finding) => void findings.push(finding),
    willCreate: (item: OutsideGroups) => void outside.push(item),
    differ: () => {},
    measure: (what: string, seconds: number) => void measured.push([what, seconds]),
    say: (line: string) => void said.push(line),
    save(name: string, text: string) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
      saved.set(name, text);
      return name;
    },
  } satisfies StepContext;
  return { context: context as StepContext, folder, calls, findings, outside, said, saved, measured, abort };
}

/** Throws what the Azure CLI would: the code and the message of Azure. */
export const refuse = (code: string, message: string) => (args: readonly string[]) => {
  throw new AzError(`(${code}) ${message}`, { args, code, exitCode: 1 });
};

/** Answers of one call after the other; the last one is repeated. */
export function inTurn(...answers: readonly unknown[]) {
  let next = 0;
  return (args: readonly string[]): unknown => {
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    return typeof answer === 'function' ? answer(args) : answer;
  };
}

/** Tools without a clock; `slept` has the seconds of each wait. */
export function createTools(): AzureTools & { readonly slept: readonly number[] } {
  const slept: number[] = [];
  return {
    slept,
    sleep: async (seconds, signal) => {
      signal.throwIfAborted();
      slept.push(seconds);
    },
    buildPackages: async () => 'built',
  };
}

/** What Run Command answers on Linux. https://learn.microsoft.com/azure/virtual-machines/linux/run-command#azure-cli */
export const printedOnLinux = (stdout: string, exitCode: number, stderr = '') => ({
  value: [
    {
      code: 'ProvisioningState/succeeded',
      displayStatus: 'Provisioning succeeded',
      level: 'Info',
      message: `Enable succeeded: \n[stdout]\n${stdout}\nacceptance-exit-code=${exitCode}\n\n[stderr]\n${stderr}`,
      time: null,
    },
  ],
});

export const platformFound = {
  resourceGroup: 'rg-seb-acceptance-k3x2ab-platform',
  settings: {
    fullyQualifiedNamespace: 'evhns-sebk3x2ab-1-abcdef.servicebus.windows.net',
    eventHubName: 'vm-lifecycle',
    logsIngestionEndpoint: 'https://dcr-sebk3x2ab-1-abcd.westeurope-1.ingest.monitor.azure.com',
    ruleId: 'dcr-00000000000000000000000000000000',
    streamName: 'Custom-VmLifecycle_CL',
    heartbeatStreamName: 'Custom-VmLifecycleBridge_CL',
    identityClientId: '22222222-2222-4222-8222-222222222222',
    identityResourceId: `/subscriptions/${subscriptionId}/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-sebk3x2ab`,
  },
  identityPrincipalId: '33333333-3333-4333-8333-333333333333',
};

const container = 'https://sebpkgk3x2ab.blob.core.windows.net/packages';
export const packagesFound = {
  account: 'sebpkgk3x2ab',
  accountResourceId: `/subscriptions/${subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/sebpkgk3x2ab`,
  container: 'packages',
  version: '0.2.0',
  configuration: `${container}/config.json`,
  linuxArchive: `${container}/scheduled-events-bridge-0.2.0-linux-x64.tar.gz`,
  debianPackage: `${container}/scheduled-events-bridge_0.2.0_amd64.deb`,
  windowsArchive: null,
};
