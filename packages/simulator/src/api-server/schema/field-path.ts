/** Field names and list indexes from the root down. Walkers push and pop; text is made only when something is wrong. */
export type PathSteps = (string | number)[]

/** `spec.containers[0].name`. */
export function fieldPath(steps: readonly (string | number)[], last?: string | number): string {
  let text = ''
  for (const step of steps) text = withStep(text, step)
  return last === undefined ? text : withStep(text, last)
}

function withStep(text: string, step: string | number): string {
  if (typeof step === 'number') return `${text}[${step}]`
  return text === '' ? step : `${text}.${step}`
}
