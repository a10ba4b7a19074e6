import { describe, expect, it } from 'vitest'
import { known, unknown } from '../shared/observed.ts'
import { type ComparedOkToStop, compareOkToStop } from './compare-ok-to-stop.ts'
import type { StopVerdict } from './verdict.ts'

const yes: StopVerdict = { may: 'yes' }
const no: StopVerdict = { may: 'no', troubles: [{ pg: '1.0', pool: 'rbd', left: 1, floor: 2 }], troubleCount: 1 }
const damaged: StopVerdict = {
  may: 'no',
  troubles: [],
  troubleCount: 0,
  doubts: [{ pg: '1.0', pool: 'rbd', state: 'active+clean+inconsistent' }],
  doubtCount: 1,
}
const open: StopVerdict = { may: 'unknown', why: 'osd.0 went down in epoch 9' }

const nothing: ComparedOkToStop = { disagreements: [], details: [], unsure: [] }
const cases: Record<string, { given: Parameters<typeof compareOkToStop>[0]; then: ComparedOkToStop }> = {
  'two that say the same agree': {
    given: {
      verdicts: [
        { domain: 'zone-x', osds: [0], verdict: yes },
        { domain: 'zone-y', osds: [1], verdict: no },
      ],
      cephSays: { 'zone-x': known(true), 'zone-y': known(false) },
    },
    then: nothing,
  },
  'a yes of Ceph to our no, as Ceph 20.2.4 gives it, is a disagreement': {
    given: { verdicts: [{ domain: 'zone-x', osds: [0], verdict: no }], cephSays: { 'zone-x': known(true) } },
    then: { ...nothing, disagreements: ['zone-x'], details: [{ domain: 'zone-x', ours: 'no', cephs: 'yes' }] },
  },
  'a no of Ceph to our yes is a disagreement': {
    given: { verdicts: [{ domain: 'zone-x', osds: [0], verdict: yes }], cephSays: { 'zone-x': known(false) } },
    then: { ...nothing, disagreements: ['zone-x'], details: [{ domain: 'zone-x', ours: 'yes', cephs: 'no' }] },
  },
  'a yes of Ceph to a domain that we hold for a damaged copy is no disagreement, or one bad copy would be an alarm': {
    given: { verdicts: [{ domain: 'zone-x', osds: [0], verdict: damaged }], cephSays: { 'zone-x': known(true) } },
    then: { ...nothing, unsure: [{ domain: 'zone-x', why: 'a copy may be damaged' }] },
  },
  'who does not know does not disagree, and is named': {
    given: {
      verdicts: [
        { domain: 'zone-x', osds: [0], verdict: open },
        { domain: 'zone-y', osds: [1], verdict: no },
      ],
      cephSays: { 'zone-y': unknown('Ceph did not answer'), 'zone-x': known(true) },
    },
    then: {
      ...nothing,
      unsure: [
        { domain: 'zone-x', why: 'osd.0 went down in epoch 9' },
        { domain: 'zone-y', why: 'Ceph did not answer' },
      ],
    },
  },
  'a domain that only Ceph was asked about is named': {
    given: { verdicts: [], cephSays: { 'zone-x': known(true) } },
    then: {
      ...nothing,
      unsure: [{ domain: 'zone-x', why: 'it is not one of the failure domains that were checked' }],
    },
  },
  'a domain that Ceph was not asked about is nobody’s disagreement': {
    given: { verdicts: [{ domain: 'zone-x', osds: [0], verdict: no }], cephSays: {} },
    then: nothing,
  },
}

describe('our opinion and Ceph’s', () => {
  for (const [sentence, { given, then }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(compareOkToStop(given)).toEqual(then)
    })
  }
})
