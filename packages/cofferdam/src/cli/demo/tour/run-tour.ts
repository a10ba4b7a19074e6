import { chapters } from './chapters.ts'
import { observePlaces } from './tour-places.ts'
import type { TourResult } from './tour-step.ts'
import { type TourPorts, walkChapters } from './walk-chapters.ts'

/** All capabilities, on the default cluster. */
export function runTour(ports: TourPorts): Promise<TourResult | undefined> {
  const begins = chapters.map((chapterOf) => async () => chapterOf(await observePlaces(ports.api)))
  return walkChapters(begins, ports)
}
