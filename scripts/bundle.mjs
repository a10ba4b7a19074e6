import { readFileSync } from 'node:fs'
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
