import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import type {
  DisruptionRecord,
  DisruptionSnapshot,
} from '@cofferdam/product/capabilities/drain-lock/domain/snapshot.ts'
import { type Bounds, type Parts, realParts } from './bounds.ts'

/** A mistake that is easily made, in place of the code that runs, and the story in which it does harm. */
export interface PlantedBug {
  readonly parts: Parts
  readonly bounds: Bounds
}

/** Decides as it should, and changes the steps. */
export function decideWith(
  change: (steps: readonly DisruptionStep[], record: DisruptionRecord) => readonly DisruptionStep[],
): Parts['decideDisruption'] {
  return (snapshot) => {
    const decision = realParts.decideDisruption(snapshot)
    return { ...decision, steps: change(decision.steps, decision.record) }
  }
}

/** Decides on something else than was seen. */
export function decideOn(change: (seen: DisruptionSnapshot) => DisruptionSnapshot): Parts['decideDisruption'] {
  return (snapshot) => realParts.decideDisruption(change(snapshot))
}
