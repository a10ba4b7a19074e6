import { type ChildProcess, fork, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { printRows, type Row } from './report/rows.ts'
import { type ClusterSize, placesOf } from './scale/fill-cluster.ts'
import { type Question, serveCluster, type Traffic } from './scale/serve-cluster.ts'

const size: ClusterSize = { nodes: 5_000, pods: 150_000, osds: 10_000, volumes: 10_000, budgets: 10_000 }
const serveFlag = '--serve'
const idleSeconds = 60
const drainedNodes = 5
const changes = 20_000
const verdictGoalSeconds = 30
const megabyte = 1024 * 1024
const memoryGoal = 512 * megabyte
/** As Linux counts CPU time of processes. */
const ticksPerSecond = 100

if (process.argv.includes(serveFlag)) await serveCluster(size)
else await measure()

interface Measured {
  readonly seconds: number
  readonly cpuSeconds: number
}

async function measure(): Promise<void> {
  const own = fileURLToPath(import.meta.url)
  console.log(
    `${size.nodes} nodes, ${size.pods} pods, ${size.osds} OSDs, ${size.volumes} volumes and ${size.budgets} budgets, over HTTP; the server fills for some minutes ...`,
  )
  const server = fork(own, [serveFlag], { execArgv: ['--max-old-space-size=12000'] })
  const folder = await mkdtemp(join(tmpdir(), 'cofferdam-scale-'))
  let operator: ChildProcess | undefined
  try {
    const { url, token } = await answerOf<{ url: string; token: string }>(server)
    const kubeconfig = join(folder, 'kubeconfig')
    writeFileSync(kubeconfig, kubeconfigOf(url, token), { mode: 0o600 })
    operator = startOperator(kubeconfig)
    printRows(await measureOperator(server, operator))
  } finally {
    operator?.kill()
    server.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Subjects {
  readonly operator: ChildProcess
  readonly ask: <T>(question: Question) => Promise<T>
}

async function measureOperator(server: ChildProcess, operator: ChildProcess): Promise<Row[]> {
  const subjects: Subjects = {
    operator,
    ask(question) {
      server.send(question)
      return answerOf(server)
    },
  }
  const start = await measureStart(subjects)
  await setTimeout(30_000)
  const rested = memoryOf(operator)
  const idle = await measureIdle(subjects)
  const drains = await measureDrains(subjects)
  await subjects.ask({ ask: 'churn', changes })
  await setTimeout(10_000)
  const end = memoryOf(operator)
  return [
    ...start,
    idle,
    drains,
    memoryRow('after the start', rested.resident),
    memoryRow(`after ${drainedNodes} drains and ${changes} changes of pods`, end.resident),
    told('most resident memory, while everything is read', sizeText(end.most)),
  ]
}

async function measureStart(subjects: Subjects): Promise<Row[]> {
  const { seconds, cpuSeconds } = await until(subjects, { ask: 'verdict' }, (said) => said === true)
  const { calls, bytes } = await subjects.ask<Traffic>({ ask: 'traffic' })
  return [
    {
      measured: 'cold start to the first verdict on Ceph',
      result: `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU`,
      goal: `${verdictGoalSeconds} s of CPU`,
      reached: cpuSeconds < verdictGoalSeconds,
    },
    told('API calls and bytes of the start', `${calls} calls, ${sizeText(bytes)}`),
  ]
}

async function measureIdle({ ask }: Subjects): Promise<Row> {
  const before = await ask<Traffic>({ ask: 'traffic' })
  await setTimeout(idleSeconds * 1_000)
  const after = await ask<Traffic>({ ask: 'traffic' })
  const writes = after.writes - before.writes
  return {
    measured: `writes in ${idleSeconds} idle seconds, but for its lease`,
    result: String(writes),
    goal: '0',
    reached: writes === 0,
  }
}

async function measureDrains(subjects: Subjects): Promise<Row> {
  const { ask, operator } = subjects
  const [before, cpu] = [await ask<Traffic>({ ask: 'traffic' }), cpuSecondsOf(operator)]
  for (const node of placesOf(size).ofApplicationsOnly.slice(0, drainedNodes)) {
    await ask({ ask: 'drain', node })
    await until(subjects, { ask: 'phase', node }, (phase) => phase === 'Drained')
  }
  const after = await ask<Traffic>({ ask: 'traffic' })
  const calls = ((after.calls - before.calls) / drainedNodes).toFixed(0)
  const bytes = sizeText((after.bytes - before.bytes) / drainedNodes)
  const seconds = ((cpuSecondsOf(operator) - cpu) / drainedNodes).toFixed(2)
  return told('a drained node of 27 or 28 pods', `${calls} calls, ${bytes}, ${seconds} s of CPU`)
}

async function until(
  { ask, operator }: Subjects,
  question: Question,
  isSo: (said: unknown) => boolean,
): Promise<Measured> {
  const [began, cpu] = [performance.now(), cpuSecondsOf(operator)]
  while (!isSo(await ask(question))) {
    if (operator.exitCode !== null) throw new Error(`the operator ended with ${operator.exitCode}`)
    if (performance.now() - began > 600_000) throw new Error(`not within ten minutes: ${JSON.stringify(question)}`)
    await setTimeout(200)
  }
  return { seconds: (performance.now() - began) / 1_000, cpuSeconds: cpuSecondsOf(operator) - cpu }
}

function memoryRow(when: string, resident: number): Row {
  return {
    measured: `resident memory ${when}`,
    result: sizeText(resident),
    goal: sizeText(memoryGoal),
    reached: resident < memoryGoal,
  }
}

function told(measured: string, result: string): Row {
  return { measured, result, goal: '-', reached: true }
}

function sizeText(bytes: number): string {
  return bytes >= megabyte ? `${(bytes / megabyte).toFixed(0)} MiB` : `${(bytes / 1024).toFixed(0)} KiB`
}

function startOperator(kubeconfig: string): ChildProcess {
  const program = fileURLToPath(new URL('../cofferdam.js', import.meta.url))
  const cluster = 'rook-ceph/rook-ceph'
  const flags = [
    '--ceph-clusters',
    cluster,
    '--own-osds',
    cluster,
    '--no-guard',
    '--health-port',
    '0',
    '--log-level',
    'warn',
  ]
  return spawn(process.execPath, [program, 'operator', '--kubeconfig', kubeconfig, ...flags], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

function kubeconfigOf(server: string, token: string): string {
  const name = 'bench'
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  })
}

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the server of the benchmark ended with ${code}`))
    child.once('exit', ended)
    child.once('message', (said) => {
      child.off('exit', ended)
      resolve(said as T)
    })
  })
}

function memoryOf({ pid }: ChildProcess): { readonly resident: number; readonly most: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) * 1024
  return { resident: of('VmRSS'), most: of('VmHWM') }
}

function cpuSecondsOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}
