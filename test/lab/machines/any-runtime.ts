import type { ContainerRuntime } from '@cofferdam/simulator/world/nodes/container-runtime.ts'

/** The first that has something for a pod runs it. */
export function anyRuntime(...runtimes: readonly ContainerRuntime[]): ContainerRuntime {
  return {
    start(pod) {
      for (const runtime of runtimes) {
        const container = runtime.start(pod)
        if (container !== undefined) return container
      }
      return undefined
    },
  }
}
