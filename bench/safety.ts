import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephMap, CrushBucket, PgTable } from '@cofferdam/product/safety/ceph-map.ts'
import { judgeCeph } from '@cofferdam/product/safety/judge-ceph.ts'
import { isHealthyPgState } from '@cofferdam/product/safety/pg-health.ts'
import { buildSafetyIndex, type SafetyIndex } from '@cofferdam/product/safety/safety-index.ts'
import type { DomainVerdict } from '@cofferdam/product/safety/verdict.ts'
import { cpuSecondsOf, printRows, type Row } from './report/rows.ts'

const hostCount = 500
const osdsPerHost = 20
const osdCount = hostCount * osdsPerHost
const pgCount = 300_000
const copies = 3
const epoch = 50_000

/** One replicated pool, each copy on another host; one OSD is down, and its placement groups have said so. */
function exampleMap(random: Random): CephMap {
  const downOsd = 4_711
  const hosts = Array.from(
    { length: hostCount },
    (_, at): CrushBucket => ({
      id: -2 - at,
      name: `host-${String(at).padStart(3, '0')}`,
      type: 'host',
      children: Array.from({ length: osdsPerHost }, (_, disk) => at * osdsPerHost + disk),
    }),
  )
  return {
    fsid: 'bench',
    epoch,
    osds: Array.from({ length: osdCount }, (_, id) => ({
      id,
      isUp: id !== downOsd,
      isIn: true,
      upFrom: 100,
      downAt: id === downOsd ? epoch : 0,
    })),
    pools: [{ id: 1, name: 'rbd', kind: 'replicated', size: copies, minSize: copies - 1, crushRuleId: 0 }],
    crush: {
      buckets: [{ id: -1, name: 'default', type: 'root', children: hosts.map(({ id }) => id) }, ...hosts],
      rules: [{ id: 0, name: 'by-host', failureDomain: 'host', root: 'default' }],
      typeOrder: ['osd', 'host', 'rack', 'root'],
    },
    pgs: examplePgs(random, downOsd),
    flags: [],
    bucketFlags: {},
  }
}

function examplePgs(random: Random, downOsd: number): PgTable {
  const acting: number[] = []
  const offsets = new Int32Array(pgCount + 1)
  const states = new Uint16Array(pgCount)
  for (let pg = 0; pg < pgCount; pg += 1) {
    const members = placement(random)
    const left = members.filter((id) => id !== downOsd)
    acting.push(...left)
    offsets[pg + 1] = acting.length
    states[pg] = left.length < members.length ? 1 : 0
  }
  const members = Int32Array.from(acting)
  return {
    count: pgCount,
    poolIds: new Int32Array(pgCount).fill(1),
    pgNumbers: Int32Array.from({ length: pgCount }, (_, pg) => pg),
    states,
    stateNames: ['active+clean', 'active+undersized+degraded'],
    offsets,
    acting: members,
    upOffsets: offsets,
    up: members,
    reportedEpochs: new Int32Array(pgCount).fill(epoch),
  }
}

function placement(random: Random): number[] {
  const hosts = new Set<number>()
  while (hosts.size < copies) hosts.add((random.next() * hostCount) | 0)
  return [...hosts].map((host) => host * osdsPerHost + ((random.next() * osdsPerHost) | 0))
}

function refused(verdicts: readonly DomainVerdict[]): number {
  return verdicts.filter(({ verdict }) => verdict.may === 'no').length
}

const what = `${osdCount.toLocaleString('en')} OSDs, ${pgCount.toLocaleString('en')} placement groups`

async function measureAll(map: CephMap): Promise<Row[]> {
  globalThis.gc?.()
  let no = 0
  const judged = await cpuSecondsOf(() => {
    const view = judgeCeph({
      index: buildSafetyIndex(map),
      failureDomainOverride: undefined,
      isHealthyState: isHealthyPgState,
      disagreements: [],
    })
    no = refused(view.domains)
  })
  const megabytes = process.memoryUsage().rss / 2 ** 20
  return [
    {
      measured: `${what}: all ${hostCount} domains judged from parsed input (${no} must stay): CPU`,
      result: `${(judged * 1000).toFixed(0)} ms`,
      goal: 'under 1,000 ms',
      reached: judged < 1 && no > 0 && no < hostCount,
    },
    {
      measured: `${what}: resident memory with input and answers`,
      result: `${megabytes.toFixed(0)} MB`,
      goal: 'under 400 MB',
      reached: megabytes < 400,
    },
  ]
}

async function measureChanges(map: CephMap, random: Random): Promise<Row[]> {
  const start: SafetyIndex = buildSafetyIndex(map)
  start.domainVerdicts('host')
  const changes = 200
  const chosen = Array.from({ length: changes }, () => (random.next() * osdCount) | 0)
  let answered = 0
  const first = await cpuSecondsOf(() => {
    answered += start.withOsd({ id: chosen[0] as number, isUp: false }).domainVerdicts('host').length
  })
  const seconds = await cpuSecondsOf(() => {
    for (const id of chosen) answered += start.withOsd({ id, isUp: false }).domainVerdicts('host').length
  })
  const each = (seconds * 1000) / changes
  return [
    {
      measured: `${what}: all domains again after one OSD changed, the first time: CPU`,
      result: `${(first * 1000).toFixed(2)} ms`,
      goal: 'all of them',
      reached: answered === (changes + 1) * hostCount,
    },
    {
      measured: `${what}: all domains again after one OSD changed, mean of ${changes}: CPU`,
      result: `${each.toFixed(2)} ms`,
      goal: 'under 5 ms',
      reached: each < 5,
    },
  ]
}

const random = seededRandom(1)
const map = exampleMap(random)
printRows([...(await measureAll(map)), ...(await measureChanges(map, random))])
