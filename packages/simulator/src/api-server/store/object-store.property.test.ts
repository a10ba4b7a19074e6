import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ObjectStore } from './object-store.ts'

type Write = { readonly name: string; readonly node: string | undefined; readonly reads: boolean }

const write: fc.Arbitrary<Write> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  node: fc.option(fc.constantFrom('n1', 'n2'), { nil: undefined }),
  reads: fc.boolean(),
})

describe('the store, for any sequence of writes', () => {
  it('shows every earlier state as it was, in order, and a reader of changes arrives at the same', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
        const store = new ObjectStore()
        const bucket = store.bucket('things')
        const model = new Map<string, string>()
        const states: [number, [string, string][]][] = []
        const followed = new Map<string, string>()
        const cursor = bucket.follow(store.version, () => true)
        for (const { name, node, reads } of writes) {
          const current = bucket.get(name)
          if (node === undefined) {
            if (current !== undefined) bucket.remove(name, current)
            model.delete(name)
          } else {
            bucket.put(name, objectOn(name, node), current)
            model.set(name, node)
          }
          states.push([store.version, sorted(model)])
          // Order is made only when somebody asks for it; asking at any moment must make no difference.
          if (reads) expect(content(bucket.entries())).toEqual(sorted(model))
        }
        for (const [version, expected] of states) {
          expect(content(bucket.at(version)?.entries() ?? [])).toEqual(expected)
        }
        for (let change = cursor.take(); change !== undefined; change = cursor.take()) {
          if (change.type === 'DELETED') followed.delete(change.key)
          else followed.set(change.key, nodeOf(change.object))
        }
        expect(sorted(followed)).toEqual(sorted(model))
        for (const node of ['n1', 'n2']) {
          const expected = sorted(model).filter(([, value]) => value === node)
          expect(bucket.withField('spec.node', node).map(({ metadata }) => [metadata.name, node])).toEqual(expected)
        }
      }),
    )
  })
})

function objectOn(name: string, node: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name }, spec: { node } } as KubeObject
}

function nodeOf(object: KubeObject): string {
  return (object as KubeObject & { spec: { node: string } }).spec.node
}

function content(entries: Iterable<[string, KubeObject]>): [string, string][] {
  return [...entries].map(([key, object]) => [key, nodeOf(object)])
}

function sorted(model: ReadonlyMap<string, string>): [string, string][] {
  return [...model].sort(([a], [b]) => (a < b ? -1 : 1))
}
