import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import { longhornNodes, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { foundNew } from '@cofferdam/kubernetes/runtime/event-memory.ts'
import { lastWriterOf } from '../../../shared/last-writer.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import { buildRevertedRecord, revertedAnnotation } from '../domain/reverted-record.ts'
import {
  explainReverted,
  noWrites,
  type OwnWrites,
  type RevertedWrite,
  rememberOwnWrites,
} from '../domain/reverted-writes.ts'
import { drainSetting } from '../observe/observe.ts'
import type { LonghornReports } from '../report/report.ts'

export interface RevertedPorts {
  readonly api: Pick<KubeApi, 'list' | 'patch'>
  readonly clock: Clock
  readonly reports: LonghornReports
}

/** Whoever undoes the same thing again and again is reported this often; the metric counts every time. */
const reportAgainMs = 600_000

/** Knows what was written, and reports what somebody else undid of it. A new operator begins with what it finds. */
export class OwnWriteWatch {
  readonly #ports: RevertedPorts
  #written: OwnWrites = noWrites
  readonly #events: LonghornReports['events']

  constructor(ports: RevertedPorts) {
    this.#ports = ports
    this.#events = ports.reports.events.scoped()
  }

  /** What was written and should stand. */
  get written(): OwnWrites {
    return this.#written
  }

  remember(budgets: LonghornObjects['budgets']): void {
    this.#written = rememberOwnWrites(budgets)
  }

  /** Never throws: what was undone is written again all the same. */
  async report(objects: LonghornObjects, reverted: readonly RevertedWrite[], signal: AbortSignal): Promise<void> {
    const nowMs = this.#ports.clock.now()
    for (const write of reverted) {
      this.#ports.reports.countReverted(write.kind)
      const topic = {
        group: 'reverted',
        slot: `${write.kind}/${write.node}/${write.name}`,
        state: '',
        againAfterMs: reportAgainMs,
      }
      if (!this.#events.isChange(topic)) continue
      const says = explainReverted(write, await this.#whoDid(objects, write, signal))
      const about = objects.nodes.find(({ metadata }) => metadata.name === write.node)
      if (about !== undefined) {
        await this.#events.record(about, { type: 'Warning', reason: 'WriteReverted', note: says }, foundNew)
      }
      await this.#record(objects, { atMs: nowMs, says }, signal)
    }
  }

  /** Before they are written: a delete of which the answer is lost was still ours. */
  noteBudgets(writes: readonly BudgetWrite[]): void {
    const written = new Map(this.#written)
    for (const write of writes) if (write.verb === 'delete') written.delete(write.seen.metadata.name)
    this.#written = written
  }

  forget(): void {
    this.#written = noWrites
    this.#events.forget('reverted')
  }

  /** By the managed fields, which views leave out. A budget that is gone has none. */
  async #whoDid(
    { namespace }: LonghornObjects,
    { kind, name, node }: RevertedWrite,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const isDisk = kind === 'disk'
    const type = (isDisk ? longhornNodes : podDisruptionBudgets) as ResourceType
    try {
      const fieldSelector = `metadata.name=${isDisk ? node : name}`
      const [found] = (await this.#ports.api.list<KubeObject>(type, { namespace, fieldSelector, signal })).items
      if (found === undefined) return undefined
      return lastWriterOf(found, isDisk ? ['spec', 'disks', name, 'evictionRequested'] : ['spec', 'minAvailable'])
        .manager
    } catch {
      return undefined
    }
  }

  /** For `explain`, `status` and the page, which begin with nothing. */
  async #record(
    { namespace, settings }: LonghornObjects,
    record: Parameters<typeof buildRevertedRecord>[0],
    signal: AbortSignal,
  ): Promise<void> {
    const setting = drainSetting(settings)
    if (setting === undefined) return
    const body = { metadata: { annotations: { [revertedAnnotation]: buildRevertedRecord(record) } } }
    const key = { namespace, name: setting.metadata.name }
    await this.#ports.api.patch(longhornSettings, key, { type: 'merge', body }, { signal }).catch(() => undefined)
  }
}
