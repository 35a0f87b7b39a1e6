/** What an operator does, where several metrics ask for the same. */
export const mendSink = '`check` says what is wrong with the sink and how to fix it.';
export const mendDisk = 'Free some space on the disk of the state directory; `check` says what else.';
export const report = 'A mistake of the program: please report it.';
