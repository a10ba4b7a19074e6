import type { PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import { isSelected, type LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { FieldError } from '../schema/field-error.ts'
import { invalidErrors, nonNegativeErrors, requiredError } from './field-rules.ts'
import { isEmptySelector, labelsErrors, selectorErrors } from './labels-validation.ts'
import { podSpecErrors } from './pod-spec-validation.ts'
import type { FullPodSpec } from './pod-template.ts'

/** The selector of something that owns pods: there, not empty, well formed. */
export function ownSelectorErrors(selector: LabelSelector | undefined, kind: string): FieldError[] {
  if (selector === undefined) return [requiredError('spec.selector')]
  const errors = selectorErrors(selector, 'spec.selector')
  if (isEmptySelector(selector)) {
    const detail = `empty selector is invalid for ${kind}`
    errors.push({ kind: 'Invalid', field: 'spec.selector', value: selector, detail })
  }
  return errors
}

export interface TemplateRules {
  /** Pods made from the template must be found again by this. */
  readonly selector?: LabelSelector
  /** The kind, for what is said about it. */
  readonly owner: string
  /** True for those that keep pods running: their pods are always restarted and have no deadline. */
  readonly runsForever: boolean
  readonly extraVolumes?: readonly string[]
}

export function templateErrors(template: PodTemplateSpec | undefined, rules: TemplateRules): FieldError[] {
  const field = 'spec.template'
  const labels = template?.metadata?.labels ?? {}
  const errors: FieldError[] = []
  if (rules.selector !== undefined && !isEmptySelector(rules.selector) && !isSelected(rules.selector, labels)) {
    const detail = '`selector` does not match template `labels`'
    errors.push({ kind: 'Invalid', field: `${field}.metadata.labels`, value: labels, detail })
  }
  errors.push(...labelsErrors(labels, `${field}.labels`))
  if (template?.spec === undefined) return [...errors, requiredError(`${field}.spec.containers`)]
  const spec: FullPodSpec = template.spec
  errors.push(...podSpecErrors(spec, `${field}.spec`, rules.extraVolumes))
  if (!rules.runsForever) return errors
  if (spec.restartPolicy !== 'Always') {
    const detail = 'supported values: "Always"'
    errors.push({ kind: 'NotSupported', field: `${field}.spec.restartPolicy`, value: spec.restartPolicy ?? '', detail })
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${rules.owner} is not Supported`
    errors.push({ kind: 'Forbidden', field: `${field}.spec.activeDeadlineSeconds`, detail })
  }
  return errors
}

/** What a controller has counted: none below zero, no part greater than the whole, and nothing available that is not ready. */
export function countErrors(
  status: { readonly replicas?: number; readonly readyReplicas?: number; readonly availableReplicas?: number } = {},
  labelled: 'updatedReplicas' | 'fullyLabeledReplicas',
): FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  const parts = {
    [labelled]: (status as Readonly<Record<string, number | undefined>>)[labelled] ?? 0,
    readyReplicas,
    availableReplicas,
  }
  const counts = Object.entries({ replicas, ...parts })
  const tooMany = Object.entries(parts).filter(([, count]) => count > replicas)
  return [
    ...counts.flatMap(([name, count]) => nonNegativeErrors(count, `status.${name}`)),
    ...tooMany.flatMap(([name, count]) =>
      invalidErrors(['cannot be greater than status.replicas'], count, `status.${name}`),
    ),
    ...(availableReplicas > readyReplicas
      ? invalidErrors(['cannot be greater than readyReplicas'], availableReplicas, 'status.availableReplicas')
      : []),
  ]
}
