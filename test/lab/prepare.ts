import { readdirSync } from 'node:fs'
import { findCeph } from './parts/find-ceph.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import { findLonghorn, needsLonghorn } from './parts/find-longhorn.ts'
import { findRook, needsRook } from './parts/find-rook.ts'
import type { CephRelease } from './parts/parts.ts'
import { sweepLabFolders } from './processes/lab-folder.ts'

/** Run before the suites, with the release of Ceph and the words that choose suites: the screen tells what takes so long. With `sweep`: after them. */
const [wish = '16', ...chosen] = process.argv.slice(2)
const say = (line: string) => console.log(`lab: ${line}`)

if (wish === 'sweep') {
  for (const folder of await sweepLabFolders()) say(`cleared away ${folder}, which an interrupted suite had left`)
} else {
  try {
    const began = performance.now()
    const kubernetes = await findKubernetes(say)
    const ceph = await findCeph(wish as CephRelease, say)
    const rook = needsRook(chosen, readdirSync('test/lab')) ? [await findRook(say)] : []
    const longhorn = needsLonghorn(chosen) ? [await findLonghorn(say)] : []
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    const parts = [
      `Kubernetes ${kubernetes.version}`,
      `Ceph ${ceph.version}`,
      ...rook.map(({ version }) => `Rook ${version}`),
      ...longhorn.map(({ version }) => `Longhorn ${version}`),
    ]
    say(`${parts.join(', ')} are there (${seconds} s)`)
  } catch (error) {
    console.error(`lab: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
