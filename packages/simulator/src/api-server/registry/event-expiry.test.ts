import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import { events } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { fixture } from './testing/fixture.ts'

const minute = 60_000

function event(name: string, lastTimestamp: string): Event {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'default' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    lastTimestamp,
  }
}

describe('events', () => {
  it('are forgotten an hour after they were last seen', async () => {
    const { api, server, clock } = fixture()
    server.start()
    await api.create(events, event('once', '2026-01-01T00:00:00Z'))
    await api.create(events, event('again', '2026-01-01T00:00:00Z'))
    const left = async () => (await api.list(events)).items.map(({ metadata }) => metadata.name)
    await clock.advance(30 * minute)
    await api.patch(
      events,
      { namespace: 'default', name: 'again' },
      { type: 'merge', body: { lastTimestamp: '2026-01-01T00:30:00Z' } },
    )
    await clock.advance(29 * minute)
    expect(await left()).toEqual(['again', 'once'])
    await clock.advance(2 * minute)
    expect(await left()).toEqual(['again'])
    await clock.advance(30 * minute)
    expect(await left()).toEqual([])
    server.stop()
  })
})
