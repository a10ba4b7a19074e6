import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { Views } from '../actor.ts'
import { entryOf } from '../entry-of.ts'
import { byAge, isRunningAndReady, isTerminating } from '../pod-facts.ts'

export type DaemonKind = 'mon' | 'mgr' | 'osd'

/** What the pods say of one daemon. */
export interface DaemonSight {
  readonly isAlive: boolean
  /** Its machine fell silent: nobody closed its connections. */
  readonly isSilent: boolean
  readonly node: string | undefined
  readonly pod: string | undefined
  /** Another one for each pod, also where it has the name of the one before. */
  readonly process: string | undefined
  readonly address: string
}

export interface PodShadowPorts {
  readonly api: KubeApi
  readonly clock: Clock
  /** Shared with other actors; its own when absent. */
  readonly views?: Views
  /** Whether a machine has power and network, where somebody knows it sooner than the API. Asked once a second. */
  readonly isOn?: (node: string) => boolean
  readonly namespace: string
  readonly onReady: () => void
  readonly onChange: (kind: DaemonKind, id: string) => void
}

const idLabels: Readonly<Record<DaemonKind, readonly string[]>> = {
  mon: ['mon', 'ceph_daemon_id'],
  mgr: ['mgr', 'ceph_daemon_id', 'instance'],
  osd: ['ceph-osd-id', 'osd', 'ceph_daemon_id'],
}
const kindOfApp: Readonly<Record<string, DaemonKind>> = {
  'rook-ceph-mon': 'mon',
  'rook-ceph-mgr': 'mgr',
  'rook-ceph-osd': 'osd',
}
const powerWish = 'cofferdam.io/power'
const powerPollMs = 1_000

/** The daemons as shadows of their pods. */
export class PodShadow {
  readonly #ports: PodShadowPorts
  readonly #views: Views
  /** Pods by `kind/id`, then by their key. */
  readonly #pods = new Map<string, Map<string, Pod>>()
  readonly #silentNodes = new Set<string>()
  readonly #endings: (() => void)[] = []

  constructor(ports: PodShadowPorts) {
    this.#ports = ports
    this.#views = ports.views ?? new Views(ports)
    if (ports.views === undefined) this.#endings.push(() => this.#views.stop())
  }

  start(): void {
    const { onReady, isOn } = this.#ports
    const nodeView = this.#views.of(nodes)
    const podView = this.#views.of(pods)
    this.#endings.push(
      nodeView.subscribe(({ key, after }) => this.#observeNode(key, after)),
      podView.subscribe(({ key, before, after }) => this.#observePod(key, before, after)),
    )
    const open = () => {
      if (nodeView.isReady && podView.isReady) onReady()
    }
    this.#endings.push(nodeView.onReady(open))
    if (!podView.isReady) this.#endings.push(podView.onReady(open))
    if (isOn !== undefined) this.#watchPower()
  }

  sightOf(kind: DaemonKind, id: string): DaemonSight {
    const found = [...(this.#pods.get(`${kind}/${id}`)?.values() ?? [])].sort(byAge)
    const pod = found.find((one) => this.#isAlive(one)) ?? found.find((one) => this.#isSilent(one)) ?? found.at(-1)
    return {
      isAlive: pod !== undefined && this.#isAlive(pod),
      isSilent: pod !== undefined && this.#isSilent(pod),
      node: pod?.spec.nodeName,
      pod: pod?.metadata.name,
      process: pod?.metadata.uid,
      address: pod?.status?.podIP ?? '0.0.0.0',
    }
  }

  /** Ids of which there is or was a pod, sorted. */
  idsOf(kind: DaemonKind): string[] {
    const prefix = `${kind}/`
    return [...this.#pods.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length))
      .sort()
  }

  stop(): void {
    for (const end of this.#endings) end()
  }

  #isAlive(pod: Pod): boolean {
    return isRunningAndReady(pod) && !isTerminating(pod) && !this.#silentNodes.has(pod.spec.nodeName ?? '')
  }

  #isSilent(pod: Pod): boolean {
    return this.#silentNodes.has(pod.spec.nodeName ?? '')
  }

  #observePod(key: string, before: Pod | undefined, after: Pod | undefined): void {
    const daemon = this.#daemonOf(after ?? before)
    if (daemon === undefined) return
    const { kind, id } = daemon
    const held = entryOf(this.#pods, `${kind}/${id}`, () => new Map<string, Pod>())
    if (after === undefined) held.delete(key)
    else held.set(key, after)
    this.#ports.onChange(kind, id)
  }

  #daemonOf(pod: Pod | undefined): { readonly kind: DaemonKind; readonly id: string } | undefined {
    const { namespace, labels = {} } = pod?.metadata ?? {}
    if (namespace !== this.#ports.namespace) return undefined
    const kind = kindOfApp[labels['app'] ?? '']
    const label = kind === undefined ? undefined : idLabels[kind].find((name) => labels[name] !== undefined)
    return kind === undefined || label === undefined ? undefined : { kind, id: labels[label] as string }
  }

  #observeNode(name: string, node: Node | undefined): void {
    // A machine whose Node was taken away does not run on because its pods are still in the API.
    const isSilent =
      node === undefined ||
      node.metadata.annotations?.[powerWish] === 'off' ||
      conditionOf(node, 'Ready')?.status === 'Unknown' ||
      this.#ports.isOn?.(name) === false
    if (this.#silentNodes.has(name) === isSilent) return
    if (isSilent) this.#silentNodes.add(name)
    else this.#silentNodes.delete(name)
    for (const [key, held] of this.#pods) {
      if (![...held.values()].some((pod) => pod.spec.nodeName === name)) continue
      const [kind, id] = key.split('/') as [DaemonKind, string]
      this.#ports.onChange(kind, id)
    }
  }

  #watchPower(): void {
    let cancel = () => {}
    const next = () => {
      cancel = this.#ports.clock.after(powerPollMs, () => {
        for (const node of this.#views.of(nodes).values()) this.#observeNode(node.metadata.name, node)
        next()
      })
    }
    next()
    this.#endings.push(() => cancel())
  }
}
