import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { type AskedOfDrain, differencesFrom } from './covers-request.ts'

interface Given {
  readonly underWay?: Partial<NodeDisruption['spec']>
  readonly status?: NodeDisruption['status']
  readonly deleted?: true
  readonly asked?: Partial<AskedOfDrain>
}

const rows: Record<string, { given: Given; then: string[] }> = {
  'the same wish is covered': { given: {}, then: [] },
  'a removal is not covered by a reboot: pods that stay would be gone with the machine': {
    given: { asked: { intent: 'Remove', honourSkipDrain: false } },
    then: ['intent: Reboot, Remove', 'honourSkipDrain: true, false'],
  },
  'a removal that says nothing of the pods that stay is not covered either': {
    given: { asked: { intent: 'Remove' } },
    then: ['intent: Reboot, Remove'],
  },
  'a replacement is not a removal': {
    given: { underWay: { intent: 'Replace' }, asked: { intent: 'Remove' } },
    then: ['intent: Replace, Remove'],
  },
  'a reboot is covered by a removal: the node is at least as empty': {
    given: { underWay: { intent: 'Remove' }, asked: { honourSkipDrain: false } },
    then: [],
  },
  'a drain of all pods is not covered by one that leaves some': {
    given: { asked: { honourSkipDrain: false } },
    then: ['honourSkipDrain: true, false'],
  },
  'it is covered once that one has fallen back and evicts all': {
    given: { status: { hasFallenBack: true }, asked: { honourSkipDrain: false } },
    then: [],
  },
  'a drain that may leave pods is covered by one that evicts all': {
    given: { underWay: { honourSkipDrain: false } },
    then: [],
  },
  'the loss of bare pods is not covered by a request that waits for them': {
    given: { asked: { accepts: ['force'] } },
    then: ['force: false, true'],
  },
  'the loss of emptyDir data is not covered by the loss of bare pods': {
    given: { underWay: { force: true }, asked: { accepts: ['force', 'deleteEmptyDirData'] } },
    then: ['deleteEmptyDirData: false, true'],
  },
  'who asks for no loss may follow a request that accepts one: what it destroys is not theirs to say': {
    given: { underWay: { force: true, deleteEmptyDirData: true } },
    then: [],
  },
  'a short grace period is not covered by the pods’ own: the node would be empty later than asked': {
    given: { asked: { gracePeriodSeconds: 30 } },
    then: ['gracePeriodSeconds: not set, 30'],
  },
  'a long grace period is not covered by a shorter one: pods would be killed before they have ended': {
    given: { underWay: { gracePeriodSeconds: 0 }, asked: { gracePeriodSeconds: 600 } },
    then: ['gracePeriodSeconds: 0, 600'],
  },
  'who asks for no grace period may follow a request with one: what it ends is not theirs to say': {
    given: { underWay: { gracePeriodSeconds: 0 } },
    then: [],
  },
  'an earlier fallback is not covered by a later one': {
    given: { underWay: { fallbackAfter: '1h' }, asked: { fallbackAfter: '20m' } },
    then: ['fallbackAfter: 1h, 20m'],
  },
  'a fallback is not covered by the operator’s own, which nobody knows here': {
    given: { asked: { fallbackAfter: '20m' } },
    then: ['fallbackAfter: not set, 20m'],
  },
  'a fallback is covered by an earlier one, and by a drain that evicts all anyway': {
    given: { underWay: { honourSkipDrain: false }, asked: { fallbackAfter: '20m' } },
    then: [],
  },
  'a deadline is not covered by a request without one': {
    given: { asked: { deadline: '2026-01-01T12:00:00Z' } },
    then: ['deadline: not set, 2026-01-01T12:00:00Z'],
  },
  'a deadline is covered by an earlier one: the same command, given again': {
    given: { underWay: { deadline: '2026-01-01T12:00:00Z' }, asked: { deadline: '2026-01-01T12:05:00Z' } },
    then: [],
  },
  'a reboot that takes long is not covered by one that has less time: its Machine would be fenced in the middle of it':
    {
      given: { underWay: { returnWithin: '1h' }, asked: { returnWithin: '4h' } },
      then: ['returnWithin: 1h, 4h'],
    },
  'a reboot that takes long is not covered where only the operator says how long it may take': {
    given: { asked: { returnWithin: '4h' } },
    then: ['returnWithin: not set, 4h'],
  },
  'a reboot is covered by one that has as much time': {
    given: { underWay: { returnWithin: '4h' }, asked: { returnWithin: '240m' } },
    then: [],
  },
  'a request that is being cancelled covers nothing: the node is given back, and its pods run': {
    given: { deleted: true, status: { phase: 'Drained' } },
    then: ['phase: being cancelled, a new drain'],
  },
  'a request whose node is back covers nothing: it ends without draining again': {
    given: { status: { phase: 'Recovering' } },
    then: ['phase: Recovering, a new drain'],
  },
}

describe('what a request under way covers', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    const { underWay, status, deleted, asked } = given
    const request: NodeDisruption = {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'n', ...(deleted && { deletionTimestamp: '2026-01-01T11:00:00Z' }) },
      spec: { nodeName: 'node-a', intent: 'Reboot', honourSkipDrain: true, ...underWay },
      status: { phase: 'Waiting', ...status },
    }
    const wanted: AskedOfDrain = { intent: 'Reboot', honourSkipDrain: true, accepts: [], ...asked }
    expect(differencesFrom(request, wanted).map((each) => `${each.field}: ${each.underWay}, ${each.asked}`)).toEqual(
      then,
    )
  })
})
