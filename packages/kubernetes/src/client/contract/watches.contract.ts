import { describe, expect, it } from 'vitest'
import { configMaps, pods } from '../../api/resources.ts'
import type { WatchEvent } from '../kube-api.ts'
import { type ContractFixture, createMap, firstEvents, pod, refusal } from './fixture.contract.ts'

const labelled = (name: string, labels: Record<string, string>) => ({ metadata: { name, labels } })

function outline(events: readonly WatchEvent[]): string[] {
  return events.map((event) => (event.type === 'BOOKMARK' ? event.type : `${event.type} ${event.object.metadata.name}`))
}

/** Being told of changes. */
export function describeWatches(fixture: ContractFixture): void {
  const relabel = (namespace: string, name: string, labels: Record<string, string | null>) =>
    fixture.api.patch(configMaps, { namespace, name }, { type: 'merge', body: { metadata: { labels } } })

  describe('watching', () => {
    it('from a version, every later change comes once, in order, with the object as it was answered', async () => {
      const namespace = await fixture.namespace()
      const query = { namespace, labelSelector: 'scenario=watch' }
      const { resourceVersion } = await fixture.api.list(configMaps, query)
      const created = await createMap(fixture, namespace, 'a', labelled('a', { scenario: 'watch' }))
      const updated = await fixture.api.update(configMaps, { ...created, data: { key: 'new' } })
      await createMap(fixture, namespace, 'b', labelled('b', { scenario: 'watch' }))
      await fixture.api.delete(configMaps, { namespace, name: 'a' })
      const events = await firstEvents(fixture.api, configMaps, { ...query, resourceVersion }, 4)
      expect(outline(events)).toEqual(['ADDED a', 'MODIFIED a', 'ADDED b', 'DELETED a'])
      expect(events[0]).toEqual({ type: 'ADDED', object: created })
      expect(events[1]).toEqual({ type: 'MODIFIED', object: updated })
      const last = events[3] as Extract<WatchEvent, { object: unknown }>
      expect(BigInt(last.object.metadata.resourceVersion ?? '')).toBeGreaterThan(
        BigInt(updated.metadata.resourceVersion ?? ''),
      )
    })

    it('goes on with what happens while it runs', async () => {
      const namespace = await fixture.namespace()
      const query = { namespace, labelSelector: 'scenario=watch' }
      const { resourceVersion } = await fixture.api.list(configMaps, query)
      const events = firstEvents(fixture.api, configMaps, { ...query, resourceVersion }, 3)
      for (const name of ['a', 'b', 'c'])
        await createMap(fixture, namespace, name, labelled(name, { scenario: 'watch' }))
      expect(outline(await events)).toEqual(['ADDED a', 'ADDED b', 'ADDED c'])
    })

    it('without a version, what is there comes first', async () => {
      const namespace = await fixture.namespace()
      for (const name of ['a', 'b']) await createMap(fixture, namespace, name, labelled(name, { scenario: 'watch' }))
      const events = firstEvents(fixture.api, configMaps, { namespace, labelSelector: 'scenario=watch' }, 3)
      await createMap(fixture, namespace, 'c', labelled('c', { scenario: 'watch' }))
      expect(outline(await events).toSorted()).toEqual(['ADDED a', 'ADDED b', 'ADDED c'])
    })

    it('with initial events, what is there comes first and a bookmark ends it', async () => {
      const namespace = await fixture.namespace()
      for (const name of ['a', 'b']) await createMap(fixture, namespace, name, labelled(name, { scenario: 'watch' }))
      const abort = new AbortController()
      const seen: WatchEvent[] = []
      const query = {
        namespace,
        labelSelector: 'scenario=watch',
        sendInitialEvents: true,
        resourceVersionMatch: 'NotOlderThan' as const,
        allowBookmarks: true,
        signal: abort.signal,
      }
      for await (const event of fixture.api.watch(configMaps, query)) {
        seen.push(event)
        if (event.type === 'BOOKMARK' && event.initialEventsEnd === true) break
      }
      abort.abort()
      expect(outline(seen.slice(0, -1)).toSorted()).toEqual(['ADDED a', 'ADDED b'])
      expect(seen.at(-1)).toMatchObject({
        type: 'BOOKMARK',
        initialEventsEnd: true,
        resourceVersion: expect.stringMatching(/^[0-9]+$/),
      })
    })

    it('an object that comes into the selection is added, one that leaves it is deleted', async () => {
      const namespace = await fixture.namespace()
      const { resourceVersion } = await fixture.api.list(configMaps, { namespace })
      await createMap(fixture, namespace, 'a', labelled('a', { colour: 'green' }))
      await relabel(namespace, 'a', { colour: 'red' })
      await relabel(namespace, 'a', { size: 'big' })
      await relabel(namespace, 'a', { colour: null })
      await createMap(fixture, namespace, 'b', labelled('b', { colour: 'red' }))
      const query = { namespace, labelSelector: 'colour=red', resourceVersion }
      const events = await firstEvents(fixture.api, configMaps, query, 4)
      expect(outline(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b'])
    })

    it('a pod that is bound comes into the selection of its node', async () => {
      const namespace = await fixture.namespace()
      const { resourceVersion } = await fixture.api.list(pods, { namespace })
      await fixture.api.create(pods, pod(namespace, 'a'))
      await fixture.api.createSubresource(pods, { namespace, name: 'a' }, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'a', namespace },
        target: { apiVersion: 'v1', kind: 'Node', name: 'contract-node' },
      })
      const query = { namespace, fieldSelector: 'spec.nodeName=contract-node', resourceVersion }
      expect(outline(await firstEvents(fixture.api, pods, query, 1))).toEqual(['ADDED a'])
      const call = fixture.api.createSubresource(pods, { namespace, name: 'a' }, 'binding', {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'a', namespace },
        target: { apiVersion: 'v1', kind: 'Node', name: 'contract-other' },
      })
      expect(await refusal(call)).toMatchObject({ code: 409, reason: 'Conflict' })
    })

    it('ends without an error when its signal fires', async () => {
      const namespace = await fixture.namespace()
      const abort = new AbortController()
      const { resourceVersion } = await fixture.api.list(configMaps, { namespace })
      const ended = (async () => {
        for await (const _ of fixture.api.watch(configMaps, { namespace, resourceVersion, signal: abort.signal })) {
          return 'told of something'
        }
        return 'ended'
      })()
      abort.abort()
      expect(await ended).toBe('ended')
    })

    it('ends without an error when its time is over', async () => {
      const namespace = await fixture.namespace()
      const { resourceVersion } = await fixture.api.list(configMaps, { namespace })
      const seen: WatchEvent[] = []
      for await (const event of fixture.api.watch(configMaps, { namespace, resourceVersion, timeoutSeconds: 1 })) {
        if (event.type !== 'BOOKMARK') seen.push(event)
      }
      expect(seen).toEqual([])
    })

    it('from a version that is forgotten is refused with 410', async (context) => {
      if (fixture.subject.compact === undefined) return context.skip()
      const namespace = await fixture.namespace()
      const { resourceVersion } = await fixture.api.list(configMaps, { namespace })
      for (const name of ['a', 'b', 'c']) await createMap(fixture, namespace, name)
      await fixture.subject.compact()
      await createMap(fixture, namespace, 'd')
      expect(await refusal(firstEvents(fixture.api, configMaps, { namespace, resourceVersion }, 1))).toMatchObject({
        code: 410,
        reason: 'Expired',
      })
    })

    it('with a selector that cannot be read is refused with 400', async () => {
      const namespace = await fixture.namespace()
      const call = firstEvents(fixture.api, configMaps, { namespace, labelSelector: 'a in (b' }, 1)
      expect(await refusal(call)).toMatchObject({ code: 400, reason: 'BadRequest' })
    })

    it('of a kind that is not served is refused with 404', async () => {
      const type = { group: 'nobody.example', version: 'v1', plural: 'things', kind: 'Thing', namespaced: false }
      expect(await refusal(firstEvents(fixture.api, type, {}, 1))).toMatchObject({ code: 404 })
    })
  })
}
