import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { ownBudgetLabel } from './budget-object.ts'
import { decideLonghornDrain } from './decide.ts'
import { explainReverted, findReverted, type OwnWrites, rememberOwnWrites } from './reverted-writes.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

const name = 'cofferdam-hold-im-n1'
const written: OwnWrites = new Map([[name, 'u1']])

function budget(uid: string, labels: Readonly<Record<string, string>> = ownBudgetLabel): PodDisruptionBudget {
  const selector = { matchLabels: { 'longhorn.io/node': 'n1' } }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, uid, labels },
    spec: { minAvailable: 1, selector },
  }
}

/** Longhorn has let the node go, and it has the only copy; or every volume has one elsewhere. */
const needed = decideLonghornDrain(
  longhornFixture({
    nodes: { n1: { isCordoned: true, hasBudget: false }, n2: {} },
    volumes: { v: { copies: { n1: 'healthy' } } },
  }),
)
const free = decideLonghornDrain(longhornFixture({ nodes: { n1: { isCordoned: true, hasBudget: false }, n2: {} } }))

describe('a budget of ours that another client deleted', () => {
  const rows: Record<string, readonly [OwnWrites, readonly PodDisruptionBudget[], typeof needed, boolean]> = {
    'is an alarm: the only copy was held by nothing meanwhile': [written, [], needed, true],
    'is an alarm also where it is back by now under the same name': [written, [budget('u2')], needed, true],
    'is none while it is there': [written, [budget('u1')], needed, false],
    'is none where nothing has to be held any more: its end was decided': [written, [], free, false],
    'is none where it was never written': [new Map(), [], needed, false],
  }
  it.each(Object.entries(rows))('%s', (_, [before, budgets, decision, isAlarm]) => {
    const reverted = findReverted(before, budgets, decision)
    expect(reverted).toEqual(isAlarm ? [{ kind: 'poddisruptionbudget', name, node: 'n1' }] : [])
  })
})

it('only budgets that carry our label are remembered as ours', () => {
  expect([...rememberOwnWrites([budget('u1')])]).toEqual([[name, 'u1']])
  expect([...rememberOwnWrites([budget('u1', {})])]).toEqual([])
})

it('an alarm names the client that did it, where that is known, and what follows', () => {
  const disk = explainReverted({ kind: 'disk', name: 'd1', node: 'n1' }, 'longhorn-ui')
  expect(disk).toBe(
    'The eviction of disk d1 on node n1 was withdrawn by "longhorn-ui". Replicas that must leave the node stay on that disk. It is not requested again in this drain.',
  )
  const gone = explainReverted({ kind: 'poddisruptionbudget', name, node: 'n1' }, undefined)
  expect(gone).toMatch(/^Budget cofferdam-hold-im-n1 of node n1 was deleted by another client; the audit log/)
})
