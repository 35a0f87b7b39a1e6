import { type Deployed, deployedBy } from '../deployed.ts';
import { type Check, finding } from '../finding.ts';

type Values = Readonly<Record<string, unknown>>;
interface Reference {
  readonly policyDefinitionId: string;
  readonly policyDefinitionReferenceId: string;
  readonly parameters?: Values;
}

/**
 * An initiative gives each of its policies the parameters that it has, and every one without default:
 * https://learn.microsoft.com/azure/governance/policy/concepts/initiative-definition-structure#policy-definitions
 */
export const policySets: Check = ({ file, scope }) => {
  if (!file.path.endsWith('.bicepparam')) return [];
  let deployed: readonly Deployed[] = [];
  try {
    deployed = deployedBy(scope.project, file.path);
  } catch {
    // Another check says what is missing.
  }
  const definitions = new Map(deployed.filter(isDefinition).map(({ id, body }) => [id, propertiesOf(body)]));
  return deployed
    .filter(({ type }) => /\/policySetDefinitions$/i.test(type))
    .flatMap(({ body, at }) =>
      ((propertiesOf(body).policyDefinitions ?? []) as readonly Reference[]).flatMap((reference) => {
        const declared = definitions.get(reference.policyDefinitionId)?.parameters as Values | undefined;
        return declared === undefined ? [] : differences(reference, declared).map((what) => `${at}: ${what}`);
      }),
    )
    .map((what) => finding(1, 'policy-set', what));
};

const isDefinition = ({ type }: Deployed): boolean => /\/policyDefinitions$/i.test(type);
const propertiesOf = (body: Values): Values => (body.properties ?? {}) as Values;

function differences({ policyDefinitionReferenceId, parameters = {} }: Reference, declared: Values): string[] {
  const required = Object.entries(declared).filter(([, one]) => !Object.hasOwn(Object(one), 'defaultValue'));
  const missing = required.filter(([name]) => parameters[name] === undefined).map(([name]) => `lacks ${name}`);
  const unknown = Object.keys(parameters).filter((name) => declared[name] === undefined);
  return [...missing, ...unknown.map((name) => `has no parameter ${name}`)].map(
    (what) => `${policyDefinitionReferenceId} ${what}`,
  );
}
