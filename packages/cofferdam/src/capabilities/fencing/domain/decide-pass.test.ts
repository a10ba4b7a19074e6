import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { decideFencing } from './decide.ts'
import { decideFencingPass } from './decide-pass.ts'
import { marks } from './marks.ts'
import { buildNodeLease } from './node-lease.ts'
import { type FencingObjects, parseFencing } from './parse-fencing.ts'
import type { SeenFencing } from './pass-snapshot.ts'
import { fencesText } from './recorded-fences.ts'
import type { FencingStep } from './steps.ts'
import {
  applyDecision,
  exampleCluster,
  exampleNode,
  exampleRequest,
  nodesCheck,
  rebootsOf,
  settled,
  smallFencing,
  startMs,
  workersCheck,
} from './testing/small-fencing.ts'

const nodes = ['a', 'b', 'c']
const unclean = exampleCluster(nodes, {
  evidence: known({ polledAtMs: startMs, isClean: known(false), upOsds: new Set([0, 1, 2]) }),
})
const calm = settled(smallFencing())
/** Labels and a closed budget are there, and now Ceph is clean. */
const closed: FencingObjects = {
  ...settled(smallFencing({ clusters: [unclean] })),
  clusters: [exampleCluster(nodes)],
}
const announced = [{ namespace: 'openshift-machine-api', name: calm.budgets[0]?.metadata.name ?? '' }]

function seen(objects: FencingObjects, change: Partial<SeenFencing> = {}): SeenFencing {
  return {
    state: 'seen',
    seen: parseFencing(objects),
    budgets: objects.budgets,
    foreign: [],
    unlabelled: new Set(),
    isFresh: true,
    announced: undefined,
    unheld: [],
    heard: { problems: [], recheckAfterSeconds: undefined },
    ...change,
  }
}

function inWords(step: FencingStep): string {
  if (step.do === 'ask') return step.what === 'before' ? 'ask before' : `ask, ${step.announced.length} announced`
  if (step.do === 'hold') return step.what
  if (step.do === 'report') return `report ${step.what}`
  return step.what === 'gate' ? step.change.kind : step.what
}

const specOf = ({ budgets }: FencingObjects, maxUnavailable: number) =>
  budgets.map((budget) => ({ ...budget, spec: { ...budget.spec, maxUnavailable } }))

/** Two nodes are sick, and Ceph is clean: one may go. */
const medik8s = { nodeHealthChecks: [nodesCheck], leases: [] }
const sick = (...names: string[]) =>
  nodes.map((name) => exampleNode(name, names.includes(name) ? { sickSinceMs: startMs - 60_000 } : {}))
const leaseOf = (node: string) => buildNodeLease({ node, nodeUid: `uid-of-${node}`, nowMs: startMs })
const fenced = (objects: FencingObjects): FencingObjects => {
  const record = new Map([['m-a', { node: 'a', bootID: 'boot-0', scope: 'a', sinceMs: startMs - 3_600_000 }]])
  const budgets = objects.budgets.map((budget) => ({
    ...budget,
    metadata: {
      ...budget.metadata,
      annotations: { ...budget.metadata.annotations, [marks.fences]: fencesText(record) as string },
    },
  }))
  return { ...objects, budgets }
}

function withoutStatus(budget: FencingObjects['budgets'][number]) {
  const { status: _, ...rest } = budget
  return rest
}

const cases: Record<string, { given: Parameters<typeof decideFencingPass>[0]; then: string[] }> = {
  'whatever is open is closed while something cannot be read': {
    given: { state: 'blind', unread: ['nodes'], budgets: calm.budgets },
    then: ['shut-budget', 'report blind'],
  },
  'what is closed stays as it is while something cannot be read': {
    given: { state: 'blind', unread: ['nodes'], budgets: closed.budgets },
    then: ['report blind'],
  },
  'a calm cluster needs nothing': { given: seen(calm), then: ['keep-budget', 'hold', 'release', 'report decision'] },
  'a budget is closed before anything is held, and nothing is announced while data is missing': {
    given: seen({ ...calm, clusters: [unclean] }),
    then: ['close-budget', 'hold', 'release', 'report decision'],
  },
  'a budget is opened in no pass that has not announced it: a drain that asked a moment ago would not know': {
    given: seen(closed),
    then: ['close-budget', 'hold', 'announce-budget', 'ask, 1 announced'],
  },
  'a budget is announced in no pass that has not read the ledger and the OSDs: a late watch would have it announced and taken back for as long as it is late':
    {
      given: seen(closed, { isFresh: false }),
      then: ['close-budget', 'hold', 'ask before'],
    },
  'what protects comes before anything is read, which takes its time': {
    given: seen({ ...calm, clusters: [unclean] }, { isFresh: false }),
    then: ['close-budget', 'hold', 'release', 'report decision'],
  },
  'once it was announced and the ledger was read, the budget is opened': {
    given: seen(closed, { announced, budgets: specOf(closed, 1) }),
    then: ['open-budget', 'release', 'note-budget', 'report decision'],
  },
  'what was announced is taken back when the storage was taken meanwhile': {
    given: seen({ ...closed, clusters: [unclean] }, { announced, budgets: specOf(closed, 1) }),
    then: ['close-budget', 'release', 'report decision'],
  },
  'a node that went on plan since it was announced is kept before its label goes: else it would be fenced while it reboots':
    {
      given: seen(
        {
          ...closed,
          clusters: [
            exampleCluster(nodes, {
              evidence: known({ polledAtMs: startMs, isClean: known(false), upOsds: new Set([1, 2]) }),
              osds: nodes.map((node, id) => ({ id, isReady: id > 0, nodeName: known(node), domain: node })),
            }),
          ],
          nodes: [exampleNode('a', { sickSinceMs: startMs }), exampleNode('b'), exampleNode('c')],
          openshiftHealthChecks: [workersCheck],
          reboots: rebootsOf(exampleRequest('a')),
        },
        { announced, budgets: specOf(closed, 1) },
      ),
      then: ['pause', 'close-budget', 'remove-labels', 'release', 'note-budget', 'report decision'],
    },
  'a budget is not opened over a machine that could not be given its label: it would not count': {
    given: seen(closed, {
      announced,
      budgets: specOf(closed, 1),
      unlabelled: new Set(Object.keys(calm.budgets[0]?.spec?.selector?.matchLabels ?? {})),
    }),
    then: ['close-budget', 'release', 'note-budget', 'report decision'],
  },
  'a budget whose announcement was refused is not opened': {
    given: seen(closed, { announced, budgets: specOf(closed, 0) }),
    then: ['close-budget', 'release', 'note-budget', 'report decision'],
  },
  'an open budget whose Ceph changed is told so and stays open: closed for a note, no machine could be fenced for a moment':
    {
      given: seen({
        ...calm,
        clusters: [
          exampleCluster(nodes, {
            evidence: known({ polledAtMs: startMs, isClean: known(true), upOsds: new Set([0, 1, 2, 3]) }),
          }),
        ],
      }),
      then: ['keep-budget', 'hold', 'release', 'note-budget', 'report decision'],
    },
  'whoever has to be kept is kept at once, and whoever may go is let go only after the ledger was read': {
    given: seen({ ...calm, ...medik8s, nodes: sick('a', 'b'), leases: [leaseOf('a')] }),
    then: ['hold-lease', 'keep-budget', 'hold', 'announce-budget', 'ask, 1 announced'],
  },
  'after the ledger was read the first may go, and the next is still kept before that': {
    given: seen({ ...calm, ...medik8s, nodes: sick('a', 'b'), leases: [leaseOf('a')] }, { announced: [] }),
    then: ['hold-lease', 'free-lease', 'release', 'report decision'],
  },
  'a fence that is over is taken off an open budget, which stays open: closed for it, no machine could be fenced': {
    given: seen(fenced(calm)),
    then: ['keep-budget', 'hold', 'announce-budget', 'ask, 1 announced'],
  },
  'a budget without a status, as an administrator restored it, is announced before it is opened': {
    given: seen(calm, { budgets: calm.budgets.map(withoutStatus) }),
    then: ['keep-budget', 'hold', 'announce-budget', 'ask, 1 announced'],
  },
  'a budget that was announced and is gone with its cluster is not written again': {
    given: seen({ ...calm, clusters: [], budgets: [] }, { announced }),
    then: [...nodes.map(() => 'remove-labels'), 'release', 'report decision'],
  },
  'a budget that was announced and deleted since is not opened: the next pass makes it closed': {
    given: seen(closed, { announced, budgets: [] }),
    then: ['release', 'note-budget', 'report decision'],
  },
  'labels that are missing are no reason to take any away': {
    given: seen(smallFencing(), { announced: [] }),
    then: ['release', 'note-budget', 'report decision'],
  },
  'labels come before the budget that counts by them': {
    given: seen(smallFencing()),
    then: ['add-labels', 'add-labels', 'add-labels', 'close-budget', 'hold', 'release', 'report decision'],
  },
  'a budget whose cluster is gone is deleted only after the ledger was read': {
    given: seen({ ...applyDecision(calm), clusters: [] }),
    then: ['hold', 'ask, 0 announced'],
  },
}

describe('the steps of a pass over all machines', () => {
  it('say nothing new on a budget before the ledger and the OSDs were read: it would be written and taken back for as long as a watch is late', () => {
    const { steps } = decideFencingPass(seen(closed, { isFresh: false }), decideFencing)
    const notes = steps.flatMap((step) => (step.do === 'write' && 'wanted' in step ? [step.wanted.notes] : []))
    expect(notes).toEqual([{}])
  })

  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(decideFencingPass(given, decideFencing).steps.map(inWords)).toEqual(then)
  })
})

it('a budget whose annotations somebody removed is written with all of them: nobody would know whose it is', () => {
  const [budget] = calm.budgets
  const { annotations: _, ...metadata } = budget?.metadata ?? { name: '' }
  const objects = { ...calm, budgets: [{ ...budget, metadata } as (typeof calm.budgets)[number]] }
  expect(applyDecision(objects).budgets[0]?.metadata.annotations).toEqual(budget?.metadata.annotations)
})

it('which machines count, and why, is written once the OSDs were read: where they could not be, each pass wrote both, without an end (seed 23410)', () => {
  const left = exampleCluster(['a', 'b'], { evidence: unclean.evidence })
  const objects = { ...settled(smallFencing({ clusters: [unclean] })), clusters: [left] }
  const closing = (isFresh: boolean) => {
    const { steps } = decideFencingPass(seen(objects, { isFresh }), decideFencing)
    const step = steps.find((each) => each.do === 'write' && each.what === 'close-budget')
    if (step?.do !== 'write' || step.what !== 'close-budget') throw new Error('no budget is closed')
    const { budget, notes = {} } = step.wanted
    return { allowed: budget.status.disruptionsAllowed, machines: budget.status.expectedMachines, notes }
  }
  expect(closing(false)).toEqual({ allowed: 0, machines: 3, notes: {} })
  expect(closing(true)).toMatchObject({ allowed: 0, machines: 2 })
  expect(Object.keys(closing(true).notes).length).toBeGreaterThan(0)
})
