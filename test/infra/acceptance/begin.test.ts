import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { testDirectory } from '../../support/test-directory.ts';
import { startCommand } from './command.ts';
import { createFakeAzure } from './fake-azure.ts';

const inAzure = ['--subscription', 'Contoso test', '--location', 'westeurope'];

test.for([
  { name: 'no Azure CLI', azure: undefined, args: inAzure, message: 'The Azure CLI is not in PATH' },
  {
    name: 'not logged in',
    azure: () => {
      const azure = createFakeAzure();
      azure.refuse('account show', "Please run 'az login' to setup account.");
      return azure;
    },
    args: inAzure,
    message: 'not logged in: run az login',
  },
  {
    name: 'no Bicep',
    azure: () => {
      const azure = createFakeAzure();
      azure.refuse('bicep version', 'Bicep CLI not found. Install it now by running "az bicep install".');
      return azure;
    },
    args: inAzure,
    message: 'run az bicep install',
  },
  {
    name: 'another tenant than the current one of the Azure CLI',
    azure: createFakeAzure,
    args: ['--subscription', 'of a guest', '--location', 'westeurope'],
    message: `than the current one of the Azure CLI: run az account set --subscription of a guest`,
  },
  {
    name: 'another cloud',
    azure: createFakeAzure,
    args: ['--subscription', 'in China', '--location', 'chinaeast'],
    message: 'is in AzureChinaCloud; a run is written for AzureCloud only',
  },
  {
    name: 'an unknown subscription',
    azure: createFakeAzure,
    args: ['--subscription', 'gone', '--location', 'westeurope'],
    message: 'has no subscription gone',
  },
  {
    name: 'an unknown region',
    azure: createFakeAzure,
    args: ['--subscription', 'x', '--location', 'westeurop'],
    message: 'no region westeurop. Did you mean westeurope?',
  },
])('ends with exit code 3 and creates nothing: $name', async ({ azure, args, message }) => {
  const folder = testDirectory('acceptance');
  const command = startCommand([...args, '--folder', folder], { azure: azure?.() });
  expect(await command.ended).toBe(3);
  expect(command.errors()).toMatch(message);
  expect(readdirSync(folder)).toEqual([]);
});
