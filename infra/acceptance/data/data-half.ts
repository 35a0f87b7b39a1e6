import type { Target } from '../target.ts';

/** The part of a target that reads the event hub and the tables, and changes what they accept. */
export type DataHalf = Pick<Target, 'readHub' | 'query' | 'breakDestination' | 'destinations' | 'close'>;
