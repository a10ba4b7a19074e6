import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'

export type FieldErrorKind =
  | 'Required'
  | 'Invalid'
  | 'NotSupported'
  | 'Duplicate'
  | 'Forbidden'
  | 'TooLong'
  | 'TooMany'
  | 'TypeInvalid'
  | 'NotFound'
  | 'InternalError'

/** One thing wrong with one field, in the words of the real API server. */
export interface FieldError {
  readonly kind: FieldErrorKind
  /** As in `spec.template.spec.containers[0].name`. */
  readonly field: string
  /** The offending value; left out for Required and Forbidden. */
  readonly value?: unknown
  readonly detail: string
}

const causeReasons: Readonly<Record<FieldErrorKind, string>> = {
  Required: 'FieldValueRequired',
  Invalid: 'FieldValueInvalid',
  NotSupported: 'FieldValueNotSupported',
  Duplicate: 'FieldValueDuplicate',
  Forbidden: 'FieldValueForbidden',
  TooLong: 'FieldValueTooLong',
  TooMany: 'FieldValueTooMany',
  TypeInvalid: 'FieldValueTypeInvalid',
  NotFound: 'FieldValueNotFound',
  InternalError: 'InternalError',
}

const openings: Readonly<Record<FieldErrorKind, string>> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Duplicate: 'Duplicate value',
  Forbidden: 'Forbidden',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TypeInvalid: 'Invalid value',
  NotFound: 'Not found',
  InternalError: 'Internal error',
}

/** 422 `Invalid`, with one cause per field, worded as the real server words it. */
export function invalidObject(
  object: { readonly group: string; readonly kind: string; readonly name: string },
  errors: readonly FieldError[],
): ApiError {
  const causes = errors.map((error) => ({
    reason: causeReasons[error.kind],
    message: causeText(error),
    field: error.field,
  }))
  const lines = errors.map((error) => `${error.field}: ${causeText(error)}`)
  const kind = object.group === '' ? object.kind : `${object.kind}.${object.group}`
  const list = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`
  return new ApiError('Invalid', `${kind} "${object.name}" is invalid: ${list}`, {
    details: {
      ...(object.name === '' ? {} : { name: object.name }),
      ...(object.group === '' ? {} : { group: object.group }),
      ...(object.kind === '' ? {} : { kind: object.kind }),
      causes,
    },
  })
}

function causeText({ kind, value, detail }: FieldError): string {
  const shown = value === undefined ? '' : `: ${JSON.stringify(value)}`
  return `${openings[kind]}${kind === 'Required' || kind === 'Forbidden' ? '' : shown}${detail === '' ? '' : `: ${detail}`}`
}
