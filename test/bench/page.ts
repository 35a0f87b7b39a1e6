import { openChromium, whyNoChromium } from '../browser/chromium.ts';
import { serveFleet } from '../browser/served-fleet.ts';
import { largeFleet, largeFleetGroups, recordsOf } from '../support/fleet-rows/wave.ts';
import { median } from './process-figures.ts';

/**
 * The page of the fleet in Chromium with 1,000 VMs and 48,000 records: `starts` visits, each with the first paint, the arrival of the fleet and
 * the answer to each of five filters. Milliseconds, by the browser's own clock.
 */
export async function page({ starts }: { readonly starts: number }): Promise<void> {
  if (whyNoChromium !== null) throw new Error(whyNoChromium);
  const records = recordsOf(largeFleetGroups(), largeFleet.from, largeFleet.nowSeconds);
  const fleet = await serveFleet(records, largeFleet.from.getTime() + 1000 * largeFleet.nowSeconds);
  const browser = await openChromium();
  const figures: Record<string, number[]> = {};
  const note = (name: string, ms: number): void => {
    figures[name] = [...(figures[name] ?? []), Math.round(ms)];
  };
  // The first visit folds the records, as the first one after a start does.
  for (let visit = 0; visit <= starts; visit += 1) {
    for (const window of ['6h', '14d']) {
      const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      await tab.goto(`${fleet.url}?window=${window}`);
      await tab.waitForSelector('#swimlanes path.down');
      const first = visit === 0 ? ', first visit' : '';
      note(
        `${window}: first paint${first}`,
        await tab.evaluate<number>('performance.getEntriesByName("first-contentful-paint")[0].startTime'),
      );
      note(
        `${window}: fleet received${first}`,
        await tab.evaluate<number>(
          'performance.getEntriesByType("resource").filter(({ name }) => name.includes("/view"))[0].responseEnd',
        ),
      );
      if (visit > 0)
        for (const [filter, value] of filters)
          note(`${window}: filter`, await tab.evaluate<number>(answerTo(filter, value)));
      await tab.close();
    }
  }
  await browser.close();
  await fleet.close();
  process.stdout.write(`${records.length} records of ${largeFleet.vms} VMs\n`);
  for (const [name, ms] of Object.entries(figures))
    process.stdout.write(`${name}`.padEnd(36).concat(`${median(ms)} ms (${Math.min(...ms)} to ${Math.max(...ms)})\n`));
}

const filters = [
  ['filter-set', 'shop-set3/set3'],
  ['filter-tag', 'owner:team-1'],
  ['filter-set', ''],
  ['filter-vm', 'set3_1'],
  ['filter-vm', ''],
] as const;

/** From the input to the frame in which the swimlanes are drawn again. */
const answerTo = (id: string, value: string): string => `new Promise((resolve) => {
  const input = document.getElementById(${JSON.stringify(id)});
  const begin = performance.now();
  const observer = new MutationObserver(() => {
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - begin)));
  });
  observer.observe(document.getElementById('swimlanes'), { childList: true });
  input.value = ${JSON.stringify(value)};
  input.dispatchEvent(new Event(input.tagName === 'SELECT' ? 'change' : 'input'));
})`;
