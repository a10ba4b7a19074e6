/** A field, an index of a list, or a key of a map. */
type PathStep = string | number | { readonly key: string }

/** From the root down. Walkers push and pop; text is made only when something is wrong. */
export type PathSteps = PathStep[]

/** `spec.containers[0].name`. */
export function fieldPath(steps: readonly PathStep[], last?: string | number): string {
  let text = ''
  for (const step of steps) text = withStep(text, step)
  return last === undefined ? text : withStep(text, last)
}

function withStep(text: string, step: PathStep): string {
  if (typeof step === 'number') return `${text}[${step}]`
  if (typeof step === 'object') return `${text}[${step.key}]`
  return text === '' ? step : `${text}.${step}`
}
