import { evictionRequests } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { settingsAnnotation } from '../../ledger/rules/published-settings.ts'
import { appLockAnnotation, lockedSinceAnnotation } from '../../shared/app-lock-annotation.ts'
import { isCordonedByCofferdam } from '../../shared/closed-node.ts'
import { cordonedByAnnotation, cordonMarkOf } from '../../shared/cordon-mark.ts'
import { disruptionLedgers } from '../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { askedByAnnotation, madeForLabel } from '../../shared/made-for.ts'
import { mergePatch, type Trace, trace } from '../../shared/trace.ts'
import { cordonFields } from '../node-cordon.ts'
import { disruptionFinalizer } from './apply/record.ts'
import { requesterName } from './apply/responders.ts'
import { holdAnnotation, parseBudgetHold, restoredSpec } from './domain/budget-hold.ts'
import { requestLabel } from './observe/eviction-requests.ts'

export const drainLockTraces: readonly Trace[] = [
  trace({
    type: podDisruptionBudgets,
    keys: [holdAnnotation, appLockAnnotation, lockedSinceAnnotation],
    removal(budget) {
      const { annotations = {} } = budget.metadata
      const own = [holdAnnotation, appLockAnnotation, lockedSinceAnnotation].filter(
        (key) => annotations[key] !== undefined,
      )
      if (own.length === 0) return undefined
      const { hold } = parseBudgetHold(annotations[holdAnnotation])
      const spec = restoredSpec(budget.spec, hold?.formerLimit)
      const isLowered = spec !== budget.spec
      const { minAvailable, maxUnavailable } = spec
      return mergePatch(budget, own.map((key) => `annotation ${key}`).join(', '), {
        metadata: { annotations: Object.fromEntries(own.map((key) => [key, null])) },
        ...(isLowered ? { spec: { minAvailable: minAvailable ?? null, maxUnavailable: maxUnavailable ?? null } } : {}),
      })
    },
  }),
  trace({
    type: nodes,
    keys: [cordonedByAnnotation],
    removal(node) {
      if (cordonMarkOf(node) === '') return undefined
      const isOwn = isCordonedByCofferdam(node)
      const says = isOwn ? 'the cordon of Cofferdam' : `annotation ${cordonedByAnnotation}`
      const { annotations, spec } = cordonFields({ mark: null, ...(isOwn && { isCordoned: false }) })
      return mergePatch(node, says, { metadata: { annotations }, ...(spec && { spec }) })
    },
  }),
  trace({
    type: evictionRequests,
    keys: [requestLabel, requesterName],
    removal: ({ metadata }) =>
      metadata.labels?.[requestLabel] === undefined ? undefined : { verb: 'delete', says: 'EvictionRequest' },
  }),
  trace({
    type: nodeDisruptions,
    keys: [disruptionFinalizer, madeForLabel, askedByAnnotation],
    removal(request) {
      const { finalizers = [] } = request.metadata
      if (!finalizers.includes(disruptionFinalizer)) return { verb: 'delete', says: 'request' }
      const others = finalizers.filter((each) => each !== disruptionFinalizer)
      return mergePatch(request, `finalizer ${disruptionFinalizer}`, { metadata: { finalizers: others } })
    },
  }),
  trace({
    type: disruptionLedgers,
    keys: [settingsAnnotation],
    removal: () => ({ verb: 'delete', says: 'the ledger' }),
  }),
]
