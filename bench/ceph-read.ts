import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import type { CephCommand } from '@cofferdam/product/ceph/ceph-commands.ts'
import { createPgParser } from '@cofferdam/product/ceph/create-pg-parser.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { createRadosCommands } from '@cofferdam/product/ceph/rados-commands.ts'
import { build, stop } from 'esbuild'
import { cpuSecondsOf, printRows, type Row } from './report/rows.ts'

const osdCount = 10_000
const pgCount = 300_000
const copies = 3
const epoch = 50_000
const pgsPerChunk = 220
const what = `${pgCount.toLocaleString('en')} placement groups`
const ownFile = fileURLToPath(import.meta.url)

const osdDump = {
  fsid: 'bench',
  epoch,
  osds: [],
  pools: [{ pool: 1, pool_name: 'rbd', type: 1, size: copies, min_size: 2, crush_rule: 0, pg_num: pgCount }],
  flags: '',
}
const crushDump = {
  types: [
    { type_id: 0, name: 'osd' },
    { type_id: 1, name: 'host' },
  ],
  buckets: [],
  rules: [
    {
      rule_id: 0,
      rule_name: 'by-host',
      steps: [
        { op: 'take', item_name: 'default' },
        { op: 'chooseleaf_firstn', type: 'host' },
      ],
    },
  ],
}

const heading = [
  'PG_STAT  OBJECTS  MISSING_ON_PRIMARY  DEGRADED  MISPLACED  UNFOUND  BYTES  OMAP_BYTES*  OMAP_KEYS*  LOG  DISK_LOG',
  'STATE  STATE_STAMP  VERSION  REPORTED  UP  UP_PRIMARY  ACTING  ACTING_PRIMARY  LAST_SCRUB  SCRUB_STAMP',
  'LAST_DEEP_SCRUB  DEEP_SCRUB_STAMP  SNAPTRIMQ_LEN\n',
].join('  ')

/** One row, as wide as a real one. */
function printPg(pg: number, random: Random): string {
  const below = (limit: number) => (random.next() * limit) | 0
  const stamp = () => `2026-11-${10 + below(5)}T0${below(10)}:50:${10 + below(50)}.${100_000 + below(900_000)}+0000`
  const members = `[${Array.from({ length: copies }, () => below(osdCount)).join(',')}]`.padStart(18)
  const state = below(50) === 0 ? 'active+undersized+degraded' : 'active+clean'
  const objects = `${`1.${pg.toString(16)}`.padEnd(8)}${String(below(9000)).padStart(8)}${'0'.padStart(20)}`
  const amounts = `${'0'.padStart(10)}${'0'.padStart(11)}${'0'.padStart(9)}  ${below(2 ** 30)}  0  0  ${below(9000)}  0`
  const report = `${state.padEnd(26)}  ${stamp()}  ${epoch}'${below(9000)}  ${epoch}:${below(90_000)}`
  return `${objects}${amounts}  ${report}  ${members}  7  ${members}  7  0'0  ${stamp()}  0'0  ${stamp()}  0\n`
}

function printTable(): readonly Buffer[] {
  const random = seededRandom(1)
  const chunks = [Buffer.from(heading)]
  for (let start = 0; start < pgCount; start += pgsPerChunk) {
    const length = Math.min(pgsPerChunk, pgCount - start)
    chunks.push(Buffer.from(Array.from({ length }, (_, at) => printPg(start + at, random)).join('')))
  }
  return [...chunks, Buffer.from('\n* NOTE: Omap statistics are gathered during deep scrub\n')]
}

/** In the place of the program that holds librados, in a process of its own as that is: what it keeps does not count. */
function answerAsCeph(): void {
  const answers: Readonly<Record<string, readonly Buffer[]>> = {
    'osd dump': [Buffer.from(JSON.stringify(osdDump))],
    'osd crush dump': [Buffer.from(JSON.stringify(crushDump))],
    'pg dump': printTable(),
  }
  process.stdout.write('{"ready":true}\n')
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, command } = JSON.parse(line) as { readonly id: number; readonly command: CephCommand }
    const chunks = answers[command.prefix] ?? []
    const outBytes = chunks.reduce((sum, { length }) => sum + length, 0)
    process.stdout.write(`${JSON.stringify({ id, rc: 0, err: '', outBytes })}\n`)
    for (const chunk of chunks) process.stdout.write(chunk)
  })
}

async function buildWorker(): Promise<URL> {
  const workerFile = new URL('./pg-parse-worker.js', import.meta.url)
  await build({
    entryPoints: ['packages/cofferdam/src/ceph/pg-parse-worker.ts'],
    outfile: fileURLToPath(workerFile),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
  })
  await stop()
  return workerFile
}

async function measureReading(): Promise<Row[]> {
  const parser = createPgParser({ workerFile: await buildWorker() })
  const commands = createRadosCommands({
    clock: realClock,
    random: seededRandom(1),
    environment: process.env,
    interpreter: process.execPath,
    program: ownFile,
    limits: { timeoutMs: 60_000 },
  })
  await commands.run({ prefix: 'osd dump' })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  let read = 0
  delay.enable()
  const seconds = await cpuSecondsOf(async () => {
    const map = await observeCeph(commands, { parse: parser.parse })
    if (!map.known) throw new Error(map.why)
    read = map.value.pgs.acting.length / copies
  })
  delay.disable()
  await Promise.all([commands.close(), parser.close()])
  const stallMs = delay.max / 1e6
  const megabytes = process.resourceUsage().maxRSS / 1024
  return [
    { measured: `${what}: CPU`, result: `${seconds.toFixed(2)} s`, goal: 'all of them', reached: read === pgCount },
    {
      measured: `${what}: longest stall of the event loop`,
      result: `${stallMs.toFixed(0)} ms`,
      goal: 'under 50 ms',
      reached: stallMs < 50,
    },
    {
      measured: `${what}: resident memory at its highest`,
      result: `${megabytes.toFixed(0)} MB`,
      goal: 'under 400 MB',
      reached: megabytes < 400,
    },
  ]
}

// The connection starts this file with settings for librados, the benchmark without.
if (process.argv.includes('--set')) answerAsCeph()
else printRows(await measureReading())
