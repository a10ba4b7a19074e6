import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from './kinds/node-disruption.ts'
import { madeForLabel } from './made-for.ts'
import { known, unknown } from './observed.ts'
import { decideToolRequests, type ToolRequestSnapshot, type WantedNode } from './tool-request.ts'

const wanted: WantedNode = {
  nodeName: 'worker-1',
  askedBy: 'nodemaintenance/rack-2',
  identity: 'U1 boot-1',
  reason: 'new firmware',
  spec: { intent: 'Reboot', honourSkipDrain: true, force: true },
}
const made = request('worker-1')

function request(nodeName: string, change: Partial<NodeDisruption['metadata']> & { phase?: string } = {}) {
  const { phase, ...metadata } = change
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: `${nodeName}-tool-00000000`, uid: 'R1', labels: { [madeForLabel]: 'tool' }, ...metadata },
    spec: { nodeName, intent: 'Reboot', honourSkipDrain: true },
    ...(phase === undefined ? {} : { status: { phase } }),
  } as NodeDisruption
}

const withdrawal = { do: 'write', write: 'withdrawal', name: 'worker-1-tool-00000000', uid: 'R1' }
const making = { do: 'write', write: 'request' }
/** Its name is the same whenever it is made for the same outage. */
const [sameOutage] = decideToolRequests({ tool: 'tool', wanted: known([wanted]), requests: known([]) })
const nameOfOutage = sameOutage?.write === 'request' ? sameOutage.request.metadata.name : ''

const rows: Record<string, { given: Partial<ToolRequestSnapshot>; then: readonly object[] }> = {
  'a node that a tool wants gets a request that names the tool and what asks': {
    given: {},
    then: [
      {
        ...making,
        request: {
          metadata: {
            name: nameOfOutage,
            labels: { [madeForLabel]: 'tool' },
            annotations: { 'cofferdam.io/asked-by': 'nodemaintenance/rack-2' },
          },
          spec: { nodeName: 'worker-1', requester: 'tool', reason: 'new firmware', intent: 'Reboot', force: true },
        },
      },
    ],
  },
  'a node that has its request gets no second one': { given: { requests: known([made]) }, then: [] },
  'a request of a person for the same node does not count: the one of the tool waits behind it': {
    given: { requests: known([request('worker-1', { labels: {} })]) },
    then: [making],
  },
  'a request that another tool has for the node does not count either': {
    given: { requests: known([request('worker-1', { labels: { [madeForLabel]: 'other' } })]) },
    then: [making],
  },
  'an outage that is over is not asked for again, or the node would be drained for ever': {
    given: { requests: known([request('worker-1', { name: nameOfOutage, phase: 'Completed' })]) },
    then: [],
  },
  'another outage of the same node is asked for': {
    given: { requests: known([request('worker-1', { phase: 'Completed' })]) },
    then: [making],
  },
  'a request that is being cancelled serves no node: the next is made under its own name': {
    given: { requests: known([request('worker-1', { deletionTimestamp: '2026-01-01T00:00:00Z' })]) },
    then: [making],
  },
  'a node that the tool does not want any more is given up': {
    given: { wanted: known([]), requests: known([made]) },
    then: [withdrawal],
  },
  'a request whose node is back and recovers ends by itself: deleted, it would leave no record': {
    given: { wanted: known([]), requests: known([request('worker-1', { phase: 'Recovering' })]) },
    then: [],
  },
  'a request that is over is left for those who ask how it went': {
    given: { wanted: known([]), requests: known([request('worker-1', { phase: 'Completed' })]) },
    then: [],
  },
  'requests of people are never withdrawn': {
    given: { wanted: known([]), requests: known([request('worker-1', { labels: {} })]) },
    then: [],
  },
  'two objects that want one node get one request': {
    given: { wanted: known([wanted, { ...wanted, identity: 'U2' }]) },
    then: [making],
  },
  'a node that its tool has not begun with, or has emptied by itself, gets no request: it would be drained for nothing':
    {
      given: { wanted: known([{ ...wanted, isOnlyKept: true }]) },
      then: [],
    },
  'a node that its tool has emptied keeps the request that drained it, for it is about to go down': {
    given: {
      wanted: known([{ ...wanted, isOnlyKept: true }]),
      requests: known([request('worker-1', { phase: 'Drained' })]),
    },
    then: [],
  },
  'a request that still waits when its tool has emptied the node is given up: it would drain the node once more': {
    given: {
      wanted: known([{ ...wanted, isOnlyKept: true }]),
      requests: known([request('worker-1', { phase: 'Waiting' })]),
    },
    then: [withdrawal],
  },
  'what the tool wants is not known: nothing is withdrawn, for its node may be going down': {
    given: { wanted: unknown('not read'), requests: known([made]) },
    then: [],
  },
  'which requests stand is not known: none is made': { given: { requests: unknown('not read') }, then: [] },
}

describe('requests for a tool', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    const steps = decideToolRequests({ tool: 'tool', wanted: known([wanted]), requests: known([]), ...given })
    expect(steps).toHaveLength(then.length)
    expect(steps).toMatchObject(then)
  })

  it('have names that Kubernetes accepts, however long the node is called', () => {
    const nodeName = `${'long-name.'.repeat(25)}x`
    const [step] = decideToolRequests({ tool: 'tool', wanted: known([{ ...wanted, nodeName }]), requests: known([]) })
    const name = step?.write === 'request' ? step.request.metadata.name : ''
    expect(name).toMatch(/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/)
  })
})
