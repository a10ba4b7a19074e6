import { readFileSync } from 'node:fs'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { compareEvictions, type EvictionAgreement } from './testing/guard-agreement.ts'
import { compareKinds, type KindsAgreement } from './testing/kinds-agreement.ts'
import { writeOperatorLease } from './testing/operator-lease.ts'

let fixture: CephFixture
afterEach(() => fixture.close())

const cluster = readFileSync(new URL('../examples/clusters/default.yaml', import.meta.url), 'utf8')
const besideRook = cluster.replace(/^ceph:$/m, 'ceph:\n  rook: true')
const storageNodes = ['worker-a1', 'worker-a2', 'worker-b1', 'worker-b2', 'worker-c1', 'worker-c2']

/** Whatever befalls nodes, and whoever locks or asks for what. */
function deedsOf(opened: CephFixture, pick: <T>(from: readonly T[]) => T) {
  const lock = async () => {
    const { items } = await opened.api.list(podDisruptionBudgets)
    const { namespace = '', name } = pick(items).metadata
    const until = rfc3339(opened.clock.now() + pick([20_000, 600_000]))
    const text = pick([JSON.stringify({ until, holder: 'bob', reason: 'rebalance' }), null])
    const body = { metadata: { annotations: { 'cofferdam.io/lock': text } } }
    await opened.api.patch(podDisruptionBudgets, { namespace, name }, { type: 'merge', body })
  }
  const request = async () => {
    await opened.api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: `reboot-${opened.clock.now()}` },
      spec: {
        nodeName: pick(storageNodes),
        intent: 'Reboot',
        honourSkipDrain: true,
        force: true,
        deleteEmptyDirData: true,
      },
    })
  }
  return [
    lock,
    lock,
    request,
    request,
    async () => void opened.drain(pick(storageNodes)),
    async () => opened.cordon(pick(storageNodes)),
    async () => void (await Promise.all(storageNodes.map((node) => opened.uncordon(node)))),
    async () => {
      const zone = pick(['worker-a', 'worker-b'])
      for (const node of storageNodes.filter((each) => each.startsWith(zone))) opened.machines.powerOff(node)
    },
    async () => {
      for (const node of storageNodes) opened.machines.powerOn(node)
    },
    async () => opened.silenceCeph(),
    async () => opened.letCephAnswer(),
  ]
}

it.each([
  [1, 'Cofferdam', cluster],
  [2, 'Cofferdam', cluster],
  [3, 'Rook', besideRook],
  [4, 'Rook', besideRook],
] as const)(
  'whatever befalls a cluster, explain calls no pod, workload or claim free whose eviction guard or budget refuses, and none blocked whose eviction passes (seed %i, budgets of %s)',
  async (seed, _keeper, file) => {
    const opened = await openCephFixture(file, { seed, isGuarded: true })
    fixture = opened
    opened.startOperator()
    await opened.seconds(30)
    await writeOperatorLease(opened)
    const random = seededRandom(2_000 + seed)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T
    const deeds = deedsOf(opened, pick)
    const seen: EvictionAgreement[] = []
    const kinds: KindsAgreement[] = []
    for (let step = 0; step < 30; step += 1) {
      await pick(deeds)()
      await opened.seconds(pick([1.5, 4, 15]))
      seen.push(await compareEvictions(opened, (all) => Array.from({ length: 12 }, () => pick(all))))
      kinds.push(await compareKinds(opened, (all) => Array.from({ length: 4 }, () => pick(all))))
    }
    expect(kinds.flatMap(({ disagreements }) => disagreements)).toEqual([])
    expect(kinds.some(({ free }) => free > 0) && kinds.some(({ blocked }) => blocked > 0)).toBe(true)
    expect(seen.flatMap(({ disagreements }) => disagreements)).toEqual([])
    expect(seen.some(({ granted }) => granted > 0)).toBe(true)
    const refusals = new Set(seen.flatMap((each) => each.refusals))
    expect(refusals.size).toBeGreaterThan(2)
  },
)
