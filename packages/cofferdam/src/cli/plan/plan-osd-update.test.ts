import { join } from 'node:path'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { exampleCluster } from '../../capabilities/osd-update/domain/testing/example-cluster.ts'
import { noCluster, plan, samples } from '../testing/plan-from-files.ts'
import { runCommand } from '../testing/run-command.ts'
import { cephAnswersOf, withCephFiles } from '../testing/write-ceph-files.ts'
import { createPlanCommand } from './plan.ts'
import type { OsdUpdatePlan } from './plan-osd-update-text.ts'

async function planOf(...argv: string[]): Promise<OsdUpdatePlan> {
  const { out } = await plan('-o', 'json', ...argv)
  return JSON.parse(out) as OsdUpdatePlan
}

describe('plan osd-update, from what a real Ceph printed', () => {
  it('says of a healthy cluster in few lines what an update takes', async () => {
    expect(await plan('--from', join(samples, 'healthy'), '--max-parallel', '4')).toEqual({
      code: 0,
      err: '',
      out: [
        '12 OSDs in 6 rounds',
        '',
        '  limit         4 in parallel',
        '  lower bound   6 rounds, so no plan is shorter: osd.0, osd.2, osd.4 and 3 more share, each with each other, a placement group that can lose only one copy',
        '  found by      host by host (0 s of CPU)',
        '  by hand       6 rounds, host by host',
        "  Rook's way    6 rounds, at most 4 in parallel",
        '  time          about 9m; an estimate: 60 s restart and 30 s peering per round',
        '',
        'ROUND  OSDS  IDS    HOSTS',
        '1      2     0 1    r0h0',
        '2      2     2 3    r0h1',
        '3      2     4 5    r1h0',
        '4      2     6 7    r1h1',
        '5      2     8 9    r2h0',
        '6      2     10 11  r2h1',
        '',
      ].join('\n'),
    })
  })

  it('gives programs exactly the fields that are documented, as JSON and as YAML', async () => {
    const expected = {
      rounds: [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
        [8, 9],
        [10, 11],
      ],
      lowerBound: {
        rounds: 6,
        why: 'osd.0, osd.2, osd.4 and 3 more share, each with each other, a placement group that can lose only one copy',
      },
      rookRounds: 6,
      cpuSeconds: 0,
      blocked: [],
    }
    const argv = ['--from', join(samples, 'healthy'), '--max-parallel', '100%']
    const { out } = await plan(...argv, '-o', 'json')
    expect(JSON.parse(out)).toStrictEqual(expected)
    expect(load((await plan(...argv, '-o', 'yaml')).out)).toStrictEqual(expected)
  })

  it('takes 15 % of all OSDs in parallel, here one, unless told', async () => {
    const { rounds, lowerBound } = await planOf('--from', join(samples, 'healthy'))
    expect(rounds.map(({ length }) => length)).toEqual(Array(12).fill(1))
    expect(lowerBound).toEqual({ rounds: 12, why: '12 OSDs are to be updated, at most 1 in parallel' })
  })

  it.each([
    { sample: 'osd-0-down', because: 'an OSD is down, and all other hosts have the last copies that may be missing' },
    { sample: 'host-down', because: 'a host is down' },
  ])('ends with 3 when $because: only that host is in a round', async ({ sample }) => {
    const { code, out } = await plan('--from', join(samples, sample), '--max-parallel', '4')
    expect(code).toBe(3)
    expect(out).toMatch(/^2 OSDs in 1 round\n/)
    expect(out).toContain(
      '\n1      2     0 1  r0h0\n\n10 OSDs must not stop now\nOSD     WHY\nosd.2   placement group ',
    )
    const { rounds, blocked } = await planOf('--from', join(samples, sample), '--max-parallel', '4')
    expect({ rounds, blocked: blocked.map(({ osd }) => osd) }).toEqual({
      rounds: [[0, 1]],
      blocked: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    })
    for (const { why } of blocked)
      expect(why).toMatch(/^placement group \d\.[0-9a-f]+ of pool (rep|ec) has 2 whole copies up and must keep 2/)
  })

  it('blocks everything when a reserve is asked for that nobody has', async () => {
    const { rounds, lowerBound, blocked } = await planOf('--from', join(samples, 'healthy'), '--reserve', '1')
    expect({ rounds, lowerBound, blocked: blocked.length }).toEqual({
      rounds: [],
      lowerBound: { rounds: 0, why: 'nothing is left to update' },
      blocked: 12,
    })
    const { code, out } = await plan('--from', join(samples, 'healthy'), '--reserve', '1')
    expect(code).toBe(3)
    expect(out).toMatch(/^0 OSDs in 0 rounds\n/)
  })

  it('begins with a single OSD, with canaries', async () => {
    const { rounds } = await planOf('--from', join(samples, 'healthy'), '--max-parallel', '4', '--canary')
    expect(rounds.map(({ length }) => length)).toEqual([1, 1, 2, 2, 2, 2, 2])
    expect(rounds.flat().sort((a, b) => a - b)).toEqual([...Array(12).keys()])
  })
})

describe('plan osd-update, of a generated cluster', () => {
  const random = seededRandom(7)
  const map = exampleCluster(
    { hosts: 12, osdsPerHost: 6, racks: 4, pools: [{ size: 3, minSize: 2, pgCount: 400 }] },
    () => random.next(),
  )
  const answers = cephAnswersOf(map)

  it('shows the first rounds, what they touch, and where the rest is', async () => {
    const { code, out } = await withCephFiles(answers, (from) =>
      plan('--from', from, '--max-parallel', '5', '--cpu-seconds', '0'),
    )
    const lines = out.split('\n')
    expect(code).toBe(0)
    expect(lines[0]).toMatch(/^72 OSDs in 1[5-8] rounds$/)
    const table = lines.slice(lines.findIndex((line) => line.startsWith('ROUND')))
    expect(table).toHaveLength(1 + 10 + 1 + 1)
    expect(table.at(-2)).toMatch(/^and [5-8] more rounds; -o json has them all$/)
  })

  it('does one rack after the other when that order is asked for', async () => {
    const racks = exampleCluster(
      { hosts: 8, osdsPerHost: 2, racks: 4, pools: [{ size: 3, minSize: 2, pgCount: 100, domain: 'rack' }] },
      () => random.next(),
    )
    const rackOf = (osd: number) => Math.floor(osd / 2) % 4
    const { rounds } = await withCephFiles(cephAnswersOf(racks), (from) =>
      planOf('--from', from, '--max-parallel', '2', '--order', 'by-domain'),
    )
    expect(rounds.map((osds) => [...new Set(osds.map(rackOf))])).toEqual([[0], [0], [1], [1], [2], [2], [3], [3]])
  })

  it('keeps a copy on each site of a stretch cluster, which its pools tell of', async () => {
    const stretch = (answers['osd-pool-ls-detail.json'] as object[]).map((pool) => ({
      ...pool,
      peering_crush_bucket_count: 2,
      peering_crush_bucket_barrier: 3,
    }))
    const argv = (from: string) => ['--from', from, '--max-parallel', '100%', '--cpu-seconds', '0']
    const { blocked } = await withCephFiles({ ...answers, 'osd-pool-ls-detail.json': stretch }, (from) =>
      planOf(...argv(from)),
    )
    expect(blocked.length).toBeGreaterThan(0)
    for (const { why } of blocked) expect(why).toContain('has its last copy of a site there')
    expect((await withCephFiles(answers, (from) => planOf(...argv(from)))).blocked).toEqual([])
  })

  it('searches no longer than it may', async () => {
    let ms = 0
    const command = createPlanCommand({ clock: realClock, ...noCluster, cpuMs: () => (ms += 10) })
    const { out } = await withCephFiles(answers, (from) =>
      runCommand(
        command,
        'plan',
        'osd-update',
        '--from',
        from,
        '--max-parallel',
        '100%',
        '--cpu-seconds',
        '0.5',
        '-o',
        'json',
      ),
    )
    const { cpuSeconds } = JSON.parse(out) as OsdUpdatePlan
    expect(cpuSeconds).toBe(ms / 1000 - 0.01)
    expect(cpuSeconds).toBeLessThanOrEqual(0.53)
  })
})

describe('plan osd-update, wrong usage', () => {
  it.each([
    [['--max-parallel', '0'], 'it is a whole number of at least 1, or a percentage from 1% to 100%'],
    [['--max-parallel', '150%'], 'it is a whole number of at least 1, or a percentage from 1% to 100%'],
    [['--max-parallel', '1.5'], 'it is a whole number of at least 1, or a percentage from 1% to 100%'],
    [['--max-parallel', '-3'], 'it is a whole number of at least 1, or a percentage from 1% to 100%'],
    [['--max-parallel', 'abc'], 'it is a whole number of at least 1, or a percentage from 1% to 100%'],
    [['--reserve', '-1'], 'a reserve is a whole number from 0 to 16'],
    [['--cpu-seconds', '1e9'], 'it is a number of seconds from 0 to 3600'],
    [['--order', 'random'], 'Allowed choices are fewest-rounds, by-domain'],
    [['extra'], 'too many arguments'],
    [['--from', samples, '--cluster-name', 'a'], '--cluster-name is for a live cluster, --from reads files'],
    [['--from', samples, '--ceph-conf', 'a'], '--ceph-conf is for a live cluster, --from reads files'],
  ])('%j ends with 2', async (argv, says) => {
    const { code, out, err } = await plan(...argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(says)
  })

  it('plan alone, and a plan of something else, say what there is', async () => {
    const command = createPlanCommand({ clock: realClock, ...noCluster, cpuMs: () => 0 })
    const alone = await runCommand(command, 'plan')
    expect({ code: alone.code, out: alone.out }).toEqual({ code: 2, out: '' })
    expect(alone.err).toContain('osd-update [options]')
    const other = await runCommand(command, 'plan', 'nothing')
    expect({ code: other.code, out: other.out }).toEqual({ code: 2, out: '' })
    expect(other.err).toContain("unknown command 'nothing'")
  })
})
