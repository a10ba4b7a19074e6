import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ActorTools } from '../../actor.ts'

const ready = { type: 'Ready', status: 'True', reason: 'ClusterCreated', message: 'Cluster created successfully' }

/** What Rook writes of a pass: `Progressing` while it runs, nothing of it after a success, and that it is false after a failure. */
export class PassReport {
  readonly #tools: ActorTools
  readonly #key: { readonly namespace: string; readonly name: string }

  constructor(tools: ActorTools, key: { readonly namespace: string; readonly name: string }) {
    this.#tools = tools
    this.#key = key
  }

  begin(message: string): Promise<void> {
    return this.#write('Progressing', message, [this.#progressing('True', message), ready])
  }

  fail(message: string): Promise<void> {
    return this.#write('Progressing', message, [this.#progressing('False', message), ready])
  }

  succeed({ metadata }: CephCluster): Promise<void> {
    return this.#write('Ready', ready.message, [ready], { observedGeneration: metadata.generation ?? 0 })
  }

  #progressing(status: 'True' | 'False', message: string): JsonObject {
    const lastTransitionTime = timestamp(this.#tools.clock)
    return { type: 'Progressing', status, reason: 'ClusterProgressing', message, lastTransitionTime }
  }

  async #write(
    phase: string,
    message: string,
    conditions: readonly JsonObject[],
    more: JsonObject = {},
  ): Promise<void> {
    const body = { status: { phase, message, conditions: [...conditions], ...more } }
    await this.#tools.api.patch(cephClusters, this.#key, { type: 'merge', body }, { subresource: 'status' })
  }
}
