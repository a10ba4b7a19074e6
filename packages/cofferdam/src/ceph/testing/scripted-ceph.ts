import type { CephAnswer, CephCommand, CephCommands } from '../ceph-commands.ts'

export interface ScriptedCeph extends CephCommands {
  /** Every command so far, oldest first. */
  readonly asked: readonly CephCommand[]
}

/** A Ceph that answers as the test says; text alone is an answer that succeeded. */
export function scriptCeph(answer: (command: CephCommand, count: number) => string | CephAnswer | Error): ScriptedCeph {
  const asked: CephCommand[] = []
  return {
    asked,
    run(command) {
      asked.push(command)
      const given = answer(command, asked.length)
      if (given instanceof Error) return Promise.reject(given)
      return Promise.resolve(typeof given === 'string' ? { code: 0, out: given, err: '' } : given)
    },
  }
}
