import { type Deployed, deployedBy } from '../deployed.ts';
import { type Check, finding } from '../finding.ts';
import { valuesAt } from '../rule-breach.ts';

type Values = Readonly<Record<string, unknown>>;
interface Reference {
  readonly policyDefinitionId: string;
  readonly policyDefinitionReferenceId: string;
  readonly parameters?: Values;
}

/**
 * An initiative gives each of its policies the parameters that it has, and every one without default, and so does an
 * assignment to its initiative:
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
  const sets = deployed.filter(({ type }) => /\/policySetDefinitions$/i.test(type));
  const referenced = ({ body }: Deployed) => (propertiesOf(body).policyDefinitions ?? []) as readonly Reference[];
  const wrongSets = sets.flatMap((set) =>
    referenced(set).flatMap((reference) => {
      const declared = definitions.get(reference.policyDefinitionId)?.parameters as Values | undefined;
      return declared === undefined
        ? []
        : differences(reference.policyDefinitionReferenceId, reference.parameters ?? {}, declared).map(
            (what) => `${set.at}: ${what}`,
          );
    }),
  );
  const wrongAssignments = deployed
    .filter(({ type }) => /\/policyAssignments$/i.test(type))
    .flatMap(({ body, at }) => {
      const { policyDefinitionId, parameters = {} } = propertiesOf(body);
      const set = sets.find(({ id }) => id === policyDefinitionId);
      if (set === undefined) return [];
      const changes = referenced(set).some((one) => changesResources(definitions.get(one.policyDefinitionId)));
      const bare = changes && (!body.identity || !body.location);
      const declared = (propertiesOf(set.body).parameters ?? {}) as Values;
      const name = String(body.name);
      return [
        // https://learn.microsoft.com/azure/governance/policy/how-to/remediate-resources#how-remediation-access-control-works
        ...(bare ? [`${name} needs identity and location: its initiative changes resources`] : []),
        ...differences(name, parameters as Values, declared),
      ].map((what) => `${at}: ${what}`);
    });
  return [...wrongSets, ...wrongAssignments].map((what) => finding(1, 'policy-set', what));
};

const changesResources = (definition: Values | undefined): boolean =>
  valuesAt(definition, 'policyRule.then.effect').some((effect) => /^(modify|deployIfNotExists)$/i.test(String(effect)));

const isDefinition = ({ type }: Deployed): boolean => /\/policyDefinitions$/i.test(type);
const propertiesOf = (body: Values): Values => (body.properties ?? {}) as Values;

function differences(of: string, given: Values, declared: Values): string[] {
  const required = Object.entries(declared).filter(([, one]) => !Object.hasOwn(Object(one), 'defaultValue'));
  const missing = required.filter(([name]) => given[name] === undefined).map(([name]) => `lacks ${name}`);
  const unknown = Object.keys(given).filter((name) => declared[name] === undefined);
  return [...missing, ...unknown.map((name) => `has no parameter ${name}`)].map((what) => `${of} ${what}`);
}
