import { describe, expect, it } from 'vitest'
import {
  cluster,
  fencedNode,
  fencingSeen,
  healthCheck,
  machine,
  machineBudget,
  osd,
} from '../../../explain/testing/fencing-objects.ts'
import { type FencingSeen, viewListedFencing } from '../../../explain/testing/listed-fencing.ts'
import { earlier, now, storageView } from '../../../explain/testing/sample-objects.ts'
import { emptyLedger, type LedgerEntry } from '../../../ledger/rules/ledger.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { exampleRequest } from '../domain/testing/small-fencing.ts'
import { answerFencing } from './fencing-answer.ts'
import { fencingLines, fencingSummaryLines } from './fencing-text.ts'
import { summarizeFencing } from './summarize-fencing.ts'

async function answer(node: string, more: Parameters<typeof fencingSeen>[0] = {}) {
  const view = await viewListedFencing(fencingSeen(more))
  return view && answerFencing(view, node)
}

async function summary(seen: FencingSeen) {
  const view = await viewListedFencing(seen)
  return view && summarizeFencing(view)
}

const nodes = (...sick: string[]) => ['n1', 'n2', 'n3', 'app'].map((name) => fencedNode(name, !sick.includes(name)))
const fences = {
  'cofferdam.io/fences': JSON.stringify({ 'm-n2': { node: 'n2', bootID: '', scope: 'n2', since: earlier } }),
}
const domain = { domain: 'n3', osds: [2], nodes: ['n3'], mayDrain: true, reason: 'SafeToDrain', explanation: '' }
const held = (requestId: string): LedgerEntry => ({
  key: 'storage/rook-ceph/rook-ceph',
  uid: 'uid-rook-ceph',
  scope: 'n3',
  holder: 'a drain of n3',
  requestId,
  epoch: 1,
  state: 'Acting',
  since: earlier,
  renewSequence: 0,
})

describe('explaining whether the machine of a node may be fenced', () => {
  it('all of it: machine, verdict, budget, and who would do it', async () => {
    expect(await answer('n1')).toEqual({
      machine: 'openshift-machine-api/m-n1',
      mayFence: true,
      reason: 'FenceAllowed',
      explanation: expect.any(String),
      budgets: [
        {
          budget: 'openshift-machine-api/rook-ceph-rook-ceph',
          cluster: 'rook-ceph/rook-ceph',
          allowed: 1,
          healthy: 3,
          expected: 3,
          reason: 'FenceAllowed',
        },
      ],
      gates: [],
      remediators: [{ remediator: 'openshift-mhc/openshift-machine-api/workers', listens: true }],
      isAttended: true,
    })
  })

  const cases: Record<
    string,
    { node?: string; seen: Partial<FencingSeen>; osds?: ReturnType<typeof osd>[]; then: object }
  > = {
    'a node without OSDs is never held back': {
      node: 'app',
      seen: { budgets: [machineBudget(0)] },
      then: { mayFence: true, reason: 'MachineHasNoOsds', budgets: [] },
    },
    'a node whose OSDs are down, and whose machine has lost its label, is free although no other may go': {
      seen: {
        budgets: [machineBudget(0, { evidence: { clean: false, up: '1-2' } })],
        nodes: nodes('n1'),
        openshiftMachines: [machine('n1', { isLabelled: false }), machine('n2'), machine('n3')],
      },
      osds: [osd(0, 'n1', false), osd(1, 'n2'), osd(2, 'n3')],
      then: { mayFence: true, reason: 'MachineHasNoOsds' },
    },
    'a node whose OSDs are down is held while Ceph has them up': {
      seen: { budgets: [machineBudget(0, { evidence: { clean: false } })], nodes: nodes('n1') },
      osds: [osd(0, 'n1', false), osd(1, 'n2'), osd(2, 'n3')],
      then: {
        mayFence: false,
        reason: 'FenceWaitsForData',
        wayOut: expect.stringContaining(
          'It opens when Ceph has recovered. If its dead machines must be fenced before that:',
        ),
      },
    },
    'a node whose OSDs are down for Ceph too is held while its machine still has the label: its budget refuses every remediator':
      {
        seen: { budgets: [machineBudget(0, { evidence: { clean: false, up: '1-2' } })], nodes: nodes('n1') },
        osds: [osd(0, 'n1', false), osd(1, 'n2'), osd(2, 'n3')],
        then: {
          mayFence: false,
          reason: 'FenceReleasePending',
          explanation:
            'Nothing holds it any more, but budget openshift-machine-api/rook-ceph-rook-ceph still keeps it from being fenced.',
        },
      },
    'a Lease of the operator that is still there keeps a machine that storage does not hold': {
      node: 'app',
      seen: {
        leases: [
          {
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: { namespace: 'medik8s-leases', name: 'node-app' },
            spec: { holderIdentity: 'cofferdam', leaseDurationSeconds: 3600, renewTime: earlier },
          },
        ],
      },
      then: { mayFence: false, reason: 'FenceReleasePending' },
    },
    'the data is as the operator recorded it: explain called it unknown while the operator knew that it was not clean':
      {
        seen: { budgets: [machineBudget(0, { evidence: { clean: false } })] },
        then: { mayFence: false, reason: 'FenceWaitsForData', explanation: 'Not all placement groups are clean.' },
      },
    'what the operator did not know about the data is told in its words': {
      seen: {
        budgets: [machineBudget(0, { evidence: { clean: undefined, cleanUnknown: 'the mgr has just started' } })],
      },
      then: {
        mayFence: false,
        reason: 'FenceUnknown',
        explanation: 'Whether all data is clean is not known: the mgr has just started.',
      },
    },
    'a Ceph that did not answer the operator is told in its words': {
      seen: {
        budgets: [machineBudget(0, { annotations: { 'cofferdam.io/ceph-evidence': '{"unknown":"it timed out"}' } })],
      },
      then: { mayFence: false, reason: 'FenceUnknown', explanation: 'Ceph cannot be judged: it timed out.' },
    },
    'a record that cannot be read says nothing': {
      seen: { budgets: [machineBudget(1, { annotations: { 'cofferdam.io/ceph-evidence': '{"clean":true}' } })] },
      then: {
        mayFence: false,
        reason: 'FenceUnknown',
        explanation: 'Ceph cannot be judged: annotation cofferdam.io/ceph-evidence of the budget cannot be read.',
      },
    },
    'a budget that lets nobody go on clean data has not been opened yet, and nobody is told to go: a remediator would be refused':
      {
        seen: { budgets: [machineBudget(0)] },
        then: {
          mayFence: false,
          reason: 'FenceReleasePending',
          budgets: [{ allowed: 0, reason: 'FenceReleasePending' }],
        },
      },
    'without a budget nothing is known': {
      seen: { budgets: [] },
      then: {
        mayFence: false,
        reason: 'FenceUnknown',
        explanation: 'Ceph cannot be judged: only the operator polls it, and it has created no budget yet.',
      },
    },
    'without an operator the budget is no proof, and that is told': {
      seen: { attendance: { isAttended: false, unattendedSince: earlier } },
      then: { mayFence: false, reason: 'FenceUnknown', isAttended: false, unattendedSince: earlier },
    },
    'while it is not known whether an operator runs, nothing is': {
      seen: { attendance: {} },
      then: { mayFence: false, reason: 'FenceUnknown' },
    },
    'another machine that is being fenced comes first, and is named': {
      seen: { budgets: [machineBudget(0, { annotations: fences })], nodes: nodes('n1', 'n2') },
      then: { mayFence: false, reason: 'FenceUnderWay', explanation: 'Machine m-n2 of node n2 is being fenced.' },
    },
    'a machine that is being fenced says since when, and for which cluster': {
      node: 'n2',
      seen: { budgets: [machineBudget(0, { annotations: fences })], nodes: nodes('n2') },
      then: { mayFence: true, reason: 'FenceUnderWay', underWay: { since: earlier, cluster: 'rook-ceph/rook-ceph' } },
    },
    'whoever holds another failure domain holds the machines too': {
      seen: { ledger: known({ ...emptyLedger, entries: [held('drain-1')] }) },
      then: { mayFence: false, reason: 'StorageKeyHeld', explanation: 'a drain of n3 holds failure domain n3.' },
    },
    'fencing does not hold itself back: the machine that it holds the storage for goes': {
      node: 'n2',
      seen: {
        budgets: [machineBudget(0, { annotations: fences })],
        nodes: nodes('n2'),
        ledger: known({ ...emptyLedger, entries: [{ ...held('fencing/uid-rook-ceph/n2'), scope: 'n2' }] }),
      },
      then: { mayFence: true, reason: 'FenceUnderWay' },
    },
    'a fence whose record somebody deleted with its budget counts while the ledger knows it: explain said the next machine could go while the operator held it back':
      {
        seen: { ledger: known({ ...emptyLedger, entries: [held('fencing/uid-rook-ceph/n3')] }) },
        then: {
          mayFence: false,
          reason: 'FenceUnderWay',
          explanation: 'Machine (forgotten in n3) is being fenced.',
        },
      },
    "a failure domain that ceph-drain holds because it failed is nobody's disruption": {
      seen: {
        ledger: known({ ...emptyLedger, entries: [held('ceph-drain/uid-rook-ceph/n3')] }),
        storage: [storageView({ domains: [domain] })],
      },
      then: { mayFence: true, reason: 'FenceAllowed' },
    },
    'a failure domain that ceph-drain holds for a drain holds the machines': {
      seen: {
        ledger: known({ ...emptyLedger, entries: [held('ceph-drain/uid-rook-ceph/n3')] }),
        storage: [storageView({ domains: [domain] })],
        nodes: nodes().map((node) => (node.metadata.name === 'n3' ? { ...node, spec: { unschedulable: true } } : node)),
      },
      then: { mayFence: false, reason: 'StorageKeyHeld' },
    },
    'a ledger that cannot be read lets nobody go': {
      seen: { ledger: unknown('it is gone') },
      then: { mayFence: false, reason: 'LedgerUnknown' },
    },
    'a cluster that is handed back holds nothing': {
      seen: {
        cephClusters: [{ ...cluster, spec: { disruptionManagement: { manageMachineDisruptionBudgets: false } } }],
      },
      then: { mayFence: true, reason: 'HandedBack', budgets: [] },
    },
    'a remediator that nobody looks after is told, and a pause of ours is a gate': {
      seen: {
        openshiftHealthChecks: [
          healthCheck('forgotten', { status: {} }),
          healthCheck('paused', {
            metadata: {
              namespace: 'openshift-machine-api',
              name: 'paused',
              annotations: { 'cluster.x-k8s.io/paused': 'cofferdam', 'cofferdam.io/set-by-fencing': 'paused' },
            },
          }),
          healthCheck('elsewhere', { spec: { selector: { matchLabels: { role: 'gpu' } } } }),
        ],
      },
      then: {
        gates: ['openshift-mhc/openshift-machine-api/paused is paused for all nodes that it remediates'],
        remediators: [
          {
            remediator: 'openshift-mhc/openshift-machine-api/forgotten',
            listens: false,
            why: 'status.expectedMachines is not set, so no controller manages it yet',
          },
          { remediator: 'openshift-mhc/openshift-machine-api/paused', listens: true, pausedBy: 'us' },
        ],
      },
    },
    'a Lease on the node is a gate, with who holds it and until when': {
      seen: {
        leases: [
          {
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: { namespace: 'medik8s-leases', name: 'node-n1' },
            spec: { holderIdentity: 'cofferdam', leaseDurationSeconds: 3600, renewTime: earlier },
          },
        ],
      },
      then: { gates: ['lease medik8s-leases/node-n1 is held by cofferdam until 2026-01-01T12:50:00Z'] },
    },
  }
  it.each(Object.entries(cases))('%s', async (_, { node = 'n1', seen, osds, then }) => {
    expect(await answer(node, { ...seen, ...(osds && { osds }) })).toMatchObject(then)
  })

  it('where there are neither Machines nor NodeHealthChecks there is nothing to say', async () => {
    expect(await answer('n1', { openshiftMachines: undefined, nodeHealthChecks: undefined })).toBeUndefined()
  })
})

describe('a node that is rebooted on plan', () => {
  const request = exampleRequest('app', { status: { nodeUid: undefined, bootIDBefore: '' } })
  const paused = healthCheck('workers', {
    metadata: {
      namespace: 'openshift-machine-api',
      name: 'workers',
      annotations: { 'cluster.x-k8s.io/paused': 'cofferdam', 'cofferdam.io/set-by-fencing': 'paused' },
    },
  })
  const away = { nodes: nodes('app'), requests: [request], openshiftHealthChecks: [paused] }

  it('is explained with who planned it, until when, and how to override it, without any OSD', async () => {
    const seen = await answer('app', away)
    expect(seen?.planned).toEqual({
      request: 'reboot-app',
      by: 'ann',
      awaySince: earlier,
      until: '2026-01-01T12:50:00Z',
      returnWithin: '1h',
      isOver: false,
    })
    expect(seen && fencingLines(seen, now)).toEqual([
      'machine openshift-machine-api/m-app: may not be fenced now: ann (nodedisruption/reboot-app) takes it out for a reboot: it is protected from remediation until 2026-01-01T12:50:00Z. (PlannedOutage)',
      'That ends when the node is back. To have it fenced before: cofferdam uncordon app, or kubectl delete nodedisruption reboot-app.',
      'kept by: openshift-mhc/openshift-machine-api/workers is paused for all nodes that it remediates',
      'managed by openshift-mhc/openshift-machine-api/workers, paused by us',
    ])
  })

  it('is said not to be protected yet while its gates are missing: without an operator nobody sets them', async () => {
    const seen = await answer('app', { ...away, openshiftHealthChecks: [healthCheck('workers')] })
    expect(seen?.explanation).toContain('What keeps remediators from it is not set yet')
  })

  it('is a line of status, with and without a Ceph cluster', async () => {
    const lines = async (more: Partial<FencingSeen>) => {
      const seen = await summary(fencingSeen({ ...away, ...more }))
      return seen === undefined ? [] : fencingSummaryLines(seen, now).filter((line) => line.startsWith('node app'))
    }
    const line =
      'node app is taken out for a reboot (ann, nodedisruption/reboot-app) and protected from remediation until 2026-01-01T12:50:00Z'
    expect(await lines({})).toEqual([line])
    expect(await lines({ cephClusters: [] })).toEqual([line])
    expect(await lines({ nodes: nodes() })).toEqual([
      'node app is taken out for a reboot (ann, nodedisruption/reboot-app) and protected from remediation for 1h once it is away',
    ])
    const short = exampleRequest('app', {
      spec: { returnWithin: '5m' },
      status: { nodeUid: undefined, bootIDBefore: '' },
    })
    expect(await lines({ requests: [short] })).toEqual([
      'node app is not back from its reboot (ann, nodedisruption/reboot-app), and is not protected since 2026-01-01T11:55:00Z',
    ])
  })
})

describe('fencing of the whole cluster', () => {
  it('tells the allowance, who is kept, and who does not listen', async () => {
    const seen = fencingSeen({
      budgets: [machineBudget(0, { evidence: { clean: false } })],
      nodes: nodes('n1', 'app'),
      openshiftHealthChecks: [healthCheck('forgotten', { status: {} })],
    })
    expect(await summary(seen)).toMatchObject({
      clusters: [{ cluster: 'rook-ceph/rook-ceph', allowed: 0, reason: 'FenceWaitsForData' }],
      underWay: [],
      held: [{ node: 'n1', reason: 'FenceWaitsForData' }],
      remediators: [{ remediator: 'openshift-mhc/openshift-machine-api/forgotten', listens: false }],
    })
  })

  it('tells of a fence that is not over', async () => {
    const seen = fencingSeen({ budgets: [machineBudget(0, { annotations: fences })], nodes: nodes('n2') })
    expect((await summary(seen))?.underWay).toEqual([
      { machine: 'm-n2', node: 'n2', cluster: 'rook-ceph/rook-ceph', since: earlier },
    ])
  })

  it('is not told where there is no Ceph cluster', async () => {
    expect(await summary(fencingSeen({ cephClusters: [] }))).toBeUndefined()
  })
})
