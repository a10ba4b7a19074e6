// `npm run single-file [-- FILE]`: the whole command line as one executable file, for machines that have Node.js and no npm. With its packages, its page and
// its clusters; the last two are unpacked into a folder of the process by the commands that need them. docs/decisions/0019-one-file.md says why it is no binary.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { stop } from 'esbuild'
import { bundle, bundlePage } from './bundle.mjs'

const outfile = process.argv[2] ?? 'release/cofferdam.mjs'

/** In place of `cli/places.ts`. */
async function placesModule() {
  const folder = mkdtempSync(join(tmpdir(), 'cofferdam-parts-'))
  try {
    await bundlePage(join(folder, 'page'), { sourcemap: false })
    const files = {}
    for (const name of readdirSync(join(folder, 'page')))
      files[`page/${name}`] = readFileSync(join(folder, 'page', name))
    files['clusters/default.yaml'] = readFileSync('examples/clusters/default.yaml')
    const packed = Object.entries(files).map(([name, bytes]) => [name, bytes.toString('base64')])
    return `
      import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
      import { tmpdir } from 'node:os'
      import { dirname, join } from 'node:path'
      import { fileURLToPath } from 'node:url'
      const packed = ${JSON.stringify(packed)}
      const needing = ['demo', 'dashboard', 'operator']
      export function findPlaces() {
        const launcher = fileURLToPath(import.meta.url)
        if (!process.argv.some((word) => needing.includes(word))) return { launcher, pageDirectory: '', defaultClusterFile: '' }
        const folder = mkdtempSync(join(tmpdir(), 'cofferdam-'))
        process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
        for (const [name, text] of packed) {
          mkdirSync(dirname(join(folder, name)), { recursive: true })
          writeFileSync(join(folder, name), Buffer.from(text, 'base64'))
        }
        return { launcher, pageDirectory: join(folder, 'page'), defaultClusterFile: join(folder, 'clusters/default.yaml') }
      }`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const contents = await placesModule()
mkdirSync(dirname(outfile), { recursive: true })
await bundle({
  entryPoints: ['packages/cofferdam/src/cli/main.ts'],
  outfile,
  external: [],
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'eof',
  // Packages that are no modules load what is of Node.js by this.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  plugins: [
    {
      name: 'places',
      setup: (build) =>
        build.onLoad({ filter: /packages\/cofferdam\/src\/cli\/places\.ts$/ }, () => ({ contents, resolveDir: '.' })),
    },
  ],
})
await stop()
chmodSync(outfile, 0o755)
console.log(
  `${outfile}: ${(statSync(outfile).size / 2 ** 20).toFixed(1)} MiB, runs with Node.js as ${basename(outfile)}`,
)
