import rhea from 'rhea';

/** What a client asks of a service node, decoded. */
export type Request = ReturnType<typeof rhea.message.decode>;

/** A request's answer, before it is addressed. */
export interface Answer {
  readonly body: unknown;
  readonly application_properties: Readonly<Record<string, unknown>>;
}

export function succeed(status: number, body: unknown): Answer {
  const properties = { 'status-code': rhea.types.wrap_int(status), 'status-description': 'OK' };
  return { body, application_properties: properties };
}

export function refuse(status: number, condition: string, description: string): Answer {
  return {
    body: undefined,
    application_properties: {
      'status-code': rhea.types.wrap_int(status),
      'status-description': description,
      'error-condition': condition,
    },
  };
}
