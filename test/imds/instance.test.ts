import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { observerFrom, parseInstance, parseTags } from '../../src/imds/instance.ts';

/** A VM of a uniform scale set, as version 2023-11-15 returns it. */
const compute = {
  azEnvironment: 'AzurePublicCloud',
  location: 'westeurope',
  name: 'web_3',
  offer: 'ubuntu-24_04-lts',
  osType: 'Linux',
  physicalZone: 'westeurope-az2',
  placementGroupId: 'f67c14ab-e92c-408c-ae2d-da15866ec79a',
  platformFaultDomain: '1',
  platformUpdateDomain: '3',
  priority: 'Spot',
  publisher: 'canonical',
  resourceGroupName: 'Web-RG',
  resourceId:
    '/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/Web-RG/providers/Microsoft.Compute/virtualMachineScaleSets/Web/virtualMachines/3',
  sku: 'server',
  subscriptionId: '11111111-2222-3333-4444-555555555555',
  tagsList: [
    { name: 'Owner', value: 'web-team' },
    { name: 'note', value: 'a:b;c' },
  ],
  version: '24.04.202602010',
  virtualMachineScaleSet: { id: '' },
  vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
  vmScaleSetName: 'Web',
  vmSize: 'Standard_D2s_v5',
  zone: '2',
};
const scaleSetId =
  '/subscriptions/11111111-2222-3333-4444-555555555555/resourcegroups/web-rg/providers/microsoft.compute/virtualmachinescalesets/web';

type Overrides = Parameters<typeof observerFrom>[1];

const observerOf = (metadata: unknown, overrides: Overrides = {}) =>
  observerFrom({ ...parseInstance(metadata), computer: 'web000003' }, overrides, {});

describe('the observer', () => {
  test('of a uniform scale set has the id of the set built from subscription, group and name', () => {
    expect(observerOf({ compute })).toEqual({
      computer: 'web000003',
      vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
      vmName: 'web_3',
      resourceId: compute.resourceId.toLowerCase(),
      subscriptionId: '11111111-2222-3333-4444-555555555555',
      resourceGroup: 'Web-RG',
      vmScaleSetName: 'Web',
      vmScaleSetResourceId: scaleSetId,
      placementGroupId: 'f67c14ab-e92c-408c-ae2d-da15866ec79a',
      location: 'westeurope',
      zone: '2',
      physicalZone: 'westeurope-az2',
      faultDomain: '1',
      updateDomain: '3',
      vmSize: 'Standard_D2s_v5',
      vmPriority: 'Spot',
      osType: 'Linux',
      imageReference: 'canonical:ubuntu-24_04-lts:server:24.04.202602010',
      azureEnvironment: 'AzurePublicCloud',
      tags: {},
    });
  });

  test('of a flexible scale set has the id from the service, and its name', () => {
    const id = '/subscriptions/s/resourceGroups/Other-RG/providers/Microsoft.Compute/virtualMachineScaleSets/Flex';
    const flexible = { ...compute, vmScaleSetName: '', virtualMachineScaleSet: { id } };
    expect(observerOf({ compute: flexible })).toMatchObject({
      vmScaleSetName: 'Flex',
      vmScaleSetResourceId: id.toLowerCase(),
    });
  });

  test('without a scale set has none', () => {
    const alone = { ...compute, vmScaleSetName: '', virtualMachineScaleSet: undefined };
    expect(observerOf({ compute: alone })).toMatchObject({ vmScaleSetName: null, vmScaleSetResourceId: null });
  });

  test('has null for "", and text for a number', () => {
    const sparse = {
      vmId: 'id',
      name: 'web_0',
      zone: '',
      platformFaultDomain: 0,
      location: ' ',
      osType: {},
      tagsList: 7,
    };
    const observer = observerOf({ compute: sparse });
    const { vmId, vmName, computer, faultDomain, tags, ...others } = observer ?? {};
    expect({ vmId, vmName, computer, faultDomain, tags }).toEqual({
      vmId: 'id',
      vmName: 'web_0',
      computer: 'web000003',
      faultDomain: '0',
      tags: {},
    });
    expect(new Set(Object.values(others))).toEqual(new Set([null]));
  });

  test.each([
    { what: 'no vmId', metadata: { compute: { ...compute, vmId: '' } } },
    { what: 'no name', metadata: { compute: { ...compute, name: undefined } } },
    { what: 'no compute', metadata: { network: {} } },
    { what: 'no object', metadata: 'web_3' },
    { what: 'null', metadata: null },
  ])('is not known from metadata with $what', ({ metadata }) => {
    expect(observerOf(metadata)).toBeNull();
  });
});

describe('images', () => {
  const image = (fields: object) => parseInstance({ compute: { ...fields } }).imageReference;

  test.each([
    { image: 'of a publisher', fields: { publisher: 'p', offer: 'o', sku: 's', version: 'v' }, expected: 'p:o:s:v' },
    { image: 'without a version', fields: { publisher: 'p', offer: 'o', sku: 's' }, expected: 'p:o:s:' },
    {
      image: 'that only the disk shows',
      fields: {
        publisher: '',
        storageProfile: { imageReference: { publisher: 'p', offer: 'o', sku: 's', version: 'v' } },
      },
      expected: 'p:o:s:v',
    },
    { image: 'of our own', fields: { publisher: '', offer: '', sku: '', version: '1.0' }, expected: null },
  ])('an image $image is $expected', ({ fields, expected }) => {
    expect(image(fields)).toBe(expected);
  });
});

describe('configured fields', () => {
  test('wins field by field', () => {
    const observer = observerOf({ compute }, { vmName: 'mock_1', zone: '9' });
    expect(observer).toMatchObject({ vmName: 'mock_1', zone: '9', vmId: compute.vmId, location: 'westeurope' });
  });

  test('makes an observer by itself', () => {
    expect(observerOf({}, { vmId: 'id', vmName: 'vmss_vm1', resourceId: '/Subscriptions/S' })).toMatchObject({
      vmId: 'id',
      vmName: 'vmss_vm1',
      resourceId: '/subscriptions/s',
      location: null,
    });
  });

  test('is what ids are derived from', () => {
    const id = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/Flex';
    const flexible = { ...compute, virtualMachineScaleSet: { id } };
    expect(observerOf({ compute: flexible }, { vmScaleSetName: 'Web' })?.vmScaleSetResourceId).toBe(scaleSetId);
    expect(observerOf({ compute }, { vmScaleSetResourceId: id })?.vmScaleSetResourceId).toBe(id.toLowerCase());
  });
});

describe('tags', () => {
  test('only those that are named, regardless of letter case', () => {
    expect(parseTags({ compute }, ['owner', 'environment'])).toEqual({ owner: 'web-team' });
    expect(parseTags({ compute }, ['note'])).toEqual({ note: 'a:b;c' });
    expect(parseTags({ compute }, [])).toEqual({});
  });

  test('those that fit into 8 KB, in the order of configuration', () => {
    const tagsList = [
      { name: 'a', value: 'x'.repeat(5000) },
      { name: 'b', value: 'y'.repeat(5000) },
      { name: 'c', value: 'z' },
    ];
    const tags = parseTags({ compute: { tagsList } }, ['a', 'b', 'c']);
    expect(Object.keys(tags)).toEqual(['a', 'c']);
    expect(Buffer.byteLength(JSON.stringify(tags))).toBeLessThanOrEqual(8192);
  });

  test.each([
    null,
    {},
    { compute: { tagsList: 'a:b' } },
    { compute: { tagsList: [null, 'a', { name: 'a', value: 7 }] } },
  ])('none in %j', (metadata) => {
    expect(parseTags(metadata, ['a'])).toEqual({});
  });
});

test('no metadata makes the reader throw', () => {
  const fields = Object.keys(compute);
  const metadata = fc.oneof(
    fc.jsonValue(),
    fc.record({ compute: fc.dictionary(fc.constantFrom(...fields), fc.jsonValue()) }),
  );
  fc.assert(
    fc.property(metadata, (value) => {
      const observer = observerOf(value, { vmId: 'id', vmName: 'web_0' });
      for (const field of Object.values(observer ?? {})) expect(field === '' || field === undefined).toBe(false);
      parseTags(value, ['a']);
    }),
  );
});
