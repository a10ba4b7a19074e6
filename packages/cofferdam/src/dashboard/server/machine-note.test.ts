import { describe, expect, it } from 'vitest'
import type { NodeView } from './cluster-view.ts'
import { viewCluster } from './cluster-view-model.ts'
import { type MachineNote, machineText } from './machine-note.ts'

const card = (state: MachineNote['state']): MachineNote => ({
  id: 'openshift/machines/m',
  name: 'm',
  node: 'node-m',
  state,
  reason: '',
})

describe('the line about a machine on the card of its node', () => {
  const cases: Record<string, { state: MachineNote['state']; isReady?: boolean; then: string }> = {
    'names it while all is well': { state: 'free', then: 'machine m' },
    'says that none may go, while storage cannot spare it': { state: 'kept', then: 'machine m, not to be fenced now' },
    'says that a sick one is kept': { state: 'kept', isReady: false, then: 'machine m is kept from being fenced' },
    'says that a sick one may go': { state: 'free', isReady: false, then: 'machine m may be fenced' },
    'says that one was let through': { state: 'fenced', isReady: false, then: 'machine m is being fenced' },
    'says that one is on its way out': { state: 'removed', then: 'machine m is being removed' },
  }
  it.each(Object.entries(cases))('%s', (_, { state, isReady = true, then }) => {
    expect(machineText(card(state), isReady)).toBe(then)
  })

  it('stands on its own node, and on no other', () => {
    const node = (id: string): NodeView => ({ id, zone: 'a', roles: [], readiness: 'ready', isCordoned: false })
    const { zones } = viewCluster({
      nodes: [node('node-m'), node('other')],
      pods: [],
      budgets: [],
      drains: [],
      ledgers: [],
      longhorn: [],
      machines: [card('free')],
      events: [],
    })
    expect(zones[0]?.nodes.map(({ machine }) => machine)).toEqual(['machine m', undefined])
  })
})
