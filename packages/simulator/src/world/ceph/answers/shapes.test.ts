import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { parsePgText } from '@cofferdam/product/ceph/pg-parser.ts'
import { readSample } from '@cofferdam/product/ceph/testing/read-sample.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CephFixture, openCeph } from '../testing/ceph-fixture.ts'

/** Names of fields and kinds of values, with what differs from cluster to cluster left out. */
type Shape = string | readonly Shape[] | { readonly [field: string]: Shape }

/** Objects whose keys are names of things, not of fields. */
const named = /\.(checks|application_metadata|erasure_code_profiles|crush_node_flags|mon|mgr|osd|overall)$/
/** Rates of client traffic and recovery come and go. */
const passing = /_sec$|_recovered$|^(unknown_pgs|inactive_pgs|misplaced|degraded)_/

function shapeOf(value: unknown, path = ''): Shape {
  if (Array.isArray(value)) {
    const shapes = value.map((item) => JSON.stringify(shapeOf(item, `${path}[]`)))
    return [...new Set(shapes)].sort().map((text) => JSON.parse(text) as Shape)
  }
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  const fields = Object.entries(value).filter(([name]) => !passing.test(name))
  if (named.test(path)) return [...new Set(fields.map(([, item]) => JSON.stringify(shapeOf(item, `${path}.*`))))].sort()
  return Object.fromEntries(fields.map(([name, item]) => [name, shapeOf(item, `${path}.${name}`)]).sort())
}

interface Case {
  readonly sample: string
  readonly prefix: string
  readonly args?: Record<string, Json>
  /** Fields that were dropped from the sample to keep it short, or that depend on where daemons run. */
  readonly trimmed?: readonly string[]
}

/** The daemons of the samples ran in no pods. */
const podFields = ['container_hostname', 'container_image', 'container_name', 'pod_name', 'pod_namespace']
const pools = ['pool_snaps', 'removed_snaps', 'tiers', 'hit_set_params', 'grade_table', 'options']

function without(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !names.includes(name))
      .map(([name, item]) => [name, without(item, names)]),
  )
}

async function expectSameShape(fixture: CephFixture, { sample, prefix, args, trimmed = [] }: Case): Promise<void> {
  const given = without(await fixture.ask(prefix, args), trimmed)
  expect(shapeOf(given)).toEqual(shapeOf(without(readSample(sample), trimmed)))
}

describe('answers have the shape of a real Ceph', () => {
  let fixture: CephFixture
  beforeAll(async () => {
    fixture = await openCeph()
  })
  afterAll(() => fixture.stop())

  const healthy: Record<string, Case> = {
    status: { sample: 'healthy-status', prefix: 'status' },
    'health detail': { sample: 'healthy-health-detail', prefix: 'health', args: { detail: 'detail' } },
    'osd dump': { sample: 'healthy-osd-dump', prefix: 'osd dump', trimmed: pools },
    'osd tree': { sample: 'healthy-osd-tree', prefix: 'osd tree' },
    'osd tree of what is down': { sample: 'healthy-osd-tree-down-out', prefix: 'osd tree', args: { states: ['down'] } },
    'osd stat': { sample: 'healthy-osd-stat', prefix: 'osd stat' },
    'osd crush rule ls': { sample: 'osd-crush-rule-ls', prefix: 'osd crush rule ls' },
    'osd crush rule dump': { sample: 'osd-crush-rule-dump', prefix: 'osd crush rule dump' },
    'osd pool ls detail': { sample: 'osd-pool-ls-detail', prefix: 'osd pool ls', args: { detail: 'detail' } },
    'an erasure-code profile': {
      sample: 'osd-erasure-code-profile',
      prefix: 'osd erasure-code-profile get',
      args: { name: 'ec_ecprofile' },
    },
    'osd metadata': { sample: 'osd-metadata-0', prefix: 'osd metadata', args: { id: 0 }, trimmed: podFields },
    'osd versions': { sample: 'osd-versions', prefix: 'osd versions' },
    versions: { sample: 'versions', prefix: 'versions' },
    quorum_status: { sample: 'quorum-status', prefix: 'quorum_status' },
    'mgr stat': { sample: 'mgr-stat', prefix: 'mgr stat' },
    'pg stat': { sample: 'healthy-pg-stat', prefix: 'pg stat' },
    'pg dump pgs': { sample: 'pg-dump-pgs-one', prefix: 'pg dump', args: { dumpcontents: ['pgs'] } },
    'pg dump pgs_brief': {
      sample: 'healthy-pg-dump-pgs_brief',
      prefix: 'pg dump',
      args: { dumpcontents: ['pgs_brief'] },
    },
    'ok-to-stop': { sample: 'ok-to-stop-single-ok', prefix: 'osd ok-to-stop', args: { ids: ['0'] } },
  }
  it.each(Object.entries(healthy))('%s, all well', async (_, shape) => {
    await expectSameShape(fixture, shape)
  })

  it('osd find, all well, with a zone in place of the rack', async () => {
    const { crush_location, ...found } = await fixture.ask('osd find', { id: 0 })
    expect(crush_location).toEqual({ host: 'node-1', root: 'default', zone: 'zone-a' })
    const { crush_location: _, ...sample } = readSample('osd-find-0') as Record<string, unknown>
    expect(shapeOf(without(found, podFields))).toEqual(shapeOf(without(sample, podFields)))
  })

  it('OSDs tell in which pod they run, and their node as their host, as Rook makes them', async () => {
    const pod = { pod_name: expect.stringMatching(/^rook-ceph-osd-0-/) as string, pod_namespace: 'rook-ceph' }
    const { hostname, ...told } = await fixture.ask('osd metadata', { id: 0 })
    expect([hostname, told]).toEqual(['node-1', expect.objectContaining(pod)])
    expect(await fixture.ask('osd find', { id: 0 })).toMatchObject({ host: 'node-1', ...pod })
  })

  it('osd crush dump reads as the tree, the rules and the types that were described', async () => {
    const map = await observeCeph(fixture.ceph.commands)
    if (!map.known) throw new Error(map.why)
    const { buckets, rules, typeOrder } = map.value.crush
    expect(buckets.map(({ id, name, type, children }) => `${id} ${type} ${name} [${children.join()}]`)).toEqual([
      '-1 root default [-2,-5,-8]',
      '-2 zone zone-a [-3,-4]',
      '-3 host node-1 [0,1]',
      '-4 host node-4 [2,3]',
      '-5 zone zone-b [-6,-7]',
      '-6 host node-2 [4,5]',
      '-7 host node-5 [6,7]',
      '-8 zone zone-c [-9,-10]',
      '-9 host node-3 [8,9]',
      '-10 host node-6 [10,11]',
    ])
    expect(rules).toEqual([
      { id: 0, name: 'replicated_rule', failureDomain: 'host', root: 'default' },
      { id: 1, name: 'rep', failureDomain: 'host', root: 'default' },
      { id: 2, name: 'ec', failureDomain: 'zone', root: 'default' },
    ])
    expect([typeOrder[0], typeOrder.at(-1), typeOrder.length]).toEqual(['osd', 'root', 12])
  })

  it('pg dump as a table for people says what its JSON says', async () => {
    const asked = { dumpcontents: ['pgs'] }
    const json = parsePgText((await fixture.run('pg dump', asked)).out)
    const listing = parsePgText((await fixture.run('pg dump', { ...asked, format: 'plain' })).out)
    if (!json.known || !listing.known) throw new Error('unreadable')
    const rows = ({ poolIds, pgNumbers, reportedEpochs, acting, offsets }: typeof json.value) =>
      Array.from(poolIds, (pool, row) =>
        [pool, pgNumbers[row], reportedEpochs[row], acting.slice(offsets[row], offsets[row + 1])].join(' '),
      ).sort()
    expect(rows(listing.value)).toEqual(rows(json.value))
  })
})

describe('answers keep that shape in trouble', () => {
  it('everything keeps its shape while a host is down, flags are set, and data recovers', async () => {
    const fixture = await openCeph()
    await fixture.run('osd set-group', { flags: 'noout', who: ['node-1', 'osd.7'] })
    await fixture.run('osd set', { key: 'norebalance' })
    await expectSameShape(fixture, { sample: 'flags-health-detail', prefix: 'health', args: { detail: 'detail' } })
    await expectSameShape(fixture, { sample: 'flags-osd-dump', prefix: 'osd dump', trimmed: pools })
    await fixture.run('osd unset', { key: 'norebalance' })
    await fixture.run('osd unset-group', { flags: 'noout', who: ['osd.7', 'node-1'] })

    await fixture.emptyNode('node-1')
    await fixture.seconds(10)
    const down: Record<string, Case> = {
      status: { sample: 'host-r0h0-down-status', prefix: 'status' },
      health: { sample: 'host-r0h0-down-health-detail', prefix: 'health detail' },
      dump: { sample: 'host-r0h0-down-osd-dump', prefix: 'osd dump', trimmed: [...pools, 'dead_epoch'] },
      tree: { sample: 'host-r0h0-down-osd-tree', prefix: 'osd tree' },
      pgs: { sample: 'host-r0h0-down-pg-dump-pgs_brief', prefix: 'pg dump', args: { dumpcontents: ['pgs_brief'] } },
    }
    for (const shape of Object.values(down)) {
      const given = without(await fixture.ask(shape.prefix, shape.args), shape.trimmed ?? [])
      expect(shapeOf(given)).toEqual(shapeOf(without(readSample(shape.sample), shape.trimmed ?? [])))
    }
    const refused = await fixture.run('osd ok-to-stop', { ids: ['4', '6', '8', '10'] })
    expect([refused.code, shapeOf(JSON.parse(refused.out))]).toEqual([
      16,
      shapeOf({ ...(readSample('host-r0h0-down-ok-to-stop-4') as object), ok_become_degraded: ['1.1'] }),
    ])
    expect(refused.err).toMatch(/^unsafe to stop osd\(s\) at this time \(\d+ PGs are or would become offline\)$/)
    await fixture.cordon('node-1', false)
    await fixture.seconds(9)
    await expectSameShape(fixture, { sample: 'recovering-status-1', prefix: 'status' })
    fixture.stop()
  })

  it('the words of health are those of the real one', async () => {
    const fixture = await openCeph()
    await fixture.emptyNode('node-1')
    await fixture.seconds(10)
    const { checks } = await fixture.ask<{
      checks: Record<string, { summary: { message: string }; detail: { message: string }[] }>
    }>('health detail')
    expect(Object.keys(checks)).toEqual(['OSD_DOWN', 'OSD_HOST_DOWN', 'PG_DEGRADED'])
    expect(checks['OSD_DOWN']?.detail[0]?.message).toBe('osd.0 (root=default,zone=zone-a,host=node-1) is down')
    expect(checks['OSD_HOST_DOWN']).toMatchObject({
      summary: { message: '1 host (2 osds) down' },
      detail: [{ message: 'host node-1 (root=default,zone=zone-a) (2 osds) is down' }],
    })
    expect(checks['PG_DEGRADED']?.summary.message).toMatch(
      /^Degraded data redundancy: \d+\/24576 objects degraded \(\d+\.\d{3}%\), \d+ pgs degraded$/,
    )
    expect(checks['PG_DEGRADED']?.detail[0]?.message).toMatch(
      /^pg 1\.[0-9a-f]+ is active\+undersized\+degraded, acting \[\d+,\d+\]$/,
    )
    fixture.stop()
  })
})
