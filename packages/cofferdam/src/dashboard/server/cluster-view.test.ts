import type { Event, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import {
  type EventView,
  newestEvents,
  type PodState,
  viewBudget,
  viewEvent,
  viewNode,
  viewPod,
} from './cluster-view.ts'

const node = (more: Partial<Node> = {}): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, ...more })

describe('a node', () => {
  it('is shown with its place, roles and size', () => {
    const labels = {
      'topology.kubernetes.io/zone': 'a',
      'topology.rook.io/rack': 'r1',
      'node-role.kubernetes.io/worker': '',
      'node-role.kubernetes.io/control-plane': '',
    }
    const given = node({
      metadata: { name: 'n1', labels },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
        capacity: { cpu: '8', memory: '32Gi' },
      },
    })
    expect(viewNode(given)).toEqual({
      id: 'n1',
      zone: 'a',
      rack: 'r1',
      roles: ['control-plane', 'worker'],
      readiness: 'ready',
      isCordoned: true,
      cpu: '8',
      memory: '32Gi',
    })
  })

  it('that has said nothing yet is unknown, not ready', () => {
    expect(viewNode(node())).toEqual({ id: 'n1', zone: '', roles: [], readiness: 'unknown', isCordoned: false })
  })

  const drains: Record<string, { given: ['True' | 'False', 'True' | 'False']; then: string }> = {
    'whose pods are leaving is being drained': { given: ['True', 'False'], then: 'under-way' },
    'whose pods have left is drained': { given: ['False', 'True'], then: 'done' },
    'that was merely cordoned is not drained': { given: ['False', 'False'], then: 'none' },
  }
  it.each(Object.entries(drains))('%s', (_name, { given: [inProgress, drained], then }) => {
    const conditions = [
      { type: 'DrainInProgress', status: inProgress },
      { type: 'Drained', status: drained },
    ]
    expect(viewNode(node({ status: { conditions } })).drain).toBe(then)
  })

  it('that went silent says why', () => {
    const status = { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' } as const] }
    expect(viewNode(node({ status }))).toMatchObject({ readiness: 'unknown', reason: 'NodeStatusUnknown' })
  })
})

const pod = (more: { metadata?: Partial<Pod['metadata']>; status?: Pod['status'] } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  spec: { containers: [], nodeName: 'n1' },
  ...(more.status === undefined ? {} : { status: more.status }),
  metadata: { name: 'web-6d8f9-x2k4p', namespace: 'shop', ...more.metadata },
})

const owner = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: 'u', controller: true }],
})

describe('a pod', () => {
  const states: Record<string, { given: Pod; then: PodState }> = {
    'that runs and is ready is ready': {
      given: pod({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }),
      then: 'ready',
    },
    'that runs and is not ready is starting': { given: pod({ status: { phase: 'Running' } }), then: 'starting' },
    'that has a node and does not run yet is starting': { given: pod(), then: 'starting' },
    'that has no node yet is pending': { given: { ...pod(), spec: { containers: [] } }, then: 'pending' },
    'that is being deleted is leaving, whatever else it says': {
      given: pod({
        metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      }),
      then: 'leaving',
    },
    'that ended well has succeeded': { given: pod({ status: { phase: 'Succeeded' } }), then: 'succeeded' },
    'that ended badly has failed': { given: pod({ status: { phase: 'Failed' } }), then: 'failed' },
    'of a silent node is unknown': { given: pod({ status: { phase: 'Unknown' } }), then: 'unknown' },
  }
  it.each(Object.entries(states))('%s', (_name, { given, then }) => {
    expect(viewPod(given).state).toBe(then)
  })

  const apps: Record<string, { given: Pod; then: string }> = {
    'of a Deployment is called after it, not after the ReplicaSet': {
      given: pod({ metadata: { labels: { 'pod-template-hash': '6d8f9' }, ...owner('ReplicaSet', 'web-6d8f9') } }),
      then: 'web',
    },
    'of a StatefulSet is called after it': { given: pod({ metadata: owner('StatefulSet', 'orders') }), then: 'orders' },
    'that stands alone is called by its own name': { given: pod(), then: 'web-6d8f9-x2k4p' },
  }
  it.each(Object.entries(apps))('%s', (_name, { given, then }) => {
    expect(viewPod(given).app).toBe(then)
  })

  it('that finds no node says what the scheduler said', () => {
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/9 nodes fit',
    } as const
    expect(viewPod(pod({ status: { phase: 'Pending', conditions: [condition] } })).reason).toBe('0/9 nodes fit')
  })

  it('is shown whole', () => {
    const given = pod({
      metadata: { ...owner('DaemonSet', 'agent'), labels: { app: 'agent' }, creationTimestamp: '2026-01-01T00:00:00Z' },
      status: {
        phase: 'Running',
        podIP: '10.0.0.7',
        containerStatuses: [
          { name: 'a', ready: true, restartCount: 2, image: 'i', imageID: 'i' },
          {
            name: 'b',
            ready: false,
            restartCount: 1,
            image: 'i',
            imageID: 'i',
            state: { waiting: { reason: 'Crash' } },
          },
        ],
      },
    })
    expect(viewPod(given)).toEqual({
      id: 'shop/web-6d8f9-x2k4p',
      namespace: 'shop',
      name: 'web-6d8f9-x2k4p',
      app: 'agent',
      ownerKind: 'DaemonSet',
      node: 'n1',
      state: 'starting',
      reason: 'Crash',
      restarts: 3,
      address: '10.0.0.7',
      createdAt: '2026-01-01T00:00:00Z',
    })
  })
})

describe('a budget', () => {
  const budget = (more: Partial<PodDisruptionBudget>): PodDisruptionBudget => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'shop', generation: 2 },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    ...more,
  })
  const status = { disruptionsAllowed: 1, currentHealthy: 4, desiredHealthy: 3, expectedPods: 4 }

  it('is shown with its counts', () => {
    const disruptedPods = { 'web-1': '2026-01-01T00:00:00Z' }
    expect(viewBudget(budget({ status: { ...status, observedGeneration: 2, disruptedPods } }))).toEqual({
      id: 'shop/web',
      namespace: 'shop',
      rule: 'at most 1 down',
      allowed: 1,
      healthy: 4,
      desired: 3,
      expected: 4,
      granted: 1,
      isCounted: true,
    })
  })

  it('whose spec changed after the last count is not counted', () => {
    expect(viewBudget(budget({ status: { ...status, observedGeneration: 1 } })).isCounted).toBe(false)
  })

  it('that nobody has counted is not counted and allows nothing', () => {
    expect(viewBudget(budget({ spec: { minAvailable: '50%' } }))).toMatchObject({
      rule: 'at least 50% up',
      allowed: 0,
      isCounted: false,
    })
  })
})

describe('an event', () => {
  const event = (more: Partial<Event>): Event => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '7' },
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-1' },
    ...more,
  })

  it('is shown with what it is about', () => {
    const given = event({
      type: 'Warning',
      reason: 'Evicted',
      message: 'gone',
      count: 3,
      lastTimestamp: '2026-01-01T00:01:00Z',
    })
    expect(viewEvent(given)).toEqual({
      id: 'shop/e',
      about: 'Pod shop/web-1',
      type: 'Warning',
      reason: 'Evicted',
      message: 'gone',
      count: 3,
      at: '2026-01-01T00:01:00Z',
      order: 7,
    })
  })

  it('about a node names the node alone', () => {
    expect(viewEvent(event({ involvedObject: { kind: 'Node', name: 'n1', namespace: 'default' } })).about).toBe(
      'Node n1',
    )
  })

  it('of the newer kind carries its time elsewhere', () => {
    expect(viewEvent(event({ eventTime: '2026-01-01T00:02:00.000000Z' })).at).toBe('2026-01-01T00:02:00.000000Z')
    expect(viewEvent(event({})).at).toBe('2026-01-01T00:00:00Z')
  })

  it('is older or newer than others: the newest come first, and only so many', () => {
    const at = (id: string, second: number, order: number): EventView => ({
      ...viewEvent(event({})),
      id,
      at: `2026-01-01T00:00:0${second}Z`,
      order,
    })
    const events = [at('a', 1, 1), at('b', 1, 2), at('c', 3, 9), at('d', 2, 3)]
    expect(newestEvents(events, 3).map(({ id }) => id)).toEqual(['c', 'd', 'b'])
  })
})
