import type { Pod, PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { invalidObject } from '../schema/field-error.ts'
import { podStrategy } from './pod-strategy.ts'

function podWith(spec: object = {}, status?: Pod['status']): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { containers: [{ name: 'web', image: 'nginx:1.27' }], ...spec },
    ...(status === undefined ? {} : { status }),
  }
}

function stored(spec: object = {}): Pod {
  return podStrategy.prepare?.(podWith(spec), undefined) as Pod
}

function linesOf(next: Pod, previous?: Pod): string[] {
  const prepared = podStrategy.prepare?.(next, previous) ?? next
  const errors = podStrategy.validate?.(prepared, previous) ?? []
  return errors.map((error) =>
    invalidObject({ group: '', kind: 'Pod', name: 'web' }, [error]).message.replace(/^Pod "web" is invalid: /, ''),
  )
}

describe('a new pod', () => {
  it('is given all that the real server gives it', () => {
    expect(stored()).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'nginx:1.27',
            imagePullPolicy: 'IfNotPresent',
            resources: {},
            terminationMessagePath: '/dev/termination-log',
            terminationMessagePolicy: 'File',
          },
        ],
        dnsPolicy: 'ClusterFirst',
        enableServiceLinks: true,
        preemptionPolicy: 'PreemptLowerPriority',
        priority: 0,
        restartPolicy: 'Always',
        schedulerName: 'default-scheduler',
        securityContext: {},
        serviceAccount: 'default',
        serviceAccountName: 'default',
        terminationGracePeriodSeconds: 30,
        tolerations: [
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
          { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        ],
      },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    })
  })

  it('that is prepared once more does not change', () => {
    const pod = stored({ volumes: [{ name: 'v' }] })
    const copy: Pod = { ...pod, spec: { ...pod.spec } }
    const again = podStrategy.prepare?.(copy, pod) as Pod
    expect(again.spec).toBe(pod.spec)
  })

  const pulls: Record<string, string> = {
    nginx: 'Always',
    'nginx:latest': 'Always',
    'nginx:1.27': 'IfNotPresent',
    'registry:5000/nginx': 'Always',
    'registry:5000/nginx:1': 'IfNotPresent',
    'nginx@sha256:abc': 'IfNotPresent',
  }
  it('pulls its image anew only when the name may mean another image tomorrow', () => {
    const found = Object.keys(pulls).map((image) => {
      const [container] = stored({ containers: [{ name: 'a', image }] }).spec.containers
      return [image, (container as { imagePullPolicy?: string }).imagePullPolicy]
    })
    expect(Object.fromEntries(found)).toEqual(pulls)
  })

  it('that tolerates everything needs no patience of ours', () => {
    expect(stored({ tolerations: [{ operator: 'Exists' }] }).spec.tolerations).toEqual([{ operator: 'Exists' }])
  })

  it('with a grace period below zero gets a second, as if it were killed', () => {
    expect(stored({ terminationGracePeriodSeconds: -5 }).spec.terminationGracePeriodSeconds).toBe(1)
  })

  const classes: Record<string, { resources: object; qosClass: string }> = {
    'limits alone are requests too, so it is guaranteed': {
      resources: { limits: { cpu: '1', memory: '1Gi' } },
      qosClass: 'Guaranteed',
    },
    'the same amount written differently is the same amount': {
      resources: { requests: { cpu: '1000m', memory: '1Gi' }, limits: { cpu: '1', memory: '1024Mi' } },
      qosClass: 'Guaranteed',
    },
    'a request below its limit makes it burstable': {
      resources: { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '1Gi' } },
      qosClass: 'Burstable',
    },
    'zero is nothing': { resources: { requests: { cpu: '0' } }, qosClass: 'BestEffort' },
  }
  for (const [sentence, { resources, qosClass }] of Object.entries(classes)) {
    it(sentence, () => {
      expect(stored({ containers: [{ name: 'a', image: 'a:1', resources }] }).status?.qosClass).toBe(qosClass)
    })
  }

  const refused: Record<string, { spec: object; then: string[] }> = {
    'without containers is refused': { spec: { containers: [] }, then: ['spec.containers: Required value'] },
    'without an image is refused': {
      spec: { containers: [{ name: 'a' }] },
      then: ['spec.containers[0].image: Required value'],
    },
    'with two containers of one name is refused': {
      spec: {
        containers: [
          { name: 'a', image: 'a' },
          { name: 'a', image: 'b' },
        ],
      },
      then: ['spec.containers[1].name: Duplicate value: "a"'],
    },
    'that mounts a volume it does not have is refused': {
      spec: { containers: [{ name: 'a', image: 'a', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
      then: ['spec.containers[0].volumeMounts[0].name: Not found: "data"'],
    },
    'that requests more than its limit is refused': {
      spec: { containers: [{ name: 'a', image: 'a', resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }] },
      then: ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    },
    'with an unknown restart policy is refused': {
      spec: { restartPolicy: 'Sometimes' },
      then: ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"'],
    },
    'that brings its own names to resolve, but no server, is refused': {
      spec: { dnsPolicy: 'None' },
      then: ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    },
    'that brings an empty list of name servers is refused': {
      spec: { dnsPolicy: 'None', dnsConfig: {} },
      then: [
        'spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
      ],
    },
    'that must end before it begins is refused': {
      spec: { activeDeadlineSeconds: 0 },
      then: ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    },
    'that tolerates for a while what is not NoExecute is refused': {
      spec: { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 }] },
      then: [
        'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      ],
    },
  }
  for (const [sentence, { spec, then }] of Object.entries(refused)) {
    it(sentence, () => {
      expect(linesOf(podWith(spec))).toEqual(then)
    })
  }
})

const fixed =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\nchanged: '

describe('a pod that exists', () => {
  const pod = stored({ tolerations: [{ key: 'a', operator: 'Exists' }], activeDeadlineSeconds: 60 })
  const changes: Record<string, { change: (spec: PodSpec) => object; then: string[] }> = {
    'may get another image': {
      change: (spec) => ({ containers: [{ ...spec.containers[0], image: 'nginx:1.28' }] }),
      then: [],
    },
    'may get more tolerations': {
      change: (spec) => ({ tolerations: [...(spec.tolerations ?? []), { key: 'b', operator: 'Exists' }] }),
      then: [],
    },
    'keeps the tolerations it has': {
      change: () => ({ tolerations: [] }),
      then: ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    },
    'may get an earlier deadline': { change: () => ({ activeDeadlineSeconds: 30 }), then: [] },
    'gets no later deadline': {
      change: () => ({ activeDeadlineSeconds: 90 }),
      then: ['spec.activeDeadlineSeconds: Invalid value: 90: must be less than or equal to previous value'],
    },
    'is not moved to another node by an update': { change: () => ({ nodeName: 'n2' }), then: [`${fixed}nodeName`] },
    'keeps the rest of its containers': {
      change: (spec) => ({ containers: [{ ...spec.containers[0], env: [{ name: 'A' }] }] }),
      then: [`${fixed}containers[0]`],
    },
    'keeps the number of its containers': {
      change: (spec) => ({ containers: [...spec.containers, { name: 'b', image: 'b' }] }),
      then: ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    },
  }
  for (const [sentence, { change, then }] of Object.entries(changes)) {
    it(sentence, () => {
      expect(linesOf({ ...pod, spec: { ...pod.spec, ...change(pod.spec) } }, pod)).toEqual(then)
    })
  }

  it('is not validated again when only its labels change', () => {
    const broken = podWith({ containers: [] })
    expect(podStrategy.validate?.({ ...broken, metadata: { name: 'web', labels: { a: 'b' } } }, broken)).toEqual([])
  })
})

describe('the time a pod is given to end', () => {
  const cases: Record<string, { pod: Pod; requested?: number; then: number }> = {
    'is what its spec says': { pod: podWith({ nodeName: 'n', terminationGracePeriodSeconds: 5 }), then: 5 },
    'is what the request says, if it says': { pod: podWith({ nodeName: 'n' }), requested: 7, then: 7 },
    'is none before it has a node': { pod: podWith(), requested: 7, then: 0 },
    'is none when it has ended already': { pod: podWith({ nodeName: 'n' }, { phase: 'Succeeded' }), then: 0 },
    'is a second when somebody asks for less than none': { pod: podWith({ nodeName: 'n' }), requested: -1, then: 1 },
  }
  for (const [sentence, { pod, requested, then }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(podStrategy.gracePeriodSeconds?.(pod, requested)).toBe(then)
    })
  }
})
