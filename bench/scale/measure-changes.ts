import type { ChildProcess } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { type Row, told } from '../report/rows.ts'
import { askHeap } from './heap-probe.ts'
import { cpuSecondsOf, memoryOf, sizeText } from './processes.ts'
import type { ServedCluster } from './served-cluster.ts'
import { trendOf } from './trend.ts'

interface Subjects extends Pick<ServedCluster, 'ask'> {
  readonly operator: ChildProcess
}

/** Of what is alive, over all hours: less cannot be told from chance. */
const flatGoal = 0.05

/** The changes of so many hours, one after the other, and what the operator has in memory after each. */
export async function measureChanges(subjects: Subjects, hours: number): Promise<Row[]> {
  const { ask, operator } = subjects
  const cpu = cpuSecondsOf(operator)
  const resident: number[] = []
  const alive: number[] = []
  let writes = 0
  let collections = 0
  await askHeap(operator)
  for (let hour = 0; hour < hours; hour += 1) {
    writes += await ask<number>({ ask: 'hour', hour })
    await untilCalm(subjects)
    const heap = await askHeap(operator)
    if (heap.collections > 0) alive.push(heap.alive)
    collections += heap.collections
    resident.push(memoryOf(operator).resident)
    console.log(
      `hour ${hour + 1}: resident ${sizeText(memoryOf(operator).resident)}, alive ${heap.collections > 0 ? sizeText(heap.alive) : 'not collected'}`,
    )
  }
  const { perStep, mean } = trendOf(alive)
  const inAll = perStep * (alive.length - 1)
  const trend = `${(mean / 1024 ** 2).toFixed(0)} MiB ${signed(inAll)} in all`
  const residentTrend = trendOf(resident)
  return [
    {
      measured: `alive in the heap over ${hours} hours of changes, ${collections} collections`,
      result: trend,
      goal: `at most ${flatGoal * 100} % more`,
      reached: inAll <= flatGoal * mean,
    },
    told(
      `resident over the same, ${writes} writes`,
      `${sizeText(residentTrend.mean)} ${signed(residentTrend.perStep * (resident.length - 1))}, ${(cpuSecondsOf(operator) - cpu).toFixed(0)} s of CPU`,
    ),
  ]
}

/** The operator has caught up. */
async function untilCalm({ operator }: Subjects): Promise<void> {
  for (let before = cpuSecondsOf(operator); ; ) {
    await setTimeout(1_000)
    const now = cpuSecondsOf(operator)
    if (now - before < 0.2) return
    before = now
  }
}

function signed(bytes: number): string {
  return `${bytes < 0 ? '−' : '+'} ${(Math.abs(bytes) / 1024 ** 2).toFixed(1)} MiB`
}
