import type { OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { CephClusterView } from '../../../safety/ceph-cluster-view.ts'
import { isServiceBudgetName } from '../../../shared/follows-osds.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import type { Observed } from '../../../shared/observed.ts'
import { isManagedByUs, managedLabels, withoutMark } from './budget-mark.ts'
import { daemonIdLabel } from './cluster-objects.ts'
import { type BesideOsds, type DaemonBudget, decideDaemonBudget, parseExempt } from './daemon-budgets.ts'
import { type CephServices, decideServiceBudgets, serviceOwnerKinds } from './service-budgets.ts'
import type { DaemonView } from './snapshot.ts'

/** Daemons whose pods are alike: a count protects them, whichever of them goes. */
export interface StaticBudgetInput extends CephServices {
  readonly cluster: Pick<CephClusterView, 'namespace' | 'mode' | 'rook'>
  readonly monCount: number
  readonly mgrCount: number
  readonly quorum: Observed<{
    readonly mons: number
    readonly inQuorum: number
    /** Names of those that are out. */
    readonly out?: readonly string[]
  }>
  /** Ceph fell silent only now: what the mon budget says stays. */
  readonly isSilenceBrief: boolean
  /** Every budget of the namespace. */
  readonly existing: readonly PodDisruptionBudget[]
  /** Absent where nobody decides about OSDs: then mons and mgrs follow their numbers alone. */
  readonly beside?: BesideOsds
}

export interface StaticBudgetDecision {
  readonly desired: readonly PodDisruptionBudget[]
  /** Budgets that lose our mark and stay, as Rook makes them. */
  readonly release: readonly PodDisruptionBudget[]
  readonly remove: readonly string[]
  readonly problems: readonly ObjectProblem[]
  /** For those that go after the OSDs: by `mon`, `mgr`, and the name of the budget of a service. */
  readonly daemonBudgets: Readonly<Record<string, DaemonBudget>>
}

const monBudget = 'rook-ceph-mon-pdb'
const mgrBudget = 'rook-ceph-mgr-pdb'

/**
 * Decides the budgets of all daemons but OSDs.
 *
 * They follow every change of scale, up and down, and are gone where fewer than two pods would make a budget a trap. That of the mgrs is
 * Rook's wherever a Rook is reckoned with: it makes it whatever its settings say, and two writers would undo each other for ever. Mgrs
 * are not pinned to their nodes, so a drain waits for them no longer than until they run elsewhere.
 * Fails closed: without knowing the quorum no mon may go.
 */
export function decideStaticBudgets(input: StaticBudgetInput): StaticBudgetDecision {
  const { cluster, existing } = input
  if (cluster.mode === 'contested') return nothing
  const released = decideStaticRelease(input)
  if (cluster.mode === 'observe') return { ...nothing, ...released }
  const daemonBudgets = decideDaemonBudgets(input)
  const ofDaemons = (
    [
      ['mon', monBudget],
      ['mgr', mgrBudget],
    ] as const
  ).flatMap(([type, name]) => {
    const decided = daemonBudgets[type]
    return decided === undefined ? [] : [daemonBudget(cluster, { name, app: `rook-ceph-${type}`, ...decided })]
  })
  const all = [...ofDaemons, ...ofServices(input, daemonBudgets)]
  const foreign = new Set(existing.filter((budget) => !isOurs(budget)).map(({ metadata }) => metadata.name))
  const wanted = new Set(all.map(({ metadata }) => metadata.name))
  return {
    daemonBudgets,
    desired: all.filter(({ metadata }) => !foreign.has(metadata.name)).sort(byName),
    release: released.release,
    remove: existing
      .filter((budget) => isStatic(budget) && isOurs(budget) && !isRooks(input, budget))
      .map(({ metadata }) => metadata.name)
      .filter((name) => !wanted.has(name))
      .sort(),
    problems: [...wanted]
      .filter((name) => foreign.has(name))
      .sort()
      .map((name) => ({
        object: `poddisruptionbudget/${name}`,
        problem: 'is not managed by Cofferdam and has the name of a budget that Cofferdam needs; it is left alone',
      })),
  }
}

const nothing: StaticBudgetDecision = { desired: [], release: [], remove: [], problems: [], daemonBudgets: {} }

/**
 * What becomes of budgets that carry our mark and are not ours. Those that Rook makes as well stay for it, in its shape: it makes those of
 * services once and never changes them, so theirs is not changed either. Others are removed.
 */
function decideStaticRelease(input: StaticBudgetInput): Pick<StaticBudgetDecision, 'release' | 'remove'> {
  const { cluster, existing, quorum } = input
  const marked = existing.filter((budget) => isStatic(budget) && isOurs(budget) && isManagedByUs(budget)).sort(byName)
  const release = marked.filter((budget) => isRooks(input, budget)).map(withRooksShape)
  return {
    release,
    remove: cluster.mode === 'manage' ? [] : marked.filter((budget) => !isRooks(input, budget)).map(nameOf),
  }

  function withRooksShape(seen: PodDisruptionBudget): PodDisruptionBudget {
    const { name } = seen.metadata
    const plain = (app: string, maxUnavailable: number | undefined) => ({
      ...withoutMark(seen),
      spec: { ...(maxUnavailable === undefined ? seen.spec : { maxUnavailable }), selector: { matchLabels: { app } } },
    })
    if (name === mgrBudget) return plain('rook-ceph-mgr', 1)
    if (name === monBudget) return plain('rook-ceph-mon', quorum.known ? removableMons(quorum.value) : undefined)
    return withoutMark(seen)
  }
}

/** Whether a Rook is reckoned with that makes this budget now, or will. */
function isRooks({ cluster: { mode, rook } }: StaticBudgetInput, { metadata: { name } }: PodDisruptionBudget): boolean {
  if (rook === undefined) return false
  if (name === mgrBudget) return true
  return mode !== 'manage' && rook.managesBudgets && (name === monBudget || /^rook-ceph-(mds|rgw)-/.test(name))
}

function nameOf({ metadata }: PodDisruptionBudget): string {
  return metadata.name
}

function decideDaemonBudgets(input: StaticBudgetInput): StaticBudgetDecision['daemonBudgets'] {
  const { monCount, mgrCount, quorum, isSilenceBrief, existing, beside } = input
  const presentOf = (name: string) => existing.find(({ metadata }) => metadata.name === name)
  const of = (type: DaemonView['type']) => ({
    daemons: beside?.daemons.filter((daemon) => daemon.type === type) ?? [],
    recalled: beside?.memory[type],
    beside,
  })
  const ofMons = (): DaemonBudget => {
    const present = presentOf(monBudget)
    if (!quorum.known) return unknownQuorum(isSilenceBrief ? present : undefined)
    const { out = [] } = quorum.value
    const free = removableMons(quorum.value)
    return decideDaemonBudget({
      ...of('mon'),
      free,
      most: quorum.value.mons >= 5 ? 2 : 1,
      out,
      present,
      isAfterOsds: true,
    })
  }
  return {
    ...(monCount < 3 ? {} : { mon: ofMons() }),
    ...(mgrCount < 2 || input.cluster.rook !== undefined
      ? {}
      : { mgr: decideDaemonBudget({ ...of('mgr'), free: 1, most: 1, out: [], present: presentOf(mgrBudget) }) }),
    ...pinnedServices(input),
  }
}

/** For now everything stays as it is. */
function unknownQuorum(present: PodDisruptionBudget | undefined): DaemonBudget {
  const maxUnavailable = present?.spec?.maxUnavailable
  if (typeof maxUnavailable !== 'number') return { maxUnavailable: 0, isFollowing: true, exempt: [], loose: [] }
  const exempt = parseExempt(present)
  return { maxUnavailable, isFollowing: true, exempt, loose: undefined }
}

/** Services with a daemon that may find no other node: while it is away from a cordoned one, no other of them may go either. */
function pinnedServices(input: StaticBudgetInput): StaticBudgetDecision['daemonBudgets'] {
  const { beside, existing } = input
  const services = beside?.services ?? []
  return Object.fromEntries(
    decideServiceBudgets(input).flatMap(({ name, minAvailable }) => {
      const daemons = services.filter(({ budget }) => budget === name)
      if (!daemons.some(({ isPinned }) => isPinned)) return []
      const most = Math.max(0, daemons.length - minAvailable)
      const free = Math.max(0, most - daemons.filter(({ isReady }) => !isReady).length)
      const present = existing.find(({ metadata }) => metadata.name === name)
      const recalled = beside?.memory[name]
      return [[name, decideDaemonBudget({ daemons, recalled, free, most, out: [], present, beside })] as const]
    }),
  )
}

/** How many mons may go: one of up to four, two of more, less those that are out already. */
export function removableMons({ mons, inQuorum }: { readonly mons: number; readonly inQuorum: number }): number {
  return Math.max(0, (mons >= 5 ? 2 : 1) - Math.max(0, mons - inQuorum))
}

function daemonBudget(
  cluster: StaticBudgetInput['cluster'],
  { name, app, maxUnavailable, exempt }: DaemonBudget & { readonly name: string; readonly app: string },
): PodDisruptionBudget {
  return withoutExempt(budget({ cluster, name, spec: { maxUnavailable }, labels: { app } }), exempt)
}

function withoutExempt(plain: PodDisruptionBudget, exempt: readonly string[]): PodDisruptionBudget {
  if (exempt.length === 0) return plain
  const matchExpressions = [{ key: daemonIdLabel, operator: 'NotIn', values: exempt }] as const
  return { ...plain, spec: { ...plain.spec, selector: { ...plain.spec.selector, matchExpressions } } }
}

function ofServices(
  { cluster, ...services }: StaticBudgetInput,
  daemonBudgets: StaticBudgetDecision['daemonBudgets'],
): PodDisruptionBudget[] {
  return decideServiceBudgets(services).map(({ minAvailable, unready, ...given }) => {
    const decided = daemonBudgets[given.name]
    if (decided?.isFollowing === true) {
      const { maxUnavailable, exempt } = decided
      return withoutExempt(budget({ cluster, ...given, spec: { maxUnavailable } }), exempt)
    }
    // The default is left out, so that the budget reads the same on servers that do not have the field. What cannot move must not
    // leave out of order: it would come back only with its node.
    const policy = decided === undefined && unready === 'AlwaysAllow' ? { unhealthyPodEvictionPolicy: unready } : {}
    return budget({ cluster, ...given, spec: { minAvailable, ...policy } })
  })
}

function budget(input: {
  readonly cluster: Pick<CephClusterView, 'namespace'>
  readonly name: string
  readonly spec: Omit<PodDisruptionBudget['spec'], 'selector'>
  readonly labels: Readonly<Record<string, string>>
  readonly owner?: OwnerReference
}): PodDisruptionBudget {
  const { cluster, name, spec, labels, owner } = input
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name,
      namespace: cluster.namespace,
      labels: managedLabels,
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: { ...spec, selector: { matchLabels: labels } },
  }
}

function isStatic({ metadata }: PodDisruptionBudget): boolean {
  return [monBudget, mgrBudget].includes(metadata.name) || hasServiceOwner(metadata.ownerReferences)
}

/** As Rook makes them, those of mon and mgr have no owner, and those of the services have theirs. */
function isOurs({ metadata }: PodDisruptionBudget): boolean {
  if ([monBudget, mgrBudget].includes(metadata.name)) return (metadata.ownerReferences ?? []).length === 0
  return hasServiceOwner(metadata.ownerReferences) && isServiceBudgetName(metadata.name)
}

function hasServiceOwner(owners: readonly OwnerReference[] = []): boolean {
  return owners.some(
    ({ apiVersion, kind }) => apiVersion.startsWith('ceph.rook.io/') && serviceOwnerKinds.includes(kind),
  )
}

function byName(left: PodDisruptionBudget, right: PodDisruptionBudget): number {
  return left.metadata.name < right.metadata.name ? -1 : 1
}
