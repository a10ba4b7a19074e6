// `npm run image`: bundles the operator in one file, with nothing left outside, and builds its image: `--help` says how.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { stop } from 'esbuild'
import { bundle, bundlePage } from './bundle.mjs'

/** The demo is a cluster in a process, and no part of what runs in a cluster. */
const withoutDemo = {
  name: 'without-demo',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/run-demo\.ts$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: `import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
        export function runDemo() {
          throw new CofferdamError('USAGE', 'the image has no demo', { hint: 'outside of the image: npx cofferdam demo' })
        }`,
      resolveDir: '.',
    }))
  },
}
const whole = {
  external: [],
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'eof',
  // Packages that are not ES modules ask for parts of Node.js by `require`.
  banner: { js: `import { createRequire as cr } from 'node:module'; const require = cr(import.meta.url);` },
}

mkdirSync('dist', { recursive: true })
const folder = mkdtempSync('dist/image-')
process.exitCode = 1
try {
  const program = join(folder, 'program')
  await bundle({
    ...whole,
    entryPoints: ['packages/cofferdam/src/cli/main.ts'],
    outfile: join(program, 'cofferdam.js'),
    plugins: [withoutDemo],
  })
  await bundle({
    ...whole,
    entryPoints: ['packages/cofferdam/src/ceph/pg-parse-worker.ts'],
    outfile: join(program, 'pg-parse-worker.js'),
  })
  await bundlePage(join(program, 'page'), { sourcemap: false })
  cpSync('packages/cofferdam/src/ceph/rados-helper.py', join(program, 'rados-helper.py'))
  await bundle({ entryPoints: ['image/build-image.ts'], outfile: join(folder, 'build-image.js') })
  await stop()
  const builder = [join(folder, 'build-image.js'), program, ...process.argv.slice(2)]
  process.exitCode = spawnSync(process.execPath, builder, { stdio: 'inherit' }).status ?? 1
} finally {
  rmSync(folder, { recursive: true })
}
