import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/source-tree.ts';
import { any, type Property, type Shape, unionOf } from './shape.ts';

/** What Azure says of its resources: https://github.com/Azure/bicep-types-az, cut down to one file. */
interface Described {
  readonly resources: Readonly<Record<string, number>>;
  readonly knownVersions: Readonly<Record<string, readonly string[]>>;
  readonly types: readonly Node[];
}
interface Ref {
  readonly $ref: string;
}
interface Node {
  readonly $type: string;
  readonly name?: string;
  readonly body?: Ref;
  readonly value?: string;
  readonly properties?: Readonly<Record<string, { readonly type: Ref; readonly flags: number }>>;
  readonly baseProperties?: Node['properties'];
  readonly additionalProperties?: Ref;
  readonly elements?: readonly Ref[] | Readonly<Record<string, Ref>>;
  readonly discriminator?: string;
  readonly itemType?: Ref;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minValue?: number;
  readonly maxValue?: number;
  readonly writableScopes?: number;
}

/** The resources that Azure describes. */
export interface AzureShapes {
  /** The body of `type@version`, case-insensitive; null when it is not described. */
  body(type: string, version: string): Shape | null;
  /** Where `type@version` can be deployed to, a bit for each scope; null where it is not described. */
  scopes(type: string, version: string): number | null;
  /** Every version that exists; empty for a type that is not known. */
  versions(type: string): readonly string[];
  readonly typeNames: readonly string[];
}

/** The folder of the descriptions: the one that `BICEP_TYPES` names, otherwise beside the repository. */
export const describedIn = join(process.env.BICEP_TYPES ?? join(root, '../shared/bicep-types'), 'types.json');

/** @returns null where there are no descriptions. */
export function azureShapes(path = describedIn): AzureShapes | null {
  if (!existsSync(path)) return null;
  const { resources, knownVersions, types } = JSON.parse(readFileSync(path, 'utf8')) as Described;
  const indexOf = new Map(Object.entries(resources).map(([name, index]) => [name.toLowerCase(), index]));
  const versionsOf = new Map(Object.entries(knownVersions).map(([type, versions]) => [type.toLowerCase(), versions]));
  const made = new Map<number, Shape>();

  function at(index: number): Shape {
    const known = made.get(index);
    if (known !== undefined) return known;
    const node = types[index];
    const shape = node === undefined ? any : make(node);
    made.set(index, shape);
    return shape;
  }
  const refer = (ref: Ref | undefined): Shape => (ref === undefined ? any : at(Number(ref.$ref.slice(2))));

  const property = ({ type, flags }: { type: Ref; flags: number }): Property => ({
    get shape() {
      return refer(type);
    },
    required: (flags & 1) !== 0 && (flags & 2) === 0,
    readOnly: (flags & 2) !== 0,
  });
  const propertiesOf = (node: Node) =>
    Object.entries({ ...node.baseProperties, ...node.properties }).map(
      ([key, value]) => [key, property(value)] as const,
    );

  function make(node: Node): Shape {
    const { minLength, maxLength, pattern, minValue: min, maxValue: max } = node;
    switch (node.$type) {
      case 'StringType':
        return { kind: 'string', minLength, maxLength, pattern };
      case 'StringLiteralType':
        return { kind: 'literal', value: node.value ?? '' };
      case 'IntegerType':
        return { kind: 'int', min, max };
      case 'BooleanType':
        return { kind: 'bool' };
      case 'ArrayType':
        return {
          kind: 'array',
          get of() {
            return refer(node.itemType);
          },
          minLength,
          maxLength,
        };
      case 'UnionType':
        return unionOf(Object.values<Ref>({ ...node.elements }).map(refer));
      case 'ObjectType': {
        const rest = node.additionalProperties === undefined ? null : refer(node.additionalProperties);
        return { kind: 'object', name: node.name ?? 'object', properties: new Map(propertiesOf(node)), rest };
      }
      case 'DiscriminatedObjectType': {
        const base = propertiesOf(node);
        const cases = new Map<string, Shape>();
        for (const [tag, ref] of Object.entries<Ref>({ ...node.elements })) {
          const own = refer(ref);
          cases.set(tag, own.kind === 'object' ? { ...own, properties: new Map([...base, ...own.properties]) } : own);
        }
        return { kind: 'tagged', by: node.discriminator ?? '', cases };
      }
      case 'ResourceType':
        return refer(node.body);
      default:
        return any;
    }
  }

  return {
    body(type, version) {
      const index = indexOf.get(`${type}@${version}`.toLowerCase());
      return index === undefined ? null : at(index);
    },
    scopes: (type, version) => types[indexOf.get(`${type}@${version}`.toLowerCase()) ?? -1]?.writableScopes ?? null,
    versions: (type) => versionsOf.get(type.toLowerCase()) ?? [],
    typeNames: Object.keys(knownVersions),
  };
}
