import { expect, test } from 'vitest';
import { evaluateFile } from '../tools/bicep/evaluate.ts';
import { textOf } from '../tools/bicep/files.ts';
import { createProject } from '../tools/bicep/project.ts';

const project = createProject(textOf, null);
const settings = {
  fullyQualifiedNamespace: 'n.servicebus.windows.net',
  eventHubName: 'h',
  logsIngestionEndpoint: 'https://e',
  ruleId: 'dcr-1',
  streamName: 'Custom-A_CL',
  heartbeatStreamName: 'Custom-B_CL',
  identityClientId: 'c',
  identityResourceId: '/id',
};

/** The property as the quick start sends it; null is left out of the request. */
function applicationProfile(delivery: string): unknown {
  const given = {
    settings,
    userInitiatedEvents: 'acceptDelay',
    delivery,
    source: '/app/versions/1.0.0',
    subnetResourceId: '/subnet',
  };
  const [machine] = evaluateFile(project, 'infra/vm.bicep', { ...given, sshPublicKey: 'ssh' }).bodies('virtualMachine');
  return Reflect.get(machine?.properties as object, 'applicationProfile');
}

test('a VM that gets the bridge by a script keeps the applications that a policy has added', () => {
  expect(applicationProfile('script')).toBeNull();
});

test('a VM that gets the bridge as an application names its version', () => {
  expect(applicationProfile('application')).toMatchObject({
    galleryApplications: [{ packageReferenceId: '/app/versions/1.0.0' }],
  });
});
