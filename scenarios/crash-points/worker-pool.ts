import { fork } from 'node:child_process'
import type { CrashAnswer, CrashTask } from './worker.ts'

export interface WorkerPool {
  run(task: CrashTask): Promise<CrashAnswer>
  stop(): void
}

/** Processes that carry out runs at the same time, each one after the other. */
export function openWorkers(program: string, count: number): WorkerPool {
  const waiting: { readonly task: CrashTask; answer(given: CrashAnswer): void; fail(error: Error): void }[] = []
  const workers = Array.from({ length: count }, () => fork(program, [], { env: { ...process.env, CRASH_WORKER: '1' } }))
  const idle = new Set(workers)

  function assign(): void {
    for (const worker of idle) {
      const next = waiting.shift()
      if (next === undefined) return
      idle.delete(worker)
      const end = () => next.fail(new Error(`a worker ended in the middle of ${JSON.stringify(next.task)}`))
      worker.once('exit', end)
      worker.once('message', (answer: CrashAnswer) => {
        worker.off('exit', end)
        idle.add(worker)
        next.answer(answer)
        assign()
      })
      worker.send(next.task)
    }
  }

  return {
    run: (task) =>
      new Promise((answer, fail) => {
        waiting.push({ task, answer, fail })
        assign()
      }),
    stop() {
      for (const worker of workers) worker.kill()
    },
  }
}
