import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openChromium, whyNoChromium } from '../../test/browser/chromium.ts';
import { serveFleet } from '../../test/browser/served-fleet.ts';
import { recordsOf, smallFleet, smallFleetGroups } from '../../test/support/fleet-rows/wave.ts';

/** Draws the page of `tail --web` for the README: a real page of a fleet that does not exist. */
const file = fileURLToPath(new URL('page.png', import.meta.url));
const width = 1280;

if (whyNoChromium !== null) throw new Error(whyNoChromium);
const { from, nowSeconds } = smallFleet;
const fleet = await serveFleet(recordsOf(smallFleetGroups(), from, nowSeconds), from.getTime() + 1000 * nowSeconds);
const browser = await openChromium();
const page = await browser.newPage({ viewport: { width, height: 1600 }, colorScheme: 'light' });
await page.goto(fleet.url);
await page.waitForSelector('#past table');
const swimlanes = await page.locator('#lane-info').boundingBox();
await page.screenshot({ path: file, clip: { x: 0, y: 0, width, height: Math.round(swimlanes?.y ?? 1000) + 50 } });
await browser.close();
await fleet.close();
process.stdout.write(`${file}: ${Math.round(statSync(file).size / 1000)} KB\n`);
