import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { ActorTools } from '../actor.ts'
import { isRunningAndReady, isTerminating } from '../pod-facts.ts'

export interface ProcessHostsPorts {
  readonly tools: ActorTools
  readonly namespace: string
  /** Whether a machine has power, where somebody knows it sooner than the API. */
  readonly isOn?: (node: string) => boolean
  /** All that ran in this instance manager is gone. */
  readonly onLost: (instanceManager: string) => void
  readonly onChange: (instanceManager: string, node: string) => void
}

const powerWish = 'cofferdam.io/power'
const powerPollMs = 1_000

/** Which instance managers really run, whatever their objects say: what a process lives and dies by. */
export class ProcessHosts {
  readonly #ports: ProcessHostsPorts
  readonly #podKeys = new Map<string, string>()
  /** By instance manager: which start of its pod it is that runs. */
  readonly #starts = new Map<string, string>()

  constructor(ports: ProcessHostsPorts) {
    this.#ports = ports
    const { tools, isOn } = ports
    tools.onStop(tools.views.of(nodes).subscribe(({ key }) => this.#observeNode(key)))
    tools.onStop(tools.views.of(pods).subscribe(({ key, before, after }) => this.#observePod(key, after ?? before)))
    if (isOn !== undefined) {
      tools.every(powerPollMs, () => {
        for (const node of tools.views.of(nodes).values()) this.#observeNode(node.metadata.name)
      })
    }
  }

  isAlive(instanceManager: string): boolean {
    return this.#starts.has(instanceManager)
  }

  podOf(instanceManager: string): Pod | undefined {
    return this.#ports.tools.views.of(pods).get(this.#podKeys.get(instanceManager) ?? '')
  }

  /** Whether anything at all can run there. */
  isReachable(name: string): boolean {
    const node: Node | undefined = this.#ports.tools.views.of(nodes).get(name)
    return (
      node !== undefined &&
      node.metadata.annotations?.[powerWish] !== 'off' &&
      conditionOf(node, 'Ready')?.status !== 'Unknown' &&
      this.#ports.isOn?.(name) !== false
    )
  }

  #observePod(key: string, pod: Pod | undefined): void {
    const { namespace, name, labels } = pod?.metadata ?? {}
    if (namespace !== this.#ports.namespace || name === undefined) return
    if (labels?.['longhorn.io/component'] !== 'instance-manager') return
    this.#podKeys.set(name, key)
    this.#refresh(name, pod?.spec.nodeName ?? '')
    this.#ports.onChange(name, pod?.spec.nodeName ?? '')
  }

  #observeNode(node: string): void {
    for (const name of this.#podKeys.keys()) {
      if (this.podOf(name)?.spec.nodeName !== node) continue
      if (this.#refresh(name, node)) this.#ports.onChange(name, node)
    }
  }

  /** Whether something is not what it was. */
  #refresh(name: string, node: string): boolean {
    const start = this.#startOf(this.podOf(name), node)
    const before = this.#starts.get(name)
    if (start === before) return false
    if (start === undefined) this.#starts.delete(name)
    else this.#starts.set(name, start)
    if (before !== undefined) this.#ports.onLost(name)
    return true
  }

  #startOf(pod: Pod | undefined, node: string): string | undefined {
    if (pod === undefined || !isRunningAndReady(pod) || isTerminating(pod) || !this.isReachable(node)) return undefined
    const starts = (pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)
    return `${pod.metadata.uid}/${starts.join(',')}`
  }
}
