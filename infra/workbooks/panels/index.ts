import type { Tab } from '../panel.ts';
import { availabilityTab } from './availability.ts';
import { hotSpots } from './hot-spots.ts';
import { impact } from './impact.ts';
import { overview } from './overview.ts';
import { pipeline } from './pipeline.ts';
import { trace } from './trace.ts';
import { upcoming } from './upcoming.ts';
import { waves } from './waves.ts';

/** The dashboards, tab by tab. To add a panel, add it to its tab and run `npm run workbook`. */
export const tabs: readonly Tab[] = [overview, upcoming, waves, impact, hotSpots, availabilityTab, trace, pipeline];
