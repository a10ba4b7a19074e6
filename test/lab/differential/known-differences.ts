import type { Json } from '../../../src/api/json.ts'
import type { Difference } from './compare.ts'
import type { Pair } from './run-sequence.ts'
import type { Step } from './step.ts'

export interface KnownDifference {
  /** One sentence, as the documentation has it. */
  readonly says: string
  readonly because: string
  readonly covers: (difference: Difference, step: Step, answers: Pair<Json>) => boolean
}

const isText = (path: string) => /(^|\.)(message|causes\[\d+\]\.message)$/.test(path)

/** Both refuse alike and only the words differ. */
function wordsOf(real: RegExp): KnownDifference['covers'] {
  return ({ path, real: said }) => isText(path) && typeof said === 'string' && real.test(said)
}

/** Every difference that is not fixed, and why. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    says: 'A body that cannot be read is refused in other words.',
    because: 'The real server names the Go types and offsets of its decoder.',
    covers: wordsOf(
      /cannot unmarshal|illegal base64|cannot be handled as|strict decoding error|unrecognized type|json: /,
    ),
  },
  {
    says: 'A selector that cannot be read is refused in other words.',
    because: 'The real server names the tokens of its parser.',
    covers: wordsOf(/unable to parse requirement|found '.*', expected|invalid field selector|invalid selector/),
  },
  {
    says: 'What a patch made of an object is not quoted in the same order of fields when it cannot be read.',
    because: 'The real server quotes the result of the patch as its encoder orders it.',
    covers: wordsOf(/patch: Invalid value|^Invalid value: "(\{|map\[)/),
  },
]

/** The known difference that covers this one. */
export function knownDifferenceOf(
  difference: Difference,
  step: Step,
  answers: Pair<Json>,
): KnownDifference | undefined {
  return knownDifferences.find(({ covers }) => covers(difference, step, answers))
}
