/** What an operator does, where several metrics ask for the same. */
export const sinkRemedy = '`check` says what is wrong with the sink and how to fix it.';
export const diskRemedy = 'Free some space on the disk of the state directory; `check` says what else.';
export const report = 'A mistake of the program: please report it.';
