import { createHash } from 'node:crypto'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { closingOf } from '../../../shared/closed-node.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { buildHoldBudget, ownBudgetLabel } from './budget-object.ts'
import { decideLonghornDrain } from './decide.ts'
import { decideLonghornPass } from './decide-pass.ts'
import { type LonghornObjects, noLonghornObjects } from './parse-longhorn.ts'
import type { LonghornPassSnapshot } from './pass-snapshot.ts'
import { planCsiBudgets, planHoldBudgets } from './plan-budgets.ts'
import { noWrites } from './reverted-writes.ts'
import type { LonghornSnapshot } from './snapshot.ts'
import type { LonghornStep } from './steps.ts'
import { longhornFixture } from './testing/longhorn-fixture.ts'

const sha512Hex = (text: string) => createHash('sha512').update(text).digest('hex')
const nothing: LonghornObjects = { ...noLonghornObjects, namespace: 'longhorn-system', nowMs: 0 }

/** Longhorn has let n1 go, which a budget of ours holds. Its volume has another copy, so that one may go; of n3 it is missing. */
const letGo = { isCordoned: true, hasBudget: false }
const held = { ...letGo, isHeld: true }
const twoCopies = { v: { copies: { n1: 'healthy', n2: 'healthy' } } } as const
const mayGo = longhornFixture({ nodes: { n1: held, n2: {} }, volumes: twoCopies })
const oneMissing = longhornFixture({
  nodes: { n1: held, n2: {}, n3: letGo },
  volumes: { ...twoCopies, w: { copies: { n3: 'healthy' } } },
})
const lastCopy = longhornFixture({ nodes: { n1: held, n2: {} }, volumes: { v: { copies: { n1: 'healthy' } } } })

const budgetsOf = ({ holds, instanceManagers }: LonghornSnapshot): PodDisruptionBudget[] =>
  instanceManagers
    .filter(({ name }) => holds.has(name))
    .map((manager) => buildHoldBudget(manager, sha512Hex, 'longhorn-system'))
const objectsOf = (snapshot: LonghornSnapshot) => ({ ...nothing, budgets: budgetsOf(snapshot) })
const listed = (snapshot: LonghornSnapshot) => known({ objects: objectsOf(snapshot), snapshot })

const seen = (snapshot: LonghornSnapshot, change: Partial<LonghornPassSnapshot> = {}): LonghornPassSnapshot => ({
  objects: objectsOf(snapshot),
  snapshot,
  deployments: [],
  written: noWrites,
  afresh: undefined,
  attempted: new Set(),
  ...change,
})

function inWords(step: LonghornStep): string[] {
  if (step.do === 'report') return []
  if (step.do === 'ask') return [`ask ${step.from}`]
  if (step.what !== 'budgets') return [step.what]
  return step.writes.map((write) =>
    write.verb === 'create' ? `create ${write.budget.metadata.name}` : `${write.verb} ${write.seen.metadata.name}`,
  )
}

/** Karpenter empties n1, which Longhorn does not see. */
const taintedNode: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] },
}
const emptied = (mode: 'observe' | 'guide', wanted?: 'block-for-eviction'): LonghornPassSnapshot => {
  const closing = closingOf(taintedNode)
  const n1 = closing === undefined ? {} : { isCordoned: true, closing }
  const snapshot = longhornFixture({ nodes: { n1, n2: {} }, volumes: twoCopies })
  const policy = wanted === undefined ? snapshot.settings.policy : known(wanted)
  const annotations = wanted === undefined ? {} : { 'cofferdam.io/wanted-policy': wanted }
  const setting: LonghornSetting = {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Setting',
    metadata: { name: 'node-drain-policy', annotations },
    value: 'block-if-contains-last-replica',
  }
  const objects = { ...objectsOf(snapshot), kubeNodes: [taintedNode], settings: [setting] }
  return seen({ ...snapshot, settings: { ...snapshot.settings, mode, policy } }, { objects })
}
const marked = (given: LonghornPassSnapshot): LonghornPassSnapshot => {
  const metadata = { name: 'n1', annotations: { 'cofferdam.io/cordoned-by': 'longhorn-drain' } }
  const kubeNodes = [{ ...taintedNode, metadata, spec: { ...taintedNode.spec, unschedulable: true } }]
  return { ...given, objects: { ...given.objects, kubeNodes } }
}

const ownCsiBudget: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'csi-attacher', namespace: 'longhorn-system', labels: ownBudgetLabel },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'csi-attacher' } } },
}

const csiAttacher = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'csi-attacher', namespace: 'longhorn-system' },
  spec: { selector: { matchLabels: { app: 'csi-attacher' } } },
}
const withSidecar = (snapshot: LonghornSnapshot) => ({
  ...objectsOf(snapshot),
  budgets: [...budgetsOf(snapshot), ownCsiBudget],
})
const detached = (snapshot: LonghornSnapshot): LonghornSnapshot => ({
  ...snapshot,
  volumes: snapshot.volumes.map((volume) => ({ ...volume, state: 'detached' })),
})

const opened = (budget: PodDisruptionBudget) => ({ ...budget, spec: { ...budget.spec, minAvailable: 0 } })
const stranger: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'cofferdam-hold-im-n3', namespace: 'longhorn-system' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } },
}
const heldTwice = longhornFixture({
  nodes: { n1: { isCordoned: true, isHeld: true }, n2: {} },
  volumes: { v: { copies: { n1: 'healthy' } } },
})
/** The volume wants to leave before its node goes; by the setting, Longhorn would let the node go. */
const stricter = longhornFixture({
  nodes: { n1: {}, n2: {} },
  volumes: { v: { policy: 'block-for-eviction', copies: { n1: 'healthy' }, numberOfReplicas: 1 } },
  policy: 'always-allow',
})
const elsewhere: LonghornSnapshot = {
  ...stricter,
  settings: { ...stricter.settings, inForce: known('block-for-eviction') },
}

const cases: Record<string, { given: LonghornPassSnapshot; then: string[] }> = {
  'no budget is let go on what the watches show: the last copy may be on the node by now': {
    given: seen(mayGo),
    then: ['ask server'],
  },
  'what the server listed is believed: the budget goes': {
    given: seen(mayGo, { afresh: listed(mayGo) }),
    then: ['delete cofferdam-hold-im-n1'],
  },
  'the server knows that the other copy is gone: the budget stays': {
    given: seen(mayGo, { afresh: listed(lastCopy) }),
    then: [],
  },
  'nothing is let go when the server gives no answer': {
    given: seen(mayGo, { afresh: unknown('it did not answer') }),
    then: [],
  },
  'nothing is let go when the server says that we hold nothing by now: that is judged again': {
    given: seen(mayGo, { afresh: listed({ ...mayGo, settings: { ...mayGo.settings, mode: 'guide' } }) }),
    then: [],
  },
  'a budget that is missing is made before it is decided whether another may go': {
    given: seen(oneMissing),
    then: ['create cofferdam-hold-im-n3', 'ask watches'],
  },
  'while a budget is refused none is let go: the copies behind it are protected by nothing': {
    given: seen(oneMissing, { attempted: new Set(['cofferdam-hold-im-n3']) }),
    then: [],
  },
  'a budget that only the server knows to be missing is made first, and the server is asked again': {
    given: seen(mayGo, { afresh: listed(oneMissing) }),
    then: ['create cofferdam-hold-im-n3', 'ask server'],
  },
  'and while that one is refused none is let go': {
    given: seen(mayGo, { afresh: listed(oneMissing), attempted: new Set(['cofferdam-hold-im-n3']) }),
    then: [],
  },
  'a budget of a CSI sidecar whose Deployment may not be read stays: volumes could not be detached without the sidecar':
    {
      given: seen(mayGo, {
        objects: { ...objectsOf(mayGo), budgets: [...budgetsOf(mayGo), ownCsiBudget] },
        deployments: undefined,
        afresh: known({
          objects: { ...objectsOf(mayGo), budgets: [...budgetsOf(mayGo), ownCsiBudget] },
          snapshot: mayGo,
        }),
      }),
      then: ['delete cofferdam-hold-im-n1'],
    },
  'a budget of a sidecar stays while watches have a volume in use that the server lists as detached: it would be made and deleted without an end':
    {
      given: seen(mayGo, {
        objects: withSidecar(mayGo),
        deployments: [csiAttacher],
        afresh: known({ objects: withSidecar(mayGo), snapshot: detached(mayGo) }),
      }),
      then: ['delete cofferdam-hold-im-n1'],
    },
  'a budget of a sidecar goes when no volume is in use, for watches and for the server': {
    given: seen(detached(mayGo), {
      objects: withSidecar(mayGo),
      deployments: [csiAttacher],
      afresh: known({ objects: withSidecar(mayGo), snapshot: detached(mayGo) }),
    }),
    then: ['delete cofferdam-hold-im-n1', 'delete csi-attacher'],
  },
  'a budget of hold stays while watches have the only copy on its node, whatever the server lists: it would be made again':
    {
      given: seen(lastCopy, { afresh: listed(mayGo) }),
      then: [],
    },
  'where holding is not asked for any more, what is left of it goes': {
    given: seen({ ...lastCopy, settings: { ...lastCopy.settings, mode: 'observe' } }),
    then: ['delete cofferdam-hold-im-n1'],
  },
  'a budget of ours that was changed so that it holds nothing is made right again: the only copy is on the node': {
    given: seen(lastCopy, { objects: { ...nothing, budgets: budgetsOf(lastCopy).map(opened) } }),
    then: ['replace cofferdam-hold-im-n1'],
  },
  'a budget of ours goes where the one of Longhorn holds for the same reasons: under two, an eviction is an error': {
    given: seen(heldTwice, { afresh: listed(heldTwice) }),
    then: ['delete cofferdam-hold-im-n1'],
  },
  'a budget of ours is there before the cordon where Longhorn would let go at that moment': {
    given: seen(stricter),
    then: ['create cofferdam-hold-im-n1'],
  },
  'and stays while a stricter policy is in force for another node: Longhorn lets go as soon as the old one is back': {
    given: seen(elsewhere),
    then: ['create cofferdam-hold-im-n1'],
  },
  'where a stranger has the name of a budget that is needed, none of ours goes': {
    given: seen(oneMissing, { objects: { ...nothing, budgets: [...budgetsOf(mayGo), stranger] } }),
    then: ['ask server'],
  },
  'a guide makes Longhorn see the node that a taint closes': { given: emptied('guide'), then: ['closing'] },
  'but puts the wanted policy in force before that, and cordons in a later pass': {
    given: emptied('guide', 'block-for-eviction'),
    then: ['guidance'],
  },
  'where Cofferdam only observes the node is not cordoned': { given: emptied('observe'), then: [] },
  'what was cordoned is taken back though Cofferdam only observes by now': {
    given: marked(emptied('observe')),
    then: ['closing'],
  },
  'a record of a move goes with the last mode that wrote it: its estimate would be for another move some day': {
    given: seen(
      {
        ...mayGo,
        nodes: mayGo.nodes.map((node) => ({ ...node, moving: { sinceMs: 0, bytes: 1 } })),
        settings: { ...mayGo.settings, mode: 'observe' },
      },
      { objects: nothing },
    ),
    then: ['moving'],
  },
  'where Longhorn decides, nothing is written': {
    given: seen({ ...mayGo, settings: { ...mayGo.settings, mode: 'observe' } }, { objects: nothing }),
    then: [],
  },
}

describe('the steps of a pass over Longhorn', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(decideLonghornPass(given, { decide: decideLonghornDrain, sha512Hex }).steps.flatMap(inWords)).toEqual(then)
  })
})

describe('copies beyond what a volume wants', () => {
  const four = { n1: 'healthy', n2: 'healthy', n3: 'healthy', n4: 'healthy' } as const
  const wanting = (numberOfReplicas: number) =>
    longhornFixture({
      surplus: 'remove',
      nodes: { n1: {}, n2: {}, n3: {}, n4: {} },
      volumes: { v: { copies: four, numberOfReplicas } },
    })
  const replica = (name: string, more: object = { uid: `uid-${name}`, resourceVersion: '1' }) =>
    ({ apiVersion: 'longhorn.io/v1beta2', kind: 'Replica', metadata: { name, ...more } }) as never
  const removed = (shown: LonghornSnapshot, fresh: LonghornSnapshot, replicas: readonly never[]) =>
    decideLonghornPass(
      seen(shown, { afresh: known({ objects: { ...objectsOf(fresh), replicas }, snapshot: fresh }) }),
      {
        decide: decideLonghornDrain,
        sha512Hex,
      },
    ).steps.flatMap((step) =>
      step.do === 'write' && step.what === 'surplus' ? step.replicas.map(({ name }) => name) : [],
    )
  const all = ['v-n1', 'v-n2', 'v-n3', 'v-n4'].map((name) => replica(name))

  it('go one at a time for each volume, though two are too many: a copy may fail meanwhile', () => {
    expect(removed(wanting(2), wanting(2), all)).toEqual(['v-n3'])
  })

  it('do not go where only the server shows them: the next pass judges what it saw', () => {
    expect(removed(wanting(4), wanting(3), all)).toEqual([])
  })

  it('do not go without a UID and a version: another replica of that name would be deleted', () => {
    expect(removed(wanting(3), wanting(3), [replica('v-n4', {})])).toEqual([])
    expect(removed(wanting(3), wanting(3), [replica('v-n4', { uid: 'u' })])).toEqual([])
  })
})

it('a ticket that an earlier version left is taken away, against the version that was seen', () => {
  const snapshot = longhornFixture({
    nodes: { n1: {}, n2: {} },
    volumes: { v: { ...twoCopies.v, tickets: [{ id: 'cofferdam-eviction-v', type: 'x', node: 'n1' }] as never } },
  })
  const attachments = [{ metadata: { name: 'v', resourceVersion: '5' } }] as never
  const { steps } = decideLonghornPass(seen(snapshot, { objects: { ...objectsOf(snapshot), attachments } }), {
    decide: decideLonghornDrain,
    sha512Hex,
  })
  expect(steps.find((step) => step.do === 'write' && step.what === 'tickets')).toMatchObject({
    tickets: [{ volume: 'v', id: 'cofferdam-eviction-v', resourceVersion: '5' }],
  })
})

describe('what a budget of ours rests on', () => {
  const keeps = (unreadable: string) => {
    const snapshot = { ...mayGo, instanceManagers: [], unreadable: [{ object: unreadable, why: 'odd' }] }
    const plan = planHoldBudgets(
      { objects: objectsOf(mayGo), snapshot, decision: { ...decideLonghornDrain(mayGo), budgets: [] } },
      sha512Hex,
    )
    return plan.remove.length === 0
  }

  it('an instance manager that cannot be read keeps its budget, and another object keeps none', () => {
    expect([keeps('instancemanager/im-n1'), keeps('replica/im-n1')]).toEqual([true, false])
  })

  it('a budget of ours whose selector was emptied is made right: it would hold nothing', () => {
    const emptied = budgetsOf(lastCopy).map((budget) => ({ ...budget, spec: { minAvailable: 1 } }))
    const plan = planHoldBudgets(
      {
        objects: { ...nothing, budgets: emptied as never },
        snapshot: lastCopy,
        decision: decideLonghornDrain(lastCopy),
      },
      sha512Hex,
    )
    expect(plan.create.map(({ verb }) => verb)).toEqual(['replace'])
  })

  it('a budget of a sidecar that others made stays when no volume is in use', () => {
    const { labels: _, ...metadata } = ownCsiBudget.metadata
    const idle = { ...mayGo, volumes: [] }
    const remove = (budget: PodDisruptionBudget) =>
      planCsiBudgets({ objects: { ...nothing, budgets: [budget] }, snapshot: idle }, []).remove.length
    expect([remove(ownCsiBudget), remove({ ...ownCsiBudget, metadata })]).toEqual([1, 0])
  })
})
