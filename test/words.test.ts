import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

/** Names that once stood here for what has a standard term: src/README.md has the glossary. */
const retired = [
  ...[
    'Bench',
    'Lineup',
    'Flight',
    'Ledger',
    'Bell',
    'Narrator',
    'TroubleTeller',
    'Unplaced',
    'Sight',
    'Leaving',
    'Making',
    'Unwritten',
    'Delivery',
    'Consequence',
    'Settlement',
  ],
  ...[
    'Symptom',
    'Ground',
    'Surroundings',
    'Whereabouts',
    'Vitals',
    'Greeting',
    'RequestDesk',
    'TurnLog',
    'CarryOut',
    'Rig',
  ],
  ...[
    'bearsWitness',
    'setAside',
    'balanceBooks',
    'lookAround',
    'carryOut',
    'unfit',
    'layGround',
    'goThere',
    'keepHouse',
    'tidy',
  ],
  ...['Voice', 'Storyteller', 'Ink', 'feel'],
  ...[
    'HostReading',
    'TickFigures',
    'Seen',
    'SeenDocument',
    'UndecidedDocument',
    'Unsequenced',
    'Circumstances',
    'StepToDescribe',
    'CountedTurn',
    'becomeOwnerOf',
    'tellLeft',
    'assembleBridge',
    'teller',
    'Waiting',
    'EntryRow',
    'EntryDetails',
  ],
];
const retiredFiles = [
  ...[
    'bell',
    'ledger',
    'narrator',
    'trouble',
    'tidy',
    'tally',
    'by-hand',
    'place',
    'room',
    'rescue',
    'set-aside',
    'unwritten',
    'overlay',
  ],
  ...[
    'request-desk',
    'ask',
    'vitals',
    'symptom',
    'ground',
    'surroundings',
    'greeting',
    'carry-out',
    'unfit',
    'rig',
    'turn-log',
  ],
  ...['voice', 'ink'],
];

const root = join(import.meta.dirname, '..');
const files = ['src', 'test', 'infra'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .map((path) => join(folder, path)),
);
/** Of the simulator, whose scenarios of trouble are just that. */
const isKept = (path: string): boolean => path.startsWith('src/azure-simulator/scenarios/');

test('no file has a retired name', () => {
  expect(files.length).toBeGreaterThan(500);
  const found = files.filter((path) => retiredFiles.includes(basename(path).replace(/(\.test)?\.ts$/, '')));
  expect(found.filter((path) => !isKept(path))).toEqual([]);
});

test('no symbol has a retired name', () => {
  const declared = /^(?:export )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm;
  const found = files.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(declared)]
      .filter(([, name = '']) => retired.includes(name) || retired.includes(name.replace(/^create/, '')))
      .map(([, name]) => `${path}: ${name}`),
  );
  expect(found).toEqual([]);
});

/** Rooms whose comments and messages are in plain words. `kept`: values of published contracts. */
const plainRooms = [
  'approver',
  'consumer',
  'requests',
  'health',
  'heartbeat',
  'host',
  'http',
  'imds',
  'lifecycle',
  'process',
  'service',
];
const privateWords =
  /\b(told|tells|nobody|anybody|somebody|given up|gives? up|of no use|comes? about|mends?|suffers?)\b/i;
const kept = /'nobody'|`nobody`|\bnobody\b(;|: ServiceAnswer)/;

test('no comment and no message of a plain room has a private word', () => {
  const rooms = files.filter((path) => plainRooms.some((room) => path.startsWith(join('src', room, '/'))));
  expect(rooms.length).toBeGreaterThan(100);
  const found = rooms.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .filter((line) => privateWords.test(line) && !kept.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
