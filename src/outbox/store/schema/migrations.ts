import { sql as sql0001 } from './0001.ts';
import { sql as sql1001 } from './1001.ts';

/** One step of the on-disk format. Forward only; the steps and the new number are one transaction. */
export interface Migration {
  /** `user_version` afterwards: major × 1000 + minor. */
  readonly userVersion: number;
  readonly sql: string;
}

/** In order. A new major is for changes that an older build would not survive; it costs every roll-back its backlog. */
export const migrations: readonly Migration[] = [
  { userVersion: 1000, sql: sql0001 },
  { userVersion: 1001, sql: sql1001 },
];

export const majorOf = (userVersion: number): number => Math.floor(userVersion / 1000);
