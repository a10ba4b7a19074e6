import type { KubeObject, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foregroundFinalizer, OwnershipGraph } from './ownership-graph.ts'

const uids = ['a', 'b', 'c', 'd', 'e'] as const

type Step =
  | {
      readonly is: 'present'
      readonly uid: string
      readonly owners: readonly OwnerReference[]
      readonly waits: boolean
    }
  | { readonly is: 'gone'; readonly uid: string }

const ownerReference = fc.record({
  apiVersion: fc.constant('v1'),
  kind: fc.constant('ConfigMap'),
  uid: fc.constantFrom(...uids),
  name: fc.constant(''),
  blockOwnerDeletion: fc.boolean(),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('present' as const),
      uid: fc.constantFrom(...uids),
      owners: fc
        .uniqueArray(ownerReference, { maxLength: 3, selector: ({ uid }) => uid })
        .map((owners) => owners.map((owner) => ({ ...owner, name: owner.uid }))),
      waits: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('gone' as const), uid: fc.constantFrom(...uids) }) },
)

function objectOf({ uid, owners, waits }: Extract<Step, { is: 'present' }>): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: uid,
      namespace: 'shop',
      uid,
      ownerReferences: owners,
      ...(waits ? { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [foregroundFinalizer] } : {}),
    },
  }
}

describe('the ownership graph, whatever comes and goes in whatever order', () => {
  it('knows the dependents and blockers of everyone exactly, and asks for a look at all that may have to go', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const graph = new OwnershipGraph()
        const present = new Map<string, Extract<Step, { is: 'present' }>>()
        const toLookAt = new Set<string>()
        for (const each of steps) {
          if (each.is === 'present') present.set(each.uid, each)
          else present.delete(each.uid)
          const asked = each.is === 'present' ? graph.observe(configMaps, objectOf(each)) : graph.forget(each.uid)
          for (const uid of asked) toLookAt.add(uid)
        }
        for (const uid of uids) {
          const dependents = [...present.values()].filter(({ owners }) => owners.some((owner) => owner.uid === uid))
          expect(
            graph
              .dependentsOf(uid)
              .map((dependent) => dependent.uid)
              .toSorted(),
          ).toEqual(dependents.map((dependent) => dependent.uid).toSorted())
          expect(graph.hasBlockers(uid)).toBe(
            dependents.some(({ owners }) =>
              owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
            ),
          )
          const self = present.get(uid)
          expect(graph.get(uid)?.isPresent ?? false).toBe(self !== undefined)
          const mayHaveToGo =
            self !== undefined &&
            self.owners.length > 0 &&
            self.owners.every((owner) => present.get(owner.uid)?.waits !== false)
          if (mayHaveToGo) expect(toLookAt).toContain(uid)
          if (self?.waits === true && !graph.hasBlockers(uid)) expect(toLookAt).toContain(uid)
        }
      }),
    )
  })

  it('keeps nothing of what has gone', () => {
    const graph = new OwnershipGraph()
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a' }
    graph.observe(configMaps, objectOf({ is: 'present', uid: 'b', owners: [owner], waits: false }))
    expect(graph.get('a')).toMatchObject({ isPresent: false })
    expect(graph.forget('b')).toEqual([])
    expect([graph.get('a'), graph.get('b')]).toEqual([undefined, undefined])
  })
})
