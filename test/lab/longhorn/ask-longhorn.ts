import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { LonghornAnswers, LonghornState } from './longhorn-state.ts'

/** Longhorn's own code, asked what it decides. */
export interface LonghornOracle {
  /** Several may be asked at once; each gets its own answer. Rejects where the oracle has ended, or cannot read the state. */
  ask(state: LonghornState): Promise<LonghornAnswers>
  close(): Promise<void>
}

interface Asked {
  readonly resolve: (answers: LonghornAnswers) => void
  readonly reject: (error: Error) => void
}

export function startLonghornOracle(program: string): LonghornOracle {
  const command = ['--pdeathsig', 'KILL', '--', program, '-namespace', longhornNamespace]
  const child = spawn('setpriv', command, { stdio: ['pipe', 'pipe', 'pipe'] })
  const waiting: Asked[] = []
  const complaints: string[] = []
  let end: string | undefined
  const refuseAll = (why: string) => {
    end ??= why
    for (const { reject } of waiting.splice(0)) reject(new Error(end))
  }
  createInterface({ input: child.stderr }).on('line', (line) => complaints.push(line))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const asked = waiting.shift()
    const answers = JSON.parse(line) as LonghornAnswers
    if (answers.error === undefined) asked?.resolve(answers)
    else asked?.reject(new Error(`longhorn-oracle cannot read a state: ${answers.error}`))
  })
  child.stdin.on('error', () => {})
  child.once('error', ({ message }) => refuseAll(`longhorn-oracle cannot be started: ${message}`))
  const ended = new Promise<void>((resolve) => {
    child.once('close', (code) => {
      refuseAll([`longhorn-oracle ended with exit code ${code}`, ...complaints.slice(-5)].join('\n'))
      resolve()
    })
  })
  return {
    ask(state) {
      if (end !== undefined) return Promise.reject(new Error(end))
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        child.stdin.write(`${JSON.stringify(state)}\n`)
      })
    },
    async close() {
      child.stdin.end()
      await ended
    },
  }
}
