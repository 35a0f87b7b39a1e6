import { test as plain } from 'vitest';
import {
  type AzureSimulator,
  type AzureSimulatorOptions,
  startAzureSimulator,
} from '../../src/azure-simulator/index.ts';
import {
  type BridgeConfiguration,
  type BridgeProcess,
  configurationFor,
  type StartOptions,
  startBridge,
  temporaryDirectory,
} from './bridge-process.ts';

/** Starts a bridge on the Azure and in the directory of its test, for `web_0` by default. */
export type StartBridge = (
  more?: BridgeConfiguration,
  options?: StartOptions & { readonly vm?: string },
) => BridgeProcess;

/**
 * A test with an Azure and a state directory of its own, so that the tests of one file run at the same time: an Azure takes 25 ms, the
 * waiting seconds. `test.override('simulator', …)` says how it is set up.
 */
export const test = plain
  .extend('simulator', {} as AzureSimulatorOptions)
  .extend('azure', async ({ simulator }, { onCleanup }): Promise<AzureSimulator> => {
    const azure = await startAzureSimulator(simulator);
    onCleanup(azure.close);
    return azure;
  })
  .extend('directory', async ({ task }, { onCleanup }): Promise<string> => {
    const directory = temporaryDirectory(task.id);
    onCleanup(() => directory[Symbol.dispose]());
    return directory.path;
  })
  .extend('start', async ({ azure, directory }, { onCleanup }): Promise<StartBridge> => {
    const bridges: BridgeProcess[] = [];
    onCleanup(async () => {
      for (const bridge of bridges) bridge.kill('SIGKILL');
      await Promise.all(bridges.map(({ exited }) => exited));
    });
    return (more = {}, { vm = 'web_0', ...options } = {}) => {
      const bridge = startBridge(configurationFor(azure, vm, directory, more), options);
      bridges.push(bridge);
      return bridge;
    };
  });
