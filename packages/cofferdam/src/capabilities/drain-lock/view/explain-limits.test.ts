import { describe, expect, it } from 'vitest'
import { emptyLedger, enqueue, grant, type Ledger } from '../../../ledger/rules/ledger.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { type CountedNode, defaultMaintenancePolicy } from '../domain/maintenance-limits.ts'
import { answerLimits, type LimitView, limitLines, summarizeLimits } from './explain-limits.ts'

const control = (name: string, facts: Partial<CountedNode> = {}): CountedNode => ({
  name,
  labels: { 'node-role.kubernetes.io/control-plane': '' },
  isReady: true,
  isClosed: false,
  ...facts,
})

function requestFor(node: string): Parameters<typeof grant>[1] {
  const claims = [
    { key: `node/${node}`, uid: node, scope: '' },
    { key: 'limit/control-plane', uid: '', scope: '', most: 1 },
  ]
  const holder = `operator-1 for nodedisruption/reboot-${node}`
  return { requestId: 'R1', holder, claims, now: '2026-01-01T00:00:00Z' }
}

function heldBy(node: string): Ledger {
  return grant(emptyLedger, requestFor(node)).ledger
}

function seen(change: Partial<LimitView> = {}): LimitView {
  return {
    nodes: [control('a'), control('b'), control('c'), { ...control('d'), labels: {} }],
    policy: known(defaultMaintenancePolicy),
    ledger: known(emptyLedger),
    ...change,
  }
}

const rows: Record<string, { given: LimitView; node: string; status: string[] }> = {
  'a free limit is named for its nodes, and not in the status': {
    given: seen(),
    node: 'limit/control-plane: 0 of 1 in maintenance',
    status: [],
  },
  'a request that holds a place is named with its node': {
    given: seen({ ledger: known(heldBy('b')) }),
    node: 'limit/control-plane: 1 of 1 in maintenance: b (nodedisruption/reboot-b)',
    status: ['limit/control-plane: 1 of 1 in maintenance: b (nodedisruption/reboot-b)'],
  },
  'a node that is away without a request is named, so that it is clear what keeps the others': {
    given: seen({ nodes: [control('a'), control('b', { isReady: false }), control('c')] }),
    node: 'limit/control-plane: 1 of 1 in maintenance: b (not Ready, without a request)',
    status: ['limit/control-plane: 1 of 1 in maintenance: b (not Ready, without a request)'],
  },
  'a node that a tool has closed before its turn is not called without a request: the request waits, and was to be found nowhere':
    {
      given: seen({
        ledger: known(enqueue(emptyLedger, requestFor('b'))),
        nodes: [control('a'), control('b', { isClosed: true }), control('c')],
      }),
      node: 'limit/control-plane: 1 of 1 in maintenance: b (closed, nodedisruption/reboot-b is queued)',
      status: ['limit/control-plane: 1 of 1 in maintenance: b (closed, nodedisruption/reboot-b is queued)'],
    },
  'a node that is away for a request is named once': {
    given: seen({ ledger: known(heldBy('b')), nodes: [control('a'), control('b', { isClosed: true })] }),
    node: 'limit/control-plane: 1 of 1 in maintenance: b (nodedisruption/reboot-b)',
    status: ['limit/control-plane: 1 of 1 in maintenance: b (nodedisruption/reboot-b)'],
  },
  'a policy that cannot be read is a reason why no drain starts': {
    given: seen({ policy: unknown('disruptionpolicy/cluster cannot be read') }),
    node: 'no drain starts: disruptionpolicy/cluster cannot be read',
    status: ['no drain starts: disruptionpolicy/cluster cannot be read'],
  },
}

describe('what is said of limits on nodes in maintenance', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, node, status }) => {
    const answer = answerLimits(given, 'a')
    const summary = summarizeLimits(given)
    expect(answer === undefined ? [] : limitLines(answer)).toEqual([node])
    expect(summary === undefined ? [] : limitLines(summary)).toEqual(status)
  })

  it('a worker that no limit counts has nothing said of it', () => {
    expect(answerLimits(seen(), 'd')).toBeUndefined()
  })

  it('in the status the node that is away counts, though each node is no reason for itself', () => {
    const only = seen({ nodes: [control('a', { isReady: false })] })
    expect(limitLines(summarizeLimits(only) ?? { limits: [] })).toEqual([
      'limit/control-plane: 1 of 1 in maintenance: a (not Ready, without a request)',
    ])
  })
})
