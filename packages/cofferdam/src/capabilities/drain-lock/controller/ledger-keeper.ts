import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { Topic } from '@cofferdam/kubernetes/runtime/event-memory.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { type Ledger, type LedgerEntry, raiseEpoch } from '../../../ledger/rules/ledger.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import type { PublishedSettings } from '../../../ledger/rules/published-settings.ts'
import { type LedgerStore, ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { type DisruptionLedger, disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { isPublished, publishSettings, publishSettingsPermissions } from '../apply/publish-settings.ts'
import {
  applyOrphans,
  decideOrphans,
  type KeyFacts,
  nodesToReopen,
  type OrphanDecision,
  type OrphanSnapshot,
} from '../domain/orphans.ts'
import { type ObserveKeysPorts, observeKeys, observeKeysPermissions } from '../observe/keys.ts'
import { RequestSigns } from './request-signs.ts'

export const ledgerKeeperPermissions: readonly Permission[] = [
  ...ledgerPermissions,
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['list', 'watch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['watch'] },
  ...observeKeysPermissions,
  ...publishSettingsPermissions,
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface LedgerKeeperPorts extends ObserveKeysPorts {
  readonly api: Pick<KubeApi, 'get' | 'list' | 'create' | 'patch'>
  readonly clock: Clock
  readonly store: LedgerStore
  readonly ledgers: WatchView<DisruptionLedger>
  readonly disruptions: WatchView<NodeDisruption>
  /** Takes away what a vanished holder left on the objects behind its keys, before they are free. */
  undo?(entries: readonly LedgerEntry[], signal: AbortSignal): Promise<void>
  /** About the ledger. */
  readonly events: EventRecorder<Reason>
  readonly renewMs: number
  /** What the operator judges by, for whoever judges without it. */
  readonly settings: PublishedSettings
}

/** A key of its own: what cannot be published holds up nothing else. */
const settingsKey = 'settings'

const warnings: readonly Reason[] = ['HolderGone', 'LedgerRebuilt', 'LedgerUnusable', 'OrphanHeld']

/** Looks after what no living request looks after: keys and tickets whose holder is gone. Keys are the ledger's name and `settings`. */
export function createLedgerKeeper(ports: LedgerKeeperPorts): Controller {
  const { api, clock, store, ledgers, disruptions, renewMs, settings } = ports
  const signs = new RequestSigns(clock)
  const vanished = new Set<string>()
  /** By request, and of the ledger itself under ''. */
  const events = ports.events.scoped()
  const recheckAfterSeconds = Math.max(1, renewMs / 2_000)

  return {
    name: 'disruption-ledger',

    async start(enqueue, signal) {
      const look = () => enqueue(ledgerName)
      const lookAtLedger = () => {
        look()
        if (!isPublished(settings, ledgers.get({ name: ledgerName }))) enqueue(settingsKey)
      }
      const ends = [
        ledgers.subscribe(lookAtLedger),
        disruptions.subscribe((change) => {
          if (change.type === 'removed') vanished.add(change.previous.metadata.uid ?? '')
          if (change.type !== 'resynced') look()
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await Promise.all([ledgers.whenSynced(signal), disruptions.whenSynced(signal)])
      lookAtLedger()
    },

    async reconcile(key, signal) {
      if (key === settingsKey) {
        return publishSettings({ api, settings, ledger: ledgers.get({ name: ledgerName }) }, signal)
      }
      const parsed = parseLedger(ledgers.get({ name: ledgerName }))
      if (!parsed.known) {
        await tell({ reason: 'LedgerUnusable', explanation: parsed.why }, { group: '' })
        return { recheckAfterSeconds }
      }
      events.forget('')
      const ledger = parsed.value
      if (isBehind(ledger)) await rebuild(signal)
      const { living } = livingAmong([...disruptions.list()])
      signs.note(ledger, living)
      const isQuiet = signs.size === 0
      if (isQuiet) vanished.clear()
      else await tidy(ledger, signal)
      return isQuiet ? undefined : { recheckAfterSeconds }
    },
  }

  function isBehind(ledger: Ledger): boolean {
    for (const { status } of disruptions.list()) {
      if (raiseEpoch(ledger, status?.epoch ?? 0) !== ledger) return true
    }
    return false
  }

  async function rebuild(signal: AbortSignal): Promise<void> {
    const restored = await store.restore(async ({ nodeName }) => {
      const storage = await ports.observeStorage({ node: nodeName }, signal)
      return storage.map(({ key, uid, failureDomain }) => ({ key, uid, scope: failureDomain }))
    }, signal)
    if (restored.length === 0) return
    const names = restored.map(({ name }) => `nodedisruption/${name}`).join(', ')
    await tell({ reason: 'LedgerRebuilt', explanation: `What is under way is held again: ${names}.` })
  }

  /** Decides on the copy at hand first: most looks end there. What is then done is decided again on what is true now. */
  async function tidy(seen: Ledger, signal: AbortSignal): Promise<void> {
    const sketch = decideOrphans(snapshotOf(seen, [...disruptions.list()], new Map()))
    if (sketch.length === 0) return
    const orphans = seen.entries.filter(({ state }) => state === 'Orphaned')
    const [{ items }, facts] = await Promise.all([
      api.list(nodeDisruptions, { signal }),
      observeKeys(ports, orphans, signal),
    ])
    await undoBeforeEnd(snapshotOf(seen, items, facts), signal)
    const decisions = await store.change(
      'clean up after vanished holders',
      (ledger) => {
        const made = decideOrphans(snapshotOf(ledger, items, facts))
        return { ledger: applyOrphans(ledger, made), value: made }
      },
      signal,
    )
    for (const decision of decisions) {
      if (decision.step === 'keep') await tell(decision, { group: decision.requestId })
      else {
        events.forget(decision.requestId)
        await tell(decision)
      }
    }
  }

  function snapshotOf(
    ledger: Ledger,
    known: readonly NodeDisruption[],
    facts: ReadonlyMap<string, KeyFacts>,
  ): OrphanSnapshot {
    const { living, present } = livingAmong(known)
    const gone = new Set([...vanished].filter((id) => !present.has(id)))
    return { ledger, living, vanished: gone, signs: signs.unchanged(), renewMs, facts }
  }

  async function undoBeforeEnd(snapshot: OrphanSnapshot, signal: AbortSignal): Promise<void> {
    if (ports.undo === undefined) return
    const ended = decideOrphans(snapshot).filter(({ step }) => step === 'bury' || step === 'free')
    for (const { requestId } of ended) {
      const entries = snapshot.ledger.entries.filter((entry) => entry.requestId === requestId)
      await ports.undo(entries, signal)
    }
    const kept = nodesToReopen(snapshot).filter(
      (entry) => !ended.some(({ requestId }) => requestId === entry.requestId),
    )
    if (kept.length > 0) await ports.undo(kept, signal)
  }

  async function tell(
    { reason, explanation }: Pick<OrphanDecision, 'reason' | 'explanation'>,
    topic?: Topic,
  ): Promise<void> {
    const about = ledgers.get({ name: ledgerName }) ?? {
      apiVersion: apiVersionOf(disruptionLedgers),
      kind: disruptionLedgers.kind,
      metadata: { name: ledgerName },
    }
    const type = warnings.includes(reason) ? 'Warning' : 'Normal'
    await events.record(about, { type, reason, note: explanation }, topic)
  }
}

function livingAmong(disruptions: readonly NodeDisruption[]): { living: Set<string>; present: Set<string> } {
  const living = new Set<string>()
  const present = new Set<string>()
  for (const { metadata, status } of disruptions) {
    const id = metadata.uid ?? ''
    present.add(id)
    if (status?.phase !== 'Completed' && status?.phase !== 'Rejected') living.add(id)
  }
  return { living, present }
}
