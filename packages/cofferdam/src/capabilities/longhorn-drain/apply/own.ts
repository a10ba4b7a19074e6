import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { SelectingDeployment } from '../domain/budget-object.ts'
import type { LonghornDecision } from '../domain/decision.ts'
import { decideEvictionAttachments } from '../domain/eviction-attachments.ts'
import type { LonghornViews } from '../observe/observe.ts'
import type { LonghornReporter } from '../report/report.ts'
import {
  applyEvictionFlags,
  applyLonghornBudgets,
  collectFailure,
  type LonghornLook,
  planCsiBudgets,
  planLonghornBudgets,
} from './apply.ts'
import { applyLonghornMigration } from './migrate.ts'
import { applyMovingRecords } from './moving.ts'
import { applyReleases, type ReleasePorts } from './release.ts'
import type { OwnWriteWatch } from './reverted.ts'
import { applyEvictionTickets } from './tickets.ts'

export interface OwnPorts extends Omit<ReleasePorts, 'api' | 'views'> {
  readonly api: Pick<KubeApi, 'list' | 'patch' | 'delete'>
  readonly views: LonghornViews & { readonly deployments: WatchView<SelectingDeployment> }
  readonly reporter: LonghornReporter
  readonly watch: OwnWriteWatch
}

export interface AppliedDecision {
  /** One write that is refused stops no other, but for those that would be safe only after it. */
  readonly failures: readonly unknown[]
  readonly problems: LonghornDecision['problems']
  /** Why replicas cannot leave, by volume. */
  readonly failedEvictions: ReadonlyMap<string, string>
}

/**
 * Writes what was decided, where Longhorn leaves its drains to us.
 *
 * Guarantees: every budget of an instance manager that is wanted is there before one is deleted.
 */
export async function applyOwnDecision(
  ports: OwnPorts,
  look: LonghornLook,
  signal: AbortSignal,
): Promise<AppliedDecision> {
  const { objects, snapshot, decision } = look
  const deployments = ports.views.deployments.byIndex('namespace', longhornNamespace)
  const plan = planLonghornBudgets(look, ports.sha512Hex)
  const csi = planCsiBudgets(look, deployments)
  const failures: unknown[] = []
  for (const write of plan.create) await collectFailure(failures, () => applyLonghornBudgets(ports, [write], signal))
  const isOneMissing = failures.length > 0
  for (const write of csi.create) await collectFailure(failures, () => applyLonghornBudgets(ports, [write], signal))
  const flags = await applyEvictionFlags(ports, look, signal)
  ports.watch.noteFlags(objects, flags.changed)
  await ports.reporter.reportEvictions(objects, flags.changed)
  const attachments = decideEvictionAttachments(snapshot)
  const tickets = await applyEvictionTickets(ports, objects, { changes: attachments.changes, signal })
  const isOneToGo = plan.remove.length + csi.remove.length + decision.surplusReplicas.length > 0
  if (isOneToGo && !isOneMissing) {
    await collectFailure(failures, async () => {
      failures.push(...(await applyReleases(ports, look, { deployments, signal })))
    })
  }
  failures.push(...flags.failures, ...tickets.values())
  failures.push(...(await applyMovingRecords(ports, look, signal)), ...(await applyLonghornMigration(ports, signal)))
  const noPlace = attachments.withoutPlace.map(
    (volume) =>
      [volume, 'No node that takes replicas is without a copy of it, so it is not attached to be copied.'] as const,
  )
  return {
    failures,
    failedEvictions: new Map([...noPlace, ...refusals(flags.refused), ...refusals(tickets)]),
    problems: plan.taken.map((name) => ({
      object: `poddisruptionbudget/${name}`,
      problem: 'it has the name of the budget of an instance manager but is for other pods; no budget is deleted',
    })),
  }
}

/** A conflict is no refusal: it is judged again at once. */
function refusals(refused: ReadonlyMap<string, unknown>): (readonly [string, string])[] {
  return [...refused].flatMap(([volume, error]) => {
    const { message, reason } = error as { readonly message?: string; readonly reason?: string }
    return reason === 'Conflict' ? [] : [[volume, `What was decided for it could not be written: ${message}`] as const]
  })
}
