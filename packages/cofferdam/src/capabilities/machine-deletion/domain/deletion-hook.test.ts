import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { describe, expect, it } from 'vitest'
import { buildHookPatch } from './deletion-hook.ts'
import { parseMachine } from './parse-machine.ts'
import type { MachineView } from './snapshot.ts'

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
  }
  it.each(Object.entries(facts))('%s', (_sentence, [given, then]) => {
    const machine = parsed(given)
    if (then === undefined) expect(machine).toBeUndefined()
    else for (const [field, value] of Object.entries(then)) expect(machine?.[field as keyof MachineView]).toBe(value)
  })
})
