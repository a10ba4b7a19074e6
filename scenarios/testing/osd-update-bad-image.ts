import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ContainerRuntime } from '@cofferdam/simulator/world/nodes/container-runtime.ts'

const crashesAfterMs = 2_000

/** Containers of bad images crash as soon as they have started; nothing stands behind all others. */
export function badImageRuntime(clock: Clock, isBad: (image: string) => boolean): ContainerRuntime {
  return {
    start({ spec }: Pod) {
      if (!spec.containers.some(({ image = '' }) => isBad(image))) return undefined
      let end = (_code: number) => {}
      const ended = new Promise<number>((resolve) => {
        end = resolve
      })
      const cancel = clock.after(crashesAfterMs, () => end(1))
      const kill = () => {
        cancel()
        end(137)
      }
      return {
        ready: new Promise<void>(() => {}),
        ended,
        async stop() {
          kill()
        },
        kill,
      }
    },
  }
}
