import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { podDisruptionBudgets } from '../../api/resources.ts'
import { createLog } from '../../observability/log.ts'
import { seededRandom } from '../../runtime/random.ts'
import { VirtualClock } from '../../runtime/virtual-clock.ts'
import { parseClusterFile } from './cluster-file.ts'
import { startDemo } from './start-demo.ts'

it('the default cluster is ready in half a minute, with every daemon of Ceph under its budget', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-demo-'))
  const file = new URL('../../../examples/clusters/default.yaml', import.meta.url)
  const clock = new VirtualClock()
  const demo = await startDemo({
    description: parseClusterFile(readFileSync(file, 'utf8'), 'default.yaml'),
    clock,
    random: seededRandom(1),
    kubePort: 0,
    dashboardPort: undefined,
    pageDirectory: home,
    kubeconfigPath: join(home, 'kubeconfig'),
    log: createLog('silent'),
  })
  try {
    const readiness = demo.whenReady({ withinMs: 30_000, signal: new AbortController().signal })
    await clock.advance(31_000)
    expect((await readiness).waitingFor).toEqual([])
    const { items } = await demo.api.list(podDisruptionBudgets, { namespace: 'rook-ceph' })
    expect(items.map(({ metadata, status }) => `${metadata.name} ${status?.disruptionsAllowed}`)).toEqual([
      'rook-ceph-mds-myfs 1',
      'rook-ceph-mgr-pdb 1',
      'rook-ceph-mon-pdb 1',
      'rook-ceph-osd 1',
      'rook-ceph-rgw-my-store 1',
    ])
  } finally {
    const stopped = demo.stop()
    // Whoever still sleeps on this clock wakes up and sees the end.
    await clock.advance(1_000)
    await stopped
    rmSync(home, { recursive: true, force: true })
  }
})
