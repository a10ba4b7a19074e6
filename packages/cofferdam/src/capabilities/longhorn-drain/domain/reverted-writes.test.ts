import type { LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { ownBudgetLabel } from './budget-object.ts'
import { decideLonghornDrain } from './decide.ts'
import { parseRevertedRecord } from './reverted-record.ts'
import { explainReverted, findReverted, type OwnWrites, rememberOwnWrites } from './reverted-writes.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

/** The only copy of v is on n1, which is cordoned: it is to leave, and the budgets of all nodes stay. */
const decision = decideLonghornDrain(
  longhornFixture({
    policy: 'block-for-eviction',
    nodes: { n1: { isCordoned: true }, n2: {} },
    volumes: { v: { copies: { n1: 'healthy' } } },
  }),
)

function replica(evictionRequested: boolean, uid = 'u1'): LonghornReplica {
  return {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Replica',
    metadata: { name: 'v-n1', uid },
    spec: { volumeName: 'v', nodeID: 'n1', evictionRequested },
  }
}

function budget(uid: string, labels: Readonly<Record<string, string>> = ownBudgetLabel): PodDisruptionBudget {
  const selector = { matchLabels: { 'longhorn.io/component': 'instance-manager' } }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'im-n1', uid, labels },
    spec: { minAvailable: 1, selector },
  }
}

const raised: OwnWrites = {
  flags: new Map([['v-n1', { uid: 'u1', isRequested: true }]]),
  budgets: new Map([['im-n1', 'b1']]),
}
const whole = { replicas: [replica(true)], budgets: [budget('b1')] }

describe('what somebody else undid', () => {
  const table: Record<string, readonly [OwnWrites, typeof whole, readonly string[]]> = {
    'nothing, while all is as it was written': [raised, whole, []],
    'a flag that is down again: the replica would never leave': [
      raised,
      { ...whole, replicas: [replica(false)] },
      ['the eviction of replica v-n1 was cancelled'],
    ],
    'a budget that is gone: the only copy was held by nothing': [
      raised,
      { ...whole, budgets: [] },
      ['budget im-n1 of node n1 was deleted'],
    ],
    'a budget that was deleted and made anew by another': [
      raised,
      { ...whole, budgets: [budget('b2', {})] },
      ['budget im-n1 of node n1 was deleted'],
    ],
    'nothing of another replica of the same name': [raised, { ...whole, replicas: [replica(false, 'u2')] }, []],
    'nothing that we never wrote': [
      { flags: new Map(), budgets: new Map() },
      { replicas: [replica(false)], budgets: [] },
      [],
    ],
    'nothing that the decision does not ask for any more': [
      { flags: new Map([['v-n1', { uid: 'u1', isRequested: false }]]), budgets: new Map() },
      whole,
      [],
    ],
  }
  it.each(Object.entries(table))('%s', (_, [written, seen, expected]) => {
    expect(findReverted(written, seen, decision).map(({ what }) => what)).toEqual(expected)
  })

  it('is remembered as ours only as long as it stands, so one undoing is one alarm', () => {
    const after = rememberOwnWrites(raised, { replicas: [replica(false)], budgets: [budget('b2', {})] })
    expect([[...after.flags], [...after.budgets]]).toEqual([[], []])
    expect(rememberOwnWrites({ flags: raised.flags, budgets: new Map() }, whole)).toEqual(raised)
  })

  it('is told with who did it where that is known, and with what to do', () => {
    const [flag] = findReverted(raised, { ...whole, replicas: [replica(false)] }, decision)
    const [gone] = findReverted(raised, { ...whole, budgets: [] }, decision)
    if (flag === undefined || gone === undefined) throw new Error('nothing was found')
    expect(explainReverted(flag, 'longhorn-manager')).toBe(
      'In mode owner, the eviction of replica v-n1 was cancelled by "longhorn-manager". The replica does not leave its node. Cofferdam writes it again. Stop the client that does this, or set cofferdam.io/manage=guide.',
    )
    expect(explainReverted(gone, undefined)).toContain('the audit log of Kubernetes shows which one')
  })
})

it.each(['', 'nonsense', '{}', 'null', '{"at":"yesterday","says":"x"}', '{"at":"1970-01-01T00:00:00Z","says":7}'])(
  'a record that is none, as %j, is not told',
  (text) => {
    expect(parseRevertedRecord(text, 0)).toBeUndefined()
  },
)
