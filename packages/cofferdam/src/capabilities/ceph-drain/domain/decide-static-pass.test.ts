import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideStaticPass, type StaticPassSnapshot } from './decide-static-pass.ts'
import { isUnreadyPolicyStored } from './service-budgets.ts'

const nowMs = 1_000_000
const never = Number.NEGATIVE_INFINITY

function decide(given: Partial<StaticPassSnapshot> = {}, input: Partial<StaticPassSnapshot['input']> = {}) {
  return decideStaticPass({
    nowMs,
    askedAtMs: never,
    disturbedAtMs: never,
    hasAsked: false,
    isInTurn: undefined,
    ...given,
    input: {
      cluster: { namespace: 'rook-ceph', mode: 'manage' },
      monCount: 3,
      mgrCount: 2,
      quorum: known({ mons: 3, inQuorum: 3 }),
      isSilenceBrief: false,
      filesystems: [],
      objectStores: [],
      rbdMirrors: [],
      nfs: [],
      nvmeof: [],
      filesystemMirrors: [],
      existing: [],
      ...input,
    },
  })
}

const names = ({ steps }: ReturnType<typeof decide>) => steps.map(({ name }) => name)
const writing = ['budgets', 'leave-turn', 'report']

describe('a pass over the budgets of daemons', () => {
  it('asks for the quorum first where nobody has for long', () => {
    expect(names(decide())).toEqual(['quorum'])
    expect(names(decide({ askedAtMs: nowMs - 119_000 }))).toEqual(writing)
    expect(names(decide({ askedAtMs: nowMs - 120_000 }))).toEqual(['quorum'])
  })

  it('asks every second while mons may be leaving it, or while it is unknown', () => {
    expect(names(decide({ askedAtMs: nowMs - 1_000, disturbedAtMs: nowMs - 5_000 }))).toEqual(['quorum'])
    expect(names(decide({ askedAtMs: nowMs - 999, disturbedAtMs: nowMs - 5_000 }))).toEqual(writing)
    expect(names(decide({ askedAtMs: nowMs - 1_000 }, { quorum: unknown('silent') }))).toEqual(['quorum'])
  })

  it('asks again when the clock was turned back: else nobody would know of the quorum until it has caught up (short seed 33401)', () => {
    const tomorrow = nowMs + 86_400_000
    expect(names(decide({ askedAtMs: tomorrow }))).toEqual(['quorum'])
    expect(names(decide({ askedAtMs: nowMs - 2_000, disturbedAtMs: tomorrow }))).toEqual(writing)
  })

  it('asks once: a Ceph that takes fifteen seconds to say nothing keeps no budget from being written', () => {
    const silent = { quorum: unknown('no answer within 15 s') }
    const decided = decide({ askedAtMs: nowMs - 15_000, hasAsked: true }, silent)
    expect([names(decided), decided.recheckAfterSeconds]).toEqual([writing, 5])
  })

  it('asks for no quorum where there are too few mons for one, or nothing is ours', () => {
    expect(names(decide({}, { monCount: 1 }))).toEqual(writing)
    expect(names(decide({}, { cluster: { namespace: 'rook-ceph', mode: 'observe' } }))).toEqual(writing)
  })

  it('beside OSDs decides only when nobody else works on the budgets: else it would follow a turn that is over', () => {
    expect(names(decide({ askedAtMs: nowMs, isInTurn: false }))).toEqual(['enter-turn'])
    expect(names(decide({ askedAtMs: nowMs, isInTurn: true }))).toEqual(writing)
  })

  it('looks again soon while the quorum settles, and rarely after', () => {
    expect(decide({ askedAtMs: nowMs, disturbedAtMs: nowMs }).recheckAfterSeconds).toBe(2)
    expect(decide({ askedAtMs: nowMs }).recheckAfterSeconds).toBe(120)
    expect(decide({}, { monCount: 1, mgrCount: 1 }).recheckAfterSeconds).toBeUndefined()
  })

  describe('where the API server may not have unhealthyPodEvictionPolicy', () => {
    const gateways = { monCount: 1, mgrCount: 1, objectStores: [{ name: 'shop', uid: 'u', instances: 2 }] }
    const writesOf = ({ steps }: ReturnType<typeof decide>) =>
      steps.flatMap((step) => (step.name === 'budgets' ? step.writes : []))
    const [first] = writesOf(decide({}, gateways))
    if (first?.verb !== 'create') throw new Error('a budget should be created')
    const sent = first.budget
    const { unhealthyPodEvictionPolicy, ...without } = sent.spec
    const stored = { ...sent, spec: without }

    it('a budget without it is written once, as one from before an upgrade is', () => {
      expect(unhealthyPodEvictionPolicy).toBe('AlwaysAllow')
      expect(writesOf(decide({}, { ...gateways, existing: [stored] }))).toMatchObject([{ verb: 'replace' }])
      expect(writesOf(decide({}, { ...gateways, existing: [sent] }))).toEqual([])
    })

    it('a server that drops it is not written to again: else two writes a second, for ever', () => {
      const storesUnreadyPolicy = isUnreadyPolicyStored(sent, stored)
      expect(writesOf(decide({ storesUnreadyPolicy }, { ...gateways, existing: [stored] }))).toEqual([])
      const scaled = { ...stored, spec: { ...without, minAvailable: 7 } }
      expect(writesOf(decide({ storesUnreadyPolicy }, { ...gateways, existing: [scaled] }))).toHaveLength(1)
    })

    it('budgets that were sent without it teach nothing', () => {
      expect(isUnreadyPolicyStored(stored, stored)).toBeUndefined()
      expect(isUnreadyPolicyStored(sent, sent)).toBe(true)
    })
  })
})

it('few mons beside OSDs are decided again when their time comes, though no quorum is asked for', () => {
  const beside = {
    daemons: ['a', 'b'].map((id) => ({
      type: 'mgr' as const,
      id,
      nodeName: `node-${id}`,
      isPinned: false,
      isReady: true,
    })),
    turn: { domains: [], heldNodes: { 'node-b': 'osd.1' }, openNodes: [] },
    leavingNodes: new Set(['node-a']),
    nowMs,
    memory: {},
    headStarts: {},
  }
  const present = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'rook-ceph-mgr-pdb', namespace: 'rook-ceph' },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'rook-ceph-mgr' } } },
  }
  const { recheckAfterSeconds } = decide({}, { monCount: 1, beside, existing: [present] } as never)
  expect(recheckAfterSeconds).toBe(3)
})
