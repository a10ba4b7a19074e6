import { evictionRequests } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { customResourceDefinitions, deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { evictionRequestDefinitions } from '@cofferdam/simulator/cluster-file/eviction-request-definitions.ts'
import { budget, deployment } from '@cofferdam/simulator/world/testing/scenario.ts'
import { createEvictionRequestController } from '@cofferdam/simulator/world/tools/eviction-request-controller.ts'
import {
  createEvictionResponder,
  type EvictionResponder,
  type EvictionResponderOptions,
} from '@cofferdam/simulator/world/tools/eviction-responder.ts'
import type { LockFixture } from './lock-fixture.ts'

export const mover = 'acme.io/mover'

export interface EvictionResponders {
  /** The controllers of Kubernetes that have responders work one after the other. */
  control(): void
  /** Something that moves pods which name it, in so many seconds. */
  respond(moveSeconds: number, more?: Partial<EvictionResponderOptions>): EvictionResponder
  /** Pods that name responders, one on each of three nodes at most. */
  addMovable(name: string, responders?: readonly string[]): Promise<void>
  /** `vm-7c9: Eviction`: the EvictionRequests that there are, by pod. */
  asks(): string[]
  stop(): void
}

/** KEP-4563 in a cluster; its kinds are served unless told otherwise. */
export async function openEvictionResponders(
  fixture: LockFixture,
  { areServed = true } = {},
): Promise<EvictionResponders> {
  const { api, clock, views } = fixture
  const actors: { stop(): void }[] = []
  if (areServed) {
    for (const definition of evictionRequestDefinitions()) await api.create(customResourceDefinitions, definition)
  }
  return {
    control: () => void actors.push(createEvictionRequestController({ api, clock, views })),
    respond(moveSeconds, more = {}) {
      const responder = createEvictionResponder({ api, clock, views }, { name: mover, moveSeconds, ...more })
      actors.push(responder)
      return responder
    },
    async addMovable(name, responders = [mover]) {
      const pod = { evictionResponders: responders.map((responder) => ({ name: responder })) }
      const metadata = { name, namespace: 'shop' }
      await api.create(deployments, { ...deployment(name, { replicas: 3, pod }), metadata })
      await api.create(podDisruptionBudgets, { ...budget(name, { maxUnavailable: 1 }), metadata })
      await clock.advance(10_000)
    },
    asks: () =>
      [...views.of(evictionRequests).values()].map(({ spec }) => `${spec?.target?.pod?.name}: ${spec?.intent}`).sort(),
    stop() {
      for (const actor of actors) actor.stop()
    },
  }
}
