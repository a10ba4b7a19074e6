// `npm run simulate`: plays whole clusters from seeds, and says where a promise was broken. It plays them with the release of Node.js that
// the operator's image has, which is fetched once; with `--own-node`, or where that one cannot be had, with the one that runs this.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'

const outdir = 'dist/simulation'
await bundle({
  entryPoints: ['simulation/simulate.ts', 'image/parts/node-release.ts'],
  entryNames: '[name]',
  outdir,
  sourcemap: 'linked',
})

async function nodeOfImage() {
  const { fetchOwnNode } = await import(pathToFileURL(join(process.cwd(), outdir, 'node-release.js')).href)
  return fetchOwnNode()
}

const args = process.argv.slice(2)
const given = args.filter((arg) => arg !== '--own-node')
const node =
  given.length < args.length
    ? process.execPath
    : await nodeOfImage().catch((error) => {
        console.error(`simulate: with Node.js ${process.versions.node}, which is slower: ${error.message}`)
        return process.execPath
      })
const { status } = spawnSync(node, [join(outdir, 'simulate.js'), ...given], { stdio: 'inherit' })
process.exit(status ?? 1)
