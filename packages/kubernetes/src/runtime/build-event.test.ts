import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { buildEvent, type EventText } from './build-event.ts'
import { seededRandom } from './random.ts'

const about = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'u1', resourceVersion: '7' },
}
const text: EventText = { type: 'Warning', reason: 'CephSilent', note: 'Ceph has not answered.' }
const source = () => ({
  clock: new VirtualClock(Date.parse('2026-01-01T00:00:00Z')),
  random: seededRandom(1),
  component: 'cofferdam',
})

describe('an event', () => {
  it('stands in the namespace of its object, names it exactly, and says who tells', () => {
    const event = buildEvent(about, text, source())
    expect(event).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: event.metadata.name, namespace: 'rook-ceph' },
      involvedObject: {
        apiVersion: 'ceph.rook.io/v1',
        kind: 'CephCluster',
        namespace: 'rook-ceph',
        name: 'rook-ceph',
        uid: 'u1',
        resourceVersion: '7',
      },
      type: 'Warning',
      reason: 'CephSilent',
      message: 'Ceph has not answered.',
      source: { component: 'cofferdam' },
      reportingComponent: 'cofferdam',
      reportingInstance: '',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    })
    expect(event.metadata.name).toMatch(/^rook-ceph\.[0-9a-f]+[a-z0-9]{5}$/)
  })

  it('about a node stands in the namespace default, where kubectl describe looks for it', () => {
    const event = buildEvent({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }, text, source())
    expect([event.metadata.namespace, event.involvedObject]).toEqual([
      'default',
      { apiVersion: 'v1', kind: 'Node', name: 'a' },
    ])
  })

  it('told twice in the same moment has two names', () => {
    const same = source()
    expect(buildEvent(about, text, same).metadata.name).not.toBe(buildEvent(about, text, same).metadata.name)
  })

  const lengths: Record<string, { given: string; then: string }> = {
    'of the longest note that the server takes is whole': { given: 'a'.repeat(1024), then: 'a'.repeat(1024) },
    'of a longer note ends with an ellipsis, and is taken': { given: 'a'.repeat(1025), then: `${'a'.repeat(1023)}…` },
  }
  it.each(Object.entries(lengths))('%s', (_name, { given, then }) => {
    expect(buildEvent(about, { ...text, note: given }, source()).message).toBe(then)
  })

  it('about an object with the longest of names has a name that the server takes', () => {
    const longest = { ...about, metadata: { ...about.metadata, name: 'n'.repeat(253) } }
    const { metadata, involvedObject } = buildEvent(longest, text, source())
    expect([metadata.name.length, involvedObject.name]).toEqual([253, 'n'.repeat(253)])
  })

  it('takes out of its note what would do harm where kubectl prints it', () => {
    const harmless = (note: string) => note.replace('\u001b', '')
    const { message } = buildEvent(about, { ...text, note: '\u001b[2J' }, { ...source(), harmless })
    expect(message).toBe('[2J')
  })
})
