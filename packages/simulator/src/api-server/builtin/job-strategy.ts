import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { choiceErrors, immutableErrors, nonNegativeErrors, requiredError } from './field-rules.ts'
import { completeTemplate } from './pod-template.ts'
import { withDefaults, withField } from './with-defaults.ts'
import { templateErrors } from './workload-rules.ts'

type Spec = Job['spec'] & { readonly manualSelector?: boolean; readonly completionMode?: string }

const specDefaults = {
  backoffLimit: 6,
  completionMode: 'NonIndexed',
  suspend: false,
  podReplacementPolicy: 'TerminatingOrFailed',
  manualSelector: false,
}

export const jobStrategy: ResourceStrategy = {
  prepare(next: Job, previous: Job | undefined) {
    if (next.spec === undefined || next.spec === previous?.spec) return next
    const counts = next.spec.completions === undefined && next.spec.parallelism === undefined ? { completions: 1 } : {}
    let spec: Spec = withDefaults(next.spec, { ...counts, parallelism: 1, ...specDefaults })
    const template = completeTemplate(spec.template)
    if (template !== undefined) spec = withField(spec, 'template', template)
    if (previous === undefined && spec.manualSelector !== true) spec = withOwnSelector(spec, next)
    return withField(next, 'spec', spec)
  },

  validate(next: Job, previous: Job | undefined) {
    const spec: Spec = next.spec ?? ({} as Spec)
    if (spec === previous?.spec) return []
    const errors: FieldError[] = []
    for (const field of ['parallelism', 'completions', 'backoffLimit', 'ttlSecondsAfterFinished'] as const) {
      errors.push(...nonNegativeErrors(spec[field], `spec.${field}`))
    }
    errors.push(...choiceErrors(spec.completionMode, ['NonIndexed', 'Indexed'], 'spec.completionMode'))
    errors.push(
      ...templateErrors(spec.template, {
        ...(spec.selector === undefined ? {} : { selector: spec.selector }),
        owner: 'Job',
        runsForever: false,
      }),
    )
    const policy = spec.template?.spec?.restartPolicy
    if (policy === 'Always') {
      errors.push(requiredError('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'))
    }
    if (previous === undefined) return errors
    const before: Spec = previous.spec
    errors.push(...immutableErrors(spec.selector, before.selector, 'spec.selector'))
    errors.push(...immutableErrors(spec.completionMode, before.completionMode, 'spec.completionMode'))
    if (before.completionMode !== 'Indexed') {
      errors.push(...immutableErrors(spec.completions, before.completions, 'spec.completions'))
    }
    if (!isSameJson(spec.template, before.template) && before.suspend !== true) {
      errors.push(...immutableErrors(spec.template, before.template, 'spec.template'))
    }
    return errors
  },
}

/** A Job finds its pods by its own uid, under the name this has now and the one it had. */
function withOwnSelector(spec: Spec, { metadata }: Job): Spec {
  const { uid, name } = metadata
  if (uid === undefined) return spec
  const labels = {
    ...spec.template?.metadata?.labels,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  return {
    ...spec,
    selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
    template: { ...spec.template, metadata: { ...spec.template?.metadata, labels } },
  }
}

interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule?: string
    readonly concurrencyPolicy?: string
    readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplateSpec } }
  }
}

const cronDefaults = {
  concurrencyPolicy: 'Allow',
  suspend: false,
  successfulJobsHistoryLimit: 3,
  failedJobsHistoryLimit: 1,
}

export const cronJobStrategy: ResourceStrategy = {
  prepare(next: CronJob, previous: CronJob | undefined) {
    if (next.spec === undefined || next.spec === previous?.spec) return next
    const spec = withDefaults(next.spec, cronDefaults)
    const job = spec.jobTemplate?.spec
    const template = completeTemplate(job?.template)
    if (job === undefined || template === undefined || template === job.template) return withField(next, 'spec', spec)
    return { ...next, spec: { ...spec, jobTemplate: { ...spec.jobTemplate, spec: { ...job, template } } } }
  },

  validate(next: CronJob, previous: CronJob | undefined) {
    const { spec } = next
    if (spec === undefined) return [requiredError('spec.schedule')]
    if (spec === previous?.spec) return []
    return choiceErrors(spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'], 'spec.concurrencyPolicy')
  },
}
