import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openChromium, whyNoChromium } from '../../test/browser/chromium.ts';
import { serveFleet } from '../../test/browser/served-fleet.ts';
import { recordsOf, smallFleet, smallFleetGroups } from '../../test/support/fleet-rows/wave.ts';

/** Draws the page of `tail --web` for the README: a real page of a fleet that does not exist. */
const file = fileURLToPath(new URL('page.png', import.meta.url));
const height = 1290;

if (whyNoChromium !== null) throw new Error(whyNoChromium);
const { from, nowSeconds } = smallFleet;
const fleet = await serveFleet(recordsOf(smallFleetGroups(), from, nowSeconds), from.getTime() + 1000 * nowSeconds);
const browser = await openChromium();
const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme: 'light' });
await page.goto(fleet.url);
await page.waitForSelector('#past table');
await page.screenshot({ path: file, clip: { x: 0, y: 0, width: 1280, height } });
await browser.close();
await fleet.close();
process.stdout.write(`${file}: ${Math.round(statSync(file).size / 1000)} KB\n`);
