import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import type { Bucket } from './bucket.ts'
import type { ChangeCursor } from './change-cursor.ts'
import type { Change } from './change-log.ts'
import { ObjectStore } from './object-store.ts'

interface Thing extends KubeObject {
  readonly spec: { readonly node?: string; readonly size?: number; readonly list?: readonly object[] }
}

function thing(name: string, spec: Thing['spec'] = {}): Thing {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name, namespace: 'shop' }, spec }
}

function put(bucket: Bucket, object: Thing): KubeObject {
  const key = `shop/${object.metadata.name}`
  return bucket.put(key, object, bucket.get(key)) as KubeObject
}

function remove(bucket: Bucket, name: string): KubeObject | undefined {
  return bucket.remove(`shop/${name}`, bucket.get(`shop/${name}`) as KubeObject)
}

function keysOf(objects: { entries(): Iterable<[string, KubeObject]> } | undefined): string[] | undefined {
  return objects === undefined ? undefined : [...objects.entries()].map(([key]) => key)
}

function drain(cursor: ChangeCursor): string[] {
  const seen: string[] = []
  for (let change = cursor.take(); change !== undefined; change = cursor.take()) seen.push(textOf(change))
  return seen
}

const textOf = ({ type, key, version }: Change) => `${type} ${key} at ${version}`
const all = () => true

describe('a write', () => {
  it('gets the next version of the whole store, whatever it is written to', () => {
    const store = new ObjectStore()
    const versions = [
      put(store.bucket('a'), thing('x')),
      put(store.bucket('b'), thing('x')),
      put(store.bucket('a'), thing('x')),
    ].map(({ metadata }) => metadata.resourceVersion)
    expect(versions).toEqual(['1001', '1002', '1003'])
    expect(store.version).toBe(1003)
  })

  it('is refused when somebody else was faster, and then nothing changes', () => {
    const bucket = new ObjectStore().bucket('a')
    const first = put(bucket, thing('x', { size: 1 }))
    const second = put(bucket, thing('x', { size: 2 }))
    expect(bucket.put('shop/x', thing('x', { size: 3 }), first)).toBeUndefined()
    expect(bucket.put('shop/x', thing('x', { size: 3 }), undefined)).toBeUndefined()
    expect(bucket.remove('shop/x', first)).toBeUndefined()
    expect(bucket.get('shop/x')).toBe(second)
  })

  it('freezes what it stores to the last leaf, and shares what did not change', () => {
    const bucket = new ObjectStore().bucket('a')
    const first = put(bucket, thing('x', { list: [{ deep: { er: 1 } }] })) as Thing
    const second = put(bucket, { ...first, metadata: { ...first.metadata, labels: { a: 'b' } } }) as Thing
    expect(second.spec).toBe(first.spec)
    for (const part of [second, second.metadata, second.metadata.labels, second.spec, second.spec.list?.[0]]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    expect(() => {
      Object.assign(second.spec.list?.[0] as object, { deep: 2 })
    }).toThrow(TypeError)
  })

  it('leaves the version of what it was given alone', () => {
    const given = thing('x')
    const stored = put(new ObjectStore().bucket('a'), given)
    expect([given.metadata.resourceVersion, stored.metadata.resourceVersion]).toEqual([undefined, '1001'])
  })
})

describe('a removal', () => {
  it('answers with the last state and the version of the removal', () => {
    const bucket = new ObjectStore().bucket('a')
    const stored = put(bucket, thing('x', { size: 1 })) as Thing
    expect(remove(bucket, 'x')).toEqual({ ...stored, metadata: { ...stored.metadata, resourceVersion: '1002' } })
    expect(bucket.get('shop/x')).toBeUndefined()
    expect(bucket.size).toBe(0)
  })
})

describe('an earlier state', () => {
  it('is shown as it was, whatever was added, changed and removed since', () => {
    const store = new ObjectStore()
    const bucket = store.bucket('a')
    const kept = put(bucket, thing('kept', { size: 1 }))
    put(bucket, thing('removed'))
    const then = store.version
    put(bucket, thing('kept', { size: 2 }))
    put(bucket, thing('added'))
    remove(bucket, 'removed')
    expect(keysOf(bucket.at(then))).toEqual(['shop/kept', 'shop/removed'])
    expect(bucket.at(then)?.get('shop/kept')).toBe(kept)
    expect(keysOf(bucket)).toEqual(['shop/added', 'shop/kept'])
  })

  it('is held for whoever turns pages, even when the log has forgotten it', () => {
    const store = new ObjectStore({ eventLogLength: 2 })
    const bucket = store.bucket('a')
    put(bucket, thing('a'))
    const then = store.version
    bucket.snapshot()
    for (const name of ['b', 'c', 'd', 'e']) put(bucket, thing(name))
    expect(keysOf(bucket.at(then))).toEqual(['shop/a'])
    expect(bucket.at(then + 1)).toBeUndefined()
  })

  it('is gone when more readers than are remembered have started since', () => {
    const store = new ObjectStore({ eventLogLength: 2 })
    const bucket = store.bucket('a')
    put(bucket, thing('a'))
    const then = store.version
    bucket.snapshot()
    for (let count = 0; count < 20; count += 1) {
      put(bucket, thing(`b${count}`))
      bucket.snapshot()
    }
    expect(bucket.at(then)).toBeUndefined()
  })

  it('is gone after compaction', () => {
    const store = new ObjectStore()
    const bucket = store.bucket('a')
    put(bucket, thing('a'))
    const then = store.version
    bucket.snapshot()
    put(bucket, thing('b'))
    store.compact()
    expect(bucket.at(then)).toBeUndefined()
    expect(bucket.oldestVersion).toBe(store.version)
  })
})

describe('a reader of changes', () => {
  it('gets every change after its version, in order, and then waits for more', () => {
    const store = new ObjectStore()
    const bucket = store.bucket('a')
    put(bucket, thing('x'))
    const cursor = bucket.follow(store.version, all)
    put(bucket, thing('x', { size: 2 }))
    remove(bucket, 'x')
    expect(drain(cursor)).toEqual(['MODIFIED shop/x at 1002', 'DELETED shop/x at 1003'])
    let wakes = 0
    cursor.sleep(() => {
      wakes += 1
    })
    put(bucket, thing('y'))
    put(bucket, thing('z'))
    expect(wakes).toBe(1)
    expect(drain(cursor)).toEqual(['ADDED shop/y at 1004', 'ADDED shop/z at 1005'])
  })

  it('sleeps through what it does not want', () => {
    const bucket = new ObjectStore().bucket('a')
    const cursor = bucket.follow(1000, ({ key }) => key === 'shop/mine')
    let wakes = 0
    cursor.sleep(() => {
      wakes += 1
    })
    put(bucket, thing('other'))
    expect(wakes).toBe(0)
    put(bucket, thing('mine'))
    expect(wakes).toBe(1)
    expect(drain(cursor)).toEqual(['ADDED shop/mine at 1002'])
  })

  it('that is too slow is cut off instead of holding anything up', () => {
    const bucket = new ObjectStore({ eventLogLength: 3 }).bucket('a')
    const cursor = bucket.follow(1000, all)
    for (const name of ['a', 'b', 'c']) put(bucket, thing(name))
    expect(cursor.hasEnded).toBe(false)
    put(bucket, thing('d'))
    expect(cursor.hasEnded).toBe(true)
    expect(cursor.take()).toBeUndefined()
  })

  it('goes on over a compaction, though nobody can start from before it any more', () => {
    const store = new ObjectStore()
    const bucket = store.bucket('a')
    const cursor = bucket.follow(1000, all)
    put(bucket, thing('a'))
    store.compact()
    expect(bucket.oldestVersion).toBe(1001)
    expect(drain(cursor)).toEqual(['ADDED shop/a at 1001'])
  })

  it('ends when its resource is no longer served, and the next one of that name starts empty', () => {
    const store = new ObjectStore()
    const bucket = store.bucket('a')
    put(bucket, thing('a'))
    const cursor = bucket.follow(store.version, all)
    let wakes = 0
    cursor.sleep(() => {
      wakes += 1
    })
    store.drop('a')
    expect([wakes, cursor.hasEnded]).toEqual([1, true])
    expect([store.bucket('a').size, store.bucket('a').oldestVersion]).toEqual([0, store.version])
  })
})

describe('an observer', () => {
  const observed = (store: ObjectStore) => {
    const seen: string[] = []
    const stop = store.observe('a', ({ type, object }) => seen.push(`${type} ${object.metadata.name}`))
    return { seen, stop }
  }

  it('is told what is there, in key order, and then each change before the write returns', () => {
    const store = new ObjectStore({ eventLogLength: 2 })
    for (const name of ['y', 'x']) put(store.bucket('a'), thing(name))
    const { seen } = observed(store)
    expect(seen.splice(0)).toEqual(['ADDED x', 'ADDED y'])
    put(store.bucket('a'), thing('x', { size: 1 }))
    expect(seen.splice(0)).toEqual(['MODIFIED x'])
    for (let size = 2; size < 9; size += 1) put(store.bucket('a'), thing('x', { size }))
    remove(store.bucket('a'), 'y')
    put(store.bucket('b'), thing('elsewhere'))
    expect(seen.splice(0)).toEqual([...Array.from({ length: 7 }, () => 'MODIFIED x'), 'DELETED y'])
  })

  it('goes on when the resource was dropped and is served again', () => {
    const store = new ObjectStore()
    const { seen } = observed(store)
    store.drop('a')
    put(store.bucket('a'), thing('x'))
    expect(seen).toEqual(['ADDED x'])
  })

  it('is told nothing more once it was stopped, and nothing of a fork', () => {
    const store = new ObjectStore()
    const { seen, stop } = observed(store)
    put(store.fork().bucket('a'), thing('x'))
    stop()
    put(store.bucket('a'), thing('y'))
    expect(seen).toEqual([])
  })
})

describe('a search by field', () => {
  it('follows every change of the field', () => {
    const bucket = new ObjectStore().bucket('a')
    const names = (node: string) => bucket.withField('spec.node', node).map(({ metadata }) => metadata.name)
    for (const name of ['c', 'a', 'b']) put(bucket, thing(name, { node: 'n1' }))
    expect(names('n1')).toEqual(['a', 'b', 'c'])
    put(bucket, thing('b', { node: 'n2' }))
    put(bucket, thing('d', { node: 'n1' }))
    remove(bucket, 'c')
    expect([names('n1'), names('n2'), names('n3')]).toEqual([['a', 'd'], ['b'], []])
  })
})

describe('a fork', () => {
  it('starts as the original is, and then each goes its own way', () => {
    const store = new ObjectStore()
    put(store.bucket('a'), thing('x'))
    const fork = store.fork()
    put(store.bucket('a'), thing('original'))
    remove(fork.bucket('a'), 'x')
    expect([keysOf(store.bucket('a')), keysOf(fork.bucket('a'))]).toEqual([['shop/original', 'shop/x'], []])
    expect([store.version, fork.version]).toEqual([1002, 1002])
    expect(fork.bucket('a').oldestVersion).toBe(1001)
  })
})

describe('a store that is put back to a backup', () => {
  it('has the objects and versions of then, gives out versions again, ends its readers, and tells observers what differs', () => {
    const store = new ObjectStore()
    const bucket = store.bucket('a')
    for (const name of ['same', 'changed', 'gone']) put(bucket, thing(name))
    const backup = store.fork()
    remove(bucket, 'gone')
    put(bucket, thing('changed', { node: 'n1' }))
    put(bucket, thing('new'))
    const told: string[] = []
    store.observe('a', ({ type, object }) => told.push(`${type} ${object.metadata.name}`))
    told.length = 0
    const reader = bucket.follow(store.version, () => true)
    store.restore(backup)
    expect([keysOf(bucket), store.version, reader.hasEnded]).toEqual([
      ['shop/changed', 'shop/gone', 'shop/same'],
      backup.version,
      true,
    ])
    expect(told.sort()).toEqual(['ADDED gone', 'DELETED new', 'MODIFIED changed'])
    put(bucket, thing('later'))
    expect([bucket.get('shop/later')?.metadata.resourceVersion, bucket.oldestVersion]).toEqual([
      String(backup.version + 1),
      backup.version,
    ])
    const next = bucket.follow(backup.version, () => true)
    expect(next.take()?.key).toBe('shop/later')
  })
})
