import { describe, expect, it } from 'vitest'
import { known, unknown } from '../shared/observed.ts'
import { explainNode } from './explain-node.ts'
import { type Verdict, verdictOf } from './judge-unread.ts'
import type { LonghornPlaces, NodeSnapshot } from './snapshot.ts'
import { instanceManager } from './testing/longhorn-objects.ts'
import { budget, node, now, pod } from './testing/sample-objects.ts'

const noNodes = 'nodes.longhorn.io: nodes.longhorn.io is forbidden'
const noReplicas = 'replicas.longhorn.io: replicas.longhorn.io is forbidden'
const notListed = unknown('they may not be read')
const web = pod('web-1')
const manager = instanceManager('worker-a1')

interface Case {
  readonly unread: readonly string[]
  readonly places: LonghornPlaces
  readonly given?: Partial<NodeSnapshot>
  readonly then: Verdict
  readonly blockers: readonly string[]
}

const cases: Record<string, Case> = {
  'a node without pods of Longhorn is not known where Longhorn is there and does not say on which nodes: it was called free, and had the last copy':
    {
      unread: [noNodes],
      places: { nodes: notListed, isInstalled: true },
      then: 'unknown',
      blockers: ['nodes.longhorn.io NotReadable: '],
    },
  'a node is free where nothing shows Longhorn, though its kinds may not be read: a cluster without it refuses them, too':
    {
      unread: [noNodes],
      places: { nodes: notListed, isInstalled: false },
      then: 'free',
      blockers: [],
    },
  'a node that Longhorn lists is not known where its replicas may not be read, though no instance manager runs there': {
    unread: [noReplicas],
    places: { nodes: known(new Set(['worker-a1'])), isInstalled: true },
    then: 'unknown',
    blockers: ['replicas.longhorn.io NotReadable: '],
  },
  'a node that Longhorn does not list is free: it has no copies': {
    unread: [noReplicas],
    places: { nodes: known(new Set(['worker-b1'])), isInstalled: true },
    then: 'free',
    blockers: [],
  },
  'a node is free where all of Longhorn was read and nothing of it is there': {
    unread: [],
    places: { nodes: known(new Set(['worker-a1'])), isInstalled: true },
    then: 'free',
    blockers: [],
  },
  'the pods that wait with the node are named once, with the list that is not readable': {
    unread: [noNodes],
    places: { nodes: notListed, isInstalled: true },
    given: {
      pods: [manager.pod],
      budgets: [
        {
          ...manager.budget,
          status: {
            observedGeneration: 1,
            disruptionsAllowed: 1,
            currentHealthy: 1,
            desiredHealthy: 0,
            expectedPods: 1,
          },
        },
      ],
    },
    then: 'unknown',
    blockers: [`nodes.longhorn.io NotReadable: pod/longhorn-system/${manager.pod.metadata.name}`],
  },
  'a node that a budget keeps is blocked, whatever could not be read': {
    unread: [noNodes],
    places: { nodes: notListed, isInstalled: true },
    given: { budgets: [budget('web', { disruptionsAllowed: 0 })] },
    then: 'blocked',
    blockers: ['pdb/shop/web BudgetExhausted: pod/shop/web-1', 'nodes.longhorn.io NotReadable: '],
  },
}

describe('may a node be drained where Longhorn may not be read', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { unread, places, given = {}, then, blockers }) => {
    const snapshot = { node: node('worker-a1'), pods: [web], budgets: [], storage: [], now, ...given }
    const answer = explainNode({ ...snapshot, unread, longhornPlaces: places })
    expect({
      verdict: verdictOf(answer),
      blockers: answer.blockers.map(({ object, reason, waiting }) => `${object} ${reason}: ${waiting.join(' ')}`),
    }).toEqual({ verdict: then, blockers })
  })
})
