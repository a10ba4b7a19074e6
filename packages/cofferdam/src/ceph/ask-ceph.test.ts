import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { describe, expect, it } from 'vitest'
import { observeOsdHosts } from './observe-osd-hosts.ts'
import { observeQuorum } from './observe-quorum.ts'
import { observeStatus } from './observe-status.ts'
import { askOkToStop } from './ok-to-stop.ts'
import { readSampleText } from './testing/read-sample.ts'
import { scriptCeph } from './testing/scripted-ceph.ts'

const silent = new CofferdamError('CEPH_UNREACHABLE', 'no answer within 15 s')
const unknown = { known: false, why: 'no answer within 15 s' }

describe('a question to Ceph', () => {
  it('about monitors is quorum_status', async () => {
    const ceph = scriptCeph(() => readSampleText('quorum-status'))
    expect(await observeQuorum(ceph)).toEqual({ known: true, value: { mons: ['a'], inQuorum: ['a'] } })
    expect(ceph.asked).toEqual([{ prefix: 'quorum_status' }])
  })

  it('about hosts is osd metadata', async () => {
    const ceph = scriptCeph(() => '[{"id":0,"hostname":"node-a"},{"id":1}]')
    expect(await observeOsdHosts(ceph)).toEqual({ known: true, value: new Map([[0, 'node-a']]) })
    expect(ceph.asked).toEqual([{ prefix: 'osd metadata' }])
  })

  it('about its health is status', async () => {
    const ceph = scriptCeph(() => readSampleText('healthy-status'))
    expect(await observeStatus(ceph)).toMatchObject({ known: true, value: { health: 'HEALTH_OK' } })
    expect(ceph.asked).toEqual([{ prefix: 'status' }])
  })

  it('about stopping OSDs names them as text, as mons want it', async () => {
    const ceph = scriptCeph(() => ({ code: 16, out: readSampleText('ok-to-stop-3-notok'), err: 'unsafe' }))
    expect(await askOkToStop(ceph, [0, 1, 2])).toEqual({ known: true, value: false })
    expect(ceph.asked).toEqual([{ prefix: 'osd ok-to-stop', ids: ['0', '1', '2'] }])
  })

  it('about stopping nothing is never asked', async () => {
    const ceph = scriptCeph(() => silent)
    expect(await askOkToStop(ceph, [])).toEqual({ known: false, why: 'osd ok-to-stop was asked about no OSD' })
    expect(ceph.asked).toEqual([])
  })

  it('that gets no answer is unknown, whatever it was', async () => {
    const ceph = scriptCeph(() => silent)
    const answers = [observeQuorum(ceph), observeOsdHosts(ceph), observeStatus(ceph), askOkToStop(ceph, [0])]
    expect(await Promise.all(answers)).toEqual([unknown, unknown, unknown, unknown])
  })

  it('that fails after something was printed is unknown: half a list would be taken for all of it', async () => {
    const ceph = scriptCeph(() => ({ code: 5, out: '[{"id":0,"hostname":"node-a"}]', err: 'interrupted\n' }))
    expect(await observeOsdHosts(ceph)).toEqual({ known: false, why: 'osd metadata ended with 5: interrupted' })
  })

  it('that meets a bug throws it', async () => {
    const bug = new TypeError('x is undefined')
    await expect(
      askOkToStop(
        scriptCeph(() => bug),
        [0],
      ),
    ).rejects.toBe(bug)
  })
})
