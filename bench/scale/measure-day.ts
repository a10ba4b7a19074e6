import type { ChildProcess } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { type Row, told } from '../report/rows.ts'
import { hoursOfDay } from './day.ts'
import { askHeap } from './heap-probe.ts'
import { cpuSecondsOf, memoryOf, sizeText } from './processes.ts'
import type { ServedCluster } from './served-cluster.ts'
import { trendOf } from './trend.ts'

interface Subjects extends Pick<ServedCluster, 'ask'> {
  readonly operator: ChildProcess
}

/** Of what is alive, over the whole day: less cannot be told from chance. */
const flatGoal = 0.05

/** The changes of a day, hour after hour, and what the operator has in memory after each. The first day has number 0. */
export async function measureDay(subjects: Subjects, day: number): Promise<Row[]> {
  const { ask, operator } = subjects
  const cpu = cpuSecondsOf(operator)
  const resident: number[] = []
  const alive: number[] = []
  let writes = 0
  let collections = (await askHeap(operator)).collections
  for (let hour = 0; hour < hoursOfDay; hour += 1) {
    writes += await ask<number>({ ask: 'hour', hour: day * hoursOfDay + hour })
    await untilCalm(subjects)
    const heap = await askHeap(operator)
    if (heap.collections > collections) alive.push(heap.alive)
    collections = heap.collections
    resident.push(memoryOf(operator).resident)
    console.log(
      `day ${day + 1}, hour ${hour + 1}: resident ${sizeText(memoryOf(operator).resident)}, alive ${sizeText(heap.alive)}`,
    )
  }
  const { perStep, mean } = trendOf(alive)
  const overDay = perStep * (alive.length - 1)
  const trend = `${(mean / 1024 ** 2).toFixed(0)} MiB ${signed(overDay)} over the day`
  const dayText = day === 0 ? '' : `, day ${day + 1}`
  const residentTrend = trendOf(resident)
  return [
    {
      measured: `alive in the heap over ${hoursOfDay} hours of changes, ${alive.length} collections${dayText}`,
      result: trend,
      goal: `at most ${flatGoal * 100} % more`,
      reached: overDay <= flatGoal * mean,
    },
    told(
      `resident over the same, ${writes} writes${dayText}`,
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
