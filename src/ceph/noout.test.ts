import { describe, expect, it } from 'vitest'
import { isSameJson } from '../api/json.ts'
import { CofferdamError } from '../errors.ts'
import { applyNoout } from './noout.ts'
import { scriptCeph } from './testing/scripted-ceph.ts'

describe('noout', () => {
  it('is set and unset bucket by bucket, with who as a list', async () => {
    const ceph = scriptCeph(() => '')
    expect(await applyNoout(ceph, { set: ['zone-a', 'zone-b'], unset: ['zone-c'] })).toEqual({
      set: ['zone-a', 'zone-b'],
      unset: ['zone-c'],
      gone: [],
      failed: [],
    })
    expect(ceph.asked).toEqual([
      { prefix: 'osd set-group', flags: 'noout', who: ['zone-a'] },
      { prefix: 'osd set-group', flags: 'noout', who: ['zone-b'] },
      { prefix: 'osd unset-group', flags: 'noout', who: ['zone-c'] },
    ])
  })

  it('on a bucket that was removed is reported as gone, and the others are done all the same', async () => {
    const ceph = scriptCeph(({ who }) =>
      isSameJson(who, ['old']) ? { code: 22, out: '', err: 'invalid osd id or name' } : '',
    )
    expect(await applyNoout(ceph, { set: [], unset: ['old', 'zone-c'] })).toEqual({
      set: [],
      unset: ['zone-c'],
      gone: ['old'],
      failed: [],
    })
  })

  it('that we may not set is reported with the reason', async () => {
    const ceph = scriptCeph(() => ({ code: 13, out: '', err: 'access denied\n' }))
    expect(await applyNoout(ceph, { set: ['zone-a'], unset: [] })).toEqual({
      set: [],
      unset: [],
      gone: [],
      failed: [{ bucket: 'zone-a', wanted: 'set', why: 'osd set-group ended with 13: access denied' }],
    })
  })

  it('stops when Ceph falls silent, and says what was not done', async () => {
    const silent = new CofferdamError('CEPH_UNREACHABLE', 'no answer')
    const ceph = scriptCeph((_, count) => (count === 1 ? '' : silent))
    expect(await applyNoout(ceph, { set: ['a', 'b'], unset: ['c'] })).toEqual({
      set: ['a'],
      unset: [],
      gone: [],
      failed: [
        { bucket: 'b', wanted: 'set', why: 'no answer' },
        { bucket: 'c', wanted: 'unset', why: 'no answer' },
      ],
    })
    expect(ceph.asked).toHaveLength(2)
  })

  it('passes a bug on', async () => {
    const bug = new TypeError('x is undefined')
    await expect(
      applyNoout(
        scriptCeph(() => bug),
        { set: ['a'], unset: [] },
      ),
    ).rejects.toBe(bug)
  })
})
