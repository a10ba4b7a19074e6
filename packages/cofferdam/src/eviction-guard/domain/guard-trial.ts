/** On an Eviction that is only tried: who sends it wants to hear from the guard itself, through the API server. */
export const guardTrialAnnotation = 'cofferdam.io/guard-trial'

/** What the guard answers to it. The word is the one that it was sent, so that an earlier answer is not taken for this one. */
export function guardTrialAnswer(word: string): string {
  return `the eviction guard hears: ${word}`
}
