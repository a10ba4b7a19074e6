import type { LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { answerLonghorn } from '../view/longhorn-answer.ts'
import { longhornRefusals } from '../view/longhorn-budget.ts'
import { rehearseDrain, viewLonghorn } from '../view/longhorn-view.ts'
import { createLeavingDecider } from './decide-leaving.ts'
import { type LonghornObjects, parseLonghorn } from './parse-longhorn.ts'
import { partOfLonghorn } from './part-of-longhorn.ts'
import { drainModes, drainPolicies } from './snapshot.ts'
import { longhornStorageFacts } from './storage-facts.ts'
import { longhornBudget, longhornObjects } from './testing/longhorn-objects.ts'

const nodeNames = ['n1', 'n2', 'n3', 'n4', 'n5']
const seldom = fc.constantFrom(false, false, false, true)

const volume = fc.record({
  on: fc
    .uniqueArray(fc.constantFrom(...nodeNames), { maxLength: 4 })
    .chain((places) => fc.tuple(...places.map((place) => fc.constantFrom(place, place, `${place}!`)))),
  robustness: fc.constantFrom('healthy', 'healthy', 'degraded', 'faulted'),
  isStrictLocal: seldom,
})

/** What happens to one replica or to all of its kind; several of them make it unreadable. */
const changes: readonly ((replica: LonghornReplica) => unknown)[] = [
  ({ spec, ...more }) => ({ ...more, spec: { ...spec, failedAt: '2026-01-01T00:30:00Z' } }),
  ({ spec, ...more }) => ({ ...more, spec: { ...spec, healthyAt: '' } }),
  ({ spec, ...more }) => ({ ...more, spec: { ...spec, active: false } }),
  ({ spec, ...more }) => ({ ...more, spec: { ...spec, volumeName: undefined } }),
  ({ spec, ...more }) => ({ ...more, spec: { ...spec, nodeID: 7 } }),
  ({ spec, metadata, ...more }) => ({
    ...more,
    metadata: { ...metadata, labels: { longhornnode: spec?.nodeID } },
    spec: { ...spec, nodeID: '', active: 'perhaps' },
  }),
  (object) => ({ ...object, status: {} }),
  (object) => ({ ...object, spec: null }),
]

const world: fc.Arbitrary<LonghornObjects> = fc
  .record({
    policy: fc.constantFrom(...drainPolicies, 'nonsense'),
    mode: fc.constantFrom(...drainModes),
    isAutoscaled: seldom,
    nodes: fc.array(fc.record({ cordoned: fc.boolean(), evict: seldom, hasBudget: fc.boolean() }), {
      minLength: 3,
      maxLength: 5,
    }),
    volumes: fc.array(volume, { maxLength: 6 }),
    states: fc.array(fc.constantFrom('attached', 'attached', 'detached'), { minLength: 6, maxLength: 6 }),
    changed: fc.array(fc.tuple(fc.nat(20), fc.nat(changes.length - 1)), { maxLength: 4 }),
    engines: fc.array(fc.tuple(fc.nat(4), fc.nat(5)), { maxLength: 3 }),
  })
  .map(({ policy, mode, isAutoscaled, states, changed, engines, ...scene }) => {
    const objects = longhornObjects({
      policy,
      notes: { manage: mode },
      settings: {
        'kubernetes-cluster-autoscaler-enabled': String(isAutoscaled),
        'default-instance-manager-image': 'im',
      },
      nodes: Object.fromEntries(scene.nodes.map((node, at) => [nodeNames[at] ?? '', node])),
      volumes: Object.fromEntries(scene.volumes.map((each, at) => [`v${at}`, each])),
    })
    const replicas = objects.replicas.map((replica, at) =>
      changed.reduce((each, [which, how]) => (which === at ? change(each, how) : each), replica),
    )
    const instanceManagers = objects.instanceManagers.map((manager, at) => {
      const own = engines.filter(([place]) => place === at).map(([, number]) => [`v${number}-e-0`, {}])
      return { ...manager, status: { ...manager.status, instanceEngines: Object.fromEntries(own) } }
    })
    const volumes = objects.volumes.map((each, at) => ({ ...each, status: { ...each.status, state: states[at] } }))
    return { ...objects, volumes, replicas, instanceManagers } as LonghornObjects
  })

it('a node is explained from what it has a part in as from all of Longhorn, so that a quick answer is not another one', () => {
  fc.assert(
    fc.property(world, (objects) => {
      for (const { metadata } of objects.nodes) {
        const part = partOfLonghorn(objects, new Set([metadata.name]))
        expect(explained(part, metadata.name)).toEqual(explained(objects, metadata.name))
      }
    }),
    { numRuns: runsOf(500) },
  )
})

it('volumes that a node has no part in are not judged for it, so that one answer takes no time for them', () => {
  const objects = longhornObjects({ volumes: { mine: { on: ['n1', 'n2'] }, other: { on: ['n2', 'n3'] } } })
  const { volumes, replicas } = partOfLonghorn(objects, new Set(['n1']))
  expect([...volumes, ...replicas].map(({ metadata }) => metadata.name)).toEqual(['mine', 'mine-n1', 'mine-n2'])
})

function change(replica: LonghornReplica, how: number): LonghornReplica {
  return (changes[how]?.(replica) ?? replica) as LonghornReplica
}

function explained(objects: LonghornObjects, node: string) {
  const view = viewLonghorn(parseLonghorn(objects))
  const { snapshot } = view
  return {
    answer: answerLonghorn(view, { nodeName: node, podsOnNode: [] }),
    now: longhornRefusals(longhornBudget(node), view, []),
    rehearsed: longhornRefusals(longhornBudget(node), rehearseDrain(view, node), []),
    facts: longhornStorageFacts({ snapshot, node, heldSinceMs: undefined, decide: createLeavingDecider() }),
  }
}
