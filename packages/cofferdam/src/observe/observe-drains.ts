import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { readStorage } from '../capabilities/ceph-drain/observe/read-storage.ts'
import { indexRecordedStorage } from '../capabilities/ceph-drain/view/recorded-storage.ts'
import type { DisruptionSnapshot } from '../capabilities/drain-lock/domain/snapshot.ts'
import { buildSnapshot } from '../capabilities/drain-lock/observe/build-snapshot.ts'
import { byName } from '../capabilities/drain-lock/observe/covering-budgets.ts'
import { indexLimitsSeen } from '../capabilities/drain-lock/observe/limits.ts'
import { parseSeenNode } from '../capabilities/drain-lock/observe/objects.ts'
import { isOverInstanceManager } from '../capabilities/longhorn-drain/domain/budget-object.ts'
import { createLeavingDecider } from '../capabilities/longhorn-drain/domain/decide-leaving.ts'
import { type ForeseenMoves, foreseeMoves } from '../capabilities/longhorn-drain/domain/foresee-moves.ts'
import type { LonghornSnapshot } from '../capabilities/longhorn-drain/domain/snapshot.ts'
import { indexLonghornStorage, unknownLonghornStorage } from '../capabilities/longhorn-drain/domain/storage-facts.ts'
import { readLonghornSnapshot } from '../capabilities/longhorn-drain/observe/read-longhorn.ts'
import { createLedgerStore } from '../ledger/store/ledger-store.ts'
import { noteDefaults } from '../ledger/store/observe-settings.ts'
import { isExchangedBudget } from '../shared/exchanged-budget.ts'
import { groupedBy } from '../shared/grouped-by.ts'
import { policyName } from '../shared/kinds/disruption-policy.ts'
import type { NodeDisruption } from '../shared/kinds/node-disruption.ts'
import type { BudgetReference } from '../shared/object-references.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import type { StorageFacts } from '../shared/storage-facts.ts'
import { isLonghornDefined, listedNodes } from './longhorn-places.ts'
import type { Reader } from './reader.ts'
import { findUnread } from './unread-on-node.ts'

/** What drains of many nodes would meet, all read at one time. */
export interface ObservedDrains extends Omit<DrainsInView, 'observe'> {
  /** In the order of the requests. */
  readonly snapshots: readonly DisruptionSnapshot[]
}

/** The same for whoever asks about one node after the other, and keeps none of the answers. */
export interface DrainsInView {
  observe(request: NodeDisruption): DisruptionSnapshot
  /** Whether the storage decides what the budget allows: it opens when its node may go. */
  readonly isByStorage: (budget: BudgetReference) => boolean
  /** What could not be read and may hold the node, for those nodes that it may. */
  readonly unreadOn: ReturnType<typeof findUnread>
  /** What a drain would make Longhorn do; absent where there is none, or it is not known. */
  readonly moves?: ForeseenMoves
}

export async function observeDrains(requests: readonly NodeDisruption[], read: Reader): Promise<ObservedDrains> {
  const { observe, ...view } = await viewDrains(read)
  return { snapshots: requests.map((request) => observe(request)), ...view }
}

/** Reads each kind once, however many nodes are asked about, and sees for each what the operator would see. */
export async function viewDrains(read: Reader): Promise<DrainsInView> {
  const { api, clock, signal, views, settings, notSeen, informers, cephViews } = read
  noteDefaults(settings, notSeen)
  const [nodeView, counted, pods, budgets, plainBudgets, policies, osdPods, longhornNodeView] = [
    informers.open<Node>('nodes/whole', { type: nodes }),
    views.nodes(),
    views.pods(),
    views.budgets(),
    views.plainBudgets(),
    views.policies(),
    cephViews.all.osdPods(),
    informers.openOptional('longhorn/nodes', { type: longhornNodes }),
  ]
  await informers.settled()
  // Without these nothing can be said of any node.
  if (![nodeView, pods, budgets].every(({ synced }) => synced)) throw new ApiError('Forbidden', notSeen.join('; '))
  const [storage, longhorn] = await Promise.all([
    readStorage(read, [...plainBudgets.list()]),
    readLonghornSnapshot(read),
  ])
  const cephFacts = indexRecordedStorage(storage, [...osdPods.list()])
  const longhornFacts = longhornFactsOf(longhorn)
  const policy = policies.synced
    ? known(policies.get({ name: policyName }))
    : unknown('the DisruptionPolicy may not be read')
  const ledger = await createLedgerStore({ api, clock }).read(signal)
  const limitsOf = indexLimitsSeen(known([...counted.list()]), policy)
  // All nodes are seen at one time.
  const nowMs = clock.now()
  const observe = (object: NodeDisruption): DisruptionSnapshot => {
    const { nodeName: name } = object.spec
    const node = nodeView.get({ name })
    return buildSnapshot({
      nowMs,
      identity: 'cofferdam',
      object,
      node: node && parseSeenNode(node),
      hosted: pods.byIndex('node', name).toSorted(byName),
      budgetsIn: (namespace) => budgets.byIndex('namespace', namespace),
      ledger,
      storage: [...cephFacts(name), ...longhornFacts(name)],
      limits: limitsOf(name),
      settings: settings.drainLock,
      appLocks: settings.appLocks,
    })
  }
  const listed = listedNodes(longhornNodeView)
  const byStorage = groupedBy(
    [...plainBudgets.list()].filter(isStorageBudget),
    ({ metadata }) => metadata.namespace ?? '',
  )
  const names = new Map(
    [...byStorage].map(([at, budgets]) => [at, new Set(budgets.map(({ metadata }) => metadata.name))]),
  )
  return {
    observe,
    unreadOn: findUnread({
      notSeen,
      ledger,
      pods,
      budgets: [...plainBudgets.list()],
      longhornNodes: listed,
      isLonghornDefined: !listed.known && (await isLonghornDefined(read)),
    }),
    isByStorage: ({ namespace, name }) => names.get(namespace)?.has(name) === true,
    ...(longhorn?.known === true ? { moves: foreseeMoves(longhorn.value) } : {}),
  }
}

/** Budgets that Cofferdam or another operator opens and closes as storage allows. */
function isStorageBudget(budget: PodDisruptionBudget): boolean {
  const isOurs = budget.metadata.labels?.['app.kubernetes.io/managed-by'] === 'cofferdam'
  return isOurs || isExchangedBudget(budget) || isOverInstanceManager(budget)
}

function longhornFactsOf(longhorn: Observed<LonghornSnapshot> | undefined): (node: string) => StorageFacts[] {
  if (longhorn === undefined) return () => []
  if (!longhorn.known) return (node) => [unknownLonghornStorage(node, longhorn.why)]
  const factsOf = indexLonghornStorage(longhorn.value, createLeavingDecider())
  return (node) => {
    const facts = factsOf(node)
    return facts === undefined ? [] : [facts]
  }
}
