import { expect, test } from 'vitest';
import { alertSteps } from '../../../../infra/acceptance/data/alert-steps.ts';
import { createContext, platformFound, refuse } from '../azure/step-context.ts';

const found = { platform: { ...platformFound, namespaceResourceId: '/subscriptions/s/namespaces/n' } };

function readMetrics(reply: unknown) {
  const step = alertSteps.find(({ id }) => id === 'read-metrics');
  if (step === undefined) throw new Error('There is no step read-metrics.');
  const { context, findings } = createContext([{ to: 'monitor metrics list', with: reply }], found);
  return { ended: step.run(context), findings };
}

/** As Azure Monitor answers to the name of a metric that a resource does not have. */
test('a metric that the namespace does not have refutes the assumption, with the words of Azure', async () => {
  const message =
    'Failed to find metric configuration for provider: Microsoft.EventHub, resource Type: namespaces, metric: CaptureBacklog, Valid metrics: IncomingMessages,ThrottledRequests';
  const { ended, findings } = readMetrics(refuse('BadRequest', message));
  await expect(ended).rejects.toThrow('metric: CaptureBacklog');
  expect(findings).toEqual([
    { assumption: 'alert-hub-metrics', verdict: 'refuted', evidence: expect.stringContaining(message) },
  ]);
});

test('metrics that cannot be read prove nothing about their names', async () => {
  const { ended, findings } = readMetrics(refuse('AuthorizationFailed', 'The client has no right to read metrics.'));
  await expect(ended).rejects.toThrow('AuthorizationFailed');
  expect(findings).toEqual([]);
});
