import { expect, it } from 'vitest'
import { endCircles, endOverrides, moveLastCopies, restartKured } from './end-circles.ts'
import type { Stage } from './stage/open-stage.ts'

interface Given {
  readonly phase?: string
  readonly reason?: string
  readonly wantsReboot?: string
  readonly isCordoned?: boolean
  readonly podPhase?: string
  readonly wayOut?: string
}

async function ended(given: Given) {
  const { phase = 'Draining', reason, wayOut, wantsReboot = 'node-3', isCordoned = true, podPhase = 'Running' } = given
  const deleted: string[] = []
  const blocker = {
    object: 'pdb/shop/web',
    reason: reason ?? 'NoPlaceForReplica',
    wayOut: wayOut ?? 'no node takes another copy: node-2 is cordoned, node-3 is cordoned.',
  }
  const request = {
    metadata: { name: 'request-0' },
    spec: { nodeName: 'node-1' },
    status: { phase, blockedBy: [blocker] },
  }
  const node = { metadata: { name: 'node-3' }, spec: isCordoned ? { unschedulable: true } : {} }
  const pod = { metadata: { namespace: 'shop', name: 'web-0' }, status: { phase: podPhase } }
  const objects: Readonly<Record<string, object>> = { nodes: node, pods: pod, nodedisruptions: request }
  const of = ({ plural }: { readonly plural: string }) => new Map([['one', objects[plural]]])
  const stage = {
    views: { of },
    description: {},
    kured: { isRebootRequired: (name: string) => name === wantsReboot },
    api: { delete: async (_: unknown, { name }: { readonly name: string }) => void deleted.push(name) },
  }
  expect(await endCircles(stage as unknown as Stage)).toEqual(deleted)
  return deleted
}

const cases: Record<string, [Given, readonly string[]]> = {
  'a request whose copies lack the node that kured keeps closed is ended: neither would end by itself (seed 45)': [
    {},
    ['request-0'],
  ],
  'one that only waits holds nothing, and is left alone': [{ phase: 'Waiting' }, []],
  'a request that waits for a pod which has no place while kured keeps its node closed is ended (seed 23406)': [
    { reason: 'BudgetExhausted', podPhase: 'Pending' },
    ['request-0'],
  ],
  'a request that says it waits for itself is ended, as it says (short seed 703161)': [
    {
      reason: 'TooFewCopies',
      wayOut: 'The data does not recover without, this drain waits for itself; uncordon node-1.',
    },
    ['request-0'],
  ],
  'one that waits for copies to come back is left alone': [{ reason: 'TooFewCopies' }, []],
  'one that lacks something else is left alone, and blamed if it stays': [{ reason: 'BudgetExhausted' }, []],
  'a node that somebody else closed is no circle': [{ wantsReboot: 'node-1' }, []],
  'a node that is open takes copies': [{ isCordoned: false }, []],
}

it.each(Object.entries(cases))('%s', async (_, [given, expected]) => {
  expect(await ended(given)).toEqual(expected)
})

it('half an hour later requests are ended that lost a lock to an override, or have one and are not drained; no others', async () => {
  const deleted: string[] = []
  const request = (name: string, reason: string, phase: string, annotations = {}) => {
    return { metadata: { name, annotations }, status: { phase, blockedBy: [{ reason }] } }
  }
  const override = { 'cofferdam.io/break-glass': '{}' }
  const requests = [
    request('lost', 'LocksBroken', 'Draining'),
    request('waits', 'HeldByRequest', 'Waiting'),
    request('drains', 'BudgetExhausted', 'Draining'),
    request('overrides', 'BudgetExhausted', 'Draining', override),
    request('recovers', 'StorageRecovering', 'Recovering', override),
  ]
  const stage = {
    views: { of: () => new Map(requests.map((each) => [each.metadata.name, each])) },
    api: { delete: async (_: unknown, { name }: { readonly name: string }) => void deleted.push(name) },
  }
  expect([await endOverrides(stage as unknown as Stage), deleted]).toEqual([
    ['lost', 'overrides'],
    ['lost', 'overrides'],
  ])
})

interface Single {
  readonly tool?: 'kured' | 'OpenShift' | 'a machine that is deleted' | 'a machine controller' | 'a request'
  readonly policy?: string
  readonly copies?: number
  readonly on?: string
}

async function moved({ policy = 'block-if-contains-last-replica', copies = 1, on = 'node-3', tool = 'kured' }: Single) {
  const patched: unknown[] = []
  const objects: Readonly<Record<string, object>> = {
    nodes: { metadata: { name: 'node-3' }, spec: { unschedulable: true } },
    settings: { metadata: { namespace: 'longhorn-system', name: 'node-drain-policy' }, value: policy },
    volumes: { metadata: { name: 'data-0' }, spec: { numberOfReplicas: copies } },
    replicas: { metadata: { name: 'r' }, spec: { volumeName: 'data-0', nodeID: on } },
    ...(tool === 'a machine controller' && {
      machines: { metadata: { name: 'm', deletionTimestamp: 'now' }, status: { nodeRef: { name: 'node-3' } } },
    }),
    ...(tool === 'a request' && {
      nodedisruptions: {
        metadata: { name: 'r' },
        spec: { nodeName: 'node-3' },
        status: { phase: 'Draining', blockedBy: [{ reason: 'LastReplica' }] },
      },
    }),
    ...(tool === 'a machine that is deleted' && {
      nodedisruptions: {
        metadata: { name: 'r', labels: { 'cofferdam.io/made-for': 'machine-deletion' } },
        spec: { nodeName: 'node-3' },
      },
    }),
  }
  const stage = {
    description: tool === 'a machine controller' ? { machines: { api: 'cluster-api' } } : {},
    views: {
      of: ({ plural }: { readonly plural: string }) => new Map(objects[plural] ? [['one', objects[plural]]] : []),
    },
    ...(tool === 'kured' && { kured: { isRebootRequired: () => true } }),
    ...(tool === 'OpenShift' && { machineConfigs: { isUpdating: () => true } }),
    api: { patch: async (...args: unknown[]) => void patched.push(args) },
  }
  const volumes = await moveLastCopies(stage as unknown as Stage)
  expect(patched).toHaveLength(volumes.length === 0 ? 0 : 1)
  return volumes
}

const singles: Record<string, [Single, readonly string[]]> = {
  'the only copy of a volume is moved off a node that kured keeps closed: it would try for ever (seed 20396)': [
    {},
    ['data-0'],
  ],
  'off one that OpenShift keeps closed, too, also where stopped copies may go and this one runs (seed 600130)': [
    { tool: 'OpenShift', policy: 'allow-if-replica-is-stopped' },
    ['data-0'],
  ],
  'and off a node whose Machine is deleted: its controller never gives up': [
    { tool: 'a machine that is deleted' },
    ['data-0'],
  ],
  'and off one that a machine controller drains without a request, as it does where the hook came too late (short seed 704175)':
    [{ tool: 'a machine controller' }, ['data-0']],
  'and off one whose request waits for a last copy that runs again (short seed 706246)': [
    { tool: 'a request', policy: 'allow-if-replica-is-stopped' },
    ['data-0'],
  ],
  'a volume that is to have more copies gets another by itself': [{ copies: 2 }, []],
  'a copy on another node holds nothing up': [{ on: 'node-1' }, []],
  'a policy that moves copies needs nobody': [{ policy: 'block-for-eviction' }, []],
}

it.each(Object.entries(singles))('%s', async (_, [given, expected]) => {
  expect(await moved(given)).toEqual(expected)
})

it('kured is restarted where its drain has left out a pod, and nowhere else: it would wait for ever for what needs that pod (seed 527126)', () => {
  const restarted: string[] = []
  const kured = {
    hasGivenUpPods: (name: string) => name === 'node-1',
    restartPod: (name: string) => void restarted.push(name),
  }
  const stage = { shape: { nodes: ['node-1', 'node-2'] }, kured } as unknown as Stage
  expect([restartKured(stage), restarted]).toEqual([['node-1'], ['node-1']])
})
