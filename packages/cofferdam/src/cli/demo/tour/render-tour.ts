import type { TourResult } from './tour-step.ts'

export function renderTour({ chapters, failure }: TourResult): string {
  return failure === undefined
    ? `\nThe tour is over: all ${chapters} chapters came out as they should. The demo has ended and left nothing behind.`
    : `\nThe tour has failed after ${chapters} chapters. ${failure}.`
}
