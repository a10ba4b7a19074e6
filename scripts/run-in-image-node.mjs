// Runs a bundled program with the release of Node.js that the operator's image has, which is fetched once: it takes half the CPU time of
// an older one. Where it cannot be had, or with `--own-node`, the one that runs this does it.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'

const ownNode = '--own-node'
/** These programs make much that is soon forgotten: with room for it a tenth less CPU time goes to collecting it. */
const youngMiB = 32
const room = [`--min-semi-space-size=${youngMiB}`, `--max-semi-space-size=${youngMiB}`]

/** Ends this process with the code of the program. */
export async function runInImageNode({ entryPoint, outdir, program, args }) {
  await bundle({
    entryPoints: [entryPoint, 'image/parts/node-release.ts'],
    entryNames: '[name]',
    outdir,
    sourcemap: 'linked',
  })
  const given = args.filter((arg) => arg !== ownNode)
  const node = given.length < args.length ? process.execPath : await nodeOfImage(outdir)
  const { status } = spawnSync(node, [...room, join(outdir, program), ...given], { stdio: 'inherit' })
  process.exit(status ?? 1)
}

async function nodeOfImage(outdir) {
  try {
    const { fetchOwnNode } = await import(pathToFileURL(join(process.cwd(), outdir, 'node-release.js')).href)
    return await fetchOwnNode()
  } catch (error) {
    console.error(`with Node.js ${process.versions.node}, which is slower: ${error.message}`)
    return process.execPath
  }
}
