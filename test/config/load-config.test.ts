import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { sinks } from '../../src/sinks/registry.ts';
import { connectionString, load, stdout } from './load.ts';

const directory = mkdtempSync(join(tmpdir(), 'config-'));
afterAll(() => rmSync(directory, { recursive: true }));

const noSinks = Object.fromEntries(sinks.map(({ key }) => [key, null]));
const eventHubs = { fullyQualifiedNamespace: 'x.servicebus.windows.net', eventHubName: 'vm-lifecycle' };

test('a file with one sink is a complete configuration', () => {
  const { config } = load(stdout);
  expect(config).toEqual({
    imds: {
      endpoint: 'http://169.254.169.254',
      apiVersion: '2020-07-01',
      pollIntervalSeconds: 1,
      timeoutSeconds: 10,
      firstTimeoutSeconds: 130,
    },
    observer: { tags: [] },
    scope: { witnessRate: 0 },
    stateDirectory: '/var/lib/scheduled-events-bridge',
    outbox: { maxMegabytes: 256 },
    identity: { clientId: null },
    sinks: { ...noSinks, stdout: {} },
    tls: { caFile: null },
    proxy: null,
    approve: { userInitiated: false, freezeUpToSeconds: null, onBehalfOf: [], onBehalfAfterSeconds: 60 },
    heartbeat: { everyMinutes: 60, streamName: 'Custom-VmLifecycleBridge_CL', eventHubs: false },
    http: { port: 0 },
    log: { level: 'info' },
  });
});

test('an optional section gets its own defaults', () => {
  const { config } = load({ sinks: { eventHubs }, proxy: null });
  expect(config?.sinks.eventHubs).toEqual({
    ...eventHubs,
    connectionString: null,
    customEndpoint: null,
    transport: 'amqp',
    idleCloseSeconds: 10,
    connectJitterSeconds: 0,
  });
  expect(config?.proxy).toBeNull();
});

test('a variable overrides the file, and an empty one is ignored', () => {
  const { config } = load(
    { ...stdout, log: { level: 'debug' }, stateDirectory: '/from/file' },
    { env: { SCHEDULED_EVENTS_BRIDGE_LOG_LEVEL: 'warn', SCHEDULED_EVENTS_BRIDGE_STATE_DIRECTORY: '' } },
  );
  expect(config?.log.level).toBe('warn');
  expect(config?.stateDirectory).toBe('/from/file');
});

test('variables alone make a configuration, including their sections', () => {
  const { config } = load(
    {},
    {
      env: {
        SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_FULLY_QUALIFIED_NAMESPACE: 'x.servicebus.windows.net',
        SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_EVENT_HUB_NAME: 'hub',
        SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_IDLE_CLOSE_SECONDS: '5',
        SCHEDULED_EVENTS_BRIDGE_OBSERVER_TAGS: 'owner,environment',
        SCHEDULED_EVENTS_BRIDGE_OBSERVER_VM_NAME: 'web_3',
        SCHEDULED_EVENTS_BRIDGE_CONFIG: '/not/looked/at',
        PATH: '/bin',
      },
    },
  );
  expect(config?.sinks.eventHubs).toMatchObject({ eventHubName: 'hub', idleCloseSeconds: 5 });
  expect(config?.observer).toEqual({ tags: ['owner', 'environment'], vmName: 'web_3' });
});

test('$schema and $comment are accepted and set nothing', () => {
  const { config } = load({
    $schema: './configuration.v1.json',
    $comment: ['first line', 'second line'],
    sinks: { $comment: 'where records go', stdout: {} },
    identity: { $comment: 'the only one of the VM', clientId: null },
    log: { $comment: null },
  });
  expect(config?.sinks).toEqual({ ...noSinks, stdout: {} });
  expect(config?.log).toEqual({ level: 'info' });
});

const wrong: readonly {
  name: string;
  content: unknown;
  env?: NodeJS.ProcessEnv;
  mode?: number;
  problems: readonly string[];
}[] = [
  {
    name: 'all problems are reported at once, with key, value, origin and expectation',
    content: { imds: { pollIntervalSeconds: 0.2, apiVersion: '2024-01-01' }, scope: { witnessRate: 2 }, ...stdout },
    env: { SCHEDULED_EVENTS_BRIDGE_LOG_LEVEL: 'loud' },
    problems: [
      'imds.apiVersion is "2024-01-01" in FILE: expected one of 2017-03-01, 2017-08-01, 2017-11-01, 2019-01-01, 2019-04-01, 2019-08-01, 2020-07-01.',
      'imds.pollIntervalSeconds is 0.2 in FILE: expected a number from 1 to 5 (seconds).',
      'scope.witnessRate is 2 in FILE: expected a number from 0 to 1.',
      'log.level is "loud" in the environment variable SCHEDULED_EVENTS_BRIDGE_LOG_LEVEL: expected one of debug, info, warn, error.',
    ],
  },
  {
    name: 'an unknown key is reported with the closest one',
    content: { ...stdout, stateDir: '/x', imds: { pollInterval: 2, endpiont: 'auto' } },
    problems: [
      'stateDir is not an option (in FILE); did you mean stateDirectory?',
      'imds.pollInterval is not an option (in FILE); did you mean imds.pollIntervalSeconds?',
      'imds.endpiont is not an option (in FILE); did you mean imds.endpoint?',
    ],
  },
  {
    name: 'an unknown key that is similar to none is reported with the existing keys',
    content: { ...stdout, log: { destinationFile: '/x' } },
    problems: ['log.destinationFile is not an option (in FILE); expected one of log.level.'],
  },
  {
    name: 'a section that is not an object is refused',
    content: { ...stdout, imds: 'auto' },
    problems: [
      'imds is text in FILE: expected an object with endpoint, apiVersion, pollIntervalSeconds, timeoutSeconds, firstTimeoutSeconds.',
    ],
  },
  {
    name: 'a $schema or $comment that is not text is refused',
    content: { ...stdout, $schema: ['x'], imds: { $comment: 5, $schema: 'x' }, log: { $comment: ['x', 5] } },
    problems: [
      '$schema is a list in FILE: expected the address of a JSON Schema.',
      'imds.$comment is a number in FILE: expected text, or a list of texts.',
      expect.stringContaining('imds.$schema is not an option'),
      'log.$comment is a list in FILE: expected text, or a list of texts.',
    ],
  },
  {
    name: 'an unknown variable is reported with the closest one',
    content: stdout,
    env: { SCHEDULED_EVENTS_BRIDGE_LOGLEVEL: 'debug' },
    problems: [
      'SCHEDULED_EVENTS_BRIDGE_LOGLEVEL is not an option (in the environment); did you mean SCHEDULED_EVENTS_BRIDGE_LOG_LEVEL?',
    ],
  },
  {
    name: 'a key that is similar only to the section of another key gets no suggestion',
    content: { ...stdout, sinks: { http: { url: 'https://x/', key: 'k' } }, observer: { owner: 'me' } },
    problems: [
      'sinks.http.key is not an option (in FILE); expected one of sinks.http.url, sinks.http.mode, sinks.http.headerFile, sinks.http.tokenScope, sinks.http.allowInsecure.',
      expect.stringMatching(/^observer\.owner is not an option \(in FILE\); expected one of observer\.tags, /),
    ],
  },
  {
    name: 'a key that belongs in another section is reported with its place',
    content: { ...stdout, http: { url: 'https://x/' }, pollIntervalSeconds: 2 },
    problems: [
      'http.url is not an option (in FILE); did you mean sinks.http.url?',
      'pollIntervalSeconds is not an option (in FILE); did you mean imds.pollIntervalSeconds?',
    ],
  },
  {
    name: 'an unknown variable is reported with the closest one of its section',
    content: stdout,
    env: {
      SCHEDULED_EVENTS_BRIDGE_SINKS_HTTP_URI: 'x',
      SCHEDULED_EVENTS_BRIDGE_EVENT_HUBS_CONNECTIONSTRING: 'x',
      SCHEDULED_EVENTS_BRIDGE_OBSERVER_OWNER: 'x',
    },
    problems: [
      'SCHEDULED_EVENTS_BRIDGE_SINKS_HTTP_URI is not an option (in the environment); did you mean SCHEDULED_EVENTS_BRIDGE_SINKS_HTTP_URL?',
      'SCHEDULED_EVENTS_BRIDGE_EVENT_HUBS_CONNECTIONSTRING is not an option (in the environment); did you mean SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_CONNECTION_STRING?',
      'SCHEDULED_EVENTS_BRIDGE_OBSERVER_OWNER is not an option (in the environment); its name has to be SCHEDULED_EVENTS_BRIDGE_ and the key in upper snake case.',
    ],
  },
  {
    name: 'a wrong value is shown, with what may be secret in a URL left out',
    content: {
      ...stdout,
      imds: { endpoint: 'ftp://me@x:21/vm/0123456789abcdef?key=k' },
      identity: { clientId: 'mine' },
    },
    problems: [
      expect.stringMatching(/^imds\.endpoint is "ftp:\/\/…@x:21\/vm\/…\?…" in FILE/),
      'identity.clientId is "mine" in FILE: expected a GUID.',
    ],
  },
  {
    name: 'a wrong value of an option that only sounds secret is shown',
    content: { sinks: { http: { url: 'https://x/', tokenScope: 'https://x' } } },
    problems: ['sinks.http.tokenScope is "https://x" in FILE: expected a scope that ends with /.default.'],
  },
  {
    name: 'required keys of a section are reported when they are missing',
    content: { sinks: { logAnalytics: {} } },
    problems: [
      'sinks.logAnalytics.endpoint is missing: expected an https:// URL without a path.',
      'sinks.logAnalytics.ruleId is missing: expected the immutable id of a data collection rule, dcr- and 32 hex digits.',
    ],
  },
  {
    name: 'a configuration without a sink is refused',
    content: {},
    problems: [
      expect.stringMatching(
        /^There is no sink: expected at least one of sinks\.eventHubs, .*sinks\.logAnalytics and sinks\.stdout\.$/,
      ),
    ],
  },
  {
    name: 'an event hub without namespace and connection string is refused',
    content: { sinks: { eventHubs: { eventHubName: 'hub' } } },
    problems: [
      'sinks.eventHubs: expected exactly one of fullyQualifiedNamespace and connectionString; neither is set.',
    ],
  },
  {
    name: 'an event hub with both namespace and connection string is refused',
    content: { sinks: { eventHubs: { ...eventHubs, connectionString } } },
    problems: ['sinks.eventHubs: expected exactly one of fullyQualifiedNamespace and connectionString; both are set.'],
  },
  {
    name: 'a connection string for another event hub is refused',
    content: {
      sinks: { eventHubs: { connectionString: `${connectionString};EntityPath=other`, eventHubName: 'hub' } },
    },
    problems: [
      'sinks.eventHubs.eventHubName is "hub", but connectionString has the EntityPath "other": expected the same event hub in both.',
    ],
  },
  {
    name: 'a proxy with AMQP over TCP is refused',
    content: { sinks: { eventHubs }, proxy: { url: 'http://proxy:3128' } },
    problems: [
      'proxy is set, but sinks.eventHubs.transport is "amqp", which cannot go through a proxy: expected "amqp-ws", or no proxy.',
    ],
  },
  {
    name: 'a secret in a file that others can read is refused',
    content: { sinks: { eventHubs: { connectionString, eventHubName: 'hub' } } },
    mode: 0o644,
    problems: [
      'sinks.eventHubs.connectionString is a secret, and others can read FILE: expected a file that they cannot read (chmod o-rwx FILE), or the environment variable SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_CONNECTION_STRING.',
    ],
  },
  {
    name: 'freezes of more than 30 seconds cannot be approved automatically',
    content: { ...stdout, approve: { freezeUpToSeconds: 31 } },
    problems: ['approve.freezeUpToSeconds is 31 in FILE: expected a whole number from 0 to 30 (seconds).'],
  },
  {
    name: 'heartbeat and health port are validated',
    content: { ...stdout, heartbeat: { everyMinutes: -1 }, http: { port: 'x' } },
    problems: [
      'heartbeat.everyMinutes is -1 in FILE: expected a whole number from 0 to 1440.',
      'http.port is "x" in FILE: expected a whole number from 0 to 65535.',
    ],
  },
  {
    name: 'a document that is not an object is refused',
    content: '[]',
    problems: [
      expect.stringMatching(/^The configuration is a list in FILE: expected an object with imds, observer/),
      expect.stringContaining('no sink'),
    ],
  },
];

test.for(wrong)('$name', ({ content, env = {}, mode = 0o600, problems }) => {
  expect(load(content, { env, mode }).problems).toEqual(problems);
});

test('a connection string may come from a file that only its owner and group can read, or from a variable', () => {
  const sinks = { eventHubs: { eventHubName: 'hub' } };
  const env = { SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_CONNECTION_STRING: connectionString };
  expect(load({ sinks }, { env, mode: 0o644 }).config?.sinks.eventHubs?.connectionString).toBe(connectionString);
  const inFile = { eventHubs: { ...sinks.eventHubs, connectionString } };
  expect(load({ sinks: inFile }, { mode: 0o640 }).config?.sinks.eventHubs?.connectionString).toBe(connectionString);
});

test('a proxy with a password is accepted only from where others cannot read it, one without from everywhere', () => {
  const url = 'http://user:c2VjcmV0@proxy:3128';
  const env = { SCHEDULED_EVENTS_BRIDGE_PROXY_URL: url };
  expect(load(stdout, { env, mode: 0o644 }).config?.proxy?.url).toBe(url);
  expect(load({ ...stdout, proxy: { url } }, { mode: 0o640 }).config?.proxy?.url).toBe(url);
  expect(load({ ...stdout, proxy: { url } }, { mode: 0o644 }).problems).toEqual([
    expect.stringContaining('proxy.url is a secret, and others can read FILE'),
  ]);
  expect(load({ ...stdout, proxy: { url: 'http://user@proxy:3128' } }, { mode: 0o644 }).config).toBeDefined();
});

test('a named file must exist', () => {
  const missing = join(directory, 'missing.json');
  expect(loadConfig({ file: missing, env: {} }).problems).toEqual([
    `There is no configuration file ${missing}, which --config names: create it (scheduled-events-bridge config init writes one), or name another.`,
  ]);
  expect(loadConfig({ env: { SCHEDULED_EVENTS_BRIDGE_CONFIG: missing } }).problems).toEqual([
    `There is no configuration file ${missing}, which the environment variable SCHEDULED_EVENTS_BRIDGE_CONFIG names: create it (scheduled-events-bridge config init writes one), or name another.`,
  ]);
  expect(loadConfig({ file: directory, env: {} }).problems).toEqual([
    `The configuration file ${directory} cannot be read: it is a directory; name the file in it.`,
  ]);
});

test("the platform's default file may be missing if variables make a complete configuration", () => {
  const windows = { ProgramData: join(directory, 'ProgramData') };
  const loaded = loadConfig({ env: { ...windows, SCHEDULED_EVENTS_BRIDGE_SINKS_STDOUT: '{}' }, platform: 'win32' });
  expect(loaded).toMatchObject({ file: null, config: { sinks: { stdout: {} } } });
  expect(loaded.config?.stateDirectory).toBe(
    `${windows.ProgramData.replaceAll('/', '\\')}\\scheduled-events-bridge\\state`,
  );
});

test('without a file and without variables the missing file is the only problem reported', () => {
  const missing =
    /^There is no configuration file .*config.json: create it \(scheduled-events-bridge config init writes one\), or name another with --config or SCHEDULED_EVENTS_BRIDGE_CONFIG\.$/;
  const env = { ProgramData: join(directory, 'ProgramData') };
  expect(loadConfig({ env, platform: 'win32' }).problems).toEqual([expect.stringMatching(missing)]);
  const withVariable = { ...env, SCHEDULED_EVENTS_BRIDGE_LOG_LEVEL: 'warn' };
  expect(loadConfig({ env: withVariable, platform: 'win32' }).problems).toEqual([
    expect.stringContaining('There is no sink'),
    expect.stringMatching(missing),
  ]);
});

test('a missing file is no problem where variables name a sink', () => {
  const env = {
    ProgramData: join(directory, 'ProgramData'),
    SCHEDULED_EVENTS_BRIDGE_SINKS_STDOUT: '{}',
    SCHEDULED_EVENTS_BRIDGE_LOG_LEVEL: 'loud',
  };
  expect(loadConfig({ env, platform: 'win32' }).problems).toEqual([expect.stringMatching(/^log\.level is "loud" in /)]);
});

test.for([
  [
    'win32',
    '/var/lib/bridge',
    /^stateDirectory is "\/var\/lib\/bridge" in .*: expected an absolute path of Windows, such as .*\\state\.$/,
  ],
  ['win32', '\\state', /expected an absolute path of Windows/],
  ['win32', 'E:\\state', null],
  ['win32', 'E:/state', null],
  ['win32', '\\\\server\\share\\state', null],
  ['linux', 'C:\\state', /expected an absolute path of Linux, such as \/var\/lib\/scheduled-events-bridge\.$/],
  ['linux', '/state', null],
] as const)(
  'on %s the state directory %s is accepted or refused as a path of that system',
  ([platform, path, problem]) => {
    const file = join(directory, 'path.json');
    writeFileSync(file, JSON.stringify({ ...stdout, stateDirectory: path }));
    const { config, problems = [] } = loadConfig({ file, env: {}, platform });
    expect(config?.stateDirectory).toBe(problem === null ? path : undefined);
    if (problem) expect(problems).toEqual([expect.stringMatching(problem)]);
  },
);

test('the case of the names of variables does not matter on Windows', () => {
  const env = { ProgramData: join(directory, 'ProgramData'), Scheduled_Events_Bridge_Sinks_Stdout: '{}' };
  expect(loadConfig({ env, platform: 'win32' }).config?.sinks.stdout).toEqual({});
  expect(loadConfig({ env, platform: 'linux' }).config).toBeUndefined();
});

test('variables of Kubernetes for a Service with the name of the bridge are ignored', () => {
  const env = {
    SCHEDULED_EVENTS_BRIDGE_SERVICE_HOST: '10.0.0.11',
    SCHEDULED_EVENTS_BRIDGE_SERVICE_PORT: '9100',
    SCHEDULED_EVENTS_BRIDGE_SERVICE_PORT_METRICS: '9100',
    SCHEDULED_EVENTS_BRIDGE_PORT: 'tcp://10.0.0.11:9100',
    SCHEDULED_EVENTS_BRIDGE_PORT_9100_TCP: 'tcp://10.0.0.11:9100',
    SCHEDULED_EVENTS_BRIDGE_PORT_9100_TCP_PROTO: 'tcp',
  };
  expect(load(stdout, { env }).problems).toBeUndefined();
  const platform = { ProgramData: join(directory, 'ProgramData') };
  expect(loadConfig({ env: { ...env, ...platform }, platform: 'win32' }).problems).toEqual([
    expect.stringMatching(/^There is no configuration file/),
  ]);
});

test('settings from elsewhere override the file, and may hold secrets if they are protected', () => {
  const file = join(directory, 'base.json');
  writeFileSync(file, JSON.stringify({ sinks: { eventHubs: { eventHubName: 'hub' } }, log: { level: 'warn' } }));
  const documents = [
    { value: { log: { level: 'debug' } }, source: 'public settings', keepsSecrets: false },
    { value: { sinks: { eventHubs: { connectionString } } }, source: 'protected settings', keepsSecrets: true },
  ];
  const { config } = loadConfig({ file, env: {}, documents });
  expect(config).toMatchObject({
    log: { level: 'debug' },
    sinks: { eventHubs: { connectionString, eventHubName: 'hub' } },
  });
});
