import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PriorityClass } from '../builtin/class-strategies.ts'
import { systemPriorities } from '../builtin/pod-strategy.ts'
import type { ResourceDefinition } from '../resource-definition.ts'
import type { Bucket } from '../store/bucket.ts'
import { forbidden, nameAtAdmission } from './api-errors.ts'
import type { Registry } from './registry.ts'

/**
 * A new pod with the priority of its class, as the admission plugin Priority gives it; other objects as they are.
 *
 * @throws ApiError 403 where the class does not exist, or has another priority than the pod says
 */
export function withPriority({ store }: Registry, { storageKey, type }: ResourceDefinition, created: KubeObject) {
  const { metadata, spec } = created as Pod
  if (storageKey !== 'pods' || spec === undefined) return created
  const { priorityClassName: name = '', priority: given } = spec
  const pod = nameAtAdmission(metadata)
  const found = classOf(store.bucket('scheduling.k8s.io/priorityclasses'), name)
  const priority = systemPriorities[name] ?? found?.value ?? (name === '' ? 0 : undefined)
  if (priority === undefined) throw forbidden(type, pod, `no PriorityClass with name ${name} was found`)
  if ((given ?? priority) !== priority) {
    const why = `priority admission controller computed ${priority} from the given PriorityClass name`
    throw forbidden(type, pod, `the integer value of priority (${given}) must not be provided in pod spec; ${why}`)
  }
  if (found === undefined) return created
  const { preemptionPolicy } = found
  const own = { priority, priorityClassName: found.metadata.name, ...(preemptionPolicy && { preemptionPolicy }) }
  return { ...created, spec: { ...spec, ...own } }
}

/** Who names no class has the one that is the default for all. */
function classOf(classes: Bucket, name: string): PriorityClass | undefined {
  if (name !== '') return classes.get(name) as PriorityClass | undefined
  if (classes.size === 0) return undefined
  const all = Array.from(classes.entries(), ([, each]) => each as PriorityClass)
  return all.find(({ globalDefault }) => globalDefault === true)
}
