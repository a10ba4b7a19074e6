import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { planLonghornHandOver } from './hand-over.ts'
import type { LonghornHandOverSnapshot } from './hand-over-snapshot.ts'
import { judgeInstanceManagers } from './instance-manager-cover.ts'
import { holdBudget, type LonghornScene, longhornBudget, longhornObjects } from './testing/longhorn-objects.ts'

type Setting = ReturnType<typeof longhornObjects>['settings'][number]

const all = 'block-for-eviction'
const last = 'block-if-contains-last-replica'
const guided = { manage: 'guide' } as const
const pair = { db: { on: ['n1', 'n2'] } } as const

const seen = (scene: LonghornScene = {}, more: Partial<LonghornHandOverSnapshot> = {}): LonghornHandOverSnapshot => ({
  direction: 'adopt',
  namespace: 'longhorn-system',
  longhorn: known(longhornObjects({ volumes: pair, ...scene })),
  places: ['longhorn-system'],
  isOperatorRunning: true,
  isGuarded: true,
  missingRights: known([]),
  managerImages: ['longhornio/longhorn-manager:v1.12.1'],
  wants: { mode: 'guide' },
  ...more,
})
const releasing = (scene: LonghornScene = {}, more: Partial<LonghornHandOverSnapshot> = {}) =>
  seen({ notes: guided, ...scene }, { direction: 'release', wants: {}, ...more })

interface Row {
  readonly given: LonghornHandOverSnapshot
  readonly blocked?: readonly string[]
  /** What each warning says. */
  readonly warned?: Readonly<Record<string, RegExp>>
  readonly changes?: readonly string[]
  readonly pending?: readonly RegExp[]
}

const holding = { manage: 'hold', 'wanted-policy': all } as const
const toHold = { wants: { mode: 'hold', policy: all } } as const
const toGuide = ['annotation cofferdam.io/manage: guide']
const toNone = ['annotation cofferdam.io/manage removed']

const rows: Record<string, Row> = {
  'all is well: one patch says who is in charge': { given: seen(), changes: toGuide },
  'with a policy and a trigger they are in the same patch, so that no drain meets half of it': {
    given: seen({}, { wants: { mode: 'guide', policy: all, trigger: 'drain' } }),
    changes: [
      'annotation cofferdam.io/manage: guide',
      `annotation cofferdam.io/wanted-policy: ${all}`,
      'annotation cofferdam.io/trigger: drain',
    ],
  },
  'only drains shall count, but the setting moves at every cordon: Longhorn would move all the same': {
    given: seen({ policy: all }, { wants: { mode: 'guide', trigger: 'drain' } }),
    warned: { policy: /Longhorn moves replicas at every cordon/ },
    changes: [...toGuide, 'annotation cofferdam.io/trigger: drain'],
  },
  'done: nothing is missing, and nothing is patched again': { given: seen({ notes: guided }) },
  'in the middle of a drain the policy is put in force first, and it is not done before': {
    given: seen({ nodes: { n1: { cordoned: true }, n2: {}, n3: {} } }, { wants: { mode: 'guide', policy: all } }),
    warned: { drains: /in progress for n1\. block-for-eviction is in force while node n1 leaves/ },
    changes: [...toGuide, `annotation cofferdam.io/wanted-policy: ${all}`],
    pending: [/setting\/node-drain-policy is not changed yet: block-for-eviction is in force/],
  },
  'interrupted after the patch: it waits, and patches nothing again': {
    given: seen({
      nodes: { n1: { cordoned: true }, n2: {}, n3: {} },
      notes: { ...guided, 'wanted-policy': all },
    }),
    warned: { drains: /in progress for n1/ },
    pending: [/setting\/node-drain-policy is not changed yet/],
  },
  'a node that a volume wants to leave is asked for, and it is not done before': {
    given: seen({
      nodes: { n1: { cordoned: true }, n2: {}, n3: {} },
      notes: guided,
      volumes: { db: { on: ['n1', 'n2'], label: all } },
    }),
    warned: { drains: /Volume db must leave node n1.*n1 is held/ },
    pending: [/node\/n1 is not changed yet: Volume db must leave node n1/],
  },
  'a namespace without Longhorn: the annotation would be written nowhere': {
    given: seen({}, { namespace: 'storage', longhorn: undefined }),
    blocked: ['longhorn'],
  },
  'Longhorn is in another namespace: the command for that one is named, and nothing is written': {
    given: seen({}, { longhorn: undefined, places: ['storage'] }),
    blocked: ['longhorn'],
  },
  'Longhorn in two namespaces: the operator would change neither, so nothing is handed over': {
    given: seen({}, { longhorn: unknown('it is in two'), places: ['longhorn-system', 'storage'] }),
    blocked: ['longhorn'],
  },
  'Longhorn that may not be read is not taken for one that is well': {
    given: seen({}, { longhorn: unknown('volumes is forbidden') }),
    blocked: ['longhorn'],
  },
  'no operator: nothing would follow drains': {
    given: seen({}, { isOperatorRunning: false }),
    blocked: ['operator'],
    changes: toGuide,
  },
  'the operator lacks a right: it would leave a policy in force that it cannot restore': {
    given: seen({}, { missingRights: known(['patch nodes.longhorn.io']) }),
    blocked: ['rights'],
    changes: toGuide,
  },
  'whether it has its rights may not be asked: it is said, and not taken for a no': {
    given: seen({}, { missingRights: unknown('forbidden') }),
    warned: { rights: /not known/ },
    changes: toGuide,
  },
  'no manager: nothing would act on what the guide asks for': {
    given: seen({ manager: { managerSets: [], managerPods: [] } }),
    blocked: ['manager'],
    changes: toGuide,
  },
  'a manager whose pods do not run, as during an upgrade: it is said': {
    given: seen({ manager: { managerSets: [{ metadata: { name: 'longhorn-manager' } }], managerPods: [] } }),
    warned: { manager: /none of its pods runs/ },
    changes: toGuide,
  },
  'a Longhorn that was never judged may keep budgets in another way: it is said': {
    given: seen({}, { managerImages: ['registry:5000/longhornio/longhorn-manager:v1.13.0@sha256:0'] }),
    warned: { version: /Longhorn v1\.13\.0: Cofferdam knows the drains of Longhorn 1\.6 to 1\.12/ },
    changes: toGuide,
  },
  'the version that Longhorn gives itself counts before its image': {
    given: seen({ settings: { 'current-longhorn-version': 'v1.5.4' } }),
    warned: { version: /v1\.5\.4/ },
    changes: toGuide,
  },
  'images of two versions: an upgrade is under way, and it is said': {
    given: seen({}, { managerImages: ['a:v1.8.1', 'a:v1.9.0'] }),
    warned: { version: /upgrade is under way/ },
    changes: toGuide,
  },
  'no word on which Longhorn it is: it is said': {
    given: seen({}, { managerImages: [] }),
    warned: { version: /unknown/ },
    changes: toGuide,
  },
  'faulted and degraded volumes are named': {
    given: seen({
      volumes: { a: { on: ['n1', 'n2'], robustness: 'degraded' }, b: { on: ['n2', 'n3'], robustness: 'faulted' } },
    }),
    warned: { volumes: /faulted: b; degraded: a/ },
    changes: toGuide,
  },
  'no replica may be copied: every drain that moves would wait for ever': {
    given: seen({ settings: { 'concurrent-replica-rebuild-per-node-limit': '0' } }),
    warned: { settings: /no replica is ever copied/ },
    changes: toGuide,
  },
  'the same where it is a number for each data engine': {
    given: seen({ settings: { 'concurrent-replica-rebuild-per-node-limit': '{"v1":"5","v2":"0"}' } }),
    warned: { settings: /no replica is ever copied/ },
    changes: toGuide,
  },
  'cordoned nodes take replicas: one may be copied back to the node it leaves': {
    given: seen({ settings: { 'disable-scheduling-on-cordoned-node': 'false' } }),
    warned: { settings: /copied back/ },
    changes: toGuide,
  },
  'strict-local volumes are named, and the drain they would hold too': {
    given: seen({ volumes: { local: { on: ['n2'], isStrictLocal: true } } }),
    warned: { pinned: /local/, preflight: /1 of 3 nodes would be held in a drain: n2: Replica local-n2/ },
    changes: toGuide,
  },
  'a last copy that the policy does not move would hold its node: it is known before the drain': {
    given: seen({ volumes: { solo: { on: ['n3'] } } }),
    warned: { preflight: /n3: Replica solo-n3 is the last protected copy/ },
    changes: toGuide,
  },
  'a last copy that the wanted policy moves would not': {
    given: seen({ volumes: { solo: { on: ['n3'] } } }, { wants: { mode: 'guide', policy: all } }),
    changes: [...toGuide, `annotation cofferdam.io/wanted-policy: ${all}`],
  },
  'a setting that is none of the policies: it is said what it means': {
    given: seen({ policy: 'sometimes' }),
    warned: { policy: /no node with replicas would be let go/, preflight: /n1: The drain policy/ },
    changes: toGuide,
  },
  'a mark that makes no sense: it is said that nothing is put back by itself': {
    given: seen({ notes: { ...guided, restores: 'sometimes' } }),
    warned: { policy: /unknown/, marks: /nothing is put back/, preflight: /policy for volume db is unknown/ },
  },
  'held: every budget that the decision needs is made before it is done, and none where nothing rests on the node': {
    given: seen({}, toHold),
    changes: ['annotation cofferdam.io/manage: hold', `annotation cofferdam.io/wanted-policy: ${all}`],
    pending: [
      /poddisruptionbudget\/cofferdam-hold-im-n1 for node n1 is not there yet/,
      /poddisruptionbudget\/cofferdam-hold-im-n2 for node n2 is not there yet/,
    ],
  },
  'held without the eviction guard: it is said that drains may give up on a pod under two budgets': {
    given: seen({ notes: { manage: 'hold' } }, { wants: { mode: 'hold' }, isGuarded: false }),
    warned: { guard: /not registered; without it kubectl drain may give up/ },
  },
  'guided without the eviction guard: there is no second budget, so nothing is said': {
    given: seen({ notes: guided }, { isGuarded: false }),
  },
  'held, and one of its budgets is there: the other is missing': {
    given: seen({ notes: holding, budgets: [holdBudget('n2')] }, toHold),
    pending: [/cofferdam-hold-im-n1/],
  },
  'held, and all of them are there: nothing is missing': {
    given: seen({ notes: holding, budgets: [holdBudget('n1'), holdBudget('n2')] }, toHold),
  },
  'held where Longhorn has the same reasons: no second budget is waited for, which evictions would fail on': {
    given: seen({ volumes: { solo: { on: ['n1'] } }, notes: { manage: 'hold' } }, { wants: { mode: 'hold' } }),
    warned: { preflight: /n1: Replica solo-n1 is the last/ },
  },
  'held, and another client has taken the name: it is said, and not taken for protection': {
    given: seen(
      {
        notes: holding,
        budgets: [{ ...holdBudget('n1'), metadata: { name: 'cofferdam-hold-im-n1' } }, holdBudget('n2')],
      },
      toHold,
    ),
    pending: [/cofferdam-hold-im-n1 for node n1 is not one of Cofferdam: delete it/],
  },
  'held in the middle of a drain that Longhorn has let go: its budget is made again by Cofferdam': {
    given: seen({ nodes: { n1: { cordoned: true, hasBudget: false }, n2: {}, n3: {} }, notes: holding }, toHold),
    warned: { drains: /in progress for n1\. block-for-eviction is in force.*n1 is held/ },
    pending: [/cofferdam-hold-im-n1/, /cofferdam-hold-im-n2/, /setting\/node-drain-policy is not changed yet/],
  },
  'from hold to guide: it is not done while a budget of Cofferdam still holds a node': {
    given: seen({ notes: holding, budgets: [holdBudget('n1')] }, { wants: { mode: 'guide' } }),
    changes: toGuide,
    pending: [/cofferdam-hold-im-n1 is still there/],
  },
  'released while Cofferdam alone holds a node that Longhorn has let go and should hold now: it is said that nothing will':
    {
      given: releasing({
        notes: { manage: 'hold' },
        nodes: { n1: { cordoned: true, hasBudget: false }, n2: {}, n3: {} },
        volumes: { solo: { on: ['n1'] } },
        budgets: [holdBudget('n1')],
      }),
      warned: { drains: /Longhorn has no budget for n1, and makes none for a cordoned node/ },
      changes: toNone,
      pending: [/cofferdam-hold-im-n1 is still there/],
    },
  'released: one patch, and the policy stays for the next time': {
    given: releasing({ notes: { ...guided, 'wanted-policy': all } }),
    changes: toNone,
  },
  'released, and all is done: nothing is missing': { given: releasing({ notes: {} }) },
  'released in the middle of a drain: it says which nodes Longhorn lets go, and which moves stop': {
    given: releasing({
      policy: all,
      notes: { ...guided, 'wanted-policy': all, restores: last, 'put-in-force': all },
      nodes: { n1: { cordoned: true }, n2: {}, n3: {} },
      volumes: { db: { on: ['n1!', 'n2'] } },
    }),
    warned: {
      drains:
        /in progress for n1\. Longhorn releases n1 under block-if-contains-last-replica.*Replicas stop moving off n1/,
    },
    changes: toNone,
    pending: [/setting\/node-drain-policy is not restored: it is block-for-eviction instead of block-if-/],
  },
  'released in the middle of a drain that Longhorn holds too: it goes on': {
    given: releasing({ nodes: { n1: { cordoned: true }, n2: {}, n3: {} }, volumes: { solo: { on: ['n1'] } } }),
    warned: { drains: /in progress for n1\. Longhorn holds the same nodes under block-if-contains-last-replica$/ },
    changes: toNone,
  },
  'released while a node is asked for: it is not done before that is taken back, or its replicas would go for good': {
    given: releasing({
      nodes: { n1: { cordoned: true, evict: true, asked: '{"disks":{"d":{"allowScheduling":true}}}' }, n2: {}, n3: {} },
      volumes: { db: { on: ['n1!', 'n2'], label: all } },
    }),
    warned: { drains: /Longhorn releases n1.*Replicas stop moving off n1/ },
    changes: toNone,
    pending: [/node\/n1 is not restored/],
  },
  'released while a budget of Cofferdam is left: its node would be held for ever': {
    given: releasing({ notes: {}, budgets: [holdBudget('n1')] }),
    pending: [/poddisruptionbudget\/cofferdam-hold-im-n1 is still there/],
  },
  'released while a right is missing: it is said, and goes on as far as it can': {
    given: releasing({}, { missingRights: known(['patch nodes.longhorn.io']) }),
    warned: { rights: /may not patch/ },
    changes: toNone,
  },
  'released while no manager runs: it is said, and goes on': {
    given: releasing({ manager: { managerSets: [], managerPods: [] } }),
    warned: { manager: /no Longhorn manager/ },
    changes: toNone,
  },
}

describe('a hand-over of drains', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, blocked = [], warned = {}, changes = [], pending = [] }) => {
    const plan = planLonghornHandOver(given)
    const inState = (state: string) => plan.checks.filter((check) => check.state === state)
    expect(inState('blocked').map(({ what }) => what)).toEqual(blocked)
    expect(Object.fromEntries(inState('warning').map(({ what, says }) => [what, says]))).toEqual(
      Object.fromEntries(Object.entries(warned).map(([what, says]) => [what, expect.stringMatching(says)])),
    )
    expect(plan.changes).toEqual(changes)
    expect(plan.patch === undefined).toBe(changes.length === 0)
    expect(plan.pending).toEqual(pending.map((pattern) => expect.stringMatching(pattern)))
  })

  it('writes against what it has read: another client who changes the setting meanwhile is not overwritten', () => {
    expect(planLonghornHandOver(seen()).patch).toEqual({
      metadata: { annotations: { 'cofferdam.io/manage': 'guide' }, resourceVersion: '7' },
    })
  })
})

describe('the way out', () => {
  const checkOf = (what: string, given: LonghornHandOverSnapshot) =>
    planLonghornHandOver(given).checks.find((check) => check.what === what)

  it('names the namespace where Longhorn is: with another the command would never work', () => {
    const given = seen({}, { longhorn: undefined, places: ['storage'] })
    expect(checkOf('longhorn', given)).toMatchObject({ wayOut: 'cofferdam adopt longhorn/storage' })
  })

  it('of two Longhorns names both, and how to find the one that runs', () => {
    const given = seen({}, { longhorn: unknown('it is in two'), places: ['a', 'b'] })
    expect(checkOf('longhorn', given)).toMatchObject({
      says: expect.stringContaining('(a, b)'),
      wayOut: expect.stringContaining('kubectl get daemonsets -A -l app=longhorn-manager'),
    })
  })

  it.each([
    ['longhorn-system', /^apply deploy\/longhorn$/],
    ['storage', /^apply deploy\/longhorn\/rights with an overlay that says namespace: storage/],
  ])('of missing rights in %s: the part as it is would grant them in longhorn-system only', (namespace, wayOut) => {
    const given = seen({}, { namespace, places: [namespace], missingRights: known(['patch nodes.longhorn.io']) })
    expect(checkOf('rights', given)).toMatchObject({ wayOut: expect.stringMatching(wayOut) })
  })
})

describe('a moment without protection', () => {
  const pod = (node: string): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `im-${node}`,
      labels: { 'longhorn.io/component': 'instance-manager', 'longhorn.io/node': node },
    },
    spec: { nodeName: node, containers: [] },
    status: { phase: 'Running' },
  })
  const before = new Set(['im-n1 on n1', 'im-n2 on n2'])
  const lost = (scene: LonghornScene | undefined) =>
    judgeInstanceManagers(before, {
      pods: [pod('n1'), pod('n2')],
      budgets: [longhornBudget('n2')],
      longhorn: scene && longhornObjects({ nodes: { n1: { cordoned: true, hasBudget: false }, n2: {} }, ...scene }),
    }).lost

  it('is one in which an instance manager has lost its budget though its node is held', () => {
    expect(lost({ volumes: { solo: { on: ['n1'] } } })).toEqual(['im-n1 on n1'])
  })

  it('names a pod that is bound to no node as such', () => {
    const { nodeName: _, ...spec } = pod('n1').spec
    const { lost: named } = judgeInstanceManagers(new Set(['im-n1 on no node']), {
      pods: [{ ...pod('n1'), spec }],
      budgets: [],
      longhorn: undefined,
    })
    expect(named).toEqual(['im-n1 on no node'])
  })

  it('is none where nothing holds the node: Longhorn lets it go so that it can be drained', () => {
    expect(lost({ volumes: pair })).toEqual([])
  })

  it('is one where Longhorn cannot be read, since the budget may have been needed', () => {
    expect(lost(undefined)).toEqual(['im-n1 on n1'])
  })
})

describe('a setting as others left it', () => {
  const changed = (change: (setting: Setting) => object, more: Partial<LonghornHandOverSnapshot> = {}) => {
    const objects = longhornObjects({ volumes: pair })
    const settings = objects.settings.map((setting) => change(setting)) as Setting[]
    return planLonghornHandOver(seen({}, { longhorn: known({ ...objects, settings }), ...more }))
  }

  it('without annotations and a version is patched all the same', () => {
    const { patch } = changed(({ metadata: { name }, ...setting }) => ({ ...setting, metadata: { name } }))
    expect(patch).toEqual({ metadata: { annotations: { 'cofferdam.io/manage': 'guide' } } })
  })

  it('is given to nobody where no mode is asked for', () => {
    expect(changed((setting) => setting, { wants: {} }).changes).toEqual([])
  })
})

it('a policy that cannot be put back is told in its own words when drains are released', () => {
  const { pending } = planLonghornHandOver(releasing({ notes: { ...guided, restores: 'often' } }))
  expect(pending).toEqual([expect.stringMatching(/node-drain-policy is not restored: .*none of/)])
})

it('nodes that Longhorn holds by a policy of its own that cannot be read are said to be held by that', () => {
  const { checks } = planLonghornHandOver(
    releasing({ policy: 'often', nodes: { n1: { cordoned: true }, n2: {}, n3: {} } }),
  )
  expect(JSON.stringify(checks)).toContain('under its own policy')
})

it('a request that another client withdrew is shown as given up, also where the spec of the node is gone', () => {
  const asked = '{"disks":{"d":{"allowScheduling":true}}}'
  const objects = longhornObjects({
    nodes: { n1: { cordoned: true, asked }, n2: {}, n3: {} },
    notes: guided,
    volumes: pair,
  })
  const bare = objects.nodes.map((node) => ({ ...node, spec: undefined })) as unknown as typeof objects.nodes
  for (const nodes of [objects.nodes, bare]) {
    const { pending } = planLonghornHandOver(seen({}, { longhorn: known({ ...objects, nodes }) }))
    expect(pending.join()).toContain('node/n1 is not changed yet')
  }
})
