import {
  type LonghornNode,
  type LonghornReplica,
  type LonghornVolume,
  longhornInstanceManagers,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { drainPolicyLabel, drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { LonghornControls } from '@cofferdam/simulator/world/longhorn/longhorn-controls.ts'

export interface LonghornOraclePorts {
  readonly views: Views
  readonly clock: Clock
  readonly verify: LonghornControls['verify']
  /** Whether the machine runs, whatever the API server has heard of it. */
  readonly isOn: (node: string) => boolean
  /** Somebody is there to set flags right, and has been for a while. */
  readonly isAttended: () => boolean
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
  /** Looks at all that must hold whenever nothing is being written. */
  look(): void
  stop(): void
}

/** A change of flags takes a write each; in this many looks all of them are done. */
const patientLooks = 6
/** What was decided under one policy may be carried out a moment after it was changed. */
const policyEchoMs = 2_000

/**
 * Sees the true state and says where a promise was broken.
 *
 * Guarantees: no budget goes while an engine runs under it, nor while it covers a copy that no other budget of a machine
 * that runs stands in for; no volume loses its last healthy copy but by a machine that fell out or by the story's own hand;
 * every copy that becomes healthy holds what was written, byte for byte; flags of replicas and nodes say the same.
 */
export function watchLonghorn(ports: LonghornOraclePorts): LonghornOracle {
  const { views, clock, isOn, isAttended, verify } = ports
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
  let policies: readonly { readonly value: string; readonly untilMs: number }[] = []
  let rebuilds = 0

  const blame = (sentence: string) => {
    if (!violations.includes(sentence)) violations.push(sentence)
  }
  const copiesOf = (volume: string) => [...replicas.values()].filter(({ spec }) => spec?.volumeName === volume)
  const setting = () => settings.get(`${longhornNamespace}/${drainPolicySetting}`)?.value ?? ''

  const wasOff = (node: string) => node !== '' && (wereOff.has(node) || !isOn(node))

  function mayBeLost(replica: LonghornReplica): boolean {
    const own = volumes.get(`${longhornNamespace}/${replica.spec?.volumeName}`)?.metadata.labels?.[drainPolicyLabel]
    const recent = policies.filter(({ untilMs }) => untilMs >= clock.now()).map(({ value }) => value)
    const said = own === undefined ? [setting(), ...recent] : [own]
    const isStopped = replica.spec?.desireState === 'stopped' && replica.status?.currentState === 'stopped'
    return said.includes('always-allow') || (isStopped && said.includes('allow-if-replica-is-stopped'))
  }

  function isCovered({ spec }: LonghornReplica): boolean {
    const node = views.of(nodes).get(spec?.nodeID ?? '')
    if (node === undefined || conditionOf(node, 'Ready')?.status !== 'True') return false
    return [...budgets.values()].some((budget) => nodeOfBudget(budget) === node.metadata.name)
  }

  function lookAtRelease(budget: PodDisruptionBudget): void {
    const node = nodeOfBudget(budget)
    const manager = views.of(longhornInstanceManagers).get(`${longhornNamespace}/${budget.metadata.name}`)
    if (node === undefined || manager === undefined || [...budgets.values()].some((one) => nodeOfBudget(one) === node))
      return
    const engines = Object.keys(manager.status?.instanceEngines ?? {})
    if (engines.length > 0) blame(`the budget of ${node} went while ${engines.join(', ')} ran there`)
    for (const replica of replicas.values()) {
      const volume = replica.spec?.volumeName ?? ''
      if (replica.spec?.nodeID !== node || !isHealthy(replica) || mayBeLost(replica)) continue
      const others = copiesOf(volume).filter((copy) => copy.spec?.nodeID !== node && isHealthy(copy))
      if (!others.some(isCovered)) blame(`the budget of ${node} went, and no other covers a copy of ${volume}`)
    }
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
    if (fellOut || excused.has(volume) || mayBeLost(before)) return
    const how = after === undefined ? 'was deleted' : 'failed'
    blame(`${volume} was left without a healthy copy when the one on ${replica.spec?.nodeID} ${how}`)
  }

  function lookAtRebuilt(volume: string): void {
    rebuilds += 1
    const wrong = verify(volume).healthy.filter(({ wrongBlocks }) => wrongBlocks.length > 0)
    if (wrong.length > 0) blame(`${volume} has other bytes than were written, in ${wrong.length} copies`)
  }

  function lookAtFlags(node: LonghornNode): void {
    const { name } = node.metadata
    const isEmptied = node.spec?.evictionRequested === true
    const disks = Object.entries(node.spec?.disks ?? {}).filter(([, disk]) => disk.evictionRequested === true)
    const emptied = new Set(disks.map(([disk]) => node.status?.diskStatus?.[disk]?.diskUUID))
    const flagged = [...replicas.values()].filter(
      ({ metadata, spec }) =>
        spec?.nodeID === name &&
        spec.active !== false &&
        spec.evictionRequested === true &&
        metadata.deletionTimestamp === undefined,
    )
    const byPolicy = flagged.filter(({ spec }) => !isEmptied && !emptied.has(spec?.diskID))
    const says = node.status?.autoEvicting === true
    suspect(`${name} says autoEvicting ${says} with ${byPolicy.length} replicas that a policy moves`, {
      isSo: says !== byPolicy.length > 0,
      about: `auto/${name}`,
    })
    const isOpen = views.of(nodes).get(name)?.spec?.unschedulable !== true
    suspect(`${name} takes pods, and ${byPolicy.length} replicas of it are still told to go`, {
      isSo: isOpen && byPolicy.length > 0,
      about: `open/${name}`,
    })
  }

  function suspect(sentence: string, { isSo, about }: { readonly isSo: boolean; readonly about: string }): void {
    const seen = isSo && isAttended() ? (odd.get(about) ?? 0) + 1 : 0
    odd.set(about, seen)
    if (seen > patientLooks) blame(sentence)
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
    look() {
      for (const { metadata } of views.of(nodes).values()) if (!isOn(metadata.name)) wereOff.add(metadata.name)
      for (const node of views.of(longhornNodes).values()) {
        if (conditionOf(node, 'Ready')?.status !== 'False') lookAtFlags(node)
      }
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

function isInstanceManagers({ metadata }: PodDisruptionBudget): boolean {
  return metadata.namespace === longhornNamespace && metadata.name.startsWith('instance-manager-')
}

function robustnessOf(volume: LonghornVolume | undefined): string | undefined {
  return volume?.status?.robustness
}
