import type { CrashPoint } from '../testing/staged-operators.ts'
import { crashScenarios } from './all-scenarios.ts'
import type { CrashRun } from './crash-scenario.ts'

/** One run that a worker is asked for. */
export interface CrashTask {
  readonly scenario: string
  readonly point?: CrashPoint
}

export interface CrashAnswer extends CrashRun {
  readonly cpuSeconds: number
}

/** Carries out one run after the other, as the parent process asks for them. */
export function serveRuns(): void {
  process.on('message', (task: CrashTask) => {
    void runTask(task).then((answer) => process.send?.(answer))
  })
}

async function runTask({ scenario, point }: CrashTask): Promise<CrashAnswer> {
  const before = process.cpuUsage()
  const run = await crashScenarios[scenario]?.run(point).catch(
    (error: unknown): CrashRun => ({
      written: [],
      hasDied: false,
      violations: [],
      end: [],
      broke: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return { ...(run as CrashRun), cpuSeconds: (user + system) / 1e6 }
}
