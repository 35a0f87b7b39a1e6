import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = '/usr/bin/chromium';

/** Why no page can be opened here; null: Chromium is there. */
export const whyNoChromium: string | null = existsSync(executablePath)
  ? null
  : `${executablePath} is not installed: run test/browser/prepare`;

/** Debian's Chromium without a window. Its sandbox needs privileges that a container does not give; only our own page is opened. */
export const openChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--js-flags=--expose-gc'] });
