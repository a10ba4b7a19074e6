import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { budgetsOf } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import {
  type LonghornReplica,
  type LonghornVolume,
  longhornInstanceManagers,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import {
  manageAnnotation,
  restoresAnnotation,
  wantedPolicyAnnotation,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { askedAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/guidance-marks.ts'
import { drainPolicyLabel, drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { holdPrefix } from '@cofferdam/product/shared/exchanged-budget.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { LonghornControls } from '@cofferdam/simulator/world/longhorn/longhorn-controls.ts'
import { isReady } from '@cofferdam/simulator/world/pod-facts.ts'

export interface LonghornOraclePorts {
  readonly namespace: string
  readonly views: Views
  readonly clock: Clock
  readonly verify: LonghornControls['verify']
  /** Whether the machine runs, whatever the API server has heard of it. */
  readonly isOn: (node: string) => boolean
  /** An operator is there that holds what must stay, and has been for a while. */
  readonly isAttended: () => boolean
  /** Into the trace, where what led to it is. */
  readonly tell: (line: string) => void
  /** Asked at the very moment at which a copy goes: something of the volume broke by no decision. */
  readonly isBroken?: (volume: string) => boolean
}

/** What a volume was from one moment on. */
export interface Robustness {
  readonly atMs: number
  readonly volume: string
  readonly robustness: string
}

export interface LonghornOracle {
  readonly violations: readonly string[]
  /** Of all volumes, whenever it changed. */
  readonly history: readonly Robustness[]
  /** How many rebuilds ended, each with its data compared byte for byte. */
  readonly rebuilds: () => number
  /** What the story itself takes away is nobody else's fault: copies of this volume may all be lost from now on. */
  excuse(volume: string): void
  /** All is whole again: from now on machines that fell out before excuse nothing. */
  forgetOutages(): void
  /** What is seen elsewhere and must not be. */
  blame(sentence: string): void
  /** The operator is about to delete this replica. */
  lookAtRemoval(replica: string): void
  /** Looks at all that must hold whenever nothing is being written. */
  look(): void
  stop(): void
}

/** What is taken back takes a write each; in this many looks all of them are done. */
const patientLooks = 6
/** A budget that Longhorn lets go is replaced as soon as that is heard. */
const coverLooks = 2
/** What was decided under one policy may be carried out a moment after it was changed. */
const policyEchoMs = 2_000

/**
 * Sees the true state and says where a promise was broken.
 *
 * Guarantees: no budget goes while an engine runs under it, nor while it covers a copy that no other budget of a machine
 * that runs stands in for; where Cofferdam holds, no instance manager with such a copy is without a budget; no volume loses its
 * last healthy copy but by a machine that fell out or by the story's own hand; every copy that becomes healthy holds what was
 * written, byte for byte; what was asked of Longhorn for a drain is taken back after it; of Longhorn's objects nothing is
 * written that is not for users, and no copy is deleted that a volume wants.
 */
export function watchLonghorn(ports: LonghornOraclePorts): LonghornOracle {
  const { namespace, views, clock, isOn, isAttended, verify } = ports
  const violations: string[] = []
  const history: Robustness[] = []
  const excused = new Set<string>()
  const wereOff = new Set<string>()
  /** Volumes that were healthy once: whatever becomes healthy after that was rebuilt. */
  const whole = new Set<string>()
  const odd = new Map<string, number>()
  const replicas = views.of(longhornReplicas)
  const volumes = views.of(longhornVolumes)
  const budgets = views.of(podDisruptionBudgets)
  const settings = views.of(longhornSettings)
  const managerPods = views.of(pods)
  const requests = views.of(nodeDisruptions)
  let policies: readonly { readonly value: string; readonly untilMs: number }[] = []
  let rebuilds = 0

  const blame = (sentence: string) => {
    if (violations.includes(sentence)) return
    violations.push(sentence)
    ports.tell(`VIOLATION: ${sentence}`)
  }
  const copiesOf = (volume: string) => [...replicas.values()].filter(({ spec }) => spec?.volumeName === volume)
  const setting = () => settings.get(`${namespace}/${drainPolicySetting}`)
  const noteOf = (key: string) => setting()?.metadata.annotations?.[key]

  const isExcused = (volume: string) => excused.has(volume) || ports.isBroken?.(volume) === true
  const wasOff = (node: string) => node !== '' && (wereOff.has(node) || !isOn(node))

  function mayBeLost(replica: LonghornReplica): boolean {
    const own = volumes.get(`${namespace}/${replica.spec?.volumeName}`)?.metadata.labels?.[drainPolicyLabel]
    const recent = policies.filter(({ untilMs }) => untilMs >= clock.now()).map(({ value }) => value)
    const said = own === undefined ? [setting()?.value, noteOf(wantedPolicyAnnotation), ...recent] : [own]
    const isStopped = replica.spec?.desireState === 'stopped' && replica.status?.currentState === 'stopped'
    return said.includes('always-allow') || (isStopped && said.includes('allow-if-replica-is-stopped'))
  }

  function isCovered({ spec }: LonghornReplica): boolean {
    const node = views.of(nodes).get(spec?.nodeID ?? '')
    if (node === undefined || conditionOf(node, 'Ready')?.status !== 'True') return false
    return [...budgets.values()].some((budget) => nodeOfBudget(budget) === node.metadata.name)
  }

  /** Volumes whose only copy under a budget would be the one on this node. */
  function restingOn(node: string): string[] {
    return [...replicas.values()]
      .filter((replica) => replica.spec?.nodeID === node && isHealthy(replica) && !mayBeLost(replica))
      .map(({ spec }) => spec?.volumeName ?? '')
      .filter((volume) => {
        const others = copiesOf(volume).filter((copy) => copy.spec?.nodeID !== node && isHealthy(copy))
        return !others.some(isCovered)
      })
  }

  function lookAtRelease(budget: PodDisruptionBudget): void {
    const node = nodeOfBudget(budget)
    const name = budget.metadata.name.replace(holdPrefix, '')
    const manager = views.of(longhornInstanceManagers).get(`${namespace}/${name}`)
    if (node === undefined || manager === undefined || [...budgets.values()].some((one) => nodeOfBudget(one) === node))
      return
    const engines = Object.keys(manager.status?.instanceEngines ?? {})
    if (engines.length > 0) blame(`the budget of ${node} went while ${engines.join(', ')} ran there`)
    for (const volume of restingOn(node)) blame(`the budget of ${node} went, and no other covers a copy of ${volume}`)
  }

  /** Where Cofferdam holds, an eviction must not get through while an instance manager has a last copy. */
  function lookAtCover(pod: Pod): void {
    const node = pod.spec.nodeName ?? ''
    const manager = views.of(longhornInstanceManagers).get(`${namespace}/${pod.metadata.name}`)
    // Before Longhorn says that it runs, nobody relies on it.
    const isRunning = isReady(pod) && manager?.status?.currentState === 'running'
    const isOpen = isRunning && pod.metadata.deletionTimestamp === undefined && isOn(node) && isHolding()
    const isBare = isOpen && budgetsOf(pod, [...budgets.values()]).length === 0
    const bared = isBare ? restingOn(node).filter((volume) => !isExcused(volume)) : []
    suspect(`the instance manager of ${node} has the last copy of ${bared.join(', ')}, and no budget`, {
      isSo: bared.length > 0,
      about: `cover/${pod.metadata.name}`,
      looks: coverLooks,
    })
  }

  /** A setting that is gone takes nothing back: budgets of ours go on holding. */
  function isHolding(): boolean {
    const mode = noteOf(manageAnnotation)
    return mode === 'hold' || mode === 'owner' || setting() === undefined
  }

  function lookAtCopies(before: LonghornReplica | undefined, after: LonghornReplica | undefined): void {
    const replica = after ?? before
    const volume = replica?.spec?.volumeName ?? ''
    if (replica === undefined) return
    if (before !== undefined && after !== undefined && isHealthy(after) && !isHealthy(before) && whole.has(volume))
      lookAtRebuilt(volume)
    if (before === undefined || !isHealthy(before) || (after !== undefined && isHealthy(after))) return
    if (copiesOf(volume).some((copy) => copy.metadata.name !== replica.metadata.name && isHealthy(copy))) return
    // What a machine took with it when it fell out was lost by nobody's decision.
    const fellOut = [replica, ...copiesOf(volume)].some(({ spec }) => wasOff(spec?.nodeID ?? ''))
    if (fellOut || isExcused(volume) || mayBeLost(before)) return
    const how = after === undefined ? 'was deleted' : 'failed'
    blame(`${volume} was left without a healthy copy when the one on ${replica.spec?.nodeID} ${how}`)
  }

  function lookAtRebuilt(volume: string): void {
    rebuilds += 1
    const wrong = verify(volume).healthy.filter(({ wrongBlocks }) => wrongBlocks.length > 0)
    if (wrong.length > 0) blame(`${volume} has other bytes than were written, in ${wrong.length} copies`)
  }

  /** What is asked of Longhorn for the time of a drain is asked no longer. */
  function lookAtRequests(): void {
    const isLeaving = ({ spec }: Node) => spec?.unschedulable === true || (spec?.taints ?? []).length > 0
    for (const { metadata } of views.of(longhornNodes).values()) {
      const kubeNode = views.of(nodes).get(metadata.name)
      const isAsked = metadata.annotations?.[askedAnnotation] !== undefined
      suspect(`${metadata.name} takes pods, and its disks are still asked for`, {
        isSo: isAsked && kubeNode !== undefined && !isLeaving(kubeNode),
        about: `asked/${metadata.name}`,
      })
    }
    const isQuiet =
      ![...views.of(nodes).values()].some(isLeaving) &&
      [...requests.values()].every(({ status }) => status?.phase === 'Completed')
    suspect(`no node leaves, and ${setting()?.value} is still in force`, {
      isSo: isQuiet && noteOf(restoresAnnotation) !== undefined,
      about: 'restores',
    })
  }

  function suspect(
    sentence: string,
    { isSo, about, looks = patientLooks }: { readonly isSo: boolean; readonly about: string; readonly looks?: number },
  ): void {
    const seen = isSo && isAttended() ? (odd.get(about) ?? 0) + 1 : 0
    odd.set(about, seen)
    if (seen > looks) blame(sentence)
  }

  const ends = [
    budgets.subscribe(({ before, after }) => {
      if (before !== undefined && after === undefined && isInstanceManagers(before)) lookAtRelease(before)
    }),
    replicas.subscribe(({ before, after }) => lookAtCopies(before, after)),
    settings.subscribe(({ before }) => {
      if (before?.metadata.name !== drainPolicySetting) return
      policies = [...policies.slice(-3), { value: before.value ?? '', untilMs: clock.now() + policyEchoMs }]
    }),
    volumes.subscribe(({ before, after }) => {
      const [was, is] = [before, after].map(robustnessOf)
      if (after === undefined || is === undefined || was === is) return
      history.push({ atMs: clock.now(), volume: after.metadata.name, robustness: is })
      if (is === 'healthy') whole.add(after.metadata.name)
    }),
  ]

  return {
    violations,
    history,
    rebuilds: () => rebuilds,
    excuse: (volume) => void excused.add(volume),
    forgetOutages: () => wereOff.clear(),
    blame,
    lookAtRemoval(name) {
      const replica = replicas.get(`${namespace}/${name}`)
      const volume = replica?.spec?.volumeName ?? ''
      const wanted = volumes.get(`${namespace}/${volume}`)?.spec?.numberOfReplicas ?? 0
      const left = copiesOf(volume).filter((copy) => copy.metadata.name !== name && isHealthy(copy)).length
      if (left < wanted) blame(`the operator deletes a copy of ${volume}, which then has ${left} of ${wanted}`)
    },
    look() {
      for (const { metadata } of views.of(nodes).values()) if (!isOn(metadata.name)) wereOff.add(metadata.name)
      for (const pod of managerPods.values()) if (isManagerPod(pod)) lookAtCover(pod)
      lookAtRequests()
    },
    stop() {
      for (const end of ends) end()
    },
  }
}

export function isHealthy({ metadata, spec }: LonghornReplica): boolean {
  const { active = true, healthyAt = '', failedAt = '' } = spec ?? {}
  return active && healthyAt !== '' && failedAt === '' && metadata.deletionTimestamp === undefined
}

export function nodeOfBudget({ spec }: PodDisruptionBudget): string | undefined {
  return spec.selector?.matchLabels?.['longhorn.io/node']
}

/** Longhorn's own, or one of ours beside it. */
function isInstanceManagers({ metadata }: PodDisruptionBudget): boolean {
  return /^(cofferdam-hold-)?instance-manager-/.test(metadata.name)
}

export function isHold({ metadata }: PodDisruptionBudget): boolean {
  return metadata.name.startsWith(holdPrefix)
}

export function isManagerPod({ metadata }: Pod): boolean {
  return metadata.name.startsWith('instance-manager-')
}

function robustnessOf(volume: LonghornVolume | undefined): string | undefined {
  return volume?.status?.robustness
}
