import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { describe, expect, it } from 'vitest'
import { buildHookPatch } from './deletion-hook.ts'
import { parseMachine, parseMachineNode } from './parse-machine.ts'
import type { MachineNode, MachineView } from './snapshot.ts'

const annotation = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/cofferdam'
const theirs = { name: 'backup', owner: 'them' }
const ours = { name: 'cofferdam', owner: 'cofferdam.io/machine-deletion' }

function parsed(more: JsonObject = {}, api: MachineView['api'] = 'openshift'): MachineView | undefined {
  const { metadata = {}, ...rest } = more as { metadata?: object }
  const object = { apiVersion: 'v1', kind: 'Machine', metadata: { name: 'pool-1', resourceVersion: '7', ...metadata } }
  return parseMachine({ ...object, ...rest } as Machine, api)
}
const openshift = (...preDrain: JsonObject[]) =>
  parsed({ spec: { lifecycleHooks: { preDrain, preTerminate: [{ name: 'cofferdam-fencing', owner: 'x' }] } } })
const preDrainOf = (hooks: readonly JsonObject[] | null) => ({
  metadata: { resourceVersion: '7' },
  spec: { lifecycleHooks: { preDrain: hooks } },
})

describe('the pre-drain hook', () => {
  const patches: Record<string, readonly [MachineView | undefined, boolean, JsonObject]> = {
    'is set beside those of others, and the hook of fencing is another list': [
      openshift(theirs),
      true,
      preDrainOf([theirs, ours]),
    ],
    'is taken away and leaves those of others': [openshift(ours, theirs), false, preDrainOf([theirs])],
    'leaves no empty list': [openshift(ours), false, preDrainOf(null)],
    'is an annotation of our own in Cluster API': [
      parsed({}, 'cluster-api'),
      true,
      { metadata: { resourceVersion: '7', annotations: { [annotation]: '' } } },
    ],
    'is taken away there by its key': [
      parsed({ metadata: { annotations: { [annotation]: '', other: 'x' } } }, 'cluster-api'),
      false,
      { metadata: { resourceVersion: '7', annotations: { [annotation]: null } } },
    ],
  }
  it.each(Object.entries(patches))('%s', (_sentence, [machine, isWanted, then]) => {
    expect(machine && buildHookPatch(machine, isWanted)).toEqual(then)
  })
})

describe('a Machine', () => {
  const optedIn = { 'cofferdam.io/drain-before-delete': 'true' }
  const facts: Record<string, readonly [JsonObject, Partial<Record<keyof MachineView, unknown>> | undefined]> = {
    'asks by a label': [{ metadata: { labels: optedIn } }, { isOptedIn: true }],
    'asks by an annotation': [{ metadata: { annotations: optedIn } }, { isOptedIn: true }],
    'does not ask by any other value': [
      { metadata: { labels: { 'cofferdam.io/drain-before-delete': 'yes' } } },
      { isOptedIn: false },
    ],
    'that clusterctl moves to another cluster is not being deleted: its machine stays': [
      {
        metadata: {
          deletionTimestamp: '2026-01-01T00:00:00Z',
          annotations: { 'clusterctl.cluster.x-k8s.io/delete-for-move': '' },
        },
      },
      { deletedSinceMs: undefined },
    ],
    'with hooks that are no list is left alone: a patch would destroy what stands there': [
      { spec: { lifecycleHooks: { preDrain: 'x' } } },
      undefined,
    ],
    'with a hook that is no object is left alone': [{ spec: { lifecycleHooks: { preDrain: ['x'] } } }, undefined],
    'with a node that is no text has none': [{ status: { nodeRef: { name: 5 } } }, { nodeName: undefined }],
    'with an empty node has none, or it would count as gone and its hook be taken away': [
      { status: { nodeRef: { name: '' } } },
      { nodeName: undefined },
    ],
    'that is being deleted says since when, and which node is its own by name, UID and provider': [
      {
        metadata: { deletionTimestamp: '1970-01-01T00:00:05Z' },
        spec: { providerID: 'cloud:///1' },
        status: { nodeRef: { name: 'worker-1', uid: 'N1' } },
      },
      { deletedSinceMs: 5_000, nodeName: 'worker-1', nodeUid: 'N1', providerID: 'cloud:///1' },
    ],
  }
  it.each(Object.entries(facts))('%s', (_sentence, [given, then]) => {
    const machine = parsed(given)
    if (then === undefined) expect(machine).toBeUndefined()
    else for (const [field, value] of Object.entries(then)) expect(machine?.[field as keyof MachineView]).toBe(value)
  })
})

describe('the node of a Machine', () => {
  const ready = (status: string) => [{ type: 'Ready', status, lastTransitionTime: '1970-01-01T00:00:05Z' }]
  const nodes: Record<string, readonly [JsonObject, MachineNode]> = {
    'says since when it is not Ready, by which it counts as dead': [
      {
        metadata: { name: 'worker-1', uid: 'N1' },
        spec: { providerID: 'cloud:///1' },
        status: { conditions: ready('Unknown') },
      },
      { name: 'worker-1', uid: 'N1', isReady: false, readyChangedMs: 5_000, providerID: 'cloud:///1' },
    ],
    'that is Ready is drained': [
      { metadata: { name: 'worker-1', uid: 'N1' }, status: { conditions: ready('True') } },
      { name: 'worker-1', uid: 'N1', isReady: true, readyChangedMs: 5_000 },
    ],
    'whose kubelet has never reported is not Ready, and no time is made up for it': [
      { metadata: { name: 'worker-1' } },
      { name: 'worker-1', uid: '', isReady: false },
    ],
  }
  it.each(Object.entries(nodes))('%s', (_sentence, [given, then]) => {
    expect(parseMachineNode({ apiVersion: 'v1', kind: 'Node', ...given } as never)).toEqual(then)
  })
})
