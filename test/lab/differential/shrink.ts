import type { Divergence, SequenceResult } from './run-sequence.ts'
import type { Sequence } from './step.ts'

/** Two divergences with the same mark are taken for the same fault. */
export function divergenceMark({ sequence, at, differences }: Divergence): string {
  const step = sequence.steps[at]
  const target =
    step?.asks === 'request'
      ? `${step.method} ${step.patch ?? ''} ${step.path.replace(/^.*\{ns\}/, '')}`.replace(/\/-?[abc](?=\/|$)/, '')
      : step?.asks
  const places = differences.map(({ path, real, embedded }) => {
    const place = path.replaceAll(/\[\d+\]/g, '[]')
    return path === 'code' ? `${place} ${JSON.stringify(real)} ${JSON.stringify(embedded)}` : place
  })
  return `${target}: ${[...new Set(places)].slice(0, 6).join(', ')}`
}

const mostTries = 40

/** Leaves out every step without which the same divergence still shows, each try in a namespace of its own. */
export async function shrink(
  found: Divergence,
  run: (sequence: Sequence) => Promise<SequenceResult>,
): Promise<Divergence> {
  const mark = divergenceMark(found)
  let smallest = found
  let tries = 0
  const attempt = async (steps: Sequence['steps']): Promise<boolean> => {
    tries += 1
    const { divergence } = await run({ ...found.sequence, steps })
    if (divergence === undefined || divergenceMark(divergence) !== mark) return false
    smallest = divergence
    return true
  }
  await attempt(found.sequence.steps.slice(0, found.at + 1))
  for (let size = Math.max(1, Math.floor(smallest.at / 2)); size >= 1; size = Math.floor(size / 2)) {
    for (let end = smallest.at; end > 0 && tries < mostTries; end -= size) {
      const { steps } = smallest.sequence
      const start = Math.max(0, end - size)
      await attempt([...steps.slice(0, start), ...steps.slice(end, smallest.at + 1)])
    }
  }
  return smallest
}
