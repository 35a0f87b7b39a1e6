import type { Check } from '../finding.ts';
import { claims } from './claims.ts';
import { conventions } from './conventions.ts';
import { cycles } from './cycles.ts';
import { declarations } from './declarations.ts';
import { forbidden } from './forbidden.ts';
import { instances } from './instances.ts';
import { knownAtStart } from './known-at-start.ts';
import { loads } from './loads.ts';
import { modules } from './modules.ts';
import { names } from './names.ts';
import { once } from './once.ts';
import { operators } from './operators.ts';
import { places } from './places.ts';
import { policySets } from './policy-sets.ts';
import { posture } from './posture.ts';
import { resources } from './resources.ts';
import { roles } from './roles.ts';
import { services } from './services.ts';
import { tableFirst } from './table-first.ts';
import { transforms } from './transforms.ts';
import { typesExist } from './types-exist.ts';
import { unused } from './unused.ts';

/** Every check, by what it is about. */
export const checks: Readonly<Record<string, Check>> = {
  names,
  once,
  typesExist,
  resources,
  modules,
  claims,
  unused,
  conventions,
  forbidden,
  places,
  roles,
  loads,
  posture,
  tableFirst,
  knownAtStart,
  services,
  policySets,
  cycles,
  instances,
  declarations,
  operators,
  transforms,
};
