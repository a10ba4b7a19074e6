import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { deployments, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { needsUpdate } from '@cofferdam/product/capabilities/osd-update/domain/osd-deployment.ts'
import { osdsInParallel } from '@cofferdam/product/capabilities/osd-update/domain/parallel-limit.ts'
import { updateStartedAnnotation } from '@cofferdam/product/capabilities/osd-update/domain/update-mark.ts'
import { overrideInForce } from '@cofferdam/product/capabilities/osd-update/domain/update-override.ts'
import { parseUpdateSettings } from '@cofferdam/product/capabilities/osd-update/domain/update-settings.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { CephControls, CephTruth, GroupTruth } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'

export interface UpdateOraclePorts {
  readonly views: Views
  readonly clock: Clock
  readonly ceph: Pick<CephControls, 'truth'>
  readonly namespace: string
  readonly name: string
  /** How long the operator may not know yet of what befell OSDs, pools or the CephCluster without its doing. */
  readonly patienceMs: number
  /** Rook writes the Deployments, and we choose when. */
  readonly rookUpdates?: boolean
  /** Somebody else judges what becomes of placement groups. */
  readonly isDataJudged?: boolean
}

export interface UpdateOracle {
  /** Promises that were broken by what was started. */
  readonly violations: readonly string[]
  /** OSDs that took placement groups below their floor because the CephCluster asks for that: `osd.3: 1.a, 1.b`. */
  readonly overridden: readonly string[]
  /** Placement groups that clients could not reach, whoever is to blame. */
  readonly below: readonly string[]
  /** OSDs in the order in which they were started, each time with the image that they are to run: `3 v19.2.4`. */
  readonly started: readonly string[]
  /** Started, and not back in Kubernetes and Ceph. */
  onTheWay(): number[]
  mostAtOnce(): number
  /** How often an OSD was started that served data at that moment. */
  taken(): number
  /** The operator asks the pods of an OSD to go. Tell it before they do. */
  evicted(osd: number): void
  /** A pool was made or has another floor. */
  poolsChanged(): void
  /** Looks at how things are. Call it after each step. */
  look(): void
  stop(): void
}

interface Start {
  readonly atMs: number
  /** Uids of the pods that it had then. */
  readonly before: ReadonlySet<string>
  /** Groups that have peered without a break since it serves again. */
  peering?: readonly string[]
}

/** With fewer OSDs in the cluster they go one at a time. */
const fewOsds = 3

/**
 * Sees how things are and says where an update broke a promise.
 *
 * Guarantees: at the very moment of each start (1) every placement group keeps its floor without all that is on its way, by the
 * processes that serve it and by the copies that are whole, or the CephCluster overrides that and nothing else is on its way; (2) no more are on their way than the CephCluster allows; (3) the OSD needed
 * the update, and gets what the CephCluster wants at that moment; (4) the update holds the storage, and nobody else does.
 */
export function watchOsdUpdates(ports: UpdateOraclePorts): UpdateOracle {
  const { views, clock, ceph, namespace, name, patienceMs } = ports
  const violations: string[] = []
  const overridden: string[] = []
  const below: string[] = []
  const started: string[] = []
  const wasBelow = new Set<string>()
  const onTheWay = new Map<number, Start>()
  /** When each OSD last served each group, as far as anybody could know: machines that fall silent are noticed later. */
  const served = new Map<string, Map<number, number>>()
  const clusterView = views.of(cephClusters)
  const osdDeployments = views.of(deployments)
  const podView = views.of(pods)
  const ledgers = views.of(disruptionLedgers)
  const startMs = clock.now()
  let mostAtOnce = 0
  let taken = 0
  let poolsChangedMs = Number.NEGATIVE_INFINITY
  /** What the CephCluster was, and until when. */
  let pastClusters: readonly { readonly cluster: CephCluster; readonly untilMs: number }[] = []

  const at = () => `t+${Math.round((clock.now() - startMs) / 1_000)}s`
  const blame = (sentence: string) => void violations.push(`${at()}: ${sentence}`)
  const cluster = () => clusterView.get(`${namespace}/${name}`)
  const podsOf = (osd: number): Pod[] =>
    [...podView.values()].filter((pod) => isOsd(pod, namespace) && osdOf(pod) === osd)

  /** As it is, and as it was a moment ago for whoever has not heard yet. */
  function clustersOfLate(): CephCluster[] {
    const now = cluster()
    const past = pastClusters.filter(({ untilMs }) => clock.now() - untilMs <= patienceMs)
    return [...(now === undefined ? [] : [now]), ...past.map((one) => one.cluster)]
  }

  function look(): void {
    const truth = ceph.truth()
    for (const [osd, start] of onTheWay) if (isBack(osd, start, truth)) onTheWay.delete(osd)
    const ready = new Set([...podView.values()].filter((pod) => isOsd(pod, namespace) && isUsable(pod)).map(osdOf))
    for (const { id, acting, serving, minSize, isPeering } of truth.groups) {
      const times = served.get(id) ?? new Map<number, number>()
      served.set(id, times)
      for (const osd of acting) if (ready.has(osd)) times.set(osd, clock.now())
      if (isPeering || serving.length >= minSize || wasBelow.has(id)) continue
      wasBelow.add(id)
      below.push(`${at()}: ${id} is served by ${serving.length} of ${minSize}`)
    }
  }

  function isBack(osd: number, start: Start, { serving, groups }: CephTruth): boolean {
    const isPodBack = podsOf(osd).some((pod) => !start.before.has(pod.metadata.uid ?? '') && isUsable(pod))
    if (!isPodBack || !serving.has(osd)) return false
    const peering = groups.filter((group) => group.isPeering && group.serving.includes(osd)).map(({ id }) => id)
    // What begins to peer later has another cause.
    start.peering = start.peering?.filter((id) => peering.includes(id)) ?? peering
    return start.peering.length === 0
  }

  function judgeGroups(osd: number, { groups }: CephTruth): void {
    if (ports.isDataJudged === true || clock.now() - poolsChangedMs <= patienceMs) return
    const isAlone = [...onTheWay.keys()].every((member) => member === osd)
    const mayOverride = isAlone && clustersOfLate().some((one) => overrideInForce(parseUpdateSettings(one).settings))
    const harmed: string[] = []
    for (const group of groups.filter(({ serving }) => serving.includes(osd))) {
      const stays = (member: number) => member !== osd && !onTheWay.has(member)
      const excused = excusedOf(group).filter(stays).length
      const { minSize, id, serving, whole } = group
      const left = serving.filter(stays).length
      const leftWhole = whole.filter(stays).length
      const others = [...onTheWay.keys()].filter((member) => member !== osd).map((member) => `osd.${member}`)
      const beside = others.length === 0 ? '' : ` beside ${others.join(', ')}`
      if (left + excused < minSize && mayOverride) harmed.push(id)
      else if (left + excused < minSize)
        blame(`osd.${osd}${beside} took ${id} below its floor: ${left} of ${minSize} serve`)
      else if (leftWhole + excused < minSize)
        blame(`osd.${osd}${beside} left ${id} too few whole copies: ${leftWhole} of ${minSize}`)
    }
    if (harmed.length > 0) overridden.push(`osd.${osd}: ${harmed.join(', ')}`)
  }

  /** Those that served it a moment ago and went without our doing. */
  function excusedOf({ id, serving }: GroupTruth): number[] {
    return [...(served.get(id) ?? [])]
      .filter(([osd, ms]) => clock.now() - ms <= patienceMs && !serving.includes(osd))
      .map(([osd]) => osd)
  }

  function judgeLimit(): void {
    const clusters = clustersOfLate()
    const settings = clusters.map((one) => parseUpdateSettings(one).settings)
    const deadlineMs = Math.max(...settings.map(({ deadlineSeconds }) => deadlineSeconds)) * 1_000
    const count = [...onTheWay.values()].filter(({ atMs }) => clock.now() - atMs < deadlineMs).length
    mostAtOnce = Math.max(mostAtOnce, count)
    const osds = [...osdDeployments.values()].filter((one) => isOsd(one, namespace)).length
    const limit = Math.max(
      ...settings.map(({ maxInParallel }) => (osds < fewOsds ? 1 : osdsInParallel(maxInParallel, osds))),
    )
    if (count > limit) blame(`${count} OSDs are on their way, and ${limit} are allowed`)
  }

  function judgeKey(osd: number): void {
    const uids = new Set(clustersOfLate().map(({ metadata }) => `osd-update/${metadata.uid}`))
    const entries = ledgers.get(ledgerName)?.status?.entries ?? []
    const held = entries.filter(({ key }) => key === `storage/${namespace}/${name}`)
    const others = held.filter(({ requestId }) => !uids.has(requestId))
    if (held.length === others.length) blame(`osd.${osd} was started without holding the storage`)
    for (const { holder, requestId } of others)
      blame(`osd.${osd} was started while ${holder || requestId} holds the storage`)
  }

  function note(osd: number, isNeeded: boolean): void {
    look()
    if (!isNeeded) blame(`osd.${osd} was started, and needed no update`)
    judgeKey(osd)
    const truth = ceph.truth()
    if (truth.groups.some(({ serving }) => serving.includes(osd))) taken += 1
    judgeGroups(osd, truth)
    const before = new Set(podsOf(osd).map(({ metadata }) => metadata.uid ?? ''))
    onTheWay.set(osd, { atMs: clock.now(), before })
    judgeLimit()
  }

  function judgeWrite(before: Deployment, after: Deployment): void {
    const osd = osdOf(after)
    const clusters = clustersOfLate()
    started.push(`${osd} ${versionOf(after)}`)
    if (clusters.every(({ metadata }) => metadata.deletionTimestamp !== undefined))
      blame(`osd.${osd} was started for a CephCluster that is being deleted`)
    if (clusters.every((one) => needsUpdate(after, one)))
      blame(`osd.${osd} got ${versionOf(after)}, which the CephCluster does not want`)
    note(
      osd,
      clusters.some((one) => needsUpdate(before, one)),
    )
  }

  const markOf = ({ metadata }: Deployment) => metadata.annotations?.[updateStartedAnnotation]
  const ends = [
    osdDeployments.subscribe(({ before, after }) => {
      if (before === undefined || after === undefined || !isOsd(after, namespace)) return
      const isRooks = ports.rookUpdates === true && before.metadata.generation !== after.metadata.generation
      if (isRooks || markOf(before) !== markOf(after)) judgeWrite(before, after)
    }),
    clusterView.subscribe(({ before }) => {
      if (before !== undefined) pastClusters = [...pastClusters, { cluster: before, untilMs: clock.now() }].slice(-8)
    }),
    podView.subscribe(({ after }) => {
      if (after !== undefined && isOsd(after, namespace)) look()
    }),
  ]
  return {
    violations,
    overridden,
    below,
    started,
    onTheWay: () => [...onTheWay.keys()].sort((a, b) => a - b),
    mostAtOnce: () => mostAtOnce,
    taken: () => taken,
    evicted(osd) {
      const asked = parseRfc3339(cluster()?.metadata.annotations?.['cofferdam.io/restart-osds'] ?? '')
      const isOld = ({ metadata }: Pod) => (parseRfc3339(metadata.creationTimestamp ?? '') ?? 0) < (asked ?? 0)
      started.push(`${osd} anew`)
      note(osd, podsOf(osd).some(isOld))
    },
    poolsChanged() {
      poolsChangedMs = clock.now()
    },
    look,
    stop() {
      for (const end of ends) end()
    },
  }
}

function isUsable(pod: Pod): boolean {
  return isActive(pod) && isReady(pod)
}

export function isOsd({ metadata }: Deployment | Pod, namespace: string): boolean {
  return metadata.namespace === namespace && metadata.labels?.['app'] === 'rook-ceph-osd'
}

export function osdOf({ metadata }: Deployment | Pod): number {
  return Number(metadata.labels?.['ceph-osd-id'])
}

/** Of the image: `v19.2.4`. */
export function versionOf({ spec }: Deployment): string {
  const image = spec.template.spec.containers[0]?.image ?? ''
  return image.slice(image.lastIndexOf(':') + 1)
}
