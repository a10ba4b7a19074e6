import {
  clusterApiHealthChecks,
  nodeHealthChecks,
  openshiftHealthChecks,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { MachinesDescription } from './describe-machines.ts'

interface Seed {
  readonly type: ResourceType
  readonly object: KubeObject & { readonly spec: object }
}

const sickStates = ['False', 'Unknown'] as const

/**
 * The object by which sick machines are taken away. It leaves all alone when more than two of five are sick, as is usual.
 * Undefined: there is none, because nobody does, or because those that ask budgets need no object.
 */
export function buildHealthCheck(
  { api, clusterName, healthCheck }: Pick<MachinesDescription, 'api' | 'clusterName' | 'healthCheck'>,
  namespace: string,
): Seed | undefined {
  if (healthCheck === undefined || healthCheck.style === 'budget') return undefined
  const { style, after } = healthCheck
  if (style === 'node') {
    return seed(nodeHealthChecks, undefined, {
      selector: {},
      minHealthy: '60%',
      unhealthyConditions: sickStates.map((status) => ({ type: 'Ready', status, duration: `${after}s` })),
    })
  }
  if (api === 'openshift') {
    return seed(openshiftHealthChecks, namespace, {
      selector: {},
      maxUnhealthy: '40%',
      unhealthyConditions: sickStates.map((status) => ({ type: 'Ready', status, timeout: `${after}s` })),
    })
  }
  return seed(clusterApiHealthChecks, namespace, {
    clusterName,
    selector: {},
    checks: {
      unhealthyNodeConditions: sickStates.map((status) => ({
        type: 'Ready',
        status,
        timeoutSeconds: Math.round(after),
      })),
    },
    remediation: { triggerIf: { unhealthyLessThanOrEqualTo: '40%' } },
  })
}

function seed(type: ResourceType, namespace: string | undefined, spec: object): Seed {
  const metadata = { name: 'all-machines', ...(namespace === undefined ? {} : { namespace }) }
  return { type, object: { apiVersion: apiVersionOf(type), kind: type.kind, metadata, spec } }
}
