import { identifyingParameters, onlyDeploymentKnows, parametersGiven, startPositions } from '../deploy-time.ts';
import { type Check, type Finding, finding } from '../finding.ts';
import { localsOfLoop } from '../infer.ts';
import { resolvePath } from '../project.ts';
import type { Scope } from '../scope.ts';
import { declared, type Module } from '../syntax.ts';

/**
 * What names a resource, and what decides whether and how often there is one, is known before the deployment begins. Where
 * a module is given such a value from another module, it compiles, and what-if shows nothing of it.
 * https://learn.microsoft.com/azure/azure-resource-manager/bicep/linter-rule-what-if-short-circuiting
 */
export const knownAtStart: Check = ({ file, scope }) => [
  ...startPositions(file, scope).flatMap(({ value, scope: inner, code, of }): Finding[] => {
    const part = onlyDeploymentKnows(value, inner);
    return part === null
      ? []
      : [finding(value.line, code, `${of} is known only with ${part}, which the deployment makes`)];
  }),
  ...declared(file, 'module').flatMap((module) => ofModule(module, scope)),
];

function ofModule(module: Module, scope: Scope): Finding[] {
  const of = scope.project.scope(resolvePath(scope.file, module.path));
  if (of === null) return [];
  const identifying = identifyingParameters(of);
  const inner = module.body.kind === 'loop' ? scope.with(localsOfLoop(module.body, scope)) : scope;
  return parametersGiven(module).flatMap(({ key, value, line }) => {
    const part = key !== null && identifying.has(key) ? onlyDeploymentKnows(value, inner) : null;
    if (part === null) return [];
    const what = `what-if shows nothing of ${module.name}: ${key} names its resources, and is known only with ${part}`;
    return [finding(line, 'what-if-short-circuiting', what)];
  });
}
