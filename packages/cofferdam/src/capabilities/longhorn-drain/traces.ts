import { longhornNodes, longhornSettings, longhornVolumeAttachments } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { mergePatch, type Trace, trace, withoutKeys } from '../../shared/trace.ts'
import { hasOwnLabel } from './domain/budget-object.ts'
import { manageAnnotation, putAnnotation, restoresAnnotation } from './domain/drain-settings.ts'
import { isFormerTicket } from './domain/eviction-ticket.ts'
import { askedAnnotation } from './domain/guidance-marks.ts'
import { movingAnnotation } from './domain/moving-record.ts'
import { drainPolicySetting } from './domain/policy.ts'
import { revertedAnnotation } from './domain/reverted-record.ts'

const settingKeys = [manageAnnotation, restoresAnnotation, putAnnotation, revertedAnnotation]

/** The operator restores fields of Longhorn's objects when they are released; this takes off what it noted there. */
export const longhornDrainTraces: readonly Trace[] = [
  trace({
    type: podDisruptionBudgets,
    keys: [],
    removal: (budget) =>
      hasOwnLabel(budget) && !budget.metadata.name.startsWith('rook-ceph-')
        ? { verb: 'delete', says: 'budget of an instance manager of Longhorn' }
        : undefined,
  }),
  trace({
    type: longhornSettings,
    keys: settingKeys,
    removal: (setting) =>
      setting.metadata.name === drainPolicySetting ? withoutKeys(setting, { annotations: settingKeys }) : undefined,
  }),
  trace({
    type: longhornNodes,
    keys: [askedAnnotation, movingAnnotation],
    removal: (node) => withoutKeys(node, { annotations: [askedAnnotation, movingAnnotation] }),
  }),
  trace({
    type: longhornVolumeAttachments,
    keys: [],
    removal(attachment) {
      const { attachmentTickets = {} } = attachment.spec ?? {}
      const own = Object.keys(attachmentTickets).filter((id) => isFormerTicket({ id }, attachment.metadata.name))
      if (own.length === 0) return undefined
      const tickets = Object.fromEntries(own.map((id) => [id, null]))
      return mergePatch(attachment, 'ticket of an earlier Cofferdam', { spec: { attachmentTickets: tickets } })
    },
  }),
]
