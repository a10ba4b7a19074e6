import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { subjectAccessReviews } from '@cofferdam/kubernetes/api/authorization.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import type { Permission } from '../../shared/permission.ts'

export interface RightsQuestion {
  readonly api: Pick<KubeApi, 'create'>
  readonly signal: AbortSignal
  /** The ServiceAccount of the operator. */
  readonly account: { readonly namespace: string; readonly name: string }
  /** Where it needs the rights. */
  readonly namespace: string
  readonly rights: readonly Permission[]
}

/**
 * Which of these rights the operator does not have: `update poddisruptionbudgets.policy`, each once. Asks the API server for each, as
 * `kubectl auth can-i --as` does. Unknown where the user of this command may not ask.
 */
export async function reviewRights(question: RightsQuestion): Promise<Observed<readonly string[]>> {
  const asked = new Map<string, Promise<boolean>>()
  for (const right of question.rights) {
    for (const verb of right.verbs) {
      for (const name of right.names ?? ['']) {
        const text = textOf(right, verb, name)
        // Several controllers need the same; a second question would be left without a listener.
        if (!asked.has(text)) asked.set(text, isAllowed(question, right, verb, name))
      }
    }
  }
  try {
    const answers = await Promise.all([...asked].map(async ([text, allowed]) => ((await allowed) ? [] : [text])))
    return known(answers.flat().sort())
  } catch (error) {
    if (hasReason(error, 'Forbidden') || hasReason(error, 'NotFound')) return unknown(error.message)
    throw error
  }
}

async function isAllowed(
  { api, signal, account, namespace }: RightsQuestion,
  { group, resource: whole, grantedBy, namespace: own }: Permission,
  verb: string,
  name: string,
): Promise<boolean> {
  const [resource = '', subresource] = whole.split('/')
  // What the base of deploy/ grants, it grants where the right says, or everywhere.
  const place = grantedBy === undefined ? own : namespace
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: { name: '' },
    spec: {
      user: `system:serviceaccount:${account.namespace}:${account.name}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`, 'system:authenticated'],
      resourceAttributes: {
        group,
        resource,
        ...(subresource === undefined ? {} : { subresource }),
        verb,
        ...(place === undefined ? {} : { namespace: place }),
        ...(name === '' ? {} : { name }),
      },
    },
  } as const
  const { status } = await api.create(subjectAccessReviews, review, { signal })
  return status?.allowed === true
}

function textOf({ group, resource }: Permission, verb: string, name: string): string {
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === '' ? '' : ` ${name}`}`
}
