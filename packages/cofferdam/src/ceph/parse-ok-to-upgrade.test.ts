import { describe, expect, it } from 'vitest'
import { askOkToUpgrade } from './ok-to-upgrade.ts'
import { parseOkToUpgrade } from './parse-ok-to-upgrade.ts'
import { readSample, readSampleText } from './testing/read-sample.ts'
import { scriptCeph } from './testing/scripted-ceph.ts'

const yes = readSample('tentacle-ok-to-upgrade-host') as Record<string, unknown>
const answer = (given: { osds?: number[]; upgraded?: number[]; versionless?: number[] }) => ({
  known: true,
  value: { kind: 'answer', osds: [], upgraded: [], versionless: [], ...given },
})

describe('osd ok-to-upgrade', () => {
  const cases: Record<string, { code?: number; out?: unknown; err?: string; then: object }> = {
    'a yes of a real Ceph names who may stop, in its own order': { out: yes, then: answer({ osds: [1, 0] }) },
    'a no of a real Ceph lets nobody stop': {
      code: 16,
      out: readSample('tentacle-osd0-down-ok-to-upgrade-notok'),
      then: answer({}),
    },
    'a report that is wrapped in its own name is read all the same': {
      out: { ok_to_upgrade: yes },
      then: answer({ osds: [1, 0] }),
    },
    'those that run the version already, and those that do not say, are told apart': {
      out: { ...yes, osds_ok_to_upgrade: [1], osds_upgraded: [0], bad_no_version: [7] },
      then: answer({ osds: [1], upgraded: [0], versionless: [7] }),
    },
    'a bucket that is done needs nobody to stop': {
      out: { ...yes, ok_to_upgrade: false, all_osds_upgraded: true, osds_ok_to_upgrade: [], osds_upgraded: [1, 0] },
      then: answer({ upgraded: [1, 0] }),
    },
    'a Ceph without the command says so, and the question can be put in another way': {
      code: 22,
      err: 'command not known',
      then: { known: true, value: { kind: 'no-such-question', why: 'command not known' } },
    },
    'a bucket that is gone is no answer': {
      code: 2,
      err: '"rack-9" does not exist\n',
      then: { known: false, why: 'osd ok-to-upgrade ended with 2: "rack-9" does not exist' },
    },
    'a yes that names nobody is no answer': {
      out: { ...yes, osds_ok_to_upgrade: [] },
      then: { known: false, why: 'osd ok-to-upgrade says yes and names no OSD' },
    },
    'a yes about an OSD from elsewhere is no answer': {
      out: { ...yes, osds_ok_to_upgrade: [1, 8] },
      then: { known: false, why: 'osd ok-to-upgrade speaks of osd.8, which is not in the bucket' },
    },
    'half an answer is none': {
      out: '{"ok_to_upgrade":true',
      then: {
        known: false,
        why: 'the answer to osd ok-to-upgrade cannot be used: it is no whole JSON (21 characters)',
      },
    },
  }
  it.each(Object.entries(cases))('%s', (_, { code = 0, out = '', err = '', then }) => {
    const text = typeof out === 'string' ? out : JSON.stringify(out)
    expect(parseOkToUpgrade({ code, out: text, err })).toEqual(then)
  })

  it('is asked for a bucket, a version and at most so many', async () => {
    const ceph = scriptCeph(() => readSampleText('tentacle-ok-to-upgrade-host'))
    await askOkToUpgrade(ceph, { bucket: 'node-1', version: '20.2.5-9-g1234abc', max: 4 })
    expect(ceph.asked).toEqual([
      { prefix: 'osd ok-to-upgrade', crush_bucket: 'node-1', ceph_version: '20.2.5-9-g1234abc', max: 4 },
    ])
  })
})
