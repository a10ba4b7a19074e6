import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { nodes, podDisruptionBudgets, pods as podType } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type AppLockPolicy, judgeAppLocks } from '../../../ledger/rules/app-lock.ts'
import type { AppLockRecord } from '../../../ledger/rules/app-lock-record.ts'
import { parseBreakGlass } from '../../../ledger/rules/break-glass.ts'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import { budgetKey } from '../../../ledger/rules/keys.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import type { LedgerStore } from '../../../ledger/store/ledger-store.ts'
import { breakGlassAnnotation } from '../../../shared/break-glass-annotation.ts'
import { groupedBy } from '../../../shared/grouped-by.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import type { DisruptionPolicy } from '../../../shared/kinds/disruption-policy.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { BudgetReference } from '../../../shared/object-references.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { ScaleDownKeeper } from '../../questions.ts'
import { parseRequest } from '../apply/record.ts'
import type { ResponderAsker } from '../apply/responders.ts'
import { holdAnnotation, parseBudgetHold } from '../domain/budget-hold.ts'
import type { DisruptionWarning } from '../domain/decision.ts'
import type { CountedNode, LimitFacts } from '../domain/maintenance-limits.ts'
import type { ResponderFacts } from '../domain/responder-facts.ts'
import type { BudgetFacts, DisruptionSnapshot, PodFacts, RequestView } from '../domain/snapshot.ts'
import { observeResponders } from './eviction-requests.ts'
import type { ObserveKeysPorts } from './keys.ts'
import {
  type HoldableBudget,
  type HostedPod,
  type HostNode,
  parseHoldableBudget,
  parseHostedPod,
  parseHostNode,
} from './objects.ts'

export interface DisruptionViews {
  /** Indexed by `node`. */
  readonly disruptions: WatchView<NodeDisruption>
  readonly ledgers: WatchView<DisruptionLedger>
  readonly nodes: WatchView<CountedNode>
  readonly policies: WatchView<DisruptionPolicy>
  /** Indexed by `node`. */
  readonly pods: WatchView<HostedPod>
  /** Indexed by `namespace`. */
  readonly budgets: WatchView<HoldableBudget>
}

export interface ObserveDisruptionPorts extends Pick<ObserveKeysPorts, 'observeStorage'> {
  /** The limits on nodes in maintenance that count the node. */
  readonly observeLimits: (nodeName: string) => Observed<readonly LimitFacts[]>
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Pick<Clock, 'now'>
  readonly views: Pick<DisruptionViews, 'pods' | 'budgets'>
  readonly store: Pick<LedgerStore, 'read'>
  /** Where autoscalers are kept from nodes that are taken out for a reboot. */
  readonly scaleDownKeeper?: ScaleDownKeeper | undefined
  /** Where the responders that pods name are asked; absent: nothing is read of them. */
  readonly asker?: Pick<ResponderAsker, 'refused'>
  readonly settings: DrainLockSettings
  readonly appLocks: AppLockPolicy
  /** This process, as others know it. */
  readonly identity: string
}

export interface ObservedDisruption extends DisruptionSnapshot {
  /** Annotations that cannot be used: they block nothing, and are reported to the requester. */
  readonly faults: readonly DisruptionWarning[]
}

/**
 * Sees everything that the next steps of a request depend on. The node, the ledger and the record are always as they are
 * now; pods and budgets come from copies that follow the API server, or with `isFresh` from the server itself.
 */
export async function observeDisruption(
  ports: ObserveDisruptionPorts,
  object: NodeDisruption,
  { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
): Promise<ObservedDisruption> {
  const { clock, store, settings, identity } = ports
  const seen = parseRequest(object)
  const [ledger, node, hosted] = await Promise.all([
    store.read(signal),
    getNode(ports, seen.nodeName, signal),
    podsOn(ports, seen.nodeName, { isFresh, signal }),
  ])
  const request = withOwnCordon(seen, node)
  const [storage, responders, budgets] = await Promise.all([
    observeStorage(ports, request, ledger, signal),
    respondersOf(ports, request, hosted, signal),
    observeBudgets(ports, hosted, { request, isFresh, records: ledger.known ? ledger.value.appLocks : [], signal }),
  ])
  return {
    nowMs: clock.now(),
    holder: `${identity} for nodedisruption/${request.name}`,
    request,
    node,
    pods: hosted.map((pod) => podFacts(pod, budgets)),
    budgets: budgets.map(budgetFacts),
    ledger,
    storage,
    limits: ports.observeLimits(request.nodeName),
    settings,
    ...(responders === undefined ? {} : { responders }),
    faults: [...requestFaults(object), ...budgets.flatMap(budgetFaults)],
  }
}

async function respondersOf(
  { api, asker }: ObserveDisruptionPorts,
  { id: requestId }: RequestView,
  hosted: readonly HostedPod[],
  signal: AbortSignal,
): Promise<ResponderFacts | undefined> {
  const namespaces = new Set(hosted.filter(({ responders }) => responders !== undefined).map((pod) => pod.namespace))
  if (asker === undefined || namespaces.size === 0) return undefined
  return observeResponders(api, { requestId, namespaces, refused: asker.refused(requestId) }, signal)
}

function requestFaults({ metadata: { name, annotations = {} } }: NodeDisruption): DisruptionWarning[] {
  const { problem } = parseBreakGlass(annotations[breakGlassAnnotation])
  return problem === undefined ? [] : [{ object: `nodedisruption/${name}`, says: problem }]
}

function budgetFaults({ namespace, name, annotations, lockProblem }: SeenBudget): DisruptionWarning[] {
  const problems = [lockProblem, parseBudgetHold(annotations[holdAnnotation]).problem]
  return problems.flatMap((says) => (says === undefined ? [] : { object: budgetKey({ namespace, name }), says }))
}

async function getNode({ api, scaleDownKeeper }: ObserveDisruptionPorts, name: string, signal: AbortSignal) {
  try {
    const node = await api.get(nodes, { name }, { signal })
    return {
      ...parseHostNode(node),
      resourceVersion: node.metadata.resourceVersion ?? '',
      ...(scaleDownKeeper === undefined ? {} : { isKeptFromScaleDown: scaleDownKeeper.isKept(node) }),
    }
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** The mark on the node says whose cordon it is, whatever we had meant to do and whatever was made of the record. */
function withOwnCordon(request: RequestView, node: HostNode | undefined): RequestView {
  const { record, name, id } = request
  if (node?.isCordoned !== true) return request
  const own = `nodedisruption/${name}`
  const isMarked = node.cordonedBy === id
  const isOnRecord = record.cordonedBy === own
  if (isMarked === isOnRecord || (isMarked && record.cordonedBy !== undefined)) return request
  return { ...request, record: { ...record, cordonedBy: isMarked ? own : 'another user' } }
}

async function podsOn(
  { api, views }: ObserveDisruptionPorts,
  nodeName: string,
  { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
): Promise<readonly HostedPod[]> {
  if (!isFresh) return [...views.pods.byIndex('node', nodeName)].sort(byName)
  const { items } = await api.list(podType, { fieldSelector: `spec.nodeName=${nodeName}`, signal })
  return items.map(parseHostedPod).sort(byName)
}

function byName(a: BudgetReference, b: BudgetReference): number {
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1
  return a.name < b.name ? -1 : 1
}

/** All storage with daemons on the node, and whatever else the request holds a key of: a node that is gone has none. */
async function observeStorage(
  ports: ObserveDisruptionPorts,
  { id, nodeName }: RequestView,
  ledger: Observed<Ledger>,
  signal: AbortSignal,
): Promise<readonly StorageFacts[]> {
  const onNode = await ports.observeStorage({ node: nodeName }, signal)
  const entries = ledger.known ? ledger.value.entries : []
  const held = entries.filter(({ requestId, key }) => requestId === id && key.startsWith('storage/'))
  const unseen = held.filter(({ key }) => !onNode.some((storage) => storage.key === key))
  const rest = await Promise.all(unseen.map(({ key, scope }) => ports.observeStorage({ key, scopes: [scope] }, signal)))
  return [...onNode, ...rest.flat()]
}

type SeenBudget = HoldableBudget & Pick<BudgetFacts, 'appLock'> & { readonly lockProblem: string | undefined }
type BudgetsOf = (namespace: string) => readonly HoldableBudget[]

/** The budgets that cover the pods, and those on record; with `isFresh`, as the server has them wherever a lock is at stake. */
async function observeBudgets(
  ports: ObserveDisruptionPorts,
  hosted: readonly HostedPod[],
  about: {
    readonly request: RequestView
    readonly isFresh: boolean
    readonly records: readonly AppLockRecord[]
    readonly signal: AbortSignal
  },
): Promise<readonly SeenBudget[]> {
  const { lockedBudgets } = about.request.record
  const atStake = new Set(lockedBudgets.map(({ namespace }) => namespace))
  for (const { namespace, wantsToStay } of hosted) if (wantsToStay) atStake.add(namespace)
  const live = new Map<string, readonly HoldableBudget[]>()
  if (about.isFresh) {
    await Promise.all(
      [...atStake].map(async (namespace) => {
        const { items } = await ports.api.list(podDisruptionBudgets, { namespace, signal: about.signal })
        live.set(namespace, items.map(parseHoldableBudget))
      }),
    )
  }
  const budgetsOf: BudgetsOf = (namespace) => live.get(namespace) ?? ports.views.budgets.byIndex('namespace', namespace)
  const seen = new Set<HoldableBudget>()
  for (const pod of hosted) {
    for (const budget of candidatesFor(pod, budgetsOf(pod.namespace))) if (isCoveredBy(pod, budget)) seen.add(budget)
  }
  for (const { namespace, name } of lockedBudgets) {
    for (const budget of budgetsOf(namespace)) if (budget.name === name) seen.add(budget)
  }
  return withAppLocks(ports, [...seen].sort(byName), { budgetsOf, records: about.records })
}

/** Limits and quota are those of a namespace, so all its budgets are judged together. */
function withAppLocks(
  { appLocks, clock }: ObserveDisruptionPorts,
  budgets: readonly HoldableBudget[],
  { budgetsOf, records }: { readonly budgetsOf: BudgetsOf; readonly records: readonly AppLockRecord[] },
): readonly SeenBudget[] {
  const judged = new Map<string, ReturnType<typeof judgeAppLocks>>()
  const nowMs = clock.now()
  for (const namespace of new Set(budgets.map((budget) => budget.namespace))) {
    judged.set(namespace, judgedLocks({ namespace, budgets: budgetsOf(namespace), records, policy: appLocks, nowMs }))
  }
  return budgets.map((budget) => {
    const { lock, problem } = judged.get(budget.namespace)?.get(budget.name) ?? {}
    return { ...budget, appLock: lock, lockProblem: problem }
  })
}

type LockQuestion = Parameters<typeof judgeAppLocks>[0]

/** Of the budgets of a namespace, what was judged of their locks last: asked about many nodes at one time, it is the same. */
const judgedLast = new WeakMap<
  object,
  { readonly of: LockQuestion; readonly locks: ReturnType<typeof judgeAppLocks> }
>()

function judgedLocks(question: LockQuestion): ReturnType<typeof judgeAppLocks> {
  const last = judgedLast.get(question.budgets)
  const { records, policy, nowMs } = question
  if (last?.of.records === records && last.of.policy === policy && last.of.nowMs === nowMs) return last.locks
  const locks = judgeAppLocks(question)
  judgedLast.set(question.budgets, { of: question, locks })
  return locks
}

/** Of the budgets of a namespace, those by the key and the value of a label that they demand, and under '' those that demand none by its value. */
type Demands = ReadonlyMap<string, ReadonlyMap<string, readonly HoldableBudget[]>>
const byDemand = new WeakMap<object, Demands>()

function demandsOf(budgets: readonly HoldableBudget[]): Demands {
  const before = byDemand.get(budgets)
  if (before !== undefined) return before
  const demandOf = ({ selector }: HoldableBudget) => Object.entries(selector?.matchLabels ?? {})[0] ?? ['', '']
  const byKey = groupedBy(budgets, (budget) => demandOf(budget)[0])
  const demands = new Map([...byKey].map(([key, those]) => [key, groupedBy(those, (budget) => demandOf(budget)[1])]))
  byDemand.set(budgets, demands)
  return demands
}

/** Every budget that covers the pod is among them. */
function* candidatesFor({ labels }: HostedPod, budgets: readonly HoldableBudget[]): Generator<HoldableBudget> {
  const demands = demandsOf(budgets)
  yield* demands.get('')?.get('') ?? []
  for (const key in labels) yield* demands.get(key)?.get(labels[key] as string) ?? []
}

function isCoveredBy({ namespace, labels }: HostedPod, budget: HoldableBudget): boolean {
  return budget.selector !== undefined && budget.namespace === namespace && isSelected(budget.selector, labels)
}

/** Field by field: of many pods, leaving some out of all is slow. */
function podFacts(pod: HostedPod, budgets: readonly HoldableBudget[]): PodFacts {
  const { namespace, name, uid, kind, isReady, isLeaving, wantsToStay, toleratesMs, losses, leaving, responders } = pod
  const budgetUids: string[] = []
  for (const budget of budgets) if (isCoveredBy(pod, budget)) budgetUids.push(budget.uid)
  const facts = { namespace, name, uid, kind, isReady, isLeaving, wantsToStay, toleratesMs, losses, budgetUids }
  if (leaving === undefined && responders === undefined) return facts
  return { ...facts, ...(leaving && { leaving }), ...(responders && { responders }) }
}

function budgetFacts(budget: SeenBudget): BudgetFacts {
  const { namespace, name, uid, resourceVersion, isCounted, disruptionsAllowed } = budget
  const { currentHealthy, desiredHealthy, expectedPods, disruptedUntilMs, hold, appLock, followers } = budget
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    isCounted,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptedUntilMs,
    hold,
    appLock,
    ...(followers && { followers }),
  }
}
