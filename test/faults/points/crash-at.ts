import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultPoint } from '../../../src/fault-point.ts';
import type { BridgeProcess } from '../../support/bridge-process.ts';
import { until } from '../../support/until.ts';
import type { FleetUnderTest, Vm } from '../fleet/fleet-under-test.ts';
import { pointCases } from './point-cases.ts';

/** A maintenance comes a minute after the start. */
const mostMs = 80_000;

/**
 * Starts a bridge that ends at the fault point when it passes it for the `passing`th time, and waits for that. None runs afterwards.
 * @returns whether it got there.
 */
export async function crashAt(fleet: FleetUnderTest, vm: Vm, point: FaultPoint, passing = 1): Promise<boolean> {
  const { isOfSender = false, prepare, provoke } = pointCases[point];
  prepare?.(fleet, vm);
  const bridge = fleet.startBridge(vm, { BRIDGE_FAULT_POINT: `${point}:${passing}` });
  const over = new AbortController();
  try {
    await Promise.race([
      bridge.exited,
      sleep(mostMs, undefined, { signal: over.signal }),
      isOfSender ? senderDied(bridge) : bridge.exited,
      provoke?.(fleet, vm).then(() => bridge.exited) ?? bridge.exited,
    ]);
    const isDead = bridge.child.signalCode === 'SIGKILL';
    return isOfSender ? !isDead && bridge.log.some(isDeath) : isDead;
  } finally {
    over.abort();
    fleet.azure.logAnalytics.fault(null);
    await fleet.kill(vm);
  }
}

const isDeath = ({ code, msg }: BridgeProcess['log'][number]): boolean =>
  code === 'sender-exited' && msg.includes('SIGKILL');

const senderDied = (bridge: BridgeProcess): Promise<boolean> =>
  until(() => bridge.log.some(isDeath), { what: 'the end of a sender', timeoutMs: mostMs });
