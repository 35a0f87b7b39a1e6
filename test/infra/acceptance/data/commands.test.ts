import { expect, test } from 'vitest';
import { listAlertRules } from '../../../../infra/acceptance/azure/commands.ts';
import { patchQueryRule, showQueryRule } from '../../../../infra/acceptance/data/commands.ts';
import { readTree } from '../../../support/source-tree.ts';

const run = { subscription: 's' };

/** https://learn.microsoft.com/azure/templates/microsoft.insights/2026-03-01/scheduledqueryrules: the kind is not in version 2023-12-01. */
test('rules that look at each row are read and changed by the version of the API that has their kind', () => {
  const template = readTree('bicep/modules/alerts.bicep').get('bicep/modules/alerts.bicep') ?? '';
  const [, deployed] = /scheduledQueryRules@([\d-]+)'[^@]*kind: 'SimpleLogAlert'/.exec(template) ?? [];
  const calls = [listAlertRules(run, 'g'), showQueryRule(run, '/rule'), patchQueryRule(run, '/rule', 'body.json')];
  expect(calls.map((args) => /api-version=([\d-]+)/.exec(args.join(' '))?.[1])).toEqual(calls.map(() => deployed));
});
