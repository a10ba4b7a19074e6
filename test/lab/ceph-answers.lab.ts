import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { askCephText } from '@cofferdam/product/ceph/ask-ceph.ts'
import type { CephCommand, CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { applyNoout } from '@cofferdam/product/ceph/noout.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { observeOsdHosts } from '@cofferdam/product/ceph/observe-osd-hosts.ts'
import { observeQuorum } from '@cofferdam/product/ceph/observe-quorum.ts'
import { observeStatus } from '@cofferdam/product/ceph/observe-status.ts'
import { parseCrush } from '@cofferdam/product/ceph/parse-crush.ts'
import { parseOkToStop } from '@cofferdam/product/ceph/parse-ok-to-stop.ts'
import { parseOsdDump } from '@cofferdam/product/ceph/parse-osd-dump.ts'
import { parseOsdMetadata } from '@cofferdam/product/ceph/parse-osd-metadata.ts'
import { parsePgDump } from '@cofferdam/product/ceph/parse-pg-dump.ts'
import { parseQuorum } from '@cofferdam/product/ceph/parse-quorum.ts'
import { parseStatus } from '@cofferdam/product/ceph/parse-status.ts'
import { parsePgText } from '@cofferdam/product/ceph/pg-parser.ts'
import type { PgTable } from '@cofferdam/product/safety/ceph-map.ts'
import { crushTypes } from '@cofferdam/product/safety/crush-types.ts'
import type { Observed } from '@cofferdam/product/shared/observed.ts'
import { type CephFixture, openCeph, smallDescription } from '@cofferdam/simulator/world/ceph/testing/ceph-fixture.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startClientLoad } from './ceph/client-load.ts'
import { obey } from './ceph/create-pools.ts'
import { jsonShapeOf, shapeGaps } from './ceph/json-shape-of.ts'
import { type CephLab, openLabCeph } from './ceph/open-lab-ceph.ts'
import { recordReads } from './ceph/record-reads.ts'
import { standingComplaints } from './ceph/start-ceph.ts'

const description = smallDescription({ mons: ['a', 'b', 'c'] })
const everyOsd = Array.from({ length: 12 }, (_, id) => id)

let lab: CephLab
let operator: CephCommands
let simulated: CephFixture
beforeAll(async () => {
  lab = await openLabCeph('ceph-answers', description)
  operator = lab.connect(lab.ceph.operator)
  // Both have objects, so that what lacks a copy can be counted in both.
  const load = startClientLoad({ ...lab, pools: ['rep', 'ec'] })
  simulated = await openCeph({ description })
  simulated.ceph.controls.tentacleOkToStop(lab.release === '20')
  await pause(2_000)
  const { writes, faults } = await load.stop()
  expect([writes > 0, faults]).toEqual([true, []])
})
afterAll(async () => {
  simulated?.stop()
  await lab?.close()
})

function sure<T>(observed: Observed<T>): T {
  if (!observed.known) throw new Error(observed.why)
  return observed.value
}

async function askJson<T>(commands: CephCommands, command: CephCommand): Promise<T> {
  return JSON.parse(await obey(commands, command)) as T
}

/** `1.1b [0,4,8] [0,4,8]` for each placement group, in order. */
function rowsOf({ count, poolIds, pgNumbers, acting, offsets, up, upOffsets }: PgTable): string[] {
  return Array.from({ length: count }, (_, row) => {
    const id = `${poolIds[row]}.${(pgNumbers[row] as number).toString(16)}`
    const members = (list: Int32Array, ends: Int32Array) => list.subarray(ends[row], ends[row + 1]).join()
    return `${id} [${members(up, upOffsets)}] [${members(acting, offsets)}]`
  }).sort()
}

describe('what the operator sees with its own rights', () => {
  it('the map has every OSD, pool, bucket and rule of the description', async () => {
    const map = sure(await observeCeph(operator))
    expect(map.osds.map(({ id, isUp, isIn }) => [id, isUp, isIn])).toEqual(everyOsd.map((id) => [id, true, true]))
    expect(map.pools).toEqual(
      description.pools.map(({ name, kind, size, minSize }, index) => ({
        id: index + 1,
        name,
        kind,
        size,
        minSize,
        crushRuleId: index + 1,
      })),
    )
    const described = sure(await observeCeph(simulated.ceph.commands))
    expect(sortedCrush(map.crush)).toEqual(sortedCrush(described.crush))
    expect(map.crush.typeOrder).toEqual(crushTypes)
    expect([map.flags.includes('noout'), map.bucketFlags]).toEqual([false, {}])
  })

  it('the placement groups are where Ceph says in its short table, whether read as JSON or as text for people', async () => {
    const brief = await askJson<{ pg_stats: { pgid: string; up: number[]; acting: number[] }[] }>(lab.ceph.commands, {
      prefix: 'pg dump',
      dumpcontents: ['pgs_brief'],
    })
    const rows = brief.pg_stats.map(({ pgid, up, acting }) => `${pgid} [${up.join()}] [${acting.join()}]`).sort()
    expect(rows).toHaveLength(64)
    expect(rowsOf(sure(await observeCeph(operator)).pgs)).toEqual(rows)
    const listing = { prefix: 'pg dump', dumpcontents: ['pgs'], format: 'plain' }
    expect(rowsOf(sure(parsePgText(await obey(operator, listing))))).toEqual(rows)
  })

  it('all daemons are there: mons in quorum, OSDs on their hosts, states of placement groups counted', async () => {
    expect(sure(await observeQuorum(operator))).toEqual({ mons: ['a', 'b', 'c'], inQuorum: ['a', 'b', 'c'] })
    const hosts = sure(await observeOsdHosts(operator))
    expect([...hosts]).toEqual(everyOsd.map((id) => [id, hostOf(id)]))
    const status = sure(await observeStatus(operator))
    const { epoch } = await askJson<{ epoch: number }>(lab.ceph.commands, { prefix: 'osd dump' })
    expect(status).toEqual({
      fsid: sure(await observeCeph(operator)).fsid,
      health: 'HEALTH_OK',
      healthChecks: standingComplaints[lab.release],
      monsInQuorum: ['a', 'b', 'c'],
      osdEpoch: epoch,
      osdCount: 12,
      upOsdCount: 12,
      inOsdCount: 12,
      pgCount: 64,
      pgsByState: { 'active+clean': 64 },
    })
  })

  it('noout is set on a bucket and taken from it, and a bucket that is not there is told apart', async () => {
    const wanted = { set: ['zone-a', 'node-2', 'nowhere'], unset: [] }
    expect(await applyNoout(operator, wanted)).toEqual({
      set: ['zone-a', 'node-2'],
      unset: [],
      gone: [],
      failed: [{ bucket: 'nowhere', wanted: 'set', why: expect.stringContaining('osd set-group ended with 22') }],
    })
    expect(sure(await observeCeph(operator)).bucketFlags).toEqual({ 'zone-a': ['noout'], 'node-2': ['noout'] })
    const undone = { set: [], unset: ['zone-a', 'node-2', 'nowhere'] }
    expect(await applyNoout(operator, undone)).toMatchObject({ unset: ['zone-a', 'node-2'], gone: ['nowhere'] })
    expect(await applyNoout(operator, { set: [], unset: ['zone-a'] })).toMatchObject({ unset: ['zone-a'], failed: [] })
    expect(sure(await observeCeph(operator)).bucketFlags).toEqual({})
  })
})

describe('what the operator may not do', () => {
  const denied: Record<string, CephCommand> = {
    'mark an OSD out': { prefix: 'osd out', ids: ['0'] },
    'set noout on the whole cluster': { prefix: 'osd set', key: 'noout' },
    'read a key': { prefix: 'auth get', entity: 'client.admin' },
    'delete a pool': { prefix: 'osd pool delete', pool: 'rep', pool2: 'rep', yes_i_really_really_mean_it: true },
  }
  it.each(Object.entries(denied))('%s is refused with EACCES, and we say so', async (_, command) => {
    expect((await operator.run(command)).code).toBe(13)
    expect(await askCephText(operator, command)).toEqual({
      known: false,
      why: `${command.prefix} ended with 13: access denied`,
    })
  })

  it('without the right to set noout every bucket is reported as failed', async () => {
    const name = 'client.looker'
    const keyring = join(lab.folder.path, `${name}.keyring`)
    const caps = ['mon', 'allow r', 'mgr', 'allow r']
    const user = { prefix: 'auth get-or-create', entity: name, caps, format: 'plain' }
    await writeFile(keyring, await obey(lab.ceph.commands, user))
    const looker = lab.connect({ ...lab.ceph.operator, name, keyring })
    expect((await observeCeph(looker)).known).toBe(true)
    expect(await applyNoout(looker, { set: ['zone-a'], unset: [] })).toEqual({
      set: [],
      unset: [],
      gone: [],
      failed: [{ bucket: 'zone-a', wanted: 'set', why: 'osd set-group ended with 13: access denied' }],
    })
  })
})

/** Objects whose keys are names of things. */
const named =
  /(^|\.)(checks|application_metadata|erasure_code_profiles|crush_node_flags|device_class_flags|crush_location|blocklist|mon|mgr|osd|overall)$/
/** There only while something goes on: traffic of clients, recovery, placement groups that are not served. */
const passing = /_sec$|(^|\.)(recovering|inactive_pgs|unknown_pgs|misplaced)_/
/** Not every kernel names its processor, and a release beside the system's own does not see its name. */
const ofTheMachine = /^\[\]\.(cpu|distro.*)$/
/** What 18 no longer has of what 16 had; the simulated Ceph speaks as 16, or as 20. */
const goneIn18 = /^mds$|^(rules)?\[\]\.(ruleset|min_size|max_size)$/

interface Question {
  readonly command: CephCommand
  /** What we read of the answer; undefined where only people and other programs look at it. */
  readonly parse?: (json: unknown) => Observed<unknown>
}

const questions: Record<string, Question> = {
  status: { command: { prefix: 'status' }, parse: parseStatus },
  'osd dump': { command: { prefix: 'osd dump' }, parse: parseOsdDump },
  'osd crush dump': { command: { prefix: 'osd crush dump' }, parse: parseCrush },
  'pg dump pgs': { command: { prefix: 'pg dump', dumpcontents: ['pgs'] }, parse: parsePgDump },
  quorum_status: { command: { prefix: 'quorum_status' }, parse: parseQuorum },
  'osd metadata': { command: { prefix: 'osd metadata' }, parse: parseOsdMetadata },
  'osd ok-to-stop of one': okToStop(8),
  'osd ok-to-stop of four in two zones': okToStop(4, 6, 8, 10),
  'health detail': { command: { prefix: 'health', detail: 'detail' } },
  'pg dump pgs_brief': { command: { prefix: 'pg dump', dumpcontents: ['pgs_brief'] }, parse: parsePgDump },
  'pg stat': { command: { prefix: 'pg stat' } },
  'osd stat': { command: { prefix: 'osd stat' } },
  'osd tree': { command: { prefix: 'osd tree' } },
  'osd tree of what is down': { command: { prefix: 'osd tree', states: ['down'] } },
  'osd ls': { command: { prefix: 'osd ls' } },
  'osd find': { command: { prefix: 'osd find', id: 4 } },
  'osd crush rule dump': { command: { prefix: 'osd crush rule dump' } },
  'osd pool ls detail': { command: { prefix: 'osd pool ls', detail: 'detail' } },
  'osd erasure-code-profile get': { command: { prefix: 'osd erasure-code-profile get', name: 'ec_ecprofile' } },
  versions: { command: { prefix: 'versions' } },
  'mgr stat': { command: { prefix: 'mgr stat' } },
}

function okToStop(...osds: number[]): Question {
  const parse = (json: unknown) => parseOkToStop({ code: 0, out: JSON.stringify(json), err: '' }, osds)
  return { command: { prefix: 'osd ok-to-stop', ids: osds.map(String) }, parse }
}

async function compareShapes({ command, parse }: Question) {
  const [ours, real] = await Promise.all([simulated.ceph.commands.run(command), lab.ceph.commands.run(command)])
  const [simulatedJson, realJson] = [JSON.parse(ours.out), JSON.parse(real.out)] as [unknown, unknown]
  const shapes = [jsonShapeOf(simulatedJson, named), jsonShapeOf(realJson, named)] as const
  const reads = (json: unknown) => (parse === undefined ? [] : recordReads(json, parse, named))
  return {
    codes: [ours.code, real.code],
    invented: lasting(shapeGaps(shapes[0], shapes[1])),
    // Later releases tell more, and nobody asks for it.
    forgotten: lab.release === '16' ? lasting(shapeGaps(shapes[1], shapes[0])) : [],
    read: { simulated: reads(simulatedJson), real: reads(realJson) },
  }
}

function lasting(gaps: readonly string[]): string[] {
  return gaps.filter((gap) => {
    const path = gap.slice(0, gap.lastIndexOf(': '))
    const isGone = lab.release === '18' && goneIn18.test(path)
    return !passing.test(path) && !ofTheMachine.test(path) && !isGone
  })
}

describe('the simulated Ceph answers in the shape of the real one', () => {
  for (const when of ['all is well', 'one OSD is down']) {
    describe(`while ${when}`, () => {
      beforeAll(async () => {
        if (when === 'all is well') return
        await lab.ceph.daemon('osd.0')?.stop()
        await simulated.cordon('node-1')
        await simulated.evictOsd(0)
        await simulated.seconds(10)
        await untilReported(0)
      })

      it.each(Object.entries(questions))('%s', async (_, question) => {
        const { codes, invented, forgotten, read } = await compareShapes(question)
        expect({ invented, forgotten }).toEqual({ invented: [], forgotten: [] })
        expect(codes[0]).toBe(codes[1])
        expect(read.simulated).toEqual(read.real)
      })
    })
  }
})

/** Waits until every placement group that had this OSD has reported without it, and serves: one that peers says less. */
async function untilReported(osd: number): Promise<void> {
  for (;;) {
    const { epoch: _, osds } = await askJson<{ epoch: number; osds: { osd: number; up: number }[] }>(
      lab.ceph.commands,
      {
        prefix: 'osd dump',
      },
    )
    const { pgs } = sure(await observeCeph(lab.ceph.commands))
    const isServed = pgs.stateNames.every((state) => state.startsWith('active'))
    if (osds.find((one) => one.osd === osd)?.up === 0 && !pgs.acting.includes(osd) && isServed) return
    await pause(100)
  }
}

function hostOf(osd: number): string | undefined {
  const hosts = (description.crush.children ?? []).flatMap(({ children = [] }) => children)
  return hosts.find(({ osds = [] }) => osds.some(({ id }) => id === osd))?.name
}

function sortedCrush({
  buckets,
  rules,
}: {
  buckets: readonly { name: string; children: readonly number[] }[]
  rules: readonly { id: number }[]
}) {
  return {
    buckets: buckets
      .map((bucket) => ({ ...bucket, children: [...bucket.children].sort((a, b) => a - b) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    rules: [...rules].sort((a, b) => a.id - b.id),
  }
}
