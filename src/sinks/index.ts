/** ADD A SINK HERE: one line, whose name is its key in the configuration. `src/README.md` says what its folder holds. */
export { eventHubs } from './event-hubs/index.ts';
export { http } from './http/index.ts';
export { logAnalytics } from './log-analytics/index.ts';
export { stdout } from './stdout/index.ts';
