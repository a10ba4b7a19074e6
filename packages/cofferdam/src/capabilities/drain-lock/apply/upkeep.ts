import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { LedgerStore } from '../../../ledger/store/ledger-store.ts'
import { type DisruptionLedger, disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { Performers } from '../../interpreter.ts'
import { applyOrphans, decideOrphans, type KeyFacts, type OrphanDecision } from '../domain/orphans.ts'
import type { ReportUpkeep, SettleOrphans, UpkeepStep } from '../domain/upkeep-steps.ts'
import { type ObserveKeysPorts, observeKeys } from '../observe/keys.ts'

export interface UpkeepPorts extends ObserveKeysPorts {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly store: Pick<LedgerStore, 'change' | 'restore'>
  readonly ledgers: WatchView<DisruptionLedger>
  /** By request, and of the ledger itself under ''. */
  readonly events: EventRecorder<Reason>
  undo?(entries: readonly LedgerEntry[], signal: AbortSignal): Promise<void>
}

/** What was learned in one pass over the ledger. */
export interface UpkeepMemory {
  asked?: { readonly requests: readonly NodeDisruption[]; readonly facts: ReadonlyMap<string, KeyFacts> }
  restored?: readonly string[]
  isRestoreReported?: boolean
  settled?: readonly OrphanDecision[]
}

const warnings: readonly Reason[] = ['HolderGone', 'LedgerRebuilt', 'LedgerUnusable', 'OrphanHeld']

export function upkeepPerformers(
  ports: UpkeepPorts,
  memory: UpkeepMemory,
  signal: AbortSignal,
): Performers<UpkeepStep> {
  const { api, store, ledgers, events } = ports

  async function restore(): Promise<void> {
    const restored = await store.restore(async ({ nodeName }) => {
      const storage = await ports.observeStorage({ node: nodeName }, signal)
      return storage.map(({ key, uid, failureDomain }) => ({ key, uid, scope: failureDomain }))
    }, signal)
    memory.restored = restored.map(({ name }) => name)
  }

  async function settle({ seen }: SettleOrphans): Promise<void> {
    memory.settled = await store.change(
      'clean up after vanished holders',
      (ledger) => {
        const made = decideOrphans({ ...seen, ledger })
        return { ledger: applyOrphans(ledger, made), value: made }
      },
      signal,
    )
  }

  async function report({ about, event, isLasting }: ReportUpkeep): Promise<void> {
    if (!isLasting) events.forget(about)
    if (event === undefined) return
    const { reason, explanation: note } = event
    const object = ledgers.get({ name: ledgerName }) ?? {
      apiVersion: apiVersionOf(disruptionLedgers),
      kind: disruptionLedgers.kind,
      metadata: { name: ledgerName },
    }
    const type = warnings.includes(reason) ? 'Warning' : 'Normal'
    await events.record(object, { type, reason, note }, isLasting ? { group: about } : undefined)
    if (reason === 'LedgerRebuilt') memory.isRestoreReported = true
  }

  return {
    async ask({ keys }) {
      const [{ items }, facts] = await Promise.all([
        api.list(nodeDisruptions, { signal }),
        observeKeys(ports, keys, signal),
      ])
      memory.asked = { requests: items, facts }
      return 'learned'
    },
    async hold(step) {
      if (step.what === 'restore') await restore()
      else await settle(step)
      return 'learned'
    },
    async write({ entries }) {
      await ports.undo?.(entries, signal)
      return 'done'
    },
    async report(step) {
      await report(step)
      return 'done'
    },
  }
}
