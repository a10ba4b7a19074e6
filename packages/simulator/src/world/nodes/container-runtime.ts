import type { Pod } from '@cofferdam/kubernetes/api/core.ts'

/** What really runs behind pods. Where nothing does, the kubelet only says that their containers run. */
export interface ContainerRuntime {
  /** Starts what this pod runs, or takes over what runs already; undefined when nothing stands behind it. */
  start(pod: Pod): RunningContainer | undefined
}

export interface RunningContainer {
  /** Resolves when its readiness probe would pass. */
  readonly ready: Promise<void>
  /** The exit code; 128 and the signal's number for one that was killed. */
  readonly ended: Promise<number>
  /** Asks it to end, kills it after the grace. Resolves when it is gone. */
  stop(graceSeconds: number): Promise<void>
  /** As when the power goes. */
  kill(): void
}
