import { constants } from 'node:os'
import type { RunningContainer } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import type { Daemon, DaemonEnd } from '../processes/daemon.ts'

interface ProcessContainerOptions {
  /** What has to be through before the process may start; gives what starts it. */
  readonly prepare: () => Promise<() => Daemon>
  readonly ready: (daemon: Daemon) => Promise<void>
}

/**
 * A container that is one process, or that waits for the moment in which it may be.
 *
 * Guarantees: one that is stopped or killed while it waits never starts.
 */
export function processContainer({ prepare, ready }: ProcessContainerOptions): RunningContainer {
  let daemon: Daemon | undefined
  let isGivenUp = false
  let giveUp = () => {}
  const givenUp = new Promise<undefined>((resolve) => {
    giveUp = () => {
      isGivenUp = true
      resolve(undefined)
    }
  })
  const launched = Promise.race([prepare(), givenUp]).then((launch) => {
    if (launch !== undefined && !isGivenUp) daemon = launch()
    return daemon
  })
  const ended = launched.then((process) => process?.ended.then(exitCodeOf) ?? 128 + constants.signals.SIGKILL)
  const isReady = launched.then((process) => {
    if (process === undefined) throw new Error('was given up before it started')
    return ready(process)
  })
  // Whoever runs the container hears of both; one that nobody asks about must not end us.
  ended.catch(() => {})
  isReady.catch(() => {})
  return {
    ready: isReady,
    ended,
    async stop(graceSeconds) {
      if (daemon === undefined) giveUp()
      else await daemon.stop({ graceMs: graceSeconds * 1_000 })
      await ended.catch(() => {})
    },
    kill() {
      if (daemon === undefined) giveUp()
      else daemon.signal('SIGKILL')
    },
  }
}

/** As a shell and a container runtime say it. */
function exitCodeOf({ code, signal }: DaemonEnd): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
}
