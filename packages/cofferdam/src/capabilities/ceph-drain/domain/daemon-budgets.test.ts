import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { type BesideOsds, parseExempt } from './daemon-budgets.ts'
import { decideStaticBudgets } from './static-budgets.ts'

const nowMs = 90_000

interface Scenario {
  /** Node of each mon. */
  readonly mons?: Readonly<Record<string, string>>
  readonly down?: readonly string[]
  readonly leaving?: readonly string[]
  /** Nodes with OSDs that may not go; undefined when nobody has decided yet. */
  readonly held?: readonly string[] | undefined
  /** `0 without a`, `1`; what the budget says now. */
  readonly present?: string
  /** Nodes with OSDs that may go and have not gone. */
  readonly open?: readonly string[]
  readonly headStarts?: BesideOsds['headStarts']
  readonly memory?: BesideOsds['memory']
  readonly nowMs?: number
}

function present(words: string): PodDisruptionBudget {
  const [max, without] = words.split(' without ')
  const matchExpressions = [{ key: 'ceph_daemon_id', operator: 'NotIn', values: without?.split(',') ?? [] }] as const
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'rook-ceph-mon-pdb', namespace: 'rook-ceph' },
    spec: {
      maxUnavailable: Number(max),
      selector: { matchLabels: { app: 'rook-ceph-mon' }, ...(without === undefined ? {} : { matchExpressions }) },
    },
  }
}

function decide(scenario: Scenario) {
  const mons = scenario.mons ?? { a: 'node-a', b: 'node-b', c: 'node-c' }
  const { down = [], leaving = [] } = scenario
  const held = 'held' in scenario ? scenario.held : ['node-a', 'node-b', 'node-c']
  const count = Object.keys(mons).length
  return decideStaticBudgets({
    cluster: { namespace: 'rook-ceph', mode: 'manage' },
    monCount: count,
    mgrCount: 1,
    quorum: known({ mons: count, inQuorum: count, out: [] }),
    isSilenceBrief: false,
    filesystems: [],
    objectStores: [],
    rbdMirrors: [],
    nvmeof: [],
    filesystemMirrors: [],
    nfs: [],
    existing: scenario.present === undefined ? [] : [present(scenario.present)],
    beside: {
      daemons: Object.entries(mons).map(([id, nodeName]) => ({
        type: 'mon',
        id,
        nodeName,
        isPinned: true,
        isReady: !down.includes(id),
      })),
      turn: held && {
        domains: [],
        heldNodes: Object.fromEntries(held.map((node) => [node, 'osd.0'])),
        openNodes: scenario.open ?? [],
      },
      leavingNodes: new Set(leaving),
      nowMs: scenario.nowMs ?? nowMs,
      memory: scenario.memory ?? {},
      headStarts: scenario.headStarts ?? {},
    },
  })
}

function inWords({ desired, daemonBudgets }: ReturnType<typeof decide>): string {
  const { maxUnavailable, selector } = desired[0]?.spec ?? {}
  const without = selector?.matchExpressions?.[0]?.values?.join()
  const { loose } = daemonBudgets.mon ?? {}
  return `${maxUnavailable}${without === undefined ? '' : ` without ${without}`}; loose on ${loose === undefined ? 'unknown' : `[${loose.join()}]`}`
}

it('a head start that was noted before the clock was turned back counts from now: else the mon would be held for a day', () => {
  const given: Scenario = { held: ['node-b', 'node-c'], open: ['node-a'], leaving: ['node-a'], present: '0' }
  const { mon } = decide({ ...given, headStarts: { 'node-a': nowMs + 86_400_000 } }).daemonBudgets
  expect([mon?.headStarts, mon?.recheckAfterMs]).toEqual([{ 'node-a': nowMs }, 20_000])
})

const rows: Record<string, { given: Scenario; then: string }> = {
  'mons on nodes without OSDs: a number says how many may go, as Rook has it': {
    given: { held: [], present: '0' },
    then: '1; loose on [node-a,node-b,node-c]',
  },
  'mons beside OSDs in calm times: none may be the first to go, or it would be gone while another node takes the turn':
    {
      given: { present: '0' },
      then: '0; loose on []',
    },
  'the turn came to node-a, which is drained: its mon may go and no other': {
    given: { held: ['node-b', 'node-c'], leaving: ['node-a', 'node-b'], present: '0' },
    then: '0 without a; loose on [node-a]',
  },
  'the OSDs of node-a may go and have not: its mon lets them go ahead, or they would report that they leave to mons that elect':
    {
      given: { held: ['node-b', 'node-c'], open: ['node-a'], leaving: ['node-a'], present: '0' },
      then: '0; loose on []',
    },
  'the OSDs of node-a are leaving for some seconds: its mon still waits': {
    given: {
      held: ['node-b', 'node-c'],
      open: ['node-a'],
      leaving: ['node-a'],
      present: '0',
      headStarts: { 'node-a': nowMs - 19_000 },
    },
    then: '0; loose on []',
  },
  'the OSDs of node-a stay where they are, because it only reboots: its mon does not wait for ever': {
    given: {
      held: ['node-b', 'node-c'],
      open: ['node-a'],
      leaving: ['node-a'],
      present: '0',
      headStarts: { 'node-a': nowMs - 20_000 },
    },
    then: '0 without a; loose on [node-a]',
  },
  'the mon of node-a may go already when the operator is restarted: that is not withdrawn': {
    given: { held: ['node-b', 'node-c'], open: ['node-a'], leaving: ['node-a'], present: '0 without a' },
    then: '0 without a; loose on [node-a]',
  },
  'the turn came to node-a, which nobody drains: its mon stays under the budget': {
    given: { held: ['node-b', 'node-c'], present: '0' },
    then: '0; loose on []',
  },
  'another mon is out: that of the drained node stays, or the quorum would be lost': {
    given: { held: ['node-b', 'node-c'], leaving: ['node-a'], down: ['c'], present: '0 without a' },
    then: '0; loose on [node-a]',
  },
  'the mon has left: the others are held, and nobody waits for it to be seen': {
    given: { held: ['node-b', 'node-c'], leaving: ['node-a'], down: ['a'], present: '0 without a' },
    then: '0; loose on []',
  },
  'two mons may go and one can be spared: one at a time, each for its time': {
    given: { held: ['node-c'], leaving: ['node-a', 'node-b'], present: '0', nowMs: 90_000 },
    then: '0 without b; loose on [node-b]',
  },
  'the same in its next time: first nobody may go, since the first could have left unseen': {
    given: { held: ['node-c'], leaving: ['node-a', 'node-b'], present: '0 without b', nowMs: 120_000 },
    then: '0; loose on [node-b]',
  },
  'a moment later: still nobody': {
    given: {
      held: ['node-c'],
      leaving: ['node-a', 'node-b'],
      present: '0',
      nowMs: 122_000,
      memory: { mon: { withdrawn: ['b'], withdrawnAtMs: 120_000 } },
    },
    then: '0; loose on [node-b]',
  },
  'when all has been seen: the next one': {
    given: {
      held: ['node-c'],
      leaving: ['node-a', 'node-b'],
      present: '0',
      nowMs: 123_000,
      memory: { mon: { withdrawn: ['b'], withdrawnAtMs: 120_000 } },
    },
    then: '0 without a; loose on [node-a]',
  },
  'five mons: two of them may be away': {
    given: {
      mons: { a: 'node-a', b: 'node-b', c: 'node-c', d: 'node-d', e: 'node-e' },
      held: ['node-c', 'node-d', 'node-e'],
      leaving: ['node-a', 'node-b'],
      present: '0',
    },
    then: '0 without a,b; loose on [node-a,node-b]',
  },
  'a mon of a node without OSDs beside others with them: it goes when its node is cordoned': {
    given: { held: ['node-a', 'node-b'], leaving: ['node-c'], present: '0' },
    then: '0 without c; loose on [node-c]',
  },
  'a budget that Rook left at 1 is closed first, and nobody is left out before that is seen': {
    given: { held: ['node-b', 'node-c'], leaving: ['node-a'], present: '1' },
    then: '0; loose on [node-b,node-c]',
  },
  'nobody has decided about OSDs yet, as after a restart: the budget stays as it is': {
    given: { held: undefined, present: '0 without a' },
    then: '0 without a; loose on unknown',
  },
  'nobody has decided about OSDs yet, and there is no budget: no mon may go': {
    given: { held: undefined },
    then: '0; loose on unknown',
  },
}

describe('the budget of mons beside OSDs', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
    expect(inWords(decide(given))).toBe(then)
  })
})

it('a budget that leaves out none by name leaves out none: an edit by hand must not free a mon', () => {
  const edited = present('0 without a')
  const matchExpressions = [{ key: 'ceph_daemon_id', operator: 'NotIn' as const }]
  expect(parseExempt({ ...edited, spec: { ...edited.spec, selector: { matchExpressions } } })).toEqual([])
})
