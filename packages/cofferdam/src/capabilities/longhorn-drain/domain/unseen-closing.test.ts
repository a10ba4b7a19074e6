import { describe, expect, it } from 'vitest'
import { closingOf } from '../../../shared/closed-node.ts'
import { known } from '../../../shared/observed.ts'
import { decideLonghornDrain } from './decide.ts'
import { withLingeringBudgets } from './lingering.ts'
import type { LonghornSnapshot } from './snapshot.ts'
import { type Fixture, gist, longhornFixture, type NodeSetting } from './testing/longhorn-fixture.ts'

const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' as const }]
const withClosing = (spec: Parameters<typeof closingOf>[0]['spec'] & object): NodeSetting => {
  const closing = closingOf({ spec })
  return closing === undefined ? {} : { isCordoned: true, closing }
}
const tainted = withClosing({ taints })
const seenToo = withClosing({ taints, unschedulable: true })
const three = { db: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } } } as const

function seen(n1: NodeSetting, fixture: Partial<Fixture> = {}): LonghornSnapshot {
  const snapshot = longhornFixture({
    policy: 'block-for-eviction',
    nodes: { n1, n2: {}, n3: {} },
    volumes: three,
    ...fixture,
  })
  return {
    ...snapshot,
    settings: { ...snapshot.settings, ...(fixture.mode === undefined ? {} : { mode: fixture.mode }) },
  }
}

const blockersOf = (snapshot: LonghornSnapshot) => decideLonghornDrain(snapshot).nodes[0]?.blockers ?? []

describe('a node that a taint alone closes, which Longhorn does not see', () => {
  it('no replica of it is asked to leave before it is cordoned: its replacement was built on the same node, again and again', () => {
    expect(gist(decideLonghornDrain(seen(tainted)))).toEqual({
      kept: 'im-n1 im-n2 im-n3',
      flags: '',
      mayDrain: 'n1: TaintNotSeen',
    })
    expect(gist(decideLonghornDrain(seen(seenToo)))).toMatchObject({
      flags: '+db-n1 EvictionAutomatic',
      mayDrain: 'n1: ReplicaMustLeave',
    })
  })

  it('is not said to be copied or free: its drain hung while the event said that a replica was being copied', () => {
    const blockers = blockersOf(seen(tainted, { mode: 'guide' }))
    expect(blockers).toEqual([
      {
        object: 'node/n1',
        volume: '',
        reason: 'TaintNotSeen',
        explanation:
          'Node n1 is closed by taint karpenter.sh/disrupted (Karpenter), which Longhorn does not see: it goes by cordons alone, keeps its budgets on the node and moves no replica.',
        wayOut:
          'Cofferdam cordons it next. If it does not, see the events of setting node-drain-policy, or kubectl cordon n1.',
      },
    ])
    const [budget] = decideLonghornDrain(seen(tainted)).budgets
    expect(budget).toMatchObject({ instanceManager: 'im-n1', wanted: 'present', reason: 'TaintNotSeen' })
  })

  it('is held though nothing on it needs it: Longhorn has a budget on every open node', () => {
    const snapshot = seen(tainted, { volumes: {}, mode: 'observe' })
    expect(gist(decideLonghornDrain(snapshot))).toMatchObject({
      kept: 'im-n1 im-n2 im-n3',
      mayDrain: 'n1: TaintNotSeen',
    })
  })

  it('with the autoscaler of the cluster in mind, Longhorn holds it only by what is on it', () => {
    const free = seen(tainted, { isAutoscaled: true, policy: 'block-if-contains-last-replica' })
    expect(gist(decideLonghornDrain(free)).mayDrain).toBe('n1: yes')
    expect(blockersOf(seen(tainted, { isAutoscaled: true })).map(({ reason }) => reason)).toEqual([
      'TaintNotSeen',
      'ReplicaMustLeave',
    ])
  })

  it('protects no copy of others: it is being emptied, whatever Longhorn sees', () => {
    const volumes = { db: { copies: { n1: 'healthy', n2: 'healthy' } } } as const
    const snapshot = longhornFixture({ nodes: { n1: tainted, n2: { isCordoned: true } }, volumes })
    expect(decideLonghornDrain(snapshot).nodes.map(({ node, reason }) => [node, reason])).toEqual([
      ['n1', 'TaintNotSeen'],
      ['n2', 'LastReplica'],
    ])
  })

  const ways: Record<string, { given: LonghornSnapshot; then: string }> = {
    'where Cofferdam only observes: cordon it': {
      given: seen(tainted, { mode: 'observe' }),
      then: 'kubectl cordon n1; with cofferdam.io/manage=guide Cofferdam does so for the time of the drain.',
    },
    'where another client uncordoned it: cordon it again': {
      given: seen({ ...tainted, ownCordon: 'lifted' }, { mode: 'guide' }),
      then: 'kubectl cordon n1; another client uncordoned it, so Cofferdam does not cordon it again until the taint is gone.',
    },
    'where a drain has to begin first: wait for it': {
      given: seen(tainted, { mode: 'guide', trigger: 'drain' }),
      then: 'Cofferdam cordons it when its drain starts; to begin now: kubectl cordon n1.',
    },
    'where the policy is unknown: correct it': {
      given: seen(tainted, { mode: 'guide', policy: 'whatever', inForce: known('always-allow') }),
      then: 'Correct the drain policy, so that Cofferdam cordons the node, or kubectl cordon n1.',
    },
    'where its taints cannot be read: correct them': {
      given: seen(withClosing({ taints: [null] as never }), { mode: 'guide' }),
      then: 'Correct the taints of the node, or kubectl cordon n1.',
    },
  }
  it.each(Object.entries(ways))('the way out %s', (_name, { given, then }) =>
    expect(blockersOf(given)[0]?.wayOut).toBe(then),
  )
})

it('a budget of ours that is still there is the operator’s to remove, and one of Longhorn is Longhorn’s', () => {
  const told = (n1: object) => {
    const snapshot = longhornFixture({
      nodes: { n1: { isCordoned: true, ...n1 }, n2: {} },
      volumes: { db: { copies: { n1: 'healthy', n2: 'healthy' } } },
    })
    return withLingeringBudgets(snapshot, decideLonghornDrain(snapshot)).nodes.flatMap(({ blockers }) =>
      blockers.map(({ object, wayOut }) => `${object}: ${wayOut}`),
    )
  }
  expect(told({ hasBudget: false, isHeld: true })).toEqual([
    'pdb/longhorn-system/cofferdam-hold-im-n1: The operator removes it next.',
  ])
  expect(told({})).toEqual(['pdb/longhorn-system/im-n1: Longhorn removes it next.'])
})
