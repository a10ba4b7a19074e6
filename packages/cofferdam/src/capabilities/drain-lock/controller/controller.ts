import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodeLeaseNamespace } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { concernedRequests } from '../../../ledger/rules/concerned-requests.ts'
import { budgetOf } from '../../../ledger/rules/keys.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import { isLongQueue, mostQueued } from '../../../ledger/rules/queue.ts'
import { type LedgerStore, ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { type DisruptionLedger, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { unknown } from '../../../shared/observed.ts'
import type { Permission } from '../../../shared/permission.ts'
import { performPass } from '../../interpreter.ts'
import { disruptionPerformers, type PassMemory } from '../apply/apply.ts'
import { PodEvictor } from '../apply/evict.ts'
import { hasFinalizer, isOver } from '../apply/record.ts'
import { askRespondersPermissions, ResponderAsker } from '../apply/responders.ts'
import { decidePass } from '../domain/decide-pass.ts'
import { missedRenewals } from '../domain/orphans.ts'
import type { PassSnapshot } from '../domain/pass-snapshot.ts'
import { observeRespondersPermissions } from '../observe/eviction-requests.ts'
import { createdMs } from '../observe/objects.ts'
import type { DisruptionViews, ObserveDisruptionPorts } from '../observe/observe.ts'
import { observePass } from '../observe/observe-pass.ts'
import { RequestOrder } from '../observe/request-order.ts'
import { DisruptionReporter, type DisruptionReports } from '../report/report.ts'
import { Takeovers } from './takeovers.ts'

export const nodeDisruptionPermissions: readonly Permission[] = [
  ...ledgerPermissions,
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  { group: 'cofferdam.io', resource: 'disruptionpolicies', verbs: ['list', 'watch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['get', 'watch', 'patch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions/status', verbs: ['update'] },
  { group: '', resource: 'nodes', verbs: ['get', 'list', 'watch', 'patch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods/eviction', verbs: ['create'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['get', 'list', 'watch', 'patch'] },
  { group: 'policy', resource: 'poddisruptionbudgets/status', verbs: ['update'] },
  { group: '', resource: 'events', verbs: ['create'] },
  { group: 'coordination.k8s.io', resource: 'leases', namespace: nodeLeaseNamespace, verbs: ['get'] },
  ...observeRespondersPermissions,
  ...askRespondersPermissions,
]

export interface NodeDisruptionPorts extends ObserveDisruptionPorts {
  readonly api: Pick<KubeApi, 'get' | 'list' | 'create' | 'update' | 'patch' | 'createSubresource'>
  readonly clock: Clock
  readonly views: DisruptionViews
  readonly store: LedgerStore
  readonly reports: DisruptionReports
  /** No write is stored, so what leads on from one is never seen. */
  readonly isDryRun?: boolean
}

/** Carries out disruptions of nodes. Keys are names of NodeDisruptions. */
export function createNodeDisruption(ports: NodeDisruptionPorts): Controller {
  const { api, clock, views, reports } = ports
  const evictor = new PodEvictor({ api, clock, count: (result) => reports.countEviction(result) })
  const asker = new ResponderAsker(api)
  const reporter = new DisruptionReporter(reports)
  const takeovers = new Takeovers(clock, missedRenewals * ports.settings.renewMs)
  const order = new RequestOrder()
  /** The budgets that each request depended on at its last reconcile. */
  const concerns = new Map<string, ReadonlySet<string>>()

  function forget(name: string, id: string | undefined): void {
    concerns.delete(name)
    if (id === undefined) return
    evictor.forget(id)
    asker.forget(id)
    reporter.forget(id)
    takeovers.forget(id)
  }

  return {
    name: 'node-disruption',

    async start(enqueue, signal) {
      const enqueueForNode = (nodeName: string) => {
        if (nodeName === '') return
        for (const request of views.disruptions.byIndex('node', nodeName)) {
          if (isActive(request)) enqueue(request.metadata.name)
        }
      }
      const ends = [
        views.disruptions.subscribe((change) => {
          const isEnded = change.type === 'removed' || !isActive(change.value)
          if (change.type === 'removed') forget(change.key, change.previous.metadata.uid)
          else if (isActive(change.value)) enqueue(change.key)
          follow(change.key, isEnded ? undefined : change.value, enqueue)
        }),
        views.nodes.subscribe(({ key }) => enqueueForNode(key)),
        views.pods.subscribe((change) => {
          enqueueForNode(change.type === 'removed' ? change.previous.nodeName : change.value.nodeName)
        }),
        views.budgets.subscribe(({ key }) => {
          for (const [name, budgets] of concerns) if (budgets.has(key)) enqueue(name)
        }),
        views.policies.subscribe(() => {
          for (const name of order.first(mostQueued.tickets)) enqueue(name)
        }),
        views.ledgers.subscribe((change) => {
          for (const name of concernedBy(change)) enqueue(name)
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await whenSynced(signal)
      for (const request of views.disruptions.list()) {
        if (!isActive(request)) continue
        order.add({ name: request.metadata.name, createdMs: createdMs(request.metadata) })
        enqueue(request.metadata.name)
      }
    },

    async reconcile(name, signal) {
      const known = views.disruptions.get({ name })
      if (known === undefined || !isActive(known)) {
        forget(name, known?.metadata.uid)
        return undefined
      }
      const memory: PassMemory = { seen: undefined, current: undefined, isFresh: false }
      const { decision, isWhole } = await performPass({
        observe: () => observe(name, memory, signal),
        decide: decidePass,
        perform: disruptionPerformers({ ...ports, evictor, asker, takeovers, reporter }, memory, signal),
        signal,
      }).catch(async (error: unknown) => {
        const { message } = error as Error
        const event = { reason: 'RightsMissing', explanation: message } as const
        if (hasReason(error, 'Forbidden')) await reporter.report(known, undefined, event)
        throw error
      })
      if (!isWhole || !decision.isOver) {
        return { recheckAfterSeconds: Math.max(0.001, decision.recheckAfterMs / 1000) }
      }
      forget(name, memory.seen?.metadata.uid)
      return undefined
    },
  }

  async function observe(name: string, memory: PassMemory, signal: AbortSignal): Promise<PassSnapshot> {
    const aheadOf = (each: string) => order.aheadOf(each)
    const snapshot = await observePass({ ...ports, evictor, asker, takeovers, aheadOf }, name, { memory, signal })
    if (snapshot.state === 'protected') {
      const { budgets } = snapshot.seen
      concerns.set(name, new Set(budgets.map(({ namespace, name: budget }) => `${namespace}/${budget}`)))
    }
    return snapshot
  }

  /** In a long queue a change is told only to those who may be able to go because of it. */
  function* concernedBy(change: ViewChange<DisruptionLedger>): Generator<string> {
    if (change.key !== ledgerName || change.type === 'resynced') return
    const before = change.type === 'changed' ? parseLedger(change.previous) : unknown('not seen before')
    const now = change.type === 'removed' ? unknown('gone') : parseLedger(change.value)
    const difference = before.known && now.known ? concernedRequests(before.value, now.value) : undefined
    if (difference?.keys.size === 0) return
    if (difference === undefined || !now.known || !isLongQueue(now.value)) {
      yield* order.first(mostQueued.tickets)
      return
    }
    for (const id of difference.requestIds) {
      for (const { metadata } of views.disruptions.byIndex('requestId', id)) yield metadata.name
    }
    const budgets = [...difference.keys].flatMap((key) => budgetOf(key) ?? [])
    for (const [name, concerned] of concerns) if (budgets.some((budget) => concerned.has(budget))) yield name
  }

  async function whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all(Object.values(views).map((view) => view.whenSynced(signal)))
  }

  /** Who has a place in the queue changes when a request ends; whose turn it becomes is reconciled. */
  function follow(name: string, request: NodeDisruption | undefined, enqueue: (name: string) => void): void {
    if (request !== undefined) {
      order.add({ name, createdMs: createdMs(request.metadata) })
      return
    }
    const wasPlaced = order.aheadOf(name) < mostQueued.tickets
    order.remove(name)
    const next = order.at(mostQueued.tickets - 1)
    if (wasPlaced && next !== undefined) enqueue(next)
  }
}

/** A request that is over and that nothing of ours holds is history. */
function isActive(object: NodeDisruption): boolean {
  return !isOver(object.status?.phase) || hasFinalizer(object)
}
