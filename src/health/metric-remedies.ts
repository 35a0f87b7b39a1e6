/** Actions of an operator that several metrics share. */
export const sinkRemedy = 'Run `check`: it names the problem of the sink and how to fix it.';
export const diskRemedy = 'Free some space on the disk of the state directory; `check` names other causes.';
export const report = 'Internal error: please report it.';
