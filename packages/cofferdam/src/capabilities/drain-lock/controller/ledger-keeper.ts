import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import { parseLedger } from '../../../ledger/rules/parse-ledger.ts'
import type { PublishedSettings } from '../../../ledger/rules/published-settings.ts'
import { type LedgerStore, ledgerPermissions } from '../../../ledger/store/ledger-store.ts'
import { type DisruptionLedger, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { performPass } from '../../interpreter.ts'
import { isPublished, publishSettings, publishSettingsPermissions } from '../apply/publish-settings.ts'
import { type UpkeepMemory, upkeepPerformers } from '../apply/upkeep.ts'
import { decideUpkeep, type UpkeepSnapshot } from '../domain/decide-upkeep.ts'
import { type ObserveKeysPorts, observeKeysPermissions } from '../observe/keys.ts'
import { RequestHeartbeats } from './request-heartbeats.ts'

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

/** Cleans up what no living request manages: keys and tickets whose holder is gone. Keys are the ledger's name and `settings`. */
export function createLedgerKeeper(ports: LedgerKeeperPorts): Controller {
  const { api, clock, ledgers, disruptions, renewMs, settings } = ports
  const heartbeats = new RequestHeartbeats(clock)
  const vanished = new Set<string>()
  /** By request, and of the ledger itself under ''. */
  const events = ports.events.scoped()
  const recheckAfterSeconds = Math.max(1, renewMs / 2_000)

  return {
    name: 'disruption-ledger',

    async start(enqueue, signal) {
      const enqueueLedger = () => enqueue(ledgerName)
      const enqueueLedgerAndSettings = () => {
        enqueueLedger()
        if (!isPublished(settings, ledgers.get({ name: ledgerName }))) enqueue(settingsKey)
      }
      const ends = [
        ledgers.subscribe(enqueueLedgerAndSettings),
        disruptions.subscribe((change) => {
          if (change.type === 'removed') vanished.add(change.previous.metadata.uid ?? '')
          if (change.type !== 'resynced') enqueueLedger()
        }),
      ]
      for (const end of ends) signal.addEventListener('abort', end, { once: true })
      await Promise.all([ledgers.whenSynced(signal), disruptions.whenSynced(signal)])
      enqueueLedgerAndSettings()
    },

    async reconcile(key, signal) {
      if (key === settingsKey) {
        return publishSettings({ api, settings, ledger: ledgers.get({ name: ledgerName }) }, signal)
      }
      const memory: UpkeepMemory = {}
      const { decision } = await performPass({
        observe: async () => observe(memory),
        decide: decideUpkeep,
        perform: upkeepPerformers({ ...ports, events }, memory, signal),
        signal,
      })
      return decision.isQuiet ? undefined : { recheckAfterSeconds }
    },
  }

  function observe({ asked, restored, settled, isRestoreReported = false }: UpkeepMemory): UpkeepSnapshot {
    const ledger = parseLedger(ledgers.get({ name: ledgerName }))
    const seen = [...disruptions.list()]
    if (ledger.known) {
      heartbeats.note(ledger.value, livingAmong(seen).living)
      // At once: whoever vanishes in the course of the pass is for the next one.
      if (heartbeats.size === 0) vanished.clear()
    }
    const { living, present } = livingAmong(asked?.requests ?? seen)
    return {
      ledger,
      epochs: seen.map(({ status }) => status?.epoch ?? 0),
      orphans: {
        living,
        vanished: new Set([...vanished].filter((id) => !present.has(id))),
        heartbeats: heartbeats.unchanged(),
        renewMs,
        facts: asked?.facts ?? new Map(),
      },
      isAsked: asked !== undefined,
      restored,
      isRestoreReported,
      settled,
    }
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
