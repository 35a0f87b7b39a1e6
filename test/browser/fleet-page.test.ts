import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LifecycleRecord } from '../../src/consumer/index.ts';
import { largeFleet, largeFleetGroups, recordsOf, smallFleet, smallFleetGroups } from '../support/fleet-rows/wave.ts';
import { until } from '../support/until.ts';
import { openChromium, whyNoChromium } from './chromium.ts';
import { type ServedFleet, serveFleet } from './served-fleet.ts';

if (whyNoChromium !== null) console.error(`the page is not tried in a browser: ${whyNoChromium}`);

const timeOf = ({ observedAt }: LifecycleRecord): number => Date.parse(observedAt);
const nowOf = ({ from, nowSeconds }: { readonly from: Date; readonly nowSeconds: number }): number =>
  from.getTime() + 1000 * nowSeconds;

describe.skipIf(whyNoChromium !== null)('in Chromium', () => {
  let browser: Browser;
  let small: ServedFleet;
  let large: ServedFleet;
  let largeRecords: readonly LifecycleRecord[];
  const minuteMs = 60_000;
  /** The last hour of the large fleet is added by a test. */
  const largeBegin = nowOf(largeFleet) - 60 * minuteMs;

  beforeAll(async () => {
    browser = await openChromium();
    small = await serveFleet(recordsOf(smallFleetGroups(), smallFleet.from, smallFleet.nowSeconds), nowOf(smallFleet));
    largeRecords = recordsOf(largeFleetGroups(), largeFleet.from, largeFleet.nowSeconds);
    large = await serveFleet(
      largeRecords.filter((record) => timeOf(record) <= largeBegin),
      largeBegin,
    );
  });

  afterAll(async () => {
    await browser?.close();
    await small?.close();
    await large?.close();
  });

  /** A page, what its console said, and what it asked the server. */
  async function visit(url: string, options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => {
      if (message.type() !== 'log') complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requests.push(request.url().replace(/^http:\/\/[^/]+/, '')));
    await page.goto(url);
    await page.waitForSelector('#swimlanes svg, dialog[open] table');
    return { page, complaints, requests, close: () => context.close() };
  }

  const namesOf = (page: Page): Promise<readonly (string | null)[]> =>
    page.locator('#swimlanes text.vm').evaluateAll((labels) => labels.map(({ textContent }) => textContent));

  test('draws a thousand VMs and their events with few elements, without an error and without a violation of its policy', async () => {
    const { page, complaints, close } = await visit(`${large.url}?window=14d`);
    await page.waitForSelector('#past table');
    expect(await page.locator('#swimlanes-note').textContent()).toMatch(/^\d+ of 1000 VMs|^1000 VMs/);
    expect(await page.locator('#swimlanes svg path.down').count()).toBe(1);
    expect((await page.locator('#swimlanes path.down').getAttribute('d'))?.match(/M/g)?.length).toBeGreaterThan(1000);
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(4000);
    expect(complaints).toEqual([]);
    await close();
  });

  test('a filter asks the server once and is in the URL', async () => {
    const { page, requests, complaints, close } = await visit(`${large.url}?window=14d`);
    await page.selectOption('#filter-set', 'shop-set3/set3');
    await until(async () => (await page.locator('#swimlanes text.set').allTextContents()).join() === 'shop-set3/set3');
    const views = requests.filter((path) => path.startsWith('/view'));
    const asked = views.slice(views.findIndex((path) => path.includes('set=')));
    // One more where it is time to ask again.
    expect(asked.length).toBeLessThanOrEqual(2);
    expect(new Set(asked)).toEqual(new Set(['/view?set=shop-set3%2Fset3&window=14d']));
    expect(new URL(page.url()).search).toBe('?set=shop-set3%2Fset3&window=14d');
    expect(complaints).toEqual([]);
    await close();
  });

  test('typing a name narrows the lanes; a letter more is no step of the history', async () => {
    const { page, close } = await visit(small.url);
    const steps = await page.evaluate('history.length');
    await page.locator('#filter-vm').pressSequentially('web_1');
    await until(async () => (await namesOf(page)).length === 9);
    expect((await namesOf(page)).every((name) => name?.startsWith('web_1'))).toBe(true);
    expect(await page.evaluate('history.length')).toBe(steps);
    await close();
  });

  test('a link shows what was seen when it was copied, with the trace that was open', async () => {
    const { page, close } = await visit(`${small.url}?type=Reboot&set=shop-web%2Fweb`);
    await page.locator('#past button').first().click();
    await page.waitForSelector('dialog[open] table');
    const link = page.url();
    const text = await page.locator('dialog').innerText();
    const again = await visit(link);
    await again.page.waitForSelector('dialog[open] table');
    expect(await again.page.locator('dialog').innerText()).toBe(text);
    expect(await again.page.locator('#filter-set').inputValue()).toBe('shop-web/web');
    expect(await namesOf(again.page)).toEqual(await namesOf(page));
    await page.goBack();
    await until(async () => (await page.locator('dialog[open]').count()) === 0);
    expect(new URL(page.url()).search).toBe('?type=Reboot&set=shop-web%2Fweb');
    await again.close();
    await close();
  });

  test('everything can be done with the keyboard', async () => {
    const { page, complaints, close } = await visit(small.url);
    const focused = (): Promise<unknown> =>
      page.evaluate(
        'document.activeElement.id || document.activeElement.getAttribute("data-key") || document.activeElement.className',
      );
    const order: unknown[] = [];
    for (let step = 0; step < 60 && order.at(-1) !== 'swimlanes'; step += 1) {
      await page.keyboard.press('Tab');
      order.push(await focused());
    }
    expect(order.slice(0, 10)).toEqual([
      'skip',
      'filter-vm',
      'filter-type',
      'filter-set',
      'filter-tag',
      'filter-window',
      'earlier',
      'present',
      'later',
      'clear',
    ]);
    expect(order.at(-1)).toBe('swimlanes');
    await page.keyboard.press('End');
    const last = await page.locator('#lane-info').textContent();
    expect(last).toMatch(/^sql-2 \(.*\): Reboot, announced .* not before .*, open$/);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#lane-info').textContent()).toMatch(/^api_\d+ /);
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] table');
    expect(new URL(page.url()).searchParams.get('event')).toMatch(/^[0-9a-f-]{36}$/);
    await page.keyboard.press('Escape');
    await until(async () => (await page.locator('dialog[open]').count()) === 0);
    // The dialog is closed before its event says so.
    await until(() => new URL(page.url()).searchParams.get('event') === null);
    expect(await focused()).toBe('swimlanes');
    expect(complaints).toEqual([]);
    await close();
  });

  test.for([
    ['light', 1440],
    ['dark', 1440],
    ['light', 390],
    ['dark', 390],
  ] as const)('axe finds no violation, %s and %d pixels wide', async ([colorScheme, width]) => {
    const { page, close } = await visit(small.url, { colorScheme, viewport: { width, height: 900 } });
    await page.waitForSelector('#past table');
    const check = async (): Promise<unknown> => {
      await page.evaluate(axe.source);
      return page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ failureSummary }) => failureSummary)]))',
      );
    };
    expect(await check()).toEqual([]);
    await page.locator('#past button').first().click();
    await page.waitForSelector('dialog[open] table');
    expect(await check()).toEqual([]);
    // Nothing sticks out: the page itself never scrolls sideways.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await close();
  });

  test('an hour of records is followed without asking for each of them, and takes no memory', async () => {
    const { page, requests, complaints, close } = await visit(large.url);
    const session = await page.context().newCDPSession(page);
    const used = async (): Promise<{ heap: number; nodes: number }> => {
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      const { nodes } = await session.send('Memory.getDOMCounters');
      return { heap: usedSize, nodes };
    };
    const figures: { heap: number; nodes: number }[] = [];
    const asked = (): number => requests.filter((path) => path.startsWith('/view')).length;
    for (let minute = 1; minute <= 60; minute += 1) {
      const now = largeBegin + minute * minuteMs;
      const isNew = (record: LifecycleRecord): boolean => timeOf(record) > now - minuteMs && timeOf(record) <= now;
      const clock = new Date(now).toISOString().slice(11, 16);
      const before = asked();
      const more = largeRecords.filter(isNew);
      // A minute without a record repeats one: the page is notified all the same.
      large.advance(more.length > 0 ? more : largeRecords.slice(0, 1), now);
      await until(async () => (await page.locator('#clock').textContent())?.includes(clock));
      expect(asked() - before).toBeLessThanOrEqual(3);
      if (minute === 10 || minute === 35 || minute === 60) figures.push(await used());
    }
    console.log(
      `heap in MB after 10, 35 and 60 minutes: ${figures.map(({ heap }) => (heap / 1e6).toFixed(1)).join(', ')}`,
    );
    const [start, middle, end] = figures;
    expect(end?.heap).toBeLessThan(1.25 * (start?.heap ?? 0) + 1e6);
    expect(end?.heap).toBeLessThan(1.25 * (middle?.heap ?? 0) + 1e6);
    expect(end?.nodes).toBeLessThan(3 * (start?.nodes ?? 0));
    expect(complaints).toEqual([]);
    await close();
  });

  test('says that it is no longer connected, and continues by itself when it is again', async () => {
    const own = await serveFleet([], nowOf(smallFleet));
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(own.url);
    await until(async () => (await page.locator('#status-text').textContent())?.startsWith('Live'));
    await own.close();
    await until(async () => (await page.locator('#status-text').textContent())?.includes('Not connected'));
    const again = await serveFleet([], nowOf(smallFleet), Number(new URL(own.url).port));
    await until(async () => (await page.locator('#status-text').textContent())?.startsWith('Live'));
    await again.close();
    await context.close();
  });
});
