import type { Drain } from '../testing/drainer.ts'

interface DrainStage {
  drain(node: string): Drain
  seconds(count: number): Promise<void>
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
}

/** Drains a node as somebody does who begins anew ten seconds after a drain gave up. */
export async function drainPersistently(stage: DrainStage, node: string, withinSeconds = 600): Promise<void> {
  let [isDone, hasGivenUp] = [false, false]
  const begin = () => {
    hasGivenUp = false
    stage.drain(node).ended.then(
      () => {
        isDone = true
      },
      () => {
        hasGivenUp = true
      },
    )
  }
  begin()
  await stage.until(
    `${node} is drained`,
    async () => {
      if (hasGivenUp) {
        await stage.seconds(10)
        begin()
      }
      return isDone
    },
    withinSeconds,
  )
}
