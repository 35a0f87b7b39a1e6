import type { Combination } from './draw.ts';
import { ampleBytes, type Ending, type Played, Stage, type StageOptions } from './stage.ts';

const day = 24 * 3_600_000;
/** Of the disk, by the documents: 5 %, and not less than 1 MB. */
const shareOfDisk = 20;
const leastBoundBytes = 2 ** 20;
/** The outbox of which `full` is said is bound to this. */
const fullBoundBytes = 1.5 * leastBoundBytes;

/** Fault points that a process passes in any case, or with what is drawn. */
const points = [
  'before-append',
  'in-append',
  'after-append',
  'before-send',
  'result-arrived',
  'before-settle',
] as const;
const pointsOfSuccess = ['in-settle', 'after-settle'] as const;

/** Plays one combination: something waits, processes end and begin, all is healed, and everything is accounted for. */
export async function play(combination: Combination, options: StageOptions): Promise<Played> {
  const { room, clock, directory } = combination;
  options.disk.resize(ampleBytes);
  const stage = await Stage.open(options);
  try {
    stage.endings = endingsOf(combination, stage);
    let [isFilled, isChanged] = [false, false];
    const isEarly = stage.random.chance(0.5);
    stage.beforeRestart = async () => {
      if (isChanged || !isFilled) return;
      isChanged = true;
      if (clock !== 'steady')
        await stage.stepClock((clock === 'forward' ? 1 : -1) * stage.random.pick([700, day / 24, day, 30 * day]));
      changeRoom(combination, stage);
      stage.setMoods(combination.hub, combination.table);
      // A file that is open for writing keeps its disk writable.
      if (isEarly || directory === 'read-only') await changeDisk(directory, stage);
    };
    // One process may be killed while the backlog is made, and others follow.
    stage.mayArm = combination.restarts > 1 && stage.random.chance(0.5) ? 1 : 0;
    await stage.start();
    await fillBacklog(combination, stage);
    isFilled = true;
    stage.mayArm = Number.POSITIVE_INFINITY;
    await stage.arm();
    await stage.advance(stage.endings[0]?.name === 'in maintenance' ? 70 : 10);
    await stage.end();
    if (!isChanged && directory === 'read-only') await stage.restart();
    if (!isChanged) await stage.beforeRestart();
    await stage.advance(5);
    if (directory === 'moved') await stage.moveDirectory();
    else if (!isEarly && directory === 'full') await changeDisk(directory, stage);
    if (room === 'used up') await useUp(stage);
    do {
      await announceMore(combination, stage);
      await stage.end();
    } while (stage.endings.length > 0);
    // Maintenance comes once a minute.
    await stage.advance(70);
    return await heal(combination, stage);
  } finally {
    await stage.close();
  }
}

function endingsOf({ end, restarts, hub, table }: Combination, { random }: Stage): Ending[] {
  const mayDeliver = ![hub, table].every((mood) => mood === 'down' || mood === 'throttling');
  return Array.from({ length: end === 'not at all' ? 0 : restarts }, (): Ending => {
    if (end === 'SIGTERM' || end === 'SIGKILL') return { how: end, trigger: null, name: end };
    if (end === 'in flight')
      return {
        how: 'SIGKILL',
        trigger: { kind: 'batch', nth: random.int(1, 6), turns: random.int(0, 30) },
        name: 'in flight',
      };
    if (end === 'in maintenance')
      return { how: 'SIGKILL', trigger: { kind: 'point', name: 'in-maintenance', nth: 1 }, name: 'in maintenance' };
    const name = random.pick([...points, ...(mayDeliver ? pointsOfSuccess : [])]);
    return { how: 'SIGKILL', trigger: { kind: 'point', name, nth: random.int(1, 4) }, name: 'at a fault point' };
  });
}

/** What waits has a sink to wait for: where both would take it, they are down until the first restart. */
async function fillBacklog({ backlog, hub, table }: Combination, stage: Stage): Promise<void> {
  const blocks = (mood: Combination['hub']): boolean => mood === 'down' || mood === 'throttling';
  const isLate = stage.random.chance(0.5);
  const early = (mood: Combination['hub']): Combination['hub'] =>
    blocks(mood) || (isLate && (blocks(hub) || blocks(table))) ? mood : 'down';
  stage.setMoods(early(hub), early(table));
  await stage.observed();
  if ([hub, table].includes('refuses a record')) await stage.announce(1, { isMarked: true });
  if (backlog === 'a record') await stage.announce(1, { isEnded: stage.random.chance(0.5) });
  else if (backlog === 'a large record') await stage.announce(1, { description: 'x'.repeat(40_000) });
  else if (backlog === 'over a thousand') await stage.announce(300, { between: ['updated', 'updated'] });
  else if (backlog === 'a full outbox') {
    stage.mayRefuse = true;
    stage.mostExpired = null;
    for (let n = 0; n < 16 && stage.storedBytes < 0.9 * fullBoundBytes && stage.expired() === 0; n += 1)
      await stage.announce(40, { description: 'x'.repeat(4_000) });
    stage.count('full outboxes');
  }
  stage.count('records that waited', stage.pending());
}

/** The size of the disk from now on. */
function changeRoom({ backlog, room, end }: Combination, stage: Stage): void {
  stage.sample();
  const stored = stage.storedBytes;
  const share = { ample: 0, 'just enough': 1.15, 'used up': 1.15, 'less than stored': 0.3 }[room];
  const bound = Math.max(leastBoundBytes, share * stored);
  stage.disk.resize(room === 'ample' ? ampleBytes : shareOfDisk * bound - stored);
  if (room !== 'ample') stage.count(`room: ${room}`);
  if (room === 'less than stored' && bound < stored) stage.count('outboxes larger than their share');
  // A bound that the running process decided may stay as it was.
  const isKept = backlog === 'a full outbox' && end === 'not at all';
  stage.mayRefuse = room === 'used up' || isKept;
  if (room !== 'used up' && !isKept) stage.mostExpired = stage.expired();
  else stage.mostExpired = null;
}

async function changeDisk(directory: Combination['directory'], stage: Stage): Promise<void> {
  if (directory === 'read-only') {
    stage.mayRefuse = true;
    stage.disk.mount('ro');
    stage.count('disks read-only');
  } else if (directory === 'full') {
    stage.mayRefuse = true;
    stage.disk.resize(0);
    stage.count('disks full');
  }
}

/** More than the outbox may hold. */
async function useUp(stage: Stage): Promise<void> {
  const before = stage.storedBytes;
  for (let n = 0; n < 8 && stage.expired() === 0 && !stage.sawRefusal; n += 1) {
    await stage.announce(30, { description: 'x'.repeat(4_000) });
    if (stage.storedBytes > before + leastBoundBytes) break;
  }
  if (stage.expired() > 0 || stage.sawRefusal) stage.count('bounds reached');
}

async function announceMore({ events, directory }: Combination, stage: Stage): Promise<void> {
  if (directory === 'full') stage.disk.resize(0);
  if (events === 'many') await stage.announce(10, { between: stage.random.chance(0.5) ? ['started'] : [] });
  else if (events === 'some') await stage.announce(2, { between: stage.random.some(['updated', 'started'], 0.7) });
  else await stage.advance(20);
  // Maintenance comes once a minute.
  if (stage.endings[0]?.name === 'in maintenance') await stage.advance(70);
}

/** Every fault ends; then everything arrives that the bridge does not report as discarded or refused. */
async function heal({ hub, table }: Combination, stage: Stage): Promise<Played> {
  stage.disk.mount('rw');
  stage.disk.resize(ampleBytes);
  const healed = (mood: Combination['hub']): Combination['hub'] => (mood === 'refuses a record' ? mood : 'up');
  stage.setMoods(healed(hub), healed(table));
  await stage.advance(20);
  const fresh = await stage.announce(1);
  for (let seconds = 0; seconds < 1800 && stage.pending() > 0; seconds += 10) {
    await stage.advance(10);
    // Each record that is refused becomes a dead letter once another one got through.
    if (seconds % 300 === 290) await stage.announce(1);
  }
  await stage.terminate();
  return await stage.judge(fresh);
}
