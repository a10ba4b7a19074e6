import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { type LedgerStore, ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { type DisruptionLedger, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { Permission } from '../../../shared/permission.ts'
import { addFinalizer, applyDisruption, dropFinalizer } from '../apply/apply.ts'
import { PodEvictor } from '../apply/evict.ts'
import { hasFinalizer, isOver } from '../apply/record.ts'
import { decideDisruption } from '../domain/decide.ts'
import type { DisruptionDecision, DisruptionStep } from '../domain/decision.ts'
import { retryMs } from '../domain/disruption-view.ts'
import { missedRenewals } from '../domain/orphans.ts'
import type { DisruptionSnapshot } from '../domain/snapshot.ts'
import {
  type DisruptionViews,
  type ObserveDisruptionPorts,
  type ObservedDisruption,
  observeDisruption,
} from '../observe/observe.ts'
import { DisruptionReporter, type DisruptionReports } from '../report/report.ts'
import { Takeovers } from './takeovers.ts'

export const nodeDisruptionPermissions: readonly Permission[] = [
  ...ledgerPermissions,
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['get', 'watch', 'patch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions/status', verbs: ['update'] },
  { group: '', resource: 'nodes', verbs: ['get', 'list', 'watch', 'patch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch'] },
  { group: '', resource: 'pods/eviction', verbs: ['create'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['get', 'list', 'watch', 'patch'] },
  { group: 'policy', resource: 'poddisruptionbudgets/status', verbs: ['update'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface NodeDisruptionPorts extends ObserveDisruptionPorts {
  readonly api: Pick<KubeApi, 'get' | 'list' | 'update' | 'patch' | 'createSubresource'>
  readonly clock: Clock
  readonly views: DisruptionViews
  readonly store: LedgerStore
  readonly reports: DisruptionReports
  /** No write is stored, so what leads on from one is never seen. */
  readonly isDryRun?: boolean
}

/** One look may lead to the next at once; more than this, and others get their turn first. */
const mostRounds = 12

/** Carries out disruptions of nodes. Keys are names of NodeDisruptions. */
export function createNodeDisruption(ports: NodeDisruptionPorts): Controller {
  const { api, clock, views, reports } = ports
  const evictor = new PodEvictor({ api, clock, count: (result) => reports.countEviction(result) })
  const reporter = new DisruptionReporter(reports)
  const takeovers = new Takeovers(clock, missedRenewals * ports.settings.renewMs)
  /** The budgets that each request depended on when it was last looked at. */
  const concerns = new Map<string, ReadonlySet<string>>()

  function forget(name: string, id: string | undefined): void {
    concerns.delete(name)
    if (id === undefined) return
    evictor.forget(id)
    reporter.forget(id)
    takeovers.forget(id)
  }

  return {
    name: 'node-disruption',

    async start(enqueue, signal) {
      const lookAtNode = (nodeName: string) => {
        if (nodeName === '') return
        for (const request of views.disruptions.byIndex('node', nodeName)) {
          if (isActive(request)) enqueue(request.metadata.name)
        }
      }
      const ends = [
        views.disruptions.subscribe((change) => {
          if (change.type === 'removed') forget(change.key, change.previous.metadata.uid)
          else if (isActive(change.value)) enqueue(change.key)
        }),
        views.nodes.subscribe(({ key }) => lookAtNode(key)),
        views.pods.subscribe((change) => {
          lookAtNode(change.type === 'removed' ? change.previous.nodeName : change.value.nodeName)
        }),
        views.budgets.subscribe(({ key }) => {
          for (const [name, budgets] of concerns) if (budgets.has(key)) enqueue(name)
        }),
        views.ledgers.subscribe((change) => {
          if (isLedgerNews(change)) for (const { metadata } of activeRequests()) enqueue(metadata.name)
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await whenSynced(signal)
      for (const { metadata } of activeRequests()) enqueue(metadata.name)
    },

    async reconcile(name, signal) {
      const seen = views.disruptions.get({ name })
      if (seen === undefined || !isActive(seen)) {
        forget(name, seen?.metadata.uid)
        return undefined
      }
      let object: NodeDisruption | undefined
      let before = ''
      for (let round = 1; ; round += 1) {
        object ??= await getRequest(name, signal)
        if (object === undefined) return undefined
        if (!hasFinalizer(object)) {
          if (object.metadata.deletionTimestamp !== undefined || !isActive(object)) return undefined
          object = await addFinalizer(api, object, signal)
        }
        const looked = await look(object, signal).catch(async (error: unknown) => {
          const { message } = error as Error
          const news = { reason: 'RightsMissing', explanation: message } as const
          if (hasReason(error, 'Forbidden')) await reporter.report(seen, undefined, news)
          throw error
        })
        object = looked.object
        if (looked.next === 'over') return undefined
        if (ports.isDryRun === true) return { recheckAfterSeconds: 60 }
        // Whoever is about to do the very same once more would do it for ever.
        const steps = JSON.stringify(looked.steps)
        const isStuck = steps === before
        before = steps
        if (looked.next === 'wait' || isStuck || round >= mostRounds || signal.aborted) {
          return { recheckAfterSeconds: Math.max(0.001, (looked.recheckAfterMs ?? retryMs) / 1000) }
        }
      }
    },
  }

  async function whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all(Object.values(views).map((view) => view.whenSynced(signal)))
  }

  function* activeRequests(): Generator<NodeDisruption> {
    for (const request of views.disruptions.list()) if (isActive(request)) yield request
  }

  async function getRequest(name: string, signal: AbortSignal): Promise<NodeDisruption | undefined> {
    try {
      return await api.get(nodeDisruptions, { name }, { signal })
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  /** One round: look, decide, take the steps, tell. */
  async function look(object: NodeDisruption, signal: AbortSignal) {
    const { snapshot, decision } = await decide(object, signal)
    const { ledger, request, holder } = snapshot
    if (ledger.known && takeovers.isReplaced(ledger.value, { id: request.id, holder })) {
      return { object: undefined, next: 'wait', recheckAfterMs: ports.settings.renewMs } as const
    }
    concerns.set(object.metadata.name, new Set(snapshot.budgets.map(({ namespace, name }) => `${namespace}/${name}`)))
    const applied = await applyDisruption({ ...ports, evictor, takeovers }, { object, snapshot, decision, signal })
    const { isWhole } = applied
    if (isWhole) await reporter.report(object, snapshot.node, decision)
    if (isWhole && decision.steps.some(({ step }) => step === 'intend')) {
      reports.observeWait((clock.now() - snapshot.request.createdMs) / 1000)
    }
    const { recheckAfterMs } = decision
    const isConcluded = isWhole && decision.steps.length === 0 && recheckAfterMs === undefined
    if (isConcluded || (isWhole && decision.steps.some(({ step }) => step === 'finish'))) {
      if (isConcluded && applied.object !== undefined) await dropFinalizer(api, applied.object, signal)
      forget(object.metadata.name, object.metadata.uid)
      return { object: undefined, next: 'over', steps: [], recheckAfterMs } as const
    }
    const next = !isWhole || decision.steps.some(leadsOn) ? 'again' : 'wait'
    return { object: applied.object, next, steps: decision.steps, recheckAfterMs } as const
  }

  async function decide(
    object: NodeDisruption,
    signal: AbortSignal,
  ): Promise<{ readonly snapshot: DisruptionSnapshot; readonly decision: DisruptionDecision }> {
    const snapshot = await observeDisruption(ports, object, { isFresh: false, signal })
    const decision = decideWithFaults(snapshot)
    if (!isWeighty(snapshot, decision)) return { snapshot, decision }
    const fresh = await observeDisruption(ports, object, { isFresh: true, signal })
    return { snapshot: fresh, decision: decideWithFaults(fresh) }
  }
}

function decideWithFaults({ faults, ...snapshot }: ObservedDisruption): DisruptionDecision {
  const decision = decideDisruption(snapshot)
  return faults.length === 0 ? decision : { ...decision, warnings: [...decision.warnings, ...faults] }
}

/** A request that is over and that nothing of ours holds is history. */
function isActive(object: NodeDisruption): boolean {
  return !isOver(object.status?.phase) || hasFinalizer(object)
}

/** Steps after which everything may look different at once. */
function leadsOn({ step }: DisruptionStep): boolean {
  return step !== 'renew' && step !== 'evict' && step !== 'record'
}

/** Whether it is to be decided again on what the API server says itself, not on a copy. */
function isWeighty({ request }: DisruptionSnapshot, { steps, record }: DisruptionDecision): boolean {
  return steps.some(leadsOn) || (record.phase !== request.record.phase && record.phase === 'Drained')
}

/** A holder that only shows that it lives changes nothing for anybody. */
function isLedgerNews(change: ViewChange<DisruptionLedger>): boolean {
  if (change.key !== ledgerName || change.type === 'resynced') return false
  if (change.type !== 'changed') return true
  return ledgerText(change.value) !== ledgerText(change.previous)
}

function ledgerText({ status }: DisruptionLedger): string {
  const entries = (status?.entries ?? []).map(({ key, requestId, epoch, state }) => [key, requestId, epoch, state])
  const tickets = (status?.tickets ?? []).map(({ requestId, number }) => [requestId, number])
  return JSON.stringify([entries, tickets])
}
