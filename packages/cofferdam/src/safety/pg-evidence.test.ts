import { describe, expect, it } from 'vitest'
import { hasAllCopies, isLastingDoubt, isStandingStill, type PgEvidence, pgEvidenceOf } from './pg-evidence.ts'

const cases: Record<string, { states: readonly string[]; then: PgEvidence }> = {
  'what is clean is complete, whatever else is done to it': {
    states: [
      'active+clean',
      'active+clean+scrubbing+deep',
      'active+clean+snaptrim_wait',
      'active+clean+remapped',
      'active+clean+laggy',
    ],
    then: 'complete',
  },
  'what only lacks OSDs is complete on those it has': {
    states: ['active+undersized', 'active+undersized+degraded', 'active+undersized+degraded+remapped'],
    then: 'complete',
  },
  'a backfill fills others than the acting OSDs': {
    states: [
      'active+remapped+backfilling',
      'active+remapped+backfill_wait',
      'active+undersized+degraded+remapped+backfilling',
      'active+forced_backfill+remapped+backfill_toofull',
    ],
    then: 'moving',
  },
  'a recovery may be about any acting OSD': {
    states: [
      'active+recovering+degraded',
      'active+recovery_wait',
      'active+recovery_unfound+degraded',
      'active+recovering+undersized+degraded+remapped',
      'active+degraded',
    ],
    then: 'doubtful',
  },
  'damage may be on any acting OSD': {
    states: [
      'active+clean+inconsistent',
      'active+clean+scrubbing+deep+inconsistent+repair',
      'active+remapped+backfill_unfound',
    ],
    then: 'doubtful',
  },
  'what serves nobody is inactive': {
    states: [
      'peering',
      'undersized+degraded+peered',
      'down',
      'incomplete',
      'activating+remapped',
      'creating+peering',
      'stale+down',
    ],
    then: 'inactive',
  },
  'what nobody answers for is inactive, though it was clean once': { states: ['stale+active+clean'], then: 'inactive' },
  'what nobody has reported is unseen': { states: ['unknown', ''], then: 'unseen' },
}

describe('what a state proves', () => {
  for (const [sentence, { states, then }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(states.map((state) => [state, pgEvidenceOf(state)])).toEqual(states.map((state) => [state, then]))
    })
  }
})

describe('doubt that lasts, and doubt that passes', () => {
  const lasting = [
    'active+clean+inconsistent',
    'active+clean+inconsistent+failed_repair',
    'active+clean+scrubbing+deep+inconsistent+repair',
    'active+recovery_toofull+degraded',
    'active+recovery_unfound+degraded',
    'active+remapped+backfill_unfound',
    'active+clean+upside_down',
  ]
  it.each(lasting)('%s stays until somebody acts, so it must hold no more than it touches', (state) => {
    expect([isLastingDoubt(state), isStandingStill(state)]).toEqual([true, true])
  })

  const passing = [
    'active+clean',
    'active+recovering+degraded',
    'active+recovery_wait',
    'active+clean+scrubbing+deep+repair',
    'active+clean+premerge',
    'active+undersized+degraded',
    'stale+active+clean+inconsistent',
    'unknown',
    '',
    'peering',
    'down',
  ]
  it.each(passing)('%s passes, or is no doubt about one placement group alone', (state) => {
    expect([isLastingDoubt(state), isStandingStill(state)]).toEqual([false, false])
  })

  it('a damaged placement group that recovers is waited for, since that ends; and what is out of reach for good is not', () => {
    expect(isStandingStill('active+recovering+degraded+inconsistent')).toBe(false)
    expect(isStandingStill('active+undersized+degraded+remapped+backfill_toofull')).toBe(true)
    expect(isStandingStill('active+remapped+backfill_toofull+backfill_wait')).toBe(false)
    expect(isStandingStill('incomplete')).toBe(true)
    expect(isStandingStill('active+recovery_wait+degraded+inconsistent')).toBe(false)
    expect(isStandingStill('active+remapped+backfilling+inconsistent')).toBe(false)
    expect(isStandingStill('stale+incomplete')).toBe(false)
    expect(isStandingStill('peered+remapped+backfill_toofull')).toBe(false)
  })

  it('a flag of a backfill does not make doubt last: the backfill ends, and the recovery beside it', () => {
    expect(isLastingDoubt('active+recovering+degraded+remapped+backfill_wait')).toBe(false)
    expect(isLastingDoubt('active+recovering+degraded+remapped+backfill_toofull')).toBe(true)
  })

  it('an OSD that is down is not needed by what has all its copies, damaged or not; by what waits for space it is', () => {
    expect(hasAllCopies('active+clean+inconsistent')).toBe(true)
    expect(hasAllCopies('active+recovery_toofull+degraded')).toBe(false)
    expect(hasAllCopies('active+undersized+degraded+inconsistent')).toBe(false)
    expect(hasAllCopies('active+clean')).toBe(false)
    expect(hasAllCopies('peered+clean+inconsistent')).toBe(false)
  })
})
