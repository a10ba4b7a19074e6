import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { WatchEvent } from '@cofferdam/kubernetes/client/kube-api.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type HazardPorts, refusalOf, unreachable } from './hazards.ts'

/** A watch that is late, says things twice, or loses them and breaks off; its order is kept. */
export async function* hazardWatch<T extends KubeObject>(
  open: () => AsyncIterable<WatchEvent<T>>,
  { clock, hazards, ...rest }: HazardPorts,
): AsyncGenerator<WatchEvent<T>> {
  const refusal = refusalOf({ clock, hazards, ...rest })
  if (refusal !== undefined) throw refusal
  const stream = open()[Symbol.asyncIterator]()
  let isBroken = false
  const breakOff = () => {
    isBroken = true
    void stream.return?.()
  }
  for (const { watches } of hazards) watches.add(breakOff)
  try {
    for (;;) {
      const { done, value } = await stream.next()
      if (hazards.some(({ isDead, outageUntilMs }) => isDead || clock.now() < outageUntilMs)) throw unreachable()
      if (isBroken) throw new ApiError('Expired', 'too old resource version')
      if (done === true) return
      if (hazards.some(({ isDeaf }) => isDeaf)) continue
      const now = clock.now()
      const lagMs = Math.max(0, ...hazards.map(({ lag }) => (lag !== undefined && now < lag.untilMs ? lag.ms : 0)))
      if (lagMs > 0) await sleep(clock, lagMs)
      yield value
      if (hazards.some(({ doublesUntilMs }) => now < doublesUntilMs)) yield value
    }
  } finally {
    for (const { watches } of hazards) watches.delete(breakOff)
    void stream.return?.()
  }
}
