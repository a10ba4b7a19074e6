import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CephFile } from '../../ceph/saved/ceph-files.ts'
import type { CephMap } from '../../safety/ceph-map.ts'
import { crushTypes } from '../../safety/crush-types.ts'

/** What Ceph with that map prints for each of the five files, as far as anybody reads it. */
export function cephAnswersOf({ epoch, fsid, osds, pools, crush, pgs, flags }: CephMap): Record<CephFile, unknown> {
  const pgCount = (id: number) => pgs.poolIds.reduce((count, pool) => (pool === id ? count + 1 : count), 0)
  const details = pools.map((pool) => ({
    pool_name: pool.name,
    type: pool.kind === 'replicated' ? 1 : 3,
    size: pool.size,
    min_size: pool.minSize,
    crush_rule: pool.crushRuleId,
    pg_num: pgCount(pool.id),
    last_change: String(epoch),
  }))
  const members = (column: Int32Array, offsets: Int32Array, pg: number) =>
    Array.from(column.subarray(offsets[pg], offsets[pg + 1]))
  return {
    'osd-dump.json': {
      epoch,
      fsid,
      flags: flags.join(','),
      crush_node_flags: {},
      pools: details.map((detail, at) => ({ pool: pools[at]?.id, ...detail })),
      osds: osds.map(({ id, isUp, isIn, upFrom, downAt }) => ({
        osd: id,
        up: Number(isUp),
        in: Number(isIn),
        up_from: upFrom,
        down_at: downAt,
      })),
    },
    'pg-dump-pgs_brief.json': {
      pg_ready: true,
      pg_stats: Array.from({ length: pgs.count }, (_, pg) => ({
        pgid: `${pgs.poolIds[pg]}.${pgs.pgNumbers[pg]?.toString(16)}`,
        state: pgs.stateNames[pgs.states[pg] as number],
        up: members(pgs.up, pgs.upOffsets, pg),
        acting: members(pgs.acting, pgs.offsets, pg),
      })),
    },
    'osd-tree.json': {
      nodes: [
        ...crush.buckets.map((bucket) => ({ ...bucket, type_id: crushTypes.indexOf(bucket.type) })),
        ...osds.map(({ id, isUp }) => ({
          id,
          name: `osd.${id}`,
          type: 'osd',
          type_id: 0,
          status: isUp ? 'up' : 'down',
        })),
      ],
      stray: [],
    },
    'osd-crush-rule-dump.json': crush.rules.map(({ id, name, failureDomain, root }) => ({
      rule_id: id,
      rule_name: name,
      steps: [
        { op: 'take', item: -1, item_name: root },
        { op: 'choose_firstn', num: 0, type: failureDomain },
        { op: 'emit' },
      ],
    })),
    'osd-pool-ls-detail.json': details.map((detail, at) => ({ pool_id: pools[at]?.id, ...detail })),
  }
}

/** Has the five files in a folder for as long as somebody uses it; text is written as it is, nothing where it is undefined. */
export async function withCephFiles<T>(
  answers: Readonly<Record<CephFile, unknown>>,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'cofferdam-plan-'))
  try {
    for (const [file, answer] of Object.entries(answers)) {
      if (answer === undefined) continue
      await writeFile(join(directory, file), typeof answer === 'string' ? answer : JSON.stringify(answer))
    }
    return await use(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}
