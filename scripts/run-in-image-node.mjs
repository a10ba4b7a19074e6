// Runs a bundled program with the release of Node.js that the operator's image has, which is fetched once: it takes half the CPU time of
// an older one. Where it cannot be had, or with `--own-node`, the one that runs this does it.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'

const ownNode = '--own-node'

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
  const { status } = spawnSync(node, [join(outdir, program), ...given], { stdio: 'inherit' })
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
