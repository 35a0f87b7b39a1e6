import { expect, test } from 'vitest';
import { findRoute, Refusal, type Route } from '../../../src/azure-simulator/control/route.ts';

const routes: readonly Route[] = [
  { method: 'GET', path: '/', description: '', answer: () => null },
  { method: 'POST', path: '/events', description: '', answer: () => null },
  { method: 'PATCH', path: '/events/{id}', description: '', answer: () => null },
  { method: 'DELETE', path: '/events/{id}', description: '', answer: () => null },
];

test('a row is found by method and path, its parts decoded', () => {
  const { route, parts } = findRoute(routes, 'DELETE', '/events/a%2Fb');
  expect([route.method, route.path, parts.get('id')]).toEqual(['DELETE', '/events/{id}', 'a/b']);
  expect(findRoute(routes, 'GET', '/').route.path).toBe('/');
});

const refused: readonly { method: string; path: string; status: number; message: string }[] = [
  { method: 'GET', path: '/event', status: 404, message: 'Nothing is at /event; GET / lists all calls' },
  { method: 'POST', path: '/events/', status: 404, message: 'Nothing is at /events/; GET / lists all calls' },
  { method: 'GET', path: '/events/1', status: 405, message: '/events/1 does not answer GET; use PATCH, DELETE' },
  { method: 'PATCH', path: '/events/%zz', status: 400, message: '%zz in the path is not well encoded' },
];

test.for(refused)('$method $path is refused with $status', ({ method, path, status, message }) => {
  const find = () => findRoute(routes, method, path);
  expect(find).toThrow(message);
  expect(find).toThrow(Refusal);
  expect(find).toThrow(expect.objectContaining({ status }));
});
