import { expect, it } from 'vitest'
import type { ClusterView, EventView, NodeView } from './cluster-view.ts'
import { applyChange, keptEvents } from './view-change.ts'

const node = (id: string, isCordoned = false): NodeView => ({ id, zone: '', roles: [], readiness: 'ready', isCordoned })
const event = (id: string, at: string): EventView => ({
  id,
  about: 'Node n',
  type: 'Normal',
  reason: 'R',
  message: '',
  count: 1,
  at,
  order: 0,
})
const view: ClusterView = {
  nodes: [node('a'), node('b')],
  pods: [],
  budgets: [],
  drains: [],
  ledgers: [],
  longhorn: [],
  events: [event('x', '2026-01-01T00:00:00Z')],
}

it('what is set replaces, what is gone goes, what is new comes last', () => {
  const change = { nodes: { set: [node('c'), node('b', true)], gone: ['a', 'never-seen'] } }
  expect(applyChange(view, change).nodes).toEqual([node('b', true), node('c')])
})

it('collections that did not change keep their identity', () => {
  const after = applyChange(view, { nodes: { set: [], gone: ['a'] } })
  expect(after.pods).toBe(view.pods)
  expect(after.events).toBe(view.events)
})

it('the same change twice is the same as once, so overlap with a snapshot does no harm', () => {
  const change = { nodes: { set: [node('b', true)], gone: ['a'] } }
  expect(applyChange(applyChange(view, change), change)).toEqual(applyChange(view, change))
})

it('old events make room for new ones', () => {
  const set = Array.from({ length: keptEvents }, (_, index) =>
    event(`e${index}`, new Date(Date.UTC(2026, 1) + index).toISOString()),
  )
  const { events } = applyChange(view, { events: { set, gone: [] } })
  expect(events).toHaveLength(keptEvents)
  expect(events.some(({ id }) => id === 'x')).toBe(false)
  expect(events[0]?.id).toBe(`e${keptEvents - 1}`)
})

it('what was never there comes with its first piece, and stays away without', () => {
  const plan = { piece: 'plan' as const, id: 'plan ns/ceph', of: 'ns/ceph', rounds: [[0]] }
  expect(applyChange(view, { nodes: { set: [], gone: [] } })).not.toHaveProperty('osdUpdates')
  const after = applyChange(view, { osdUpdates: { set: [plan], gone: [] } })
  expect(after.osdUpdates).toEqual([plan])
  expect(applyChange(after, { nodes: { set: [], gone: [] } }).osdUpdates).toBe(after.osdUpdates)
})
