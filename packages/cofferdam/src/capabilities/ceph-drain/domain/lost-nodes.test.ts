import { describe, expect, it } from 'vitest'
import { decideCephDrain } from './decide.ts'
import { lostNode } from './lost-nodes.ts'
import { inWords, nowMs, ours, type Scenario, settle, tell } from './testing/fixture.ts'

const notReady = { why: 'is NotReady', sinceMs: nowMs - 1_000 }
/** Kubernetes has lost node-2; its pod is ready still, and Ceph has its OSD up. */
const lost: Scenario = {
  lostNodes: { 'node-2': notReady },
  budgets: ours('default'),
  ceph: { assumedDownOsds: [2] },
}

const rows: Record<string, { given: Scenario; then: readonly string[]; reason: string; open?: readonly string[] }> = {
  'a node that turns NotReady closes every other zone before its pods or Ceph say anything: an eviction there would leave data with one copy':
    { given: lost, then: ['zone-1', 'zone-3'], reason: 'DomainReleased', open: ['zone-2'] },
  'a node that does not report, the same': {
    given: { ...lost, lostNodes: { 'node-2': { why: 'does not report (Ready is Unknown)', sinceMs: nowMs - 1_000 } } },
    then: ['zone-1', 'zone-3'],
    reason: 'DomainReleased',
    open: ['zone-2'],
  },
  'a node that was deleted under its pods, the same': {
    given: { ...lost, lostNodes: {}, missingNodes: ['node-2'], osd: { 2: { hasPodOnNode: true } } },
    then: ['zone-1', 'zone-3'],
    reason: 'DomainReleased',
    open: ['zone-2'],
  },
  'a node that is Ready again opens everything, or a kubelet that restarts would stop all drains': {
    given: { ...lost, lostNodes: {}, ceph: {}, budgets: ours('zone-1', 'zone-3'), state: { openDomains: ['zone-2'] } },
    then: ['default'],
    reason: 'AnyOsdMayGo',
  },
  'a node that stays NotReady while Ceph has its OSDs up for a minute is believed to run them: a broken kubelet alone is no loss of data':
    {
      given: {
        lostNodes: { 'node-2': { ...notReady, sinceMs: nowMs - 60_000 } },
        budgets: ours('zone-1', 'zone-3'),
        state: { openDomains: ['zone-2'] },
      },
      then: ['default'],
      reason: 'AnyOsdMayGo',
    },
  'a node that was lost at a time nobody wrote down is not believed to run them: it may have been lost just now': {
    given: { ...lost, lostNodes: { 'node-2': { ...notReady, sinceMs: undefined } } },
    then: ['zone-1', 'zone-3'],
    reason: 'DomainReleased',
    open: ['zone-2'],
  },
  'two zones with a lost node each: nothing may go that would be a third': {
    given: {
      ...lost,
      lostNodes: { 'node-2': notReady, 'node-3': notReady },
      ceph: { assumedDownOsds: [2, 3] },
      verdicts: {
        'zone-1': { may: 'no', troubles: [{ pg: '1.1b', pool: 'vm', left: 0, floor: 2 }], troubleCount: 3 },
        'zone-2': { may: 'no', troubles: [{ pg: '1.1b', pool: 'vm', left: 1, floor: 2 }], troubleCount: 3 },
        'zone-3': { may: 'no', troubles: [{ pg: '1.1b', pool: 'vm', left: 1, floor: 2 }], troubleCount: 3 },
      },
    },
    then: ['closed'],
    reason: 'TooFewCopies',
  },
  'an OSD that is being replaced is meant to be away, whatever its node does': {
    given: { ...lost, ceph: {}, osd: { 2: { isBeingReplaced: true } } },
    then: ['default'],
    reason: 'AnyOsdMayGo',
  },
  'a node that is lost in the very moment in which Ceph does not answer closes at once: a mon may have gone with it': {
    given: { ...lost, silentMs: 1_000 },
    then: ['closed'],
    reason: 'CephSilent',
  },
  'a drained node that reboots while Ceph does not answer for a moment leaves its zone open, or every reboot would stop its drain':
    {
      given: {
        ...lost,
        silentMs: 1_000,
        cordoned: ['node-2'],
        budgets: ours('zone-1', 'zone-3'),
        state: { openDomains: ['zone-2'] },
      },
      then: ['zone-1', 'zone-3'],
      reason: 'CephAnswerAwaited',
      open: ['zone-2'],
    },
}

describe('OSDs on lost nodes', () => {
  it.each(Object.entries(rows))('%s', (_, { given, then, reason, open = [] }) => {
    const { decision } = settle(tell(given))
    expect([inWords(decision.budgets), decision.reason, decision.state.openDomains]).toEqual([then, reason, open])
  })

  it('the reason names the node, for the cluster and for every zone that waits', () => {
    const { explanation, domains } = settle(tell(lost)).decision
    expect(explanation).toBe(
      'zone zone-2 may go (osd.2 down, node node-2 is NotReady); every other zone is held. Ceph has them up so far.',
    )
    expect(domains.find(({ domain }) => domain === 'zone-1')).toMatchObject({
      mayDrain: false,
      reason: 'OtherDomainDown',
      explanation: 'zone zone-1 waits until zone-2 is back (node node-2 is NotReady) and all data is clean.',
    })
  })

  it('the default budget is closed before zone-2 opens: its ready pods use up nothing of it, so an eviction elsewhere would pass', () => {
    expect(inWords(decideCephDrain(tell(lost)).budgets)).toEqual(['closed'])
  })

  it('is decided again when Ceph has had its minute, and not only at the next poll', () => {
    const lostNodes = { 'node-2': { ...notReady, sinceMs: nowMs - 53_000 } }
    expect(settle(tell({ ...lost, lostNodes })).decision.recheckAfterSeconds).toBe(7)
  })
})

describe('a node as the API has it', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } }
  const ready = (status: 'True' | 'False' | 'Unknown') => ({
    ...node,
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: '2026-01-01T12:00:00Z' }] },
  })
  const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' as const }]

  it.each([
    ['is not lost while it is Ready', ready('True'), undefined],
    ['is not lost before it reports for the first time', node, undefined],
    ['is lost when it is NotReady', ready('False'), 'is NotReady'],
    ['is lost when it does not report', ready('Unknown'), 'does not report (Ready is Unknown)'],
    ['is lost when somebody says so, whatever it reports', { ...ready('True'), spec: { taints } }, 'is out of service'],
  ])('%s', (_, given, why) => {
    expect(lostNode(given)?.why).toBe(why)
  })
})
