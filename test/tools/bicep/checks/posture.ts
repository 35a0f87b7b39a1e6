import { type Check, type Finding, finding } from '../finding.ts';
import { objectOf, typeAndVersion } from '../resource-shape.ts';
import type { Scope } from '../scope.ts';
import { declared, type Expression, type Output, type Parameter, type Resource } from '../syntax.ts';
import { walk } from '../walk.ts';

/** What a resource of a type must say of its safety. */
interface Posture {
  readonly type: string;
  readonly path: string;
  readonly is: string | boolean;
  readonly why: string;
}
const hub = 'Microsoft.EventHub/namespaces';
const workspace = 'Microsoft.OperationalInsights/workspaces';
const storage = 'Microsoft.Storage/storageAccounts';
const noKeys = 'keys are not used';
const oldTls = 'older versions are not safe';
const postures: readonly Posture[] = [
  { type: hub, path: 'properties.disableLocalAuth', is: true, why: noKeys },
  { type: hub, path: 'properties.minimumTlsVersion', is: '1.2', why: oldTls },
  { type: workspace, path: 'properties.features.disableLocalAuth', is: true, why: noKeys },
  { type: storage, path: 'properties.allowSharedKeyAccess', is: false, why: noKeys },
  { type: storage, path: 'properties.minimumTlsVersion', is: 'TLS1_2', why: oldTls },
  { type: storage, path: 'properties.allowBlobPublicAccess', is: false, why: 'nothing in it is public' },
  { type: storage, path: 'properties.supportsHttpsTrafficOnly', is: true, why: 'nothing is sent in clear' },
];

/** Types that are keys. */
const keys = /\/(authorizationRules|sharedKeys)$/i;
/** Of an extension, what may hold a secret. */
const mayBeSecret = /^(commandToExecute|fileUris|script|storageAccountKey|storageAccountName|managedIdentity)$/;
/** Names that a secret goes by. */
const soundsSecret = /(password|secret|connectionString|accessKey|sasToken)$/i;

/** No local authentication, TLS 1.2, no keys, no secrets in outputs; settings that may hold a secret are protected. */
export const posture: Check = ({ file, scope }) => [
  ...declared(file, 'resource').flatMap((resource) => [...ofResource(resource), ...ofExtension(resource)]),
  ...declared(file, 'output').flatMap((output) => ofOutput(output, scope)),
  ...declared(file, 'param').flatMap(ofParameter),
];

const isSecure = ({ decorators }: Pick<Parameter, 'decorators'>): boolean =>
  decorators.some(({ name }) => name === 'secure');

function at(expression: Expression | null, path: string): Expression | null {
  const [key = '', ...rest] = path.split('.');
  if (expression?.kind !== 'object') return null;
  const value = expression.entries.find((entry) => entry.key === key)?.value ?? null;
  return rest.length === 0 ? value : at(value, rest.join('.'));
}

function ofResource({ typeName, name, line, existing, body }: Resource): Finding[] {
  const { type } = typeAndVersion(typeName);
  if (keys.test(type)) return [finding(line, 'no-keys', `${name} is a key: identities and roles are used here`)];
  return postures.flatMap((wanted) => {
    if (existing || wanted.type !== type) return [];
    const value = at(objectOf(body), wanted.path);
    const is = value?.kind === 'boolean' ? value.value : value?.kind === 'text' ? value.parts.join('') : null;
    if (is === wanted.is) return [];
    const what = `${name}: ${wanted.path} must be ${wanted.is}: ${wanted.why}`;
    return [finding(value?.line ?? line, 'posture', what)];
  });
}

function ofExtension({ typeName, name, body }: Resource): Finding[] {
  const settings = /\/extensions@/i.test(typeName) ? at(objectOf(body), 'properties.settings') : null;
  if (settings?.kind !== 'object') return [];
  return settings.entries.flatMap(({ key, line }) => {
    if (key === null || !mayBeSecret.test(key)) return [];
    return [finding(line, 'protect-commandtoexecute-secrets', `${name}: ${key} belongs in protectedSettings`)];
  });
}

function ofOutput({ name, value, line }: Output, scope: Scope): Finding[] {
  const reasons = soundsSecret.test(name) ? ['it sounds like a secret'] : [];
  walk(value, scope, (part) => {
    const statement = part.kind === 'name' ? scope.declaration(part.name) : null;
    if (statement?.kind === 'param' && isSecure(statement)) reasons.push(`${statement.name} is secure`);
  });
  return reasons.map((why) =>
    finding(line, 'outputs-should-not-contain-secrets', `${name}: ${why}: outputs are kept in clear`),
  );
}

function ofParameter(parameter: Parameter): Finding[] {
  const { name, line, type, value } = parameter;
  const isEmpty = value === null || (value.kind === 'text' && value.parts.join('') === '');
  if (isSecure(parameter)) {
    const what = `${name} is secure: anyone who reads the file would see its default`;
    return isEmpty ? [] : [finding(line, 'secure-parameter-default', what)];
  }
  if (type.kind !== 'name' || type.name !== 'string' || !soundsSecret.test(name)) return [];
  return [
    finding(line, 'secure-secrets-in-params', `${name} sounds like a secret: @secure() keeps it out of the logs`),
  ];
}
