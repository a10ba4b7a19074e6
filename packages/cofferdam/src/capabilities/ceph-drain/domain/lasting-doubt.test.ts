import { describe, expect, it } from 'vitest'
import type { StopVerdict } from '../../../safety/verdict.ts'
import { unknown } from '../../../shared/observed.ts'
import { decideCephDrain } from './decide.ts'
import { inWords, no, notYet, ours, type Scenario, settle, tell } from './testing/fixture.ts'

const inDoubt = (state: string): StopVerdict => ({
  may: 'no',
  troubles: [],
  troubleCount: 0,
  doubts: [{ pg: '1.f', pool: 'vm', state }],
  doubtCount: 1,
})
const damaged = inDoubt('active+clean+inconsistent')
const fourZones = { 'zone-1': [1], 'zone-2': [2], 'zone-3': [3], 'zone-4': [4] }
const dirty = (...states: readonly string[]) => ({
  pgs: { health: 'unclean' as const, dirtyStates: Object.fromEntries(states.map((state) => [state, 1])) },
})
/** 1.f has copies in zones 1 to 3, and one of them is bad. */
const oneDamaged: Scenario = {
  zones: fourZones,
  verdicts: { 'zone-1': damaged, 'zone-2': damaged, 'zone-3': damaged },
  ceph: dirty('active+clean+inconsistent'),
}

const rows: Record<string, { given: Scenario; then: readonly string[]; reason: string; open?: readonly string[] }> = {
  'one damaged placement group holds the zones that it is on, and leaves the others as they are: it may last for days':
    {
      given: oneDamaged,
      then: ['default but 1,2,3', 'zone-1', 'zone-2', 'zone-3'],
      reason: 'PgInDoubt',
    },
  'a drain of a zone that it is not on goes to its end': {
    given: {
      ...oneDamaged,
      down: [4],
      cordoned: ['node-4'],
      ceph: dirty('active+clean+inconsistent', 'active+undersized+degraded'),
    },
    then: ['zone-1', 'zone-2', 'zone-3'],
    reason: 'DomainReleased',
    open: ['zone-4'],
  },
  'that drain is over when all other data is clean again, or nobody else could ever be drained': {
    given: { ...oneDamaged, state: { openDomains: ['zone-4'] }, budgets: ours('zone-1', 'zone-2', 'zone-3') },
    then: ['default but 1,2,3', 'zone-1', 'zone-2', 'zone-3'],
    reason: 'PgInDoubt',
  },
  'that drain is not over while other data recovers': {
    given: {
      ...oneDamaged,
      ceph: dirty('active+clean+inconsistent', 'active+recovering+degraded'),
      state: { openDomains: ['zone-4'] },
      budgets: ours('zone-1', 'zone-2', 'zone-3'),
    },
    then: ['zone-1', 'zone-2', 'zone-3'],
    reason: 'RecoveryAwaited',
    open: ['zone-4'],
  },
  'a zone that it is on loses an OSD: nothing more may go there or elsewhere while data waits for it': {
    given: { ...oneDamaged, down: [1], ceph: dirty('active+undersized+degraded+inconsistent') },
    then: ['closed'],
    reason: 'PgInDoubt',
  },
  'a dead disk whose data is in place elsewhere is not needed, damaged copies or not': {
    given: { ...oneDamaged, down: [4] },
    then: ['default but 1,2,3,4', 'zone-1', 'zone-2', 'zone-3'],
    reason: 'PgInDoubt',
  },
  'a disk that went while others are too full is needed: its zone alone is open': {
    given: {
      zones: fourZones,
      down: [4],
      verdicts: { 'zone-1': inDoubt('active+recovery_toofull+degraded') },
      ceph: dirty('active+recovery_toofull+degraded'),
    },
    then: ['zone-1', 'zone-2', 'zone-3'],
    reason: 'DomainReleased',
    open: ['zone-4'],
  },
  'not to know is not a doubt about one placement group: everything is held': {
    given: { ...oneDamaged, verdicts: { ...oneDamaged.verdicts, 'zone-4': notYet } },
    then: ['closed'],
    reason: 'SafetyUnknown',
  },
  'too few copies elsewhere come first in what is told, and both are held': {
    given: { ...oneDamaged, verdicts: { 'zone-1': damaged, 'zone-2': no } },
    then: ['default but 1,2', 'zone-1', 'zone-2'],
    reason: 'TooFewCopies',
  },
}

describe('doubt about one placement group that lasts until somebody repairs it', () => {
  it.each(Object.entries(rows))('%s', (_sentence, { given, then, reason, open = [] }) => {
    const { decision } = settle(tell(given))
    expect({ budgets: inWords(decision.budgets), reason: decision.reason, open: decision.state.openDomains }).toEqual({
      budgets: then,
      reason,
      open,
    })
  })

  it('every answer agrees with the budgets, and names the placement group, its pool, its state and what to do', () => {
    const { decision } = settle(tell(oneDamaged))
    const told = decision.domains.map(({ domain, mayDrain, reason }) => `${domain} ${mayDrain} ${reason}`)
    expect(told).toEqual([
      'zone-1 false PgInDoubt',
      'zone-2 false PgInDoubt',
      'zone-3 false PgInDoubt',
      'zone-4 true SafeToDrain',
    ])
    const why =
      'placement group 1.f of pool vm is active+clean+inconsistent; to do: ceph pg repair 1.f ' +
      '(what is damaged: rados list-inconsistent-obj 1.f).'
    expect(decision.domains[0]?.explanation).toBe(`zone zone-1 must stay: ${why}`)
    expect(decision.explanation).toBe(`zone zone-1, zone-2, zone-3 must stay: ${why}`)
  })

  it.each([
    ['active+recovery_unfound+degraded', 'bring back the OSDs that have the objects of ceph pg 1.f list_unfound'],
    ['active+recovery_toofull+degraded', 'free space or add OSDs (ceph osd df)'],
    ['active+clean+upside_down', 'see ceph pg 1.f query'],
  ])('%s has its own way out', (state, wayOut) => {
    const { domains } = decideCephDrain(tell({ verdicts: { 'zone-1': inDoubt(state) }, ceph: dirty(state) }))
    expect(domains[0]?.explanation).toMatch(new RegExp(`to do: ${wayOut.replaceAll(/[()]/g, '\\$&')}\\.$`))
  })

  it('Ceph is asked at the calm pace, for nothing changes by itself', () => {
    expect(settle(tell(oneDamaged)).decision.recheckAfterSeconds).toBe(60)
  })

  it('a request that drained another node ends, and gives its keys back', () => {
    const { decision } = settle(tell(oneDamaged))
    expect(decision.isClean).toEqual({ known: true, value: true })
    const recovering = tell({ ...oneDamaged, ceph: dirty('active+clean+inconsistent', 'active+recovering+degraded') })
    expect(decideCephDrain(recovering).isClean).toEqual({ known: true, value: false })
    const unreported = tell({ ...oneDamaged, data: 'unknown', ceph: {} })
    expect(decideCephDrain(unreported).isClean).toEqual(unknown('PG 1.1b has not reported since epoch 7'))
  })
})
