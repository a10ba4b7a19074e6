import type { Event, Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  type LonghornNode,
  type LonghornReplica,
  type LonghornSetting,
  type LonghornVolume,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf, controllerOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { isHealthy, isHold, nodeOfBudget } from './longhorn-oracle.ts'
import type { Trace } from './trace.ts'

/** Tells of nodes, budgets, volumes, replicas, pods and of what the operator says, in the order in which the API server does. */
export function recordLonghorn(views: Views, trace: Pick<Trace, 'tell'>): () => void {
  let isRelevant = false
  const follow = <T extends KubeObject>(
    type: ResourceType<T>,
    linesOf: (before: T | undefined, after: T | undefined) => readonly (string | undefined)[],
  ) =>
    views.of(type).subscribe(({ before, after }) => {
      if (!isRelevant) return
      for (const line of linesOf(before, after)) if (line !== undefined) trace.tell(plain(line, views))
    })
  const ends = [
    follow(nodes, nodeLines),
    follow(podDisruptionBudgets, (before, after) => [budgetLine(before, after)]),
    follow(longhornSettings, (before, after) => [settingLine(before, after)]),
    follow(longhornVolumes, volumeLines),
    follow(longhornReplicas, replicaLines),
    follow(longhornNodes, (before, after) => [autoEvictingLine(before, after), ...requestedLines(before, after)]),
    follow(nodeDisruptions, (before, after) => [requestLine(before, after)]),
    follow(pods, (before, after) => [podLine(before, after)]),
    follow(events, (before, after) => [before === undefined ? eventLine(after) : undefined]),
  ]
  isRelevant = true
  return () => {
    for (const end of ends) end()
  }
}

/** Names that are left to chance say where a thing is instead. */
export function plain(line: string, views: Views): string {
  const held = [...views.of(longhornReplicas).values()]
  return line
    .replaceAll(/instance-manager-[0-9a-f]{32}/g, (name) => {
      const pod = [...views.of(pods).values()].find(({ metadata }) => metadata.name === name)
      return `the instance manager of ${pod?.spec.nodeName ?? 'a node'}`
    })
    .replaceAll(/\b([a-z0-9-]+)-r-[0-9a-z]+\b/g, (name, volume: string) => {
      const replica = held.find(({ metadata }) => metadata.name === name)
      return `${volume} on ${replica?.spec?.nodeID || 'no node'}`
    })
}

function nodeLines(before: Node | undefined, after: Node | undefined): (string | undefined)[] {
  if (before === undefined) return []
  if (after === undefined) return [`${before.metadata.name} is deleted`]
  const { name } = after.metadata
  const [wasClosed, isClosed] = [before, after].map(({ spec }) => spec?.unschedulable === true)
  const [wasThere, isThere] = [before, after].map((node) => conditionOf(node, 'Ready')?.status === 'True')
  return [
    wasClosed === isClosed ? undefined : `${name} is ${isClosed ? 'cordoned' : 'open again'}`,
    wasThere === isThere ? undefined : `${name} is ${isThere ? 'ready' : 'not heard of any more'}`,
  ]
}

function budgetLine(before: PodDisruptionBudget | undefined, after: PodDisruptionBudget | undefined) {
  const budget = after ?? before
  if (budget === undefined || (before !== undefined && after !== undefined)) return undefined
  const node = nodeOfBudget(budget)
  const whose = node === undefined ? budget.metadata.name : `of the instance manager of ${node}`
  return `${isHold(budget) ? "Cofferdam's" : 'the'} budget ${whose} ${after === undefined ? 'is gone' : 'is there'}`
}

function settingLine(before: LonghornSetting | undefined, after: LonghornSetting | undefined): string | undefined {
  const name = (after ?? before)?.metadata.name
  if (before === undefined) return undefined
  if (after === undefined) return `setting ${name} is deleted`
  return before.value === after.value ? undefined : `setting ${name} is ${after.value}`
}

function volumeLines(before: LonghornVolume | undefined, after: LonghornVolume | undefined): (string | undefined)[] {
  if (after === undefined) return []
  const { name } = after.metadata
  const place = (volume: LonghornVolume | undefined) =>
    volume?.status?.state === 'attached' ? `attached to ${volume.status.currentNodeID}` : volume?.status?.state
  const said = (volume: LonghornVolume | undefined) => conditionOf(volume ?? {}, 'Scheduled')
  const [was, is] = [place(before), place(after)]
  const isRest = is?.startsWith('attached') === true || is === 'detached'
  const [wasPlaced, isPlaced] = [said(before)?.status !== 'False', said(after)?.status !== 'False']
  const robustness = after.status?.robustness
  return [
    was === is || !isRest ? undefined : `volume ${name} is ${is}`,
    before?.status?.robustness === robustness || robustness === 'unknown'
      ? undefined
      : `volume ${name} is ${robustness}`,
    wasPlaced === isPlaced ? undefined : `volume ${name} ${isPlaced ? 'is placed' : `finds no place for a replica`}`,
  ]
}

function replicaLines(before: LonghornReplica | undefined, after: LonghornReplica | undefined): (string | undefined)[] {
  const { volumeName, nodeID } = (after ?? before)?.spec ?? {}
  const what = `replica of ${volumeName} on ${nodeID === '' ? 'no node' : nodeID}`
  if (after === undefined) return [`${what} is deleted`]
  if (before === undefined) return [`${what} is made`]
  const isFlagged = after.spec?.evictionRequested === true
  const hasFailed = (after.spec?.failedAt ?? '') !== ''
  return [
    (before.spec?.evictionRequested === true) === isFlagged
      ? undefined
      : `${what} is ${isFlagged ? 'told to go' : 'told to stay'}`,
    isHealthy(before) || !isHealthy(after) ? undefined : `${what} is healthy`,
    ((before.spec?.failedAt ?? '') !== '') === hasFailed || !hasFailed ? undefined : `${what} has failed`,
  ]
}

function autoEvictingLine(before: LonghornNode | undefined, after: LonghornNode | undefined): string | undefined {
  const [was, is] = [before, after].map((node) => node?.status?.autoEvicting === true)
  return was === is || after === undefined ? undefined : `${after.metadata.name} says autoEvicting ${is}`
}

function requestedLines(before: LonghornNode | undefined, after: LonghornNode | undefined): string[] {
  if (before === undefined || after === undefined) return []
  return Object.entries(after.spec?.disks ?? {}).flatMap(([name, disk]) => {
    const [was, is] = [before.spec?.disks?.[name], disk].map((one) => one?.evictionRequested === true)
    return was === is
      ? []
      : [`${name} of ${after.metadata.name} is ${is ? 'to be emptied' : 'not to be emptied any more'}`]
  })
}

function requestLine(before: NodeDisruption | undefined, after: NodeDisruption | undefined): string | undefined {
  const phase = after?.status?.phase
  return phase === undefined || phase === before?.status?.phase ? undefined : `${after?.metadata.name} is ${phase}`
}

function podLine(before: Pod | undefined, after: Pod | undefined): string | undefined {
  if (after === undefined) return undefined
  const owner = controllerOf(after)?.kind
  // Names of others are left to chance.
  if (owner !== 'InstanceManager' && owner !== 'StatefulSet') return undefined
  const name = owner === 'InstanceManager' ? 'the instance manager' : after.metadata.name
  const on = ` on ${after.spec.nodeName}`
  if (after.metadata.deletionTimestamp !== undefined)
    return before?.metadata.deletionTimestamp === undefined ? `${name}${on} is told to go` : undefined
  if (isReady(after) === (before !== undefined && isReady(before))) return undefined
  return `${name}${on} is ${isReady(after) ? 'ready' : 'not ready any more'}`
}

function eventLine(event: Event | undefined): string | undefined {
  if (event?.source?.component !== 'cofferdam') return undefined
  const { kind, name } = event.involvedObject
  return `${event.type} ${event.reason} about ${kind?.toLowerCase()} ${name}`
}
