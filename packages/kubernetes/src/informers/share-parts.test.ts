import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/kube-object.ts'
import type { Indexes } from './cache-contents.ts'
import { CachedCollection } from './cached-collection.ts'
import { shareParts } from './share-parts.ts'

const pod = (name: string, labels: object) => ({ metadata: { name, labels }, conditions: [{ type: 'Ready' }] })

describe('parts of neighbours that are equal', () => {
  it('are one in memory, so that a thousand pods of one app keep its labels once', () => {
    const [first, second] = [pod('shop-1', { app: 'shop' }), pod('shop-2', { app: 'shop' })]
    shareParts(second, first)
    expect(second.metadata.labels).toBe(first.metadata.labels)
    expect(second.conditions).toBe(first.conditions)
    expect(second).toEqual(pod('shop-2', { app: 'shop' }))
  })

  it.each<[string, object, object]>([
    ['a text that differs stays its own, or a pod would be counted to another app', { app: 'shop' }, { app: 'bank' }],
    ['a field that only one has stays with it', { app: 'shop', tier: 'web' }, { app: 'shop' }],
    ['a field that the neighbour has beside it is not taken over', { app: 'shop' }, { app: 'shop', tier: 'web' }],
    ['a list is no object, though both be empty', { ports: [] }, { ports: {} }],
    ['a longer list keeps its end', { ports: [80, 443] }, { ports: [80] }],
    ['what every object inherits is no part of the neighbour', { toString: 'text' }, {}],
    ['a field that is called __proto__ changes no prototype', JSON.parse('{"__proto__":{"a":1}}') as object, {}],
  ])('%s', (_, own, others) => {
    const [value, like] = [{ labels: own }, { labels: others }]
    const [before, likeBefore] = [structuredClone(value), structuredClone(like)]
    shareParts(value, like)
    expect(value).toStrictEqual(before)
    expect(like).toStrictEqual(likeBefore)
    expect(value.labels).not.toBe(like.labels)
  })

  it('come from a neighbour where the object itself had none before: conditions arrive after the pod', () => {
    const [bare, neighbour] = [{ name: 'shop-2', labels: { app: 'shop' } }, pod('shop-1', { app: 'shop' })]
    const value = { name: 'shop-2', labels: { app: 'shop' }, conditions: [{ type: 'Ready' }] }
    shareParts(value, bare, neighbour)
    expect(value.labels).toBe(bare.labels)
    expect(value.conditions).toBe(neighbour.conditions)
    expect([value, bare]).toEqual([
      { name: 'shop-2', labels: { app: 'shop' }, conditions: [{ type: 'Ready' }] },
      { name: 'shop-2', labels: { app: 'shop' } },
    ])
  })

  it('writes into nothing that is frozen: objects of the embedded server are shared with it', () => {
    const frozen = Object.freeze({ labels: Object.freeze({ app: 'shop' }), name: 'shop-2' })
    expect(() => shareParts(frozen, pod('shop-1', { app: 'shop' }))).not.toThrow()
  })

  it('takes no Map for an empty object: two ledgers would become one', () => {
    const [value, like] = [{ tickets: new Map([['a', 1]]) }, { tickets: new Map([['b', 2]]) }]
    shareParts(value, like)
    expect([...value.tickets.keys()]).toEqual(['a'])
  })

  it('changes neither of any two values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const texts = [left, right].map((each) => JSON.stringify(each))
        shareParts(left, right)
        shareParts({ left, right }, { left: right, right })
        shareParts({ left, right }, { left: right, right }, { left, right: left })
        expect([left, right].map((each) => JSON.stringify(each))).toEqual(texts)
      }),
    )
  })
})

describe('a collection of pods that were read one after the other', () => {
  const object = (name: string, resourceVersion: string, labels = { app: 'shop' }): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, uid: name, resourceVersion, labels },
  })
  const open = (indexes: Indexes<Pick<KubeObject, 'metadata'>> = {}) =>
    new CachedCollection<KubeObject, Pick<KubeObject, 'metadata'>>({
      project: ({ metadata }) => ({ metadata }),
      sharesEqualValues: true,
      indexes,
      emit: () => {},
    })

  it('keeps their labels once, and still once when one of them has changed', () => {
    const collection = open()
    const staged = collection.stage()
    for (const name of ['a', 'b', 'c']) staged.put(object(name, '1'))
    staged.commit('1')
    collection.apply({ type: 'MODIFIED', object: object('b', '2') })
    const labels = collection.contents.list().map(({ metadata }) => metadata.labels)
    expect(labels).toHaveLength(3)
    expect(new Set(labels).size).toBe(1)
  })

  it('keeps labels once after a rollout, in which old pods and new ones come in turns: else each new pod keeps labels of its own', () => {
    const collection = open()
    const staged = collection.stage()
    const copies = [0, 1, 2, 3]
    const old = (copy: number, version: string) => object(`shop-old-${copy}`, version, { app: 'old' })
    for (const copy of copies) staged.put(old(copy, '1'))
    staged.commit('1')
    for (const copy of copies) {
      const added = object(`shop-new-${copy}`, `${10 * copy + 11}`, { app: 'new' })
      collection.apply({ type: 'ADDED', object: added })
      const leaving = old(copy, `${10 * copy + 12}`)
      collection.apply({
        type: 'MODIFIED',
        object: { ...leaving, metadata: { ...leaving.metadata, finalizers: ['x'] } },
      })
      collection.apply({ type: 'DELETED', object: old(copy, `${10 * copy + 13}`) })
    }
    const labels = collection.contents.list().map(({ metadata }) => metadata.labels)
    expect(labels).toEqual(copies.map(() => ({ app: 'new' })))
    expect(new Set(labels).size).toBe(1)
  })

  it('leaves what changed at its place in an index whose value stays, and no second text of its key with it', () => {
    const collection = open({ namespace: ({ metadata }) => [metadata.namespace ?? ''] })
    const staged = collection.stage()
    for (const name of ['a', 'b', 'c']) staged.put(object(name, '1'))
    staged.commit('1')
    const names = () => collection.contents.byIndex('namespace', 'shop').map(({ metadata }) => metadata.name)
    expect(names()).toEqual(['a', 'b', 'c'])
    collection.apply({ type: 'MODIFIED', object: object('a', '2', { app: 'bank' }) })
    expect(names()).toEqual(['a', 'b', 'c'])
    expect(collection.contents.byIndex('namespace', 'shop')[0]?.metadata.labels).toEqual({ app: 'bank' })
  })
})
