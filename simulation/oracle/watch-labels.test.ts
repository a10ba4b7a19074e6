import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { afterEach, expect, it } from 'vitest'
import { openStage, type Stage } from '../stage/open-stage.ts'
import type { ClusterShape } from '../story.ts'
import { openBlame } from './blame.ts'
import { openExcuses } from './excuses.ts'
import { watchLabels } from './watch-labels.ts'

const shape: ClusterShape = {
  file: {
    zones: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    nodes: ['a', 'b', 'c'].map((zone) => ({ name: `node-${zone}`, zone, roles: ['worker'] })),
    ceph: { pools: [{ name: 'replicapool', failureDomain: 'host', pgs: 8 }] },
    machines: { api: 'openshift', volumes: 'follow', healthCheck: { style: 'machine', after: 300 } },
  },
  nodes: ['node-a', 'node-b', 'node-c'],
  apps: [],
  osds: [0, 1, 2],
  domain: 'host',
  volumes: [],
  hasMachines: true,
  hasKured: false,
}

let stage: Stage
afterEach(() => stage.close())

/** What is blamed in four minutes, and in four more after the power of node-a is cut; labels are lost on their way to the server where that is so. */
async function blamedWhereLost(isLost: (isCut: boolean) => boolean): Promise<string[]> {
  const tell = () => {}
  let isCut = false
  const spoil = (api: KubeApi): KubeApi => ({
    ...api,
    patch: (...args) =>
      args[0].plural === 'machines' && isLost(isCut) ? api.get(args[0], args[1]) : api.patch(...args),
  })
  const witness = { current: { writer: 'the cluster' }, onWrite: () => undefined }
  stage = await openStage({ seed: 1, shape, tell, spoil, ...witness })
  const { clock, processes, world } = stage
  const blame = openBlame(clock, tell)
  const excuses = openExcuses(clock, () => processes)
  const labels = watchLabels(stage, blame, excuses)
  for (let second = 0; second < 480; second += 1) {
    if (second === 240) {
      isCut = true
      world.kubelet.powerOff('node-a')
    }
    await clock.advance(1_000)
    labels?.look()
  }
  return [...new Set(blame.violations.map(({ rule, sentence }) => `${rule}: ${sentence}`))].sort()
}

it('the operator labels machines with OSDs, and takes the label off a dead one', async () => {
  expect(await blamedWhereLost(() => false)).toEqual([])
})

it('an operator whose labels never arrive is blamed: machines with data could be fenced at any time', async () => {
  const blamed = await blamedWhereLost(() => true)
  expect(blamed).toHaveLength(3)
  for (const sentence of blamed) expect(sentence).toMatch(/^S7: .* lacks its label while an OSD runs there$/)
})

it('an operator that leaves the label on a dead machine is blamed: it is never fenced', async () => {
  const blamed = await blamedWhereLost((isCut) => isCut)
  expect(blamed).toEqual([expect.stringMatching(/^S7: .* has its label while no OSD runs there$/)])
})
