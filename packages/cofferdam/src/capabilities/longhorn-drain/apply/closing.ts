import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { CordonChange } from '../../../shared/cordon-mark.ts'
import type { Permission } from '../../../shared/permission.ts'
import { changeCordon } from '../../node-cordon.ts'
import { type ClosingChange, closingEventOf, cordonChangeOf } from '../domain/closing-change.ts'
import type { LonghornViews } from '../observe/observe.ts'
import type { LonghornReports } from '../report/report.ts'
import { collectFailure } from './collect-failure.ts'

export const longhornClosingPermissions: readonly Permission[] = [
  { group: '', resource: 'nodes', grantedBy: 'longhorn', verbs: ['get', 'patch'] },
]

export interface LonghornClosingPorts {
  readonly api: Pick<KubeApi, 'get' | 'patch'>
  readonly views: Pick<LonghornViews, 'kubeNodes'>
  readonly reports: Pick<LonghornReports, 'events'>
}

/** Cordons and uncordons nodes for Longhorn, and reports it about each. Returns what was refused; that stops no other. */
export async function applyLonghornClosing(
  { api, views, reports }: LonghornClosingPorts,
  changes: readonly ClosingChange[],
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  for (const change of changes) {
    await collectFailure(failures, async () => {
      let written: CordonChange | undefined
      const order = { nodeName: change.node, nodeUid: change.uid }
      const node = await changeCordon(
        api,
        order,
        (seen) => {
          written = cordonChangeOf(change, seen)
          return written
        },
        signal,
      )
      if (node === undefined || written === undefined) return
      const event = closingEventOf(change, written)
      if (event !== undefined) await reports.events.record(node, event)
      const { resourceVersion } = node.metadata
      if (resourceVersion !== undefined) await views.kubeNodes.whenSeen(resourceVersion, signal)
    })
  }
  return failures
}
