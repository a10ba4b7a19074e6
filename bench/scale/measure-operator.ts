import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { operatorEnvironment } from '@cofferdam/product/deploy/operator-manifests.ts'
import { fetchOwnNode } from '../../image/parts/node-release.ts'
import { type Row, told } from '../report/rows.ts'
import { placesOf } from './fill-cluster.ts'
import { heapProbeFlags } from './heap-probe.ts'
import { measureChanges } from './measure-changes.ts'
import { cpuSecondsOf, forgetMost, memoryOf, sizeText } from './processes.ts'
import type { Question, Traffic } from './serve-cluster.ts'
import { type ServedCluster, writeKubeconfig } from './served-cluster.ts'

const idleSeconds = 60
const quietSeconds = 15
const drainedNodes = 5
/** Of changes. What is larger after a second day than after the first is a leak; after a first day compiled code is larger, too. */
const hours = Number(process.env['COFFERDAM_HOURS'] ?? 24)
const verdictGoalSeconds = 30
/** As the stricter reading of 512 MB. */
const memoryGoal = 512e6

interface Subjects extends ServedCluster {
  readonly operator: ChildProcess
}

interface Measured {
  readonly seconds: number
  readonly cpuSeconds: number
}

export async function measureOperator(cluster: ServedCluster): Promise<Row[]> {
  const operator = startOperator(writeKubeconfig(cluster, { token: cluster.token }), await fetchOwnNode())
  const subjects = { ...cluster, operator }
  try {
    const rows: Row[] = []
    // The changes take long, and a run that is ended in the middle of it has measured something too.
    const add = (...more: Row[]) => {
      for (const { measured, result } of more) console.log(`${measured}: ${result}`)
      rows.push(...more)
    }
    add(...(await measureStart(subjects)))
    await untilQuiet(subjects)
    add(...memoryRows(operator, 'the start'))
    add(await measureIdle(subjects))
    add(await measureDrains(subjects), ...memoryRows(operator, `${drainedNodes} drains`))
    if (hours > 0) add(...(await measureChanges(subjects, hours)), ...memoryRows(operator, `${hours} hours of changes`))
    return rows
  } finally {
    operator.kill()
  }
}

async function measureStart(subjects: Subjects): Promise<Row[]> {
  const before = await subjects.ask<Traffic>({ ask: 'traffic' })
  const { seconds, cpuSeconds } = await until(subjects, { ask: 'verdict' }, (said) => said === true)
  const after = await subjects.ask<Traffic>({ ask: 'traffic' })
  return [
    {
      measured: 'cold start to the first verdict on Ceph',
      result: `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU`,
      goal: `${verdictGoalSeconds} s of CPU`,
      reached: cpuSeconds < verdictGoalSeconds,
    },
    told(
      'API calls and bytes of the start',
      `${after.calls - before.calls} calls, ${sizeText(after.bytes - before.bytes)}`,
    ),
  ]
}

/** All is read, and what a new cluster needs is written: budgets for a thousand instance managers of Longhorn, for example. */
async function untilQuiet({ ask, operator }: Subjects): Promise<void> {
  const done = async () => ({
    writes: (await ask<Traffic>({ ask: 'traffic' })).writes.length,
    cpu: cpuSecondsOf(operator),
  })
  for (let before = await done(); ; ) {
    await setTimeout(quietSeconds * 1_000)
    const now = await done()
    if (now.writes === before.writes && now.cpu - before.cpu < 0.05 * quietSeconds) return
    before = now
  }
}

async function measureIdle({ ask }: Subjects): Promise<Row> {
  const before = await ask<Traffic>({ ask: 'traffic' })
  await setTimeout(idleSeconds * 1_000)
  const after = await ask<Traffic>({ ask: 'traffic' })
  const writes = after.writes.slice(before.writes.length)
  for (const write of writes) console.log(`written while idle: ${write}`)
  return {
    measured: `writes in ${idleSeconds} idle seconds`,
    result: String(writes.length),
    goal: '0',
    reached: writes.length === 0,
  }
}

async function measureDrains(subjects: Subjects): Promise<Row> {
  const { ask, operator, size } = subjects
  const [before, cpu] = [await ask<Traffic>({ ask: 'traffic' }), cpuSecondsOf(operator)]
  for (const node of placesOf(size).ofApplicationsOnly.slice(0, drainedNodes)) {
    await ask({ ask: 'drain', node })
    await until(subjects, { ask: 'phase', node }, (phase) => phase === 'Drained')
  }
  const after = await ask<Traffic>({ ask: 'traffic' })
  const calls = ((after.calls - before.calls) / drainedNodes).toFixed(0)
  const bytes = sizeText((after.bytes - before.bytes) / drainedNodes)
  const seconds = ((cpuSecondsOf(operator) - cpu) / drainedNodes).toFixed(2)
  return told('a drained node of 25 or 26 pods', `${calls} calls, ${bytes}, ${seconds} s of CPU`)
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

/** What it has after that, and the most that it had since it was asked before. */
function memoryRows(operator: ChildProcess, after: string): Row[] {
  const { resident, most } = memoryOf(operator)
  forgetMost(operator)
  const row = (measured: string, bytes: number) => ({
    measured,
    result: sizeText(bytes),
    goal: 'under 512 MB (488 MiB)',
    reached: bytes < memoryGoal,
  })
  return [row(`resident memory after ${after}`, resident), row('most until then', most)]
}

/** With the engine that the operator's image has. */
function startOperator(kubeconfig: string, node: string): ChildProcess {
  const program = fileURLToPath(new URL('../cofferdam.js', import.meta.url))
  const cluster = 'rook-ceph/rook-ceph'
  const flags = [
    '--ceph-clusters',
    cluster,
    '--own-osds',
    cluster,
    '--no-guard',
    // Where the machine is busy, the server answers too late for a lease.
    '--no-leader-elect',
    '--health-port',
    '0',
    '--log-level',
    'error',
  ]
  return spawn(node, [...heapProbeFlags, program, 'operator', '--kubeconfig', kubeconfig, ...flags], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...operatorEnvironment },
  })
}
