import type { MachineHealthCheck, NodeHealthCheck } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import type { GateChange } from './decision.ts'
import { pauseRequest } from './marks.ts'
import type { FencingObjects } from './parse-fencing.ts'
import {
  decide,
  exampleCluster,
  exampleMachine,
  exampleNode,
  exampleRequest,
  minute,
  nodesCheck,
  rebootsOf,
  settled,
  smallFencing,
  startMs,
  workersCheck,
} from './testing/small-fencing.ts'

const hour = 60 * minute
const awayFor = (ms: number) => exampleNode('a', { sickSinceMs: startMs - ms })
const others = ['b', 'c'].map((name) => exampleNode(name))

/** No Ceph and no OSD: node a was drained by ann for a reboot. */
function planned(a: ReturnType<typeof exampleNode>, more: Parameters<typeof exampleRequest>[1] = {}): FencingObjects {
  return smallFencing({ clusters: [], nodes: [a, ...others], reboots: rebootsOf(exampleRequest('a', more)) })
}

function words(objects: FencingObjects, node = 'a'): string {
  const answer = decide(objects).nodes.find((each) => each.node === node)
  return answer === undefined ? 'nothing' : `${answer.reason} ${answer.mayFence}`
}

describe('a node that is rebooted on plan', () => {
  const cases: Record<string, [FencingObjects, string]> = {
    'keeps its Machine while it is away: a health check would delete what comes back in two minutes': [
      planned(awayFor(10 * minute)),
      'PlannedOutage false',
    ],
    'is protected before it goes, so that no health check is faster than the operator': [
      planned(exampleNode('a')),
      'PlannedOutage false',
    ],
    'is protected while it is drained': [
      planned(exampleNode('a'), { status: { phase: 'Draining' } }),
      'PlannedOutage false',
    ],
    'is fenced as ever when it dies while it is drained, before it was said that it may go: nobody brings it back': [
      planned(awayFor(10 * minute), { status: { phase: 'Draining' } }),
      'nothing',
    ],
    'is fenced as ever when it died long before its last pod was gone, and counts as drained only now': [
      planned(awayFor(10 * minute), { status: { phaseSince: rfc3339(startMs - minute) } }),
      'nothing',
    ],
    'is protected when its clock is some minutes behind: it would be taken for one that died before': [
      planned(awayFor(4 * minute), { status: { phaseSince: rfc3339(startMs - minute) } }),
      'PlannedOutage false',
    ],
    'is fenced as ever when its request still waits: nothing was drained': [
      planned(awayFor(10 * minute), { status: { phase: 'Waiting' } }),
      'nothing',
    ],
    'is fenced as ever when the request is to remove it: its machine is meant to go': [
      planned(awayFor(10 * minute), { spec: { intent: 'Remove' } }),
      'nothing',
    ],
    'is fenced as ever when it is to be replaced': [
      planned(awayFor(10 * minute), { spec: { intent: 'Replace' } }),
      'nothing',
    ],
    'is protected until just before an hour has passed': [planned(awayFor(hour - 1_000)), 'PlannedOutage false'],
    'is fenced after an hour: one that never comes back would be down for good': [
      planned(awayFor(hour)),
      'PlannedOutageOver true',
    ],
    'may take as long as its request says': [
      planned(awayFor(2 * hour), { spec: { returnWithin: '3h' } }),
      'PlannedOutage false',
    ],
    'may take no longer than its request says': [
      planned(awayFor(6 * minute), { spec: { returnWithin: '5m' } }),
      'PlannedOutageOver true',
    ],
    'may take the usual time where the request says nonsense': [
      planned(awayFor(6 * minute), { spec: { returnWithin: 'soon' } }),
      'PlannedOutage false',
    ],
    'is protected no longer than the deadline of its request': [
      planned(awayFor(10 * minute), { spec: { deadline: rfc3339(startMs - 1_000), returnWithin: '3h' } }),
      'PlannedOutageOver true',
    ],
    'has its time counted from when it first went: a machine that boots in a loop would be protected for ever': [
      planned(awayFor(minute), { annotations: { 'cofferdam.io/away-since': rfc3339(startMs - 2 * hour) } }),
      'PlannedOutageOver true',
    ],
    'has its time counted by the condition where the note is from a clock that is ahead': [
      planned(awayFor(minute), { annotations: { 'cofferdam.io/away-since': rfc3339(startMs + 2 * hour) } }),
      'PlannedOutage false',
    ],
    'has its time counted from now where no clock says since when it is away: it would be fenced at once': [
      planned({ ...awayFor(minute), status: { nodeInfo: { bootID: 'boot-1' } } } as never),
      'PlannedOutage false',
    ],
    'is protected while its new boot is not Ready yet': [
      planned(exampleNode('a', { sickSinceMs: startMs - minute, bootID: 'boot-2' }), {
        status: { phase: 'Recovering' },
      }),
      'PlannedOutage false',
    ],
    'is a node like any other when it is back on another boot': [
      planned(exampleNode('a', { bootID: 'boot-2' })),
      'nothing',
    ],
    'is a node like any other when it was uncordoned, and dies after that': [
      planned(awayFor(minute), { status: { phase: 'Recovering' } }),
      'nothing',
    ],
    'is given up when its request is deleted: that is the override': [
      planned(awayFor(minute), { deletionTimestamp: rfc3339(startMs) }),
      'nothing',
    ],
    'is given up when its request is over': [planned(awayFor(minute), { status: { phase: 'Completed' } }), 'nothing'],
    'is not the one that was made again under its name': [
      planned(awayFor(minute), { status: { nodeUid: 'uid-of-another' } }),
      'nothing',
    ],
    'cannot be protected when its Machine is being deleted already': [
      {
        ...planned(awayFor(minute)),
        openshiftMachines: [exampleMachine('a', { metadata: { name: 'm-a', deletionTimestamp: rfc3339(startMs) } })],
      },
      'nothing',
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [objects, then]) => {
    expect(words(objects)).toBe(then)
  })

  it('is protected as soon as the ledger says that the drain has begun, though its record is behind', () => {
    const objects = planned(exampleNode('a'), { status: { phase: 'Locking' } })
    const begun = { ...objects.reboots, begun: new Set(['uid-of-reboot-a']) } as NonNullable<FencingObjects['reboots']>
    expect([words(objects), words({ ...objects, reboots: begun })]).toEqual(['nothing', 'PlannedOutage false'])
  })

  it('of two requests the one that still protects it counts', () => {
    const late = exampleRequest('a', { name: 'late', spec: { returnWithin: '1m' } })
    const good = exampleRequest('a', { name: 'good' })
    for (const requests of [
      [late, good],
      [good, late],
    ]) {
      expect(words({ ...planned(awayFor(10 * minute)), reboots: rebootsOf(...requests) })).toBe('PlannedOutage false')
    }
  })

  it('says who planned it, until when, and how to override it', () => {
    const [answer] = decide(planned(awayFor(10 * minute))).nodes
    expect(answer).toMatchObject({
      explanation:
        'ann (nodedisruption/reboot-a) takes it out for a reboot: it is protected from remediation until 2027-01-15T08:50:00Z.',
      wayOut:
        'That ends when the node is back. To have it fenced before: cofferdam uncordon a, or kubectl delete nodedisruption reboot-a.',
    })
    const [ready] = decide(planned(exampleNode('a'))).nodes
    expect(ready?.explanation).toContain('protected from remediation for 1h from when it stops being Ready.')
  })

  it('says its request where nobody is named as asking, and the deadline after which nothing protects it', () => {
    const [answer] = decide(
      planned(exampleNode('a'), { spec: { requester: '', deadline: rfc3339(startMs + hour) } }),
    ).nodes
    expect(answer?.explanation).toBe(
      'nodedisruption/reboot-a takes it out for a reboot: it is protected from remediation for 1h from when it stops being Ready, and not after 2027-01-15T09:00:00Z.',
    )
  })

  it('is not protected by a request without a UID that has not begun: the ledger cannot mean it', () => {
    const request = exampleRequest('a', { status: { phase: 'Locking' } })
    const { uid: _, ...metadata } = request.metadata
    const objects = { ...planned(exampleNode('a')), reboots: rebootsOf({ ...request, metadata }) }
    expect(words(objects)).toBe('nothing')
  })

  it('is judged again when its time is over, though nothing else happens then', () => {
    expect(decide(planned(awayFor(hour - 20_000))).recheckAfterSeconds).toBe(20)
  })
})

const text = (gate: GateChange) =>
  [gate.kind, 'node' in gate ? gate.node : 'machine' in gate ? gate.machine : gate.remediator].join(' ')
const gates = (objects: FencingObjects) => decide(objects).gates.map(text)

const capiCheck: MachineHealthCheck = { ...workersCheck, apiVersion: 'cluster.x-k8s.io/v1beta2' }
const machinesOf = (names: readonly string[]) => names.map((name) => exampleMachine(name))
const openshift = (objects: FencingObjects) => ({ ...objects, openshiftHealthChecks: [workersCheck] })
const clusterApi = (objects: FencingObjects): FencingObjects => ({
  ...objects,
  openshiftMachines: undefined,
  clusterApiMachines: machinesOf(['a', 'b', 'c']),
  clusterApiHealthChecks: [capiCheck],
})
const withoutLeases = (objects: FencingObjects): FencingObjects => ({
  ...objects,
  openshiftMachines: undefined,
  nodeHealthChecks: [nodesCheck],
})
const excluded = (objects: FencingObjects): FencingObjects => ({
  ...objects,
  nodes: objects.nodes.map((node) => {
    const labels = { ...node.metadata.labels, 'remediation.medik8s.io/exclude-from-remediation': 'true' }
    return { ...node, metadata: { ...node.metadata, labels } }
  }),
})
const medik8s = (objects: FencingObjects): FencingObjects => ({ ...withoutLeases(objects), leases: [] })

describe('the gates of a node that is rebooted on plan', () => {
  const away = planned(awayFor(minute))
  const ready = planned(exampleNode('a'))
  const late = planned(awayFor(2 * hour))
  const cases: Record<string, [FencingObjects, string[]]> = {
    'OpenShift: the check is paused while the node is away': [openshift(away), ['pause openshift-machine-api/workers']],
    'OpenShift: the check runs while the node is still Ready, so that the machines of others are remediated during a long drain':
      [openshift(ready), []],
    'OpenShift: the check runs again when the time is over': [settled(openshift(late)), []],
    'Cluster API: the machine is skipped before its node goes': [clusterApi(ready), ['skip-machine m-a']],
    'Cluster API: the machine is skipped while its node is away, and the check runs on': [
      clusterApi(away),
      ['skip-machine m-a'],
    ],
    'Cluster API: nothing is written where no check would take the machine': [
      { ...clusterApi(away), clusterApiHealthChecks: [] },
      [],
    ],
    'medik8s: the Lease of the node is held before it goes': [medik8s(ready), ['hold-lease a']],
    'medik8s: the Lease of the node is held while it is away': [medik8s(away), ['hold-lease a']],
    'medik8s without Leases: the check is paused while the node is away': [withoutLeases(away), ['pause workers']],
    'medik8s without Leases: the check runs while the node is still Ready': [withoutLeases(ready), []],
    'medik8s: a node that is excluded from remediation keeps its Lease for the Node Maintenance Operator, which fails without it':
      [medik8s(excluded(ready)), []],
    'medik8s: an excluded node needs none while it is away either': [medik8s(excluded(away)), []],
    'medik8s without Leases: no check is paused for a node that is excluded': [withoutLeases(excluded(away)), []],
    'a node that no check remediates gets none': [away, []],
  }
  it.each(Object.entries(cases))('%s', (_, [objects, then]) => {
    expect(gates(objects)).toEqual(then)
  })

  it.each([
    ['OpenShift', openshift],
    ['Cluster API', clusterApi],
    ['medik8s', medik8s],
    ['medik8s without Leases', withoutLeases],
  ] as const)(
    '%s: all of them are lifted when the node is back, when its time is over, and when the request is deleted',
    (_, on) => {
      const gated = settled(on(away))
      const lifted: Record<string, Partial<FencingObjects>> = {
        back: { nodes: [exampleNode('a', { bootID: 'boot-2' }), ...others] },
        over: { nowMs: startMs + hour },
        deleted: { reboots: rebootsOf() },
      }
      for (const [why, change] of Object.entries(lifted)) {
        const after = { ...gated, ...change }
        expect([why, gates(after).length]).toEqual([why, 1])
        expect([why, gates(settled(after))]).toEqual([why, []])
      }
    },
  )

  it('none is lifted while requests cannot be read: what they protect is not known', () => {
    const gated = settled(openshift(away))
    const blind = { ...gated, reboots: { ...rebootsOf(), requests: unknown('NodeDisruptions cannot be read') } }
    expect(gates(blind)).toEqual([])
    expect(decide(blind).problems).toContainEqual({
      object: 'nodedisruptions',
      problem: 'NodeDisruptions cannot be read; until they can be read no gate is taken back',
    })
  })

  it('a check that a hook would let run stays paused: the Machine that it deletes does not come back', () => {
    const nodes = [awayFor(minute), exampleNode('b', { sickSinceMs: startMs - 5 * minute }), exampleNode('c')]
    const objects = settled(openshift({ ...smallFencing({ nodes }), reboots: rebootsOf(exampleRequest('a')) }))
    expect(objects.openshiftHealthChecks[0]?.metadata.annotations?.['cluster.x-k8s.io/paused']).toBe('cofferdam')
    expect([words(objects, 'a'), words(objects, 'b')]).toEqual(['PlannedOutage false', 'FenceAllowed true'])
  })

  it('an entry that an earlier version left in a NodeHealthCheck is removed as well', () => {
    const former: NodeHealthCheck = {
      ...nodesCheck,
      spec: { ...nodesCheck.spec, pauseRequests: ['theirs', 'cofferdam: storage cannot spare a node now'] },
    }
    const now = settled(smallFencing({ clusters: [], openshiftMachines: undefined, nodeHealthChecks: [former] }))
    expect(now.nodeHealthChecks?.[0]?.spec?.pauseRequests).toEqual(['theirs'])
    expect(pauseRequest).not.toContain('storage')
  })
})

describe('since when a node is away', () => {
  const noted = (objects: FencingObjects) => decide(objects).outageNotes

  it('is noted on the request, so that every operator and every command counts from there', () => {
    const away = openshift(planned(awayFor(10 * minute)))
    expect(noted(away)).toEqual([{ request: 'reboot-a', awaySinceMs: startMs - 10 * minute }])
    expect(noted(settled(away))).toEqual([])
  })

  it('is not noted where nobody would fence the node', () => {
    expect(noted(planned(awayFor(10 * minute)))).toEqual([])
  })

  it('is removed when the node is Ready again without a reboot, and stays when it was rebooted', () => {
    const gated = settled(openshift(planned(awayFor(10 * minute))))
    expect(noted({ ...gated, nodes: [exampleNode('a'), ...others] })).toEqual([
      { request: 'reboot-a', awaySinceMs: undefined },
    ])
    expect(noted({ ...gated, nodes: [exampleNode('a', { bootID: 'boot-2' }), ...others] })).toEqual([])
  })
})

describe('a node that is rebooted on plan, beside storage', () => {
  it('is no machine that may go, though its OSDs run and all data is clean', () => {
    const objects = smallFencing({
      nodes: [awayFor(10 * minute), ...others],
      reboots: rebootsOf(exampleRequest('a')),
    })
    expect(words(settled(objects))).toBe('PlannedOutage false')
  })

  it('is kept by storage when its time is over and the data is not clean', () => {
    const clusters = [
      exampleCluster(['a', 'b', 'c'], {
        evidence: known({ polledAtMs: startMs, isClean: known(false), upOsds: new Set([0, 1, 2]) }),
      }),
    ]
    const nodes = [awayFor(2 * hour), ...others]
    expect(words(smallFencing({ clusters, nodes, reboots: rebootsOf(exampleRequest('a')) }))).toBe(
      'FenceWaitsForData false',
    )
  })

  describe('whose time is over while it is not known where an OSD is, and whose Machine has no label', () => {
    const unplaced = (isClean: boolean) =>
      smallFencing({
        clusters: [
          exampleCluster(['a', 'b', 'c'], {
            evidence: known({ polledAtMs: startMs, isClean: known(isClean), upOsds: new Set([1, 2]) }),
            osds: [
              { id: 0, isReady: false, nodeName: known('a'), domain: 'a' },
              { id: 1, isReady: true, nodeName: known('b'), domain: 'b' },
              { id: 2, isReady: true, nodeName: unknown('its pod is not bound'), domain: 'c' },
            ],
          }),
        ],
        nodes: [awayFor(2 * hour), ...others],
        reboots: rebootsOf(exampleRequest('a')),
      })

    it('is kept while the data is not clean: the OSD may be on it', () => {
      expect(words(unplaced(false))).toBe('FenceWaitsForData false')
    })

    it('may go when all of it is clean and every other Machine has its label, as one without OSDs may', () => {
      const calm = unplaced(true)
      const label = { 'fencegroup.rook.io/ceph': 'true' }
      const openshiftMachines = [
        exampleMachine('a'),
        exampleMachine('b', { metadata: { name: 'm-b', labels: label } }),
        exampleMachine('c', { metadata: { name: 'm-c', labels: label } }),
      ]
      expect(words({ ...calm, openshiftMachines })).toBe('PlannedOutageOver true')
    })
  })

  it('is not fenced to bring a monitor back: the one that died unplanned is', () => {
    const mons = ['a', 'b', 'c'].map((node) => ({ name: node, places: [{ nodeName: node, isReady: node === 'c' }] }))
    const cluster = exampleCluster(['a', 'b', 'c'], {
      evidence: unknown('Ceph does not answer'),
      silence: { lastAnswerMs: undefined },
      mons,
      osds: ['a', 'b', 'c'].map((node, id) => ({ id, isReady: node === 'c', nodeName: known(node), domain: node })),
    })
    const nodes = [awayFor(3 * minute), exampleNode('b', { sickSinceMs: startMs - 10 * minute }), exampleNode('c')]
    const objects = smallFencing({ clusters: [cluster], nodes, reboots: rebootsOf(exampleRequest('a')) })
    expect([words(objects, 'a'), words(objects, 'b')]).toEqual(['PlannedOutage false', 'FenceRestoresQuorum true'])
  })
})
