import { build } from 'esbuild'

/** Bundles programs of this package for Node.js; what npm has installed stays outside. */
export function bundle(given) {
  return build({
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
    ...given,
  })
}
