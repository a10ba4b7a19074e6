import { describeChange } from '../mutant.ts'
import type { ReadOutcomes } from '../outcomes.ts'
import type { PlantedMutant } from './plan-planted.ts'

/** Each fault that no test noticed, with its harm, and one row for each part. */
export function reportPlanted(
  planted: readonly PlantedMutant[],
  { killed, passed }: ReadOutcomes,
): { readonly text: string; readonly missed: number } {
  const missed = planted.filter(({ id }) => !killed.has(id))
  const lines = missed.map((mutant) => {
    const how = passed.has(mutant.id) ? 'missed' : 'unreached'
    return `${how}: ${mutant.file}:${mutant.line}  ${describeChange(mutant)}\n  ${mutant.harm}`
  })
  const parts = [...new Set(planted.map(({ part }) => part))]
  const rows = parts.map((part) => {
    const own = planted.filter((mutant) => mutant.part === part)
    return `${part.padEnd(12)}${own.filter(({ id }) => killed.has(id)).length} of ${own.length}`
  })
  const all = `${'all'.padEnd(12)}${planted.length - missed.length} of ${planted.length}`
  return { text: [...lines, '', 'planted in  caught', ...rows, all].join('\n'), missed: missed.length }
}
