import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import type { Divergence } from './run-sequence.ts'
import { stepText } from './step.ts'

/** What was asked until the two servers disagreed, and where they disagree, side by side. */
export function tellDivergence({ sequence, at, answers, differences }: Divergence): string {
  const asked = sequence.steps.slice(0, at + 1).map((step, index) => `  ${index + 1}. ${stepText(step)}`)
  const places = differences
    .slice(0, 12)
    .flatMap(({ path, real, embedded }) => [
      `  ${path}`,
      `    real:     ${shown(real)}`,
      `    embedded: ${shown(embedded)}`,
    ])
  return [
    `The two servers disagree (${sequence.name}). Asked:`,
    ...asked,
    'Where the answers differ:',
    ...places,
    ...(differences.length > 12 ? [`  and ${differences.length - 12} more`] : []),
    `Real: ${shown(answers.real)}`,
    `Embedded: ${shown(answers.embedded)}`,
  ].join('\n')
}

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}
