import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { environmentName } from '../../../src/config/options.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { options } from '../../../src/config.ts';
import { healthRoutes } from '../../../src/health/health.ts';
import { root } from '../../support/source-tree.ts';

const folder = 'infra/kubernetes';
const textOf = (name: string): string => readFileSync(join(root, folder, name), 'utf8');

/** What is below a path of keys and indices; undefined: nothing. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (below, key) =>
      typeof below === 'object' && below !== null
        ? (below as Readonly<Record<string | number, unknown>>)[key]
        : undefined,
    value,
  );
}
const listAt = (value: unknown, ...path: readonly (string | number)[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

function documentsOf(name: string): unknown[] {
  return parseAllDocuments(textOf(name), { strict: true, uniqueKeys: true }).map((document) => {
    expect([...document.errors, ...document.warnings], name).toEqual([]);
    return document.toJS();
  });
}

const kustomization = documentsOf('kustomization.yaml')[0];
const resourceFiles = listAt(kustomization, 'resources').map(String);
const resources = resourceFiles.flatMap(documentsOf);
const ofKind = (kind: string): unknown => {
  const found = resources.filter((resource) => at(resource, 'kind') === kind);
  expect(found, kind).toHaveLength(1);
  return found[0];
};
const daemonSet = ofKind('DaemonSet');
const pod = at(daemonSet, 'spec', 'template', 'spec');
const [bridge] = listAt(pod, 'containers');
const [own] = listAt(pod, 'initContainers');
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');

/** https://github.com/willthames/kubernetes-validate: the schemas of Kubernetes itself. `test/scanners/prepare` fetches it. */
const validator = join(root, 'node_modules/.cache/scanners/bin/kubernetes-validate');
const there = spawnSync(validator, ['--version'], { encoding: 'utf8' });
const missing = there.error?.message ?? (there.status === 0 ? null : `exit code ${there.status}`);
if (missing !== null) {
  console.warn(`  skipped: what the schemas of Kubernetes say (${missing}); test/scanners/prepare fetches them`);
}

describe.skipIf(missing)('the schemas of Kubernetes', () => {
  const judge = (input: string, version: string) =>
    spawnSync(validator, ['--strict', '--kubernetes-version', version, '-'], { input, encoding: 'utf8' });

  test.for(['1.31.0', '1.34.0', '1.37.0'])('know every field of the manifests, in %s', (version) => {
    for (const name of resourceFiles) {
      const { status, stdout, stderr } = judge(textOf(name), version);
      expect(status, stdout + stderr).toBe(0);
    }
  });

  test('know no field that is misspelled', () => {
    expect(judge(textOf('daemon-set.yaml').replace('hostNetwork:', 'hostNetworks:'), '1.37.0').status).not.toBe(0);
  });
});

const facts: readonly {
  readonly fact: string;
  readonly of?: unknown;
  readonly path: readonly (string | number)[];
  readonly is: unknown;
}[] = [
  { fact: 'it has the network of the node, where the metadata service is', path: ['hostNetwork'], is: true },
  { fact: 'names are resolved as on the node', path: ['dnsPolicy'], is: 'Default' },
  { fact: 'no variable of a Service looks like an option', path: ['enableServiceLinks'], is: false },
  { fact: 'it has no token of the cluster', path: ['automountServiceAccountToken'], is: false },
  { fact: 'it is put on every node', path: ['tolerations'], is: [{ operator: 'Exists' }] },
  { fact: 'it has as long to stop as the unit gives it', path: ['terminationGracePeriodSeconds'], is: 30 },
  { fact: 'it is not root', path: ['securityContext', 'runAsNonRoot'], is: true },
  { fact: 'its calls are filtered', path: ['securityContext', 'seccompProfile', 'type'], is: 'RuntimeDefault' },
  { fact: 'it does not see the processes of the node', path: ['hostPID'], is: undefined },
  { fact: 'its root cannot be written', of: bridge, path: ['securityContext', 'readOnlyRootFilesystem'], is: true },
  { fact: 'it gains no rights', of: bridge, path: ['securityContext', 'allowPrivilegeEscalation'], is: false },
  { fact: 'it has no capability', of: bridge, path: ['securityContext', 'capabilities'], is: { drop: ['ALL'] } },
  {
    fact: 'it may take as much memory as under the unit',
    of: bridge,
    path: ['resources', 'limits', 'memory'],
    is: '320Mi',
  },
  {
    fact: 'it may take as much processor as under the unit',
    of: bridge,
    path: ['resources', 'limits', 'cpu'],
    is: '500m',
  },
  {
    fact: 'only the owner of the state may transfer it',
    of: own,
    path: ['securityContext', 'capabilities'],
    is: { drop: ['ALL'], add: ['CHOWN'] },
  },
  {
    fact: 'the first container gains no rights',
    of: own,
    path: ['securityContext', 'allowPrivilegeEscalation'],
    is: false,
  },
  {
    fact: 'the first container is root, whose the directory is',
    of: own,
    path: ['securityContext', 'runAsUser'],
    is: 0,
  },
  {
    fact: 'the first container sees the state of the node, and nothing else of it',
    of: own,
    path: ['volumeMounts'],
    is: [{ name: 'state', mountPath: '/var/lib/scheduled-events-bridge' }],
  },
  {
    fact: 'the root of the first container cannot be written either',
    of: own,
    path: ['securityContext', 'readOnlyRootFilesystem'],
    is: true,
  },
];

test.each(facts)('$fact, in the pod', ({ of = pod, path, is }) => {
  expect(at(of, ...path)).toEqual(is);
});

test('another configuration or image goes to a tenth of the nodes at a time, and can be taken back', () => {
  const spec = at(daemonSet, 'spec');
  expect(at(spec, 'updateStrategy')).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } });
  expect(at(spec, 'minReadySeconds')).toBeGreaterThan(0);
  expect(at(spec, 'revisionHistoryLimit')).toBeGreaterThan(1);
});

test('it runs as the user of the image, whose number is not that of root', () => {
  const [, user, group] = /^USER (\d+):(\d+)$/gm.exec(dockerfile.slice(dockerfile.lastIndexOf('\nFROM'))) ?? [];
  expect(at(pod, 'securityContext')).toMatchObject({ runAsUser: Number(user), runAsGroup: Number(group) });
  expect(Number(user)).toBeGreaterThan(0);
});

test('labels, selectors, references and resources have the same names', () => {
  const labels = at(daemonSet, 'spec', 'template', 'metadata', 'labels');
  expect(labels).toMatchObject(at(daemonSet, 'spec', 'selector', 'matchLabels') as object);
  expect(at(pod, 'serviceAccountName')).toBe(at(ofKind('ServiceAccount'), 'metadata', 'name'));
  expect(at(pod, 'priorityClassName')).toBe(at(ofKind('PriorityClass'), 'metadata', 'name'));
  const namespace = at(ofKind('Namespace'), 'metadata', 'name');
  for (const resource of [daemonSet, ofKind('ServiceAccount')])
    expect(at(resource, 'metadata', 'namespace')).toBe(namespace);
  expect(at(kustomization, 'namespace')).toBe(namespace);
  const [map] = listAt(kustomization, 'configMapGenerator');
  const volumes = listAt(pod, 'volumes');
  expect(volumes.map((volume) => at(volume, 'configMap', 'name')).filter(Boolean)).toEqual([at(map, 'name')]);
  const named = volumes.map((volume) => at(volume, 'name'));
  const mounted = [bridge, own].flatMap((container) =>
    listAt(container, 'volumeMounts').map((mount) => at(mount, 'name')),
  );
  expect(new Set(mounted)).toEqual(new Set(named));
  const [image] = listAt(kustomization, 'images');
  for (const container of [bridge, own]) expect(at(container, 'image')).toBe(at(image, 'name'));
  expect(at(image, 'newTag')).toBe(manifest.version);
});

test('state and configuration have the paths that the bridge uses, the state on the node', () => {
  const mounts = listAt(bridge, 'volumeMounts');
  const placeOf = (name: string): unknown =>
    at(
      mounts.find((mount) => at(mount, 'name') === name),
      'mountPath',
    );
  const volume = (name: string): unknown => listAt(pod, 'volumes').find((one) => at(one, 'name') === name);
  expect(placeOf('configuration')).toBe('/etc/scheduled-events-bridge');
  expect(placeOf('state')).toBe('/var/lib/scheduled-events-bridge');
  expect(at(volume('state'), 'hostPath')).toEqual({
    path: '/var/lib/scheduled-events-bridge',
    type: 'DirectoryOrCreate',
  });
  expect(at(volume('hyper-v'), 'hostPath', 'path')).toBe(placeOf('hyper-v'));
  const writable = mounts.filter((mount) => at(mount, 'readOnly') !== true).map((mount) => at(mount, 'name'));
  expect(writable).toEqual(['state']);
});

test('the probes ask the port that the bridge listens on, on the loopback of the node, for what it serves', () => {
  const [variable] = listAt(bridge, 'env');
  expect(at(variable, 'name')).toBe(environmentName('http.port'));
  expect(dockerfile).toContain(`${environmentName('http.port')}=${at(variable, 'value')}`);
  const probes = { livenessProbe: '/livez', readinessProbe: '/readyz' };
  for (const [probe, path] of Object.entries(probes)) {
    expect(at(bridge, probe, 'httpGet')).toEqual({ host: '127.0.0.1', port: Number(at(variable, 'value')), path });
    expect(Object.keys(healthRoutes)).toContain(path);
  }
});

test('it avoids nodes on which the bridge is installed, and nodes that it cannot run on', () => {
  const terms = listAt(
    pod,
    ...['affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'],
  );
  expect(terms).toHaveLength(1);
  expect(listAt(terms[0], 'matchExpressions')).toEqual([
    { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
    { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] },
    { key: 'type', operator: 'NotIn', values: ['virtual-kubelet'] },
    { key: 'scheduled-events-bridge', operator: 'NotIn', values: ['installed'] },
  ]);
});

describe('the configuration that is shipped', () => {
  const [file] = listAt(kustomization, 'configMapGenerator', 0, 'files').map(String);
  const value: unknown = JSON.parse(textOf(file ?? ''));
  const variables = Object.fromEntries(listAt(bridge, 'env').map((one) => [at(one, 'name'), at(one, 'value')]));
  const read = (more: object = {}) =>
    readConfig({
      documents: [{ value: { ...(value as object), ...more }, source: 'config.json', keepsSecrets: false }],
      env: { ...variables, KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      defaultStateDirectory: '/var/lib/scheduled-events-bridge',
    });

  test('has the name that the bridge uses, and is valid in a pod', () => {
    expect(file).toBe('config.json');
    expect(read().problems).toBeUndefined();
    expect(read().config).toMatchObject({ http: { port: 9842 }, sinks: { stdout: null } });
    expect(read().config?.identity.clientId).not.toBeNull();
  });

  test('approves nothing: no key and no variable of it enables approvals', () => {
    expect(value).not.toHaveProperty('approve');
    const approving = options
      .filter(({ path }) => path.startsWith('approve.'))
      .map(({ path }) => environmentName(path));
    expect(approving.length).toBeGreaterThan(0);
    expect(Object.keys(variables).filter((name) => approving.includes(name))).toEqual([]);
  });

  test('is refused when it enables approvals', () => {
    expect(read({ approve: { userInitiated: true } }).problems).toEqual([
      expect.stringMatching(/^approve\.userInitiated is true in config\.json: remove it\. This is a pod of Kubernetes/),
    ]);
  });
});
