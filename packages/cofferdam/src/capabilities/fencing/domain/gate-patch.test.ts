import { describe, expect, it } from 'vitest'
import type { GateChange } from './decision.ts'
import { buildGatePatch } from './gate-patch.ts'
import { buildLabelPatch } from './label-patch.ts'
import { pauseRequest } from './marks.ts'
import { buildNodeLease } from './node-lease.ts'
import { exampleMachine, nodesCheck, startMs, workersCheck } from './testing/small-fencing.ts'

const about = { namespace: 'openshift-machine-api', machine: 'm-a', explanation: '' }
const nodes = { remediator: 'workers', remediatorKind: 'medik8s-nhc', explanation: '' } as const
const machines = {
  remediator: 'openshift-machine-api/workers',
  remediatorKind: 'openshift-mhc',
  explanation: '',
} as const
type Patched = Exclude<GateChange, { readonly kind: 'hold-lease' | 'free-lease' }>

const theirHook = { name: 'backup', owner: 'them' }
const ourHook = { name: 'cofferdam-fencing', owner: 'cofferdam.io/fencing' }

function machine(annotations: Record<string, string>, preTerminate?: readonly (typeof ourHook)[]) {
  return exampleMachine('a', {
    metadata: { name: 'm-a', resourceVersion: '7', annotations },
    ...(preTerminate === undefined ? {} : { spec: { lifecycleHooks: { preTerminate } } }),
  })
}

describe('the patch of a gate', () => {
  const check = { ...nodesCheck, metadata: { name: 'workers', resourceVersion: '7' } }
  const skip = 'cluster.x-k8s.io/skip-remediation'
  const mark = 'cofferdam.io/set-by-fencing'
  const cases: Record<string, [Patched, Parameters<typeof buildGatePatch>[1], unknown]> = {
    'puts our hook beside those of others': [
      { kind: 'hook-machine', ...about },
      machine({}, [theirHook]),
      { metadata: { resourceVersion: '7' }, spec: { lifecycleHooks: { preTerminate: [theirHook, ourHook] } } },
    ],
    'takes our hook off and leaves those of others': [
      { kind: 'unhook-machine', ...about },
      machine({}, [ourHook, theirHook]),
      { metadata: { resourceVersion: '7' }, spec: { lifecycleHooks: { preTerminate: [theirHook] } } },
    ],
    'leaves no empty list behind': [
      { kind: 'unhook-machine', ...about },
      machine({}, [ourHook]),
      { metadata: { resourceVersion: '7' }, spec: { lifecycleHooks: { preTerminate: null } } },
    ],
    'is none when the hook is there': [{ kind: 'hook-machine', ...about }, machine({}, [ourHook]), undefined],
    'tells Cluster API to skip the machine, with our mark': [
      { kind: 'skip-machine', ...about },
      machine({ [mark]: 'x' }),
      { metadata: { resourceVersion: '7', annotations: { [skip]: 'cofferdam', [mark]: 'skip-remediation,x' } } },
    ],
    'is none where somebody else told it to skip the machine': [
      { kind: 'skip-machine', ...about },
      machine({ [skip]: '' }),
      undefined,
    ],
    'takes our word back with our mark': [
      { kind: 'unskip-machine', ...about },
      machine({ [skip]: 'cofferdam', [mark]: 'skip-remediation' }),
      { metadata: { resourceVersion: '7', annotations: { [skip]: null, [mark]: null } } },
    ],
    'takes back only our mark where somebody else wrote his own word since': [
      { kind: 'unskip-machine', ...about },
      machine({ [skip]: 'theirs', [mark]: 'skip-remediation' }),
      { metadata: { resourceVersion: '7', annotations: { [mark]: null } } },
    ],
    'takes back one of our marks and leaves the others: what they stand for would stay for ever': [
      { kind: 'unskip-machine', ...about },
      machine({ [skip]: 'cofferdam', [mark]: 'paused,skip-remediation' }),
      { metadata: { resourceVersion: '7', annotations: { [skip]: null, [mark]: 'paused' } } },
    ],
    'pauses a health check with our mark': [
      { kind: 'pause', ...machines },
      workersCheck,
      {
        metadata: {
          resourceVersion: undefined,
          annotations: { 'cluster.x-k8s.io/paused': 'cofferdam', [mark]: 'paused' },
        },
      },
    ],
    'never takes back a pause without our mark': [{ kind: 'resume', ...machines }, workersCheck, undefined],
    'adds our request to pause to those of others': [
      { kind: 'pause', ...nodes },
      { ...check, spec: { pauseRequests: ['upgrade'] } },
      { metadata: { resourceVersion: '7' }, spec: { pauseRequests: ['upgrade', pauseRequest] } },
    ],
    'adds no second request to pause: only one would be taken back': [
      { kind: 'pause', ...nodes },
      { ...check, spec: { pauseRequests: [pauseRequest] } },
      undefined,
    ],
    'takes only our request to pause away': [
      { kind: 'resume', ...nodes },
      { ...check, spec: { pauseRequests: [pauseRequest, 'upgrade'] } },
      { metadata: { resourceVersion: '7' }, spec: { pauseRequests: ['upgrade'] } },
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [change, seen, expected]) => {
    expect(buildGatePatch(change, seen)).toEqual(expected)
  })
})

describe('the Lease of a node', () => {
  const held = buildNodeLease({ node: 'a', nodeUid: 'u', nowMs: startMs })
  it('is held for an hour and goes with its node', () => {
    expect(held).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        namespace: 'medik8s-leases',
        name: 'node-a',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u' }],
      },
      spec: {
        holderIdentity: 'cofferdam',
        leaseDurationSeconds: 3_600,
        acquireTime: '2027-01-15T08:00:00.000000Z',
        renewTime: '2027-01-15T08:00:00.000000Z',
        leaseTransitions: 0,
      },
    })
  })

  it('is renewed against the version that was seen, and remembers since when it is held', () => {
    const seen = { ...held, metadata: { ...held.metadata, resourceVersion: '9' } }
    const renewed = buildNodeLease({ node: 'a', nodeUid: 'u', nowMs: startMs + 1_500, seen })
    expect([renewed.metadata.resourceVersion, renewed.spec]).toEqual([
      '9',
      { ...held.spec, renewTime: '2027-01-15T08:00:01.500000Z' },
    ])
  })

  it('is held from now where nobody wrote since when', () => {
    const { acquireTime: _, ...spec } = held.spec ?? {}
    const renewed = buildNodeLease({ node: 'a', nodeUid: 'u', nowMs: startMs, seen: { ...held, spec } })
    expect(renewed.spec?.acquireTime).toBe('2027-01-15T08:00:00.000000Z')
  })

  it('counts one more holder when it is taken from one who let it lapse', () => {
    const seen = { ...held, spec: { ...held.spec, holderIdentity: 'node-maintenance', leaseTransitions: 3 } }
    expect(buildNodeLease({ node: 'a', nodeUid: 'u', nowMs: startMs, seen }).spec?.leaseTransitions).toBe(4)
  })
})

describe('the patch of labels', () => {
  it('names what is ours beside what it changes, against the version that was seen', () => {
    const change = { add: { x: 'true' }, remove: ['y'], ours: ['x'] }
    expect(buildLabelPatch(change, machine({}))).toEqual({
      metadata: {
        resourceVersion: '7',
        labels: { x: 'true', y: null },
        annotations: { 'cofferdam.io/fence-labels': 'x' },
      },
    })
  })
})
