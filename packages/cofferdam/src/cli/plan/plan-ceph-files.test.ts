import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CephFile, cephFiles } from '../../ceph/saved/ceph-files.ts'
import { plan, samples } from '../testing/plan-from-files.ts'
import { withCephFiles } from '../testing/write-ceph-files.ts'

describe('plan osd-update, from files that cannot be used', () => {
  const good = async (file: CephFile) => JSON.parse(await readFile(join(samples, 'healthy', file), 'utf8')) as never
  const whole = async () =>
    Object.fromEntries(
      await Promise.all((Object.keys(cephFiles) as CephFile[]).map(async (file) => [file, await good(file)] as const)),
    ) as Record<CephFile, never>

  async function refusalOf(change: (answers: Record<CephFile, never>) => Partial<Record<CephFile, unknown>>) {
    const answers = await whole()
    return withCephFiles({ ...answers, ...change(answers) }, async (from) => {
      const { code, out, err } = await plan('--from', from)
      return { code, out, err: err.replaceAll(from, 'DIR') }
    })
  }

  it.each(Object.entries(cephFiles))(
    'names %s and its command when it is missing, empty, broken or of another command',
    async (file, command) => {
      const hint = `hint: ${command} -f json > DIR/${file}\n`
      const refused = (says: string) => ({ code: 1, out: '', err: `error: ${says}\n${hint}` })
      expect(await refusalOf(() => ({ [file]: undefined }))).toEqual(
        refused(`DIR has no ${file} (${command} -f json makes it)`),
      )
      expect(await refusalOf(() => ({ [file]: '\n' }))).toEqual(
        refused(`${file} is empty; ${command} -f json makes it`),
      )
      expect(await refusalOf(() => ({ [file]: '{"epoch": 3' }))).toEqual(
        refused(`${file} is not JSON, or only a part of it (11 characters); ${command} -f json makes it`),
      )
      const other = file === 'osd-tree.json' ? 'osd-dump.json' : 'osd-tree.json'
      expect(await refusalOf((answers) => ({ [file]: answers[other] }))).toEqual(
        refused(`${file} is not what ${command} -f json prints: it has what ${cephFiles[other]} prints`),
      )
      const { code, out, err } = await refusalOf(() => ({ [file]: [{ some: 'thing' }] }))
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toMatch(`error: ${file} is not what ${command} -f json prints: `)
    },
  )

  it('takes files that begin with a byte order mark or an empty line', async () => {
    const marked = (mark: string) =>
      refusalOf((answers) => ({ 'osd-tree.json': `${mark}${JSON.stringify(answers['osd-tree.json'])}` }))
    expect((await marked('\uFEFF')).code).toBe(0)
    expect((await marked('\n')).code).toBe(0)
  })

  it('an OSD that is listed twice counts once, and is named', async () => {
    const { code, out, err } = await refusalOf((answers) => {
      const dump = answers['osd-dump.json'] as { osds: unknown[] }
      return { 'osd-dump.json': { ...dump, osds: [...dump.osds, dump.osds[3]] } }
    })
    expect({ code, first: out.split('\n')[0] }).toEqual({ code: 0, first: expect.stringMatching(/^12 OSDs in /) })
    expect(err).toMatch(/warning: osd\/3: ceph osd dump lists it several times; it counts once/)
  })

  it('names all files that are missing at once', async () => {
    const { err } = await refusalOf(() => ({ 'osd-tree.json': undefined, 'osd-dump.json': undefined }))
    expect(err).toBe(
      [
        'error: DIR has no osd-dump.json (ceph osd dump -f json makes it), no osd-tree.json (ceph osd tree -f json makes it)',
        'hint: ceph osd dump -f json > DIR/osd-dump.json && ceph osd tree -f json > DIR/osd-tree.json',
        '',
      ].join('\n'),
    )
  })

  it.each([
    { from: join(samples, 'nowhere'), what: 'is not there' },
    { from: join(samples, 'healthy/osd-dump.json'), what: 'is a file' },
  ])('says so when the folder $what', async ({ from }) => {
    const { code, out, err } = await plan('--from', from)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`error: ${from}, which is no folder, has no osd-dump.json (ceph osd dump -f json makes it), `)
  })

  type Change = (answers: Record<CephFile, never>) => Partial<Record<CephFile, unknown>>
  const moments: Record<string, { readonly change: Change; readonly file: CephFile; readonly says: string }> = {
    'an OSD went down between the two': {
      change: (answers) => ({
        'osd-tree.json': replaced(answers['osd-tree.json'], '"status":"up"', '"status":"down"'),
      }),
      file: 'osd-tree.json',
      says: 'osd.0 is down in the tree and up in the OSD map of epoch 39',
    },
    'an OSD was added': {
      change: (answers) => ({
        'osd-tree.json': { ...(answers['osd-tree.json'] as object), stray: [{ id: 12, status: 'down' }] },
      }),
      file: 'osd-tree.json',
      says: 'the tree has osd.12, the OSD map of epoch 39 has not',
    },
    'an OSD was purged': {
      change: (answers) => ({
        'osd-dump.json': {
          ...(answers['osd-dump.json'] as { osds: object[] }),
          osds: [
            ...(answers['osd-dump.json'] as { osds: object[] }).osds,
            { osd: 40, up: 0, in: 0, up_from: 0, down_at: 0 },
          ],
        },
      }),
      file: 'osd-tree.json',
      says: 'the tree has no osd.40, the OSD map of epoch 39 has',
    },
    'a pool was changed later': {
      change: (answers) => ({
        'osd-pool-ls-detail.json': replaced(
          answers['osd-pool-ls-detail.json'],
          '"last_change":"39"',
          '"last_change":"41"',
        ),
      }),
      file: 'osd-pool-ls-detail.json',
      says: 'pool rep was changed in epoch 41, the OSD map is of epoch 39',
    },
    'a pool got another min_size': {
      change: (answers) => ({
        'osd-pool-ls-detail.json': replaced(answers['osd-pool-ls-detail.json'], '"min_size":2', '"min_size":1'),
      }),
      file: 'osd-pool-ls-detail.json',
      says: 'pool rep has min_size 1 here and 2 there',
    },
    'a pool is missing': {
      change: (answers) => ({ 'osd-pool-ls-detail.json': (answers['osd-pool-ls-detail.json'] as unknown[]).slice(1) }),
      file: 'osd-pool-ls-detail.json',
      says: 'it has no pool rep',
    },
    'a rule is missing': {
      change: (answers) => ({
        'osd-crush-rule-dump.json': (answers['osd-crush-rule-dump.json'] as unknown[]).slice(1),
      }),
      file: 'osd-crush-rule-dump.json',
      says: 'pool rep uses rule 0, which is not described here',
    },
    'placement groups were listed before the OSD went down': {
      change: (answers) => ({
        'osd-dump.json': replaced(answers['osd-dump.json'], '"up":1', '"up":0'),
        'osd-tree.json': replaced(answers['osd-tree.json'], '"status":"up"', '"status":"down"'),
      }),
      file: 'pg-dump-pgs_brief.json',
      says: 'is served by osd.0, which is down in the OSD map of epoch 39',
    },
    'placement groups are cut off': {
      change: (answers) => ({
        'pg-dump-pgs_brief.json': (answers['pg-dump-pgs_brief.json'] as { pg_stats: unknown[] }).pg_stats.slice(1),
      }),
      file: 'pg-dump-pgs_brief.json',
      says: 'has 32 placement groups, and 31 of them are listed',
    },
    'a placement group is listed twice': {
      change: (answers) => {
        const { pg_stats: rows } = answers['pg-dump-pgs_brief.json'] as { pg_stats: unknown[] }
        return { 'pg-dump-pgs_brief.json': [...rows, rows[0]] }
      },
      file: 'pg-dump-pgs_brief.json',
      says: 'is listed twice',
    },
    'placement groups are of another cluster': {
      change: (answers) => ({
        'pg-dump-pgs_brief.json': replaced(answers['pg-dump-pgs_brief.json'], '"acting":[5,', '"acting":[55,'),
      }),
      file: 'pg-dump-pgs_brief.json',
      says: 'is on osd.55, which the OSD map does not have',
    },
    'the full listing has a newer report than the OSD map': {
      change: (answers) => ({
        'pg-dump-pgs_brief.json': (answers['pg-dump-pgs_brief.json'] as { pg_stats: object[] }).pg_stats.map((row) => ({
          ...row,
          reported_epoch: 45,
        })),
      }),
      file: 'pg-dump-pgs_brief.json',
      says: 'was reported in epoch 45, the OSD map is of epoch 39',
    },
  }

  it.each(Object.entries(moments))('tells which file is of another moment: %s', async (_, { change, file, says }) => {
    const { code, out, err } = await refusalOf(change)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`error: ${file} (${cephFiles[file]}) does not fit osd-dump.json (ceph osd dump): `)
    expect(err).toContain(says)
    expect(err).toContain('hint: Save all five again, one right after the other')
  })

  it('waits for placement groups that the full listing shows to be older than a change', async () => {
    const rows = (answers: Record<CephFile, never>) =>
      (answers['pg-dump-pgs_brief.json'] as { pg_stats: object[] }).pg_stats.map((row) => ({
        ...row,
        reported_epoch: 12,
      }))
    const { code, out } = await refusalOf((answers) => ({ 'pg-dump-pgs_brief.json': rows(answers) }))
    expect(code).toBe(3)
    expect(out).toContain('has not reported since one of its OSDs went down or came up')
  })

  it('a stale placement group may name OSDs that are down: nobody reports it any more', async () => {
    const { code } = await refusalOf((answers) => ({
      'osd-dump.json': replaced(answers['osd-dump.json'], '"up":1', '"up":0'),
      'osd-tree.json': replaced(answers['osd-tree.json'], '"status":"up"', '"status":"down"'),
      'pg-dump-pgs_brief.json': JSON.stringify(answers['pg-dump-pgs_brief.json']).replaceAll(
        '"active+clean"',
        '"stale+active+clean"',
      ),
    }))
    expect(code).toBe(3)
  })
})

/** The text of an answer with the first of something changed. */
function replaced(answer: unknown, from: string, to: string): string {
  const text = JSON.stringify(answer)
  if (!text.includes(from)) throw new Error(`there is no ${from} to replace`)
  return text.replace(from, to)
}
