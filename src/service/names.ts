/** The one name of folders, service, account and command. */
export const serviceName = 'scheduled-events-bridge';
/** In `versions/`: what is incomplete, or about to be removed. Every installer removes it. */
export const staging = '.staging';
