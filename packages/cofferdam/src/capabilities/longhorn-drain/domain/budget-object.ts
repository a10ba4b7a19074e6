import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { holdPrefix } from '../../../shared/exchanged-budget.ts'
import type { InstanceManagerView, VolumeView } from './snapshot.ts'

/** SHA-512 of a text, in hex. Handed in, since decisions have no crypto module. */
export type Sha512Hex = (text: string) => string

const component = 'longhorn.io/component'
const managerComponent = 'instance-manager'
/** On the pods of instance managers, in every release. */
export const instanceManagerSelector = `${component}=${managerComponent}`
const csiDeployments = ['csi-attacher', 'csi-provisioner'] as const

/** On budgets that we made: they show that we are in charge even when the setting is gone. */
export const ownBudgetLabel: Readonly<Record<string, string>> = { 'app.kubernetes.io/managed-by': 'cofferdam' }

/** The value of the label `longhorn.io/instance-manager-image` on the pods of an instance manager. */
export function imageLabel(image: string, sha512Hex: Sha512Hex): string {
  return `imi-${sha512Hex(image.replace(/[:/]/g, '-')).slice(0, 8)}`
}

export function holdNameOf(instanceManager: string): string {
  return `${holdPrefix}${instanceManager}`
}

/**
 * A budget of ours for the one pod of an instance manager, beside Longhorn's or in its place.
 *
 * Its selector lacks the component: a budget that has it and bears the name of no instance manager is deleted by Longhorn.
 */
export function buildHoldBudget(
  { name, node, image, type, dataEngine }: InstanceManagerView,
  sha512Hex: Sha512Hex,
  namespace: string,
): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: holdNameOf(name), namespace, labels: ownBudgetLabel },
    spec: {
      minAvailable: 1,
      selector: {
        matchLabels: {
          'longhorn.io/managed-by': 'longhorn-manager',
          'longhorn.io/instance-manager-type': type,
          'longhorn.io/node': node,
          'longhorn.io/instance-manager-image': imageLabel(image, sha512Hex),
          'longhorn.io/data-engine': dataEngine,
        },
      },
    },
  }
}

/** Whether a pod with these labels is one. */
export function isInstanceManager(labels: Labels): boolean {
  return labels[component] === managerComponent
}

/** By its selector, as Longhorn recognizes them; any other budget is somebody else's. */
export function isInstanceManagerBudget(budget: PodDisruptionBudget): boolean {
  return budget.spec?.selector?.matchLabels?.[component] === managerComponent
}

/** The instance manager that a budget of ours holds; undefined for any other budget, and for one that holds nothing any more. */
export function heldManagerOf(budget: PodDisruptionBudget): string | undefined {
  const { minAvailable, selector } = budget.spec ?? {}
  if (!isHoldBudget(budget) || minAvailable !== 1 || selector?.matchLabels?.['longhorn.io/node'] === undefined)
    return undefined
  return budget.metadata.name.slice(holdPrefix.length)
}

/** Whether it is about an instance manager, Longhorn's budget or one of ours. */
export function isOverInstanceManager(budget: PodDisruptionBudget): boolean {
  return isInstanceManagerBudget(budget) || isHoldBudget(budget)
}

/** Whether it was made by us to hold an instance manager, whatever has become of it. */
export function isHoldBudget(budget: PodDisruptionBudget): boolean {
  return budget.metadata.name.startsWith(holdPrefix) && hasOwnLabel(budget)
}

export function hasOwnLabel({ metadata }: PodDisruptionBudget): boolean {
  return Object.entries(ownBudgetLabel).every(([key, value]) => metadata.labels?.[key] === value)
}

/** A Deployment as far as its budget needs it. */
export interface SelectingDeployment extends KubeObject {
  readonly spec: Pick<Deployment['spec'], 'selector'>
}

export interface CsiBudgetInput {
  readonly volumes: readonly Pick<VolumeView, 'state'>[]
  /** A volume that cannot be read may be attached. */
  readonly isOneUnreadable: boolean
  /** Deployments of the namespace; others than the two are skipped. */
  readonly deployments: readonly SelectingDeployment[]
  readonly existing: ReadonlySet<string>
}

export interface CsiBudgetDecision {
  readonly create: readonly PodDisruptionBudget[]
  readonly remove: readonly string[]
}

/** The attacher and the provisioner are kept while any volume is not detached: detaching needs them. */
export function decideCsiBudgets({ volumes, isOneUnreadable, ...input }: CsiBudgetInput): CsiBudgetDecision {
  const isOneInUse = isOneUnreadable || volumes.some(({ state }) => state !== 'detached')
  const create: PodDisruptionBudget[] = []
  const remove: string[] = []
  for (const name of csiDeployments) {
    const deployment = input.deployments.find(({ metadata }) => metadata.name === name)
    const isWanted = isOneInUse && deployment !== undefined
    const isThere = input.existing.has(name)
    if (!isWanted && isThere) remove.push(name)
    if (!isWanted || isThere) continue
    const { namespace = '' } = deployment.metadata
    create.push({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace, labels: ownBudgetLabel },
      spec: { minAvailable: 1, selector: deployment.spec.selector },
    })
  }
  return { create, remove }
}
