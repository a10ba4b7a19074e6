import { isJsonObject, type Json } from '../../../src/api/json.ts'
import { parseQuantity } from '../../../src/api/quantity.ts'
import type { Difference } from './compare.ts'
import type { Pair } from './run-sequence.ts'
import type { Step } from './step.ts'

export interface KnownDifference {
  /** One sentence, as the documentation has it. */
  readonly says: string
  readonly because: string
  readonly covers: (difference: Difference, step: Step, answers: Pair<Json>) => boolean
}

const isText = (path: string) => /(^|\.)(message|causes\[\d+\]\.message|warnings\[\d+\])$/.test(path)

/** Both refuse alike and only the words differ. */
function wordsOf(real: RegExp): KnownDifference['covers'] {
  return ({ path, real: said }) => isText(path) && typeof said === 'string' && real.test(said)
}

/** The real server refuses, in these words, what the embedded one takes. */
function refusalOf(real: RegExp): KnownDifference['covers'] {
  return (_difference, _step, answers) => {
    const { code, message } = answerOf(answers.real)
    return code >= 400 && answerOf(answers.embedded).code !== code && real.test(message)
  }
}

function answerOf(answer: Json): { readonly code: number; readonly message: string } {
  if (!isJsonObject(answer)) return { code: 0, message: '' }
  const { code, body } = answer
  return { code: Number(code), message: isJsonObject(body) ? String(body['message'] ?? '') : '' }
}

/** Null, zero, the empty text, and what holds nothing else. */
function isHollow(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === 0 || value === '' || value === false) return true
  if (Array.isArray(value)) return value.every((item: Json) => isHollow(item))
  return isJsonObject(value) && Object.values(value).every(isHollow)
}

function isSameQuantity(left: Json | undefined, right: Json | undefined): boolean {
  try {
    return parseQuantity(String(left)) === parseQuantity(String(right))
  } catch {
    return false
  }
}

const isAbout = (step: Step, plural: string) => 'path' in step && step.path.includes(`/${plural}`)

/** Every difference that is not fixed, and why. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    says: 'A body that cannot be read is refused in other words.',
    because: 'The real server names the Go types and offsets of its decoder.',
    covers: wordsOf(
      /cannot unmarshal|illegal base64|cannot be handled as|strict decoding error|unrecognized type|json: |invalid continue token/,
    ),
  },
  {
    says: 'A selector that cannot be read is refused in other words.',
    because: 'The real server names the tokens of its parser.',
    covers: wordsOf(/unable to parse requirement|found '.*', expected|invalid field selector|invalid selector/),
  },
  {
    says: 'A value that is refused is quoted with the field names of the API, not with those of Go.',
    because: 'The real server prints its own structures, and what a patch made of them.',
    covers: wordsOf(/patch: Invalid value|Invalid value: ("(\{|map\[)|\{"[A-Z]|\[\{"[A-Z])|pod updates may not change/),
  },
  {
    says: 'A field that holds nothing may be written by one server and left out by the other.',
    because: 'Which empty fields the real server writes is decided field by field in its Go types.',
    covers: ({ path, real, embedded }) =>
      !/^(code|body\.(kind|reason|status))$/.test(path) &&
      (real === undefined || embedded === undefined) &&
      isHollow(real) &&
      isHollow(embedded),
  },
  {
    says: 'Quantities are kept as they were written: `0.5` does not become `500m`.',
    because: 'They are compared by value everywhere; nothing in the project depends on one spelling.',
    covers: ({ real, embedded }) => real !== undefined && embedded !== undefined && isSameQuantity(real, embedded),
  },
  {
    says: 'Who owns fields that admission or the server itself set, or that hold nothing, is told differently in `managedFields`.',
    because: 'The real server notes owners before admission and forgets its own writes; ours notes what is stored.',
    covers: ({ path }, step) => path.includes('.managedFields') && !isAbout(step, 'configmaps'),
  },
  {
    says: 'New nodes do not get the taint `node.kubernetes.io/not-ready`.',
    because: 'The embedded world taints nodes itself once their kubelet is silent.',
    covers: ({ path }, step) => isAbout(step, 'nodes') && /spec\.taints/.test(path),
  },
  {
    says: 'A pod may name a priority class that does not exist.',
    because: 'Nothing here is preempted.',
    covers: refusalOf(/no PriorityClass with name/),
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
