import { expect, it } from 'vitest'
import { buildLonghornPanel } from '../../../dashboard/server/longhorn-panel-model.ts'
import { longhornSeen } from '../../../explain/testing/longhorn-objects.ts'
import type { Fixture } from '../domain/testing/longhorn-fixture.ts'
import { answerLonghorn } from './longhorn-answer.ts'
import { summarizeLonghorn } from './summarize-longhorn.ts'

const twoCopies = { n1: 'healthy', n2: 'healthy' } as const

/** What `explain node/n1`, `status` and the page say of node n1. */
function saidOf(fixture: Fixture) {
  const view = longhornSeen(fixture)
  const said = [
    answerLonghorn(view, { nodeName: 'n1', podsOnNode: [] }),
    summarizeLonghorn(view).nodes.find(({ node }) => node === 'n1'),
    buildLonghornPanel(view).places.find(({ node }) => node === 'n1')?.leaving,
  ]
  return said.map((each) => each && [each.mayDrain, each.reason])
}

const cases: Record<string, { given: Fixture; then: readonly [boolean, string] }> = {
  'is held while Longhorn cannot see that nothing holds it: status and the page said that it may go, and its pod was refused for ever':
    {
      given: {
        mode: 'observe',
        nodes: { n1: { isCordoned: true }, n2: {}, n3: { kubernetes: 'absent' } },
        volumes: { v1: { copies: { ...twoCopies, n3: 'healthy' } } },
      },
      then: [false, 'LonghornStuck'],
    },
  'is held while its budget is still there: without an operator that removes it, that lasts': {
    given: { nodes: { n1: { isCordoned: true }, n2: {} }, volumes: { v1: { copies: twoCopies } } },
    then: [false, 'ReplicasProtected'],
  },
  'may go when its budget is gone': {
    given: { nodes: { n1: { isCordoned: true, hasBudget: false }, n2: {} }, volumes: { v1: { copies: twoCopies } } },
    then: [true, 'ReplicasProtected'],
  },
}

it.each(Object.entries(cases))('a cordoned node %s', (_, { given, then }) => {
  expect(saidOf(given)).toEqual([then, then, then])
})
