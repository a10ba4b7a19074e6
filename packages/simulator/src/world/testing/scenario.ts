import type { DaemonSet, Deployment, StatefulSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Container, Event, Node, Pod, PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer, type ApiServerOptions } from '../../api-server/api-server.ts'
import type { EmbeddedApi } from '../../api-server/embedded-api.ts'
import { clusterAdmin } from '../../api-server/user-info.ts'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import type { ActorFailure } from '../actor.ts'
import { startWorld, type World, type WorldOptions } from '../start-world.ts'

export interface Scenario {
  readonly server: ApiServer
  readonly api: EmbeddedApi
  readonly clock: VirtualClock
  readonly random: Random
  readonly failures: ActorFailure[]
  readonly seconds: (count: number) => Promise<void>
  readonly list: <T extends KubeObject>(type: ResourceType<T>) => Promise<readonly T[]>
  readonly podsOf: (app: string) => Promise<readonly Pod[]>
  readonly eventsAbout: (name: string) => Promise<string[]>
  readonly stop: () => void
}

/** A cluster without life: an API server on a clock that stands still. */
export function openScenario(
  seed = 1,
  options: Pick<
    ApiServerOptions,
    'enforcesOwnerPermissions' | 'optionalField' | 'callWebhook' | 'resolveWebhookService'
  > = {},
): Scenario {
  const clock = new VirtualClock()
  const random = seededRandom(seed)
  const server = new ApiServer({ clock, random, ...options })
  const api = server.as(clusterAdmin)
  const failures: ActorFailure[] = []
  server.start()
  return {
    server,
    api,
    clock,
    random,
    failures,
    seconds: (count) => clock.advance(count * 1_000),
    list: async (type) => (await api.list(type)).items,
    podsOf: async (app) => (await api.list(pods, { labelSelector: `app=${app}` })).items,
    eventsAbout: async (name) =>
      (await api.list(events)).items
        .filter(({ involvedObject }) => involvedObject.name === name)
        .map(({ type, reason, message, count }: Event) => `${type} ${reason} x${count}: ${message}`),
    stop: () => server.stop(),
  }
}

/** A cluster that lives, with nodes in three zones. */
export async function openWorld({
  seed = 1,
  nodeCount = 6,
  server = {},
  ...options
}: WorldOptions & { seed?: number; nodeCount?: number; server?: Parameters<typeof openScenario>[1] } = {}): Promise<
  Scenario & { readonly world: World }
> {
  const scenario = openScenario(seed, server)
  for (let number = 1; number <= nodeCount; number += 1) await scenario.api.create(nodes, node(number))
  const { api, clock, random, failures } = scenario
  const world = startWorld({ api, clock, random, onFailure: (failure) => failures.push(failure), ...options })
  await scenario.seconds(2)
  return {
    ...scenario,
    world,
    stop() {
      world.stop()
      scenario.stop()
    },
  }
}

export function node(number: number, spec?: Node['spec']): Node {
  const name = `node-${number}`
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': `zone-${'abc'[(number - 1) % 3]}`,
      },
    },
    ...(spec === undefined ? {} : { spec }),
    status: { allocatable: { cpu: '4', memory: '16Gi', pods: '110' } },
  }
}

export const container: Container = { name: 'main', image: 'registry.example/app:1' }

function template(app: string, spec: Partial<PodSpec>, annotations: Record<string, string> = {}) {
  return {
    metadata: { labels: { app }, annotations },
    spec: { containers: [container], ...spec },
  }
}

interface WorkloadShape {
  readonly replicas?: number
  readonly pod?: Partial<PodSpec>
  readonly annotations?: Record<string, string>
}

export function deployment(
  name: string,
  { replicas = 3, pod = {}, annotations, ...spec }: WorkloadShape & Partial<Deployment['spec']> = {},
): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: template(name, pod, annotations),
      ...spec,
    },
  }
}

export function statefulSet(
  name: string,
  { replicas = 3, pod = {}, annotations, ...spec }: WorkloadShape & Partial<StatefulSet['spec']> = {},
): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: template(name, pod, annotations),
      ...spec,
    },
  }
}

export function daemonSet(
  name: string,
  { pod = {}, annotations, ...spec }: WorkloadShape & Partial<DaemonSet['spec']> = {},
): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: { app: name } }, template: template(name, pod, annotations), ...spec },
  }
}

export function budget(app: string, spec: PodDisruptionBudget['spec']): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'default' },
    spec: { selector: { matchLabels: { app } }, ...spec },
  }
}

export function barePod(name: string, { labels = {}, ...spec }: Partial<PodSpec> & { labels?: object } = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: labels as Record<string, string> },
    spec: { containers: [container], ...spec },
  }
}

export function inDefault(name: string): ObjectKey {
  return { namespace: 'default', name }
}

/** The same API, some of it changed. */
export function changedApi(api: KubeApi, changes: Partial<KubeApi>): KubeApi {
  return new Proxy(api, {
    get(target, name) {
      const changed = changes[name as keyof KubeApi]
      if (changed !== undefined) return changed
      const own: unknown = Reflect.get(target, name, target)
      return typeof own === 'function' ? own.bind(target) : own
    },
  })
}
