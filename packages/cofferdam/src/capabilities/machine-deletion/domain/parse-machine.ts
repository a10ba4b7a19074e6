import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { hasPreDrainHook, preDrainHookName } from '../../../shared/pre-drain-hook.ts'
import { optInMark } from './deletion-hook.ts'
import type { DeletionHooks, MachineNode, MachineView } from './snapshot.ts'

const excludeDrain = {
  openshift: 'machine.openshift.io/exclude-node-draining',
  'cluster-api': 'machine.cluster.x-k8s.io/exclude-node-draining',
} as const
const paused = 'cluster.x-k8s.io/paused'
/** `clusterctl move` deletes the copy that it leaves behind; the machine itself stays. */
const deletedForMove = 'clusterctl.cluster.x-k8s.io/delete-for-move'

/** Undefined for a Machine that cannot be read: nothing is done with it. */
export function parseMachine(machine: Machine, api: MachineView['api']): MachineView | undefined {
  const { namespace = '', name, uid = '', resourceVersion = '', deletionTimestamp } = machine.metadata
  const { labels = {}, annotations = {} } = machine.metadata
  const hooks = hooksOf(machine, api)
  if (hooks === undefined) return undefined
  const deletedSinceMs = annotations[deletedForMove] === undefined ? parseRfc3339(deletionTimestamp ?? '') : undefined
  const nodeName = textOf(machine.status?.nodeRef?.name)
  const nodeUid = textOf(machine.status?.nodeRef?.uid)
  const providerID = textOf(machine.spec?.providerID)
  return {
    api,
    namespace,
    name,
    uid,
    resourceVersion,
    isOptedIn: labels[optInMark] === 'true' || annotations[optInMark] === 'true',
    hooks,
    isPaused: annotations[paused] !== undefined,
    isExcluded: annotations[excludeDrain[api]] !== undefined,
    ...(deletedSinceMs === undefined ? {} : { deletedSinceMs }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(nodeUid === undefined ? {} : { nodeUid }),
    ...(providerID === undefined ? {} : { providerID }),
  }
}

export function parseMachineNode(node: Node): MachineNode {
  const ready = conditionOf(node, 'Ready')
  const readyChangedMs = parseRfc3339(ready?.lastTransitionTime ?? '')
  const providerID = textOf(node.spec?.providerID)
  return {
    name: node.metadata.name,
    uid: node.metadata.uid ?? '',
    isReady: ready?.status === 'True',
    ...(readyChangedMs === undefined ? {} : { readyChangedMs }),
    ...(providerID === undefined ? {} : { providerID }),
  }
}

function hooksOf(machine: Machine, api: MachineView['api']): DeletionHooks | undefined {
  const isOurs = hasPreDrainHook(machine)
  if (api === 'cluster-api') return { isOurs, others: [] }
  const list: unknown = machine.spec?.lifecycleHooks?.preDrain ?? []
  if (!Array.isArray(list) || !list.every((entry: Json) => isJsonObject(entry))) return undefined
  const others = (list as readonly { readonly name?: unknown }[]).filter(({ name }) => name !== preDrainHookName)
  return { isOurs, others }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
