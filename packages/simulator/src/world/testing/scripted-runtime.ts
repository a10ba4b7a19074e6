import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ContainerRuntime, RunningContainer } from '../nodes/container-runtime.ts'

/** One process of a script: the test says when it is ready and when it ends, and sees what was asked of it. */
export interface ScriptedProcess {
  readonly pod: string
  becomeReady(): void
  failToStart(why: string): void
  end(exitCode: number): void
  isRunning(): boolean
  /** `stop 30`, `kill`: what the kubelet did, in order. */
  readonly asked: string[]
}

export interface ScriptedRuntime extends ContainerRuntime {
  /** All that were ever started, in order. */
  readonly processes: ScriptedProcess[]
  /** The most that ran at one time for pods of one name. */
  mostAtOnce(): number
}

export interface Script {
  /** Which pods have a process. All, unless told otherwise. */
  readonly backs?: (pod: Pod) => boolean
  /** Undefined: only when the test says so. */
  readonly readyAfterMs?: number
  /** How long one takes to go when it is asked; one that does not go by itself is killed at the end of its grace. */
  readonly stopsAfterMs?: number
  /** How long one that is killed is still there. */
  readonly diesAfterMs?: number
  /** Starting it throws this, once for each entry. */
  readonly refusals?: string[]
}

/** Processes that do nothing but follow a script, on the clock of the story that has them. */
export function scriptedRuntime(clockOf: () => Clock, script: Script = {}): ScriptedRuntime {
  const processes: ScriptedProcess[] = []
  let most = 0

  function launch(pod: Pod): RunningContainer {
    const clock = clockOf()
    const asked: string[] = []
    const ready = deferred<void>()
    const ended = deferred<number>()
    let isRunning = true
    const end = (exitCode: number) => {
      isRunning = false
      ended.resolve(exitCode)
    }
    if (script.readyAfterMs !== undefined) clock.after(script.readyAfterMs, ready.resolve)
    const kill = () => {
      asked.push('kill')
      if (script.diesAfterMs === undefined) end(137)
      else clock.after(script.diesAfterMs, () => end(137))
    }
    processes.push({
      pod: pod.metadata.name,
      asked,
      becomeReady: () => ready.resolve(),
      failToStart: (why) => ready.reject(new Error(why)),
      end,
      isRunning: () => isRunning,
    })
    const together = processes.filter((other) => other.pod === pod.metadata.name && other.isRunning())
    most = Math.max(most, together.length)
    return {
      ready: ready.promise,
      ended: ended.promise,
      async stop(graceSeconds) {
        asked.push(`stop ${graceSeconds}`)
        const { stopsAfterMs = 0 } = script
        if (stopsAfterMs <= graceSeconds * 1_000) clock.after(stopsAfterMs, () => end(0))
        await ended.promise
      },
      kill,
    }
  }

  return {
    processes,
    mostAtOnce: () => most,
    start(pod) {
      if (script.backs?.(pod) === false) return undefined
      const refusal = script.refusals?.shift()
      if (refusal !== undefined) throw new Error(refusal)
      return launch(pod)
    },
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}
