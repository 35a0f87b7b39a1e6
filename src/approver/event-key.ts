/** By which an event is known while it is being approved: Azure may write one EventId in either letter case. */
export const keyOf = ({ eventId }: { readonly eventId: string }): string => eventId.toLowerCase();
