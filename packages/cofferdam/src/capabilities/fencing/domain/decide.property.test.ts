import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { createFencingJudge, decideFencing } from './decide.ts'
import { hookName, marks, pauseRequest } from './marks.ts'
import { createFencingParser, type FencingObjects, parseFencing } from './parse-fencing.ts'
import type { FencedCluster } from './snapshot.ts'
import {
  applyDecision,
  decide,
  exampleCluster,
  exampleMachine,
  exampleNode,
  exampleRequest,
  isSettled,
  minute,
  nodesCheck,
  rebootsOf,
  settled,
  smallFencing,
  startMs,
  workersCheck,
} from './testing/small-fencing.ts'

const names = ['a', 'b', 'c', 'd']
const keys = ['fencegroup.rook.io/ceph', 'fencegroup.rook.io/other', 'fencegroup.rook.io/ceph.rook']
const clusterIds = [
  { namespace: 'rook', name: 'ceph' },
  { namespace: 'n', name: 'ceph' },
  { namespace: 'rook', name: 'other' },
]

const arbitraryOsd = fc.record({
  node: fc.constantFrom(...names, undefined),
  isReady: fc.boolean(),
  isUp: fc.boolean(),
})
const arbitraryCluster = fc.record({
  osds: fc.array(arbitraryOsd, { maxLength: 5 }),
  isSilent: fc.boolean(),
  isClean: fc.constantFrom(true, true, false, undefined),
  ageMs: fc.constantFrom(0, 30_000, minute, minute + 1),
  heldScope: fc.constantFrom(undefined, undefined, undefined, '', 'a', 'b'),
  isLedgerKnown: fc.constantFrom(true, true, true, false),
  isManaged: fc.constantFrom(true, true, true, false),
  writesRookLabels: fc.boolean(),
})
const arbitraryMachine = fc.record({
  hasNode: fc.constantFrom(true, true, true, false),
  isClusterApi: fc.boolean(),
  isBeingDeleted: fc.constantFrom(false, false, false, true),
  labels: fc.uniqueArray(fc.constantFrom(...keys, 'fencegroup.rook.io/gone', 'app')),
  ours: fc.uniqueArray(fc.constantFrom(...keys, 'fencegroup.rook.io/gone', 'app')),
  hook: fc.constantFrom(undefined, hookName, 'somebody'),
  skip: fc.constantFrom(undefined, 'ours', 'theirs'),
})
const arbitraryNode = fc.record({
  sickForMs: fc.constantFrom(undefined, undefined, 0, minute, 10 * minute),
  bootID: fc.constantFrom('boot-1', 'boot-2'),
})
const arbitraryBudget = fc.record({
  id: fc.constantFrom(...clusterIds),
  isMarked: fc.boolean(),
  maxUnavailable: fc.constantFrom(0, 1, 7),
  key: fc.constantFrom(...keys, 'x'),
  disrupted: fc.uniqueArray(fc.constantFrom('m-a', 'm-b', 'm-gone'), { maxLength: 2 }),
  record: fc.constantFrom(undefined, undefined, '{', '{}'),
})
const phases = ['Waiting', 'Draining', 'Drained', 'Recovering', 'Completed'] as const
const arbitraryRequest = fc.record({
  node: fc.constantFrom(...names),
  phase: fc.constantFrom(...phases, 'Drained'),
  intent: fc.constantFrom('Reboot', 'Reboot', 'Reboot', 'Remove'),
  returnWithin: fc.constantFrom(undefined, '5m', '3h', 'nonsense'),
  deadlineInMs: fc.constantFrom(undefined, undefined, -minute, 5 * minute),
  notedMs: fc.constantFrom(undefined, minute, 2 * 60 * minute, -60 * minute),
  isCancelled: fc.constantFrom(false, false, false, true),
})
const arbitraryWorld = fc.record({
  requests: fc.uniqueArray(arbitraryRequest, { maxLength: 3, selector: ({ node }) => node }),
  areRequestsKnown: fc.constantFrom(true, true, true, false),
  hasMachines: fc.constantFrom(true, true, true, false),
  clusters: fc.array(arbitraryCluster, { maxLength: 3 }),
  machines: fc.array(arbitraryMachine, { minLength: 4, maxLength: 4 }),
  nodes: fc.array(arbitraryNode, { minLength: 4, maxLength: 4 }),
  budgets: fc.uniqueArray(arbitraryBudget, { maxLength: 3, selector: ({ id }) => `${id.namespace}/${id.name}` }),
  check: fc.constantFrom('none', 'openshift', 'openshift paused', 'nodes', 'nodes paused'),
  leases: fc.constantFrom(undefined, 'none', 'ours', 'theirs', 'remediating'),
})

type Drawn = typeof arbitraryWorld extends fc.Arbitrary<infer T> ? T : never

function buildCluster(drawn: Drawn['clusters'][number], at: number): FencedCluster {
  const base = exampleCluster([], clusterIds[at] ?? {})
  const upOsds = new Set(drawn.osds.flatMap(({ isUp }, id) => (isUp ? [id] : [])))
  const isClean = drawn.isClean === undefined ? unknown('?') : known(drawn.isClean)
  const holders = drawn.heldScope === undefined ? [] : [{ holder: 'a drain', requestId: 'r', scope: drawn.heldScope }]
  return {
    ...base,
    settings: { ...base.settings, isManaged: drawn.isManaged, writesRookLabels: drawn.writesRookLabels },
    evidence: drawn.isSilent ? unknown('?') : known({ polledAtMs: startMs - drawn.ageMs, isClean, upOsds }),
    osds: drawn.osds.map(({ node, isReady }, id) => ({
      id,
      isReady,
      nodeName: node === undefined ? unknown('?') : known(node),
      domain: node,
    })),
    heldBy: drawn.isLedgerKnown ? known(holders) : unknown('?'),
  }
}

function buildMachine(drawn: Drawn['machines'][number], name: string) {
  const skip = drawn.skip && { 'cluster.x-k8s.io/skip-remediation': drawn.skip === 'ours' ? 'cofferdam' : 'x' }
  return exampleMachine(name, {
    metadata: {
      name: `m-${name}`,
      labels: Object.fromEntries(drawn.labels.map((label) => [label, 'true'])),
      annotations: {
        ...(drawn.ours.length === 0 ? {} : { [marks.labels]: drawn.ours.join(',') }),
        ...(skip === undefined ? {} : { ...skip, [marks.setByUs]: 'skip-remediation' }),
      },
      ...(drawn.isBeingDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    ...(drawn.hook === undefined
      ? {}
      : { spec: { lifecycleHooks: { preTerminate: [{ name: drawn.hook, owner: 'o' }] } } }),
    ...(drawn.hasNode ? {} : { status: {} }),
  })
}

function buildRequest(drawn: Drawn['requests'][number]) {
  const { node, phase, intent, returnWithin, deadlineInMs, notedMs, isCancelled } = drawn
  return exampleRequest(node, {
    ...(notedMs === undefined ? {} : { annotations: { [marks.awaySince]: rfc3339(startMs - notedMs) } }),
    ...(isCancelled ? { deletionTimestamp: rfc3339(startMs) } : {}),
    spec: {
      intent: intent as 'Reboot' | 'Remove',
      ...(returnWithin === undefined ? {} : { returnWithin }),
      ...(deadlineInMs === undefined ? {} : { deadline: rfc3339(startMs + deadlineInMs) }),
    },
    status: { phase },
  })
}

/** By other means than the decision: those that were told that they may go, and are expected back. */
function isAwayOnPlan(
  { nodes, reboots, openshiftMachines, clusterApiMachines }: FencingObjects,
  name: string,
): boolean {
  const requests = reboots?.requests.known === true ? reboots.requests.value : []
  const request = requests.find(({ spec }) => spec.nodeName === name)
  const node = nodes.find(({ metadata }) => metadata.name === name)
  const [ready] = node?.status?.conditions ?? []
  const machines = [...(openshiftMachines ?? []), ...(clusterApiMachines ?? [])]
  const machine = machines.find(({ status }) => status?.nodeRef?.name === name)
  const isDeleted = machine?.metadata.deletionTimestamp !== undefined
  if (request === undefined || isDeleted || ready?.status !== 'Unknown') return false
  const { metadata, spec, status } = request
  if (spec.intent !== 'Reboot' || metadata.deletionTimestamp !== undefined || status?.phase !== 'Drained') return false
  const limitMs = { '5m': 5 * minute, '3h': 180 * minute }[spec.returnWithin ?? ''] ?? 60 * minute
  const sinceMs = Date.parse(ready.lastTransitionTime ?? '')
  const noted = Date.parse(metadata.annotations?.[marks.awaySince] ?? '')
  const awayMs = startMs - (noted <= startMs ? noted : sinceMs)
  return awayMs < limitMs && (spec.deadline === undefined || Date.parse(spec.deadline) > startMs)
}

function buildWorld(drawn: Drawn): FencingObjects {
  const machines = names.map((name, at) => ({
    isClusterApi: drawn.machines[at]?.isClusterApi,
    machine: buildMachine(drawn.machines[at] as Drawn['machines'][number], name),
  }))
  return smallFencing({
    clusters: drawn.clusters.map(buildCluster),
    openshiftMachines: drawn.hasMachines
      ? machines.flatMap(({ isClusterApi, machine }) => (isClusterApi ? [] : [machine]))
      : undefined,
    clusterApiMachines: drawn.hasMachines
      ? machines.flatMap(({ isClusterApi, machine }) => (isClusterApi ? [machine] : []))
      : undefined,
    reboots: {
      ...rebootsOf(),
      requests: drawn.areRequestsKnown ? known(drawn.requests.map(buildRequest)) : unknown('?'),
    },
    nodes: names.map((name, at) => {
      const { sickForMs, bootID = '' } = drawn.nodes[at] ?? {}
      return exampleNode(name, { bootID, ...(sickForMs === undefined ? {} : { sickSinceMs: startMs - sickForMs }) })
    }),
    budgets: drawn.budgets.map(({ id, isMarked, maxUnavailable, key, disrupted, record }) => ({
      apiVersion: 'healthchecking.openshift.io/v1alpha1',
      kind: 'MachineDisruptionBudget',
      metadata: {
        namespace: 'openshift-machine-api',
        name: `${id.name}-${id.namespace}`,
        annotations: {
          ...(isMarked ? { [marks.clusterUid]: `uid-of-${id.namespace}-${id.name}` } : {}),
          ...(record === undefined ? {} : { [marks.fences]: record }),
        },
      },
      spec: { maxUnavailable, selector: { matchLabels: { [key]: 'true' } } },
      status: {
        disruptionsAllowed: 1,
        currentHealthy: 0,
        desiredHealthy: 0,
        expectedMachines: 0,
        disruptedMachines: Object.fromEntries(disrupted.map((name) => [name, '2026-01-01T00:00:00Z'])),
      },
    })),
    openshiftHealthChecks: drawn.check.startsWith('openshift')
      ? [
          drawn.check.endsWith('paused')
            ? {
                ...workersCheck,
                metadata: { ...workersCheck.metadata, annotations: { 'cluster.x-k8s.io/paused': '' } },
              }
            : workersCheck,
        ]
      : [],
    nodeHealthChecks: drawn.check.startsWith('nodes')
      ? [{ ...nodesCheck, spec: { ...nodesCheck.spec, pauseRequests: drawn.check.endsWith('paused') ? ['x'] : [] } }]
      : [],
    leases:
      drawn.leases === undefined || drawn.leases === 'none'
        ? drawn.leases && []
        : [
            {
              apiVersion: 'coordination.k8s.io/v1',
              kind: 'Lease',
              metadata: { name: 'node-a', namespace: 'medik8s-leases' },
              spec: {
                holderIdentity: { ours: 'cofferdam', theirs: 'node-maintenance', remediating: 'NodeHealthCheck-x' }[
                  drawn.leases
                ] as string,
                leaseDurationSeconds: 3_600,
                renewTime: '2027-01-15T08:00:00Z',
              },
            },
          ],
  })
}

const arbitraryObjects = arbitraryWorld.map(buildWorld)

/** Does an OSD of the cluster run on the node: undefined when it is not known. */
function runsOn({ osds, evidence }: FencedCluster, node: string | undefined): boolean | undefined {
  const isFresh = evidence.known && startMs - evidence.value.polledAtMs <= minute
  const states = osds.map(({ id, isReady, nodeName }) => ({
    here: nodeName.known ? nodeName.value === node : undefined,
    isUp: isReady || (isFresh ? evidence.value.upOsds.has(id) : undefined),
  }))
  if (states.some(({ here, isUp }) => here === true && isUp === true)) return true
  return states.some(({ here, isUp }) => here !== false && isUp !== false) ? undefined : false
}

describe('whatever is seen, and whoever meddles', () => {
  it('one machine is spared only on fresh evidence that all is clean, with no fence under way and the ledger readable', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const decision = decide(settled(objects))
        decision.clusters.forEach(({ budget, uid }, at) => {
          if (budget?.maxUnavailable !== 1) return
          const { evidence, heldBy } = objects.clusters[at] as FencedCluster
          expect(evidence.known && startMs - evidence.value.polledAtMs <= minute).toBe(true)
          expect(evidence.known && evidence.value.isClean).toEqual(known(true))
          expect(heldBy?.known).toBe(true)
          expect(decision.fences.filter(({ isOver, cluster }) => !isOver && cluster.uid === uid)).toEqual([])
        })
      }),
      { numRuns: runsOf(150) },
    )
  })

  it('once all is written, a machine carries the label exactly when an OSD runs there, as far as that is known', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const now = settled(objects)
        const wantedKeys = decide(now).clusters.map(({ budget }) => budget?.labelKey)
        for (const { metadata, status } of [...(now.openshiftMachines ?? []), ...(now.clusterApiMachines ?? [])]) {
          now.clusters.forEach((cluster, at) => {
            const key = wantedKeys[at]
            const runs = runsOn(cluster, status?.nodeRef?.name)
            if (key === undefined || runs === undefined || status?.nodeRef === undefined) return
            expect([metadata.name, key, metadata.labels?.[key] === 'true']).toEqual([metadata.name, key, runs])
          })
        }
      }),
      { numRuns: runsOf(150) },
    )
  })

  it('never are two sick nodes of one cluster let through that nobody began to fence', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const now = settled(objects)
        const { nodes } = decide(now)
        const sick = new Set(
          now.nodes.flatMap(({ metadata, status }) =>
            status?.conditions?.some(({ status: is }) => is === 'Unknown') === true ? [metadata.name] : [],
          ),
        )
        for (const cluster of now.clusters.filter(({ settings }) => settings.isManaged)) {
          const spared = nodes.filter(
            ({ node, mayFence, reason }) =>
              sick.has(node) && mayFence && reason === 'FenceAllowed' && runsOn(cluster, node) === true,
          )
          expect(spared.length).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns: runsOf(150) },
    )
  })

  it('no node that is away on plan may be fenced within its time, but where somebody has begun to', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const now = settled(objects)
        const { nodes } = decide(now)
        for (const name of names.filter((each) => isAwayOnPlan(now, each))) {
          const answer = nodes.find(({ node }) => node === name)
          if (answer?.reason === 'FenceUnderWay') continue
          expect([name, answer?.mayFence, answer?.reason]).toEqual([name, false, 'PlannedOutage'])
          const isPaused = (check: { readonly metadata: KubeObject['metadata'] }) =>
            check.metadata.annotations?.['cluster.x-k8s.io/paused'] !== undefined
          const hasMachine = now.openshiftMachines?.some(({ status }) => status?.nodeRef?.name === name) === true
          if (hasMachine) expect(now.openshiftHealthChecks.every(isPaused)).toBe(true)
        }
      }),
      { numRuns: runsOf(150) },
    )
  })

  it('no node is protected for longer than its request allows, and nothing of ours is left that was for it', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const later = settled({ ...settled(objects), nowMs: startMs + 4 * 60 * minute, clusters: [] })
        const { nodes, outages } = decide(later)
        const sick = outages.filter(({ awaySinceMs }) => awaySinceMs !== undefined).map(({ node }) => node)
        for (const { node, reason, mayFence } of nodes.filter(({ node }) => sick.includes(node))) {
          expect([node, mayFence, reason]).toEqual([node, true, 'PlannedOutageOver'])
        }
        if (objects.reboots?.requests.known !== true) return
        const ours = later.openshiftHealthChecks.filter(
          ({ metadata }) => metadata.annotations?.['cluster.x-k8s.io/paused'] === 'cofferdam',
        )
        expect(ours).toEqual([])
      }),
      { numRuns: runsOf(150) },
    )
  })

  it('what others set stays as it is', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const now = settled(objects)
        const foreign = ({
          openshiftMachines,
          clusterApiMachines,
          nodeHealthChecks = [],
          openshiftHealthChecks,
        }: FencingObjects) => ({
          machines: [...(openshiftMachines ?? []), ...(clusterApiMachines ?? [])].map(({ metadata, spec }) => ({
            app: metadata.labels?.['app'],
            hooks: spec?.lifecycleHooks?.preTerminate?.filter(({ name }) => name !== hookName) ?? [],
            skip: metadata.annotations?.['cluster.x-k8s.io/skip-remediation'] === 'x',
          })),
          pauses: nodeHealthChecks.map(
            ({ spec }) => spec?.pauseRequests?.filter((each) => each !== pauseRequest) ?? [],
          ),
          paused: openshiftHealthChecks.map(({ metadata }) => metadata.annotations?.['cluster.x-k8s.io/paused'] === ''),
        })
        expect(foreign(now)).toEqual(foreign(objects))
        const held = ({ leases }: FencingObjects) =>
          leases?.find(({ spec }) => spec?.holderIdentity !== 'cofferdam')?.spec?.holderIdentity
        expect(held(now)).toEqual(held(objects))
      }),
      { numRuns: runsOf(150) },
    )
  })

  it('after at most five rounds nothing is left to write, and without news nothing ever is', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        const now = settled(objects)
        expect(isSettled(applyDecision(now))).toBe(true)
      }),
      { numRuns: runsOf(150) },
    )
  })

  it('a judge and a parser that remember answer as those that begin from nothing', () => {
    fc.assert(
      fc.property(fc.array(arbitraryObjects, { minLength: 2, maxLength: 4 }), (worlds) => {
        const judge = createFencingJudge()
        const parse = createFencingParser()
        const [first, ...rest] = worlds as [FencingObjects, ...FencingObjects[]]
        // Mixed, so that some of the lists stay as they were.
        const mixed = rest.flatMap((next) => [
          { ...first, nodes: next.nodes },
          { ...next, nodes: first.nodes, openshiftMachines: first.openshiftMachines },
          { ...first, clusters: next.clusters.map((cluster, at) => first.clusters[at] ?? cluster) },
          settled(next),
        ])
        for (const objects of [first, ...mixed, first]) {
          expect(judge.decide(parse(objects))).toEqual(decideFencing(parseFencing(objects)))
        }
      }),
      { numRuns: runsOf(60) },
    )
  })
})
