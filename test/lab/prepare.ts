import { readdirSync } from 'node:fs'
import { namedSuite, needsCluster } from './parts/chosen-suites.ts'
import { findCeph } from './parts/find-ceph.ts'
import { findEmulator } from './parts/find-emulator.ts'
import { findHelm, needsHelm } from './parts/find-helm.ts'
import { findKubernetes } from './parts/find-kubernetes.ts'
import { findLonghorn, needsLonghorn } from './parts/find-longhorn.ts'
import { findLonghornEngine, needsLonghornEngine } from './parts/find-longhorn-engine.ts'
import { findNode } from './parts/find-node.ts'
import { findRook, needsRook } from './parts/find-rook.ts'
import type { CephRelease } from './parts/parts.ts'
import { sweepLabFolders } from './processes/lab-folder.ts'
import { sweepCgroups } from './real-node/cgroups.ts'
import { requireMachine } from './real-node/require-machine.ts'

/** Run before the suites, with the release of Ceph and the words that choose suites: the screen tells what takes so long. With `sweep`: after them. */
const [wish = '16', ...chosen] = process.argv.slice(2)
const say = (line: string) => console.log(`lab: ${line}`)

if (wish === 'sweep') {
  await sweepCgroups()
  for (const folder of await sweepLabFolders()) say(`cleared away ${folder}, which an interrupted suite had left`)
} else {
  try {
    const began = performance.now()
    const suites = readdirSync('test/lab')
    const parts: string[] = []
    if (needsCluster(chosen, suites)) {
      parts.push(`Kubernetes ${(await findKubernetes(say)).version}`)
      parts.push(`Ceph ${(await findCeph(wish as CephRelease, say)).version}`)
    }
    const named = namedSuite(chosen)
    if (named === 'real-node') await requireMachine()
    if (named !== undefined) parts.push(`Kubernetes ${(await findKubernetes(say)).version}`)
    if (named === 'real-node') parts.push(`containerd ${(await findNode(say)).containerdVersion}`)
    if (named === 'image-arm64' && process.arch !== 'arm64') parts.push(`QEMU (${await findEmulator(say)})`)
    if (needsRook(chosen, suites)) parts.push(`Rook ${(await findRook(say)).version}`)
    if (needsLonghorn(chosen)) parts.push(`Longhorn ${(await findLonghorn(say)).version}`)
    const engine = needsLonghornEngine(chosen) ? await findLonghornEngine(say) : undefined
    if (engine !== undefined) parts.push(`Longhorn's engine ${engine.version}`)
    if (needsHelm(chosen)) parts.push(`Helm ${(await findHelm(say)).version}`)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    say(`found ${parts.join(', ')} (${seconds} s)`)
  } catch (error) {
    console.error(`lab: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
