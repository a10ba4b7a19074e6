import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { lossesOf } from '../../capabilities/drain-lock/domain/pod-losses.ts'
import { createLog } from '../../operator/log.ts'
import { startDemo } from './start-demo.ts'

it('the default cluster is ready in half a minute, every daemon of Ceph under its budget, and moves the only copy of a volume off a cordoned node', async () => {
  const home = mkdtempSync(join(tmpdir(), 'cofferdam-demo-'))
  const file = new URL('../../../../../examples/clusters/default.yaml', import.meta.url)
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
      'rook-ceph-mgr-pdb 0',
      'rook-ceph-mon-pdb 0',
      'rook-ceph-osd 1',
      'rook-ceph-rgw-my-store 1',
    ])

    // `cofferdam drain worker-a1` works as the README prints it, without flags.
    const destroyed = (await demo.api.list(pods)).items.filter((pod) => lossesOf(pod).length > 0)
    expect(destroyed.map(({ metadata }) => metadata.name)).toEqual([])

    const namespace = 'longhorn-system'
    const guardedNodes = async () =>
      (await demo.api.list(podDisruptionBudgets, { namespace })).items
        .flatMap(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? [])
        .sort()
    const homeOfArchive = async () =>
      (await demo.api.list(longhornReplicas, { namespace, labelSelector: 'longhornvolume=archive' })).items.map(
        ({ spec }) => spec?.nodeID,
      )
    const workers = ['worker-a1', 'worker-a2', 'worker-b1', 'worker-b2', 'worker-c1', 'worker-c2']
    expect([await guardedNodes(), await homeOfArchive()]).toEqual([workers, ['worker-c1']])
    await demo.api.patch(nodes, { name: 'worker-c1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await clock.advance(60_000)
    expect(await guardedNodes()).toEqual(workers.filter((node) => node !== 'worker-c1'))
    const home = await homeOfArchive()
    expect(home).toHaveLength(1)
    expect(home).not.toEqual(['worker-c1'])
  } finally {
    const stopped = demo.stop()
    // Whoever still sleeps on this clock wakes up and sees the end.
    await clock.advance(1_000)
    await stopped
    rmSync(home, { recursive: true, force: true })
  }
})
