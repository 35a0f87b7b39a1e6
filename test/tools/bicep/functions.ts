import { any, anyObject, arrayOf, bool, int, type Shape, string } from './shape.ts';

/** A function of Bicep: how many values it takes, and what it gives. */
export interface BicepFunction {
  readonly takes: readonly [least: number, most: number];
  /** Of the shapes given. */
  readonly gives: (given: readonly Shape[]) => Shape;
}

const many = 100;
const fixed =
  (shape: Shape) =>
  (least: number, most = least): BicepFunction => ({ takes: [least, most], gives: () => shape });
const text = fixed(string);
const number = fixed(int);
const yes = fixed(bool);
const whatever = fixed(any);
const items = fixed(arrayOf(any));
const object = fixed(anyObject);

const same = (least: number, most = least): BicepFunction => ({
  takes: [least, most],
  gives: ([first]) => (first?.kind === 'array' ? arrayOf(first.of) : first?.kind === 'string' ? string : any),
});
const one = (least: number, most = least): BicepFunction => ({
  takes: [least, most],
  gives: ([first]) => (first?.kind === 'array' ? first.of : any),
});

/** An object of which these properties are known, all text unless stated. */
function record(name: string, keys: readonly string[], others: Readonly<Record<string, Shape>> = {}): Shape {
  const shapes = [...keys.map((key) => [key, string] as const), ...Object.entries(others)];
  const properties = shapes.map(([key, shape]) => [key, { shape, required: true, readOnly: false }] as const);
  return { kind: 'object', name, properties: new Map(properties), rest: null };
}
const properties = anyObject;
const tags = anyObject;

/** https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-functions-deployment#environment */
const environment = record(
  'environment()',
  [
    'name',
    'resourceManager',
    'portal',
    'gallery',
    'graph',
    'graphAudience',
    'media',
    'batch',
    'vmImageAliasDoc',
  ].concat('activeDirectoryDataLake', 'sqlManagement'),
  {
    authentication: record('authentication', ['loginEndpoint', 'tenant', 'identityProvider'], {
      audiences: arrayOf(string),
    }),
    suffixes: record('suffixes', [
      'acrLoginServer',
      'azureDatalakeAnalyticsCatalogAndJob',
      'azureDatalakeStoreFileSystem',
      'keyvaultDns',
      'sqlServerHostname',
      'storage',
    ]),
  },
);
const group = record('resourceGroup()', ['id', 'name', 'type', 'location', 'managedBy'], { tags, properties });
const subscription = record('subscription()', [
  'id',
  'subscriptionId',
  'tenantId',
  'displayName',
  'authorizationSource',
]);
const tenant = record('tenant()', ['id', 'tenantId', 'displayName', 'name', 'type', 'country', 'countryCode']);
const managementGroup = record('managementGroup()', ['id', 'name', 'type'], { properties });
const deployment = record('deployment()', ['name', 'location', 'id'], { properties });

/** https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-functions */
export const functions: Readonly<Record<string, BicepFunction>> = {
  any: whatever(1),
  array: items(1),
  base64: text(1),
  base64ToJson: whatever(1),
  base64ToString: text(1),
  bool: yes(1),
  cidrHost: text(2),
  cidrSubnet: text(3),
  concat: same(1, many),
  contains: yes(2),
  dataUri: text(1),
  dataUriToString: text(1),
  dateTimeAdd: text(2, 3),
  dateTimeFromEpoch: text(1),
  dateTimeToEpoch: number(1),
  deployer: fixed(record('deployer()', ['tenantId', 'objectId', 'userPrincipalName']))(0),
  deployment: fixed(deployment)(0),
  empty: yes(1),
  endsWith: yes(2),
  environment: fixed(environment)(0),
  extensionResourceId: text(3, many),
  fail: whatever(1),
  filter: same(2),
  first: one(1),
  flatten: {
    takes: [1, 1],
    gives: ([first]) => (first?.kind === 'array' && first.of.kind === 'array' ? first.of : any),
  },
  format: text(2, many),
  groupBy: object(2),
  guid: text(1, many),
  indexOf: number(2),
  int: number(1),
  intersection: whatever(2, many),
  items: fixed(arrayOf(record('items()', ['key'], { value: any })))(1),
  join: text(2),
  json: whatever(1),
  last: one(1),
  lastIndexOf: number(2),
  length: number(1),
  loadFileAsBase64: text(1),
  loadJsonContent: whatever(1, 3),
  loadTextContent: text(1, 2),
  loadYamlContent: whatever(1, 3),
  managementGroup: fixed(managementGroup)(0, 1),
  managementGroupResourceId: text(2, many),
  map: items(2),
  mapValues: object(2),
  max: number(1, many),
  min: number(1, many),
  nameof: text(1),
  newGuid: text(0),
  objectKeys: fixed(arrayOf(string))(1),
  padLeft: text(2, 3),
  parseCidr: object(1),
  pickZones: fixed(arrayOf(string))(3, 5),
  range: fixed(arrayOf(int))(2),
  readCliArg: text(1),
  readEnvironmentVariable: text(1, 2),
  reduce: whatever(3),
  reference: whatever(1, 3),
  replace: text(3),
  resourceGroup: fixed(group)(0, 2),
  resourceId: text(2, many),
  shallowMerge: whatever(1),
  skip: same(2),
  sort: same(1, 2),
  split: fixed(arrayOf(string))(2),
  startsWith: yes(2),
  string: text(1),
  subscription: fixed(subscription)(0, 1),
  subscriptionResourceId: text(2, many),
  substring: text(2, 3),
  take: same(2),
  tenant: fixed(tenant)(0),
  tenantResourceId: text(2, many),
  toLower: text(1),
  toObject: object(2, 3),
  toUpper: text(1),
  trim: text(1),
  union: whatever(2, many),
  uniqueString: text(1, many),
  uri: text(2),
  uriComponent: text(1),
  uriComponentToString: text(1),
  utcNow: text(0, 1),
};
