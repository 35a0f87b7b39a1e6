import { documentCases } from './cases-documents.ts';
import { impactCases } from './cases-impacts.ts';
import type { Case } from './scene.ts';

/**
 * The smallest worlds in which a known mistake shows. Two need more than one VM's polls and are tested elsewhere: a state that
 * reappears for a client with its entity tag (client and outbox), and an EventId that is no valid text (outbox).
 */
export const cases: readonly Case[] = [...impactCases, ...documentCases];
