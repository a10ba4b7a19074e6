import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
/** What npm has installed stays outside; the workspaces are part of the bundle. */
export const external = Object.keys({ ...dependencies, ...devDependencies })
/** What comes with the product when it is installed. */
export const installed = Object.keys(dependencies)

/** Bundles programs of this package for Node.js. */
export function bundle(given) {
  return build({
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external,
    logLevel: 'warning',
    ...given,
  })
}

/** Bundles the decisions for every runtime: what is of Node.js cannot be resolved here, and fails the build. */
export function bundleLibrary(outfile, given = {}) {
  return bundle({
    entryPoints: ['packages/cofferdam/src/library/domain.ts'],
    outfile,
    platform: 'neutral',
    minifyWhitespace: true,
    minifySyntax: true,
    external: installed,
    legalComments: 'eof',
    ...given,
  })
}

/** Bundles the dashboard's page, and puts beside it what it is made of. */
export async function bundlePage(folder, { sourcemap = 'linked' } = {}) {
  const page = 'packages/cofferdam/src/dashboard/page'
  mkdirSync(folder, { recursive: true })
  await bundleForBrowsers({
    entryPoints: [join(page, 'page.tsx')],
    outfile: join(folder, 'page.js'),
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap,
  })
  for (const file of ['favicon.svg', 'index.html', 'page.css']) cpSync(join(page, file), join(folder, file))
}

/** Bundles a script for browsers. */
export function bundleForBrowsers(given) {
  return build({ bundle: true, minify: true, target: 'es2022', format: 'esm', logLevel: 'warning', ...given })
}
