import { judgeEnds } from './judge-ends.ts';
import { judgeFigures, judgePauseSum } from './judge-figures.ts';
import { judgeFleet, judgeIds } from './judge-fleet.ts';
import { judgeNumbers, judgeSteps } from './judge-steps.ts';
import type { Finding } from './kinds.ts';
import { observeLifecycle, stretchesOf } from './observed-lifecycle.ts';
import { type Account, observe } from './observer.ts';
import type { World } from './world.ts';

/** What the bridge said of one world, and what of it is wrong. */
export interface Verdict {
  readonly world: World;
  readonly accounts: readonly Account[];
  readonly findings: readonly Finding[];
}

/** A state that some events cannot explain. */
const mostStateBytes = 128 * 1024;

export function judge(world: World): Verdict {
  const accounts: Account[] = [];
  const findings: Finding[] = [];
  for (const vm of world.vms) {
    try {
      accounts.push(observe(world, vm));
    } catch (error) {
      findings.push({ kind: 'threw', event: '', vm: vm.name, atMs: 0, text: String((error as Error).stack) });
    }
  }
  for (const account of accounts) findings.push(...judgeAccount(world, account));
  findings.push(...judgeFleet(world, accounts), ...judgeIds(world, accounts));
  return { world, accounts, findings };
}

function judgeAccount(world: World, account: Account): Finding[] {
  const { vm, records, stateBytes } = account;
  const findings = [...judgeNumbers(account), ...judgePauseSum(account)];
  if (stateBytes > mostStateBytes) {
    findings.push({ kind: 'state-grows', event: '', vm: vm.name, atMs: world.lengthMs, text: `${stateBytes} bytes` });
  }
  const stretches = stretchesOf(account);
  for (const stream of new Set(stretches.map((stretch) => stretch.stream))) {
    const inStream = stretches.filter((stretch) => stretch.stream === stream);
    for (const event of world.events) {
      const key = event.id.toLowerCase();
      const ofEvent = records.filter(
        (recorded) => recorded.stream === stream && recorded.record.eventId.toLowerCase() === key,
      );
      const publishesAll = world.witnessRate === 1;
      const lifecycle = observeLifecycle(event, account, { stretches: inStream, records: ofEvent, publishesAll });
      const others = world.events.filter((other) => other !== event);
      findings.push(
        ...judgeSteps(event, account, lifecycle, ofEvent),
        ...judgeEnds(event, account, { world, lifecycle }),
        ...judgeFigures(event, account, { lifecycle, records: ofEvent, others }),
      );
    }
  }
  return findings;
}
