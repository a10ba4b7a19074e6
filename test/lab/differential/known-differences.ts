import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
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

function answerOf(answer: Json): { readonly code: number; readonly message: string } {
  if (!isJsonObject(answer)) return { code: 0, message: '' }
  const { code, body } = answer
  const message = isJsonObject(body) ? body['message'] : ''
  return { code: Number(code), message: typeof message === 'string' ? message : '' }
}

/** Both refuse as invalid, and both name one field that is. */
function isSameFault({ real, embedded }: Pair<Json>): boolean {
  if (answerOf(real).code !== 422 || answerOf(embedded).code !== 422) return false
  const named = fieldsOf(embedded)
  return fieldsOf(real).some((field) => named.includes(field))
}

/** The first two steps of the path of each field that a refusal names. */
function fieldsOf(answer: Json): string[] {
  return causesOf(answer).map(({ field = '', message = '' }) =>
    // A service of an odd name fails at its address, which bears that name.
    (message.includes('spec.parentRef.name') ? 'metadata.name' : field)
      .replace(/^metadata\.taints/, 'spec.taints')
      .split(/[.[]/, 2)
      .join('.'),
  )
}

function causesOf(answer: Json): readonly { readonly field?: string; readonly message?: string }[] {
  const { body } = answer as {
    readonly body: { readonly details?: { readonly causes?: readonly { field?: string; message?: string }[] } }
  }
  return body.details?.causes ?? []
}

/** Both refuse to take fields from others, and only one of them counts moments that hold nothing. */
function isSameConflict({ real, embedded }: Pair<Json>): boolean {
  if (answerOf(real).code !== 409 || answerOf(embedded).code !== 409) return false
  const [left, right] = [real, embedded].map((answer) =>
    causesOf(answer)
      .map(({ field = '' }) => field)
      .filter((field) => !/(Time|edAt)$/.test(field)),
  )
  return left !== undefined && left.length > 0 && left.join() === right?.join()
}

/** Null, zero, the empty text, and what holds nothing else. */
function isHollow(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === 0 || value === '' || value === false) return true
  if (Array.isArray(value)) return value.every((item: Json) => isHollow(item))
  return isJsonObject(value) && Object.values(value).every(isHollow)
}

function budgetsIn(answer: Json): number {
  const { body } = answer as { readonly body: { readonly items: readonly Json[] } }
  return body.items.length
}

const isAbout = (step: Step, plural: string) => 'path' in step && step.path.includes(`/${plural}`)

/** Every difference that is not fixed, and why. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    says: 'A body that cannot be read is refused in other words.',
    because: 'The real server names the Go types and offsets of its decoder.',
    covers: wordsOf(
      /cannot unmarshal|illegal base64|cannot be handled as|strict decoding error|unrecognized type|json: |invalid continue token|strconv|in an unknown format/,
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
    covers: wordsOf(
      /patch: Invalid value|Invalid value: ("(\{|map\[)|\{"[A-Z]|\[\{"[A-Z])|pod updates may not change|StorageError: invalid object/,
    ),
  },
  {
    says: 'A field that holds nothing may be written by one server and left out by the other.',
    because: 'Which empty fields the real server writes is decided field by field in its Go types.',
    covers: ({ path, real, embedded }) =>
      !/^(code|body\.(kind|reason))$/.test(path) &&
      (real === undefined || embedded === undefined) &&
      isHollow(real) &&
      isHollow(embedded),
  },
  {
    says: 'Who owns fields that admission or the server itself set, or that hold nothing, is reported differently in `managedFields`, and of moments in conflicts.',
    because:
      'The real server notes owners before admission and forgets its own writes; the embedded one notes what is stored.',
    covers: ({ path }, step, answers) =>
      !isAbout(step, 'configmaps') &&
      (path.includes('.managedFields') || (/^body\.(message|details\.causes)/.test(path) && isSameConflict(answers))),
  },
  {
    says: 'Where several things are wrong with an object, they may be named in another order, in other words, or not all.',
    because: 'The code and the reason are the same, and at least one field is named by both.',
    covers: ({ path }, _step, answers) => /^body\.(message|details\.causes.*)$/.test(path) && isSameFault(answers),
  },
  {
    says: 'A page of a selected list is not followed by an empty one.',
    because: 'The real server does not check in advance whether anything more is selected.',
    covers: (_difference, step) => step.asks === 'pages' && step.query !== undefined,
  },
  {
    says: 'Writing the status of a Service that does not exist does not make one.',
    because: 'It does on the real server, by an accident that no client relies on.',
    covers: (_difference, step, answers) =>
      isAbout(step, 'services') && answerOf(answers.embedded).code === 404 && answerOf(answers.real).code !== 404,
  },
  {
    says: 'When two budgets cover a pod, both are counted again at every change of it.',
    because: 'The real controller then follows only one of them, and says that two are wrong.',
    covers: ({ path }, step, answers) =>
      step.asks === 'settle-budgets' && path.includes('status') && budgetsIn(answers.real) > 1,
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
