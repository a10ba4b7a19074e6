import { describe, expect, it } from 'vitest'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import { type AskedOfDrain, differencesFrom, type EndingNode, endingOf, requestToFollow } from './covers-request.ts'

const reboot: AskedOfDrain = { intent: 'Reboot', honourSkipDrain: true, accepts: [] }

interface Written {
  readonly spec?: Partial<NodeDisruption['spec']> | undefined
  readonly status?: NodeDisruption['status']
  readonly deleted?: true
}

function requestOf(name: string, { spec, status, deleted }: Written = {}): NodeDisruption {
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name, ...(deleted && { deletionTimestamp: '2026-01-01T11:00:00Z' }) },
    spec: { nodeName: 'node-a', intent: 'Reboot', honourSkipDrain: true, ...spec },
    status: { phase: 'Waiting', ...status },
  }
}

interface Given {
  readonly underWay?: Partial<NodeDisruption['spec']>
  readonly status?: NodeDisruption['status']
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
}

describe('what a request under way covers', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    const { underWay, status, asked } = given
    const request = requestOf('n', { spec: underWay, status })
    const wanted: AskedOfDrain = { ...reboot, ...asked }
    expect(differencesFrom(request, wanted).map((each) => `${each.field}: ${each.underWay}, ${each.asked}`)).toEqual(
      then,
    )
  })
})

const drained = { phase: 'Drained', nodeUid: 'uid-1', bootIDBefore: 'boot-1' } as const
const held: EndingNode = { uid: 'uid-1', bootID: 'boot-1', isReady: true, isCordoned: true }

const endings: Record<string, { request: Written; node?: Partial<EndingNode>; then: string | undefined }> = {
  'one that keeps its node drained can be followed': { request: { status: drained }, then: undefined },
  'one that waits can be followed, whatever its node is like': {
    request: {},
    node: { isCordoned: false, bootID: 'boot-7' },
    then: undefined,
  },
  'one that is being cancelled gives the node back, and its pods run': {
    request: { deleted: true, status: drained },
    then: 'is being cancelled',
  },
  'one whose node is back ends without draining again': {
    request: { status: { ...drained, phase: 'Recovering' } },
    then: 'is Recovering',
  },
  'one that still says Drained right after the reboot would let a node in use be taken down once more': {
    request: { status: drained },
    node: { bootID: 'boot-2' },
    then: 'was for a reboot that has taken place',
  },
  'a reboot in the middle of a drain ends it as well': {
    request: { status: { ...drained, phase: 'Draining' } },
    node: { bootID: 'boot-2' },
    then: 'was for a reboot that has taken place',
  },
  'a node that is to be removed is drained in every boot': {
    request: { spec: { intent: 'Remove' }, status: drained },
    node: { bootID: 'boot-2' },
    then: undefined,
  },
  'a boot that is not known says nothing': { request: { status: drained }, node: { bootID: '' }, then: undefined },
  'a drain of the node that stood here before says nothing about this one, which is full of pods': {
    request: { spec: { intent: 'Replace' }, status: drained },
    node: { uid: 'uid-2' },
    then: 'was for another node of that name',
  },
  'a node that was uncordoned takes pods again, though its request still says Drained': {
    request: { status: drained },
    node: { isCordoned: false },
    then: 'has ended because the node was uncordoned',
  },
  'a cordon that is not set yet is no release': {
    request: { status: { ...drained, phase: 'Draining' } },
    node: { isCordoned: false },
    then: undefined,
  },
}

describe('whether a request ends without draining its node again', () => {
  it.each(Object.entries(endings))('%s', (_sentence, { request, node, then }) => {
    expect(endingOf(requestOf('n', request), { ...held, ...node })).toBe(then)
  })
})

describe('which of several requests for a node is followed', () => {
  const recovering = requestOf('old', { status: { phase: 'Recovering' } })
  const waiting = requestOf('young')
  const removal = requestOf('removal', { spec: { intent: 'Remove', honourSkipDrain: false } })
  const rows: Record<string, { open: NodeDisruption[]; asked?: Partial<AskedOfDrain>; standing?: string }> = {
    'none, where the only one ends: a new one waits behind it': { open: [recovering] },
    'the one that waits behind it already: a Job that is retried makes no second': {
      open: [recovering, waiting],
      standing: 'young',
    },
    'the one that covers what is asked, though another is older': {
      open: [waiting, removal],
      asked: { intent: 'Remove', honourSkipDrain: false },
      standing: 'removal',
    },
    'the oldest, to be named, where none covers what is asked': {
      open: [waiting, requestOf('younger')],
      asked: { intent: 'Remove' },
      standing: 'young',
    },
  }
  it.each(Object.entries(rows))('%s', (_sentence, { open, asked, standing }) => {
    const found = requestToFollow(open, held, { ...reboot, ...asked })
    expect(found.standing?.metadata.name).toBe(standing)
    const ended = open.includes(recovering) ? [{ request: 'old', state: 'is Recovering' }] : []
    expect(found.behind).toEqual(ended)
  })
})
