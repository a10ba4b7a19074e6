import type { LabelSelector, Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { FieldError } from '../schema/field-error.ts'
import { labelValueErrors, qualifiedNameErrors } from './name-rules.ts'

export function labelsErrors(labels: Labels | undefined, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const key in labels) {
    for (const detail of qualifiedNameErrors(key)) errors.push({ kind: 'Invalid', field, value: key, detail })
    const value = labels[key] as string
    for (const detail of labelValueErrors(value)) errors.push({ kind: 'Invalid', field, value, detail })
  }
  return errors
}

export function selectorErrors(selector: LabelSelector | undefined, field: string): FieldError[] {
  if (selector === undefined) return []
  const errors = labelsErrors(selector.matchLabels, `${field}.matchLabels`)
  for (const [index, { key, operator, values = [] }] of (selector.matchExpressions ?? []).entries()) {
    const place = `${field}.matchExpressions[${index}]`
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        const detail = "must be specified when `operator` is 'In' or 'NotIn'"
        errors.push({ kind: 'Required', field: `${place}.values`, detail })
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        errors.push({ kind: 'Forbidden', field: `${place}.values`, detail })
      }
    } else {
      const detail = 'not a valid selector operator'
      errors.push({ kind: 'Invalid', field: `${place}.operator`, value: operator ?? '', detail })
    }
    for (const detail of qualifiedNameErrors(key ?? '')) {
      errors.push({ kind: 'Invalid', field: `${place}.key`, value: key ?? '', detail })
    }
    for (const [at, value] of values.entries()) {
      for (const detail of labelValueErrors(value)) {
        errors.push({ kind: 'Invalid', field: `${place}.values[${at}]`, value, detail })
      }
    }
  }
  return errors
}

/** True when the selector names nothing, and so selects everything. */
export function isEmptySelector(selector: LabelSelector | undefined): boolean {
  return (
    selector === undefined ||
    (Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0)
  )
}
