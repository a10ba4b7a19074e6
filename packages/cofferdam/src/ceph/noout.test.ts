import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { describe, expect, it } from 'vitest'
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
      isSameJson(who, ['old'])
        ? { code: 22, out: '', err: 'unable to parse osd id or crush node or device class: "old". ' }
        : '',
    )
    expect(await applyNoout(ceph, { set: [], unset: ['old', 'zone-c'] })).toEqual({
      set: [],
      unset: ['zone-c'],
      gone: ['old'],
      failed: [],
    })
  })

  it('that was to be set on a bucket which Ceph denies is not known to be gone: forgotten, it would stay set for ever (short seed 27390)', async () => {
    const ceph = scriptCeph(() => ({ code: 22, out: '', err: 'Error' }))
    expect(await applyNoout(ceph, { set: ['zone-a'], unset: [] })).toEqual({
      set: [],
      unset: [],
      gone: [],
      failed: [{ bucket: 'zone-a', wanted: 'set', why: 'osd set-group ended with 22: Error' }],
    })
  })

  const namesOfOsds = ['1', '01', 'osd.1', 'all', 'any', '*']
  it.each(namesOfOsds)(
    'on a bucket called %s would be set on OSDs instead, so Ceph is not even asked',
    async (name) => {
      const ceph = scriptCeph(() => '')
      expect(await applyNoout(ceph, { set: [name, 'zone-a'], unset: [] })).toEqual({
        set: ['zone-a'],
        unset: [],
        gone: [],
        failed: [{ bucket: name, wanted: 'set', why: `Ceph takes ${name} for OSDs: give the bucket another name` }],
      })
      expect(await applyNoout(ceph, { set: [], unset: [name] })).toMatchObject({ unset: [name], failed: [] })
      expect(ceph.asked).toEqual([{ prefix: 'osd set-group', flags: 'noout', who: ['zone-a'] }])
    },
  )

  it.each(['1a', 'rack-1', 'osd.a', 'alley'])('on a bucket called %s is set as on any other', async (name) => {
    expect(
      await applyNoout(
        scriptCeph(() => ''),
        { set: [name], unset: [] },
      ),
    ).toMatchObject({ set: [name], failed: [] })
  })

  const unknownCommands = ['command not known', 'Error EINVAL: invalid command\n']
  it.each(unknownCommands)('by a command that Ceph does not have (%j) is not taken for a lost bucket', async (err) => {
    const report = await applyNoout(
      scriptCeph(() => ({ code: 22, out: '', err })),
      { set: [], unset: ['zone-a'] },
    )
    expect(report).toEqual({
      set: [],
      unset: [],
      gone: [],
      failed: [{ bucket: 'zone-a', wanted: 'unset', why: `osd unset-group ended with 22: ${err.trim()}` }],
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
