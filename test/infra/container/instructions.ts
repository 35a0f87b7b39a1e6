/** One instruction of a Dockerfile; its lines are one, without the comments between them. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export const instructionsOf = (dockerfile: string): Instruction[] =>
  dockerfile
    .split('\n')
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join('\n')
    .replace(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [, name = '', text = ''] = /^(\w+) +(.*)$/.exec(line) ?? [];
      return { name, text };
    });

/** From each FROM to the next. */
export function stagesOf(instructions: readonly Instruction[]): Instruction[][] {
  const stages: Instruction[][] = [];
  for (const instruction of instructions) {
    if (instruction.name === 'FROM') stages.push([]);
    stages.at(-1)?.push(instruction);
  }
  return stages;
}
