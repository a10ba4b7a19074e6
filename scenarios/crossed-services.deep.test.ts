import { deployments, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import type { EvictionPace } from '@cofferdam/simulator/world/tools/kubectl-drain.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CephFixture } from './testing/ceph-fixture.ts'
import { daemonName } from './testing/drainer.ts'
import { openThreeRacks, type RunningDrains, type ThreeRacks } from './testing/three-racks.ts'

const namespace = 'rook-ceph'
const nodeNames = ['node-left', 'node-middle', 'node-right']
const services = '  nfs: [{ name: files, active: 3 }]\n  filesystems: [{ name: home, active: 1, standby: true }]\n'

let racks: ThreeRacks

/** Each NFS server on a node of its own, as where clients mount by the address of a host. The MDS can go where they like. */
async function pinServers(fixture: CephFixture): Promise<void> {
  for (const [index, node] of nodeNames.entries()) {
    const key = { namespace, name: `rook-ceph-nfs-files-${'abc'[index]}` }
    const nodeSelector = { 'kubernetes.io/hostname': node }
    const body = { spec: { template: { spec: { nodeSelector } } } }
    await fixture.api.patch(deployments, key, { type: 'merge', body })
  }
  await fixture.seconds(60)
  expect(serversOn(fixture)).toEqual(nodeNames)
}

function serversOn({ views }: CephFixture): (string | undefined)[] {
  return [...views.of(pods).values()]
    .filter((pod) => daemonName(pod).startsWith('nfs.'))
    .sort((a, b) => (daemonName(a) < daemonName(b) ? -1 : 1))
    .map(({ spec }) => spec.nodeName)
}

beforeEach(async () => {
  racks = await openThreeRacks(1, { services, prepare: pinServers })
})
afterEach(() => racks.fixture.close())

const first =
  (kind: string): EvictionPace =>
  (pod) =>
    daemonName(pod).startsWith(kind) ? 0 : 50

it('a server that cannot move leaves one node and an OSD another at the same instant: neither drain waits for ever', async () => {
  const underTwo = racks.watchForTwoBudgets()
  const drains: RunningDrains = new Map([
    ['node-left', racks.fixture.drain('node-left', first('nfs'))],
    ['node-middle', racks.fixture.drain('node-middle', first('osd'))],
  ])
  const drained = await racks.untilFirstIsDrained(drains)
  const [second = ''] = drains.keys()
  expect(racks.daemonsOn(second).filter((name) => /^(osd|mon|nfs)/.test(name))).toHaveLength(4)
  expect([...underTwo]).toEqual([])
  await racks.fixture.uncordon(drained)
  await racks.untilAllEnd(drains)
  await racks.fixture.until('all servers are back', () => serversOn(racks.fixture).join() === nodeNames.join())
})

it('only the budget of servers that cannot move waits for OSDs, and explain says so instead of calling it impossible', async () => {
  const { api, clock } = racks.fixture
  const [nfs, mds] = await Promise.all(
    ['rook-ceph-nfs-files', 'rook-ceph-mds-home'].map((name) => api.get(podDisruptionBudgets, { namespace, name })),
  )
  expect([nfs?.spec.maxUnavailable, mds?.spec.minAvailable]).toEqual([0, 1])
  const { connect } = inProcess(api)
  const explain = createExplainCommand({ connect, clock })
  const { out, code } = await runCommand(explain, 'explain', 'pdb/rook-ceph/rook-ceph-nfs-files')
  expect(code).toBe(3)
  expect(out).toContain('FollowsOsds')
  expect(out).toContain('daemons that cannot move beside OSDs go after the OSDs of their node')
  const node = await runCommand(explain, 'explain', 'node/node-left')
  expect(node.code).toBe(0)
})
