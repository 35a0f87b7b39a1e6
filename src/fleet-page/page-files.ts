import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The files of the page, by their path. */
export type PageFiles = Readonly<Record<string, { readonly contentType: string; readonly text: string }>>;

const folder = new URL('./browser/', import.meta.url);

/**
 * Bundles the page from the sources. When the program is built, `infra/package/bundle.ts` replaces this module by one
 * that holds its result.
 */
export async function pageFiles(): Promise<PageFiles> {
  const { build } = await import('esbuild');
  const read = (name: string): Promise<string> => readFile(new URL(name, folder), 'utf8');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('main.ts', folder))],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'silent',
  });
  return {
    '/': { contentType: 'text/html; charset=utf-8', text: await read('page.html') },
    '/page.css': { contentType: 'text/css; charset=utf-8', text: await read('page.css') },
    '/icon.svg': { contentType: 'image/svg+xml', text: await read('icon.svg') },
    '/page.js': { contentType: 'text/javascript; charset=utf-8', text: outputFiles[0]?.text ?? '' },
  };
}
