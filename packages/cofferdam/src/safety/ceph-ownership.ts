import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { type CephTrust, isNamed, mayOwn, nameOf } from '../shared/ceph-trust/named-clusters.ts'

/** On a CephCluster: what its administrator hands over to Cofferdam. */
export const ownershipAnnotations = {
  budgets: 'cofferdam.io/budgets',
  updates: 'cofferdam.io/updates',
  /** The former spelling of the first: "true" or "false". */
  formerBudgets: 'cofferdam.io/manage',
} as const

export const budgetsChoices = ['observe', 'manage'] as const
export const updatesChoices = ['off', 'plan', 'pace', 'own'] as const
export type BudgetsChoice = (typeof budgetsChoices)[number]
export type UpdatesChoice = (typeof updatesChoices)[number]

/** What Cofferdam does with one CephCluster. */
export interface CephOwnership {
  /**
   * `manage`: budgets, state ConfigMap and `noout` are Cofferdam's. `observe`: they are not, and what is left of Cofferdam's is removed.
   * `contested`: handed over, and yet another writer has them: everything stays as it is.
   */
  readonly budgets: BudgetsChoice | 'contested'
  /**
   * `own`: Cofferdam writes the OSD Deployments. `pace`: Rook does, in the order that Cofferdam chooses. `plan`: rounds are planned, and OSDs
   * are restarted on request. `off`: nothing. `contested`: `own`, and yet a Rook runs: no Deployment is touched.
   */
  readonly updates: UpdatesChoice | 'contested'
  /** What was said and is not done, with what to do. */
  readonly problems: readonly string[]
}

export interface OwnershipQuestion {
  readonly cluster: KubeObject
  readonly trust: CephTrust
  /** A Rook that has to do with this cluster runs now. */
  readonly rookRuns: boolean
}

/**
 * Whose the budgets and the OSD Deployments of a cluster are.
 *
 * Guarantees: only what an administrator says decides. Whether a Rook runs now never hands anything over; it can only make what was handed
 * over contested, and then nothing is written or removed.
 * Fails closed: a value that is none of the choices counts as the least one, and is named.
 */
export function decideOwnership({ cluster, trust, rookRuns }: OwnershipQuestion): CephOwnership {
  const name = nameOf(cluster)
  const key = `${name.namespace}/${name.name}`
  const problems: string[] = []
  const notes = cluster.metadata.annotations ?? {}
  const isAlone = mayOwn(trust, name)
  const rookManages = hasRooksBudgets(cluster)
  if (!isNamed(trust, name)) return { budgets: 'observe', updates: 'off', problems }
  return { budgets: budgets(), updates: updates(), problems }

  function budgets(): CephOwnership['budgets'] {
    const choice = chosenBudgets()
    if (choice === 'observe') return 'observe'
    if (!rookManages || (isAlone && !rookRuns)) return 'manage'
    problems.push(
      isAlone
        ? `Rook's operator runs and manages the budgets of ${key} too; Cofferdam changes none of them: set spec.disruptionManagement.managePodBudgets to false, or stop Rook`
        : `spec.disruptionManagement.managePodBudgets is true, so Rook manages the budgets of ${key} too; Cofferdam changes none of them: hand them over with cofferdam adopt cephcluster/${key}`,
    )
    return 'contested'
  }

  function chosenBudgets(): BudgetsChoice {
    const text = notes[ownershipAnnotations.budgets]
    const former = notes[ownershipAnnotations.formerBudgets]
    if (text !== undefined) return oneOf(budgetsChoices, ownershipAnnotations.budgets, text, 'observe')
    if (former === undefined) return isAlone && rookManages ? 'manage' : 'observe'
    const choice = former === 'true' ? 'manage' : 'observe'
    const what = former === 'true' || former === 'false' ? 'is deprecated' : 'is neither "true" nor "false"'
    problems.push(
      `annotation ${ownershipAnnotations.formerBudgets} ${JSON.stringify(former)} ${what}: use ${ownershipAnnotations.budgets}: ${choice}`,
    )
    return choice
  }

  function updates(): CephOwnership['updates'] {
    const text = notes[ownershipAnnotations.updates]
    const usual: UpdatesChoice = isAlone ? 'own' : 'plan'
    const choice = text === undefined ? usual : oneOf(updatesChoices, ownershipAnnotations.updates, text, 'off')
    if (choice === 'own' && !isAlone) {
      problems.push(
        `annotation ${ownershipAnnotations.updates}: own needs ${key} in --own-osds of Cofferdam's operator; until then OSD updates are only planned`,
      )
      return 'plan'
    }
    if (choice === 'pace' && isAlone) {
      problems.push(
        `annotation ${ownershipAnnotations.updates}: pace is for clusters whose OSDs Rook updates, and --own-osds of Cofferdam's operator names ${key}; OSD updates are only planned: take ${key} out of --own-osds`,
      )
      return 'plan'
    }
    return choice === 'own' && rookRuns ? 'contested' : choice
  }

  function oneOf<Choice extends string>(
    choices: readonly Choice[],
    annotation: string,
    text: string,
    least: Choice,
  ): Choice {
    const choice = choices.find((each) => each === text)
    if (choice !== undefined) return choice
    problems.push(`annotation ${annotation} ${JSON.stringify(text)} is none of ${choices.join(', ')}; ${least} is used`)
    return least
  }
}

/** Whether Rook, where one runs, manages the budgets: its own switch. */
export function hasRooksBudgets(cluster: KubeObject): boolean {
  const { spec } = cluster as { readonly spec?: unknown }
  const section = isJsonObject(spec) ? spec['disruptionManagement'] : undefined
  return isJsonObject(section) && section['managePodBudgets'] === true
}
