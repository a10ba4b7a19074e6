import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { createAttemptPublisher } from './attempt-publisher.ts'
import { EvictionAttempts } from './eviction-attempts.ts'

describe('sightings of drains', () => {
  it('say for each node who tried last, since when, and how often', async () => {
    const clock = new VirtualClock(0)
    const attempts = new EvictionAttempts({ clock })
    attempts.note('node-a', 'alice')
    await clock.advance(60_000)
    attempts.note('node-a', 'bob')
    expect([attempts.of('node-a'), attempts.of('node-b')]).toEqual([
      { node: 'node-a', by: 'bob', sinceMs: 0, lastMs: 60_000, count: 2 },
      undefined,
    ])
  })

  it('begin anew after a quiet time', async () => {
    const clock = new VirtualClock(0)
    const attempts = new EvictionAttempts({ clock })
    attempts.note('node-a', 'alice')
    await clock.advance(300_000)
    expect(attempts.of('node-a')).toBeUndefined()
    expect(attempts.note('node-a', 'alice')).toMatchObject({ sinceMs: 300_000, count: 1 })
  })

  it('never remember more nodes than they may: those seen longest ago go', () => {
    const attempts = new EvictionAttempts({ clock: new VirtualClock(0), mostNodes: 3 })
    for (const node of ['a', 'b', 'c', 'a', 'd']) attempts.note(node, 'alice')
    expect([attempts.size, attempts.of('b'), attempts.of('a')?.count]).toEqual([3, undefined, 2])
  })
})

function fixture({ fails = false, isClosed = true } = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  const writes: unknown[] = []
  const errors: unknown[] = []
  let underWay = 0
  let mostUnderWay = 0
  const patch = async (_type: unknown, key: { name: string }, { body }: { body: unknown }) => {
    underWay += 1
    mostUnderWay = Math.max(mostUnderWay, underWay)
    await Promise.resolve()
    underWay -= 1
    if (fails) throw new ApiError('Forbidden', 'no')
    writes.push([key.name, body])
    return { apiVersion: 'v1', kind: 'Node', metadata: key }
  }
  const publisher = createAttemptPublisher({
    api: { patch: patch as unknown as KubeApi['patch'] },
    clock,
    isClosed: () => isClosed,
    onError: (error) => errors.push(error),
  })
  const attempts = new EvictionAttempts({ clock })
  const attempt = (node: string, by = 'alice') => publisher.publish(attempts.note(node, by))
  return { clock, writes, errors, publisher, attempt, mostUnderWay: () => mostUnderWay }
}

describe('what a guard writes of drains', () => {
  it('is on the node: who tried, and when', async () => {
    const { attempt, writes, clock } = fixture()
    attempt('node-a')
    await clock.advance(0)
    const says = '{"by":"alice","at":"2026-01-01T00:00:00Z"}'
    expect(writes).toEqual([['node-a', { metadata: { annotations: { 'cofferdam.io/eviction-attempted': says } } }]])
  })

  it('says at once what the guard refused it for, and not more than once a minute: kubectl describe node named only who tried', async () => {
    const { writes, clock, publisher } = fixture()
    const attempts = new EvictionAttempts({ clock })
    const refusals = ['pdb/shop/orders (AppLocked)', 'cephcluster/rook-ceph/rook-ceph (OtherDomainDown)']
    for (let second = 0; second < 60; second += 1) {
      publisher.publish(attempts.note('node-a', 'alice'))
      publisher.publish(attempts.note('node-a', 'alice', refusals[second % 2] as string))
      await clock.advance(1_000)
    }
    const texts = writes.map((write) => JSON.stringify(write))
    expect(texts.map((text) => text.includes('refusedFor'))).toEqual([false, true])
    expect(texts[1]).toContain('pdb/shop/orders (AppLocked)')
  })

  it('forgets a refusal that was not repeated', async () => {
    const clock = new VirtualClock(0)
    const attempts = new EvictionAttempts({ clock })
    attempts.note('node-a', 'alice')
    attempts.note('node-a', 'alice', 'pdb/shop/orders (AppLocked)')
    await clock.advance(60_000)
    expect(attempts.note('node-a', 'alice').refused?.says).toBe('pdb/shop/orders (AppLocked)')
    await clock.advance(60_000)
    expect(attempts.note('node-a', 'alice')).toMatchObject({ count: 3 })
    expect(attempts.of('node-a')?.refused).toBeUndefined()
  })

  it('is written once a minute however often somebody tries', async () => {
    const { attempt, writes, clock } = fixture()
    for (let second = 0; second < 120; second += 1) {
      attempt('node-a')
      await clock.advance(1_000)
    }
    expect(writes).toHaveLength(2)
  })

  it('is nothing while the node takes new pods', async () => {
    const { attempt, writes, clock } = fixture({ isClosed: false })
    attempt('node-a')
    await clock.advance(0)
    expect(writes).toEqual([])
  })

  it('is written a few at a time, for however many nodes', async () => {
    const { attempt, writes, clock, mostUnderWay } = fixture()
    for (let at = 0; at < 100; at += 1) attempt(`node-${at}`)
    await clock.advance(1)
    expect([writes.length, mostUnderWay()]).toEqual([100, 4])
  })

  it('that the server refuses is reported, and tried again a minute later', async () => {
    const { attempt, errors, clock } = fixture({ fails: true })
    attempt('node-a')
    await clock.advance(59_999)
    attempt('node-a')
    await clock.advance(1)
    expect(errors).toHaveLength(1)
    attempt('node-a')
    await clock.advance(1)
    expect(errors).toHaveLength(2)
  })

  it('ends with the guard', async () => {
    const { attempt, writes, clock, publisher } = fixture()
    await publisher.stop()
    attempt('node-a')
    await clock.advance(1)
    expect(writes).toEqual([])
  })
})
