import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type Trace, trace } from '../../shared/trace.ts'

/** Conditions of a node that only this capability writes. */
export const drainConditions = ['DrainInProgress', 'Drained'] as const

export const drainDetectionTraces: readonly Trace[] = [
  trace({
    type: nodes,
    subresource: 'status',
    keys: [],
    removal({ status }) {
      const own = drainConditions.filter((type) => status?.conditions?.some((condition) => condition.type === type))
      if (own.length === 0) return undefined
      const conditions = own.map((type) => ({ type, $patch: 'delete' }))
      const says = own.map((type) => `condition ${type}`).join(', ')
      return {
        verb: 'patch',
        says,
        patch: { type: 'strategic', body: { status: { conditions } } },
      }
    },
  }),
]
