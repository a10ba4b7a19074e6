import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { invalidObject } from '../schema/field-error.ts'
import { strategyOf } from './strategies.ts'

type Fields = Record<string, unknown>

function objectOf(kind: string, fields: Fields, metadata: Fields = {}): KubeObject {
  return {
    apiVersion: 'x',
    kind,
    metadata: { name: 'it', namespace: 'shop', uid: 'u-1', ...metadata },
    ...fields,
  } as KubeObject
}

function prepared(group: string, object: KubeObject, previous?: KubeObject): KubeObject & Fields {
  return (strategyOf({ group, kind: object.kind }).prepare?.(object, previous) ?? object) as KubeObject & Fields
}

function linesOf(group: string, object: KubeObject, previous?: KubeObject): string[] {
  const errors = strategyOf({ group, kind: object.kind }).validate?.(prepared(group, object, previous), previous) ?? []
  return errors.map((error) =>
    invalidObject({ group: '', kind: 'X', name: 'x' }, [error]).message.replace(/^.*?is invalid: /s, ''),
  )
}

const selector = { matchLabels: { app: 'web' } }
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'nginx:1' }] },
}
const plainTemplate = (changes: Fields = {}) => ({ ...template, spec: { ...template.spec, ...changes } })
const workload = (changes: Fields = {}) => ({ spec: { selector, template, ...changes } })

interface Case {
  group: string
  given: KubeObject
  previous?: KubeObject
  then: string[]
}

const cases: Record<string, Case> = {
  'a deployment needs a selector': {
    group: 'apps',
    given: objectOf('Deployment', { spec: { template } }),
    then: ['spec.selector: Required value'],
  },
  'a deployment must find the pods it makes': {
    group: 'apps',
    given: objectOf('Deployment', workload({ selector: { matchLabels: { app: 'db' } } })),
    then: ['spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'],
  },
  'a deployment with a selector that selects everything is refused': {
    group: 'apps',
    given: objectOf('Deployment', workload({ selector: {} })),
    then: ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
  },
  'a deployment keeps its selector': {
    group: 'apps',
    given: objectOf('Deployment', {
      spec: {
        selector: { matchLabels: { app: 'db' } },
        template: { ...template, metadata: { labels: { app: 'db' } } },
      },
    }),
    previous: objectOf('Deployment', workload()),
    then: ['spec.selector: Invalid value: {"matchLabels":{"app":"db"}}: field is immutable'],
  },
  'a deployment of fewer than no pods is refused': {
    group: 'apps',
    given: objectOf('Deployment', workload({ replicas: -1 })),
    then: ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
  },
  'a deployment whose pods are not restarted is refused': {
    group: 'apps',
    given: objectOf('Deployment', workload({ template: plainTemplate({ restartPolicy: 'Never' }) })),
    then: ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
  },
  'a rollout that may neither add nor take away a pod is refused': {
    group: 'apps',
    given: objectOf('Deployment', workload({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } })),
    then: ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
  },
  'a stateful set keeps its service': {
    group: 'apps',
    given: objectOf('StatefulSet', workload({ serviceName: 'b' })),
    previous: prepared('apps', objectOf('StatefulSet', workload({ serviceName: 'a' }))),
    then: [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  },
  'the pods of a stateful set may mount its claims': {
    group: 'apps',
    given: objectOf(
      'StatefulSet',
      workload({
        volumeClaimTemplates: [{ metadata: { name: 'data' } }],
        template: plainTemplate({
          containers: [{ name: 'a', image: 'a', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        }),
      }),
    ),
    then: [],
  },
  'a daemon set keeps its selector': {
    group: 'apps',
    given: objectOf('DaemonSet', workload()),
    previous: objectOf('DaemonSet', { spec: { selector: { matchLabels: { app: 'old' } }, template } }),
    then: ['spec.selector: Invalid value: {"matchLabels":{"app":"web"}}: field is immutable'],
  },
  'a job says what becomes of pods that fail': {
    group: 'batch',
    given: objectOf('Job', { spec: { template } }),
    then: ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  },
  'a budget cannot say both what must stay and what may go': {
    group: 'policy',
    given: objectOf('PodDisruptionBudget', { spec: { minAvailable: 1, maxUnavailable: 1 } }),
    then: [
      'spec: Invalid value: {"minAvailable":1,"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set',
    ],
  },
  'a budget of more than everything is refused': {
    group: 'policy',
    given: objectOf('PodDisruptionBudget', { spec: { minAvailable: '101%' } }),
    then: ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%'],
  },
  'a budget that is neither a count nor a percentage is refused': {
    group: 'policy',
    given: objectOf('PodDisruptionBudget', { spec: { maxUnavailable: 'half' } }),
    then: [
      "spec.maxUnavailable: Invalid value: \"half\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  },
  'a budget with a selector that cannot be read is refused': {
    group: 'policy',
    given: objectOf('PodDisruptionBudget', {
      spec: { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    }),
    then: [
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  },
  'a budget may change while it lives': {
    group: 'policy',
    given: objectOf('PodDisruptionBudget', { spec: { maxUnavailable: 0 } }),
    previous: objectOf('PodDisruptionBudget', { spec: { minAvailable: 1 } }),
    then: [],
  },
  'a node has each taint once': {
    group: '',
    given: objectOf('Node', {
      spec: {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      },
    }),
    then: [
      'metadata.taints[1]: Duplicate value: {"key":"a","effect":"NoSchedule"}: taints must be unique by key and effect pair',
    ],
  },
  'a node keeps the machine it is': {
    group: '',
    given: objectOf('Node', { spec: { providerID: 'b' } }),
    previous: objectOf('Node', { spec: { providerID: 'a' } }),
    then: ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
  },
  'a lease that lasts no time is refused': {
    group: 'coordination.k8s.io',
    given: objectOf('Lease', { spec: { leaseDurationSeconds: 0 } }),
    then: ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
  },
  'an event lives where its object lives': {
    group: '',
    given: objectOf('Event', { involvedObject: { kind: 'Pod', namespace: 'other', name: 'a' } }),
    then: ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
  },
  'an event about a node lives in default': {
    group: '',
    given: objectOf('Event', { involvedObject: { kind: 'Node', name: 'n1' } }, { namespace: 'default' }),
    then: [],
  },
  'a config map that is locked keeps its data': {
    group: '',
    given: objectOf('ConfigMap', { data: { a: '2' }, immutable: true }),
    previous: objectOf('ConfigMap', { data: { a: '1' }, immutable: true }),
    then: ['data: Forbidden: field is immutable when `immutable` is set'],
  },
  'a config map that is locked stays locked': {
    group: '',
    given: objectOf('ConfigMap', {}),
    previous: objectOf('ConfigMap', { immutable: true }),
    then: ['immutable: Forbidden: field is immutable when `immutable` is set'],
  },
  'a config map key is a file name': {
    group: '',
    given: objectOf('ConfigMap', { data: { 'a/b': '' } }),
    then: [
      "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ],
  },
  'a TLS secret has a certificate and a key': {
    group: '',
    given: objectOf('Secret', { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }),
    then: ['data[tls.key]: Required value'],
  },
  'a secret keeps its type': {
    group: '',
    given: objectOf('Secret', { type: 'b' }),
    previous: objectOf('Secret', { type: 'a' }),
    then: ['type: Invalid value: "b": field is immutable'],
  },
  'a service with two ports names them': {
    group: '',
    given: objectOf('Service', { spec: { ports: [{ port: 80 }, { port: 443 }] } }),
    then: ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
  },
  'a binding keeps its role': {
    group: 'rbac.authorization.k8s.io',
    given: objectOf('RoleBinding', { roleRef: { kind: 'Role', name: 'b' } }),
    previous: prepared('rbac.authorization.k8s.io', objectOf('RoleBinding', { roleRef: { kind: 'Role', name: 'a' } })),
    then: [
      'roleRef: Invalid value: {"kind":"Role","name":"b","apiGroup":"rbac.authorization.k8s.io"}: cannot change roleRef',
    ],
  },
  'a rule that allows nothing is refused': {
    group: 'rbac.authorization.k8s.io',
    given: objectOf('Role', { rules: [{ apiGroups: [''], resources: ['pods'] }] }),
    then: ['rules[0].verbs: Required value: verbs must contain at least one value'],
  },
  'a pod in the network of its host with another port there is refused: nothing would listen at it': {
    group: '',
    given: objectOf('Pod', {
      spec: {
        hostNetwork: true,
        containers: [{ name: 'web', image: 'nginx:1', ports: [{ containerPort: 80, hostPort: 81 }] }],
      },
    }),
    then: [
      'spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true',
    ],
  },
  'a node with a range of addresses that is none is refused': {
    group: '',
    given: objectOf('Node', { spec: { podCIDRs: ['10.1.0.0/24', 'not a range'] } }),
    then: [
      'spec.podCIDRs[1]: Invalid value: "not a range": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  },
  'a namespace with a finalizer of nobody in particular is refused: it would never go': {
    group: '',
    given: objectOf('Namespace', { spec: { finalizers: ['kubernetes', 'lab.example/own', 'unqualified'] } }),
    then: [
      'spec.finalizers: Invalid value: "unqualified": name is neither a standard finalizer name nor is it fully qualified',
    ],
  },
  'a service with an affinity that is not known is refused': {
    group: '',
    given: objectOf('Service', { spec: { ports: [{ port: 80 }], sessionAffinity: 'Sticky' } }),
    then: ['spec.sessionAffinity: Unsupported value: "Sticky": supported values: "ClientIP", "None"'],
  },
  'a service that is only a name elsewhere has no address here': {
    group: '',
    given: objectOf('Service', {
      spec: { type: 'ExternalName', externalName: 'db.example', clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] },
    }),
    then: ['spec.clusterIPs: Forbidden: may not be set for ExternalName services'],
  },
  'a service that is only a name elsewhere names its ports too, where it has two': {
    group: '',
    given: objectOf('Service', {
      spec: { type: 'ExternalName', externalName: 'db.example', ports: [{ port: 80 }, { port: 81, name: 'more' }] },
    }),
    then: ['spec.ports[0].name: Required value'],
  },
  'a service that becomes a name elsewhere loses its address without a word': {
    group: '',
    given: objectOf('Service', {
      spec: { type: 'ExternalName', externalName: 'db.example', clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] },
    }),
    previous: objectOf('Service', {
      spec: { type: 'ClusterIP', ports: [{ port: 80 }], clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] },
    }),
    then: [],
  },
  'a priority class keeps its value': {
    group: 'scheduling.k8s.io',
    given: objectOf('PriorityClass', { value: 2 }),
    previous: prepared('scheduling.k8s.io', objectOf('PriorityClass', { value: 1 })),
    then: ['value: Forbidden: may not be changed in an update.'],
  },
  'a webhook has a full name, a place, versions and a word on side effects': {
    group: 'admissionregistration.k8s.io',
    given: objectOf('ValidatingWebhookConfiguration', { webhooks: [{ name: 'guard', clientConfig: {} }] }),
    then: [
      'webhooks[0].name: Invalid value: "guard": should be a domain with at least three segments separated by dots',
      'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
      'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ],
  },
  'a webhook is reached by HTTPS, under conditions that can be read': {
    group: 'admissionregistration.k8s.io',
    given: objectOf('ValidatingWebhookConfiguration', {
      webhooks: [
        {
          name: 'guard.cofferdam.io',
          clientConfig: { url: 'http://guard/check' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          matchConditions: [{ name: 'who', expression: 'request.userInfo.username ==' }],
        },
      ],
    }),
    then: [
      `webhooks[0].clientConfig.url: Invalid value: "http://guard/check": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'webhooks[0].matchConditions[0].expression: Invalid value: "request.userInfo.username ==": compilation failed: Unexpected token: EOF',
    ],
  },
}

describe('what the built-in kinds refuse', () => {
  for (const [sentence, { group, given, previous, then }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(linesOf(group, given, previous)).toEqual(then)
    })
  }

  it('an update that leaves the whole spec out is refused like any other', () => {
    for (const kind of ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet']) {
      const whole = prepared('apps', objectOf(kind, workload()))
      expect(linesOf('apps', objectOf(kind, {}), whole), kind).toContain('spec.selector: Required value')
    }
  })

  const statuses: Readonly<Record<string, readonly [group: string, kind: string, fields: Fields, refused: string[]]>> =
    {
      'a deployment that says it has more pods ready than pods is refused: whoever waits for it would go on too early':
        ['apps', 'Deployment', { status: { replicas: 1, readyReplicas: 2 } }, ['status.readyReplicas']],
      'a replica set with pods available that are not ready is refused': [
        'apps',
        'ReplicaSet',
        { status: { replicas: 3, readyReplicas: 1, availableReplicas: 2 } },
        ['status.availableReplicas'],
      ],
      'a replica set of fewer than no pods is refused': [
        'apps',
        'ReplicaSet',
        { status: { replicas: 0, fullyLabeledReplicas: -1 } },
        ['status.fullyLabeledReplicas'],
      ],
      'a service without a load balancer that has an address of one is refused': [
        '',
        'Service',
        { spec: { type: 'ClusterIP' }, status: { loadBalancer: { ingress: [{ ip: '10.5.5.5' }] } } },
        ['status.loadBalancer.ingress'],
      ],
      'a service with a load balancer has its address': [
        '',
        'Service',
        { spec: { type: 'LoadBalancer' }, status: { loadBalancer: { ingress: [{ ip: '10.5.5.5' }] } } },
        [],
      ],
    }
  it.each(Object.entries(statuses))('%s', (_, [group, kind, fields, refused]) => {
    const object = objectOf(kind, fields)
    const errors = strategyOf({ group, kind }).validateStatus?.(object, object)
    expect(errors?.map(({ field }) => field)).toEqual(refused)
  })

  it('a service warns that it cannot keep callers at one pod without an address, and stands for no other name with one', () => {
    const { warn } = strategyOf({ group: '', kind: 'Service' })
    const warningsOf = (spec: Record<string, string>) =>
      warn?.(objectOf('Service', { spec: { type: 'ClusterIP', sessionAffinity: 'None', ...spec } }), undefined)
    const sticky = { sessionAffinity: 'ClientIP' }
    expect([warningsOf({ clusterIP: 'None', ...sticky }), warningsOf({ clusterIP: '10.0.0.77', ...sticky })]).toEqual([
      ['spec.SessionAffinity is ignored for headless services'],
      [],
    ])
    expect([warningsOf({ externalName: 'db' }), warningsOf({ externalName: 'db', type: 'ExternalName' })]).toEqual([
      ['spec.externalName is ignored when spec.type is not "ExternalName"'],
      [],
    ])
  })

  it('a budget whose status counts below zero is refused', () => {
    const budget = objectOf('PodDisruptionBudget', { status: { disruptionsAllowed: -1 } })
    expect(strategyOf({ group: 'policy', kind: 'PodDisruptionBudget' }).validateStatus?.(budget, budget)).toEqual([
      { kind: 'Invalid', field: 'status.disruptionsAllowed', value: -1, detail: 'must be greater than or equal to 0' },
    ])
  })
})
