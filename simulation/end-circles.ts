import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { longhornReplicas, longhornSettings, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import {
  rebootPolicyAnnotation,
  wantedPolicyAnnotation,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { breakGlassAnnotation } from '@cofferdam/product/shared/break-glass-annotation.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { madeForLabel } from '@cofferdam/product/shared/made-for.ts'
import { machineKinds } from '@cofferdam/simulator/world/machines/machine-kinds.ts'
import { isTerminating } from '@cofferdam/simulator/world/pod-facts.ts'
import type { Stage } from './stage/open-stage.ts'

/** Under these a last copy stays where it is. */
const unmovingPolicies = ['block-if-contains-last-replica', 'allow-if-replica-is-stopped']

/**
 * Where a request and a drain of kured or of OpenShift wait for each other, or a request for itself, as docs/longhorn-drain.md and the runbook tell, somebody takes the way out that stands there:
 * `cofferdam uncordon` ends a request that is Draining. Returns whom that befell.
 */
export async function endCircles(stage: Tooled & Pick<Stage, 'api'>): Promise<readonly string[]> {
  const circles = [...stage.views.of(nodeDisruptions).values()].filter((request) => isInCircle(stage, request))
  for (const { metadata } of circles) await stage.api.delete(nodeDisruptions, { name: metadata.name })
  return circles.map(({ metadata }) => metadata.name)
}

/**
 * A request that lost a lock to an override stands still, as the runbook says of `LocksBroken`, until somebody ends it. One with an override goes
 * on beside others, does not let Ceph leave last, and so may wait for a drain that waits for it: whoever set it ends it. Returns their names.
 */
export async function endOverrides({ views, api }: Pick<Stage, 'views' | 'api'>): Promise<readonly string[]> {
  const ended = [...views.of(nodeDisruptions).values()]
    .filter(
      ({ metadata, status }) =>
        (status?.blockedBy ?? []).some(({ reason }) => reason === 'LocksBroken') ||
        (status?.phase === 'Draining' && metadata.annotations?.[breakGlassAnnotation] !== undefined),
    )
    .map(({ metadata }) => metadata.name)
  for (const name of ended) await api.delete(nodeDisruptions, { name })
  return ended
}

/**
 * A volume that is to have one copy blocks the drain of its node until somebody moves that, as the runbook tells of `LastReplica`: kured and
 * OpenShift try for ever, and a request whose last copy runs again, in use elsewhere, says so: somebody has Cofferdam put a policy in force that
 * moves it. Returns the volumes that are moved for it.
 */
export async function moveLastCopies(stage: Tooled & Pick<Stage, 'api'>): Promise<readonly string[]> {
  const { views, api } = stage
  const setting = [...views.of(longhornSettings).values()].find(({ metadata }) => metadata.name === drainPolicySetting)
  if (setting === undefined || !unmovingPolicies.includes(setting.value ?? '')) return []
  const requests = [...views.of(nodeDisruptions).values()].filter(
    ({ status }) =>
      status?.phase === 'Draining' && (status.blockedBy ?? []).some(({ reason }) => reason === 'LastReplica'),
  )
  const kept = [
    ...keptByTools(stage).map(({ metadata }) => metadata.name),
    ...requests.map(({ spec }) => spec.nodeName),
  ]
  const single = [...views.of(longhornVolumes).values()].filter(({ spec }) => spec?.numberOfReplicas === 1)
  const stuck = single
    .map(({ metadata }) => metadata.name)
    .filter((name) =>
      [...views.of(longhornReplicas).values()].some(
        ({ spec }) => spec?.volumeName === name && kept.includes(spec?.nodeID ?? ''),
      ),
    )
  const { namespace = '', name } = setting.metadata
  const value = 'block-for-eviction-if-contains-last-replica'
  const annotations = { [wantedPolicyAnnotation]: value, [rebootPolicyAnnotation]: null }
  const body = { value, metadata: { annotations } }
  if (stuck.length > 0) await api.patch(longhornSettings, { namespace, name }, { type: 'merge', body })
  return stuck
}

/**
 * An administrator who chose another policy in the middle of a drain has the last word, and the drain waits for copies which that policy leaves
 * where they are; its blockers say so, and he takes the way out that stands there. Returns the policy.
 */
export async function settlePolicy({ views, api }: Pick<Stage, 'views' | 'api'>): Promise<readonly string[]> {
  const setting = [...views.of(longhornSettings).values()].find(({ metadata }) => metadata.name === drainPolicySetting)
  const wanted = setting?.metadata.annotations?.[wantedPolicyAnnotation] ?? ''
  const isTold = [...views.of(nodeDisruptions).values()].some(({ status }) =>
    (status?.blockedBy ?? []).some(({ wayOut }) => wayOut.includes(`set ${wanted}`)),
  )
  if (setting === undefined || wanted === '' || !isTold) return []
  const { namespace = '', name } = setting.metadata
  await api.patch(longhornSettings, { namespace, name }, { type: 'merge', body: { value: wanted } })
  return [wanted]
}

/**
 * A drain of kured whose eviction of one pod failed, rather than being refused, waits for the others without it, as docs/tools/kured.md tells; so
 * somebody restarts its pod. Returns the nodes.
 */
export function restartKured({ kured, shape }: Pick<Stage, 'kured' | 'shape'>): readonly string[] {
  const stuck = shape.nodes.filter((name) => kured?.hasGivenUpPods(name) === true)
  for (const name of stuck) kured?.restartPod(name)
  return stuck
}

type Tooled = Pick<Stage, 'views' | 'kured' | 'machineConfigs' | 'description'>

/** Nodes that one of them closed and has not rebooted, or drains before it deletes the Machine. */
function keptByTools({ views, kured, machineConfigs, description }: Tooled): readonly Node[] {
  const api = description.machines?.api ?? 'none'
  const machines = api === 'none' ? [] : [...views.of(machineKinds(api).machines).values()]
  const goes = ({ metadata }: Node) =>
    machines.some((machine) => isTerminating(machine) && machine.status?.nodeRef?.name === metadata.name)
  return [...views.of(nodes).values()].filter(
    (node) =>
      node.spec?.unschedulable === true &&
      (kured?.isRebootRequired(node.metadata.name) === true ||
        machineConfigs?.isUpdating(node) === true ||
        goes(node) ||
        isAskedByTool(views, node)),
  )
}

/** Somebody who goes on for ever has had a request made for it, such as who deletes its Machine. */
function isAskedByTool(views: Stage['views'], { metadata }: Node): boolean {
  return [...views.of(nodeDisruptions).values()].some(
    (request) => request.spec.nodeName === metadata.name && request.metadata.labels?.[madeForLabel] !== undefined,
  )
}

/**
 * It says itself that it waits for an OSD that it has taken, or that the node which kured keeps closed is the place that its copies lack; or a pod of the budget that it waits for has
 * no place, since both nodes are closed.
 */
function isInCircle(stage: Tooled, { status }: NodeDisruption): boolean {
  if (status?.phase !== 'Draining') return false
  const kept = keptByTools(stage)
  return (status.blockedBy ?? []).some(({ reason, wayOut, object }) =>
    reason === 'TooFewCopies'
      ? wayOut.includes('this drain waits for itself')
      : reason === 'NoPlaceForReplica'
        ? kept.some(({ metadata }) => wayOut.includes(`${metadata.name} is cordoned`))
        : reason === 'BudgetExhausted' && kept.length > 0 && hasPendingPod(stage, object),
  )
}

function hasPendingPod({ views }: Pick<Stage, 'views'>, object: string): boolean {
  const [kind, namespace] = object.split('/')
  return (
    kind === 'pdb' &&
    [...views.of(pods).values()].some(
      ({ metadata, status }) => metadata.namespace === namespace && status?.phase === 'Pending',
    )
  )
}
